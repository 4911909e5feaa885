// SPDX-License-Identifier: GPL-2.0
/* lib_test.c - the verbs of libgsotun against a kernel made of plain memory. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ktap.h"
#include "world.h"

#define RING	65536u

static struct world w;
static struct gsotun_frame f[256];

static void start(u32 at)
{
	world_init(&w, RING, at);
	CHECK_EQ(world_attach(&w, NULL), 0);
}

static void start_with(u32 flags)
{
	struct gsotun_attach_opts opts = { .size = sizeof(opts), .flags = flags };

	world_init(&w, RING, 0);
	CHECK_EQ(world_attach(&w, &opts), 0);
}

static bool filled(const u8 *at, u32 len, u8 fill)
{
	while (len--)
		if (*at++ != fill)
			return false;
	return true;
}

/* ---- to_user ---- */

static void peek_of_nothing(void)
{
	start(0);
	CHECK_EQ(gsotun_peek(w.q, f, 8), 0);
	CHECK_EQ(gsotun_peek(w.q, f, 0), 0);
	CHECK_EQ(gsotun_release(w.q, 0), 0);
	CHECK_EQ(gsotun_release(w.q, 1), -EINVAL);
	CHECK_EQ(w.kick_calls, 0);
	world_exit(&w);
}

static void peek_gives_what_was_sent(void)
{
	struct gsotun_record *rec;

	start(0);
	CHECK(kernel_send(&w, 100, 0xaa));
	rec = kernel_write(&w, 3000, 0xbb);
	((u8 *)(rec + 1))[1] = 0x81;		/* gso_type: TCPv4 with ECN */
	kernel_publish(&w);
	CHECK_EQ(gsotun_peek(w.q, f, 8), 2);
	CHECK_EQ(f[0].len, 100);
	CHECK_EQ(f[0].type, GSOTUN_RECORD_PACKET);
	CHECK_EQ(f[0].nsegs, 1);
	CHECK_EQ(f[0].stride, 100);
	CHECK_EQ(f[0].seg_len, 100);
	CHECK_EQ(f[0].seg_padded, 100);
	CHECK_EQ(f[0].last_len, 100);
	CHECK_EQ(f[0].last_padded, 100);
	CHECK_EQ(f[0].hash, 100 ^ 0xaa);
	CHECK_EQ(f[0].mark, 0xaa);
	CHECK_EQ(f[0].cookie, 0);
	CHECK(!f[0].lens);
	CHECK(filled(f[0].data, 100, 0xaa));
	CHECK(filled(f[1].data, 3000, 0xbb));
	CHECK_EQ(f[1].vnet[1], 0x81);
	CHECK_EQ(w.q->side[0].stats.superpackets, 1);
	CHECK_EQ(w.q->side[0].stats.records, 2);
	CHECK_EQ(w.q->side[0].stats.bytes, 3100);
	CHECK_EQ(gsotun_release(w.q, 2), 0);
	CHECK_EQ(to_daemon(&w)->cons, to_kernel(&w)->prod);
	world_exit(&w);
}

static void peek_goes_on_before_release(void)
{
	u32 end[3];
	int i;

	start(0);
	for (i = 0; i < 3; i++) {
		CHECK(kernel_send(&w, 200 + (u32)i * 64, (u8)i));
		end[i] = w.to.pos;
	}
	CHECK_EQ(gsotun_peek(w.q, f, 1), 1);
	CHECK_EQ(gsotun_peek(w.q, f + 1, 1), 1);
	CHECK_EQ(gsotun_peek(w.q, f + 2, 5), 1);
	CHECK_EQ(gsotun_peek(w.q, f + 3, 5), 0);
	for (i = 0; i < 3; i++)
		CHECK(filled(f[i].data, 200 + (u32)i * 64, (u8)i));
	CHECK_EQ(to_daemon(&w)->cons, 0);
	CHECK_EQ(gsotun_release(w.q, 4), -EINVAL);
	CHECK_EQ(gsotun_release(w.q, 1), 2);
	CHECK_EQ(to_daemon(&w)->cons, end[0]);
	CHECK_EQ(gsotun_release(w.q, 2), 0);
	CHECK_EQ(to_daemon(&w)->cons, end[2]);
	world_exit(&w);
}

static void skips_are_passed_over(void)
{
	u32 end;

	start(0);
	/* Nobody holds them, so they go at once. */
	kernel_skip(&w, 64);
	kernel_skip(&w, 1024);
	CHECK_EQ(gsotun_peek(w.q, f, 8), 0);
	CHECK_EQ(to_daemon(&w)->cons, 1088);
	CHECK_EQ(w.q->side[0].stats.skips, 2);

	kernel_send(&w, 10, 1);
	end = w.to.pos;
	kernel_skip(&w, 128);
	kernel_send(&w, 20, 2);
	kernel_skip(&w, 64);
	CHECK_EQ(gsotun_peek(w.q, f, 8), 2);
	CHECK_EQ(f[1].len, 20);
	CHECK_EQ(gsotun_release(w.q, 1), 1);
	CHECK_EQ(to_daemon(&w)->cons, end);
	CHECK_EQ(gsotun_release(w.q, 1), 0);
	CHECK_EQ(to_daemon(&w)->cons, w.to.pos);
	world_exit(&w);
}

/* Sizes of every kind across the end of the data area, and of u32. */
static void wraps_keep_contents(void)
{
	u32 sent = 0, seen = 0, len;
	int n, i;

	start(0u - 5 * 64);
	srand(1);
	while (seen < 20000) {
		len = 1 + (u32)rand() % 5000;
		while (kernel_send(&w, len, (u8)(sent * 7))) {
			sent++;
			len = 1 + (u32)rand() % 5000;
		}
		n = gsotun_peek(w.q, f, 1 + (u32)rand() % 40);
		CHECK(n > 0);
		if (n <= 0)
			break;
		for (i = 0; i < n; i++, seen++)
			CHECK(filled(f[i].data, f[i].len, (u8)(seen * 7)));
		gsotun_release(w.q, (u32)n);
		if (ktap_failed)
			break;
	}
	world_exit(&w);
}

static void no_more_frames_than_agreed(void)
{
	struct gsotun_attach_opts opts = { .frames = { 4, 3 } };
	struct gsotun_info info;
	int i;

	world_init(&w, RING, 0);
	CHECK_EQ(world_attach(&w, &opts), 0);
	for (i = 0; i < 6; i++)
		kernel_send(&w, 50, (u8)i);
	CHECK_EQ(gsotun_peek(w.q, f, 8), 4);
	CHECK_EQ(gsotun_peek(w.q, f + 4, 8), -ENOBUFS);
	CHECK_EQ(gsotun_arm(w.q, GSOTUN_EV_RECORDS, 0), -ENOBUFS);
	CHECK_EQ(gsotun_wait(w.q, GSOTUN_EV_RECORDS, 1000, -1), -ENOBUFS);
	CHECK_EQ(gsotun_release(w.q, 1), 3);
	CHECK_EQ(gsotun_peek(w.q, f + 4, 8), 1);
	CHECK_EQ(f[4].mark, 4);

	CHECK_EQ(gsotun_reserve(w.q, 50, f, 8), 4);	/* rounded up */
	CHECK_EQ(gsotun_reserve(w.q, 50, f, 1), -ENOBUFS);
	CHECK_EQ(gsotun_info(w.q, &info, sizeof(info)), sizeof(info));
	CHECK_EQ(info.frames[0], 4);
	CHECK_EQ(info.frames[1], 4);
	CHECK_EQ(info.held[0], 4);
	CHECK_EQ(info.held[1], 4);
	world_exit(&w);
}

