// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * train_test.c - where the segments of a packet lie in trains.
 */
#include "cut_util.h"
#include "seg.h"

static u64 slow_padded(const struct gsotun_layout *l, u32 len)
{
	u64 padded = (u64)len + l->pad_extra;

	while (l->pad_to && padded % l->pad_to)
		padded++;
	if (l->pad_cap && len > l->pad_cap)
		return len;
	return l->pad_cap && padded > l->pad_cap ? l->pad_cap : padded;
}

/* The lengths of the segments of a train, laid down one after the other. */
static u64 slow_extent(const struct gsotun_layout *l, const struct gsotun_trains *t,
		       const struct gsotun_plan *p, u32 segs, bool ends)
{
	u32 last = p->segs > 1 ? p->len - (p->segs - 1) * p->gso_size : p->len;
	u32 full = p->segs > 1 ? p->hdr_len + p->gso_size : p->len;

	return (u64)(segs - 1) * t->stride + l->headroom +
	       slow_padded(l, ends ? last : full) + l->tailroom;
}

static void check_trains(const struct gsotun_layout *l, const struct gsotun_plan *p)
{
	u32 most = l->max_train_bytes ? l->max_train_bytes : 65507;
	u32 max_segs = l->max_segs ? l->max_segs : 64;
	u32 full = p->segs > 1 ? p->hdr_len + p->gso_size : p->len;
	u32 last = p->segs > 1 ? p->len - (p->segs - 1) * p->gso_size : p->len;
	u64 room = l->headroom + slow_padded(l, full) + l->tailroom, span = 0;
	u32 align = l->stride_align ? l->stride_align : 1, k, segs = 0;
	struct gsotun_trains t;
	bool fits;

	memset(&t, 0xa5, sizeof(t));
	fits = gsotun_trains_init(&t, p, l);
	expect(fits == (room <= most && slow_padded(l, full) <= 65535),
	       "%u to fit: room %llu of %u", full, (unsigned long long)room, most);
	if (!fits)
		return;
	expect(t.seg_len == full && t.last_len == last, "%u %u", t.seg_len, t.last_len);
	expect(t.seg_padded == slow_padded(l, full) && t.last_padded == slow_padded(l, last),
	       "%u to %u, %u to %u", full, t.seg_padded, last, t.last_padded);
	expect(t.stride % align == 0 && t.stride >= room && t.stride - room < align,
	       "stride %u for %llu, aligned to %u", t.stride, (unsigned long long)room, align);
	expect(t.num && t.segs && t.last_segs && t.last_segs <= t.segs, "%u trains of %u and %u",
	       t.num, t.segs, t.last_segs);
	for (k = 0; k < t.num; k++) {
		u32 n = gsotun_trains_segs(&t, k);
		u64 extent = slow_extent(l, &t, p, n, k == t.num - 1);

		expect(n == (k < t.num - 1 ? t.segs : t.last_segs), "train %u: %u", k, n);
		expect(n <= max_segs && extent <= most, "train %u: %u segments, %llu bytes", k, n,
		       (unsigned long long)extent);
		expect(gsotun_trains_len(&t, k) == extent - l->headroom - l->tailroom,
		       "train %u: %u", k, gsotun_trains_len(&t, k));
		/* All but the last are full. */
		if (k < t.num - 1)
			expect(n == max_segs || slow_extent(l, &t, p, n + 1, false) > most,
			       "train %u: %u more", k, n);
		segs += n;
		span += (extent + 60 + 63) / 64 * 64;
	}
	expect(segs == p->segs, "%u segments of %u", segs, p->segs);
	expect(gsotun_trains_span(&t, 60 + l->headroom + l->tailroom) == span, "%llu bytes",
	       (unsigned long long)gsotun_trains_span(&t, 60 + l->headroom + l->tailroom));
}

static struct gsotun_plan plan_of(u32 hdr_len, u32 gso_size, u32 len)
{
	struct gsotun_plan p = {
		.gso_type = VNET_GSO_TCPV4, .version = 4, .l4_off = 20, .hdr_len = hdr_len,
		.gso_size = gso_size, .segs = (len - hdr_len + gso_size - 1) / gso_size,
		.len = len,
	};

