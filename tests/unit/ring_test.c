// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * ring_test.c - the ring protocol with one thread: positions around 2^32, full and
 * empty rings, wait indices, and peers that write what they like.
 */
#include <assert.h>
#include <string.h>

#include <linux/gsotun.h>
#include "ring.h"

#include "ktap.h"
#include "noise.h"

#define SIZE	4096u
#define HALF	0x80000000u

/* Both sides lay these two words over their pages. */
static_assert(offsetof(struct gsotun_to_user_kernel, prod) == 0, "ring words");
static_assert(offsetof(struct gsotun_to_user_kernel, kick_at) == 4, "ring words");
static_assert(offsetof(struct gsotun_to_user_daemon, cons) == 0, "ring words");
static_assert(offsetof(struct gsotun_to_user_daemon, seen) == 4, "ring words");
static_assert(offsetof(struct gsotun_from_user_kernel, cons) == 0, "ring words");
static_assert(offsetof(struct gsotun_from_user_kernel, kick_at) == 4, "ring words");
static_assert(offsetof(struct gsotun_from_user_daemon, prod) == 0, "ring words");
static_assert(offsetof(struct gsotun_from_user_daemon, room_at) == 4, "ring words");
static_assert(RING_ALIGN == GSOTUN_RECORD_ALIGN, "alignment");

static const u32 starts[] = {
	0, 64, SIZE - 64, SIZE, HALF - SIZE, HALF - 64, HALF, -SIZE - 64, -SIZE, -64u,
};

static struct gsotun_ring_words prod_page, cons_page;
static struct gsotun_ring prod, cons;
static u8 data[2 * SIZE];

static void start_at(u32 pos)
{
	const struct gsotun_ring fresh = {
		.data = data, .size = SIZE, .pos = pos, .published = pos, .peer_pos = pos,
	};

	prod_page = (struct gsotun_ring_words){ .pos = pos };
	cons_page = prod_page;
	prod = fresh;
	prod.own = &prod_page;
	prod.peer = &cons_page;
	cons = fresh;
	cons.own = &cons_page;
	cons.peer = &prod_page;
}

static void submit(u32 bytes)
{
	prod.pos += bytes;
	ring_publish(&prod, prod.pos);
}

static void consume(u32 bytes)
{
	cons.pos += bytes;
	ring_publish(&cons, cons.pos);
}

static void an_empty_ring_has_all_its_room(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(starts); i++) {
		start_at(starts[i]);
		expect(ring_update_consumer(&prod) && ring_update_producer(&cons), "%u", starts[i]);
		expect(ring_used(&prod) == 0 && ring_room(&prod) == SIZE, "%u", ring_room(&prod));
		expect(ring_ready(&cons) == 0, "%u", ring_ready(&cons));
	}
}

static void a_full_ring_has_none(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(starts); i++) {
		start_at(starts[i]);
		prod.pos += SIZE;
		expect(ring_room(&prod) == 0, "reserved is used: %u", ring_room(&prod));
		expect(ring_update_producer(&cons) && !ring_ready(&cons), "not yet submitted");
		ring_publish(&prod, prod.pos);
		expect(ring_update_producer(&cons) && ring_ready(&cons) == SIZE, "%u",
		       ring_ready(&cons));

		cons.pos += SIZE;
		expect(ring_ready(&cons) == 0, "peeked is not ready: %u", ring_ready(&cons));
		expect(ring_update_consumer(&prod) && !ring_room(&prod), "not yet released");
		ring_publish(&cons, cons.pos - 64);
		expect(ring_update_consumer(&prod) && ring_room(&prod) == SIZE - 64, "%u",
		       ring_room(&prod));
		ring_publish(&cons, cons.pos);
		expect(ring_update_consumer(&prod) && ring_room(&prod) == SIZE, "%u",
		       ring_room(&prod));
	}
}

static void publishing_gives_the_position_before(void)
{
	start_at(-128u);
	prod_page.wait = 77;
	cons_page.wait = 78;
	expect(ring_publish(&prod, -64u) == -128u && prod_page.pos == -64u, "%u", prod_page.pos);
	expect(ring_publish(&prod, 64) == -64u && prod_page.pos == 64, "%u", prod_page.pos);
	expect(prod_page.wait == 77 && cons_page.wait == 78 && cons_page.pos == -128u,
	       "no other word to change");
	expect(ring_peer_wait(&prod) == 78 && ring_peer_wait(&cons) == 77, "the peer's index");
}

