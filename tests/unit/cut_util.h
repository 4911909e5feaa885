/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * cut_util.h - a slow segmenter, random packets, and memory with edges, for the
 * tests of cutting and joining.
 *
 * The segmenter is slow and obvious on purpose and shares nothing with the core:
 * it works on bytes, in network order, and makes each segment from nothing but
 * the superpacket. What both agree on was understood twice.
 */
#ifndef GSOTUN_TESTS_CUT_UTIL_H
#define GSOTUN_TESTS_CUT_UTIL_H

#include "plan_util.h"

#define FIN	0x01
#define SYN	0x02
#define RST	0x04
#define PSH	0x08
#define ACK	0x10
#define URG	0x20
#define ECE	0x40
#define CWR	0x80

/* ---- sums ---- */

/* Sum of bytes as words in network order; any number of them, not folded. */
static inline u64 slow_sum(const u8 *b, u32 len)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < len; i++)
		sum += i % 2 ? b[i] : b[i] * 256u;
	return sum;
}

static inline u32 slow_fold(u64 sum)
{
	while (sum > 0xffff)
		sum = (sum & 0xffff) + (sum >> 16);
	return (u32)sum;
}

/* The same in the form in which a copy routine gives it: words in memory order. */
static inline u32 payload_sum(const u8 *b, u32 len)
{
	u32 sum = slow_fold(slow_sum(b, len));
	u8 bytes[2];
	u16 word;

	put_be16(bytes, sum);
	memcpy(&word, bytes, sizeof(word));
	return word;
}

static inline u32 be32(const u8 *b)
{
	return be16(b) << 16 | be16(b + 2);
}

static inline void put_be32(u8 *b, u32 x)
{
	put_be16(b, x >> 16);
	put_be16(b + 2, x & 0xffff);
}

/* ---- packets ---- */

static inline u32 slow_l4_off(const u8 *b)
{
	u32 next = b[6], off = 40;

	if (b[0] >> 4 == 4)
		return (b[0] & 15) * 4u;
	while (next == 0 || next == 43 || next == 60) {
		next = b[off];
		off += b[off + 1] * 8u + 8;
	}
	return off;
}

static inline u32 slow_proto(const u8 *b)
{
	u32 next = b[6], off = 40;

	if (b[0] >> 4 == 4)
		return b[9];
	while (next == 0 || next == 43 || next == 60) {
		next = b[off];
		off += b[off + 1] * 8u + 8;
	}
	return next;
}

static inline u32 slow_hdr_len(const u8 *b)
{
	u32 l4_off = slow_l4_off(b);

	return l4_off + (slow_proto(b) == 17 ? 8 : (b[l4_off + 12] >> 4) * 4u);
}

static inline u32 slow_csum_offset(const u8 *b)
{
	return slow_proto(b) == 17 ? 6 : 16;
}

/* Of the pseudo header, from the addresses in the IP header. */
static inline u64 slow_pseudo(const u8 *b, u32 l4_len)
{
	u64 sum = b[0] >> 4 == 4 ? slow_sum(b + 12, 8) : slow_sum(b + 8, 32);

	return sum + slow_proto(b) + (l4_len >> 16) + (l4_len & 0xffff);
}

static inline void slow_ipv4_csum(u8 *b)
{
	put_be16(b + 10, 0);
	put_be16(b + 10, 0xffff - slow_fold(slow_sum(b, (b[0] & 15) * 4u)));
}

/* Gives a whole packet its right checksums. */
static inline void slow_csums(u8 *b, u32 len)
{
	u32 l4_off = slow_l4_off(b);
	u8 *field = b + l4_off + slow_csum_offset(b);
	u32 check;

	if (b[0] >> 4 == 4)
		slow_ipv4_csum(b);
	put_be16(field, 0);
	check = 0xffff - slow_fold(slow_pseudo(b, len - l4_off) +
				   slow_sum(b + l4_off, len - l4_off));
	put_be16(field, slow_proto(b) == 17 && !check ? 0xffff : check);
}

/* ---- the slow segmenter ---- */

#define SLOW_ACCECN	1u
#define SLOW_FIXED_ID	2u

