// SPDX-License-Identifier: GPL-2.0
/*
 * xmit.c - data out: one skb becomes one record in the to_user ring.
 *
 * Theory of operation
 *
 * The stack calls gsotun_xmit() under the lock of the tx queue; the daemon's
 * kick takes the same lock, so all private state of the ring is plain. Records
 * are published once per burst, at the one exit that all returns share: a burst
 * may end with a dropped packet.
 *
 * A packet that does not fit stops the queue before it is touched and waits in
 * the qdisc. kick_at then names the position at which it fits and the ring is
 * half empty; the daemon kicks when its release crosses that, once. Where there
 * is no qdisc (noqueue, packet sockets that bypass it) it is dropped and counted.
 *
 * The ring is never filled beyond q->to_user.limit, so that what stands in it is
 * short and the rest is seen by the qdisc (see Documentation/ring-protocol.rst).
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/poll.h>
#include <net/sch_generic.h>

#include "device.h"
#include "queue.h"
#include "vnet.h"
#include "xmit.h"

/* Rings broken by their daemon are given up, outside of this lock. */
static void corrupt(struct gsotun_to_user *t)
{
	t->corrupt = true;
	gsotun_count(&t->counters, &t->counters.corruptions);
	gsotun_queue_broken(t->file);
}

static void publish(struct gsotun_to_user *t)
{
	struct gsotun_ring *r = &t->ring;
	u32 old, seen;

	if (r->published == r->pos)
		return;
	if (!t->stopped)
		ring_wait_not(r, r->peer_pos);
	old = ring_publish(r, r->pos);
	seen = ring_peer_wait(r);
	if (!ring_crossed(old, r->pos, seen + 1) ||
	    core_load(&t->daemon->flags) & GSOTUN_DAEMON_NO_WAKE)
		return;
	gsotun_count(&t->counters, &t->counters.wakes);
	gsotun_file_wake(t->file, EPOLLIN | EPOLLRDNORM);
}

static bool fits(const struct gsotun_to_user *t, u32 span)
{
	u32 used = ring_used(&t->ring);

	/* An empty ring takes any record, however low the limit. */
	return used + span <= t->limit || !used;
}

/*
 * Make sure that @span fits, or see that it will: stopped, with kick_at armed.
 * Half of the limit must be free before the queue goes on, so that the price of
 * a kick is shared by many packets.
 */
static bool make_room(struct gsotun_to_user *t, struct netdev_queue *txq, u32 span)
{
	struct gsotun_ring *r = &t->ring;

	if (likely(fits(t, span)))
		return true;
	if (!ring_update_consumer(r)) {
		corrupt(t);
		return false;
	}
	if (fits(t, span))
		return true;
	if (qdisc_txq_has_no_queue(txq))
		return false;

	t->stop_used = span > t->limit ? 0 : min(t->limit / 2, t->limit - span);
	WRITE_ONCE(t->stopped, true);
	netif_tx_stop_queue(txq);
	ring_wait_at(r, r->pos - t->stop_used);
	if (!ring_update_consumer(r)) {
		corrupt(t);
		return false;
	}
	if (ring_used(r) > t->stop_used) {
		gsotun_count(&t->counters, &t->counters.stops);
		return false;
	}
	/* The daemon released all that in between: it will not kick. */
	WRITE_ONCE(t->stopped, false);
	netif_tx_start_queue(txq);
	return true;
}

/* Is it IP, and does its first byte agree? Anything else has no business here. */
static bool is_ip(struct sk_buff *skb)
{
	const u8 *first;
	u8 byte;

	first = skb_header_pointer(skb, 0, sizeof(byte), &byte);
	if (!first)
		return false;
	switch (skb->protocol) {
	case htons(ETH_P_IP):
		return *first >> 4 == 4 && skb->len >= sizeof(struct iphdr);
	case htons(ETH_P_IPV6):
		return *first >> 4 == 6 && skb->len >= sizeof(struct ipv6hdr);
	}
	return false;
}

static void write_header(const struct gsotun_to_user *t, const struct sk_buff *skb, u32 span,
			 u8 *at)
{
	struct gsotun_record *rec = (struct gsotun_record *)at;
	u8 *vnet = at + sizeof(*rec);
	struct gsotun_vnet v;

	*rec = (struct gsotun_record) {
		.span = span,
		.len = skb->len,
		.type = GSOTUN_RECORD_PACKET,
		.data_off = t->data_off,
		.vnet_len = t->vnet_len,
		.nsegs = 1,
		.hash = skb->hash,
		.mark = skb->mark,
	};
	vnet_from_skb(&v, skb);
	if (!(t->offloads & GSOTUN_OFFLOAD_CSUM))
		v.flags &= ~VNET_F_DATA_VALID;
	/* Longer headers (merged buffers, hash) have nothing to add in this layout. */
	memset(vnet, 0, t->vnet_len);
	gsotun_vnet_put(&v, vnet);
}

