// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * plan_test.c - gsotun_plan_parse() at every border of every field, and on noise.
 */
#include "plan_util.h"

/* ---- the virtio_net_hdr ---- */

static void vnet_is_little_endian(void)
{
	static const u8 le[] = { 0x01, 0x85, 0x34, 0x12, 0xff, 0x80, 0x00, 0x01, 0xfe, 0xff };
	static const struct gsotun_vnet v = {
		.flags = 1, .gso_type = 0x85, .hdr_len = 0x1234, .gso_size = 0x80ff,
		.csum_start = 0x0100, .csum_offset = 0xfffe,
	};
	u8 bytes[VNET_LEN_MIN + 2] = { 0 };
	struct gsotun_vnet got;

	gsotun_vnet_get(&got, le);
	expect(!memcmp(&got, &v, sizeof(v)), "the fields");
	memset(bytes, 0xaa, sizeof(bytes));
	gsotun_vnet_put(&v, bytes + 1);
	expect(!memcmp(bytes + 1, le, sizeof(le)), "the bytes");
	expect(bytes[0] == 0xaa && bytes[VNET_LEN_MIN + 1] == 0xaa, "no other byte");
}

static void hdr_len_is_a_hint(void)
{
	static struct sample s;
	struct gsotun_plan first, p;
	u32 hdr_len;
	int kind;

	for (kind = 0; kind < KINDS; kind++) {
		make(&s, kind, 250);
		parse(&first, &s.v, s.b, s.len);
		for (hdr_len = 0; hdr_len <= 0xffff; hdr_len++) {
			s.v.hdr_len = (u16)hdr_len;
			if (hdr_len > s.len) {
				expect_refused(&s, GSOTUN_DROP_HDR_LEN, "hdr_len too large");
				continue;
			}
			expect(!parse(&p, &s.v, s.b, s.len) && !memcmp(&p, &first, sizeof(p)),
			       "hdr_len %u to change nothing", hdr_len);
		}
	}
}

static void gso_types_are_those_of_the_packet(void)
{
	static const int types[] = { 1, 4, 5, 5 };
	static struct sample s;
	int kind, type;

	for (kind = 0; kind < KINDS; kind++) {
		make(&s, kind, 250);
		for (type = 0; type < 256; type++) {
			int t = type & 0x7f;
			bool known = t == 1 || t == 4 || type == 5 || !type;
			bool fits = !type || t == types[kind];

			s.v.gso_type = (u8)type;
			if (!known)
				expect_refused(&s, GSOTUN_DROP_GSO_TYPE, "an unknown type");
			else if (!fits)
				expect_refused(&s, GSOTUN_DROP_GSO_PROTO, "a wrong type");
			else
				expect_accepted(&s, "the right type");
		}
	}
}

static void flags_say_what_the_checksum_is(void)
{
	static struct sample s;
	int kind, flags;

	for (kind = 0; kind < KINDS; kind++) {
		make(&s, kind, 250);
		for (flags = 0; flags < 256; flags++) {
			s.v.flags = (u8)flags;
			if (is_tcp(kind) || flags & VNET_F_NEEDS_CSUM)
				expect_accepted(&s, "whatever other flags there are");
			else
				expect_refused(&s, GSOTUN_DROP_CSUM, "USO without NEEDS_CSUM");
		}
	}
}