static void to_user_kick_at_the_border(void)
{
	u32 a, b;

	start(0);
	kernel_send(&w, 10, 1);
	a = w.to.pos;
	kernel_send(&w, 10, 2);
	b = w.to.pos;

	/* kick_at is where cons stands already: not crossed again. */
	to_kernel(&w)->kick_at = 0;
	gsotun_peek(w.q, f, 2);
	gsotun_release(w.q, 1);
	CHECK_EQ(w.kick_calls, 0);
	/* One beyond what is released: not yet. */
	to_kernel(&w)->kick_at = b + 1;
	gsotun_release(w.q, 1);
	CHECK_EQ(w.kick_calls, 0);

	kernel_send(&w, 10, 1);
	gsotun_peek(w.q, f, 1);
	/* Exactly reached. */
	to_kernel(&w)->kick_at = w.to.pos;
	gsotun_release(w.q, 1);
	CHECK_EQ(w.kicks[GSOTUN_TO_USER], 1);
	/* Lies behind now. */
	kernel_send(&w, 10, 1);
	gsotun_peek(w.q, f, 1);
	gsotun_release(w.q, 1);
	CHECK_EQ(w.kicks[GSOTUN_TO_USER], 1);

	/* Just after the old position; one kick however much is released. */
	kernel_send(&w, 10, 1);
	kernel_send(&w, 10, 1);
	to_kernel(&w)->kick_at = to_daemon(&w)->cons + 1;
	gsotun_peek(w.q, f, 2);
	gsotun_release(w.q, 2);
	CHECK_EQ(w.kicks[GSOTUN_TO_USER], 2);
	CHECK_EQ(w.kicks[GSOTUN_FROM_USER], 0);
	CHECK_EQ(w.q->side[0].stats.kicks, 2);
	CHECK(a != b);
	world_exit(&w);
}

static void claim_covers_what_was_peeked(void)
{
	start(0);
	kernel_send(&w, 100, 1);
	kernel_send(&w, 100, 2);
	CHECK_EQ(to_daemon(&w)->claim, 0);
	gsotun_peek(w.q, f, 1);
	CHECK_EQ(to_daemon(&w)->claim, w.q->side[0].ring.pos);
	CHECK(to_daemon(&w)->claim != 0);
	gsotun_peek(w.q, f, 1);
	CHECK_EQ(to_daemon(&w)->claim, w.to.pos);
	gsotun_release(w.q, 2);
	CHECK_EQ(to_daemon(&w)->claim, w.to.pos);
	world_exit(&w);

	start_with(GSOTUN_OPT_READ_ONLY);
	kernel_send(&w, 100, 1);
	kernel_send(&w, 100, 2);
	gsotun_peek(w.q, f, 2);
	CHECK_EQ(to_daemon(&w)->claim, 0);
	gsotun_release(w.q, 1);
	CHECK_EQ(to_daemon(&w)->claim, to_daemon(&w)->cons);
	world_exit(&w);
}

static void train_fields(void)
{
	struct gsotun_record *rec;
	u8 *base;

	start(0);
	w.a.layout[0].type = GSOTUN_LAYOUT_TRAIN;
	rec = kernel_write(&w, 3 * 1500 + 90, 1);
	rec->type = GSOTUN_RECORD_TRAIN;
	rec->nsegs = 4;
	rec->stride = 1500;
	rec->headroom = 2;
	rec->seg_len = 1400;
	rec->seg_padded = 1408;
	rec->last_len = 81;
	rec->last_padded = 90;
	base = (u8 *)rec;
	kernel_publish(&w);
	CHECK_EQ(gsotun_peek(w.q, f, 2), 1);
	CHECK_EQ(f[0].nsegs, 4);
	CHECK_EQ(f[0].stride, 1500);
	CHECK_EQ(f[0].headroom, 2);
	CHECK_EQ(f[0].seg_len, 1400);
	CHECK_EQ(f[0].seg_padded, 1408);
	CHECK_EQ(f[0].last_len, 81);
	CHECK_EQ(f[0].last_padded, 90);
	CHECK(f[0].data == base + rec->data_off);
	CHECK_EQ(w.q->side[0].stats.superpackets, 1);
	world_exit(&w);
}

static void big_packet_has_no_16_bit_length(void)
{
	world_init(&w, 1u << 20, 0);
	CHECK_EQ(world_attach(&w, NULL), 0);
	kernel_write(&w, 70000, 9)->flags = GSOTUN_RECORD_F_BIG;
	kernel_publish(&w);
	CHECK_EQ(gsotun_peek(w.q, f, 2), 1);
	CHECK_EQ(f[0].len, 70000);
	CHECK_EQ(f[0].stride, 70000);
	CHECK_EQ(f[0].nsegs, 1);
	CHECK_EQ(f[0].last_len, 0);
	CHECK_EQ(f[0].flags, GSOTUN_RECORD_F_BIG);
	world_exit(&w);
}

/* One word of a record, and what it becomes. */
struct spoiler {
	size_t at;
	u32 value;
};

#define SPOIL(field, value)	{ offsetof(struct gsotun_record, field), value }

/* Records as they are spoiled: span 384, data_off 58, len 300. */
static const struct spoiler packet_spoilers[] = {
	SPOIL(span, 0),
	SPOIL(span, 380),
	SPOIL(span, 448),
	SPOIL(span, 0xffffffc0),
	SPOIL(len, 0),
	SPOIL(len, 384 - 58 + 1),
	SPOIL(len, 0xffffffff),
	SPOIL(data_off, 55),
	SPOIL(data_off, 0xffff),
	SPOIL(vnet_len, 10),
	SPOIL(type, 3),
};

/* Three segments at a stride of 100, the last full, the others 90 padded to 95. */
static const struct spoiler train_spoilers[] = {
	SPOIL(nsegs, 0),
	SPOIL(nsegs, 4),
	SPOIL(stride, 0x80000064),
	SPOIL(seg_padded, 101),
	SPOIL(seg_len, 96),
	SPOIL(last_len, 101),
	SPOIL(last_padded, 101),
	SPOIL(headroom, 3),
};

static void make_train(struct gsotun_record *rec)
{
	rec->type = GSOTUN_RECORD_TRAIN;
	rec->nsegs = 3;
	rec->stride = 100;
	rec->seg_len = 90;
	rec->seg_padded = 95;
	rec->last_len = 100;
	rec->last_padded = 100;
}

static void spoil(struct gsotun_record *rec, const struct spoiler *spoiler)
{
	u8 *at = (u8 *)rec + spoiler->at;

	/* The words of 32 bits among those that are spoiled. */
	if (at == (u8 *)&rec->span || at == (u8 *)&rec->len || at == (u8 *)&rec->stride)
		*(u32 *)at = spoiler->value;
	else
		*(u16 *)at = (u16)spoiler->value;
}

/* One good record, and one that is spoiled, or not. */
static void try_spoiler(const struct spoiler *spoiler, bool train)
{
	struct gsotun_record *rec;
	char text[GSOTUN_TEXT_MAX];
	int i;

	start(0);
	kernel_send(&w, 100, 1);
	rec = kernel_write(&w, 300, 2);
	if (train)
		make_train(rec);
	if (spoiler)
		spoil(rec, spoiler);
	kernel_publish(&w);
	CHECK_EQ(gsotun_peek(w.q, f, 8), spoiler ? 1 : 2);
	for (i = 0; i < 3; i++)
		CHECK_EQ(gsotun_peek(w.q, f + 2, 8), spoiler ? -EBADMSG : 0);
	CHECK(!spoiler == !gsotun_last_message(w.q, text, sizeof(text)));
	CHECK_EQ(gsotun_release(w.q, 1), !spoiler);
	CHECK_EQ(gsotun_peek(w.q, f, 8), spoiler ? -EBADMSG : 0);
	world_exit(&w);
}

static void corrupt_records(void)
{
	unsigned int i;

	try_spoiler(NULL, false);
	try_spoiler(NULL, true);
	for (i = 0; i < sizeof(packet_spoilers) / sizeof(*packet_spoilers); i++)
		try_spoiler(&packet_spoilers[i], false);
	for (i = 0; i < sizeof(train_spoilers) / sizeof(*train_spoilers); i++)
		try_spoiler(&train_spoilers[i], true);
}

