// SPDX-License-Identifier: GPL-2.0
/*
 * genl.c - generic netlink: look at devices and queues, and watch them.
 *
 * Everything is read under RTNL, counters apart. Whoever may talk to the
 * namespace may look, as with ip link.
 */
#include <linux/nospec.h>
#include <linux/rtnetlink.h>
#include <net/genetlink.h>
#include <net/sock.h>

#include "device.h"
#include "genl.h"
#include "queue.h"

static struct genl_family gsotun_genl_family;

/* ---- messages ---------------------------------------------------------------- */

static int put_dev_options(struct sk_buff *msg, const struct gsotun_dev *gd, u8 cmd)
{
	/* Whoever causes an event, perhaps a kworker, is not who reads of it. */
	struct user_namespace *ns = cmd == GSOTUN_CMD_DEV_GET ? current_user_ns() :
							       dev_net(gd->dev)->user_ns;

	if (uid_valid(gd->owner) &&
	    nla_put_u32(msg, GSOTUN_A_DEV_OWNER, from_kuid_munged(ns, gd->owner)))
		return -EMSGSIZE;
	if (gid_valid(gd->group) &&
	    nla_put_u32(msg, GSOTUN_A_DEV_GROUP, from_kgid_munged(ns, gd->group)))
		return -EMSGSIZE;
	if (nla_put_u8(msg, GSOTUN_A_DEV_CARRIER, gd->carrier) ||
	    nla_put_u32(msg, GSOTUN_A_DEV_CARRIER_HOLD, gd->hold_ms) ||
	    nla_put_u32(msg, GSOTUN_A_DEV_TO_USER_BYTES, gd->ring_bytes[GSOTUN_TO_USER]) ||
	    nla_put_u32(msg, GSOTUN_A_DEV_FROM_USER_BYTES, gd->ring_bytes[GSOTUN_FROM_USER]) ||
	    nla_put_u8(msg, GSOTUN_A_DEV_EPHEMERAL, gd->ephemeral))
		return -EMSGSIZE;
	return 0;
}

/* Whom a message is for: an answer, a part of a dump (@cb), or all who watch. */
struct recipient {
	u32 portid;
	u32 seq;
	struct netlink_callback *cb;
};

static void *put_header(struct sk_buff *msg, const struct recipient *to, u8 cmd)
{
	void *hdr = genlmsg_put(msg, to->portid, to->seq, &gsotun_genl_family,
				to->cb ? NLM_F_MULTI : 0, cmd);

	if (hdr && to->cb)
		genl_dump_check_consistent(to->cb, hdr);
	return hdr;
}

static int fill_dev(struct sk_buff *msg, struct gsotun_dev *gd, const struct recipient *to, u8 cmd)
{
	void *hdr = put_header(msg, to, cmd);

	if (!hdr)
		return -EMSGSIZE;
	if (nla_put_u32(msg, GSOTUN_A_DEV_IFINDEX, gd->dev->ifindex) ||
	    nla_put_string(msg, GSOTUN_A_DEV_NAME, gd->dev->name))
		goto too_long;
	if (cmd == GSOTUN_CMD_DEV_DEL_NTF)
		goto done;
	if (nla_put_u32(msg, GSOTUN_A_DEV_NUM_QUEUES, gd->dev->num_tx_queues) ||
	    nla_put_u32(msg, GSOTUN_A_DEV_NUM_ATTACHED, gd->num_attached) ||
	    put_dev_options(msg, gd, cmd) ||
	    nla_put_u64_64bit(msg, GSOTUN_A_DEV_OFFLOADS, gd->offloads, GSOTUN_A_DEV_PAD) ||
	    nla_put_u64_64bit(msg, GSOTUN_A_DEV_SUPPORTED_TO_USER, GSOTUN_OFFLOADS_SUPPORTED,
			      GSOTUN_A_DEV_PAD) ||
	    nla_put_u64_64bit(msg, GSOTUN_A_DEV_SUPPORTED_FROM_USER, GSOTUN_OFFLOADS_SUPPORTED,
			      GSOTUN_A_DEV_PAD) ||
	    nla_put_u32(msg, GSOTUN_A_DEV_ABI, GSOTUN_ABI))
		goto too_long;
done:
	genlmsg_end(msg, hdr);
	return 0;

too_long:
	genlmsg_cancel(msg, hdr);
	return -EMSGSIZE;
}

