// SPDX-License-Identifier: GPL-2.0
/*
 * device.c - the network device: its life, its options, its attached queues.
 *
 * RTNL guards all of it. Two readers come without: the choice of a queue, which
 * follows an RCU map, and the hold timer, which only stops and starts.
 */
#include <linux/ethtool.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/rtnetlink.h>
#include <net/ip_tunnels.h>
#include <net/pkt_sched.h>
#include <net/rtnetlink.h>
#include <net/sch_generic.h>

#include "device.h"
#include "genl.h"
#include "queue.h"
#include "xmit.h"

#define HOLD_MS_DEFAULT	10000
#define HOLD_MS_MAX	600000

/* What needs the daemon's consent. */
#define OFFLOAD_FEATURES	(NETIF_F_HW_CSUM | NETIF_F_TSO | NETIF_F_TSO6 |	\
				 NETIF_F_TSO_ECN | NETIF_F_GSO_UDP_L4)
/*
 * Not TSO_MANGLEID, GSO_SCTP, GSO_FRAGLIST, GSO_ACCECN: a virtio_net_hdr cannot
 * say it. Not GSO_ROBUST: let the stack check packets of other untrusted sources
 * and count their segments. FRAGLIST is about memory and skb_copy_bits() walks it.
 */
#define FEATURES	(NETIF_F_SG | NETIF_F_FRAGLIST | NETIF_F_HIGHDMA |	\
			 NETIF_F_RXCSUM | OFFLOAD_FEATURES)

static unsigned long ring_limit = 1ul << 30;
module_param(ring_limit, ulong, 0644);
MODULE_PARM_DESC(ring_limit, "most bytes of ring memory of a device without CAP_IPC_LOCK");

static struct rtnl_link_ops gsotun_link_ops;

bool gsotun_is_gsotun(const struct net_device *dev)
{
	return dev->rtnl_link_ops == &gsotun_link_ops;
}

struct gsotun_dev *gsotun_dev_get(struct net *net, u32 ifindex)
{
	struct net_device *dev = dev_get_by_index_rcu(net, ifindex);

	return dev && gsotun_is_gsotun(dev) ? netdev_priv(dev) : NULL;
}

bool gsotun_dev_may_attach(const struct gsotun_dev *gd)
{
	if (uid_valid(gd->owner) && uid_eq(current_euid(), gd->owner))
		return true;
	if (gid_valid(gd->group) && in_egroup_p(gd->group))
		return true;
	return ns_capable(dev_net(gd->dev)->user_ns, CAP_NET_ADMIN);
}

netdev_features_t gsotun_offload_features(u64 offloads)
{
	netdev_features_t features = 0;

	if (offloads & GSOTUN_OFFLOAD_CSUM)
		features |= NETIF_F_HW_CSUM;
	if (offloads & GSOTUN_OFFLOAD_TSO4)
		features |= NETIF_F_TSO;
	if (offloads & GSOTUN_OFFLOAD_TSO6)
		features |= NETIF_F_TSO6;
	if (offloads & GSOTUN_OFFLOAD_TSO_ECN)
		features |= NETIF_F_TSO_ECN;
	if (offloads & GSOTUN_OFFLOAD_USO)
		features |= NETIF_F_GSO_UDP_L4;
	return features;
}

/* ---- memory ---------------------------------------------------------------- */

struct gsotun_quota *gsotun_quota_get(struct gsotun_quota *quota)
{
	refcount_inc(&quota->refs);
	return quota;
}

bool gsotun_quota_charge(struct gsotun_quota *quota, u64 bytes)
{
	if (atomic64_add_return(bytes, &quota->bytes) <= READ_ONCE(ring_limit) ||
	    capable(CAP_IPC_LOCK))
		return true;
	atomic64_sub(bytes, &quota->bytes);
	return false;
}

void gsotun_quota_put(struct gsotun_quota *quota, u64 bytes)
{
	atomic64_sub(bytes, &quota->bytes);
	if (refcount_dec_and_test(&quota->refs))
		kfree(quota);
}