static void corrupt_positions(void)
{
	static const u32 prods[] = { 32, RING + 64, 0u - 64, 0x80000000 };
	unsigned int i;

	for (i = 0; i < sizeof(prods) / sizeof(*prods); i++) {
		start(0);
		to_kernel(&w)->prod = prods[i];
		CHECK_EQ(gsotun_peek(w.q, f, 8), -EBADMSG);
		CHECK_EQ(gsotun_wait(w.q, GSOTUN_EV_RECORDS, 0, -1), -EBADMSG);
		from_kernel(&w)->cons = prods[i];
		CHECK_EQ(gsotun_arm(w.q, GSOTUN_EV_ROOM, 0), -EBADMSG);
		CHECK_EQ(gsotun_wait(w.q, GSOTUN_EV_ROOM, 0, -1), -EBADMSG);
		world_exit(&w);
	}
	/* The kernel's position went back. */
	start(1024);
	kernel_send(&w, 10, 1);
	CHECK_EQ(gsotun_peek(w.q, f, 8), 1);
	to_kernel(&w)->prod = 1024;
	CHECK_EQ(gsotun_peek(w.q, f, 8), -EBADMSG);
	world_exit(&w);
}

/* ---- from_user ---- */

static void submit_writes_the_record(void)
{
	const struct gsotun_record *rec;

	start(0u - 128);
	memset(w.from.data, 0xff, RING);	/* what others left there */
	CHECK_EQ(gsotun_reserve(w.q, 500, f, 1), 1);
	CHECK_EQ(f[0].len, 500);
	CHECK_EQ(f[0].type, GSOTUN_RECORD_PACKET);
	CHECK_EQ(f[0].nsegs, 1);
	CHECK_EQ((uintptr_t)f[0].data % 64, 0);
	CHECK(filled(f[0].vnet, 12, 0));
	memset(f[0].data, 0x5a, 500);
	f[0].vnet[0] = 1;
	f[0].vnet[1] = 4;
	f[0].data += 32;
	f[0].len = 400;
	f[0].mark = 77;
	f[0].hash = 5;
	CHECK(!kernel_receive(&w));
	CHECK_EQ(gsotun_submit(w.q, f, 1), 0);
	rec = kernel_receive(&w);
	CHECK(rec);
	if (rec) {
		CHECK_EQ(rec->len, 400);
		CHECK_EQ(rec->type, GSOTUN_RECORD_PACKET);
		CHECK_EQ(rec->data_off, 96);
		CHECK_EQ(rec->vnet_len, 12);
		CHECK_EQ(rec->span, 512);		/* shrunk to what is used */
		CHECK_EQ(rec->mark, 77);
		CHECK_EQ(rec->hash, 0);
		CHECK_EQ(rec->table_off | rec->nsegs | rec->headroom | rec->resv, 0);
		CHECK_EQ(rec->stride | rec->seg_len | rec->last_len, 0);
		CHECK_EQ(((u8 *)(rec + 1))[1], 4);
		CHECK(filled((u8 *)rec + rec->data_off, 400, 0x5a));
	}
	CHECK(!kernel_receive(&w));
	CHECK_EQ(w.q->side[1].stats.superpackets, 1);
	CHECK_EQ(w.q->side[1].stats.bytes, 400);
	world_exit(&w);
}

static void reservations_finish_in_any_order(void)
{
	const struct gsotun_record *rec;
	int i;

	start(0);
	CHECK_EQ(gsotun_reserve(w.q, 1000, f, 2), 2);
	CHECK_EQ(gsotun_reserve(w.q, 100, f + 2, 1), 1);
	CHECK_EQ(gsotun_reserve(w.q, 2000, f + 3, 1), 1);
	for (i = 3; i >= 0; i--) {
		f[i].len = 10 + (u32)i;
		memset(f[i].data, i, f[i].len);
	}
	CHECK_EQ(gsotun_submit(w.q, f, 1), 3);
	CHECK_EQ(gsotun_submit(w.q, f + 1, 2), 1);
	CHECK_EQ(gsotun_submit(w.q, f + 3, 1), 0);
	for (i = 0; i < 4; i++) {
		rec = kernel_receive(&w);
		CHECK(rec);
		if (!rec)
			break;
		CHECK_EQ(rec->len, 10 + i);
		/* Only the youngest can shrink. */
		CHECK_EQ(rec->span, i == 3 ? 128 : i == 2 ? 192 : 1088);
		CHECK(filled((u8 *)rec + rec->data_off, rec->len, (u8)i));
	}
	CHECK_EQ(w.q->side[1].ring.pos, w.from.pos);
	world_exit(&w);
}

static void cancel_gives_room_back(void)
{
	u32 pos;

	start(0);
	CHECK_EQ(gsotun_cancel(w.q, 1), -EINVAL);
	CHECK_EQ(gsotun_reserve(w.q, 100, f, 1), 1);
	pos = w.q->side[1].ring.pos;
	CHECK_EQ(gsotun_reserve(w.q, 4000, f + 1, 3), 3);
	CHECK_EQ(gsotun_cancel(w.q, 5), -EINVAL);
	CHECK_EQ(gsotun_cancel(w.q, 2), 2);
	CHECK_EQ(gsotun_cancel(w.q, 1), 1);
	CHECK_EQ(w.q->side[1].ring.pos, pos);
	CHECK_EQ(gsotun_submit(w.q, f, 2), -EINVAL);
	CHECK_EQ(gsotun_submit(w.q, f, 1), 0);
	CHECK(kernel_receive(&w));
	CHECK_EQ(gsotun_reserve(w.q, 100, f, 1), 1);
	CHECK_EQ(gsotun_cancel(w.q, 1), 0);
	CHECK_EQ(w.q->side[1].ring.pos, from_daemon(&w)->prod);
	world_exit(&w);
}

static void skips_instead_of_records(void)
{
	const struct gsotun_record *rec;
	u32 prod;

	start(0);
	CHECK_EQ(gsotun_reserve(w.q, 100, f, 4), 4);
	f[1].type = GSOTUN_RECORD_SKIP;
	f[3].type = GSOTUN_RECORD_SKIP;
	f[3].data = NULL;
	CHECK_EQ(gsotun_submit(w.q, f, 4), 0);
	rec = kernel_receive(&w);
	CHECK(rec && rec->type == GSOTUN_RECORD_PACKET);
	rec = kernel_receive(&w);
	CHECK(rec && rec->type == GSOTUN_RECORD_SKIP && rec->span == 192 && !rec->len);
	rec = kernel_receive(&w);
	CHECK(rec && rec->type == GSOTUN_RECORD_PACKET);
	CHECK(!kernel_receive(&w));		/* the last skip was cancelled */
	CHECK_EQ(w.q->side[1].ring.pos, from_daemon(&w)->prod);

	/* Not the youngest: it needs its record. */
	CHECK_EQ(gsotun_reserve(w.q, 100, f, 2), 2);
	f[0].type = GSOTUN_RECORD_SKIP;
	CHECK_EQ(gsotun_submit(w.q, f, 1), 1);
	rec = kernel_receive(&w);
	CHECK(rec && rec->type == GSOTUN_RECORD_SKIP && rec->span == 192);
	CHECK_EQ(gsotun_submit(w.q, f + 1, 1), 0);
	CHECK(kernel_receive(&w));

	prod = from_daemon(&w)->prod;
	CHECK_EQ(gsotun_reserve(w.q, 100, f, 2), 2);
	f[0].type = GSOTUN_RECORD_SKIP;
	f[1].type = GSOTUN_RECORD_SKIP;
	CHECK_EQ(gsotun_submit(w.q, f, 2), 0);
	CHECK_EQ(from_daemon(&w)->prod, prod);
	world_exit(&w);
}