/* Both sides at random, and a model that counts in 64 bits. */
static void positions_wrap_and_nobody_notices(void)
{
	u64 reserved = 0, submitted = 0, peeked = 0, released = 0;
	u32 n, step, start = -20u * SIZE;

	start_at(start);
	for (n = 0; n < 200000; n++) {
		switch (noise() % 4) {
		case 0:
			ring_update_consumer(&prod);
			step = noise() % 20 * 64;
			if (step > ring_room(&prod))
				break;
			prod.pos += step;
			reserved += step;
			break;
		case 1:
			step = noise() % ((reserved - submitted) / 64 + 1) * 64;
			submitted += step;
			ring_publish(&prod, start + (u32)submitted);
			break;
		case 2:
			ring_update_producer(&cons);
			step = noise() % 20 * 64;
			if (step > ring_ready(&cons))
				break;
			cons.pos += step;
			peeked += step;
			break;
		default:
			step = noise() % ((peeked - released) / 64 + 1) * 64;
			released += step;
			ring_publish(&cons, start + (u32)released);
			break;
		}
		expect(prod.pos == start + (u32)reserved, "%u", n);
		expect(cons.pos == start + (u32)peeked, "%u", n);
		expect(reserved - released <= SIZE, "%u", n);
		expect(ring_update_consumer(&prod) && ring_update_producer(&cons), "%u", n);
		expect(ring_used(&prod) == reserved - released, "%u: %u", n, ring_used(&prod));
		expect(ring_ready(&cons) == submitted - peeked, "%u: %u", n, ring_ready(&cons));
	}
	expect(released > 1000 * SIZE, "%llu bytes to have passed", (unsigned long long)released);
}

/* The second mapping is as long as the first, and no record needs more. */
static void records_end_inside_the_second_mapping(void)
{
	u32 pos, span;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(starts); i++) {
		start_at(starts[i]);
		for (pos = starts[i]; pos != starts[i] + 2 * SIZE; pos += 64) {
			u8 *at = ring_at(&prod, pos);

			expect(at >= data && at + SIZE <= data + 2 * SIZE, "%u", pos);
			expect((u32)(at - data) == pos % SIZE, "%u", pos);
			expect(at == ring_at(&cons, pos + SIZE), "%u", pos);
		}
	}
	for (span = 0; span < 300; span++)
		expect(ring_span(span) % 64 == 0 && ring_span(span) - span < 64, "%u", span);
	expect(ring_span(0) == 0 && ring_span(64) == 64 && ring_span(65) == 128, "borders");
}

/* ---- waiting ---- */

static void crossed_means_reached_in_this_step(void)
{
	u32 step, d;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(starts); i++) {
		u32 from = starts[i];

		for (step = 0; step <= 3 * 64; step++) {
			for (d = 0; d <= 4 * 64; d++) {
				expect(ring_crossed(from, from + step, from + d) ==
				       (d > 0 && d <= step), "%u + %u", from, d);
				if (d)
					expect(!ring_crossed(from, from + step, from - d),
					       "%u - %u", from, d);
			}
		}
		expect(ring_crossed(from, from + HALF, from + 1), "a large step");
		expect(ring_crossed(from, from + HALF, from + HALF), "a large step");
		expect(!ring_crossed(from, from + HALF, from + HALF + 1), "a large step");
	}
}

static void a_wait_index_is_crossed_once(void)
{
	u32 at, step, old, crossings;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(starts); i++) {
		for (at = 1; at <= SIZE; at += 63) {
			start_at(starts[i]);
			ring_wait_at(&cons, starts[i] + at);
			expect(cons_page.wait == starts[i] + at, "%u", at);
			expect(cons_page.pos == starts[i], "%u", at);
			for (crossings = 0, step = 64; step <= SIZE; step += 64) {
				prod.pos += 64;
				old = ring_publish(&prod, prod.pos);
				crossings += ring_crossed(old, prod.pos, ring_peer_wait(&prod));
				expect(crossings == (step >= at), "%u after %u", at, step);
			}
		}
	}
}

static void who_does_not_wait_is_not_woken(void)
{
	u32 old, to;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(starts); i++) {
		start_at(starts[i]);
		ring_wait_not(&cons, starts[i]);
		for (to = 64; to < HALF; to += to) {
			old = ring_publish(&prod, starts[i] + to);
			expect(!ring_crossed(old, prod.published, ring_peer_wait(&prod)), "%u", to);
			expect(!ring_crossed(starts[i], prod.published, ring_peer_wait(&prod)),
			       "%u", to);
		}
		/* After 2 GiB it would be met: the promise that it has to be repeated. */
		to = starts[i] + HALF;
		expect(ring_crossed(prod.published, to, ring_peer_wait(&prod)), "2 GiB");
	}
}