/* ---- attached queues -------------------------------------------------------- */

/*
 * An empty map is never made: with nobody attached the flows stay where they
 * were, so that a stopped queue keeps its packets in order for a successor.
 */
static void update_map(struct gsotun_dev *gd, struct gsotun_map *map,
		       const struct gsotun_queue *leaving)
{
	struct gsotun_map *old = rtnl_dereference(gd->map);
	u32 i;

	if (!gd->num_attached) {
		kfree(map);
		return;
	}
	for (i = 0; i < gd->dev->num_tx_queues; i++)
		if (gd->queues[i].file && &gd->queues[i] != leaving)
			map->id[map->n++] = i;
	rcu_assign_pointer(gd->map, map);
	kfree_rcu(old, rcu);
}

static void update_offloads(struct gsotun_dev *gd)
{
	netdev_features_t allowed = OFFLOAD_FEATURES;
	u64 offloads = GSOTUN_OFFLOADS_SUPPORTED;
	u32 i;

	if (!gd->num_attached)
		return;
	for (i = 0; i < gd->dev->num_tx_queues; i++) {
		struct gsotun_queue *q = &gd->queues[i];

		if (!q->file)
			continue;
		allowed &= q->features;
		offloads &= q->file->granted.offloads[GSOTUN_TO_USER];
	}
	gd->allowed = allowed;
	gd->offloads = offloads;
	netdev_update_features(gd->dev);
}

static void hold_timer(struct timer_list *timer)
{
	struct gsotun_dev *gd = container_of(timer, struct gsotun_dev, hold_timer);
	u32 i;

	for (i = 0; i < gd->dev->num_tx_queues; i++) {
		struct netdev_queue *txq = netdev_get_tx_queue(gd->dev, i);

		__netif_tx_lock(txq, smp_processor_id());
		if (!gd->queues[i].to_user.file)
			netif_tx_wake_queue(txq);
		__netif_tx_unlock(txq);
	}
	/* Bind, and a change of the policy, stop this timer before they raise the carrier. */
	if (!READ_ONCE(gd->num_attached) && READ_ONCE(gd->carrier) != GSOTUN_CARRIER_ON)
		netif_carrier_off(gd->dev);
}

/* linkwatch comes later, and what is sent until then vanishes in the noop qdisc. */
static void carrier_on(struct net_device *dev)
{
	netif_carrier_on(dev);
	if (netif_running(dev))
		dev_activate(dev);
}

/* Carrier and timer follow the policy and the number of attached queues. */
static void update_carrier(struct gsotun_dev *gd)
{
	/* An earlier detach may still have packets on hold in other queues. */
	bool holding = timer_delete_sync(&gd->hold_timer);

	if (gd->num_attached || gd->carrier == GSOTUN_CARRIER_ON)
		carrier_on(gd->dev);
	else if (gd->carrier != GSOTUN_CARRIER_HOLD || !holding)
		netif_carrier_off(gd->dev);
	if (holding)
		mod_timer(&gd->hold_timer, gd->hold_timer.expires);
}

static struct gsotun_queue *free_queue(struct gsotun_dev *gd, u32 id)
{
	u32 i;

	if (id != GSOTUN_QUEUE_ANY) {
		id = array_index_nospec(id, gd->dev->num_tx_queues);
		return gd->queues[id].file ? NULL : &gd->queues[id];
	}
	for (i = 0; i < gd->dev->num_tx_queues; i++)
		if (!gd->queues[i].file)
			return &gd->queues[i];
	return NULL;
}

static struct gsotun_map *alloc_map(struct gsotun_dev *gd)
{
	return kzalloc(struct_size((struct gsotun_map *)NULL, id, gd->dev->num_tx_queues),
		       GFP_KERNEL);
}