static void reserve_refuses(void)
{
	int n;

	start(0);
	CHECK_EQ(gsotun_reserve(w.q, 10, f, 0), -EINVAL);
	CHECK_EQ(gsotun_reserve(w.q, RING / 4 - 64 + 1, f, 1), -EMSGSIZE);
	CHECK_EQ(gsotun_reserve(w.q, SIZE_MAX, f, 1), -EMSGSIZE);
	n = gsotun_reserve(w.q, RING / 4 - 64, f, 8);
	CHECK_EQ(n, 4);
	/* Held frames take all the room: waiting would not help. */
	CHECK_EQ(gsotun_reserve(w.q, 10, f + 4, 1), -ENOBUFS);
	CHECK_EQ(gsotun_wait(w.q, GSOTUN_EV_ROOM, 0, -1), -ENOBUFS);
	CHECK_EQ(gsotun_submit(w.q, f, 4), 0);
	CHECK_EQ(gsotun_reserve(w.q, 10, f, 1), -EAGAIN);
	CHECK(kernel_receive(&w));
	CHECK_EQ(gsotun_reserve(w.q, 10, f, 1), 1);
	set_status(&w, GSOTUN_STATUS_DETACHED);
	CHECK_EQ(gsotun_reserve(w.q, RING / 4 - 64, f, 1), -ENODEV);
	world_exit(&w);
}

static void submit_refuses_strange_frames(void)
{
	struct gsotun_frame good;

	start(0);
	CHECK_EQ(gsotun_reserve(w.q, 100, f, 2), 2);
	good = f[1];
	f[1].data = f[0].data;
	CHECK_EQ(gsotun_submit(w.q, f, 2), -EINVAL);
	f[1] = good;
	f[1].data = f[1].vnet;
	CHECK_EQ(gsotun_submit(w.q, f, 2), -EINVAL);
	f[1] = good;
	f[1].len = 129;
	CHECK_EQ(gsotun_submit(w.q, f, 2), -EINVAL);
	f[1] = good;
	f[1].data += 200;
	CHECK_EQ(gsotun_submit(w.q, f, 2), -EINVAL);
	f[1] = good;
	f[1].type = 7;
	CHECK_EQ(gsotun_submit(w.q, f, 2), -EINVAL);
	f[1].type = GSOTUN_RECORD_TRAIN;	/* not the layout */
	CHECK_EQ(gsotun_submit(w.q, f, 2), -EINVAL);
	f[1] = good;
	CHECK(!kernel_receive(&w));
	CHECK_EQ(gsotun_submit(w.q, f, 3), -EINVAL);
	CHECK_EQ(gsotun_submit(w.q, f, 2), 0);
	CHECK(kernel_receive(&w));
	CHECK(kernel_receive(&w));
	world_exit(&w);
}

static void long_vnet_header(void)
{
	world_init(&w, RING, 0);
	w.a.vnet_len = 24;
	CHECK_EQ(world_attach(&w, NULL), 0);
	CHECK_EQ(gsotun_reserve(w.q, 10, f, 1), 1);
	CHECK_EQ(f[0].data - f[0].vnet, 128 - 44);
	CHECK_EQ(gsotun_submit(w.q, f, 1), 0);
	CHECK_EQ(kernel_receive(&w)->data_off, 128);
	world_exit(&w);
}

static void from_user_train(void)
{
	const struct gsotun_record *rec;
	const u16 *table;

	world_init(&w, RING, 0);
	w.a.layout[1] = (struct gsotun_layout) {
		.type = GSOTUN_LAYOUT_TRAIN, .max_segs = 64, .max_train_bytes = 65507,
	};
	CHECK_EQ(world_attach(&w, NULL), 0);
	CHECK_EQ(gsotun_reserve(w.q, 5000, f, 1), 1);
	CHECK(f[0].lens);
	CHECK_EQ(f[0].data - f[0].vnet, 64 + 128 - 44);
	f[0].type = GSOTUN_RECORD_TRAIN;
	f[0].nsegs = 3;
	f[0].stride = 1000;
	f[0].seg_len = 900;
	f[0].seg_padded = 900;
	f[0].last_len = 50;
	f[0].last_padded = 64;
	f[0].len = 2065;
	f[0].lens[0] = 900;
	f[0].lens[1] = 0;
	f[0].lens[2] = 50;
	f[0].flags = GSOTUN_RECORD_F_DATA_VALID;
	CHECK_EQ(gsotun_submit(w.q, f, 1), -EINVAL);	/* one byte too long */
	f[0].len = 2064;
	CHECK_EQ(gsotun_submit(w.q, f, 1), 0);
	rec = kernel_receive(&w);
	CHECK(rec);
	if (rec) {
		CHECK_EQ(rec->type, GSOTUN_RECORD_TRAIN);
		CHECK_EQ(rec->nsegs, 3);
		CHECK_EQ(rec->stride, 1000);
		CHECK_EQ(rec->last_padded, 64);
		CHECK_EQ(rec->flags, GSOTUN_RECORD_F_DATA_VALID);
		table = (const u16 *)((const u8 *)rec + rec->table_off * 64);
		CHECK_EQ(table[0], 900);
		CHECK_EQ(table[1], 0);
		CHECK_EQ(table[2], 50);
		CHECK_EQ(rec->span, ring_span(192 + 2064));
	}
	CHECK_EQ(w.q->side[1].stats.superpackets, 1);
	world_exit(&w);
}

static void from_user_kick_at_the_border(void)
{
	start(0);
	from_kernel(&w)->kick_at = 0;
	gsotun_reserve(w.q, 10, f, 1);
	gsotun_submit(w.q, f, 1);		/* prod: 128 */
	CHECK_EQ(w.kick_calls, 0);
	from_kernel(&w)->kick_at = 257;
	gsotun_reserve(w.q, 10, f, 1);
	gsotun_submit(w.q, f, 1);		/* 256 */
	CHECK_EQ(w.kick_calls, 0);
	gsotun_reserve(w.q, 10, f, 1);
	gsotun_submit(w.q, f, 1);		/* 384 */
	CHECK_EQ(w.kicks[GSOTUN_FROM_USER], 1);
	from_kernel(&w)->kick_at = 512;
	gsotun_reserve(w.q, 10, f, 3);
	gsotun_submit(w.q, f, 3);		/* one kick for three */
	CHECK_EQ(w.kicks[GSOTUN_FROM_USER], 2);
	CHECK_EQ(w.kicks[GSOTUN_TO_USER], 0);
	CHECK_EQ(w.q->side[1].stats.kicks, 2);
	CHECK_EQ(w.q->side[1].stats.batches, 4);
	world_exit(&w);
}

/* ---- waiting ---- */

static void on_poll_send(struct world *world)
{
	CHECK_EQ(to_daemon(world)->seen, to_kernel(world)->prod);
	CHECK_EQ(to_daemon(world)->flags, 0);
	kernel_send(world, 10, 1);
}

static void wait_sleeps_until_records(void)
{
	start(0);
	w.on_poll = on_poll_send;
	w.poll_result = 1;
	CHECK_EQ(gsotun_wait(w.q, GSOTUN_EV_RECORDS, 0, -1), GSOTUN_EV_RECORDS);
	CHECK_EQ(w.polls, 1);
	CHECK_EQ(w.poll_timeout, -1);
	CHECK_EQ(to_daemon(&w)->flags, GSOTUN_DAEMON_NO_WAKE);
	CHECK_EQ(w.q->side[0].stats.polls, 1);
	CHECK_EQ(w.q->side[0].stats.waits, 1);
	/* There are records: no system call. */
	CHECK_EQ(gsotun_wait(w.q, GSOTUN_EV_RECORDS, 1000, -1), GSOTUN_EV_RECORDS);
	CHECK_EQ(w.polls, 1);
	gsotun_peek(w.q, f, 1);
	/* Held, not released: they do not wake. */
	CHECK_EQ(gsotun_wait(w.q, GSOTUN_EV_RECORDS, 0, 0), 0);
	CHECK_EQ(w.polls, 1);
	w.on_poll = NULL;
	w.poll_result = 0;
	CHECK_EQ(gsotun_wait(w.q, GSOTUN_EV_RECORDS, 20000, 1), 0);
	CHECK(w.polls > 1);
	world_exit(&w);
}