/* A product of 16 bits, or 65535 = 3 * 5 * 17 * 257, must not surprise anyone. */
static void segments_are_counted_in_32_bits(void)
{
	static const u16 sizes[] = { 1, 2, 3, 5, 7, 8, 17, 257, 13107, 65534 };
	static struct sample s;
	struct gsotun_plan p;
	u32 payload, want;
	size_t i;
	int kind, reason, drop;

	for (kind = 0; kind < KINDS; kind++) {
		make(&s, kind, 0);
		for (i = 0; i < ARRAY_SIZE(sizes); i++) {
			s.v.gso_size = sizes[i];
			for (payload = 0; payload <= LEN_MAX - s.hdr_len; payload++) {
				resize(&s, kind, payload);
				want = payload / sizes[i] + !!(payload % sizes[i]);
				reason = 0;
				if (is_tcp(kind) && sizes[i] < 8 && want > 1)
					reason = GSOTUN_DROP_GSO_SIZE;
				else if (!is_tcp(kind) && want > 128)
					reason = GSOTUN_DROP_GSO_SEGS;
				drop = parse(&p, &s.v, s.b, s.len);
				expect(drop == reason, "%u by %u: %d", payload, sizes[i], drop);
				if (!drop)
					expect(p.segs == (want ? want : 1), "%u bytes by %u: %u",
					       payload, sizes[i], p.segs);
			}
		}
	}
}

static void every_gso_size_is_bounded(void)
{
	static struct sample s;
	u32 size;
	int kind;

	for (kind = 0; kind < KINDS; kind++) {
		make(&s, kind, 1280);
		for (size = 0; size <= 0xffff; size++) {
			s.v.gso_size = (u16)size;
			if (!size || size == 0xffff || (is_tcp(kind) && size < 8))
				expect_refused(&s, GSOTUN_DROP_GSO_SIZE, "a size");
			else if (!is_tcp(kind) && size < 10)
				expect_refused(&s, GSOTUN_DROP_GSO_SEGS, "many segments");
			else
				expect_accepted(&s, "a size");
		}
	}
}

static void a_payload_that_fits_is_no_gso(void)
{
	static struct sample s;
	struct gsotun_plan p;
	int kind, flags;
	u32 payload;

	for (kind = 0; kind < KINDS; kind++) {
		make(&s, kind, 0);
		if (is_tcp(kind))
			s.v.gso_type |= VNET_GSO_ECN;
		for (flags = 0; flags < 4; flags++) {
			s.v.flags = (u8)flags;
			if (!is_tcp(kind) && !(flags & VNET_F_NEEDS_CSUM))
				continue;
			for (payload = 0; payload <= 102; payload++) {
				resize(&s, kind, payload);
				expect_accepted(&s, "a small packet");
				parse(&p, &s.v, s.b, s.len);
				expect((p.gso_type != VNET_GSO_NONE) == (payload > 100),
				       "payload %u: %u", payload, p.gso_type);
				expect(p.hdr_len == s.hdr_len, "%u: %u", payload, p.hdr_len);
				expect(p.csum_start == s.l4_off, "payload %u", payload);
			}
		}
	}
}

/* ---- checksums ---- */

/* 0 to @n, and then some that wrap in 16 bits or look like negative numbers */
static bool next_csum_value(u32 *x, u32 n)
{
	static const u32 far[] = { 32766, 32768, 65472, 65516, 65533, 65534, 65535 };
	size_t i;

	if (*x < n) {
		++*x;
		return true;
	}
	for (i = 0; i < ARRAY_SIZE(far); i++) {
		if (*x < far[i]) {
			*x = far[i];
			return true;
		}
	}
	return false;
}

static void plain_checksums_lie_behind_the_ip_header(void)
{
	static const u32 payloads[] = { 0, 1, 33, 470, 700 };
	static struct sample s;
	u32 start, offset, avail;
	size_t i;
	int kind;

	for (kind = 0; kind < KINDS; kind++) {
		for (i = 0; i < ARRAY_SIZE(payloads); i++) {
			make_plain(&s, kind, payloads[i]);
			s.v.flags = VNET_F_NEEDS_CSUM;
			avail = min_u32(s.len, PLAN_HDR_MAX);
			start = 0;
			do {
				offset = 0;
				do {
					s.v.csum_start = (u16)start;
					s.v.csum_offset = (u16)offset;
					if (start >= s.l4_off && start + offset + 2 <= avail)
						expect_accepted(&s, "inside");
					else
						expect_refused(&s, GSOTUN_DROP_CSUM, "outside");
				} while (next_csum_value(&offset, avail + 3));
			} while (next_csum_value(&start, avail + 3));
		}
	}
}

