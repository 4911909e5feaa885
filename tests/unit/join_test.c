// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * join_test.c - joining: which packets are, and which must not be; each bit of the
 * headers, checksums, and what the caller may choose.
 */
#include "join_util.h"

/* ---- pairs: all is equal but one thing ---- */

/* Two packets that are joined as they are; TCP has options of an odd number of words. */
static void make_pair(int kind)
{
	stream_reset();
	make(&s, kind, 200);
	if (is_tcp(kind)) {
		s.hdr_len += 12;
		s.b[s.l4_off + 12] = 0x80;
		resize(&s, kind, 200);
		noise_bytes(s.b + s.l4_off + 20, 12);
	}
	noise_bytes(s.b + s.hdr_len, 200);
	put_be32(s.b + s.l4_off, 0x12345678);
	if (is_tcp(kind)) {
		s.b[s.l4_off + 13] = ACK;
		put_be16(s.b + s.l4_off + 14, 1000);
	}
	put_be16(s.b + s.l4_off + s.v.csum_offset, slow_fold(slow_pseudo(s.b, s.len - s.l4_off)));
	stream_add_cut(0);
}

/* Each bit of each header of both packets, with checksums that fit and that do not. */
static void no_bit_is_lost(void)
{
	u32 which, bit, right, hdr_len, merged;
	struct packet *p;
	int kind;

	for (kind = 0; kind < KINDS; kind++) {
		make_pair(kind);
		join_and_check("a pair");
		expect(stream.num_records == 1, "%d: the pair to be joined", kind);
		hdr_len = s.hdr_len;
		merged = 0;
		for (which = 0; which < 2; which++) {
			for (bit = 0; bit < hdr_len * 8; bit++) {
				for (right = 0; right < 2; right++) {
					make_pair(kind);
					p = &stream.packets[which];
					p->b[bit / 8] ^= (u8)(1u << bit % 8);
					if (right && (p->b[0] == 0x45 || p->b[0] >> 4 == 6) &&
					    (slow_proto(p->b) == 17 || slow_proto(p->b) == 6))
						slow_csums(p->b, p->len);
					join_and_check("a pair with a bit that differs");
					merged += stream.num_records == 1;
				}
			}
		}
		/* Checksums set right again; FIN and PSH on the second, CWR on the first. */
		expect(merged == (s.l4_off == 20 ? 64u : 32u) + (is_tcp(kind) ? 3 : 0),
		       "%d: %u pairs joined", kind, merged);
	}
}

static void what_a_joined_pair_may_differ_in(void)
{
	static const struct {
		u32 which;
		u8 flag;
		bool joined;
	} flags[] = {
		{ 1, FIN, true }, { 1, PSH, true }, { 1, FIN | PSH, true }, { 0, CWR, true },
		{ 0, FIN, false }, { 0, PSH, false }, { 1, CWR, false }, { 0, ECE, false },
		{ 1, ECE, false }, { 0, URG, false }, { 1, URG, false }, { 0, SYN, false },
		{ 1, SYN, false }, { 0, RST, false }, { 1, RST, false }, { 1, CWR | PSH, false },
	};
	size_t i;
	int kind;

	for (kind = TCP4; kind <= TCP6; kind++) {
		for (i = 0; i < ARRAY_SIZE(flags); i++) {
			struct packet *p;

			make_pair(kind);
			p = &stream.packets[flags[i].which];
			p->b[s.l4_off + 13] |= flags[i].flag;
			slow_csums(p->b, p->len);
			join_and_check("a pair with a flag");
			expect((stream.num_records == 1) == flags[i].joined,
			       "%d: flag %#x on %u", kind, flags[i].flag, flags[i].which);
		}
		make_pair(kind);
		stream.packets[0].b[s.l4_off + 13] |= CWR;
		slow_csums(stream.packets[0].b, stream.packets[0].len);
		join_all();
		expect(stream.records[0].v.gso_type & VNET_GSO_ECN, "CWR to be announced");
	}
}

/* What both packets have in common does not keep them apart, but for this. */
static void flags_that_no_group_has(void)
{
	u32 flags, i;
	int kind;

	for (kind = TCP4; kind <= TCP6; kind++) {
		for (flags = 0; flags < 256; flags++) {
			make_pair(kind);
			for (i = 0; i < 2; i++) {
				stream.packets[i].b[s.l4_off + 13] = (u8)flags;
				slow_csums(stream.packets[i].b, stream.packets[i].len);
			}
			join_and_check("a pair of equal flags");
			expect((stream.num_records == 1) ==
			       !(flags & (FIN | SYN | RST | PSH | URG | CWR)), "%d: %#x", kind,
			       flags);
		}
	}
}

