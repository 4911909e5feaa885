// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * join_stream_test.c - joining: streams of several flows, whole and broken, and the
 * limits of groups.
 */
#include "join_util.h"

/* ---- superpackets that were cut ---- */

static void cut_superpackets_come_back_whole(void)
{
	int round, kind;

	for (round = 0; round < 4000; round++) {
		kind = (int)below(KINDS);
		stream_reset();
		stream.groups = 1 + below(8);
		random_joined(kind, 64);
		stream_add_cut(0);
		join_and_check("one superpacket");
		expect(stream.num_records == 1, "%d: %u records from %u packets", kind,
		       stream.num_records, stream.num);
		if (stream.num_records != 1)
			continue;
		expect(!memcmp(&stream.records[0].v, &s.v, sizeof(s.v)), "%d: the same vnet", kind);
		expect(stream.records[0].len == s.len &&
		       !memcmp(stream.records[0].b, s.b, s.len), "%d: the same bytes", kind);
	}
}

/* Eight flows at once, packets in turn, through eight groups. */
static void flows_do_not_disturb_each_other(void)
{
	static struct packet flows[8][64];
	u32 len[8], at[8], f, i, left, total;
	int round;

	for (round = 0; round < 200; round++) {
		stream_reset();
		for (total = 0, f = 0; f < 8; f++) {
			random_joined((int)(f % KINDS), 40);
			len[f] = slow_segs(&s.v, s.b, s.len);
			at[f] = 0;
			total += len[f];
			for (i = 0; i < len[f]; i++) {
				flows[f][i].len = slow_segment(&s.v, s.b, s.len, i, 0, cut);
				flows[f][i].b = copy_of(cut, flows[f][i].len);
			}
		}
		for (left = total; left;) {
			f = below(8);
			if (at[f] == len[f])
				continue;
			stream_add(flows[f][at[f]].b, flows[f][at[f]].len);
			free(flows[f][at[f]++].b);
			left--;
		}
		join_and_check("eight flows");
		expect(stream.num_records == 8, "%u records", stream.num_records);
	}
}

/*
 * Streams of a few flows in which anything may be wrong: a bit of a packet, its
 * length, its place. With the checksums made right again, or not.
 */
static void spoil(struct packet *p)
{
	u32 hdr_len = min_u32(p->len, 100);

	switch (below(6)) {
	case 0:		/* headers */
		p->b[below(hdr_len)] ^= (u8)(1u << below(8));
		break;
	case 1:		/* anything */
		p->b[below(p->len)] ^= (u8)(1u << below(8));
		break;
	case 2:		/* headers, but nobody can tell by the checksum */
		p->b[12 + below(hdr_len - 12)] ^= (u8)(1u << below(8));
		if (p->b[0] >> 4 == 4 ? p->b[0] == 0x45 && p->b[9] == 17 : p->b[6] == 17)
			slow_csums(p->b, p->len);
		break;
	case 3:		/* cut short */
		p->len = below(p->len);
		break;
	case 4:		/* cut short, and it knows */
		if (p->len < 100)
			break;
		p->len -= 1 + below(40);
		put_be16(p->b + (p->b[0] >> 4 == 4 ? 2 : 4), p->len - (p->b[0] >> 4 == 4 ? 0 : 40));
		if (p->b[0] >> 4 == 4)
			slow_ipv4_csum(p->b);
		break;
	default:	/* noise */
		noise_bytes(p->b + (one_in(2) ? 1 : 0), hdr_len - 1);
		break;
	}
}

