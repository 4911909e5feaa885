// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * seg_test.c - cutting: every byte of every segment, against the vectors and
 * against a slow segmenter.
 */
#include "cut_util.h"
#include "seg.h"
#include "vec.h"

static struct edge hdr_edge, out_edge;
static struct sample s;
static u8 want[LEN_MAX + 1];

/* Ready to cut, with a header copy of exactly the bytes that were promised. */
static void init(struct gsotun_seg *seg, const struct gsotun_plan *p, const u8 *packet,
		 u32 flags)
{
	u8 *hdr = edge_open(&hdr_edge, p->hdr_len);

	memcpy(hdr, packet, p->hdr_len);
	memset(seg, 0xa5, sizeof(*seg));
	gsotun_seg_init(seg, p, hdr, flags);
}

/* The segment as a caller puts it together; its length. */
static u32 cut_one(const struct gsotun_seg *seg, const u8 *packet, u32 i, u8 **out)
{
	u32 off, len, sum = 0xdeadbeef;

	gsotun_seg_payload(seg, i, &off, &len);
	*out = edge_open(&out_edge, seg->hdr_len + len);
	memset(*out, 0xcc, seg->hdr_len);
	memcpy(*out + seg->hdr_len, packet + off, len);
	if (seg->needs_sum)
		sum = payload_sum(packet + off, len);
	gsotun_seg_header(seg, i, sum, *out);
	expect(edge_intact(&out_edge), "nothing before the segment to be written");
	return seg->hdr_len + len;
}

/* Where two segments differ first, or -1. */
static int differ(const u8 *a, const u8 *b, u32 len)
{
	u32 i;

	for (i = 0; i < len; i++)
		if (a[i] != b[i])
			return (int)i;
	return -1;
}

/* ---- the vectors ---- */

static bool same(const u8 *ours, const struct vec_bytes *theirs, u32 len, bool alt)
{
	u32 field = slow_l4_off(ours) + 16;

	if (len != theirs->len)
		return false;
	if (alt && be16(theirs->data + field) == 0 && be16(ours + field) == 0xffff)
		return differ(ours, theirs->data, field) < 0 &&
		       differ(ours + field + 2, theirs->data + field + 2, len - field - 2) < 0;
	return differ(ours, theirs->data, len) < 0;
}

static void check_vector(const struct vec *v)
{
	const struct vec_bytes *in = &v->in[0];
	struct gsotun_vnet vnet;
	struct gsotun_plan p;
	struct gsotun_seg seg;
	u32 i, len;
	u8 *out;

	gsotun_vnet_get(&vnet, v->vnet.data);
	if (parse(&p, &vnet, in->data, in->len)) {
		expect(false, "%s to be accepted", v->name);
		return;
	}
	expect(p.segs == v->num_out, "%s: %u segments", v->name, p.segs);
	init(&seg, &p, in->data, 0);
	expect(seg.last + 1 == v->num_out, "%s: %u segments", v->name, seg.last + 1);
	for (i = 0; i < p.segs && i < v->num_out; i++) {
		len = cut_one(&seg, in->data, i, &out);
		expect(same(out, &v->out[i], len, v->tcp_csum_alt), "%s: segment %u at byte %d",
		       v->name, i, differ(out, v->out[i].data, min_u32(len, v->out[i].len)));
	}
}

static void check_vectors(const char *path, unsigned int least)
{
	static struct vec v;
	unsigned int num = 0;
	struct vec_file f;

	for (vec_open(&f, path); vec_next(&f, &v);) {
		if (v.op != VEC_SEGMENT)
			continue;
		check_vector(&v);
		num++;
	}
	expect(!f.error[0], "%s", f.error);
	expect(num >= least, "%s to have %u vectors, not %u", path, least, num);
	vec_close(&f);
}

static void vectors_are_cut_as_they_say(void)
{
	check_vectors(VECTORS "/segment.vec", 45);
	check_vectors(VECTORS "/siblings.vec", 48);
}

/* ---- the slow segmenter ---- */