/* ---- checksums ---- */

static void a_wrong_checksum_is_passed_on(void)
{
	u32 which, byte;
	int kind;

	for (kind = 0; kind < KINDS; kind++) {
		for (which = 0; which < 2; which++) {
			for (byte = 0; byte < 100; byte++) {
				make_pair(kind);
				stream.packets[which].b[s.hdr_len + byte] ^= 0x10;
				join_and_check("a wrong payload");
				expect(all_alone(), "%d: packet %u", kind, which);
			}
		}
	}
}

static void one_wrong_packet_does_not_stop_the_others(void)
{
	int kind;

	for (kind = 0; kind < KINDS; kind++) {
		stream_reset();
		make(&s, kind, 1000);
		noise_bytes(s.b + s.hdr_len, 1000);
		put_be16(s.b + s.l4_off + s.v.csum_offset,
			 slow_fold(slow_pseudo(s.b, s.len - s.l4_off)));
		stream_add_cut(0);
		stream.packets[5].b[s.hdr_len + 3] ^= 1;
		join_and_check("one of ten");
		expect(stream.num_records == 3 && record_of(0)->num == 5 &&
		       record_of(5)->num == 1 && record_of(6)->num == 4, "%d: %u records", kind,
		       stream.num_records);
	}
}

/* 0xffff is as right as 0x0000, but it would not come back. */
static void the_other_zero_is_passed_on(void)
{
	u32 i, which;
	u8 *b, *l4;
	int kind;

	for (kind = 0; kind < KINDS; kind++) {
		for (which = 0; which < 2; which++) {
			for (i = 0; i < 2; i++) {
				make_pair(kind);
				b = stream.packets[which].b;
				l4 = b + s.l4_off;
				/* Two bytes that make the checksum zero. */
				put_be16(b + s.hdr_len, 0);
				slow_csums(b, stream.packets[which].len);
				put_be16(b + s.hdr_len, be16(l4 + s.v.csum_offset));
				slow_csums(b, stream.packets[which].len);
				expect(be16(l4 + s.v.csum_offset) == (is_tcp(kind) ? 0 : 0xffff),
				       "zero");
				if (i)
					put_be16(l4 + s.v.csum_offset, is_tcp(kind) ? 0xffff : 0);
				join_and_check("a checksum of zero");
				expect((stream.num_records == 1) == !i, "%d: %#x", kind,
				       be16(l4 + s.v.csum_offset));
			}
		}
	}
	for (which = 0; which < 2; which++) {
		for (i = 0; i < 2; i++) {
			make_pair(UDP4);
			b = stream.packets[0].b;
			put_be16(b + 14, (be16(b + 10) + be16(b + 14)) % 0xffff);
			slow_ipv4_csum(b);
			memcpy(stream.packets[1].b + 12, b + 12, 8);
			slow_csums(stream.packets[0].b, stream.packets[0].len);
			slow_csums(stream.packets[1].b, stream.packets[1].len);
			expect(be16(b + 10) == 0, "%#x", be16(b + 10));
			if (i)
				put_be16(b + 10, 0xffff);
			join_and_check("an IPv4 checksum of zero");
			expect((stream.num_records == 1) == !i, "%#x", be16(b + 10));
		}
	}
}

/* Whoever says that data are authenticated is believed, and only about the payload. */
static void valid_data_are_not_verified(void)
{
	int kind;

	for (kind = 0; kind < KINDS; kind++) {
		make_pair(kind);
		stream.packets[1].b[s.l4_off + s.v.csum_offset] ^= 0x55;
		stream.parse_flags = JOIN_DATA_VALID;
		join_all();
		expect(stream.num_records == 1, "%d: joined", kind);
		if (is_tcp(kind))
			continue;
		make_pair(kind);
		put_be16(stream.packets[1].b + s.l4_off + 6, 0);
		stream.parse_flags = JOIN_DATA_VALID;
		join_and_check("no checksum");
		expect(all_alone(), "%d: no checksum", kind);
	}
	make_pair(TCP4);
	stream.packets[1].b[10] ^= 1;
	stream.parse_flags = JOIN_DATA_VALID;
	join_and_check("a wrong IPv4 checksum");
	expect(all_alone(), "a wrong IPv4 checksum");
}