struct ring_facts {
	u32 bytes;
	u32 used;
	u32 high_water;
	u16 layout;
	u64 offloads;
};

static int put_ring(struct sk_buff *msg, int type, const struct ring_facts *facts,
		    struct gsotun_counters *c)
{
	const struct {
		int type;
		u64 value;
	} counters[] = {
		{ GSOTUN_A_RING_RECORDS, gsotun_counter(c, &c->records) },
		{ GSOTUN_A_RING_SUPERPACKETS, gsotun_counter(c, &c->superpackets) },
		{ GSOTUN_A_RING_PACKETS, gsotun_counter(c, &c->packets) },
		{ GSOTUN_A_RING_WIRE_BYTES, gsotun_counter(c, &c->wire_bytes) },
		{ GSOTUN_A_RING_PACKET_BYTES, gsotun_counter(c, &c->packet_bytes) },
		{ GSOTUN_A_RING_SKIPS, gsotun_counter(c, &c->skips) },
		{ GSOTUN_A_RING_WAKES, gsotun_counter(c, &c->wakes) },
		{ GSOTUN_A_RING_KICKS, atomic64_read(&c->kicks) },
		{ GSOTUN_A_RING_STOPS, gsotun_counter(c, &c->stops) },
		{ GSOTUN_A_RING_CORRUPTIONS, gsotun_counter(c, &c->corruptions) },
	};
	struct nlattr *nest;
	u32 i;

	nest = nla_nest_start(msg, type);
	if (!nest)
		return -EMSGSIZE;
	if (facts->bytes &&
	    (nla_put_u32(msg, GSOTUN_A_RING_BYTES, facts->bytes) ||
	     nla_put_u32(msg, GSOTUN_A_RING_USED, facts->used) ||
	     nla_put_u32(msg, GSOTUN_A_RING_HIGH_WATER, facts->high_water) ||
	     nla_put_u16(msg, GSOTUN_A_RING_LAYOUT, facts->layout) ||
	     nla_put_u64_64bit(msg, GSOTUN_A_RING_OFFLOADS, facts->offloads, GSOTUN_A_RING_PAD)))
		goto too_long;
	for (i = 0; i < ARRAY_SIZE(counters); i++)
		if (nla_put_u64_64bit(msg, counters[i].type, counters[i].value, GSOTUN_A_RING_PAD))
			goto too_long;
	nla_nest_end(msg, nest);
	return 0;

too_long:
	nla_nest_cancel(msg, nest);
	return -EMSGSIZE;
}

static int put_drops(struct sk_buff *msg, struct gsotun_queue *q)
{
	struct gsotun_counters *to = &q->to_user.counters;
	struct gsotun_counters *from = &q->from_user.counters;
	struct nlattr *nest;
	u32 reason;

	nest = nla_nest_start(msg, GSOTUN_A_QUEUE_DROPS);
	if (!nest)
		return -EMSGSIZE;
	for (reason = 1; reason <= GSOTUN_DROP_MAX; reason++) {
		u64 n = gsotun_counter(to, &to->drops[reason]) +
			gsotun_counter(from, &from->drops[reason]);

		/* Here a type is a reason, and so is the pad's: only 0 is none. */
		if (n && nla_put_u64_64bit(msg, reason, n, GSOTUN_DROP_NONE)) {
			nla_nest_cancel(msg, nest);
			return -EMSGSIZE;
		}
	}
	nla_nest_end(msg, nest);
	return 0;
}

/* Positions are read while they move; subtraction keeps a stale pair harmless. */
static u32 ring_fill(const void *kernel_prod, const void *daemon_cons, u32 size)
{
	return min(core_load((const u32 *)kernel_prod) - core_load((const u32 *)daemon_cons), size);
}