/* All segments of a packet, from the last to the first. */
static void check_against_slow(const struct gsotun_plan *p, const struct gsotun_vnet *v,
			       const u8 *packet, u32 flags, const char *what)
{
	u32 i, len, slow_len;
	struct gsotun_seg seg;
	u8 *out;

	init(&seg, p, packet, flags);
	expect(seg.last + 1 == slow_segs(v, packet, p->len), "%u segments", seg.last + 1);
	for (i = seg.last + 1; i-- > 0;) {
		len = cut_one(&seg, packet, i, &out);
		slow_len = slow_segment(v, packet, p->len, i,
					flags & SEG_ACCECN ? SLOW_ACCECN : 0, want);
		expect(len == slow_len, "%s: segment %u of %u bytes, not %u", what, i, slow_len,
		       len);
		expect(differ(out, want, min_u32(len, slow_len)) < 0,
		       "%s: segment %u of %u, byte %d, header %u+%u", what, i, seg.last + 1,
		       differ(out, want, len), p->l4_off, p->hdr_len - p->l4_off);
	}
}

static void check_sample(u32 flags, const char *what)
{
	struct gsotun_plan p;
	int drop = parse(&p, &s.v, s.b, s.len);

	expect(!drop, "%s to be accepted: %d", what, drop);
	if (!drop)
		check_against_slow(&p, &s.v, s.b, flags, what);
}

static void random_superpackets(void)
{
	static const char *const names[KINDS] = { "TCP4", "TCP6", "UDP4", "UDP6" };
	int round, kind;

	for (round = 0; round < 20000; round++) {
		kind = (int)below(KINDS);
		random_super(&s, kind, one_in(2), one_in(200) ? 9000 : 60);
		/* Whatever it covers, it is used as it is found. */
		if (one_in(4))
			noise_bytes(s.b + s.l4_off + s.v.csum_offset, 2);
		if (is_tcp(kind) && one_in(4)) {
			s.v.flags = 0;
			s.v.csum_start = (u16)noise();
			s.v.csum_offset = (u16)noise();
		}
		check_sample(0, names[kind]);
	}
}

/* Also a size of one byte, of the payload less one, and 8,000 segments. */
static void sizes_at_their_borders(void)
{
	static const u32 payloads[] = { 1, 2, 3, 7, 8, 9, 99, 100, 101, 128, 1448, 8192, 65535 };
	u32 size, payload;
	size_t i;
	int kind;

	for (kind = 0; kind < KINDS; kind++) {
		for (i = 0; i < ARRAY_SIZE(payloads); i++) {
			make(&s, kind, 0);
			payload = min_u32(payloads[i], LEN_MAX - s.hdr_len);
			noise_bytes(s.b + s.hdr_len, payload);
			resize(&s, kind, payload);
			for (size = is_tcp(kind) ? 8 : 1; size < 65535;
			     size += size < 17 ? 1 : size < 110 ? 9 : 8100) {
				if (!is_tcp(kind) && payload > 128 * size)
					continue;
				s.v.gso_size = (u16)size;
				check_sample(0, "a border");
			}
		}
	}
}

static void flags_have_their_rules(void)
{
	int kind, flags;

	for (kind = TCP4; kind <= TCP6; kind++) {
		for (flags = 0; flags < 4096; flags++) {
			make(&s, kind, 350);
			s.b[s.l4_off + 12] |= (u8)(flags >> 8);
			s.b[s.l4_off + 13] = (u8)flags;
			check_sample(0, "flags");
			check_sample(SEG_ACCECN, "flags with AccECN");
			s.v.gso_size = 400;
			check_sample(0, "flags of a plain packet");
		}
	}
}