int gsotun_dev_bind(struct gsotun_dev *gd, struct gsotun_file *f, u32 id, const char **why)
{
	bool may_mark = ns_capable(dev_net(gd->dev)->user_ns, CAP_NET_ADMIN);
	struct gsotun_queue *q;
	struct gsotun_map *map;
	int err;

	ASSERT_RTNL();

	if (id != GSOTUN_QUEUE_ANY && id >= gd->dev->num_tx_queues) {
		*why = "the device has no queue of that number";
		return -EINVAL;
	}
	q = free_queue(gd, id);
	if (!q) {
		*why = id == GSOTUN_QUEUE_ANY ? "all queues of the device are attached" :
						"the queue is attached already";
		return -EBUSY;
	}
	*why = "no memory for the queue";
	map = alloc_map(gd);
	if (!map)
		return -ENOMEM;
	err = gsotun_queue_attach(q, f, may_mark);
	if (err) {
		kfree(map);
		return err;
	}

	WRITE_ONCE(gd->num_attached, gd->num_attached + 1);
	update_map(gd, map, NULL);
	update_offloads(gd);
	/* Carrier last: before the queue is visible the first burst would vanish. */
	update_carrier(gd);
	gsotun_genl_queue_event(q, GSOTUN_CMD_QUEUE_ATTACH_NTF);
	return 0;
}

/* Everything of unbind but the end of an ephemeral device. */
static void unbind(struct gsotun_queue *q)
{
	struct gsotun_dev *gd = netdev_priv(q->dev);
	bool hold = gd->carrier == GSOTUN_CARRIER_HOLD;
	struct gsotun_map *map;

	ASSERT_RTNL();

	WRITE_ONCE(gd->num_attached, gd->num_attached - 1);
	map = alloc_map(gd);
	/* Without memory flows go on to this queue, and are dropped as no_reader. */
	if (map)
		update_map(gd, map, q);
	/* Nobody on the way to this queue any more, then it can go. */
	synchronize_net();
	gsotun_queue_detach(q, hold && netif_running(q->dev));
	update_offloads(gd);
	if (hold)
		mod_timer(&gd->hold_timer, jiffies + msecs_to_jiffies(gd->hold_ms));
	update_carrier(gd);
	gsotun_genl_queue_event(q, GSOTUN_CMD_QUEUE_DETACH_NTF);
}

void gsotun_dev_unbind(struct gsotun_queue *q)
{
	struct gsotun_dev *gd = netdev_priv(q->dev);

	unbind(q);
	if (gd->ephemeral && !gd->num_attached)
		unregister_netdevice(gd->dev);
}

static void unbind_all(struct gsotun_dev *gd)
{
	u32 i;

	for (i = 0; i < gd->dev->num_tx_queues; i++)
		if (gd->queues[i].file)
			unbind(&gd->queues[i]);
}

/* ---- netdev operations ------------------------------------------------------- */

static int gsotun_ndo_init(struct net_device *dev)
{
	struct gsotun_dev *gd = netdev_priv(dev);
	u32 i;

	gd->quota = kzalloc(sizeof(*gd->quota), GFP_KERNEL);
	if (!gd->quota)
		return -ENOMEM;
	refcount_set(&gd->quota->refs, 1);
	gd->queues = kvcalloc(dev->num_tx_queues, sizeof(*gd->queues), GFP_KERNEL_ACCOUNT);
	if (!gd->queues) {
		kfree(gd->quota);
		return -ENOMEM;
	}
	for (i = 0; i < dev->num_tx_queues; i++)
		gsotun_queue_setup(&gd->queues[i], dev, i, OFFLOAD_FEATURES);
	return 0;
}

static void gsotun_ndo_uninit(struct net_device *dev)
{
	struct gsotun_dev *gd = netdev_priv(dev);
	u32 i;

	unbind_all(gd);
	timer_shutdown_sync(&gd->hold_timer);
	for (i = 0; i < dev->num_tx_queues; i++)
		gsotun_queue_teardown(&gd->queues[i]);
	/* One grace period for all of them: RTNL is held, and devices are many. */
	synchronize_net();
	for (i = 0; i < dev->num_tx_queues; i++)
		gsotun_queue_free_pool(&gd->queues[i]);
}