static int put_attachment(struct sk_buff *msg, struct gsotun_queue *q, struct ring_facts facts[2],
			  bool with_pid)
{
	struct gsotun_file *f = q->file;
	int i;

	for (i = 0; i < 2; i++) {
		facts[i].bytes = f->mem[i].bytes;
		facts[i].layout = f->granted.layout[i].type;
		facts[i].offloads = f->granted.offloads[i];
	}
	facts[GSOTUN_TO_USER].used = ring_fill(f->mem[GSOTUN_TO_USER].kernel,
					       f->mem[GSOTUN_TO_USER].daemon,
					       f->mem[GSOTUN_TO_USER].bytes);
	facts[GSOTUN_TO_USER].high_water = READ_ONCE(q->to_user.high_water);
	facts[GSOTUN_FROM_USER].used = ring_fill(f->mem[GSOTUN_FROM_USER].daemon,
						 f->mem[GSOTUN_FROM_USER].kernel,
						 f->mem[GSOTUN_FROM_USER].bytes);
	facts[GSOTUN_FROM_USER].high_water = READ_ONCE(q->from_user.high_water);

	if (with_pid) {
		pid_t pid = pid_vnr(q->pid);

		if (pid && nla_put_u32(msg, GSOTUN_A_QUEUE_PID, pid))
			return -EMSGSIZE;
	}
	if (nla_put_u32(msg, GSOTUN_A_QUEUE_VNET_LEN, f->granted.vnet_len) ||
	    nla_put_u32(msg, GSOTUN_A_QUEUE_FILL_LIMIT, f->granted.fill_limit) ||
	    nla_put_u8(msg, GSOTUN_A_QUEUE_STOPPED, READ_ONCE(q->to_user.stopped)))
		return -EMSGSIZE;
	return 0;
}

static int fill_queue(struct sk_buff *msg, struct gsotun_queue *q, const struct recipient *to,
		      u8 cmd)
{
	/* Watchers sit in any pid namespace: only an answer can name the process. */
	bool with_pid = cmd == GSOTUN_CMD_QUEUE_GET;
	struct ring_facts facts[2] = { };
	void *hdr;

	hdr = put_header(msg, to, cmd);
	if (!hdr)
		return -EMSGSIZE;
	if (nla_put_u32(msg, GSOTUN_A_QUEUE_IFINDEX, q->dev->ifindex) ||
	    nla_put_u32(msg, GSOTUN_A_QUEUE_ID, q->id) ||
	    nla_put_u8(msg, GSOTUN_A_QUEUE_ATTACHED, !!q->file) ||
	    nla_put_u32(msg, GSOTUN_A_QUEUE_GENERATION, q->generation) ||
	    nla_put_u32(msg, GSOTUN_A_QUEUE_NAPI_ID, q->napi.napi_id))
		goto too_long;
	if (q->file && put_attachment(msg, q, facts, with_pid))
		goto too_long;
	if (put_ring(msg, GSOTUN_A_QUEUE_TO_USER, &facts[GSOTUN_TO_USER], &q->to_user.counters) ||
	    put_ring(msg, GSOTUN_A_QUEUE_FROM_USER, &facts[GSOTUN_FROM_USER],
		     &q->from_user.counters) ||
	    put_drops(msg, q))
		goto too_long;
	genlmsg_end(msg, hdr);
	return 0;

too_long:
	genlmsg_cancel(msg, hdr);
	return -EMSGSIZE;
}

/* ---- requests ---------------------------------------------------------------- */

/* Context: RTNL. */
static struct gsotun_dev *find_dev(struct genl_info *info, int attr)
{
	struct net_device *dev;

