// SPDX-License-Identifier: GPL-2.0
/*
 * receive.c - data in: a record of the from_user ring becomes an skb.
 *
 * Theory of operation
 *
 * gsotun_poll() is the only consumer of the ring. The producer position is read
 * once per poll, and every record costs at least one unit of budget, so that a
 * daemon cannot hold the CPU, whatever it writes.
 *
 * A record's memory can change under our eyes. So each part is read once: the
 * record header into a local copy, the packet headers into a private buffer of
 * the queue, which is what gets checked and what the skb gets; payload bytes are
 * never looked at. span alone leads to the next record: if it is impossible,
 * there is no way on and the queue is detached. Anything else that is wrong
 * costs that record only.
 *
 * Idle: kick_at is armed before NAPI lets go, the position is read once more after
 * it, and nothing else is touched then (see go_idle()).
 */
#include <linux/poll.h>
#include <net/gro.h>

#include "device.h"
#include "queue.h"
#include "receive.h"
#include "vnet.h"

/* Most bytes of records in one poll: bounds the time in softirq. */
#define POLL_BYTES	(256u << 10)
/* Packets up to here are copied to the linear area as a whole. */
#define COPY_BREAK	256u
/* Headers are rarely longer than this; if so, all of PLAN_HDR_MAX is looked at. */
#define HDR_GUESS	128u

/* A record, read once. */
struct record {
	struct gsotun_record rec;
	u8 vnet[VNET_LEN_MIN];
	const u8 *data;
};

static void corrupt(struct gsotun_from_user *u)
{
	u->corrupt = true;
	gsotun_count(&u->counters, &u->counters.corruptions);
	gsotun_queue_broken(u->file);
}

/* Copy out of memory that the daemon may be writing: no second look at @from. */
static void read_once(void *to, const void *from, u32 n)
{
	memcpy(to, from, n);
	barrier();
}

/* A daemon that waits for room is woken when cons crosses room_at. */
static void release(struct gsotun_from_user *u)
{
	struct gsotun_ring *r = &u->ring;
	u32 old, room_at;

	if (r->published == r->pos)
		return;
	old = ring_publish(r, r->pos);
	room_at = ring_peer_wait(r);
	if (!ring_crossed(old, r->pos, room_at) ||
	    core_load(&u->daemon->flags) & GSOTUN_DAEMON_NO_WAKE)
		return;
	gsotun_count(&u->counters, &u->counters.wakes);
	gsotun_file_wake(u->file, EPOLLOUT | EPOLLWRNORM);
}

/* What the record header alone tells. */
static int check_record(const struct gsotun_from_user *u, const struct gsotun_record *rec)
{
	if (rec->type != GSOTUN_RECORD_PACKET || rec->flags || rec->resv ||
	    rec->vnet_len != u->vnet_len)
		return GSOTUN_DROP_RECORD;
	if (rec->data_off < sizeof(*rec) + u->vnet_len)
		return GSOTUN_DROP_RECORD;
	if (rec->len > IP_MAX_MTU || rec->data_off > rec->span ||
	    rec->len > rec->span - rec->data_off)
		return GSOTUN_DROP_LENGTH;
	if (rec->mark && !u->may_mark)
		return GSOTUN_DROP_MARK;
	return GSOTUN_DROP_NONE;
}

/* Headers into u->hdr, and from there to a plan. */
static int make_plan(struct gsotun_from_user *u, const struct record *r, struct gsotun_plan *plan)
{
	u32 avail = min(r->rec.len, HDR_GUESS);
	struct gsotun_vnet v;
	int reason;

	gsotun_vnet_get(&v, r->vnet);
	read_once(u->hdr, r->data, avail);
	reason = gsotun_plan_parse(plan, &v, u->hdr, avail, r->rec.len, u->offloads);
	if (likely(!reason) || avail == r->rec.len)
		return reason;
	/* Perhaps it was only the guess. All of it is read anew, and judged anew. */
	avail = min_t(u32, r->rec.len, PLAN_HDR_MAX);
	read_once(u->hdr, r->data, avail);
	return gsotun_plan_parse(plan, &v, u->hdr, avail, r->rec.len, u->offloads);
}

/* Payload into pages of the pool, which come back without being cleared. */
static bool add_payload(struct gsotun_from_user *u, struct sk_buff *skb, const u8 *from, u32 n)
{
	while (n) {
		u32 chunk = min_t(u32, n, PAGE_SIZE);
		/* As many as fit share a page, and what is left over of it. */
		u32 share = PAGE_SIZE / (PAGE_SIZE / ALIGN(chunk, SMP_CACHE_BYTES));
		unsigned int offset;
		struct page *page;

		page = page_pool_dev_alloc_frag(u->pool, &offset, chunk);
		if (unlikely(!page))
			return false;
		memcpy(page_address(page) + offset, from, chunk);
		skb_add_rx_frag(skb, skb_shinfo(skb)->nr_frags, page, offset, chunk, share);
		from += chunk;
		n -= chunk;
	}
	return true;
}

