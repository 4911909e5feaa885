// SPDX-License-Identifier: GPL-2.0
/*
 * queue.c - life of a queue: attach, run, break, detach.
 *
 * Locks, outermost first: f->lock, RTNL, tx queue lock. The to_user side belongs
 * to the tx queue lock, the from_user side to the NAPI instance, or to RTNL while
 * that is disabled. f->queue is RCU: poll() and GSOTUN_KICK follow it without a
 * lock, and detach waits for them.
 */
#include <linux/pid.h>
#include <linux/poll.h>
#include <linux/rtnetlink.h>
#include <linux/sched.h>
#include <net/sch_generic.h>

#include "device.h"
#include "queue.h"
#include "receive.h"
#include "xmit.h"

/* Pages a pool keeps for reuse: 4 MiB, a TCP window of a fast path. */
#define POOL_PAGES	1024

void gsotun_file_wake(struct gsotun_file *f, __poll_t events)
{
	wake_up_interruptible_poll(&f->wait, events);
}

static struct gsotun_to_user_kernel *to_user_page(struct gsotun_file *f)
{
	return f->mem[GSOTUN_TO_USER].kernel;
}

static struct gsotun_from_user_kernel *from_user_page(struct gsotun_file *f)
{
	return f->mem[GSOTUN_FROM_USER].kernel;
}

/* Both pages have one, so that each thread of a daemon looks at its own. */
static void set_status(struct gsotun_file *f, u32 status)
{
	core_store(&to_user_page(f)->status, status);
	core_store(&from_user_page(f)->status, status);
}

void gsotun_queue_setup(struct gsotun_queue *q, struct net_device *dev, u16 id,
			netdev_features_t features)
{
	q->dev = dev;
	q->id = id;
	q->features = features;
	u64_stats_init(&q->to_user.counters.syncp);
	u64_stats_init(&q->from_user.counters.syncp);
	/* From here to the end of the device, so that its napi id stays. */
	netif_napi_add_config(dev, &q->napi, gsotun_poll, id);
}

void gsotun_queue_teardown(struct gsotun_queue *q)
{
	__netif_napi_del(&q->napi);
}

void gsotun_queue_free_pool(struct gsotun_queue *q)
{
	if (q->from_user.pool)
		page_pool_destroy(q->from_user.pool);
	q->from_user.pool = NULL;
}

/* A pool once made stays: pages that sit in sockets come back to it. */
static int make_pool(struct gsotun_queue *q)
{
	struct page_pool_params params = {
		.flags = PP_FLAG_PAGE_FRAG,
		.pool_size = POOL_PAGES,
		.nid = NUMA_NO_NODE,
	};
	struct page_pool *pool;

	if (q->from_user.pool)
		return 0;
	pool = page_pool_create(&params);
	if (IS_ERR(pool))
		return PTR_ERR(pool);
	q->from_user.pool = pool;
	return 0;
}

static void setup_ring(struct gsotun_ring *r, struct gsotun_ringmem *m)
{
	*r = (struct gsotun_ring) {
		.own = m->kernel,
		.peer = m->daemon,
		.data = m->data,
		.size = m->bytes,
	};
}

static void attach_to_user(struct gsotun_queue *q, struct gsotun_file *f)
{
	struct netdev_queue *txq = netdev_get_tx_queue(q->dev, q->id);
	struct gsotun_to_user *t = &q->to_user;

	__netif_tx_lock_bh(txq);
	setup_ring(&t->ring, &f->mem[GSOTUN_TO_USER]);
	t->daemon = f->mem[GSOTUN_TO_USER].daemon;
	t->limit = f->granted.fill_limit;
	t->max_span = t->ring.size / 4;
	t->vnet_len = f->granted.vnet_len;
	t->data_off = ALIGN(sizeof(struct gsotun_record) + t->vnet_len, RING_ALIGN);
	t->offloads = f->granted.offloads[GSOTUN_TO_USER];
	t->high_water = 0;
	t->corrupt = false;
	WRITE_ONCE(t->stopped, false);
	ring_wait_not(&t->ring, 0);
	t->file = f;
	__netif_tx_unlock_bh(txq);
}