	if (!info->attrs[attr]) {
		NL_SET_ERR_MSG(info->extack, "ifindex is missing");
		return ERR_PTR(-EINVAL);
	}
	dev = __dev_get_by_index(genl_info_net(info), nla_get_u32(info->attrs[attr]));
	if (!dev) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[attr], "no such device");
		return ERR_PTR(-ENODEV);
	}
	if (!gsotun_is_gsotun(dev)) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[attr], "not a gsotun device");
		return ERR_PTR(-EOPNOTSUPP);
	}
	return netdev_priv(dev);
}

static int dev_get(struct sk_buff *skb, struct genl_info *info)
{
	const struct recipient to = { .portid = info->snd_portid, .seq = info->snd_seq };
	struct gsotun_dev *gd;
	struct sk_buff *msg;
	int err;

	msg = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	if (!msg)
		return -ENOMEM;
	rtnl_lock();
	gd = find_dev(info, GSOTUN_A_DEV_IFINDEX);
	err = PTR_ERR_OR_ZERO(gd);
	if (!err)
		err = fill_dev(msg, gd, &to, GSOTUN_CMD_DEV_GET);
	rtnl_unlock();
	if (err) {
		nlmsg_free(msg);
		return err;
	}
	return genlmsg_reply(msg, info);
}

static int queue_get(struct sk_buff *skb, struct genl_info *info)
{
	const struct recipient to = { .portid = info->snd_portid, .seq = info->snd_seq };
	const struct nlattr *id = info->attrs[GSOTUN_A_QUEUE_ID];
	struct gsotun_dev *gd;
	struct sk_buff *msg;
	int err;

	if (!id) {
		NL_SET_ERR_MSG(info->extack, "queue id is missing");
		return -EINVAL;
	}
	msg = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	if (!msg)
		return -ENOMEM;
	rtnl_lock();
	gd = find_dev(info, GSOTUN_A_QUEUE_IFINDEX);
	err = PTR_ERR_OR_ZERO(gd);
	if (!err && nla_get_u32(id) >= gd->dev->num_tx_queues) {
		NL_SET_ERR_MSG_ATTR(info->extack, id, "the device has no queue of that number");
		err = -ENOENT;
	}
	if (!err) {
		u32 n = array_index_nospec(nla_get_u32(id), gd->dev->num_tx_queues);

		err = fill_queue(msg, &gd->queues[n], &to, GSOTUN_CMD_QUEUE_GET);
	}
	rtnl_unlock();
	if (err) {
		nlmsg_free(msg);
		return err;
	}
	return genlmsg_reply(msg, info);
}

/* A dump goes by ifindex, so that devices that come and go do not hide others. */
struct dump_pos {
	u32 ifindex;	/* unsigned: the index after the last one is not the first */
	u32 queue;
};

/* The first gsotun device with an index of at least @ifindex. Context: RTNL. */
static struct net_device *next_dev(struct net *net, u32 ifindex)
{
	struct net_device *dev, *best = NULL;

	for_each_netdev(net, dev)
		if (gsotun_is_gsotun(dev) && dev->ifindex >= ifindex &&
		    (!best || dev->ifindex < best->ifindex))
			best = dev;
	return best;
}

static int dev_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	const struct recipient to = {
		.portid = NETLINK_CB(cb->skb).portid, .seq = cb->nlh->nlmsg_seq, .cb = cb,
	};
	struct dump_pos *pos = (struct dump_pos *)cb->ctx;
	struct net *net = sock_net(skb->sk);
	struct net_device *dev;

	rtnl_lock();
	cb->seq = READ_ONCE(net->dev_base_seq);
	while ((dev = next_dev(net, pos->ifindex))) {
		if (fill_dev(skb, netdev_priv(dev), &to, GSOTUN_CMD_DEV_GET))
			break;
		pos->ifindex = dev->ifindex + 1;
	}
	rtnl_unlock();
	return skb->len;
}