static inline u32 slow_segs(const struct gsotun_vnet *v, const u8 *b, u32 len)
{
	u32 payload, segs = 1;

	if (!v->gso_type)
		return 1;
	for (payload = len - slow_hdr_len(b); payload > v->gso_size; payload -= v->gso_size)
		segs++;
	return segs;
}

static inline u32 slow_plain(const struct gsotun_vnet *v, const u8 *b, u32 len, u8 *out)
{
	u32 check;

	memcpy(out, b, len);
	if (!(v->flags & 1))
		return len;
	check = 0xffff - slow_fold(slow_sum(b + v->csum_start, len - v->csum_start));
	put_be16(out + v->csum_start + v->csum_offset, check ? check : 0xffff);
	return len;
}

/* Segment @i of a packet; returns its length. */
static inline u32 slow_segment(const struct gsotun_vnet *v, const u8 *b, u32 len, u32 i,
			       u32 flags, u8 *out)
{
	u32 segs = slow_segs(v, b, len), l4_off, hdr_len, payload, seg_len, l4_len, check;
	u8 *l4, *field;
	u64 sum;

	if (segs == 1)
		return slow_plain(v, b, len, out);
	l4_off = slow_l4_off(b);
	hdr_len = slow_hdr_len(b);
	payload = i < segs - 1 ? v->gso_size : len - hdr_len - (segs - 1) * v->gso_size;
	seg_len = hdr_len + payload;
	l4_len = seg_len - l4_off;
	l4 = out + l4_off;
	field = l4 + slow_csum_offset(b);

	memcpy(out, b, hdr_len);
	memcpy(out + hdr_len, b + hdr_len + i * v->gso_size, payload);
	if (b[0] >> 4 == 4) {
		put_be16(out + 2, seg_len);
		if (!(flags & SLOW_FIXED_ID))
			put_be16(out + 4, (be16(b + 4) + i) & 0xffff);
		slow_ipv4_csum(out);
	} else {
		put_be16(out + 4, seg_len - 40);
	}
	if (slow_proto(b) == 17) {
		put_be16(l4 + 4, l4_len);
	} else {
		put_be32(l4 + 4, be32(b + l4_off + 4) + i * v->gso_size);
		if (i < segs - 1)
			l4[13] &= ~(FIN | PSH) & 0xff;
		if (i && !(flags & SLOW_ACCECN))
			l4[13] &= ~CWR & 0xff;
	}

	/* The pseudo header as it was found, with the other length. */
	if (v->flags & 1)
		sum = be16(b + l4_off + slow_csum_offset(b)) +
		      (0xffff - slow_fold((u64)len - l4_off)) + l4_len;
	else
		sum = slow_pseudo(b, l4_len);
	put_be16(field, 0);
	check = 0xffff - slow_fold(sum + slow_sum(l4, l4_len));
	put_be16(field, slow_proto(b) == 17 && !check ? 0xffff : check);
	return seg_len;
}

/* ---- random packets ---- */

static inline u32 below(u32 n)
{
	return noise() % n;
}

static inline bool one_in(u32 n)
{
	return !below(n);
}

static inline void noise_bytes(u8 *b, u32 len)
{
	u32 i;

	for (i = 0; i < len; i++)
		b[i] = (u8)(noise() >> 11);
}

/* Often a little below where it wraps. */
static inline u32 near_wrap(u32 bits)
{
	u32 max = bits == 32 ? 0xffffffff : (1u << bits) - 1;

	return one_in(2) ? max - below(1000) : noise() & max;
}

/* Extension headers; types that segmentation walks, contents of any kind. */
static inline u32 random_exts(u8 *b, u32 room, u8 proto)
{
	static const u8 types[] = { 0, 43, 60 };
	u8 *next = b + 6;
	u32 off = 40, len;

	while (room >= 8 && !one_in(3)) {
		len = 8 * (1 + below(min_u32(room / 8, one_in(8) ? 60 : 4)));
		noise_bytes(b + off, len);
		b[off + 1] = (u8)(len / 8 - 1);
		*next = types[below(3)];
		next = b + off;
		off += len;
		room -= len;
	}
	*next = proto;
	return off;
}