static void on_poll_take_one(struct world *world)
{
	CHECK_EQ(from_daemon(world)->flags, 0);
	kernel_receive(world);
}

static void wait_sleeps_until_half_is_free(void)
{
	unsigned int i;

	start(0);
	CHECK_EQ(gsotun_wait(w.q, GSOTUN_EV_ROOM, 0, -1), GSOTUN_EV_ROOM);
	CHECK_EQ(w.polls, 0);
	for (i = 0; i < 4; i++) {
		CHECK_EQ(gsotun_reserve(w.q, RING / 4 - 64, f, 1), 1);
		CHECK_EQ(gsotun_submit(w.q, f, 1), 0);
	}
	w.on_poll = on_poll_take_one;
	w.poll_result = 1;
	CHECK_EQ(gsotun_wait(w.q, GSOTUN_EV_ROOM, 0, -1), GSOTUN_EV_ROOM);
	CHECK_EQ(w.polls, 2);
	CHECK_EQ(from_daemon(&w)->room_at, RING / 2);
	CHECK_EQ(w.q->side[1].stats.polls, 2);
	world_exit(&w);
}

static void arm_publishes_what_is_awaited(void)
{
	start(0);
	CHECK_EQ(gsotun_arm(w.q, 0, 0), -EINVAL);
	CHECK_EQ(gsotun_arm(w.q, 4, 0), -EINVAL);
	CHECK_EQ(gsotun_disarm(w.q, 4), -EINVAL);
	CHECK_EQ(gsotun_disarm(w.q, 3), 0);
	CHECK_EQ(to_daemon(&w)->flags, GSOTUN_DAEMON_NO_WAKE);
	CHECK_EQ(from_daemon(&w)->flags, GSOTUN_DAEMON_NO_WAKE);

	kernel_send(&w, 10, 1);
	CHECK_EQ(gsotun_arm(w.q, GSOTUN_EV_RECORDS, 0), GSOTUN_EV_RECORDS);
	CHECK_EQ(to_daemon(&w)->flags, GSOTUN_DAEMON_NO_WAKE);
	gsotun_peek(w.q, f, 1);
	CHECK_EQ(gsotun_arm(w.q, GSOTUN_EV_RECORDS, 0), 0);
	CHECK_EQ(to_daemon(&w)->seen, w.to.pos);
	CHECK_EQ(to_daemon(&w)->flags, 0);

	gsotun_reserve(w.q, RING / 4 - 64, f, 4);
	gsotun_submit(w.q, f, 4);
	CHECK_EQ(gsotun_arm(w.q, GSOTUN_EV_ROOM, RING), -EMSGSIZE);
	CHECK_EQ(gsotun_arm(w.q, GSOTUN_EV_ROOM, 100), 0);
	CHECK_EQ(from_daemon(&w)->room_at, 192);
	CHECK_EQ(from_daemon(&w)->flags, 0);
	CHECK_EQ(gsotun_arm(w.q, GSOTUN_EV_ROOM, 0), 0);
	CHECK_EQ(from_daemon(&w)->room_at, RING / 2);
	CHECK(kernel_receive(&w));
	CHECK_EQ(gsotun_arm(w.q, GSOTUN_EV_ROOM, 100), GSOTUN_EV_ROOM);
	/* One of two is ready. */
	CHECK_EQ(gsotun_arm(w.q, GSOTUN_EV_ROOM | GSOTUN_EV_RECORDS, 100), GSOTUN_EV_ROOM);
	CHECK_EQ(gsotun_arm(w.q, GSOTUN_EV_ROOM | GSOTUN_EV_RECORDS, 0), 0);
	world_exit(&w);
}

/* A loop that only polls works without arm: word is left when nothing is found. */
static void plain_loops_leave_word(void)
{
	start(0);
	kernel_send(&w, 10, 1);
	CHECK_EQ(gsotun_peek(w.q, f, 8), 1);
	CHECK_EQ(gsotun_peek(w.q, f, 8), 0);
	CHECK_EQ(to_daemon(&w)->seen, to_kernel(&w)->prod);
	CHECK_EQ(to_daemon(&w)->flags, 0);
	gsotun_reserve(w.q, RING / 4 - 64, f, 4);
	gsotun_submit(w.q, f, 4);
	CHECK_EQ(gsotun_reserve(w.q, 10, f, 1), -EAGAIN);
	CHECK_EQ(from_daemon(&w)->room_at, RING / 2);
	world_exit(&w);
}

static void room_that_reservations_take(void)
{
	start(0);
	gsotun_reserve(w.q, RING / 4 - 64, f, 1);
	gsotun_submit(w.q, f, 1);
	CHECK_EQ(gsotun_reserve(w.q, RING / 4 - 64, f, 3), 3);
	/* Half will not be free; what is submitted is the most to wait for. */
	CHECK_EQ(gsotun_arm(w.q, GSOTUN_EV_ROOM, 0), 0);
	CHECK_EQ(from_daemon(&w)->room_at, RING / 4);
	CHECK_EQ(gsotun_reserve(w.q, 10, f + 3, 1), -EAGAIN);
	CHECK(kernel_receive(&w));
	CHECK_EQ(gsotun_reserve(w.q, 10, f + 3, 1), 1);
	world_exit(&w);
}

static void on_poll_detach(struct world *world)
{
	kernel_send(world, 10, 1);
	set_status(world, GSOTUN_STATUS_DETACHED);
}

static void detach_comes_after_the_last_record(void)
{
	start(0);
	w.on_poll = on_poll_detach;
	w.revents = POLLERR | POLLHUP;
	CHECK_EQ(gsotun_wait(w.q, GSOTUN_EV_RECORDS, 0, -1), GSOTUN_EV_RECORDS);
	CHECK_EQ(gsotun_peek(w.q, f, 8), 1);
	CHECK_EQ(gsotun_peek(w.q, f, 8), -ENODEV);
	CHECK_EQ(gsotun_wait(w.q, GSOTUN_EV_RECORDS, 0, -1), -ENODEV);
	CHECK_EQ(gsotun_wait(w.q, GSOTUN_EV_ROOM, 0, -1), -ENODEV);
	CHECK_EQ(gsotun_arm(w.q, GSOTUN_EV_RECORDS, 0), -ENODEV);
	set_status(&w, GSOTUN_STATUS_DETACHED | GSOTUN_STATUS_CORRUPT);
	CHECK_EQ(gsotun_peek(w.q, f, 8), -EBADMSG);
	CHECK_EQ(gsotun_wait(w.q, GSOTUN_EV_ROOM, 0, -1), -EBADMSG);
	world_exit(&w);
}

static void hangup_without_a_word_is_the_end(void)
{
	start(0);
	w.revents = POLLERR | POLLHUP;
	CHECK_EQ(gsotun_wait(w.q, GSOTUN_EV_RECORDS, 0, -1), -ENODEV);
	CHECK_EQ(w.polls, 1);
	world_exit(&w);
}

static void signals_end_a_wait(void)
{
	start(0);
	w.poll_result = -EINTR;
	CHECK_EQ(gsotun_wait(w.q, GSOTUN_EV_RECORDS, 0, -1), -EINTR);
	CHECK_EQ(gsotun_wait(w.q, 0, 0, 0), -EINVAL);
	CHECK_EQ(gsotun_wait(w.q, 8, 0, 0), -EINVAL);
	CHECK_EQ(gsotun_poll(NULL, 0, 0, 0), -EINVAL);
	world_exit(&w);
}