static void count_packet(struct gsotun_to_user *t, const struct sk_buff *skb)
{
	struct gsotun_counters *c = &t->counters;
	u32 used = ring_used(&t->ring);
	u32 segs = 1, wire = skb->len;

	if (skb_is_gso(skb)) {
		u32 hdr_len = vnet_gso_hdr_len(skb);

		segs = DIV_ROUND_UP(skb->len - hdr_len, skb_shinfo(skb)->gso_size);
		wire += (segs - 1) * hdr_len;
	}
	/* The position known is an old one: look before a new mark is set. */
	if (used > t->high_water) {
		if (ring_update_consumer(&t->ring))
			used = ring_used(&t->ring);
		else
			corrupt(t);
		WRITE_ONCE(t->high_water, max(used, t->high_water));
	}
	u64_stats_update_begin(&c->syncp);
	u64_stats_inc(&c->records);
	u64_stats_add(&c->packet_bytes, skb->len);
	u64_stats_add(&c->packets, segs);
	u64_stats_add(&c->wire_bytes, wire);
	if (segs > 1)
		u64_stats_inc(&c->superpackets);
	u64_stats_update_end(&c->syncp);
}

/* All of an skb into the ring, or why not. Nothing is reserved on failure. */
static int write_record(struct gsotun_to_user *t, struct sk_buff *skb, u32 span)
{
	u8 *at = ring_at(&t->ring, t->ring.pos);

	if (skb_copy_bits(skb, 0, at + t->data_off, skb->len))
		return GSOTUN_DROP_UNREADABLE;
	write_header(t, skb, span, at);
	t->ring.pos += span;
	count_packet(t, skb);
	skb_tx_timestamp(skb);
	return GSOTUN_DROP_NONE;
}

/* What this reader cannot take, found before anything is changed. */
static int refuse(const struct gsotun_to_user *t, struct sk_buff *skb, u64 needs, u32 span)
{
	/* Device and features are per queue, so these are stragglers of a change. */
	if (needs & ~t->offloads & ~GSOTUN_OFFLOAD_CSUM)
		return GSOTUN_DROP_OFFLOAD;
	if (span > t->max_span)
		return GSOTUN_DROP_TOO_BIG;
	if (!is_ip(skb))
		return GSOTUN_DROP_NOT_IP;
	return GSOTUN_DROP_NONE;
}

netdev_tx_t gsotun_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct netdev_queue *txq = skb_get_tx_queue(dev, skb);
	struct gsotun_dev *gd = netdev_priv(dev);
	struct gsotun_to_user *t = &gd->queues[skb_get_queue_mapping(skb)].to_user;
	u64 needs = vnet_offloads_of(skb);
	u32 span;
	int reason;

	reason = GSOTUN_DROP_NO_READER;
	if (unlikely(!t->file || t->corrupt))
		goto drop;
	span = ring_span(t->data_off + skb->len);
	reason = refuse(t, skb, needs, span);
	if (unlikely(reason))
		goto drop;
	if (!make_room(t, txq, span)) {
		if (t->stopped) {
			publish(t);
			return NETDEV_TX_BUSY;
		}
		reason = t->corrupt ? GSOTUN_DROP_NO_READER : GSOTUN_DROP_RING_FULL;
		goto drop;
	}
	if (unlikely(needs & ~t->offloads) && skb_checksum_help(skb)) {
		reason = GSOTUN_DROP_OFFLOAD;
		goto drop;
	}
	reason = write_record(t, skb, span);
	if (unlikely(reason))
		goto drop;
	consume_skb(skb);
	goto out;

drop:
	gsotun_count(&t->counters, &t->counters.drops[reason]);
	kfree_skb(skb);
out:
	/* Also after a drop, or what this burst wrote before it would lie there. */
	if (t->file && !t->corrupt && (!netdev_xmit_more() || netif_xmit_stopped(txq)))
		publish(t);
	return NETDEV_TX_OK;
}

void gsotun_xmit_kick(struct gsotun_queue *q)
{
	struct netdev_queue *txq = netdev_get_tx_queue(q->dev, q->id);
	struct gsotun_to_user *t = &q->to_user;

	__netif_tx_lock_bh(txq);
	if (!t->file || t->corrupt || !t->stopped)
		goto out;
	if (!ring_update_consumer(&t->ring)) {
		corrupt(t);
		goto out;
	}
	/* Early: kick_at still stands, and is crossed later. */
	if (ring_used(&t->ring) > t->stop_used)
		goto out;
	WRITE_ONCE(t->stopped, false);
	netif_tx_wake_queue(txq);
out:
	__netif_tx_unlock_bh(txq);
}

void gsotun_xmit_poll(struct gsotun_queue *q)
{
	if (READ_ONCE(q->to_user.stopped))
		gsotun_xmit_kick(q);
}