	if (p.segs <= 1) {
		p.gso_type = VNET_GSO_NONE;
		p.gso_size = 0;
		p.segs = 1;
	}
	return p;
}

/* Trains as the daemons of these protocols would ask for. */
static void trains_of_protocols(void)
{
	static const struct {
		const char *name;
		u32 mtu, room, segs, bytes;	/* of a segment, and of a full train */
		struct gsotun_layout l;
	} protocols[] = {
		{ "WireGuard, MTU 1420", 1420, 1452, 45, 65340,
		  { .headroom = 16, .tailroom = 16, .pad_to = 16, .pad_cap = 1420 } },
		{ "WireGuard, MTU 1280", 1280, 1312, 49, 64288,
		  { .headroom = 16, .tailroom = 16, .pad_to = 16, .pad_cap = 1280 } },
		{ "ESP in UDP, GCM", 1420, 1456, 44, 64064,
		  { .headroom = 16, .tailroom = 16, .pad_to = 4, .pad_extra = 2 } },
		{ "OpenVPN, tag in front", 1420, 1444, 45, 64980, { .headroom = 24 } },
		{ "OpenVPN, tag behind", 1420, 1444, 45, 64980,
		  { .headroom = 8, .tailroom = 16 } },
		{ "DTLS 1.2", 1420, 1457, 44, 64108, { .headroom = 21, .tailroom = 16 } },
		{ "DTLS 1.3", 1420, 1442, 45, 64890,
		  { .headroom = 5, .tailroom = 16, .pad_extra = 1 } },
		{ "TLS over TCP", 1420, 1445, 128, 184960,
		  { .headroom = 7, .tailroom = 17, .pad_to = 1, .pad_extra = 1, .max_segs = 128,
		    .max_train_bytes = 1 << 20 } },
		{ "QUIC DATAGRAM", 1280, 1336, 48, 47 * 1344 + 1336,
		  { .headroom = 40, .tailroom = 16, .stride_align = 64,
		    .max_train_bytes = 65527 } },
	};
	struct gsotun_trains t;
	struct gsotun_plan p;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(protocols); i++) {
		const struct gsotun_layout *l = &protocols[i].l;

		/* Enough for a full train of any size. */
		p = plan_of(40, protocols[i].mtu - 40, 40 + 200 * (protocols[i].mtu - 40));
		check_trains(l, &p);
		expect(gsotun_trains_init(&t, &p, l), "%s", protocols[i].name);
		expect(l->headroom + t.seg_padded + l->tailroom == protocols[i].room, "%s: %u",
		       protocols[i].name, t.seg_padded);
		expect(t.segs == protocols[i].segs, "%s: %u segments, not %u", protocols[i].name,
		       protocols[i].segs, t.segs);
		expect(gsotun_trains_len(&t, 0) + l->headroom + l->tailroom == protocols[i].bytes,
		       "%s: %u bytes", protocols[i].name, gsotun_trains_len(&t, 0));
	}
}

/* Whatever the kernel writes, no segment grows over the MTU; WireGuard's own rule. */
static void padding_follows_the_cap(void)
{
	static const struct gsotun_layout wg = { .pad_to = 16, .pad_cap = 1420 };
	struct gsotun_layout l;
	u32 len;

	for (len = 20; len <= 1420; len++)
		expect(gsotun_layout_padded(&wg, len) == min_u32((len + 15) / 16 * 16, 1420),
		       "%u: %u", len, gsotun_layout_padded(&wg, len));
	/* Packets from before the MTU was lowered. */
	for (; len <= 65535; len++)
		expect(gsotun_layout_padded(&wg, len) == len, "%u", len);
	for (len = 1; len <= 4000; len += 7) {
		l = (struct gsotun_layout) { .pad_to = (u16)below(70), .pad_extra = (u16)below(20),
					     .pad_cap = one_in(2) ? 0 : (u16)below(4000) };
		expect(gsotun_layout_padded(&l, len) == slow_padded(&l, len), "%u to %u + %u, %u",
		       len, l.pad_to, l.pad_extra, l.pad_cap);
	}
}