static void deferred_kicks_ride_on_poll(void)
{
	struct gsotun_poll p = { 0 };

	start_with(GSOTUN_OPT_DEFER_KICKS);
	p.queue = w.q;
	to_kernel(&w)->kick_at = 64;
	from_kernel(&w)->kick_at = 64;
	kernel_send(&w, 10, 1);
	gsotun_peek(w.q, f, 1);
	gsotun_release(w.q, 1);
	gsotun_reserve(w.q, 10, f, 1);
	gsotun_submit(w.q, f, 1);
	CHECK_EQ(w.kick_calls, 0);
	/* One poll() for both, though nothing is awaited and nothing sleeps. */
	CHECK_EQ(gsotun_poll(&p, 1, 0, 0), 0);
	CHECK_EQ(w.polls, 1);
	CHECK_EQ(w.poll_timeout, 0);
	CHECK_EQ(gsotun_poll(&p, 1, 0, 0), 0);
	CHECK_EQ(w.polls, 1);

	/* The poll() that sleeps is the kick. */
	from_kernel(&w)->kick_at = from_daemon(&w)->prod + 1;
	gsotun_reserve(w.q, 10, f, 1);
	gsotun_submit(w.q, f, 1);
	p.events = GSOTUN_EV_RECORDS;
	w.poll_result = 1;
	w.on_poll = on_poll_send;
	CHECK_EQ(gsotun_poll(&p, 1, 0, -1), 1);
	CHECK_EQ(p.ready, GSOTUN_EV_RECORDS);
	CHECK_EQ(w.polls, 2);
	CHECK_EQ(w.poll_timeout, -1);
	CHECK_EQ(w.kick_calls, 0);

	/* There is something to do already: kick, do not sleep. */
	w.on_poll = NULL;
	from_kernel(&w)->kick_at = from_daemon(&w)->prod + 1;
	gsotun_reserve(w.q, 10, f, 1);
	gsotun_submit(w.q, f, 1);
	CHECK_EQ(gsotun_poll(&p, 1, 0, -1), 1);
	CHECK_EQ(w.polls, 3);
	CHECK_EQ(w.poll_timeout, 0);

	/* Others kick for themselves. */
	from_kernel(&w)->kick_at = from_daemon(&w)->prod + 1;
	gsotun_reserve(w.q, 10, f, 1);
	gsotun_submit(w.q, f, 1);
	CHECK_EQ(gsotun_arm(w.q, GSOTUN_EV_RECORDS, 0), GSOTUN_EV_RECORDS);
	CHECK_EQ(w.kicks[GSOTUN_FROM_USER], 1);
	from_kernel(&w)->kick_at = from_daemon(&w)->prod + 1;
	gsotun_reserve(w.q, 10, f, 1);
	gsotun_submit(w.q, f, 1);
	CHECK_EQ(gsotun_quiesce(w.q), 0);
	CHECK_EQ(w.kicks[GSOTUN_FROM_USER], 2);
	world_exit(&w);
}

/*
 * The moment between looking and leaving word: the daemon's page is write
 * protected, so the kernel can act just before the first word is left.
 */
static void *trapped;
static void (*trapped_kernel)(void);

static void on_segv(int sig, siginfo_t *info, void *context)
{
	void *page = (void *)((uintptr_t)info->si_addr & ~(uintptr_t)4095);

	(void)context;
	if (page != trapped)
		_exit(128 + sig);
	trapped = NULL;
	mprotect(page, 4096, PROT_READ | PROT_WRITE);
	trapped_kernel();
}

static void trap(void *page, void (*kernel)(void))
{
	struct sigaction action = { .sa_sigaction = on_segv, .sa_flags = SA_SIGINFO | SA_NODEFER };

	sigaction(SIGSEGV, &action, NULL);
	trapped = page;
	trapped_kernel = kernel;
	mprotect(page, 4096, PROT_READ);
}

static void kernel_sends_unseen(void)
{
	kernel_send(&w, 10, 1);
}

static void kernel_takes_unseen(void)
{
	while (kernel_receive(&w))
		;
}

static void looked_before_word_was_left(void)
{
	int round;

	for (round = 0; round < 3; round++) {
		start(0);
		CHECK_EQ(gsotun_peek(w.q, f, 8), 0);
		gsotun_disarm(w.q, GSOTUN_EV_RECORDS);
		trap(to_daemon(&w), kernel_sends_unseen);
		if (round == 0) {
			CHECK_EQ(gsotun_arm(w.q, GSOTUN_EV_RECORDS, 0), GSOTUN_EV_RECORDS);
		} else if (round == 1) {
			CHECK_EQ(gsotun_wait(w.q, GSOTUN_EV_RECORDS, 0, -1),
				 GSOTUN_EV_RECORDS);
			CHECK_EQ(w.polls, 0);
		} else {
			/* As if it had been seen up to elsewhere. */
			w.q->side[0].wait = 1;
			CHECK_EQ(gsotun_peek(w.q, f, 8), 1);
		}
		CHECK(!trapped);
		world_exit(&w);
	}
	for (round = 0; round < 3; round++) {
		start(0);
		gsotun_reserve(w.q, RING / 4 - 64, f, 4);
		gsotun_submit(w.q, f, 4);
		gsotun_disarm(w.q, GSOTUN_EV_ROOM);
		trap(from_daemon(&w), kernel_takes_unseen);
		if (round == 0) {
			CHECK_EQ(gsotun_arm(w.q, GSOTUN_EV_ROOM, 0), GSOTUN_EV_ROOM);
		} else if (round == 1) {
			CHECK_EQ(gsotun_wait(w.q, GSOTUN_EV_ROOM, 0, -1), GSOTUN_EV_ROOM);
			CHECK_EQ(w.polls, 0);
		} else {
			CHECK_EQ(gsotun_reserve(w.q, 100, f, 1), 1);
		}
		CHECK(!trapped);
		world_exit(&w);
	}
}

/* The same, and a kick is due: kick, but do not sleep. */
static void looked_before_word_was_left_and_kick_due(void)
{
	start_with(GSOTUN_OPT_DEFER_KICKS);
	gsotun_peek(w.q, f, 8);
	gsotun_disarm(w.q, GSOTUN_EV_RECORDS);
	from_kernel(&w)->kick_at = 64;
	gsotun_reserve(w.q, 10, f, 1);
	gsotun_submit(w.q, f, 1);
	trap(to_daemon(&w), kernel_sends_unseen);
	CHECK_EQ(gsotun_wait(w.q, GSOTUN_EV_RECORDS, 0, -1), GSOTUN_EV_RECORDS);
	CHECK(!trapped);
	CHECK_EQ(w.polls, 1);
	CHECK_EQ(w.poll_timeout, 0);
	CHECK_EQ(w.kick_calls, 0);
	world_exit(&w);
}

/* The status is read before the position, so the last record is not missed. */
static void looked_before_the_last_record(void)
{
	start(0);
	w.q->side[0].wait = 1;
	set_status(&w, GSOTUN_STATUS_DETACHED);
	trap(to_daemon(&w), kernel_sends_unseen);
	CHECK_EQ(gsotun_peek(w.q, f, 8), 1);
	CHECK(!trapped);
	CHECK_EQ(gsotun_peek(w.q, f, 8), -ENODEV);
	world_exit(&w);
}

static void explicit_kick(void)
{
	start(0);
	CHECK_EQ(gsotun_kick(w.q, 0), -EINVAL);
	CHECK_EQ(gsotun_kick(w.q, 4), -EINVAL);
	CHECK_EQ(gsotun_kick(w.q, 3), 0);
	CHECK_EQ(w.kick_calls, 1);
	CHECK_EQ(w.kicks[0] + w.kicks[1], 2);
	world_exit(&w);
}

/* ---- life ---- */

static void successor_goes_on_where_cons_stands(void)
{
	struct gsotun_info info;
	int i;

	/* Read only: nothing was altered, all of it is seen again. */
	start_with(GSOTUN_OPT_READ_ONLY);
	for (i = 0; i < 5; i++)
		kernel_send(&w, 100, (u8)i);
	gsotun_peek(w.q, f, 4);
	gsotun_release(w.q, 2);
	gsotun_reserve(w.q, 100, f, 3);
	gsotun_submit(w.q, f, 1);
	gsotun_disarm(w.q, 3);
	world_kill(&w);
	CHECK_EQ(world_attach(&w, NULL), 0);
	gsotun_info(w.q, &info, sizeof(info));
	CHECK_EQ(info.adopt_dropped, 0);
	CHECK_EQ(info.held[0], 0);
	CHECK_EQ(to_daemon(&w)->flags, 0);
	CHECK_EQ(from_daemon(&w)->flags, 0);
	CHECK_EQ(gsotun_peek(w.q, f, 8), 3);
	CHECK_EQ(f[0].mark, 2);
	/* What was reserved is not there. */
	CHECK(kernel_receive(&w));
	CHECK(!kernel_receive(&w));
	CHECK_EQ(gsotun_reserve(w.q, 100, f, 1), 1);
	CHECK_EQ(gsotun_submit(w.q, f, 1), 0);
	CHECK(kernel_receive(&w));
	world_exit(&w);
}