/* A routing header or a home address changes what the checksum covers. */
static void extension_headers_are_verified(void)
{
	static const u8 exts[] = { 0, 43, 60 };
	static const u8 final[16] = { 0x20, 1, 0xd, 0xb8, 9 };
	u32 i, len, other, valid;
	u8 packet[400];

	for (i = 0; i < 3; i++) {
		for (other = 0; other < 2; other++) {
			for (valid = 0; valid < 2; valid++) {
				make_pair(TCP6);
				for (len = 0; len < 2; len++) {
					struct packet *p = &stream.packets[len];
					u64 sum;

					memcpy(packet, p->b, 40);
					memset(packet + 40, 0, 24);
					packet[40] = 6;
					packet[41] = 2;
					memcpy(packet + 48, final, 16);
					memcpy(packet + 64, p->b + 40, p->len - 40);
					packet[6] = exts[i];
					put_be16(packet + 4, p->len + 24 - 40);
					free(p->b);
					p->len += 24;
					p->b = copy_of(packet, p->len);
					slow_csums(p->b, p->len);
					if (!other)
						continue;
					/* Another destination than the header's. */
					put_be16(p->b + 64 + 16, 0);
					sum = slow_sum(p->b + 8, 16) + slow_sum(final, 16) + 6 +
					      (p->len - 64) + slow_sum(p->b + 64, p->len - 64);
					put_be16(p->b + 64 + 16, 0xffff - slow_fold(sum));
				}
				stream.parse_flags = valid ? JOIN_DATA_VALID : 0;
				join_and_check("extension headers");
				expect((stream.num_records == 1) == (!other && !valid),
				       "type %u, other %u, valid %u", exts[i], other, valid);
			}
		}
	}
}

/* ---- what the caller may choose ---- */

static void only_what_was_asked_for(void)
{
	static const u64 needs[KINDS] = { TSO4 | CSUM, TSO6 | CSUM, USO | CSUM, USO | CSUM };
	u64 offloads, need;
	int kind, cwr;

	for (kind = 0; kind < KINDS; kind++) {
		for (cwr = 0; cwr <= is_tcp(kind); cwr++) {
			for (offloads = 0; offloads <= ALL; offloads++) {
				make_pair(kind);
				stream.offloads = offloads;
				need = needs[kind];
				if (cwr) {
					stream.packets[0].b[s.l4_off + 13] |= CWR;
					slow_csums(stream.packets[0].b, stream.packets[0].len);
					need |= TSO_ECN;
				}
				join_and_check("offloads");
				expect((stream.num_records == 1) == !(need & ~offloads),
				       "%d, CWR %d: %#llx", kind, cwr,
				       (unsigned long long)offloads);
			}
		}
	}
}

/* A shorter look at the packet costs joins, never more. */
static void any_part_of_the_headers(void)
{
	u32 avail, need;
	int kind, exts;

	for (kind = 0; kind < KINDS; kind++) {
		for (exts = 0; exts < 2; exts++) {
			do
				random_joined(kind, 3);
			while (exts != (s.l4_off > 40) && (kind == TCP6 || kind == UDP6));
			need = s.hdr_len;
			for (avail = 0; avail <= need + 5; avail++) {
				stream_reset();
				stream_add_cut(0);
				stream.hdr_avail = avail;
				join_and_check("a part of the headers");
				expect((stream.num_records == 1) == (avail >= need),
				       "%d: %u bytes of %u", kind, avail, need);
			}
		}
	}
}

/* Without a chain nobody counts packets; memory for one is not needed. */
static void a_chain_is_optional(void)
{
	struct gsotun_join_packet k;
	struct gsotun_join *j;
	struct gsotun_vnet v;
	u32 i, g;
	u8 *out;

	make_pair(TCP4);
	j = malloc(gsotun_join_size(1));
	if (!j)
		abort();
	gsotun_join_init(j, 1, ALL, 0, NULL);
	for (i = 0; i < 2; i++) {
		const struct packet *p = &stream.packets[i];

		expect(!gsotun_join_parse(j, &k, p->b, p->len, p->len, 0), "packet %u", i);
		k.cookie = 0xffffff00 + i;
		expect(gsotun_join_decide(j, &k, &g) == (i ? JOIN_APPEND : JOIN_START), "%u", i);
		expect(gsotun_join_verify(&k, payload_sum(p->b + s.hdr_len, 100)), "%u", i);
		expect(!gsotun_join_add(j, &k, g), "%u", i);
	}
	expect(j->group[g].first == 0xffffff00 && j->group[g].last == 0xffffff01 &&
	       j->group[g].count == 2 && j->group[g].payload == 200, "the group");
	out = edge_open(&out_edge, s.hdr_len);
	gsotun_join_finish(j, g, &v, out);
	expect(v.gso_size == 100 && be16(out + 2) == s.hdr_len + 200, "%u", be16(out + 2));
	free(j);
}