/* Pairs with a successful ndo_init. Statistics may be read until now. */
static void gsotun_destructor(struct net_device *dev)
{
	struct gsotun_dev *gd = netdev_priv(dev);

	kfree(rcu_dereference_protected(gd->map, true));
	kvfree(gd->queues);
	gsotun_quota_put(gd->quota, 0);
}

static int gsotun_open(struct net_device *dev)
{
	struct gsotun_dev *gd = netdev_priv(dev);
	u32 i;

	netif_tx_start_all_queues(dev);
	for (i = 0; i < dev->num_tx_queues; i++)
		if (gd->queues[i].file)
			gsotun_queue_up(&gd->queues[i]);
	return 0;
}

static int gsotun_stop(struct net_device *dev)
{
	struct gsotun_dev *gd = netdev_priv(dev);
	u32 i;

	netif_tx_stop_all_queues(dev);
	for (i = 0; i < dev->num_tx_queues; i++)
		if (gd->queues[i].file)
			gsotun_queue_down(&gd->queues[i]);
	return 0;
}

/* Not always called under RCU: packet sockets that bypass the qdisc call it bare. */
static u16 gsotun_select_queue(struct net_device *dev, struct sk_buff *skb,
			       struct net_device *sb_dev)
{
	struct gsotun_dev *gd = netdev_priv(dev);
	const struct gsotun_map *map;
	u16 id = 0;

	rcu_read_lock();
	map = rcu_dereference(gd->map);
	if (map && map->n == 1)
		id = map->id[0];
	else if (map)
		id = map->id[reciprocal_scale(skb_get_hash(skb), map->n)];
	rcu_read_unlock();
	return id;
}

static netdev_features_t gsotun_fix_features(struct net_device *dev, netdev_features_t features)
{
	struct gsotun_dev *gd = netdev_priv(dev);

	/* The core offers it along with TSO, and "ethtool -K tso on" asks for it. */
	features &= ~NETIF_F_TSO_MANGLEID;
	return features & (gd->allowed | ~OFFLOAD_FEATURES);
}

/*
 * The device takes what all daemons take; this queue's may take less at the
 * moment. Some callers ask before a queue is chosen: the mapping is then that of
 * the device where the packet came in, and may be any number.
 */
static netdev_features_t gsotun_features_check(struct sk_buff *skb, struct net_device *dev,
					       netdev_features_t features)
{
	struct gsotun_dev *gd = netdev_priv(dev);
	u16 id = skb_get_queue_mapping(skb);

	if (id >= dev->num_tx_queues)
		return features;
	return features & (READ_ONCE(gd->queues[id].features) | ~OFFLOAD_FEATURES);
}

static void gsotun_get_stats64(struct net_device *dev, struct rtnl_link_stats64 *stats)
{
	struct gsotun_dev *gd = netdev_priv(dev);
	u32 i, reason;

	for (i = 0; i < dev->num_tx_queues; i++) {
		struct gsotun_counters *tx = &gd->queues[i].to_user.counters;
		struct gsotun_counters *rx = &gd->queues[i].from_user.counters;

		stats->tx_packets += gsotun_counter(tx, &tx->packets);
		stats->tx_bytes += gsotun_counter(tx, &tx->wire_bytes);
		stats->rx_packets += gsotun_counter(rx, &rx->packets);
		stats->rx_bytes += gsotun_counter(rx, &rx->wire_bytes);
		for (reason = 1; reason <= GSOTUN_DROP_MAX; reason++) {
			stats->tx_dropped += gsotun_counter(tx, &tx->drops[reason]);
			/* What a daemon got wrong is an error, not a lack of room. */
			if (reason == GSOTUN_DROP_NOMEM)
				stats->rx_dropped += gsotun_counter(rx, &rx->drops[reason]);
			else
				stats->rx_errors += gsotun_counter(rx, &rx->drops[reason]);
		}
	}
}