static void successor_drops_what_was_claimed(void)
{
	struct gsotun_info info;
	int i;

	start(0u - 256);
	for (i = 0; i < 5; i++)
		kernel_send(&w, 100, (u8)i);
	kernel_skip(&w, 64);
	for (i = 5; i < 7; i++)
		kernel_send(&w, 100, (u8)i);
	gsotun_peek(w.q, f, 6);
	gsotun_release(w.q, 1);
	/* The kernel waits for room, and this makes some. */
	to_kernel(&w)->kick_at = to_daemon(&w)->claim;
	world_kill(&w);
	CHECK_EQ(w.kick_calls, 0);
	CHECK_EQ(world_attach(&w, NULL), 0);
	CHECK_EQ(w.kicks[GSOTUN_TO_USER], 1);
	gsotun_info(w.q, &info, sizeof(info));
	CHECK_EQ(info.adopt_dropped, 5);
	CHECK_EQ(to_daemon(&w)->cons, to_daemon(&w)->claim);
	CHECK_EQ(gsotun_peek(w.q, f, 8), 1);
	CHECK_EQ(f[0].mark, 6);
	world_exit(&w);
}

/* The kernel's answer is older than what the predecessor released. */
static void successor_kicks_for_its_own_releases(void)
{
	start(0);
	kernel_send(&w, 100, 1);
	kernel_send(&w, 100, 2);
	gsotun_peek(w.q, f, 1);
	gsotun_release(w.q, 1);
	world_kill(&w);
	CHECK_EQ(world_attach(&w, NULL), 0);
	CHECK_EQ(w.a.cons[0], 0);
	to_kernel(&w)->kick_at = 64;
	CHECK_EQ(gsotun_peek(w.q, f, 8), 1);
	CHECK_EQ(gsotun_release(w.q, 1), 0);
	CHECK_EQ(w.kick_calls, 0);
	world_exit(&w);
}

static void successor_survives_scribbles(void)
{
	struct gsotun_info info;
	struct gsotun_record *rec;

	/* Claimed spans are gone: the claim still ends where it ends. */
	start(0);
	kernel_send(&w, 100, 1);
	kernel_send(&w, 100, 2);
	kernel_send(&w, 100, 3);
	gsotun_peek(w.q, f, 2);
	rec = (struct gsotun_record *)(f[0].vnet - sizeof(*rec));
	rec->span = 0x12345678;
	world_kill(&w);
	CHECK_EQ(world_attach(&w, NULL), 0);
	gsotun_info(w.q, &info, sizeof(info));
	CHECK_EQ(info.adopt_dropped, 1);
	CHECK_EQ(gsotun_peek(w.q, f, 1), 1);
	CHECK_EQ(f[0].mark, 3);
	gsotun_release(w.q, 1);

	/* So it does when a span reaches beyond it. */
	kernel_send(&w, 100, 4);
	kernel_send(&w, 100, 5);
	gsotun_peek(w.q, f, 1);
	rec = (struct gsotun_record *)(f[0].vnet - sizeof(*rec));
	rec->span *= 2;
	world_kill(&w);
	CHECK_EQ(world_attach(&w, NULL), 0);
	gsotun_info(w.q, &info, sizeof(info));
	CHECK_EQ(info.adopt_dropped, 1);
	CHECK_EQ(gsotun_peek(w.q, f, 8), 1);
	CHECK_EQ(f[0].mark, 5);
	world_kill(&w);

	/* A claim that cannot be. */
	to_daemon(&w)->claim = to_kernel(&w)->prod + 64;
	w.to.peer_pos = to_daemon(&w)->cons;
	CHECK_EQ(world_attach(&w, NULL), 0);
	CHECK_EQ(to_daemon(&w)->claim, to_daemon(&w)->cons);
	CHECK_EQ(gsotun_peek(w.q, f, 8), 1);
	world_kill(&w);

	/* Positions that cannot be. */
	to_daemon(&w)->cons = to_kernel(&w)->prod + 64;
	CHECK_EQ(world_attach(&w, NULL), -EBADMSG);
	to_daemon(&w)->cons = 3;
	CHECK_EQ(world_attach(&w, NULL), -EBADMSG);
	to_daemon(&w)->cons = w.to.peer_pos;
	to_daemon(&w)->claim = w.to.peer_pos;
	from_daemon(&w)->prod = RING + 64;
	CHECK_EQ(world_attach(&w, NULL), -EBADMSG);
	from_daemon(&w)->prod = 1;
	CHECK_EQ(world_attach(&w, NULL), -EBADMSG);
	from_daemon(&w)->prod = 0;
	CHECK_EQ(world_attach(&w, NULL), 0);
	world_exit(&w);
}

static void strange_answers_are_refused(void)
{
	world_init(&w, RING, 0);
	w.a.vnet_len = 25;
	CHECK_EQ(world_attach(&w, NULL), -EPROTO);
	w.a.vnet_len = 12;
	w.a.ring_bytes[1] = 3 * 4096;
	CHECK_EQ(world_attach(&w, NULL), -EPROTO);
	w.a.ring_bytes[1] = 2 * RING;
	CHECK_EQ(world_attach(&w, NULL), -EPROTO);
	w.a.ring_bytes[1] = RING;
	w.a.region[0].length = 8;
	CHECK_EQ(world_attach(&w, NULL), -EPROTO);
	w.a.region[0].length = 4096;
	CHECK_EQ(world_attach(&w, NULL), 0);
	world_exit(&w);
}

static void close_asks_before_it_drops(void)
{
	char text[GSOTUN_TEXT_MAX], small[8];

	start(0);
	kernel_send(&w, 10, 1);
	gsotun_peek(w.q, f, 1);
	CHECK_EQ(gsotun_close(w.q, 0), -EBUSY);
	CHECK_EQ(gsotun_quiesce(w.q), -EBUSY);
	CHECK(gsotun_last_message(w.q, text, sizeof(text)) == (int)strlen(text));
	CHECK(gsotun_last_message(w.q, small, sizeof(small)) == (int)strlen(text));
	CHECK_EQ(strlen(small), 7);
	gsotun_release(w.q, 1);
	gsotun_reserve(w.q, 10, f, 1);
	CHECK_EQ(gsotun_close(w.q, 0), -EBUSY);
	CHECK_EQ(gsotun_quiesce(w.q), -EBUSY);
	CHECK_EQ(gsotun_close(w.q, 2), -EINVAL);
	gsotun_cancel(w.q, 1);
	CHECK_EQ(gsotun_quiesce(w.q), 0);
	kernel_send(&w, 10, 1);
	CHECK_EQ(gsotun_peek(w.q, f, 1), -ESHUTDOWN);
	CHECK_EQ(gsotun_reserve(w.q, 10, f, 1), -ESHUTDOWN);
	CHECK_EQ(gsotun_wait(w.q, GSOTUN_EV_RECORDS, 0, -1), -ESHUTDOWN);
	CHECK_EQ(gsotun_close(w.q, 0), 0);
	w.q = NULL;
	CHECK_EQ(gsotun_close(NULL, 0), 0);
	/* Nothing was lost. */
	CHECK_EQ(world_attach(&w, NULL), 0);
	CHECK_EQ(gsotun_peek(w.q, f, 8), 1);
	CHECK_EQ(gsotun_close(w.q, GSOTUN_CLOSE_FORCE), 0);
	w.q = NULL;
	world_exit(&w);
}