static void attach_from_user(struct gsotun_queue *q, struct gsotun_file *f, bool may_mark)
{
	struct gsotun_from_user *u = &q->from_user;

	setup_ring(&u->ring, &f->mem[GSOTUN_FROM_USER]);
	u->daemon = f->mem[GSOTUN_FROM_USER].daemon;
	u->vnet_len = f->granted.vnet_len;
	u->offloads = f->granted.offloads[GSOTUN_FROM_USER];
	u->high_water = 0;
	u->may_mark = may_mark;
	u->corrupt = false;
	u->file = f;
}

int gsotun_queue_attach(struct gsotun_queue *q, struct gsotun_file *f, bool may_mark)
{
	int err;

	ASSERT_RTNL();
	lockdep_assert_held(&f->lock);

	err = make_pool(q);
	if (err)
		return err;

	/* 0 stands for "never" in the pages and in netlink. */
	if (!++q->generation)
		q->generation = 1;
	to_user_page(f)->generation = q->generation;
	from_user_page(f)->generation = q->generation;
	f->granted.generation = q->generation;
	f->granted.queue = q->id;

	WRITE_ONCE(q->features, gsotun_offload_features(f->granted.offloads[GSOTUN_TO_USER]));
	q->file = f;
	q->pid = get_pid(task_tgid(current));
	attach_from_user(q, f, may_mark);
	attach_to_user(q, f);
	rcu_assign_pointer(f->queue, q);
	/* After mem and granted: whoever sees the state may use them. */
	core_store_release(&f->state, GSOTUN_STATE_ATTACHED);
	if (netif_running(q->dev))
		gsotun_queue_up(q);
	return 0;
}

static void detach_to_user(struct gsotun_queue *q, bool keep_stopped)
{
	struct netdev_queue *txq = netdev_get_tx_queue(q->dev, q->id);
	struct gsotun_to_user *t = &q->to_user;

	__netif_tx_lock_bh(txq);
	t->file = NULL;
	t->daemon = NULL;
	WRITE_ONCE(t->stopped, false);
	/*
	 * What the qdisc still holds comes to us and is counted as no_reader. Without
	 * a qdisc nothing can be held, and the core would complain of each packet.
	 */
	if (keep_stopped && !qdisc_txq_has_no_queue(txq))
		netif_tx_stop_queue(txq);
	else
		netif_tx_wake_queue(txq);
	memset(&t->ring, 0, sizeof(t->ring));
	__netif_tx_unlock_bh(txq);
}

static void detach_from_user(struct gsotun_queue *q)
{
	struct gsotun_from_user *u = &q->from_user;

	u->file = NULL;
	u->daemon = NULL;
	memset(&u->ring, 0, sizeof(u->ring));
}

void gsotun_queue_detach(struct gsotun_queue *q, bool keep_stopped)
{
	struct gsotun_file *f = q->file;
	u32 status = GSOTUN_STATUS_DETACHED;

	ASSERT_RTNL();

	if (netif_running(q->dev))
		gsotun_queue_down(q);
	if (q->to_user.corrupt || q->from_user.corrupt)
		status |= GSOTUN_STATUS_CORRUPT;
	detach_from_user(q);
	detach_to_user(q, keep_stopped);
	q->file = NULL;
	put_pid(q->pid);
	q->pid = NULL;

	set_status(f, status);
	core_store_release(&f->state, GSOTUN_STATE_DETACHED);
	RCU_INIT_POINTER(f->queue, NULL);
	gsotun_file_wake(f, EPOLLIN | EPOLLOUT | EPOLLHUP | EPOLLERR);
	/* poll() and GSOTUN_KICK may still look at the queue. */
	synchronize_net();
}

void gsotun_queue_up(struct gsotun_queue *q)
{
	struct netdev_queue *txq = netdev_get_tx_queue(q->dev, q->id);

	set_status(q->file, GSOTUN_STATUS_UP);
	__netif_tx_lock_bh(txq);
	/* It may have been stopped, by a former reader or for want of one. */
	netif_tx_wake_queue(txq);
	WRITE_ONCE(q->to_user.stopped, false);
	__netif_tx_unlock_bh(txq);

	napi_enable(&q->napi);
	/* The daemon may have submitted, and been told nothing, while we were down. */
	gsotun_receive_kick(q);
}

void gsotun_queue_down(struct gsotun_queue *q)
{
	napi_disable(&q->napi);
	set_status(q->file, 0);
}

void gsotun_queue_broken(struct gsotun_file *f)
{
	schedule_work(&f->broken);
}
