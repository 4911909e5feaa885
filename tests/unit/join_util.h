/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * join_util.h - a stream of packets through the joiner, and what must hold for
 * whatever comes out: cutting it gives what went in, in the order of each flow.
 */
#ifndef GSOTUN_TESTS_JOIN_UTIL_H
#define GSOTUN_TESTS_JOIN_UTIL_H

#include "cut_util.h"
#include "join.h"
#include "seg.h"

#define PACKETS_MAX	600

struct packet {
	u8 *b;
	u32 len;
};

/* A record that came out of the joiner. */
struct record {
	struct gsotun_vnet v;
	u32 num;		/* packets in it, in order */
	u32 members[PACKETS_MAX];
	bool fixed_id;
	u32 len;
	u8 *b;
};

/* A stream of packets, and what became of it. */
static struct {
	u32 num;
	struct packet packets[PACKETS_MAX];
	u32 num_records;
	struct record records[PACKETS_MAX];
	u32 groups;
	u64 offloads;
	u32 init_flags;
	u32 parse_flags;
	u32 hdr_avail;		/* bytes of headers that the joiner gets to see */
} stream;

static struct edge hdr_edge, out_edge;
static u8 cut[LEN_MAX + 1];
static u32 next[PACKETS_MAX];
static struct sample s;

static inline void stream_reset(void)
{
	while (stream.num)
		free(stream.packets[--stream.num].b);
	while (stream.num_records)
		free(stream.records[--stream.num_records].b);
	stream.groups = 8;
	stream.offloads = ALL;
	stream.init_flags = 0;
	stream.parse_flags = 0;
	stream.hdr_avail = PLAN_HDR_MAX;
}

static inline void *copy_of(const u8 *b, u32 len)
{
	u8 *copy = malloc(len ? len : 1);

	if (!copy)
		abort();
	memcpy(copy, b, len);
	return copy;
}

static inline u8 *stream_add(const u8 *b, u32 len)
{
	struct packet *p = &stream.packets[stream.num];

	if (stream.num == PACKETS_MAX)
		abort();
	p->b = copy_of(b, len);
	p->len = len;
	stream.num++;
	return p->b;
}

/* All segments of the sample. */
static inline void stream_add_cut(u32 flags)
{
	u32 i, segs = slow_segs(&s.v, s.b, s.len);

	for (i = 0; i < segs; i++)
		stream_add(cut, slow_segment(&s.v, s.b, s.len, i, flags, cut));
}

/* ---- the joiner, as a user of the library would drive it ---- */

static inline void deliver(struct gsotun_join *j, u32 g)
{
	struct record *r = &stream.records[stream.num_records++];
	const struct gsotun_join_group *grp = &j->group[g];
	u32 count = grp->count, payload = grp->payload, i;
	u8 *out = edge_open(&out_edge, grp->hdr_len);

	memset(r, 0xaa, sizeof(*r));
	r->num = 0;
	r->len = grp->hdr_len + payload;
	r->b = malloc(r->len);
	if (!r->b)
		abort();
	gsotun_join_finish(j, g, &r->v, out);
	expect(edge_intact(&out_edge), "nothing before the header to be written");
	expect(!grp->count, "the group to be free");
	r->fixed_id = grp->fixed_id;
	memcpy(r->b, out, grp->hdr_len);

	payload = grp->hdr_len;
	for (i = grp->first; i != JOIN_END && r->num < PACKETS_MAX; i = next[i]) {
		const struct packet *p = &stream.packets[i];
		u32 len = p->len - grp->hdr_len;

		if (payload + len > r->len)
			break;
		memcpy(r->b + payload, p->b + grp->hdr_len, len);
		payload += len;
		r->members[r->num++] = i;
	}
	expect(payload == r->len && r->num == count && i == JOIN_END,
	       "a chain of %u packets and %u bytes, not %u and %u", count, r->len, r->num, payload);
}

static inline void deliver_alone(u32 i)
{
	struct record *r = &stream.records[stream.num_records++];

	memset(r, 0, sizeof(*r));
	r->num = 1;
	r->members[0] = i;
	r->len = stream.packets[i].len;
	r->b = copy_of(stream.packets[i].b, r->len);
}