static struct sk_buff *make_skb(struct gsotun_queue *q, const struct record *r,
				const struct gsotun_plan *plan)
{
	struct gsotun_from_user *u = &q->from_user;
	/* What was checked comes from the private copy, which holds all of it. */
	u32 checked = plan->hdr_len;
	u32 linear = plan->len <= COPY_BREAK ? plan->len : checked;
	struct sk_buff *skb;
	u8 *to;

	skb = napi_alloc_skb(&q->napi, linear);
	if (unlikely(!skb))
		return NULL;
	to = skb_put(skb, linear);
	memcpy(to, u->hdr, checked);
	memcpy(to + checked, r->data + checked, linear - checked);
	skb_mark_for_recycle(skb);
	if (unlikely(!add_payload(u, skb, r->data + linear, plan->len - linear))) {
		kfree_skb(skb);
		return NULL;
	}
	skb_reset_mac_header(skb);
	skb_reset_network_header(skb);
	skb_reset_mac_len(skb);
	skb->dev = q->dev;
	skb->protocol = plan->version == 4 ? htons(ETH_P_IP) : htons(ETH_P_IPV6);
	skb->mark = r->rec.mark;
	skb_record_rx_queue(skb, q->id);
	if (unlikely(!vnet_to_skb(skb, plan))) {
		kfree_skb(skb);
		return NULL;
	}
	return skb;
}

static void count_packet(struct gsotun_counters *c, const struct gsotun_plan *plan)
{
	u64_stats_update_begin(&c->syncp);
	u64_stats_inc(&c->records);
	u64_stats_add(&c->packet_bytes, plan->len);
	u64_stats_add(&c->packets, plan->segs);
	u64_stats_add(&c->wire_bytes, plan->len + (plan->segs - 1) * plan->hdr_len);
	if (plan->segs > 1)
		u64_stats_inc(&c->superpackets);
	u64_stats_update_end(&c->syncp);
}

/* One record with content. Returns its price in units of budget. */
static u32 receive_record(struct gsotun_queue *q, const struct record *r)
{
	struct gsotun_from_user *u = &q->from_user;
	struct gsotun_plan plan;
	struct sk_buff *skb;
	int reason;

	reason = check_record(u, &r->rec);
	if (unlikely(reason))
		goto drop;
	reason = make_plan(u, r, &plan);
	if (unlikely(reason))
		goto drop;
	reason = GSOTUN_DROP_NOMEM;
	skb = make_skb(q, r, &plan);
	if (unlikely(!skb))
		goto drop;
	count_packet(&u->counters, &plan);
	/* Superpackets too: GRO passes them on, behind what it holds of their flow. */
	napi_gro_receive(&q->napi, skb);
	return plan.segs;

drop:
	gsotun_count(&u->counters, &u->counters.drops[reason]);
	return 1;
}

/*
 * The record at the head, or false if there is no way on. data_off needs no
 * check before data is computed: 64 KiB behind any offset is still ring memory,
 * because the area is mapped twice. Nothing a daemon writes here indexes more.
 */
static bool peek(struct gsotun_from_user *u, struct record *r)
{
	struct gsotun_ring *ring = &u->ring;
	const u8 *at = ring_at(ring, ring->pos);

	read_once(&r->rec, at, sizeof(r->rec));
	read_once(r->vnet, at + sizeof(r->rec), sizeof(r->vnet));
	r->data = at + r->rec.data_off;
	return r->rec.span && !(r->rec.span % RING_ALIGN) && r->rec.span <= ring_ready(ring);
}

/*
 * kick_at is armed while the instance is still ours. Once NAPI has let go another
 * CPU may poll, or napi_disable() succeed and the ring be taken away: only copies
 * are used then. The peer's page stays, as detach waits for this softirq.
 *
 * If NAPI does not let go, the armed kick_at costs a needless kick at most.
 */
static void go_idle(struct napi_struct *napi, struct gsotun_from_user *u, u32 work)
{
	const struct gsotun_ring_words *peer = u->ring.peer;
	bool broken = u->corrupt;
	u32 pos = u->ring.pos;

	ring_wait_at(&u->ring, pos + 1);
	if (!napi_complete_done(napi, work) || broken)
		return;
	/* What came before kick_at was armed came without a kick. */
	if (core_load(&peer->pos) != pos)
		napi_schedule(napi);
}

int gsotun_poll(struct napi_struct *napi, int budget)
{
	struct gsotun_queue *q = container_of(napi, struct gsotun_queue, napi);
	struct gsotun_from_user *u = &q->from_user;
	struct gsotun_ring *ring = &u->ring;
	u32 work = 0, start = ring->pos;
	struct record r;

	/* netpoll asks for nothing, and a broken ring has nothing. */
	if (!budget)
		return 0;
	if (unlikely(u->corrupt))
		goto idle;
	if (unlikely(!ring_update_producer(ring))) {
		corrupt(u);
		goto idle;
	}
	u->high_water = max(u->high_water, ring_ready(ring));
	while (ring_ready(ring)) {
		if (work >= budget || ring->pos - start >= POLL_BYTES) {
			ring_wait_not(ring, ring->peer_pos);
			release(u);
			return budget;
		}
		if (unlikely(!peek(u, &r))) {
			corrupt(u);
			break;
		}
		if (r.rec.type == GSOTUN_RECORD_SKIP) {
			gsotun_count(&u->counters, &u->counters.skips);
			work++;
		} else {
			work += receive_record(q, &r);
		}
		ring->pos += r.rec.span;
	}
	release(u);
idle:
	/* Trains and superpackets may overrun the budget; NAPI must not see it. */
	work = min_t(u32, work, budget - 1);
	go_idle(napi, u, work);
	return work;
}

void gsotun_receive_kick(struct gsotun_queue *q)
{
	/* Enabling BH runs the poll here and now, without a wake-up of ksoftirqd. */
	local_bh_disable();
	napi_schedule(&q->napi);
	local_bh_enable();
}