/* Headers and payload of any content that is a valid superpacket of a kind. */
static inline void random_headers(struct sample *s, int kind, bool plain_ip)
{
	u32 l4_len = is_tcp(kind) ? 20 + 4 * (one_in(2) ? below(11) : 3) : 8;
	u8 proto = is_tcp(kind) ? 6 : 17;
	u8 *b = s->b, *l4;

	noise_bytes(b, PLAN_HDR_MAX);
	if (kind == TCP4 || kind == UDP4) {
		s->l4_off = plain_ip || !one_in(4) ? 20 : 20 + 4 * below(11);
		b[0] = (u8)(0x40 | s->l4_off / 4);
		put_be16(b + 4, near_wrap(16));
		put_be16(b + 6, one_in(2) ? 0x4000 : 0);
		b[9] = proto;
	} else {
		b[0] = 0x60 | (b[0] & 15);
		s->l4_off = 40;
		b[6] = proto;
		if (!plain_ip && one_in(3))
			s->l4_off = random_exts(b, PLAN_HDR_MAX - 40 - l4_len, proto);
	}
	l4 = b + s->l4_off;
	s->hdr_len = s->l4_off + l4_len;
	if (is_tcp(kind)) {
		l4[12] = (u8)(l4_len / 4 << 4 | (l4[12] & 15));
		put_be32(l4 + 4, near_wrap(32));
	}
}

/**
 * random_super - a random packet that is longer than one segment
 * @s: filled in
 * @kind: TCP4...
 * @plain_ip: no IPv4 options and no extension headers
 * @max_segs: at most so many segments
 */
static inline void random_super(struct sample *s, int kind, bool plain_ip, u32 max_segs)
{
	u32 size, segs, payload, l4_len;

	memset(&s->v, 0, sizeof(s->v));
	random_headers(s, kind, plain_ip);
	size = is_tcp(kind) ? 8 : 1;
	size += below(one_in(3) ? 9000 : one_in(2) ? 1450 : 60);
	if (max_segs > 128 && !is_tcp(kind))
		max_segs = 128;
	segs = 2 + (one_in(4) ? below(max_segs - 1) : below(min_u32(max_segs - 1, 20)));
	payload = (segs - 1) * size + (one_in(3) ? size : 1 + below(size));
	if (payload > LEN_MAX - s->hdr_len)
		payload = LEN_MAX - s->hdr_len - (one_in(2) ? 0 : below(size));
	if (payload <= size)
		payload = size + 1;

	noise_bytes(s->b + s->hdr_len, payload);
	resize(s, kind, payload);
	if (s->b[0] >> 4 == 4)
		slow_ipv4_csum(s->b);
	s->v.gso_type = kind == TCP4 ? VNET_GSO_TCPV4 : kind == TCP6 ? VNET_GSO_TCPV6 :
								       VNET_GSO_UDP_L4;
	s->v.gso_size = (u16)size;
	s->v.hdr_len = (u16)s->hdr_len;
	s->v.flags = VNET_F_NEEDS_CSUM;
	s->v.csum_start = (u16)s->l4_off;
	s->v.csum_offset = is_tcp(kind) ? 16 : 6;
	l4_len = s->len - s->l4_off;
	put_be16(s->b + s->l4_off + s->v.csum_offset, slow_fold(slow_pseudo(s->b, l4_len)));
}

/* ---- memory with edges ---- */

/*
 * Bytes that end where their memory ends: one more is seen by the sanitizer. One
 * before them is seen by edge_intact().
 */
struct edge {
	u8 *memory;
	u8 *at;
	u32 len;
};

#define EDGE_MAX	(LEN_MAX + 64)

static inline u8 *edge_open(struct edge *e, u32 len)
{
	if (!e->memory)
		e->memory = malloc(EDGE_MAX);
	if (!e->memory)
		abort();
	e->at = e->memory + EDGE_MAX - len;
	e->len = len;
	memset(e->at - 64, 0x5a, 64);
	return e->at;
}

static inline bool edge_intact(const struct edge *e)
{
	int i;

	for (i = 1; i <= 64; i++)
		if (e->at[-i] != 0x5a)
			return false;
	return true;
}

#endif /* GSOTUN_TESTS_CUT_UTIL_H */