/* Also of packets that are passed on alone: the kernel can make use of it. */
static void verifying_any_packet(void)
{
	struct gsotun_join_packet k;
	struct gsotun_join *j = malloc(gsotun_join_size(1));
	int round, kind, wrong;
	u32 sum;

	if (!j)
		abort();
	gsotun_join_init(j, 1, ALL, 0, NULL);
	for (round = 0; round < 5000; round++) {
		kind = (int)below(KINDS);
		make_plain(&s, kind, below(50));
		noise_bytes(s.b + s.hdr_len, s.len - s.hdr_len);
		if (is_tcp(kind))
			s.b[s.l4_off + 13] = (u8)noise();
		slow_csums(s.b, s.len);
		wrong = (int)below(3);
		if (wrong == 1)
			s.b[s.l4_off + below(4)] ^= 1;
		if (wrong == 2)
			put_be16(s.b + s.l4_off + (is_tcp(kind) ? 16 : 6), is_tcp(kind) ? 1 : 0);
		gsotun_join_parse(j, &k, s.b, s.len, s.len, 0);
		expect(k.scope == JOIN_SCOPE_FLOW, "%u", k.scope);
		sum = payload_sum(s.b + s.hdr_len, s.len - s.hdr_len);
		expect(gsotun_join_verify(&k, sum) == !wrong, "%d: wrong %d", kind, wrong);
		gsotun_join_parse(j, &k, s.b, 24, s.len, 0);
		expect(!gsotun_join_verify(&k, 0), "nothing to be known from 24 bytes");
	}
	free(j);
}

static void reasons(void)
{
	static const struct {
		int kind;
		u32 at;
		u8 value;
		int why;
	} cases[] = {
		{ TCP4, 1, 0, JOIN_FITS },
		{ TCP6, 1, 0, JOIN_FITS },
		{ UDP4, 1, 0, JOIN_FITS },
		{ UDP6, 1, 0, JOIN_FITS },
		{ TCP4, 0, 0x55, JOIN_NOT_IP },
		{ TCP4, 0, 0x46, JOIN_IP_OPTIONS },
		{ TCP6, 6, 60, JOIN_IP_OPTIONS },
		{ TCP4, 3, 1, JOIN_LENGTH },
		{ TCP6, 5, 1, JOIN_LENGTH },
		{ UDP4, 25, 1, JOIN_LENGTH },
		{ TCP4, 6, 0x20, JOIN_FRAGMENT },
		{ TCP6, 6, 44, JOIN_FRAGMENT },
		{ TCP4, 9, 50, JOIN_PROTO },
		{ TCP6, 6, 50, JOIN_PROTO },
		{ TCP4, 32, 0x40, JOIN_L4_HEADER },
		{ TCP4, 33, SYN, JOIN_FLAGS },
	};
	struct gsotun_join *j = malloc(gsotun_join_size(1));
	struct gsotun_join_packet k;
	size_t i;
	int why;

	if (!j)
		abort();
	gsotun_join_init(j, 1, ALL, 0, NULL);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		make_plain(&s, cases[i].kind, 100);
		slow_csums(s.b, s.len);
		if (s.b[cases[i].at] != cases[i].value) {
			s.b[cases[i].at] = cases[i].value;
			if (s.b[0] == 0x45)
				slow_ipv4_csum(s.b);
		}
		if (cases[i].why == JOIN_IP_OPTIONS && cases[i].kind == TCP6)
			s.b[41] = 200;
		why = gsotun_join_parse(j, &k, s.b, min_u32(s.len, PLAN_HDR_MAX), s.len, 0);
		expect(why == cases[i].why && (u32)why == k.why, "case %zu: %d, not %d", i,
		       cases[i].why, why);
	}
	free(j);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(no_bit_is_lost),
	KTAP_TEST(what_a_joined_pair_may_differ_in),
	KTAP_TEST(flags_that_no_group_has),
	KTAP_TEST(a_wrong_checksum_is_passed_on),
	KTAP_TEST(one_wrong_packet_does_not_stop_the_others),
	KTAP_TEST(the_other_zero_is_passed_on),
	KTAP_TEST(valid_data_are_not_verified),
	KTAP_TEST(extension_headers_are_verified),
	KTAP_TEST(only_what_was_asked_for),
	KTAP_TEST(any_part_of_the_headers),
	KTAP_TEST(a_chain_is_optional),
	KTAP_TEST(verifying_any_packet),
	KTAP_TEST(reasons),
};

int main(void)
{
	return join_main(tests, ARRAY_SIZE(tests));
}