static void broken_streams(void)
{
	struct packet tmp;
	int round;
	u32 i, k;

	for (round = 0; round < 1500; round++) {
		u32 flows = 1 + below(4);

		stream_reset();
		stream.groups = 1 + below(10);
		stream.hdr_avail = one_in(3) ? 20 + below(200) : PLAN_HDR_MAX;
		while (flows--) {
			random_joined((int)below(KINDS), 30);
			/* The same addresses now and then, so that flows are alike. */
			if (one_in(2)) {
				memset(s.b + (s.b[0] >> 4 == 4 ? 12 : 8), 7,
				       s.b[0] >> 4 == 4 ? 8 : 32);
				memset(s.b + s.l4_off, 9, one_in(2) ? 4 : 2);
				put_be16(s.b + s.l4_off + s.v.csum_offset,
					 slow_fold(slow_pseudo(s.b, s.len - s.l4_off)));
				if (s.b[0] >> 4 == 4)
					slow_ipv4_csum(s.b);
			}
			stream_add_cut(0);
		}
		for (i = 0; i < stream.num / 8; i++) {	/* out of order */
			k = below(stream.num - 1);
			tmp = stream.packets[k];
			stream.packets[k] = stream.packets[k + 1];
			stream.packets[k + 1] = tmp;
		}
		for (i = 0; i < stream.num / 16; i++) {	/* lost, and another one twice */
			k = below(stream.num - 1);
			free(stream.packets[k].b);
			stream.packets[k] = stream.packets[k + 1];
			stream.packets[k].b = copy_of(stream.packets[k].b, stream.packets[k].len);
		}
		for (i = 0; i < stream.num; i++)
			if (one_in(8))
				spoil(&stream.packets[i]);
		join_and_check("a broken stream");
	}
}

/* ---- geometry and limits ---- */

static void add_tcp(u32 seq, u32 len, u8 flags)
{
	make(&s, TCP6, len);
	put_be32(s.b + s.l4_off + 4, seq);
	s.b[s.l4_off + 13] = flags;
	slow_csums(s.b, s.len);
	stream_add(s.b, s.len);
}

static void expect_records(const char *what, const char *counts)
{
	char got[64] = "";
	size_t n = 0;
	u32 i;

	join_and_check(what);
	for (i = 0; i < stream.num_records && n < sizeof(got) - 12; i++)
		n += (size_t)snprintf(got + n, sizeof(got) - n, "%s%u", i ? " " : "",
				      stream.records[i].num);
	expect(!strcmp(got, counts), "%s: records of %s, not %s", what, counts, got);
	stream_reset();
}

static void sizes_of_a_group(void)
{
	stream_reset();
	add_tcp(0, 100, ACK);
	add_tcp(100, 99, ACK);
	add_tcp(199, 99, ACK);
	expect_records("a shorter one ends it", "2 1");
	add_tcp(0, 100, ACK);
	add_tcp(100, 101, ACK);
	add_tcp(201, 101, ACK);
	expect_records("a longer one starts anew", "1 2");
	add_tcp(0, 100, ACK);
	add_tcp(101, 100, ACK);
	expect_records("a gap", "1 1");
	add_tcp(0, 100, ACK);
	add_tcp(99, 100, ACK);
	expect_records("an overlap", "1 1");
	add_tcp(100, 100, ACK);
	add_tcp(0, 100, ACK);
	expect_records("the wrong order", "1 1");
	add_tcp(0xffffffce, 100, ACK);
	add_tcp(50, 100, ACK);
	add_tcp(150, 1, ACK);
	expect_records("over the wrap", "3");
	add_tcp(0, 0, ACK);
	add_tcp(0, 0, ACK);
	expect_records("no payload", "1 1");
	add_tcp(0, 100, ACK);
	add_tcp(100, 0, ACK);
	add_tcp(100, 100, ACK);
	expect_records("no payload between", "1 1 1");
	add_tcp(0, 7, ACK);
	add_tcp(7, 7, ACK);
	expect_records("a size that cannot be cut", "1 1");
	add_tcp(0, 8, ACK);
	add_tcp(8, 8, ACK);
	add_tcp(16, 7, ACK);
	expect_records("the least size", "3");
	add_tcp(0, 100, ACK | PSH);
	add_tcp(100, 100, ACK);
	add_tcp(200, 100, ACK | PSH);
	add_tcp(300, 100, ACK);
	add_tcp(400, 100, ACK | FIN);
	add_tcp(500, 100, ACK);
	expect_records("PSH and FIN end it", "1 2 2 1");
	add_tcp(0, 100, ACK);
	add_tcp(100, 50, ACK | PSH);
	add_tcp(150, 100, ACK);
	expect_records("PSH on a short one", "2 1");
}

