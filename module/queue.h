/* SPDX-License-Identifier: GPL-2.0 */
/*
 * queue.h - a queue of a device: its state, its counters, its attachment.
 *
 * A queue lives as long as its device. A file (chardev.h) owns the ring memory.
 * Attaching binds the two, detaching parts them for good: a file is never
 * attached twice.
 */
#ifndef GSOTUN_QUEUE_H
#define GSOTUN_QUEUE_H

#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/rcupdate.h>
#include <linux/u64_stats_sync.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <net/page_pool/helpers.h>

#include <linux/gsotun.h>

#include "core/plan.h"
#include "core/ring.h"
#include "ringmem.h"

struct gsotun_quota;

/* What one direction of a queue counted. One writer at a time, see struct gsotun_queue. */
struct gsotun_counters {
	struct u64_stats_sync syncp;
	u64_stats_t records;
	u64_stats_t superpackets;
	u64_stats_t packets;
	u64_stats_t wire_bytes;
	u64_stats_t packet_bytes;
	u64_stats_t skips;
	u64_stats_t wakes;
	u64_stats_t stops;
	u64_stats_t corruptions;
	u64_stats_t drops[GSOTUN_DROP_MAX + 1];
	atomic64_t kicks;	/* any context */
};

static inline void gsotun_count(struct gsotun_counters *c, u64_stats_t *what)
{
	u64_stats_update_begin(&c->syncp);
	u64_stats_inc(what);
	u64_stats_update_end(&c->syncp);
}

static inline u64 gsotun_counter(struct gsotun_counters *c, u64_stats_t *what)
{
	unsigned int start;
	u64 value;

	do {
		start = u64_stats_fetch_begin(&c->syncp);
		value = u64_stats_read(what);
	} while (u64_stats_fetch_retry(&c->syncp, start));
	return value;
}

/**
 * struct gsotun_file - an open file of /dev/net/gsotun
 * @wait: sleepers in poll()
 * @queue: the queue it is attached to, NULL before and after
 * @mem: ring memory, by direction; set once, before @state leaves STATE_NONE,
 *	and freed with the file
 * @state: GSOTUN_STATE_*; written under @lock and RTNL, read with acquire
 * @lock: one attach at a time; taken before RTNL
 * @net: namespace of open(), held until the file attaches
 * @inode: anonymous inode whose mapping stands in for the node's, so that long
 *	term pins work whatever file system the node lies on
 * @quota: what the ring memory is charged to, if it is
 * @charged: bytes charged to @quota
 * @granted: the answer of GSOTUN_ATTACH
 * @broken: detaches a corrupt ring, which is found where RTNL cannot be taken
 */
struct gsotun_file {
	wait_queue_head_t wait;
	struct gsotun_queue __rcu *queue;
	struct gsotun_ringmem mem[2];
	u32 state;

	struct mutex lock;		/* one attach at a time */
	struct net *net;
	struct inode *inode;
	struct gsotun_quota *quota;
	u64 charged;
	struct gsotun_attach granted;
	struct work_struct broken;
};

/* The daemon's side of what is under the txq lock. */
struct gsotun_to_user {
	struct gsotun_ring ring;	/* producer */
	struct gsotun_file *file;	/* NULL: no reader */
	const struct gsotun_to_user_daemon *daemon;
	u32 limit;			/* most bytes that may stand in the ring */
	u32 max_span;			/* largest record */
	u32 vnet_len;
	u32 data_off;
	u32 stop_used;			/* while stopped: wake at or below */
	u32 high_water;
	u64 offloads;
	bool stopped;
	bool corrupt;
	struct gsotun_counters counters;
};

/* What the NAPI instance of the queue works on. */
struct gsotun_from_user {
	struct gsotun_ring ring;	/* consumer */
	struct gsotun_file *file;
	const struct gsotun_from_user_daemon *daemon;
	struct page_pool *pool;		/* from the first attach to the end of the device */
	u32 vnet_len;
	u32 high_water;
	u64 offloads;
	bool may_mark;
	bool corrupt;
	struct gsotun_counters counters;
	u8 hdr[PLAN_HDR_MAX];		/* private copy of the headers at hand */
};

/**
 * struct gsotun_queue - a queue of a device
 * @dev: device
 * @id: index of the queue
 * @features: NETIF_F_* that need the daemon and that it takes; read by anyone
 * @generation: attachments so far, under RTNL
 * @file: attached file, under RTNL
 * @pid: who attached, under RTNL
 * @to_user: under the lock of the tx queue
 * @napi: polls from_user
 * @from_user: the NAPI instance's, and under RTNL while that is disabled
 */
struct gsotun_queue {
	struct net_device *dev;
	u16 id;
	netdev_features_t features;

	u32 generation;
	struct gsotun_file *file;
	struct pid *pid;

	struct gsotun_to_user to_user ____cacheline_aligned_in_smp;

	struct napi_struct napi ____cacheline_aligned_in_smp;
	struct gsotun_from_user from_user;
};

/*
 * Context: RTNL. From the creation of a device to its end; between teardown and
 * free_pool the caller waits for a grace period.
 */
void gsotun_queue_setup(struct gsotun_queue *q, struct net_device *dev, u16 id,
			netdev_features_t features);
void gsotun_queue_teardown(struct gsotun_queue *q);
void gsotun_queue_free_pool(struct gsotun_queue *q);

/**
 * gsotun_queue_attach - bind a file whose memory is allocated to a free queue
 * @q: queue
 * @f: file, with @granted and @mem filled in
 * @may_mark: whether the daemon may set marks
 *
 * Makes the queue ready; the caller then sends flows there.
 * Context: RTNL and f->lock held.
 * Return: 0 or -ENOMEM.
 */
int gsotun_queue_attach(struct gsotun_queue *q, struct gsotun_file *f, bool may_mark);

/**
 * gsotun_queue_detach - part a queue from its file
 * @q: queue; the caller has already led all flows elsewhere
 * @keep_stopped: leave the tx queue stopped, so that its qdisc holds packets
 *
 * Context: RTNL held; sleeps. On return nobody uses the rings any more.
 */
void gsotun_queue_detach(struct gsotun_queue *q, bool keep_stopped);

/* Context: RTNL held. Of an attached queue, when the device goes up or down. */
void gsotun_queue_up(struct gsotun_queue *q);
void gsotun_queue_down(struct gsotun_queue *q);

/**
 * gsotun_queue_broken - give up a queue whose daemon broke a ring
 * @f: the attached file
 *
 * Context: any that may queue work. Detaches some time later.
 */
void gsotun_queue_broken(struct gsotun_file *f);

/* Tell the sleepers in poll() about @events. Context: any. */
void gsotun_file_wake(struct gsotun_file *f, __poll_t events);

#endif /* GSOTUN_QUEUE_H */