static void gso_checksums_are_the_protocols(void)
{
	static struct sample s;
	u32 x;
	int kind;

	for (kind = 0; kind < KINDS; kind++) {
		for (x = 0; x <= 0xffff; x++) {
			make(&s, kind, 0);
			resize(&s, kind, 250);
			s.v.csum_start = (u16)x;
			if (x == s.l4_off)
				expect_accepted(&s, "the right start");
			else
				expect_refused(&s, GSOTUN_DROP_CSUM, "a wrong start");
			s.v.csum_start = (u16)s.l4_off;
			s.v.csum_offset = (u16)x;
			if (x == (is_tcp(kind) ? 16 : 6))
				expect_accepted(&s, "the right offset");
			else
				expect_refused(&s, GSOTUN_DROP_CSUM, "a wrong offset");
		}
	}
}

/* ---- IP headers ---- */

static void ip_lengths_are_the_packets(void)
{
	static struct sample s;
	u32 said;
	int kind;

	for (kind = 0; kind < KINDS; kind++) {
		bool v4 = kind == TCP4 || kind == UDP4;

		make_plain(&s, kind, 250);
		for (said = 0; said <= 0xffff; said++) {
			put_be16(s.b + (v4 ? 2 : 4), said);
			if (said == (v4 ? s.len : s.len - 40))
				expect_accepted(&s, "the right length");
			else
				expect_refused(&s, GSOTUN_DROP_IP_LENGTH, "a wrong length");
		}
	}
}

static void ip_versions_and_header_lengths(void)
{
	static struct sample s;
	u32 first, ihl, len;

	for (first = 0; first < 256; first++) {
		for (len = 0; len < 80; len++) {
			memset(&s, 0, sizeof(s));
			s.len = len;
			s.b[0] = (u8)first;
			ihl = (first & 15) * 4;
			switch (first >> 4) {
			case 4:
				put_be16(s.b + 2, len);
				if (len < 20)
					expect_refused(&s, GSOTUN_DROP_SHORT, "a stub");
				else if (ihl < 20 || ihl > len)
					expect_refused(&s, GSOTUN_DROP_IP_HEADER, "ihl");
				else
					expect_accepted(&s, "ihl");
				break;
			case 6:
				put_be16(s.b + 4, len - 40);
				if (len < 20)
					expect_refused(&s, GSOTUN_DROP_SHORT, "a stub");
				else if (len < 40)
					expect_refused(&s, GSOTUN_DROP_IP_HEADER, "half a header");
				else
					expect_accepted(&s, "IPv6");
				break;
			default:
				expect_refused(&s, len < 20 ? GSOTUN_DROP_SHORT :
							      GSOTUN_DROP_IP_VERSION, "a version");
			}
		}
	}
}

static void fragments_are_no_gso(void)
{
	static struct sample s;
	static const int kinds[] = { TCP4, UDP4 };
	u32 frag;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		for (frag = 0; frag <= 0xffff; frag++) {
			make(&s, kinds[i], 0);
			resize(&s, kinds[i], 250);
			put_be16(s.b + 6, frag);
			/* DF and the reserved bit are not a fragment's */
			if (frag & 0x3fff)
				expect_refused(&s, GSOTUN_DROP_FRAGMENT, "a fragment");
			else
				expect_accepted(&s, "no fragment");
			memset(&s.v, 0, sizeof(s.v));
			expect_accepted(&s, "a plain packet");
		}
	}
}

