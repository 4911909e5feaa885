/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * plan_util.h - packets for the tests of gsotun_plan_parse(), and what must hold
 * for every plan.
 *
 * The header copy always ends where its memory ends, so that the address
 * sanitizer sees a read of one byte too many.
 */
#ifndef GSOTUN_TESTS_PLAN_UTIL_H
#define GSOTUN_TESTS_PLAN_UTIL_H

#include <stdlib.h>
#include <string.h>

#include <linux/gsotun.h>
#include "plan.h"

#include "ktap.h"
#include "noise.h"

#define CSUM	GSOTUN_OFFLOAD_CSUM
#define TSO4	GSOTUN_OFFLOAD_TSO4
#define TSO6	GSOTUN_OFFLOAD_TSO6
#define TSO_ECN	GSOTUN_OFFLOAD_TSO_ECN
#define USO	GSOTUN_OFFLOAD_USO
#define ALL	(CSUM | TSO4 | TSO6 | TSO_ECN | USO)

#define LEN_MAX	65535u

static u8 *copy_end;	/* the first byte behind the memory of header copies */

static inline u32 min_u32(u32 a, u32 b)
{
	return a < b ? a : b;
}

static inline int parse_some(struct gsotun_plan *p, const struct gsotun_vnet *v,
			     const u8 *packet, u32 avail, u32 len, u64 offloads)
{
	u8 *hdr = copy_end - avail;

	memcpy(hdr, packet, avail);
	return gsotun_plan_parse(p, v, hdr, avail, len, offloads);
}

static inline int parse(struct gsotun_plan *p, const struct gsotun_vnet *v,
			const u8 *packet, u32 len)
{
	return parse_some(p, v, packet, min_u32(len, PLAN_HDR_MAX), len, ALL);
}

static inline void put_be16(u8 *b, u32 x)
{
	b[0] = (u8)(x >> 8);
	b[1] = (u8)x;
}

static inline u32 be16(const u8 *b)
{
	return b[0] * 256u + b[1];
}

/* A packet with its virtio_net_hdr, to be bent by a test. */
struct sample {
	struct gsotun_vnet v;
	u32 l4_off;
	u32 hdr_len;
	u32 len;
	u8 b[LEN_MAX + 1];
};

enum { TCP4, TCP6, UDP4, UDP6, KINDS };

static inline bool is_tcp(int kind)
{
	return kind == TCP4 || kind == TCP6;
}

/* Sets the lengths in the headers too. */
static inline void resize(struct sample *s, int kind, u32 payload)
{
	s->len = s->hdr_len + payload;
	if (kind == TCP4 || kind == UDP4)
		put_be16(s->b + 2, s->len);
	else
		put_be16(s->b + 4, s->len - 40);
	if (!is_tcp(kind))
		put_be16(s->b + s->l4_off + 4, s->len - s->l4_off);
}

static inline void make(struct sample *s, int kind, u32 payload)
{
	static const u8 types[KINDS] = {
		VNET_GSO_TCPV4, VNET_GSO_TCPV6, VNET_GSO_UDP_L4, VNET_GSO_UDP_L4,
	};
	u8 proto = is_tcp(kind) ? 6 : 17;

	memset(s, 0, sizeof(*s));
	if (kind == TCP4 || kind == UDP4) {
		s->l4_off = 20;
		s->b[0] = 0x45;
		s->b[9] = proto;
	} else {
		s->l4_off = 40;
		s->b[0] = 0x60;
		s->b[6] = proto;
	}
	s->hdr_len = s->l4_off + (is_tcp(kind) ? 20 : 8);
	if (is_tcp(kind))
		s->b[s->l4_off + 12] = 0x50;
	resize(s, kind, payload);

	s->v.flags = VNET_F_NEEDS_CSUM;
	s->v.gso_type = types[kind];
	s->v.gso_size = 100;
	s->v.csum_start = (u16)s->l4_off;
	s->v.csum_offset = is_tcp(kind) ? 16 : 6;
}

static inline void make_plain(struct sample *s, int kind, u32 payload)
{
	make(s, kind, payload);
	memset(&s->v, 0, sizeof(s->v));
}

/* What must hold for every packet that is accepted, found once more. */
static inline void check_plan(const struct gsotun_plan *p, const struct gsotun_vnet *v,
			      const u8 *hdr, u32 avail, u32 len)
{
	bool gso = p->gso_type != VNET_GSO_NONE;
	u32 payload = len - p->hdr_len;

	expect(p->len == len, "%u", len);
	expect(p->version == hdr[0] >> 4, "%u", p->version);
	expect(p->l4_off >= (p->version == 4 ? 20u : 40u), "%u", p->l4_off);
	expect(p->l4_off <= p->hdr_len && p->hdr_len <= avail, "%u %u", p->l4_off, p->hdr_len);
	expect(p->needs_csum == (v->flags & 1), "%u", v->flags);
	expect(p->data_valid == ((v->flags & 3) == 2), "%u", v->flags);
	expect(!p->needs_csum || (p->csum_start >= p->l4_off &&
				  p->csum_start + p->csum_offset + 2 <= p->hdr_len),
	       "%u + %u", p->csum_start, p->csum_offset);
	expect(!p->needs_csum || (p->csum_start == v->csum_start &&
				  p->csum_offset == v->csum_offset), "%u", p->csum_start);
	expect(gso == (p->segs > 1), "%u segments", p->segs);
	if (!gso) {
		expect(p->segs == 1 && !p->ecn && !p->gso_size, "%u", p->segs);
		return;
	}
	expect((v->gso_type & 0x7f) == p->gso_type, "%u", v->gso_type);
	expect((v->gso_type >> 7) == p->ecn, "%u", v->gso_type);
	expect(p->gso_size == v->gso_size, "%u", p->gso_size);
	expect((u64)(p->segs - 1) * p->gso_size < payload &&
	       (u64)p->segs * p->gso_size >= payload, "%u * %u", p->segs, p->gso_size);
	expect(p->csum_start == p->l4_off, "%u", p->csum_start);
	if (p->gso_type == VNET_GSO_UDP_L4)
		expect(p->segs <= 128 && p->needs_csum && p->hdr_len == p->l4_off + 8 &&
		       be16(hdr + p->l4_off + 4) == len - p->l4_off, "%u", p->segs);
	else
		expect(p->gso_size >= 8 &&
		       p->hdr_len == p->l4_off + (hdr[p->l4_off + 12] >> 4) * 4u,
		       "%u", p->hdr_len);
}

static inline void expect_accepted(const struct sample *s, const char *what)
{
	struct gsotun_plan p;
	int drop = parse(&p, &s->v, s->b, s->len);

	expect(!drop, "%s, but got %d", what, drop);
	if (!drop)
		check_plan(&p, &s->v, s->b, min_u32(s->len, PLAN_HDR_MAX), s->len);
}

static inline void expect_refused(const struct sample *s, int reason, const char *what)
{
	struct gsotun_plan p;
	int drop = parse(&p, &s->v, s->b, s->len);

	expect(drop == reason, "%s with %d, but got %d", what, reason, drop);
}

static inline int plan_main(const struct ktap_test *tests, size_t num)
{
	u8 *copy = malloc(PLAN_HDR_MAX);
	int status;

	if (!copy)
		return 1;
	copy_end = copy + PLAN_HDR_MAX;
	status = ktap_main(tests, num);
	free(copy);
	return status;
}

#endif /* GSOTUN_TESTS_PLAN_UTIL_H */
