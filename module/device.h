/* SPDX-License-Identifier: GPL-2.0 */
/* device.h - the network device: its life, its options, its attached queues. */
#ifndef GSOTUN_DEVICE_H
#define GSOTUN_DEVICE_H

#include <linux/netdevice.h>
#include <linux/refcount.h>
#include <linux/timer.h>
#include <linux/uidgid.h>

#include <linux/gsotun.h>

struct gsotun_file;
struct gsotun_queue;

/* Offloads that this version can do. */
#define GSOTUN_OFFLOADS_SUPPORTED (GSOTUN_OFFLOAD_CSUM | GSOTUN_OFFLOAD_TSO4 |	\
				   GSOTUN_OFFLOAD_TSO6 | GSOTUN_OFFLOAD_TSO_ECN |	\
				   GSOTUN_OFFLOAD_USO)
/* Offloads that have a name; others are refused as unknown. */
#define GSOTUN_OFFLOADS_KNOWN	(GSOTUN_OFFLOADS_SUPPORTED | GSOTUN_OFFLOAD_UDP_TUNNEL | \
				 GSOTUN_OFFLOAD_UDP_TUNNEL_CSUM | GSOTUN_OFFLOAD_BIG_TCP)

/*
 * Ring memory charged to a device. Outlives it while a file holds memory, so that
 * nobody gets more by breaking a ring and attaching anew.
 */
struct gsotun_quota {
	refcount_t refs;
	atomic64_t bytes;
};

/* Attached queues, for the choice of a queue by flow. */
struct gsotun_map {
	struct rcu_head rcu;
	u32 n;
	u16 id[];
};

/**
 * struct gsotun_dev - private part of the network device
 * @dev: device
 * @queues: dev->num_tx_queues of them, from ndo_init to the end of the device
 * @map: attached queues; the last set stays when the last queue detaches
 * @num_attached: written under RTNL, read by anyone
 * @allowed: features that all attached queues take, under RTNL
 * @offloads: the same as GSOTUN_OFFLOAD_*, for userspace
 * @owner: uid that may attach, or INVALID_UID
 * @group: gid that may attach, or INVALID_GID
 * @hold_ms: GSOTUN_CARRIER_HOLD: how long
 * @ring_bytes: default ring sizes
 * @carrier: GSOTUN_CARRIER_*
 * @ephemeral: goes with its last attachment
 * @hold_timer: runs after a detach under GSOTUN_CARRIER_HOLD; never takes RTNL
 * @quota: what ring memory is charged to
 *
 * The options are written under RTNL; attach reads some of them under RCU, as a
 * first look, and again under RTNL.
 */
struct gsotun_dev {
	struct net_device *dev;
	struct gsotun_queue *queues;
	struct gsotun_map __rcu *map;
	u32 num_attached;
	netdev_features_t allowed;
	u64 offloads;

	kuid_t owner;
	kgid_t group;
	u32 hold_ms;
	u32 ring_bytes[2];
	u8 carrier;
	bool ephemeral;
	struct timer_list hold_timer;
	struct gsotun_quota *quota;
};

int gsotun_device_init(void);
void gsotun_device_exit(void);

/**
 * gsotun_dev_get - find a device
 * @net: namespace
 * @ifindex: its index there
 *
 * Context: RCU or RTNL; valid as long as that is held.
 * Return: the device, or NULL if there is none or it is of another kind.
 */
struct gsotun_dev *gsotun_dev_get(struct net *net, u32 ifindex);

bool gsotun_is_gsotun(const struct net_device *dev);

/* May the current process attach? Context: RCU or RTNL. */
bool gsotun_dev_may_attach(const struct gsotun_dev *gd);

/**
 * gsotun_dev_bind - attach a file to a queue, and send flows there
 * @gd: device
 * @f: file, ready to attach but for the queue
 * @id: queue or GSOTUN_QUEUE_ANY
 * @why: set to a sentence on failure
 *
 * Context: f->lock and RTNL held; sleeps.
 * Return: 0, -EINVAL (no such queue), -EBUSY or -ENOMEM.
 */
int gsotun_dev_bind(struct gsotun_dev *gd, struct gsotun_file *f, u32 id, const char **why);

/* Detach a queue, and delete the device if it was to go with it. Context: RTNL; sleeps. */
void gsotun_dev_unbind(struct gsotun_queue *q);

/* Context: RCU or RTNL, as long as that protects the device. */
struct gsotun_quota *gsotun_quota_get(struct gsotun_quota *quota);

/* Whether so much memory may be had; CAP_IPC_LOCK may have any. Context: process. */
bool gsotun_quota_charge(struct gsotun_quota *quota, u64 bytes);

/* Give a reference back, and @bytes that were charged. */
void gsotun_quota_put(struct gsotun_quota *quota, u64 bytes);

/* NETIF_F_* for GSOTUN_OFFLOAD_*. */
netdev_features_t gsotun_offload_features(u64 offloads);

#endif /* GSOTUN_DEVICE_H */