static void info_and_stats_of_any_size(void)
{
	u8 bytes[sizeof(struct gsotun_info) + 16];
	struct gsotun_info info;
	struct gsotun_stats stats;

	start(0);
	set_status(&w, GSOTUN_STATUS_UP);
	kernel_send(&w, 10, 1);
	CHECK_EQ(gsotun_info(w.q, &info, sizeof(info)), sizeof(info));
	CHECK_EQ(info.backend, GSOTUN_BACKEND_MODULE);
	CHECK_EQ(info.abi, GSOTUN_ABI);
	CHECK_EQ(info.status, GSOTUN_STATUS_UP);
	CHECK_EQ(info.ifindex, 7);
	CHECK_EQ(info.queue, 3);
	CHECK_EQ(info.num_queues, 4);
	CHECK_EQ(info.used[0], 128);
	CHECK_EQ(info.used[1], 0);
	memset(bytes, 0xff, sizeof(bytes));
	CHECK_EQ(gsotun_info(w.q, (struct gsotun_info *)bytes, sizeof(bytes)), sizeof(info));
	CHECK(filled(bytes + sizeof(info), 16, 0));
	memset(bytes, 0xff, sizeof(bytes));
	CHECK_EQ(gsotun_info(w.q, (struct gsotun_info *)bytes, 8), 8);
	CHECK_EQ(bytes[8], 0xff);
	CHECK_EQ(gsotun_stats(w.q, &stats, sizeof(stats)), sizeof(stats));
	CHECK_EQ(stats.ring[0].records, 0);
	CHECK_EQ(gsotun_fd(w.q), -1);
	world_exit(&w);
}

static void options_grow_at_their_end(void)
{
	struct {
		struct gsotun_attach_opts opts;
		u32 newer[2];
	} o = { .opts.size = sizeof(o) };
	struct gsotun_dev_opts dev = { .size = sizeof(dev) };
	struct gsotun_attach_opts copy;
	struct gsotun_queue *q = NULL;
	char text[GSOTUN_TEXT_MAX];

	CHECK_EQ(gsotun_copy_sized(&copy, sizeof(copy), &o), 0);
	o.newer[1] = 1;
	CHECK_EQ(gsotun_copy_sized(&copy, sizeof(copy), &o), -E2BIG);
	CHECK_EQ(gsotun_attach(1, &o.opts, &q, text, sizeof(text)), -E2BIG);
	CHECK(text[0]);
	CHECK_EQ(gsotun_adopt(-1, &o.opts, &q, NULL, 0), -E2BIG);
	o.newer[1] = 0;
	o.opts.size = 8;
	CHECK_EQ(gsotun_attach(1, &o.opts, &q, text, sizeof(text)), -EINVAL);
	o.opts.size = sizeof(o);
	o.opts.flags = 1u << 31;
	CHECK_EQ(gsotun_attach(1, &o.opts, &q, text, 1), -EINVAL);
	CHECK_EQ(text[0], 0);
	CHECK_EQ(gsotun_adopt(-1, NULL, &q, text, sizeof(text)), -EBADF);
	CHECK_EQ(gsotun_adopt(STDIN_FILENO, NULL, &q, text, sizeof(text)), -ENOTTY);

	dev.flags = 1u << 31;
	CHECK_EQ(gsotun_dev_create(&dev, NULL, text, sizeof(text)), -EINVAL);
	dev.flags = 0;
	dev.name = "a name that is much too long";
	CHECK_EQ(gsotun_dev_create(&dev, NULL, text, sizeof(text)), -EINVAL);
	dev.name = "";
	CHECK_EQ(gsotun_dev_create(&dev, NULL, text, sizeof(text)), -EINVAL);
	dev.name = "long-pattern-%d-x";
	CHECK_EQ(gsotun_dev_create(&dev, NULL, text, sizeof(text)), -EINVAL);
	CHECK(text[0]);
	CHECK_EQ(gsotun_dev_delete(0, text, sizeof(text)), -ENODEV);
	CHECK_EQ(gsotun_dev_delete(0x7fffffff, text, sizeof(text)), -ENODEV);
	CHECK(text[0]);
	CHECK_EQ(gsotun_dev_delete(1, text, sizeof(text)), -EINVAL);	/* lo */
	CHECK(!strcmp(text, "not a gsotun device"));
}

static void missing_module_is_said(void)
{
	struct gsotun_queue *q = NULL;
	char text[GSOTUN_TEXT_MAX];
	int err;

	if (!access("/dev/net/gsotun", F_OK))
		return;
	err = gsotun_attach(1, NULL, &q, text, sizeof(text));
	CHECK_EQ(err, -ENOENT);
	CHECK(strstr(text, "modprobe gsotun"));
	CHECK_EQ(gsotun_attach(1, NULL, &q, NULL, 0), -ENOENT);
	CHECK(!q);
}

static void names_and_texts(void)
{
	unsigned int i, k;

	for (i = 0; i <= GSOTUN_DROP_MAX; i++) {
		CHECK(gsotun_drop_name(i));
		for (k = 0; k < i; k++)
			CHECK(strcmp(gsotun_drop_name(i), gsotun_drop_name(k)));
	}
	CHECK(!gsotun_drop_name(GSOTUN_DROP_MAX + 1));
	CHECK(!strcmp(gsotun_drop_name(GSOTUN_DROP_RING_FULL), "ring_full"));
	CHECK(!strcmp(gsotun_offload_name(0), "csum"));
	CHECK(!strcmp(gsotun_offload_name(7), "big_tcp"));
	CHECK(!gsotun_offload_name(8));
	for (i = 0; i < 200; i++)
		CHECK(gsotun_strerror(-(int)i));
	CHECK_EQ(gsotun_version(), GSOTUN_VERSION_MAJOR << 16 | GSOTUN_VERSION_MINOR << 8 |
		 GSOTUN_VERSION_PATCH);
}

#define TEST(name)	{ #name, name }

int main(void)
{
	static const struct ktap_test tests[] = {
		TEST(peek_of_nothing),
		TEST(peek_gives_what_was_sent),
		TEST(peek_goes_on_before_release),
		TEST(skips_are_passed_over),
		TEST(wraps_keep_contents),
		TEST(no_more_frames_than_agreed),
		TEST(to_user_kick_at_the_border),
		TEST(claim_covers_what_was_peeked),
		TEST(train_fields),
		TEST(big_packet_has_no_16_bit_length),
		TEST(corrupt_records),
		TEST(corrupt_positions),
		TEST(submit_writes_the_record),
		TEST(reservations_finish_in_any_order),
		TEST(cancel_gives_room_back),
		TEST(skips_instead_of_records),
		TEST(reserve_refuses),
		TEST(submit_refuses_strange_frames),
		TEST(long_vnet_header),
		TEST(from_user_train),
		TEST(from_user_kick_at_the_border),
		TEST(wait_sleeps_until_records),
		TEST(wait_sleeps_until_half_is_free),
		TEST(arm_publishes_what_is_awaited),
		TEST(plain_loops_leave_word),
		TEST(room_that_reservations_take),
		TEST(detach_comes_after_the_last_record),
		TEST(hangup_without_a_word_is_the_end),
		TEST(signals_end_a_wait),
		TEST(deferred_kicks_ride_on_poll),
		TEST(looked_before_word_was_left),
		TEST(looked_before_word_was_left_and_kick_due),
		TEST(looked_before_the_last_record),
		TEST(explicit_kick),
		TEST(successor_goes_on_where_cons_stands),
		TEST(successor_drops_what_was_claimed),
		TEST(successor_kicks_for_its_own_releases),
		TEST(successor_survives_scribbles),
		TEST(strange_answers_are_refused),
		TEST(close_asks_before_it_drops),
		TEST(info_and_stats_of_any_size),
		TEST(options_grow_at_their_end),
		TEST(missing_module_is_said),
		TEST(names_and_texts),
	};

	return ktap_run(tests, sizeof(tests) / sizeof(*tests));
}