static const struct net_device_ops gsotun_netdev_ops = {
	.ndo_init = gsotun_ndo_init,
	.ndo_uninit = gsotun_ndo_uninit,
	.ndo_open = gsotun_open,
	.ndo_stop = gsotun_stop,
	.ndo_start_xmit = gsotun_xmit,
	.ndo_select_queue = gsotun_select_queue,
	.ndo_features_check = gsotun_features_check,
	.ndo_fix_features = gsotun_fix_features,
	.ndo_get_stats64 = gsotun_get_stats64,
};

static void gsotun_get_drvinfo(struct net_device *dev, struct ethtool_drvinfo *info)
{
	strscpy(info->driver, "gsotun", sizeof(info->driver));
	strscpy(info->version, THIS_MODULE->version, sizeof(info->version));
}

static const struct ethtool_ops gsotun_ethtool_ops = {
	.get_drvinfo = gsotun_get_drvinfo,
	.get_link = ethtool_op_get_link,
};

/* ---- rtnetlink --------------------------------------------------------------- */

static struct netlink_range_validation hold_range = { .min = 1, .max = HOLD_MS_MAX };

static const struct nla_policy gsotun_link_policy[IFLA_GSOTUN_MAX + 1] = {
	[IFLA_GSOTUN_OWNER] = { .type = NLA_U32 },
	[IFLA_GSOTUN_GROUP] = { .type = NLA_U32 },
	[IFLA_GSOTUN_CARRIER] = NLA_POLICY_MAX(NLA_U8, GSOTUN_CARRIER_ON),
	[IFLA_GSOTUN_CARRIER_HOLD] = NLA_POLICY_FULL_RANGE(NLA_U32, &hold_range),
	[IFLA_GSOTUN_TO_USER_BYTES] = { .type = NLA_U32 },
	[IFLA_GSOTUN_FROM_USER_BYTES] = { .type = NLA_U32 },
	[IFLA_GSOTUN_EPHEMERAL] = NLA_POLICY_MAX(NLA_U8, 1),
	[IFLA_GSOTUN_QUEUES] = NLA_POLICY_RANGE(NLA_U32, 1, GSOTUN_MAX_QUEUES),
	[IFLA_GSOTUN_ATTACHED] = { .type = NLA_REJECT },
};

static void gsotun_setup(struct net_device *dev)
{
	dev->netdev_ops = &gsotun_netdev_ops;
	dev->ethtool_ops = &gsotun_ethtool_ops;
	dev->header_ops = &ip_tunnel_header_ops;
	dev->type = ARPHRD_NONE;
	dev->flags = IFF_POINTOPOINT | IFF_NOARP | IFF_MULTICAST;
	dev->mtu = ETH_DATA_LEN;
	dev->min_mtu = ETH_MIN_MTU;
	dev->max_mtu = IP_MAX_MTU;
	/* A real qdisc: what does not fit the ring waits there. */
	dev->tx_queue_len = DEFAULT_TX_QUEUE_LEN;
	dev->features = FEATURES;
	dev->hw_features = FEATURES & ~NETIF_F_HIGHDMA;
	dev->hw_enc_features = dev->hw_features;
	dev->needs_free_netdev = true;
	dev->priv_destructor = gsotun_destructor;
}

/* The number of queues as INFO_DATA has it, or 0. Nothing is validated yet. */
static u32 info_data_queues(struct nlattr *tb[])
{
	const struct nlattr *data, *queues;

	if (!tb[IFLA_LINKINFO])
		return 0;
	data = nla_find_nested(tb[IFLA_LINKINFO], IFLA_INFO_DATA);
	if (!data)
		return 0;
	queues = nla_find_nested(data, IFLA_GSOTUN_QUEUES);
	return queues && nla_len(queues) >= sizeof(u32) ? nla_get_u32(queues) : 0;
}

/*
 * Called with @num_tx and @num_rx from netlink or 1. One number serves both
 * directions; newlink() refuses what does not agree.
 */