static void protocols_that_are_no_gso(void)
{
	static struct sample s;
	int kind, proto;

	for (kind = 0; kind < KINDS; kind++) {
		for (proto = 0; proto < 256; proto++) {
			bool v6 = kind == TCP6 || kind == UDP6;

			make(&s, kind, 250);
			s.b[v6 ? 6 : 9] = (u8)proto;
			if (proto == (is_tcp(kind) ? 6 : 17))
				expect_accepted(&s, "the protocol");
			else if (v6 && proto == 44)
				expect_refused(&s, GSOTUN_DROP_FRAGMENT, "a fragment");
			else if (v6 && (proto == 0 || proto == 43 || proto == 60))
				continue;	/* reads what follows as an extension header */
			else
				expect_refused(&s, GSOTUN_DROP_GSO_PROTO, "a protocol");
			memset(&s.v, 0, sizeof(s.v));
			expect_accepted(&s, "a plain packet");
		}
	}
}

static void addresses_and_payload_do_not_matter(void)
{
	static struct sample s;
	struct gsotun_plan first, p;
	u32 i, n;
	int kind;

	for (kind = 0; kind < KINDS; kind++) {
		for (n = 0; n < 200; n++) {
			make(&s, kind, 250);
			parse(&first, &s.v, s.b, s.len);
			for (i = s.hdr_len; i < s.len; i++)
				s.b[i] = (u8)noise();
			for (i = s.l4_off == 20 ? 12 : 8; i < s.l4_off + 4; i++)
				s.b[i] = (u8)noise();
			expect(!parse(&p, &s.v, s.b, s.len) && !memcmp(&p, &first, sizeof(p)),
			       "the same plan");
		}
	}
}

/* Builds chains of extension headers with lengths and types by chance. */
static void extension_headers_are_walked(void)
{
	static const u8 types[] = { 0, 43, 60 };
	static struct sample s;
	struct gsotun_plan p;
	u32 n, num, i, off, ext_len;
	u8 *next;
	int drop;

	for (n = 0; n < 50000; n++) {
		u32 l4_len = noise() % 2 ? 20 : 8;

		make(&s, l4_len == 20 ? TCP6 : UDP6, 0);
		next = s.b + 6;
		off = 40;
		num = noise() % 6;
		for (i = 0; i < num; i++) {
			ext_len = 8 + 8 * (noise() % (noise() % 4 ? 8 : 40));
			*next = types[noise() % 3];
			next = s.b + off;
			s.b[off + 1] = (u8)(ext_len / 8 - 1);
			off += ext_len;
		}
		*next = l4_len == 20 ? 6 : 17;
		s.b[off + 12] = l4_len == 20 ? 0x50 : 0;
		s.l4_off = off;
		s.hdr_len = off + l4_len;
		s.v.csum_start = (u16)off;
		resize(&s, l4_len == 20 ? TCP6 : UDP6, 250);

		drop = parse(&p, &s.v, s.b, s.len);
		if (s.hdr_len > PLAN_HDR_MAX) {
			expect(drop == GSOTUN_DROP_IP_OPTIONS, "%u bytes to be too long, %d",
			       s.hdr_len, drop);
			continue;
		}
		expect(!drop && p.l4_off == off && p.hdr_len == s.hdr_len,
		       "%u headers, %u bytes: %d", num, off, drop);
		*next = 44;
		expect_refused(&s, GSOTUN_DROP_FRAGMENT, "a fragment header at the end");
		*next = 50;
		expect_refused(&s, GSOTUN_DROP_GSO_PROTO, "ESP at the end");
	}
}

/* ---- transport headers ---- */

static void tcp_headers_are_inside(void)
{
	static const int kinds[] = { TCP4, TCP6 };
	static struct sample s;
	u32 doff, behind;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		for (doff = 0; doff < 256; doff++) {
			for (behind = 0; behind < 70; behind++) {
				u32 tcp_len = (doff >> 4) * 4;

				make(&s, kinds[i], 0);
				s.b[s.l4_off + 12] = (u8)doff;
				s.hdr_len = s.l4_off;
				resize(&s, kinds[i], behind);
				if (behind < 20 || tcp_len < 20 || tcp_len > behind)
					expect_refused(&s, GSOTUN_DROP_L4_HEADER, "a TCP header");
				else
					expect_accepted(&s, "a TCP header");
				memset(&s.v, 0, sizeof(s.v));
				expect_accepted(&s, "a plain packet");
			}
		}
	}
}