/* A superpacket may have 65,535 bytes, and not one more. */
static void limits_of_a_group(void)
{
	u32 size, i, excess;

	for (excess = 0; excess < 2; excess++) {
		stream_reset();
		/* 60 bytes of headers, and 5 * 13,095 bytes of payload */
		size = (65535 - 60) / 5;
		for (i = 0; i < 5; i++)
			add_tcp(i * size, size, ACK);
		if (excess)
			add_tcp(i * size, 1, ACK);
		join_and_check("64 KiB");
		expect(record_of(0)->len == 65535 && record_of(0)->num == 5, "%u bytes",
		       record_of(0)->len);
		expect(stream.num_records == 1 + excess, "%u records", stream.num_records);
	}
	stream_reset();
	for (i = 0; i < 6; i++)
		add_tcp(i * (size + 1), size + 1, ACK);
	expect_records("one byte too many", "4 2");

	make(&s, UDP4, 0);
	for (i = 0; i < 130; i++) {
		make(&s, UDP4, 10);
		put_be16(s.b + 4, i);
		slow_csums(s.b, s.len);
		stream_add(s.b, s.len);
	}
	expect_records("64 datagrams", "64 64 2");
	for (i = 0; i < 500; i++)
		add_tcp(i * 8, 8, ACK);
	expect_records("no such limit in TCP", "500");
}

/* ---- flows and groups ---- */

static void add_udp(u8 flow, u32 id, u32 len)
{
	make(&s, UDP4, len);
	s.b[15] = flow;
	put_be16(s.b + 4, id);
	slow_csums(s.b, s.len);
	stream_add(s.b, s.len);
}

/* Records in the order in which they came out, by their first packets. */
static void expect_order(const char *what, const char *firsts)
{
	char got[64] = "";
	size_t n = 0;
	u32 i;

	join_and_check(what);
	for (i = 0; i < stream.num_records && n < sizeof(got) - 12; i++)
		n += (size_t)snprintf(got + n, sizeof(got) - n, "%s%u", i ? " " : "",
				      stream.records[i].members[0]);
	expect(!strcmp(got, firsts), "%s: %s, not %s", what, firsts, got);
	stream_reset();
}

static void the_group_that_waits_longest_makes_room(void)
{
	u8 f;

	stream_reset();
	stream.groups = 3;
	add_udp(1, 0, 10);	/* 0 */
	add_udp(2, 0, 10);	/* 1 */
	add_udp(3, 0, 10);	/* 2 */
	add_udp(1, 1, 10);
	add_udp(4, 0, 10);	/* 4: not 0, which got a packet since */
	add_udp(3, 1, 10);
	add_udp(5, 0, 10);	/* 6 */
	add_udp(4, 1, 10);
	expect_order("three groups", "1 0 2 6 4");

	stream.groups = 1;
	for (f = 0; f < 4; f++)
		add_udp(f, 0, 10);
	add_udp(3, 1, 10);
	expect_order("one group", "0 1 2 3");

	/* Nothing makes room for a packet that needs none. */
	stream.groups = 1;
	add_udp(1, 0, 10);
	add_udp(2, 0, 0);
	add_udp(1, 1, 10);
	expect_order("no room needed", "1 0");
}

/* Other packets of the same hosts wait, or pass, by what is known of them. */
static void packets_of_unknown_flows(void)
{
	static const struct {
		const char *what;
		u32 at;
		u8 value;
		bool waits;
	} cases[] = {
		{ "IPv4 options", 0, 0x46, true },
		{ "ihl 4", 0, 0x44, true },
		{ "a fragment", 6, 0x20, true },
		{ "a last fragment", 7, 0x07, true },
		{ "a reserved bit", 6, 0x80, true },
		{ "another length", 3, 0x07, true },
		{ "a wrong checksum", 11, 0x77, true },
		{ "ICMP", 9, 1, false },
		{ "IPv5", 0, 0x55, false },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		stream_reset();
		add_udp(1, 0, 10);	/* 0 */
		add_udp(2, 0, 10);	/* 1 */
		add_udp(1, 1, 10);	/* 2 */
		stream.packets[2].b[cases[i].at] = cases[i].value;
		if (cases[i].at != 11 && cases[i].at != 0)
			slow_ipv4_csum(stream.packets[2].b);
		expect_order(cases[i].what, cases[i].waits ? "0 2 1" : "2 0 1");
	}

	/* Two protocols between the same hosts are two groups, and a fragment waits for both. */
	stream_reset();
	add_udp(0, 0, 100);
	make(&s, TCP4, 100);
	slow_csums(s.b, s.len);
	stream_add(s.b, s.len);
	add_udp(0, 1, 100);
	stream.packets[2].b[6] = 0x20;
	slow_ipv4_csum(stream.packets[2].b);
	expect_order("a fragment between two flows", "0 1 2");

	/* TCP cut short before its flags are known. */
	add_tcp(0, 100, ACK);
	add_tcp(100, 100, ACK);
	stream.packets[1].len = 40 + 13;
	put_be16(stream.packets[1].b + 4, 13);
	add_tcp(100, 100, ACK);
	expect_records("a TCP header cut short", "1 1 1");
}

