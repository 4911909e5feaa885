// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * seg.c - cutting: the header of each segment, and where segments lie in trains.
 *
 * Theory of operation
 *
 * The headers of the segments of a packet differ in a few words only:
 *
 *	IPv4	tot_len: on the last; id: counts up; checksum
 *	IPv6	payload_len: on the last
 *	TCP	seq: advances; FIN and PSH: on the last only; CWR: on the first only;
 *		checksum
 *	UDP	length: on the last; checksum
 *
 * So there are three kinds of segments: the first, those in the middle, and the
 * last. gsotun_seg_init() makes for each kind the words that it shares, and the
 * sums of all that is covered by a checksum but id, seq and payload. A segment
 * then costs: the header copied in words of 8 bytes, four to six short stores
 * over it, one multiplication (its seq), three additions and two folds. Nothing
 * is read but the prepared header and its kind, nothing of what was written is
 * read back, and no segment depends on another.
 *
 * The partial checksum of a packet with NEEDS_CSUM is used as it was found. It is
 * not made anew from the addresses: behind an IPv6 routing header the destination
 * that it covers is not the one in the IPv6 header.
 *
 * All arithmetic is of 32 bits or more; the 16 bits of a field are taken when it
 * is stored. A plan's header length is a multiple of 4 if there is more than one
 * segment: each header in it is.
 */
#include <linux/gsotun.h>
#include "csum.h"
#include "seg.h"

#define IPV4_LEN_AT		2u
#define IPV4_ID_AT		4u
#define IPV4_CSUM_AT		10u
#define IPV6_LEN_AT		4u
#define IPV6_HDR_LEN		40u
#define TCP_SEQ_AT		4u
#define TCP_FLAGS_AT		13u
#define TCP_CSUM_AT		16u
#define UDP_LEN_AT		4u
#define UDP_CSUM_AT		6u

#define TCP_FIN			0x01u
#define TCP_PSH			0x08u
#define TCP_CWR			0x80u

#define PROTO_TCP		6u
#define PROTO_UDP		17u

#define SEGS_DEFAULT		64u
#define TRAIN_BYTES_DEFAULT	65507u	/* what one UDP socket call can send over IPv4 */
#define RECORD_LEN_MAX		65535u	/* lengths of segments are u16 in a record */

/* ---- getting ready ---- */

/* Sum of the IPv4 header without the fields that segments have of their own. */
static u32 ipv4_base(const u8 *hdr)
{
	u32 sum = ones_sum(hdr, (hdr[0] & 0x0f) * 4u);

	sum = ones_sub(sum, word_get16(hdr + IPV4_LEN_AT));
	sum = ones_sub(sum, word_get16(hdr + IPV4_ID_AT));
	return ones_sub(sum, word_get16(hdr + IPV4_CSUM_AT));
}

/* Sum of the pseudo header without the length. */
static u32 pseudo_base(const struct gsotun_plan *p, const u8 *hdr, bool tcp)
{
	u32 field;

	if (!p->needs_csum)
		return ones_pseudo(p->version, hdr, tcp ? PROTO_TCP : PROTO_UDP, 0);
	field = word_get16(hdr + p->csum_start + p->csum_offset);
	return ones_sub(field, ones_be32(p->len - p->l4_off));
}

/* Sum of the transport header, again without what segments have of their own. */
static u32 l4_base(const struct gsotun_plan *p, const u8 *hdr, bool tcp)
{
	const u8 *l4 = hdr + p->l4_off;
	u32 sum = ones_sum(l4, p->hdr_len - p->l4_off);

	if (!tcp) {
		sum = ones_sub(sum, word_get16(l4 + UDP_LEN_AT));
		return ones_sub(sum, word_get16(l4 + UDP_CSUM_AT));
	}
	sum = ones_sub(sum, word_get32(l4 + TCP_SEQ_AT));
	sum = ones_sub(sum, ones_be16(l4[TCP_FLAGS_AT]));
	return ones_sub(sum, word_get16(l4 + TCP_CSUM_AT));
}