static struct net_device *gsotun_alloc(struct nlattr *tb[], const char *name,
				       unsigned char name_assign_type,
				       unsigned int num_tx, unsigned int num_rx)
{
	u32 n = max3(num_tx, num_rx, info_data_queues(tb));
	struct net_device *dev;

	n = clamp_t(u32, n, 1, GSOTUN_MAX_QUEUES);
	dev = alloc_netdev_mqs(sizeof(struct gsotun_dev), name, name_assign_type,
			       gsotun_setup, n, n);
	return dev ?: ERR_PTR(-ENOMEM);
}

static int check_queues(const struct net_device *dev, struct nlattr *tb[],
			struct netlink_ext_ack *extack)
{
	static const int attrs[] = { IFLA_NUM_TX_QUEUES, IFLA_NUM_RX_QUEUES };
	u32 n = info_data_queues(tb);
	u32 i;

	if (n && n != dev->num_tx_queues) {
		NL_SET_ERR_MSG(extack, "queues, numtxqueues and numrxqueues must agree");
		return -EINVAL;
	}
	for (i = 0; i < ARRAY_SIZE(attrs); i++) {
		const struct nlattr *attr = tb[attrs[i]];

		if (!attr)
			continue;
		if (nla_get_u32(attr) > GSOTUN_MAX_QUEUES) {
			NL_SET_ERR_MSG_ATTR(extack, attr, "at most 64 queues");
			return -EINVAL;
		}
		if (nla_get_u32(attr) != dev->num_tx_queues) {
			NL_SET_ERR_MSG_ATTR(extack, attr,
					    "queues, numtxqueues and numrxqueues must agree");
			return -EINVAL;
		}
	}
	return 0;
}

static int check_ring_bytes(const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	u32 bytes;

	if (!attr)
		return 0;
	bytes = nla_get_u32(attr);
	if (!is_power_of_2(bytes)) {
		NL_SET_ERR_MSG_ATTR(extack, attr, "ring size must be a power of two");
		return -EINVAL;
	}
	if (bytes < GSOTUN_RING_BYTES_MIN || bytes > GSOTUN_RING_BYTES_MAX) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "ring size must be 512 KiB to 256 MiB");
		return -ERANGE;
	}
	return 0;
}

/* Checks that need no device. */
static int gsotun_validate(struct nlattr *tb[], struct nlattr *data[],
			   struct netlink_ext_ack *extack)
{
	int err;

	if (tb[IFLA_ADDRESS]) {
		NL_SET_ERR_MSG_ATTR(extack, tb[IFLA_ADDRESS], "a layer 3 device has no address");
		return -EINVAL;
	}
	if (!data)
		return 0;
	if (data[IFLA_GSOTUN_OWNER] &&
	    !uid_valid(make_kuid(current_user_ns(), nla_get_u32(data[IFLA_GSOTUN_OWNER])))) {
		NL_SET_ERR_MSG_ATTR(extack, data[IFLA_GSOTUN_OWNER],
				    "no such user in this user namespace");
		return -EINVAL;
	}
	if (data[IFLA_GSOTUN_GROUP] &&
	    !gid_valid(make_kgid(current_user_ns(), nla_get_u32(data[IFLA_GSOTUN_GROUP])))) {
		NL_SET_ERR_MSG_ATTR(extack, data[IFLA_GSOTUN_GROUP],
				    "no such group in this user namespace");
		return -EINVAL;
	}
	err = check_ring_bytes(data[IFLA_GSOTUN_TO_USER_BYTES], extack);
	if (err)
		return err;
	return check_ring_bytes(data[IFLA_GSOTUN_FROM_USER_BYTES], extack);
}