/* Both directions between two equal ports, and two protocols: four flows. */
static void flows_that_are_alike(void)
{
	static const int kinds[] = { UDP4, TCP4, UDP6, TCP6 };
	u32 i, k, at, len, flow;
	u8 address[16];

	stream_reset();
	for (i = 0; i < 3; i++) {
		for (flow = 0; flow < 8; flow++) {
			k = flow / 2;
			make(&s, kinds[k], 50);
			noise_bytes(s.b + s.hdr_len, 50);
			at = kinds[k] == UDP4 || kinds[k] == TCP4 ? 12 : 8;
			len = at == 12 ? 4 : 16;
			s.b[at] = 10;
			s.b[at + len] = 20;
			put_be32(s.b + s.l4_off, 0xca6cca6c);
			if (at == 12)
				put_be16(s.b + 4, i);
			if (is_tcp(kinds[k]))
				put_be32(s.b + s.l4_off + 4, i * 50);
			if (flow % 2) {
				memcpy(address, s.b + at, len);
				memcpy(s.b + at, s.b + at + len, len);
				memcpy(s.b + at + len, address, len);
			}
			slow_csums(s.b, s.len);
			stream_add(s.b, s.len);
		}
	}
	expect_records("flows that are alike", "3 3 3 3 3 3 3 3");

	/* Ports and addresses that differ in the same bits. */
	for (i = 0; i < 6; i++) {
		make(&s, UDP4, 50);
		put_be16(s.b + 4, i / 2);
		s.b[15] = i % 2 ? 7 : 0;
		s.b[23] = i % 2 ? 7 : 0;
		slow_csums(s.b, s.len);
		stream_add(s.b, s.len);
	}
	expect_records("flows with one key", "3 3");
}

static void ids_that_stay(void)
{
	u32 allowed, df, step, i;

	for (allowed = 0; allowed < 2; allowed++) {
		for (df = 0; df < 2; df++) {
			for (step = 0; step < 3; step++) {
				stream_reset();
				stream.init_flags = allowed ? JOIN_FIXED_ID : 0;
				for (i = 0; i < 4; i++) {
					add_udp(1, 0xffff + i * step, 10);
					stream.packets[i].b[6] = df ? 0x40 : 0;
					slow_ipv4_csum(stream.packets[i].b);
				}
				join_and_check("ids");
				expect((stream.num_records == 1) ==
				       (step == 1 || (step == 0 && df && allowed)),
				       "allowed %u, DF %u, step %u: %u records", allowed, df, step,
				       stream.num_records);
				expect(record_of(0)->num == 1 || record_of(0)->fixed_id == !step,
				       "step %u", step);
			}
		}
	}
	/* Neither kind turns into the other, and the next group decides anew. */
	stream_reset();
	stream.init_flags = JOIN_FIXED_ID;
	for (i = 0; i < 12; i++) {
		static const u32 ids[] = { 5, 5, 5, 6, 7, 7, 7, 8, 9, 9, 10, 0 };

		add_udp(1, ids[i], 10);
		stream.packets[i].b[6] = 0x40;
		slow_ipv4_csum(stream.packets[i].b);
	}
	expect_records("changing ids", "3 2 2 2 2 1");
}

static const struct ktap_test tests[] = {
	KTAP_TEST(cut_superpackets_come_back_whole),
	KTAP_TEST(flows_do_not_disturb_each_other),
	KTAP_TEST(broken_streams),
	KTAP_TEST(sizes_of_a_group),
	KTAP_TEST(limits_of_a_group),
	KTAP_TEST(the_group_that_waits_longest_makes_room),
	KTAP_TEST(packets_of_unknown_flows),
	KTAP_TEST(flows_that_are_alike),
	KTAP_TEST(ids_that_stay),
};

int main(void)
{
	return join_main(tests, ARRAY_SIZE(tests));
}