static u32 tcp_flags_of(u32 kind, u32 tcp_flags, u32 flags)
{
	if (kind != SEG_LAST)
		tcp_flags &= ~(TCP_FIN | TCP_PSH);
	if (kind != SEG_FIRST && !(flags & SEG_ACCECN))
		tcp_flags &= ~TCP_CWR;
	return tcp_flags;
}

static void init_part(struct gsotun_seg *s, u32 kind, u32 ip_sum, u32 l4_sum, u32 flags)
{
	u32 len = s->hdr_len + (kind == SEG_LAST ? s->last_size : s->size);
	struct gsotun_seg_part *part = &s->part[kind];
	u32 l4_len = len - s->l4_off;
	u32 own;

	if (s->tcp) {
		part->l4_word = tcp_flags_of(kind, s->hdr[s->l4_off + TCP_FLAGS_AT], flags);
		own = ones_be16(part->l4_word);
	} else {
		part->l4_word = ones_be16(l4_len);
		own = part->l4_word;
	}
	part->ip_len = ones_be16(s->ipv4 ? len : len - IPV6_HDR_LEN);
	part->ip_sum = ones_fold(ones_add(ip_sum, part->ip_len));
	part->l4_sum = ones_fold(ones_add(l4_sum, ones_add(ones_be16(l4_len), own)));
}

/* A packet that is not cut. Its checksum may cover anything from csum_start on. */
static void init_plain(struct gsotun_seg *s, const struct gsotun_plan *p)
{
	s->last_size = p->len - p->hdr_len;
	s->needs_sum = p->needs_csum;
	if (!p->needs_csum)
		return;
	s->csum_start = p->csum_start;
	s->csum_at = p->csum_start + p->csum_offset;
	s->part[SEG_LAST].l4_sum = ones_sum(s->hdr + p->csum_start,
					    p->hdr_len - p->csum_start);
}

void gsotun_seg_init(struct gsotun_seg *s, const struct gsotun_plan *p, const u8 *hdr,
		     u32 flags)
{
	u32 ip_sum = 0, l4_sum, kind;

	memset(s, 0, sizeof(*s));
	s->hdr = hdr;
	s->hdr_len = p->hdr_len;
	s->last = p->segs - 1;
	if (!s->last) {
		init_plain(s, p);
		return;
	}
	s->size = p->gso_size;
	s->last_size = p->len - p->hdr_len - s->last * p->gso_size;
	s->needs_sum = true;
	s->ipv4 = p->version == 4;
	s->tcp = p->gso_type != VNET_GSO_UDP_L4;
	s->l4_off = p->l4_off;

	if (s->ipv4) {
		s->id = ones_be16(word_get16(hdr + IPV4_ID_AT));
		ip_sum = ipv4_base(hdr);
	}
	if (s->tcp)
		s->seq = ones_be32(word_get32(hdr + p->l4_off + TCP_SEQ_AT));
	l4_sum = ones_add(pseudo_base(p, hdr, s->tcp), l4_base(p, hdr, s->tcp));
	for (kind = 0; kind < SEG_PARTS; kind++)
		init_part(s, kind, ip_sum, l4_sum, flags);
}

/* ---- a segment ---- */

/* Inline, because a call of memcpy() costs more than these few words. */
static inline void copy_header(u8 *out, const u8 *hdr, u32 len)
{
	for (; len >= 16; len -= 16, out += 16, hdr += 16) {
		word_put64(out, word_get64(hdr));
		word_put64(out + 8, word_get64(hdr + 8));
	}
	if (len & 8) {
		word_put64(out, word_get64(hdr));
		out += 8;
		hdr += 8;
	}
	if (len & 4)
		word_put32(out, word_get32(hdr));
}

/* As skb_checksum_help(): a checksum of zero is written as 0xffff, UDP or not. */
static void write_plain(const struct gsotun_seg *s, u32 payload_sum, u8 *out)
{
	u64 sum = s->part[SEG_LAST].l4_sum;
	u32 check;

	memcpy(out, s->hdr, s->hdr_len);
	if (!s->needs_sum)
		return;
	sum += ones_at(payload_sum, s->hdr_len - s->csum_start);
	check = ones_check(sum);
	word_put16(out + s->csum_at, check ? check : 0xffff);
}