/* Checksums that come out as zero: of each segment in turn, and of the IPv4 header. */
static void zero_checksums(void)
{
	u32 i, off;
	int kind;
	u8 *field;

	for (kind = 0; kind < KINDS; kind++) {
		for (i = 0; i < 4; i++) {
			make(&s, kind, 350);
			noise_bytes(s.b + s.hdr_len, 350);
			slow_segment(&s.v, s.b, s.len, i, 0, want);
			field = want + s.l4_off + s.v.csum_offset;
			/* What it lacks goes into two bytes of zeros. */
			off = s.hdr_len + i * 100 + 48;
			put_be16(s.b + off, 0);
			slow_segment(&s.v, s.b, s.len, i, 0, want);
			put_be16(s.b + off, be16(field));
			slow_segment(&s.v, s.b, s.len, i, 0, want);
			expect(be16(field) == (is_tcp(kind) ? 0 : 0xffff), "%04x", be16(field));
			check_sample(0, "a checksum of zero");
		}
	}
	for (kind = TCP4; kind <= UDP4; kind += UDP4 - TCP4) {
		for (i = 0; i < 4; i++) {
			make(&s, kind, 350);
			slow_segment(&s.v, s.b, s.len, i, 0, want);
			put_be16(s.b + 12, be16(want + 10));
			slow_segment(&s.v, s.b, s.len, i, 0, want);
			expect(be16(want + 10) == 0, "%04x", be16(want + 10));
			check_sample(0, "an IPv4 checksum of zero");
		}
	}
}

/* Anywhere in the first 512 bytes, over headers and payload of any length. */
static void plain_packets(void)
{
	struct gsotun_plan p;
	int round;
	u32 room;

	for (round = 0; round < 20000; round++) {
		make_plain(&s, (int)below(KINDS), one_in(3) ? below(10) : below(900));
		noise_bytes(s.b + s.l4_off, s.len - s.l4_off);
		if (!one_in(4)) {
			s.v.flags = VNET_F_NEEDS_CSUM;
			room = s.len - s.l4_off - 1;
			s.v.csum_start = (u16)(s.l4_off + below(min_u32(room, 300)));
			room = s.len - s.v.csum_start - 1;
			s.v.csum_offset = (u16)below(min_u32(room, 100));
		}
		if (parse(&p, &s.v, s.b, s.len)) {
			expect(false, "%u + %u to be accepted", s.v.csum_start, s.v.csum_offset);
			continue;
		}
		check_against_slow(&p, &s.v, s.b, 0, "plain");
	}
	/* All zeros but the field: the checksum is zero, and is written as 0xffff. */
	make_plain(&s, UDP4, 20);
	memset(s.b + 20, 0, 28);
	s.v.flags = VNET_F_NEEDS_CSUM;
	s.v.csum_start = 20;
	s.v.csum_offset = 6;
	put_be16(s.b + 26, 0xffff);
	check_sample(0, "plain, zero");
	slow_segment(&s.v, s.b, s.len, 0, 0, want);
	expect(be16(want + 26) == 0xffff, "%04x", be16(want + 26));
}

static void a_plain_packet_without_work_needs_no_sum(void)
{
	struct gsotun_plan p;
	struct gsotun_seg seg;
	int kind;

	for (kind = 0; kind < KINDS; kind++) {
		make_plain(&s, kind, 77);
		parse(&p, &s.v, s.b, s.len);
		init(&seg, &p, s.b, 0);
		expect(!seg.needs_sum && !seg.last, "%d", kind);
		make(&s, kind, 77);
		parse(&p, &s.v, s.b, s.len);
		init(&seg, &p, s.b, 0);
		expect(seg.needs_sum && !seg.last, "%d", kind);
		make(&s, kind, 177);
		if (is_tcp(kind))
			s.v.flags = 0;
		parse(&p, &s.v, s.b, s.len);
		init(&seg, &p, s.b, 0);
		expect(seg.needs_sum && seg.last == 1, "%d", kind);
	}
}

/* BIG TCP: only the segments have lengths that fit 16 bits. */
static void packets_beyond_64k(void)
{
	static u8 big[600000];
	static const u32 lens[] = { 65536, 65576, 131111, 524288, 599999 };
	struct gsotun_plan p;
	u32 len, part;
	size_t i;
	int kind;

	for (kind = TCP4; kind <= TCP6; kind++) {
		for (i = 0; i < ARRAY_SIZE(lens); i++) {
			len = lens[i];
			make(&s, kind, 0);
			memcpy(big, s.b, s.hdr_len);
			noise_bytes(big + s.hdr_len, len - s.hdr_len);
			put_be16(big + (kind == TCP4 ? 2 : 4), 0);
			s.v.gso_size = i % 2 ? 1448 : 8999;
			part = slow_fold(slow_pseudo(big, len - s.l4_off));
			put_be16(big + s.l4_off + 16, part);
			p = (struct gsotun_plan) {
				.gso_type = s.v.gso_type, .version = kind == TCP4 ? 4 : 6,
				.needs_csum = true, .l4_off = s.l4_off, .hdr_len = s.hdr_len,
				.csum_start = s.l4_off, .csum_offset = 16,
				.gso_size = s.v.gso_size, .len = len,
				.segs = slow_segs(&s.v, big, len),
			};
			check_against_slow(&p, &s.v, big, 0, "big");
		}
	}
}