static void udp_lengths_are_the_payloads(void)
{
	static const int kinds[] = { UDP4, UDP6 };
	static const u32 payloads[] = { 0, 50, 250 };
	static struct sample s;
	u32 said;
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		for (j = 0; j < ARRAY_SIZE(payloads); j++) {
			make(&s, kinds[i], payloads[j]);
			for (said = 0; said <= 0xffff; said++) {
				put_be16(s.b + s.l4_off + 4, said);
				if (said == 8 + payloads[j])
					expect_accepted(&s, "the right length");
				else
					expect_refused(&s, GSOTUN_DROP_UDP_LENGTH, "a length");
			}
			make_plain(&s, kinds[i], payloads[j]);
			put_be16(s.b + s.l4_off + 4, 3);
			expect_accepted(&s, "a plain packet");
		}
		for (said = 0; said < 8; said++) {
			make(&s, kinds[i], 0);
			s.hdr_len = s.l4_off;
			resize(&s, kinds[i], said);
			expect_refused(&s, GSOTUN_DROP_L4_HEADER, "half a UDP header");
		}
	}
}

/* ---- lengths, and noise ---- */

static void a_packet_has_65535_bytes_at_most(void)
{
	static const u32 lens[] = { 65536, 65575, 65576, 131072, 0x80000000, 0xffffffff };
	static struct sample s;
	struct gsotun_plan p;
	size_t i;
	int kind;

	for (kind = 0; kind < KINDS; kind++) {
		make(&s, kind, 0);
		s.v.gso_size = 1400;
		resize(&s, kind, LEN_MAX - s.hdr_len);
		expect_accepted(&s, "the longest packet");
		for (i = 0; i < ARRAY_SIZE(lens); i++) {
			if (kind == TCP6)	/* IPv6 can say so much */
				put_be16(s.b + 4, lens[i] - 40);
			expect(parse_some(&p, &s.v, s.b, PLAN_HDR_MAX, lens[i], ALL) ==
			       GSOTUN_DROP_LENGTH, "%u", lens[i]);
		}
	}
}

/* @avail may be what the caller has, not only what the packet has. */
static void bytes_behind_the_packet_are_not_read(void)
{
	static struct sample s;
	struct gsotun_plan p;
	u8 *hdr;
	u32 len;
	int kind;

	for (kind = 0; kind < KINDS; kind++) {
		for (len = 1; len < 120; len++) {
			make(&s, kind, 80);
			s.len = len;
			put_be16(s.b + (kind == TCP4 || kind == UDP4 ? 2 : 4),
				 kind == TCP4 || kind == UDP4 ? len : len - 40);
			hdr = copy_end - len;
			memcpy(hdr, s.b, len);
			gsotun_plan_parse(&p, &s.v, hdr, PLAN_HDR_MAX, len, ALL);
			expect(p.hdr_len <= len, "%u of %u", p.hdr_len, len);
		}
	}
}

static void plain_packets_keep_their_headers_together(void)
{
	static struct sample s;
	struct gsotun_plan p;
	u32 payload;
	int kind;

	for (kind = 0; kind < KINDS; kind++) {
		for (payload = 0; payload < 600; payload++) {
			make_plain(&s, kind, payload);
			expect(!parse(&p, &s.v, s.b, s.len) &&
			       p.hdr_len == min_u32(s.l4_off + 20, s.len), "%u", p.hdr_len);
		}
	}
}