/* What newlink and changelink have in common; validated before. */
static void set_options(struct gsotun_dev *gd, struct nlattr *data[])
{
	if (data[IFLA_GSOTUN_OWNER])
		gd->owner = make_kuid(current_user_ns(), nla_get_u32(data[IFLA_GSOTUN_OWNER]));
	if (data[IFLA_GSOTUN_GROUP])
		gd->group = make_kgid(current_user_ns(), nla_get_u32(data[IFLA_GSOTUN_GROUP]));
	if (data[IFLA_GSOTUN_CARRIER])
		WRITE_ONCE(gd->carrier, nla_get_u8(data[IFLA_GSOTUN_CARRIER]));
	if (data[IFLA_GSOTUN_CARRIER_HOLD])
		gd->hold_ms = nla_get_u32(data[IFLA_GSOTUN_CARRIER_HOLD]);
	if (data[IFLA_GSOTUN_TO_USER_BYTES])
		WRITE_ONCE(gd->ring_bytes[GSOTUN_TO_USER],
			   nla_get_u32(data[IFLA_GSOTUN_TO_USER_BYTES]));
	if (data[IFLA_GSOTUN_FROM_USER_BYTES])
		WRITE_ONCE(gd->ring_bytes[GSOTUN_FROM_USER],
			   nla_get_u32(data[IFLA_GSOTUN_FROM_USER_BYTES]));
}

static int gsotun_newlink(struct net_device *dev, struct rtnl_newlink_params *params,
			  struct netlink_ext_ack *extack)
{
	struct gsotun_dev *gd = netdev_priv(dev);
	struct nlattr **data = params->data;
	int err;

	err = check_queues(dev, params->tb, extack);
	if (err)
		return err;

	gd->dev = dev;
	gd->owner = INVALID_UID;
	gd->group = INVALID_GID;
	gd->hold_ms = HOLD_MS_DEFAULT;
	gd->ring_bytes[GSOTUN_TO_USER] = GSOTUN_RING_BYTES_DEFAULT;
	gd->ring_bytes[GSOTUN_FROM_USER] = GSOTUN_RING_BYTES_DEFAULT;
	gd->allowed = OFFLOAD_FEATURES;
	gd->offloads = GSOTUN_OFFLOADS_SUPPORTED;
	timer_setup(&gd->hold_timer, hold_timer, 0);
	if (data) {
		set_options(gd, data);
		if (data[IFLA_GSOTUN_EPHEMERAL])
			gd->ephemeral = nla_get_u8(data[IFLA_GSOTUN_EPHEMERAL]);
	}
	if (gd->carrier != GSOTUN_CARRIER_ON)
		netif_carrier_off(dev);
	return register_netdevice(dev);
}

GSOTUN_NEWLINK(gsotun_newlink)

static int gsotun_changelink(struct net_device *dev, struct nlattr *tb[], struct nlattr *data[],
			     struct netlink_ext_ack *extack)
{
	struct gsotun_dev *gd = netdev_priv(dev);

	if (!data)
		return 0;
	if (data[IFLA_GSOTUN_QUEUES] &&
	    nla_get_u32(data[IFLA_GSOTUN_QUEUES]) != dev->num_tx_queues) {
		NL_SET_ERR_MSG_ATTR(extack, data[IFLA_GSOTUN_QUEUES],
				    "the number of queues is fixed at creation");
		return -EOPNOTSUPP;
	}
	if (data[IFLA_GSOTUN_EPHEMERAL] &&
	    nla_get_u8(data[IFLA_GSOTUN_EPHEMERAL]) != gd->ephemeral) {
		NL_SET_ERR_MSG_ATTR(extack, data[IFLA_GSOTUN_EPHEMERAL],
				    "whether a device is ephemeral is fixed at creation");
		return -EOPNOTSUPP;
	}
	set_options(gd, data);
	update_carrier(gd);
	gsotun_genl_dev_event(gd, GSOTUN_CMD_DEV_CHANGE_NTF);
	return 0;
}

/* Daemons first, so that whoever watches sees them go before the device. */
static void gsotun_dellink(struct net_device *dev, struct list_head *head)
{
	unbind_all(netdev_priv(dev));
	unregister_netdevice_queue(dev, head);
}