static int queue_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	const struct recipient to = {
		.portid = NETLINK_CB(cb->skb).portid, .seq = cb->nlh->nlmsg_seq, .cb = cb,
	};
	const struct nlattr *only = gsotun_dump_attrs(cb)[GSOTUN_A_QUEUE_IFINDEX];
	struct dump_pos *pos = (struct dump_pos *)cb->ctx;
	struct net *net = sock_net(skb->sk);
	struct net_device *dev;

	rtnl_lock();
	cb->seq = READ_ONCE(net->dev_base_seq);
	if (only && !pos->ifindex)
		pos->ifindex = nla_get_u32(only);
	while ((dev = next_dev(net, pos->ifindex))) {
		struct gsotun_dev *gd = netdev_priv(dev);

		if (only && dev->ifindex != nla_get_u32(only))
			break;
		if (dev->ifindex != pos->ifindex) {
			pos->ifindex = dev->ifindex;
			pos->queue = 0;
		}
		for (; pos->queue < dev->num_tx_queues; pos->queue++)
			if (fill_queue(skb, &gd->queues[pos->queue], &to, GSOTUN_CMD_QUEUE_GET))
				goto out;
		pos->ifindex = dev->ifindex + 1;
		pos->queue = 0;
	}
out:
	rtnl_unlock();
	return skb->len;
}

static const struct nla_policy dev_get_policy[GSOTUN_A_DEV_IFINDEX + 1] = {
	[GSOTUN_A_DEV_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
};

static const struct nla_policy queue_get_policy[GSOTUN_A_QUEUE_ID + 1] = {
	[GSOTUN_A_QUEUE_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
	[GSOTUN_A_QUEUE_ID] = { .type = NLA_U32 },
};

static const struct genl_ops gsotun_genl_ops[] = {
	{
		.cmd = GSOTUN_CMD_DEV_GET,
		.doit = dev_get,
		.dumpit = dev_dump,
		.policy = dev_get_policy,
		.maxattr = ARRAY_SIZE(dev_get_policy) - 1,
	},
	{
		.cmd = GSOTUN_CMD_QUEUE_GET,
		.doit = queue_get,
		.dumpit = queue_dump,
		.policy = queue_get_policy,
		.maxattr = ARRAY_SIZE(queue_get_policy) - 1,
	},
};

static const struct genl_multicast_group gsotun_genl_groups[] = {
	{ .name = GSOTUN_GENL_MCGRP },
};

static struct genl_family gsotun_genl_family __ro_after_init = {
	.name = GSOTUN_GENL_NAME,
	.version = GSOTUN_GENL_VERSION,
	.netnsok = true,
	.parallel_ops = true,
	.module = THIS_MODULE,
	.ops = gsotun_genl_ops,
	.n_ops = ARRAY_SIZE(gsotun_genl_ops),
	.resv_start_op = GSOTUN_CMD_DEV_GET,
	.mcgrps = gsotun_genl_groups,
	.n_mcgrps = ARRAY_SIZE(gsotun_genl_groups),
};

/* ---- notifications ------------------------------------------------------------ */

static const struct recipient everyone;

static void multicast(struct net *net, struct sk_buff *msg, int err)
{
	if (err)
		nlmsg_free(msg);
	else
		genlmsg_multicast_netns(&gsotun_genl_family, net, msg, 0, 0, GFP_KERNEL);
}

void gsotun_genl_dev_event(struct gsotun_dev *gd, u8 cmd)
{
	struct net *net = dev_net(gd->dev);
	struct sk_buff *msg;

	if (!genl_has_listeners(&gsotun_genl_family, net, 0))
		return;
	msg = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	if (msg)
		multicast(net, msg, fill_dev(msg, gd, &everyone, cmd));
}

void gsotun_genl_queue_event(struct gsotun_queue *q, u8 cmd)
{
	struct net *net = dev_net(q->dev);
	struct sk_buff *msg;

	if (!genl_has_listeners(&gsotun_genl_family, net, 0))
		return;
	msg = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	if (msg)
		multicast(net, msg, fill_queue(msg, q, &everyone, cmd));
}

int gsotun_genl_init(void)
{
	return genl_register_family(&gsotun_genl_family);
}

void gsotun_genl_exit(void)
{
	genl_unregister_family(&gsotun_genl_family);
}