static inline void join_packet(struct gsotun_join *j, u32 i)
{
	const struct packet *p = &stream.packets[i];
	u32 avail = min_u32(p->len, stream.hdr_avail), g = 0xdeadbeef, turns = 0;
	struct gsotun_join_packet k;
	u8 *hdr = edge_open(&hdr_edge, avail);
	u32 sum = 0xdeadbeef;
	int step;

	memcpy(hdr, p->b, avail);
	memset(&k, 0xa5, sizeof(k));
	gsotun_join_parse(j, &k, hdr, avail, p->len, stream.parse_flags);
	expect(k.scope != JOIN_SCOPE_FLOW || k.hdr_len <= avail, "%u bytes of headers", k.hdr_len);
	expect(!k.why == (k.scope == JOIN_SCOPE_FLOW && !k.why), "%u, %u", k.why, k.scope);
	k.cookie = i;
	for (;;) {
		expect(turns++ <= j->num + 2, "an end");
		if (turns > j->num + 3)
			abort();
		step = gsotun_join_decide(j, &k, &g);
		if (step == JOIN_ALONE) {
			deliver_alone(i);
			break;
		}
		expect(g < j->num, "group %u", g);
		if (step == JOIN_FINISH) {
			expect(j->group[g].count, "a group with packets");
			deliver(j, g);
			continue;
		}
		expect((step == JOIN_START) == !j->group[g].count, "step %d", step);
		if (!(stream.parse_flags & JOIN_DATA_VALID))
			sum = payload_sum(p->b + k.hdr_len, p->len - k.hdr_len);
		if (!gsotun_join_verify(&k, sum)) {
			expect(k.why == JOIN_CSUM, "%u", k.why);
			continue;
		}
		if (gsotun_join_add(j, &k, g))
			deliver(j, g);
		break;
	}
	expect(!memcmp(hdr, p->b, avail), "the header copy to be as it was");
}

static inline void join_all(void)
{
	size_t size = gsotun_join_size(stream.groups);
	struct gsotun_join *j = malloc(size);
	u32 i, g, was;

	if (!j)
		abort();
	memset(j, 0xa5, size);
	memset(next, 0xa5, sizeof(next));
	gsotun_join_init(j, stream.groups, stream.offloads, stream.init_flags, next);
	expect(!gsotun_join_oldest(j, &g), "no group at first");
	for (i = 0; i < stream.num; i++)
		join_packet(j, i);
	was = stream.num_records;
	while (gsotun_join_oldest(j, &g) && stream.num_records - was < stream.groups)
		deliver(j, g);
	expect(!gsotun_join_oldest(j, &g) && !j->used, "no group in the end");
	free(j);
}

/* ---- what must hold for all of it ---- */

/* Could two packets be of one flow? Addresses; for TCP and UDP without frills, ports. */
static inline bool same_flow(const struct packet *a, const struct packet *b)
{
	u32 addr, len, off;

	if (a->len < 20 || b->len < 20 || a->b[0] >> 4 != b->b[0] >> 4)
		return false;
	if (a->b[0] >> 4 == 4) {
		addr = 12;
		len = 8;
		off = 20;
		if (a->b[0] != 0x45 || b->b[0] != 0x45 || a->b[9] != b->b[9] ||
		    (a->b[9] != 6 && a->b[9] != 17))
			return false;
	} else {
		addr = 8;
		len = 32;
		off = 40;
		if (a->len < 40 || b->len < 40 || a->b[6] != b->b[6] ||
		    (a->b[6] != 6 && a->b[6] != 17))
			return false;
	}
	return a->len >= off + 4 && b->len >= off + 4 && !memcmp(a->b + addr, b->b + addr, len) &&
	       !memcmp(a->b + off, b->b + off, 4);
}

static inline bool csums_right(const struct packet *p)
{
	u8 *copy = copy_of(p->b, p->len);
	u32 l4_off = slow_l4_off(copy);
	bool right;

	/* The sums of headers that are what they say, or the joiner has a bug. */
	right = slow_fold(slow_pseudo(copy, p->len - l4_off) +
			  slow_sum(copy + l4_off, p->len - l4_off)) == 0xffff;
	if (copy[0] >> 4 == 4)
		right = right && slow_fold(slow_sum(copy, 20)) == 0xffff;
	free(copy);
	return right;
}