static void trains_carry_every_segment(void)
{
	struct gsotun_layout l;
	struct gsotun_plan p;
	u32 hdr_len, len;
	int round;

	for (round = 0; round < 30000; round++) {
		l = (struct gsotun_layout) {
			.headroom = (u16)below(one_in(20) ? 65536 : 100),
			.tailroom = (u16)below(one_in(20) ? 65536 : 40),
			.pad_to = (u16)(one_in(2) ? 1u << below(8) : below(300)),
			.pad_extra = (u16)below(3),
			.pad_cap = one_in(2) ? 0 : (u16)below(9000),
			.stride_align = (u16)(one_in(2) ? below(3) : 1u << below(13)),
			.max_segs = (u16)below(129),
			.max_train_bytes = one_in(2) ? 0 : one_in(2) ? noise() : below(200000),
		};
		hdr_len = 28 + 4 * below(30);
		len = hdr_len + 1 + below(65535 - hdr_len);
		p = plan_of(hdr_len, 8 + below(one_in(2) ? 100 : 9000), len);
		check_trains(&l, &p);
	}
}

static void a_segment_fits_to_the_byte(void)
{
	struct gsotun_layout l = { .headroom = 16, .tailroom = 16 };
	struct gsotun_plan p = plan_of(40, 1380, 40 + 5000);
	struct gsotun_trains t;

	l.max_train_bytes = 1451;
	expect(!gsotun_trains_init(&t, &p, &l), "1452 of 1451");
	l.max_train_bytes = 1452;
	expect(gsotun_trains_init(&t, &p, &l) && t.segs == 1 && t.num == 4, "1452 of 1452");
	l.max_train_bytes = 2903;
	expect(gsotun_trains_init(&t, &p, &l) && t.segs == 1, "2904 of 2903");
	l.max_train_bytes = 2904;
	expect(gsotun_trains_init(&t, &p, &l) && t.segs == 2 && t.num == 2, "2904 of 2904");
	/* The last segment needs no more than itself: no alignment behind it. */
	l.stride_align = 1024;
	l.max_train_bytes = 2048 + 1452;
	expect(gsotun_trains_init(&t, &p, &l) && t.stride == 2048 && t.segs == 2, "aligned");
	l.max_train_bytes--;
	expect(gsotun_trains_init(&t, &p, &l) && t.segs == 1, "aligned");
	/* Lengths are u16 in a record. */
	l = (struct gsotun_layout) { .pad_to = 65535, .max_train_bytes = 0xffffffff };
	p = plan_of(40, 65000, 65535);
	p.segs = 1;
	expect(gsotun_trains_init(&t, &p, &l) && t.seg_padded == 65535, "65,535");
	l.pad_extra = 1;
	expect(!gsotun_trains_init(&t, &p, &l), "131,070");
}

/* Thousands of segments with the most room each: more than 32 bits. */
static void spans_are_of_64_bits(void)
{
	struct gsotun_layout l = {
		.headroom = 65535, .tailroom = 65535, .pad_to = 65535, .pad_extra = 0,
		.stride_align = 65535, .max_segs = 128, .max_train_bytes = 0xffffffff,
	};
	struct gsotun_plan p = plan_of(40, 8, 65535);
	struct gsotun_trains t;
	u64 content;

	check_trains(&l, &p);
	expect(gsotun_trains_init(&t, &p, &l) && t.stride == 3 * 65535, "%u", t.stride);
	content = gsotun_trains_len(&t, 0);
	expect(gsotun_trains_span(&t, 0xffffffff) > (t.num - 1) * content + 0xffffffff, "%llu",
	       (unsigned long long)gsotun_trains_span(&t, 0xffffffff));
	expect(gsotun_trains_span(&t, 0xffffffff) % 64 == 0, "a multiple of the alignment");
}

static const struct ktap_test tests[] = {
	KTAP_TEST(trains_of_protocols),
	KTAP_TEST(padding_follows_the_cap),
	KTAP_TEST(trains_carry_every_segment),
	KTAP_TEST(a_segment_fits_to_the_byte),
	KTAP_TEST(spans_are_of_64_bits),
};

int main(void)
{
	return ktap_main(tests, ARRAY_SIZE(tests));
}