void gsotun_seg_header(const struct gsotun_seg *s, u32 i, u32 payload_sum, u8 *out)
{
	const struct gsotun_seg_part *part;
	u8 *l4 = out + s->l4_off;
	u32 id, seq, check;

	if (!s->last) {
		write_plain(s, payload_sum, out);
		return;
	}
	part = &s->part[i == s->last ? SEG_LAST : i ? SEG_MIDDLE : SEG_FIRST];
	copy_header(out, s->hdr, s->hdr_len);

	if (s->ipv4) {
		id = ones_be16(s->id + i);
		word_put16(out + IPV4_LEN_AT, part->ip_len);
		word_put16(out + IPV4_ID_AT, id);
		word_put16(out + IPV4_CSUM_AT, ones_fold(part->ip_sum + id) ^ 0xffff);
	} else {
		word_put16(out + IPV6_LEN_AT, part->ip_len);
	}

	if (s->tcp) {
		seq = ones_be32(s->seq + i * s->size);
		word_put32(l4 + TCP_SEQ_AT, seq);
		l4[TCP_FLAGS_AT] = part->l4_word;
		word_put16(l4 + TCP_CSUM_AT, ones_check((u64)part->l4_sum + seq + payload_sum));
	} else {
		word_put16(l4 + UDP_LEN_AT, part->l4_word);
		/* Zero means that there is no checksum. */
		check = ones_check((u64)part->l4_sum + payload_sum);
		word_put16(l4 + UDP_CSUM_AT, check ? check : 0xffff);
	}
}

/* ---- trains ---- */

/* @to of 0 and 1: any. Powers of two, the usual case, cost no division. */
static u32 align_up(u32 x, u32 to)
{
	if (to <= 1)
		return x;
	if (!(to & (to - 1)))
		return (x + to - 1) & ~(to - 1);
	return (x + to - 1) / to * to;
}

u32 gsotun_layout_padded(const struct gsotun_layout *l, u32 len)
{
	u32 padded;

	if (l->pad_cap && len > l->pad_cap)
		return len;
	padded = align_up(len + l->pad_extra, l->pad_to);
	return l->pad_cap && padded > l->pad_cap ? l->pad_cap : padded;
}

bool gsotun_trains_init(struct gsotun_trains *t, const struct gsotun_plan *p,
			const struct gsotun_layout *l)
{
	u32 most = l->max_train_bytes ? l->max_train_bytes : TRAIN_BYTES_DEFAULT;
	u32 segs = l->max_segs ? l->max_segs : SEGS_DEFAULT;
	u32 payload = p->len - p->hdr_len;
	u32 room, fit;

	if (p->segs > 1) {
		t->seg_len = p->hdr_len + p->gso_size;
		t->last_len = p->hdr_len + payload - (p->segs - 1) * p->gso_size;
	} else {
		t->seg_len = p->len;
		t->last_len = p->len;
	}
	t->seg_padded = gsotun_layout_padded(l, t->seg_len);
	t->last_padded = gsotun_layout_padded(l, t->last_len);
	room = l->headroom + t->seg_padded + l->tailroom;
	if (t->seg_padded > RECORD_LEN_MAX || room > most)
		return false;
	t->stride = align_up(room, l->stride_align);

	fit = 1 + (most - room) / t->stride;
	if (segs > fit)
		segs = fit;
	if (segs > p->segs)
		segs = p->segs;
	t->segs = segs;
	t->num = (p->segs + segs - 1) / segs;
	t->last_segs = p->segs - (t->num - 1) * segs;
	return true;
}

static u64 span_of(const struct gsotun_trains *t, u32 k, u32 around)
{
	u64 align = GSOTUN_RECORD_ALIGN;

	return ((u64)gsotun_trains_len(t, k) + around + align - 1) & ~(align - 1);
}

u64 gsotun_trains_span(const struct gsotun_trains *t, u32 around)
{
	return (t->num - 1) * span_of(t, 0, around) + span_of(t, t->num - 1, around);
}