/* ---- what a caller relies on ---- */

/* x and x + 0xffff are the same sum, however large. */
static void any_form_of_the_payload_sum_will_do(void)
{
	u8 first[PLAN_HDR_MAX];
	struct gsotun_plan p;
	struct gsotun_seg seg;
	u32 i, off, len, sum;
	int round, form;
	u8 *out;

	for (round = 0; round < 2000; round++) {
		random_super(&s, (int)below(KINDS), one_in(2), 5);
		if (one_in(3)) {
			s.v.gso_type = VNET_GSO_NONE;
			noise_bytes(s.b + s.hdr_len, 100);
		}
		if (parse(&p, &s.v, s.b, s.len)) {
			expect(false, "%u bytes to be accepted", s.len);
			continue;
		}
		init(&seg, &p, s.b, 0);
		i = below(p.segs);
		gsotun_seg_payload(&seg, i, &off, &len);
		sum = payload_sum(s.b + off, len);
		out = edge_open(&out_edge, seg.hdr_len);
		gsotun_seg_header(&seg, i, sum, out);
		memcpy(first, out, seg.hdr_len);
		if (!sum)
			continue;
		for (form = 0; form < 5; form++) {
			u32 most = (0xffffffff - sum) / 0xffff;
			u32 times = form == 0 ? 1 : form == 1 ? most : below(most + 1);

			gsotun_seg_header(&seg, i, sum + times * 0xffff, out);
			expect(differ(out, first, seg.hdr_len) < 0, "%#x + %u * 0xffff at byte %d",
			       sum, times, differ(out, first, seg.hdr_len));
		}
	}
}

static void nothing_is_changed_but_the_output(void)
{
	struct gsotun_seg seg, before;
	u8 first[PLAN_HDR_MAX];
	struct gsotun_plan p;
	int round, pass;
	u32 i, j;
	u8 *out;

	for (round = 0; round < 300; round++) {
		random_super(&s, (int)below(KINDS), one_in(2), 20);
		parse(&p, &s.v, s.b, s.len);
		init(&seg, &p, s.b, 0);
		before = seg;
		for (i = 0; i < p.segs; i++) {
			out = edge_open(&out_edge, seg.hdr_len);
			for (pass = 0; pass < 2; pass++) {
				/* What lay there before must not matter. */
				for (j = 0; j < seg.hdr_len; j++)
					out[j] = pass ? (u8)~first[j] : (u8)noise();
				gsotun_seg_header(&seg, i, 0x12345678, out);
				if (!pass)
					memcpy(first, out, seg.hdr_len);
			}
			expect(!memcmp(first, out, seg.hdr_len), "segment %u", i);
		}
		expect(!memcmp(&seg, &before, sizeof(seg)), "the state is as it was");
		expect(!memcmp(hdr_edge.at, s.b, p.hdr_len), "the header is as it was");
	}
}

static const struct ktap_test tests[] = {
	KTAP_TEST(vectors_are_cut_as_they_say),
	KTAP_TEST(random_superpackets),
	KTAP_TEST(sizes_at_their_borders),
	KTAP_TEST(flags_have_their_rules),
	KTAP_TEST(zero_checksums),
	KTAP_TEST(plain_packets),
	KTAP_TEST(a_plain_packet_without_work_needs_no_sum),
	KTAP_TEST(packets_beyond_64k),
	KTAP_TEST(any_form_of_the_payload_sum_will_do),
	KTAP_TEST(nothing_is_changed_but_the_output),
};

int main(void)
{
	int status = plan_main(tests, ARRAY_SIZE(tests));

	free(hdr_edge.memory);
	free(out_edge.memory);
	return status;
}
