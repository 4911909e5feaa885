/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * seg.h - cutting: the header of each segment, and where segments lie in trains.
 *
 * Pure: no skb, no libc, no allocation, no look at the payload. Kernel and
 * userspace compile it unchanged and plug in their own copy + checksum:
 *
 *	gsotun_plan_parse(&plan, &vnet, hdr, ...)	or a plan of one's own
 *	gsotun_seg_init(&seg, &plan, hdr, 0)
 *	for each segment i, in any order:
 *		gsotun_seg_payload(&seg, i, &off, &len)
 *		copy those bytes of the packet behind the header, and sum them
 *		gsotun_seg_header(&seg, i, sum, where it begins)
 */
#ifndef GSOTUN_CORE_SEG_H
#define GSOTUN_CORE_SEG_H

#include "barrier.h"
#include "plan.h"

struct gsotun_layout;

/* AccECN: CWR is a part of a counter and stays in every segment. */
#define SEG_ACCECN	1u

/* The same for all segments of a kind; sums are folded, words in memory order. */
struct gsotun_seg_part {
	u32 ip_len;	/* tot_len or payload_len */
	u32 ip_sum;	/* IPv4 header but for its id and checksum */
	u32 l4_sum;	/* pseudo and transport header but for seq and checksum */
	u32 l4_word;	/* TCP: its flags, a byte; UDP: its length */
};

#define SEG_FIRST	0
#define SEG_MIDDLE	1
#define SEG_LAST	2
#define SEG_PARTS	3

/**
 * struct gsotun_seg - a packet that is being cut
 * @hdr: the caller's copy of the first @hdr_len bytes
 * @hdr_len: bytes before the payload, repeated in each segment
 * @last: index of the last segment
 * @size: payload of every segment but the last
 * @last_size: payload of the last segment
 * @needs_sum: gsotun_seg_header() looks at the payload's sum. false only for a
 *	plain packet that comes as it goes
 *
 * The rest is private: words and sums made once for all segments.
 */
struct gsotun_seg {
	const u8 *hdr;
	u32 hdr_len;
	u32 last;
	u32 size;
	u32 last_size;
	bool needs_sum;
	bool ipv4;
	bool tcp;
	u32 l4_off;
	u32 id;		/* host order */
	u32 seq;	/* host order */
	u32 csum_start;	/* these two: of a plain packet */
	u32 csum_at;
	struct gsotun_seg_part part[SEG_PARTS];
};

/**
 * gsotun_seg_init - get ready to cut a packet
 * @s: filled in
 * @p: its plan, as gsotun_plan_parse() makes it; or made from an skb that the
 *	same holds for, whose length may then exceed 65,535
 * @hdr: private copy of the first p->hdr_len bytes, which nobody else changes; it
 *	must stay as long as @s is used, and is only read
 * @flags: SEG_*
 *
 * Context: any.
 */
void gsotun_seg_init(struct gsotun_seg *s, const struct gsotun_plan *p, const u8 *hdr,
		     u32 flags);

/**
 * gsotun_seg_payload - which bytes of the packet belong to a segment
 * @s: from gsotun_seg_init()
 * @i: segment, 0..s->last
 * @off: out: from the first byte of the packet
 * @len: out: bytes; 0 only for a plain packet
 */
static inline void gsotun_seg_payload(const struct gsotun_seg *s, u32 i, u32 *off, u32 *len)
{
	*off = s->hdr_len + i * s->size;
	*len = i == s->last ? s->last_size : s->size;
}

/**
 * gsotun_seg_header - write the headers of a segment, all lengths and checksums final
 * @s: from gsotun_seg_init()
 * @i: segment, 0..s->last
 * @payload_sum: sum of its payload from its first byte on, as csum_partial()
 *	gives it, folded or not; ignored unless s->needs_sum
 * @out: s->hdr_len bytes are written, and none is read: it may be memory that a
 *	daemon is writing to
 *
 * Context: any.
 */
void gsotun_seg_header(const struct gsotun_seg *s, u32 i, u32 payload_sum, u8 *out);

/**
 * struct gsotun_trains - the records that one packet becomes in the train layout
 * @num: number of trains
 * @segs: segments of every train but the last
 * @last_segs: segments of the last train
 * @stride: distance of segments
 * @seg_len: IP length of every segment but the last of all
 * @seg_padded: the same with padding
 * @last_len: IP length of the last segment of all
 * @last_padded: the same with padding
 *
 * The last segment of a train that is not the last one is as long as the others:
 * its record says seg_len and seg_padded for it too.
 */
struct gsotun_trains {
	u32 num;
	u32 segs;
	u32 last_segs;
	u32 stride;
	u32 seg_len;
	u32 seg_padded;
	u32 last_len;
	u32 last_padded;
};

/**
 * gsotun_layout_padded - the length that the daemon's cipher covers
 * @l: layout
 * @len: IP length of a segment, at most 65,535
 */
u32 gsotun_layout_padded(const struct gsotun_layout *l, u32 len);

/**
 * gsotun_trains_init - distribute the segments of a packet over trains
 * @t: filled in
 * @p: plan of the packet
 * @l: layout of the ring, with or without the defaults filled in
 *
 * A train, from the headroom of its first segment to the tailroom of its last,
 * has at most max_train_bytes.
 *
 * Context: any. Return: false if not even one segment fits.
 */
bool gsotun_trains_init(struct gsotun_trains *t, const struct gsotun_plan *p,
			const struct gsotun_layout *l);

/* Segments of train @k. */
static inline u32 gsotun_trains_segs(const struct gsotun_trains *t, u32 k)
{
	return k + 1 == t->num ? t->last_segs : t->segs;
}

/* Bytes of content of train @k: of its record, len. */
static inline u32 gsotun_trains_len(const struct gsotun_trains *t, u32 k)
{
	bool last = k + 1 == t->num;

	return (gsotun_trains_segs(t, k) - 1) * t->stride +
	       (last ? t->last_padded : t->seg_padded);
}

/**
 * gsotun_trains_span - bytes that all trains of a packet need in the ring
 * @t: from gsotun_trains_init()
 * @around: bytes of each record besides its content: data_off and the tailroom
 *
 * Return: the sum of their spans. It may be more than any ring has.
 */
u64 gsotun_trains_span(const struct gsotun_trains *t, u32 around);

#endif /* GSOTUN_CORE_SEG_H */