static void noise_does_no_harm(void)
{
	static const u8 types[] = { 0, 1, 4, 5 };
	static struct sample s;
	struct gsotun_plan p;
	u32 n, i, avail;

	for (n = 0; n < 1000000; n++) {
		memset(&s.v, 0, sizeof(s.v));
		s.len = noise() % (noise() % 2 ? 70 : 700);
		avail = min_u32(s.len, PLAN_HDR_MAX);
		for (i = 0; i < s.len; i++)
			s.b[i] = (u8)noise();
		s.b[0] = noise() % 2 ? 0x45 : 0x60;
		if (noise() % 4) {	/* else nothing but lengths would be tested */
			put_be16(s.b + 2, s.b[0] == 0x45 ? s.len : be16(s.b + 2));
			put_be16(s.b + 4, s.b[0] == 0x60 ? s.len - 40 : be16(s.b + 4));
		}
		s.v.flags = (u8)noise();
		s.v.gso_type = types[noise() % 4];
		s.v.gso_size = (u16)noise();
		s.v.csum_start = (u16)(noise() % 128);
		s.v.csum_offset = (u16)(noise() % 32);
		if (!parse(&p, &s.v, s.b, s.len))
			check_plan(&p, &s.v, s.b, avail, s.len);
	}
}

/* Good packets with a few bytes changed: what passes must still be consistent. */
static void changed_bytes_do_no_harm(void)
{
	static const u32 sizes[] = { 0, 1, 99, 100, 101, 250, 3000 };
	static struct sample s;
	struct gsotun_plan p;
	u32 n, i, at, accepted = 0;
	u8 le[VNET_LEN_MIN];

	for (n = 0; n < 1000000; n++) {
		make(&s, (int)(noise() % KINDS), sizes[noise() % ARRAY_SIZE(sizes)]);
		gsotun_vnet_put(&s.v, le);
		for (i = noise() % 3; i; i--) {
			at = noise() % (VNET_LEN_MIN + s.hdr_len);
			if (at < VNET_LEN_MIN)
				le[at] ^= (u8)(noise() % 2 ? noise() : 1u << noise() % 8);
			else
				s.b[at - VNET_LEN_MIN] ^= (u8)(1 << noise() % 8);
		}
		gsotun_vnet_get(&s.v, le);
		if (parse(&p, &s.v, s.b, s.len))
			continue;
		check_plan(&p, &s.v, s.b, min_u32(s.len, PLAN_HDR_MAX), s.len);
		accepted++;
	}
	expect(accepted > 100000 && accepted < 900000, "%u accepted", accepted);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(vnet_is_little_endian),
	KTAP_TEST(hdr_len_is_a_hint),
	KTAP_TEST(gso_types_are_those_of_the_packet),
	KTAP_TEST(flags_say_what_the_checksum_is),
	KTAP_TEST(segments_are_counted_in_32_bits),
	KTAP_TEST(every_gso_size_is_bounded),
	KTAP_TEST(a_payload_that_fits_is_no_gso),
	KTAP_TEST(plain_checksums_lie_behind_the_ip_header),
	KTAP_TEST(gso_checksums_are_the_protocols),
	KTAP_TEST(ip_lengths_are_the_packets),
	KTAP_TEST(ip_versions_and_header_lengths),
	KTAP_TEST(fragments_are_no_gso),
	KTAP_TEST(protocols_that_are_no_gso),
	KTAP_TEST(addresses_and_payload_do_not_matter),
	KTAP_TEST(extension_headers_are_walked),
	KTAP_TEST(tcp_headers_are_inside),
	KTAP_TEST(udp_lengths_are_the_payloads),
	KTAP_TEST(a_packet_has_65535_bytes_at_most),
	KTAP_TEST(bytes_behind_the_packet_are_not_read),
	KTAP_TEST(plain_packets_keep_their_headers_together),
	KTAP_TEST(noise_does_no_harm),
	KTAP_TEST(changed_bytes_do_no_harm),
};

int main(void)
{
	return plan_main(tests, ARRAY_SIZE(tests));
}