static void a_claim_is_a_position(void)
{
	u32 claim = 0;

	ring_claim(&claim, -64u);
	expect(claim == -64u, "%u", claim);
}

/* ---- peers that break the protocol ---- */

static void a_consumer_stays_between_release_and_submission(void)
{
	u32 said, back;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(starts); i++) {
		for (said = 0; said != 3 * SIZE; said++) {
			/* 1 KiB released, 1 KiB submitted, 1 KiB reserved */
			start_at(starts[i] - 1024);
			submit(1024);
			consume(1024);
			ring_update_consumer(&prod);
			submit(1024);
			prod.pos += 1024;

			cons_page.pos = starts[i] - SIZE + said;
			back = prod.peer_pos;
			if (said >= SIZE && said <= SIZE + 1024 && said % 64 == 0) {
				expect(ring_update_consumer(&prod), "%u to be right", said);
				expect(prod.peer_pos == cons_page.pos, "%u", said);
			} else {
				expect(!ring_update_consumer(&prod), "%u to be wrong", said);
				expect(prod.peer_pos == back, "%u not to be taken", said);
			}
			expect(ring_used(&prod) <= SIZE && ring_room(&prod) <= SIZE, "%u", said);
		}
	}
}

static void a_producer_stays_within_a_ring_of_the_release(void)
{
	u32 said, back;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(starts); i++) {
		for (said = 0; said != 3 * SIZE; said++) {
			/* 1 KiB held, 1 KiB ready */
			start_at(starts[i]);
			submit(2048);
			ring_update_producer(&cons);
			cons.pos += 1024;

			prod_page.pos = starts[i] - SIZE + said;
			back = cons.peer_pos;
			if (said >= SIZE + 2048 && said <= 2 * SIZE && said % 64 == 0) {
				expect(ring_update_producer(&cons), "%u to be right", said);
				expect(cons.peer_pos == prod_page.pos, "%u", said);
			} else {
				expect(!ring_update_producer(&cons), "%u to be wrong", said);
				expect(cons.peer_pos == back, "%u not to be taken", said);
			}
			expect(ring_ready(&cons) <= SIZE, "%u", said);
		}
	}
}

/* Whatever the other side writes: no more room, and no more records, than the ring has. */
static void a_hostile_peer_stays_outside(void)
{
	u32 n, said, right = 0;

	start_at(-10u * SIZE);
	for (n = 0; n < 1000000; n++) {
		said = noise();
		if (noise() % 4)
			said = cons.published + (said % (3 * SIZE) - SIZE);
		if (noise() % 4)
			said &= ~63u;
		prod_page.pos = said;
		right += ring_update_producer(&cons);
		expect(ring_ready(&cons) + (cons.pos - cons.published) <= SIZE, "%u", n);
		if (ring_ready(&cons))
			cons.pos += 64 * (1 + noise() % (ring_ready(&cons) / 64));
		if (noise() % 2)
			ring_publish(&cons, cons.pos);

		said = noise();
		if (noise() % 4)
			said = prod.published - said % (2 * SIZE);
		if (noise() % 4)
			said &= ~63u;
		cons_page.pos = said;
		right += ring_update_consumer(&prod);
		expect(ring_used(&prod) <= SIZE && ring_room(&prod) <= SIZE, "%u", n);
		if (ring_room(&prod))
			prod.pos += 64 * (noise() % (ring_room(&prod) / 64 + 1));
		if (noise() % 2)
			ring_publish(&prod, prod.pos);
	}
	expect(right > 100000 && right < 1900000, "%u right positions", right);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(an_empty_ring_has_all_its_room),
	KTAP_TEST(a_full_ring_has_none),
	KTAP_TEST(publishing_gives_the_position_before),
	KTAP_TEST(positions_wrap_and_nobody_notices),
	KTAP_TEST(records_end_inside_the_second_mapping),
	KTAP_TEST(crossed_means_reached_in_this_step),
	KTAP_TEST(a_wait_index_is_crossed_once),
	KTAP_TEST(who_does_not_wait_is_not_woken),
	KTAP_TEST(a_claim_is_a_position),
	KTAP_TEST(a_consumer_stays_between_release_and_submission),
	KTAP_TEST(a_producer_stays_within_a_ring_of_the_release),
	KTAP_TEST(a_hostile_peer_stays_outside),
};

int main(void)
{
	return ktap_main(tests, ARRAY_SIZE(tests));
}