static size_t gsotun_get_size(const struct net_device *dev)
{
	return 7 * nla_total_size(sizeof(u32)) + 2 * nla_total_size(sizeof(u8));
}

static int gsotun_fill_info(struct sk_buff *skb, const struct net_device *dev)
{
	const struct gsotun_dev *gd = netdev_priv(dev);

	if (uid_valid(gd->owner) &&
	    nla_put_u32(skb, IFLA_GSOTUN_OWNER, from_kuid_munged(current_user_ns(), gd->owner)))
		return -EMSGSIZE;
	if (gid_valid(gd->group) &&
	    nla_put_u32(skb, IFLA_GSOTUN_GROUP, from_kgid_munged(current_user_ns(), gd->group)))
		return -EMSGSIZE;
	if (nla_put_u8(skb, IFLA_GSOTUN_CARRIER, gd->carrier) ||
	    nla_put_u32(skb, IFLA_GSOTUN_CARRIER_HOLD, gd->hold_ms) ||
	    nla_put_u32(skb, IFLA_GSOTUN_TO_USER_BYTES, gd->ring_bytes[GSOTUN_TO_USER]) ||
	    nla_put_u32(skb, IFLA_GSOTUN_FROM_USER_BYTES, gd->ring_bytes[GSOTUN_FROM_USER]) ||
	    nla_put_u8(skb, IFLA_GSOTUN_EPHEMERAL, gd->ephemeral) ||
	    nla_put_u32(skb, IFLA_GSOTUN_QUEUES, dev->num_tx_queues) ||
	    nla_put_u32(skb, IFLA_GSOTUN_ATTACHED, gd->num_attached))
		return -EMSGSIZE;
	return 0;
}

static struct rtnl_link_ops gsotun_link_ops = {
	.kind = "gsotun",
	.priv_size = sizeof(struct gsotun_dev),
	.alloc = gsotun_alloc,
	.setup = gsotun_setup,
	.maxtype = IFLA_GSOTUN_MAX,
	.policy = gsotun_link_policy,
	.validate = gsotun_validate,
	.newlink = GSOTUN_NEWLINK_OP(gsotun_newlink),
	.changelink = gsotun_changelink,
	.dellink = gsotun_dellink,
	.get_size = gsotun_get_size,
	.fill_info = gsotun_fill_info,
};

/*
 * Marks were allowed by a capability over the namespace where the daemon
 * attached; it says nothing about the one where the device has come to.
 */
static void forget_privileges(struct gsotun_dev *gd)
{
	u32 i;

	for (i = 0; i < gd->dev->num_tx_queues; i++)
		WRITE_ONCE(gd->queues[i].from_user.may_mark, false);
}

/* Creation, end, moves between namespaces and offloads, whoever caused them. */
static int gsotun_notify(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);

	if (!gsotun_is_gsotun(dev))
		return NOTIFY_DONE;
	switch (event) {
	case NETDEV_REGISTER:
		forget_privileges(netdev_priv(dev));
		gsotun_genl_dev_event(netdev_priv(dev), GSOTUN_CMD_DEV_ADD_NTF);
		break;
	case NETDEV_UNREGISTER:
		gsotun_genl_dev_event(netdev_priv(dev), GSOTUN_CMD_DEV_DEL_NTF);
		break;
	case NETDEV_FEAT_CHANGE:
	case NETDEV_CHANGENAME:
		gsotun_genl_dev_event(netdev_priv(dev), GSOTUN_CMD_DEV_CHANGE_NTF);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block gsotun_notifier = { .notifier_call = gsotun_notify };

int gsotun_device_init(void)
{
	int err;

	err = register_netdevice_notifier(&gsotun_notifier);
	if (err)
		return err;
	err = rtnl_link_register(&gsotun_link_ops);
	if (err)
		unregister_netdevice_notifier(&gsotun_notifier);
	return err;
}

void gsotun_device_exit(void)
{
	rtnl_link_unregister(&gsotun_link_ops);
	unregister_netdevice_notifier(&gsotun_notifier);
}