static inline void check_record(const struct record *r, const char *what)
{
	static const struct gsotun_vnet none;
	struct gsotun_plan plan;
	struct gsotun_seg seg;
	u32 i, len, off, bytes;
	int drop;

	if (r->num == 1) {
		const struct packet *p = &stream.packets[r->members[0]];

		expect(r->len == p->len && !memcmp(r->b, p->b, r->len),
		       "%s: packet %u unchanged", what, r->members[0]);
		expect(!memcmp(&r->v, &none, sizeof(none)), "%s: a vnet of zeros", what);
		return;
	}
	expect(r->len <= LEN_MAX, "%s: %u bytes", what, r->len);
	drop = parse(&plan, &r->v, r->b, r->len);
	expect(!drop, "%s: record of packet %u to be accepted: %d", what, r->members[0], drop);
	if (drop)
		return;
	expect(plan.segs == r->num, "%s: %u segments, not %u", what, r->num, plan.segs);
	expect(plan.hdr_len == r->v.hdr_len && r->v.flags == VNET_F_NEEDS_CSUM,
	       "%s: hdr_len %u", what, r->v.hdr_len);
	expect(slow_proto(r->b) != 17 || r->num <= 64, "%s: %u datagrams", what, r->num);
	expect(plan.ecn == (slow_proto(r->b) == 6 && r->b[plan.l4_off + 13] & CWR),
	       "%s: ECN", what);
	if (slow_segs(&r->v, r->b, r->len) != r->num)
		return;
	gsotun_seg_init(&seg, &plan, r->b, 0);
	for (i = 0; i < r->num; i++) {
		const struct packet *p = &stream.packets[r->members[i]];

		expect(!i || r->members[i - 1] < r->members[i], "%s: in order", what);
		len = slow_segment(&r->v, r->b, r->len, i, r->fixed_id ? SLOW_FIXED_ID : 0, cut);
		expect(len == p->len && !memcmp(cut, p->b, len),
		       "%s: packet %u to come back from the record of %u", what, r->members[i],
		       r->members[0]);
		if (!(stream.parse_flags & JOIN_DATA_VALID))
			expect(csums_right(p), "%s: checksums of packet %u", what, r->members[i]);
		if (r->fixed_id)
			continue;
		gsotun_seg_payload(&seg, i, &off, &bytes);
		gsotun_seg_header(&seg, i, payload_sum(r->b + off, bytes), cut);
		expect(off + bytes <= r->len && !memcmp(cut, p->b, seg.hdr_len),
		       "%s: packet %u from our own segmenter", what, r->members[i]);
	}
}

/* Every packet once; those of a flow in order. */
static inline void check_stream(const char *what)
{
	static u32 at[PACKETS_MAX];
	u32 i, j, k = 0;

	memset(at, 0xff, sizeof(at));
	for (i = 0; i < stream.num_records; i++) {
		check_record(&stream.records[i], what);
		for (j = 0; j < stream.records[i].num; j++) {
			expect(at[stream.records[i].members[j]] == 0xffffffff, "%s: packet %u once",
			       what, stream.records[i].members[j]);
			at[stream.records[i].members[j]] = k++;
		}
	}
	expect(k == stream.num, "%s: %u packets, not %u", what, stream.num, k);
	for (i = 0; i < stream.num; i++)
		for (j = i + 1; j < stream.num; j++)
			if (at[i] > at[j])
				expect(!same_flow(&stream.packets[i], &stream.packets[j]),
				       "%s: packet %u before %u", what, i, j);
}

static inline void join_and_check(const char *what)
{
	join_all();
	check_stream(what);
}

/* The record that a packet went to. */
static inline const struct record *record_of(u32 packet)
{
	u32 i, j;

	for (i = 0; i < stream.num_records; i++)
		for (j = 0; j < stream.records[i].num; j++)
			if (stream.records[i].members[j] == packet)
				return &stream.records[i];
	abort();
}

static inline bool all_alone(void)
{
	return stream.num_records == stream.num;
}

/* A superpacket that the joiner may make: its flags, fields and sizes. */
static inline void random_joined(int kind, u32 max_segs)
{
	u8 *l4;

	do
		random_super(&s, kind, !one_in(3), max_segs);
	while (s.b[0] >> 4 == 4 && s.l4_off != 20);

	l4 = s.b + s.l4_off;
	if (is_tcp(kind)) {
		l4[13] &= FIN | PSH | ACK | ECE | CWR;
		if (l4[13] & CWR)
			s.v.gso_type |= VNET_GSO_ECN;
	}
}

static inline int join_main(const struct ktap_test *tests, size_t num)
{
	int status = plan_main(tests, num);

	stream_reset();
	free(hdr_edge.memory);
	free(out_edge.memory);
	return status;
}

#endif /* GSOTUN_TESTS_JOIN_UTIL_H */
