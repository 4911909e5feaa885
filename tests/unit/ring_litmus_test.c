// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * ring_litmus_test.c - barriers E and F: does one side always see the other?
 *
 * The producer publishes a position and reads the wait index; the consumer
 * publishes a wait index and reads the position. If both read what was there
 * before, the consumer sleeps and nobody wakes it. Without one of the barriers
 * that happens on x86 too, because a store may wait in its CPU while later loads
 * go ahead. In real traffic the two rarely meet in that moment, so here they meet
 * on purpose: a million pairs, each on ring pages of its own, step by step.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "ring.h"

#include "ktap.h"

#define SIZE	4096u
#define PAIRS	4096u
#define ROUNDS	250u

struct line {
	struct gsotun_ring_words words;
} __attribute__((aligned(64)));

struct pair {
	struct line prod;
	struct line cons;
};

/* One thread; step and seen are its own. */
struct side {
	u32 step __attribute__((aligned(64)));
	const u32 *peer_step;
	bool seen[PAIRS];
};

static struct pair *pairs;
static struct side producer, consumer;

/* Both threads do step @n at about the same time. */
static void meet(struct side *s, u32 n)
{
	u32 spins = 0;

	core_store_release(&s->step, n);	/* with what was seen up to here */
	while ((int)(core_load(s->peer_step) - n) < 0)
		if (++spins % 1024 == 0)
			sched_yield();
}

static struct gsotun_ring ring_of(struct line *own, const struct line *peer, u32 at)
{
	return (struct gsotun_ring){
		.own = &own->words, .peer = &peer->words, .size = SIZE,
		.pos = at, .published = at, .peer_pos = at,
	};
}

/* Positions go on from round to round, so nothing has to be reset. */
static void *produce(void *unused)
{
	u32 round, i;

	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < PAIRS; i++) {
			u32 at = round * 64;
			struct gsotun_ring r = ring_of(&pairs[i].prod, &pairs[i].cons, at);

			meet(&producer, round * PAIRS + i + 1);
			ring_publish(&r, at + 64);
			producer.seen[i] = ring_crossed(at, at + 64, ring_peer_wait(&r));
		}
		meet(&producer, (round + 1) * PAIRS + 1);
	}
	return unused;
}

static u32 consume(void)
{
	u32 round, i, lost = 0;

	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < PAIRS; i++) {
			u32 at = round * 64;
			struct gsotun_ring r = ring_of(&pairs[i].cons, &pairs[i].prod, at);

			meet(&consumer, round * PAIRS + i + 1);
			ring_wait_at(&r, at + 1);
			ring_update_producer(&r);
			consumer.seen[i] = ring_ready(&r);
		}
		/* The producer's results of this round stand until we come to the next. */
		while ((int)(core_load_acquire(&producer.step) - (round + 1) * PAIRS - 1) < 0)
			sched_yield();
		for (i = 0; i < PAIRS; i++)
			lost += !producer.seen[i] && !consumer.seen[i];
		meet(&consumer, (round + 1) * PAIRS + 1);
	}
	return lost;
}

static void one_side_always_sees_the_other(void)
{
	pthread_t thread;
	u32 lost;

	pairs = aligned_alloc(64, PAIRS * sizeof(*pairs));
	if (!pairs) {
		expect(pairs, "memory");
		return;
	}
	memset(pairs, 0, PAIRS * sizeof(*pairs));
	producer.peer_step = &consumer.step;
	consumer.peer_step = &producer.step;
	if (pthread_create(&thread, NULL, produce, NULL)) {
		expect(!thread, "a thread");
		return;
	}
	lost = consume();
	pthread_join(thread, NULL);
	expect(!lost, "%u of %u sleepers would not be woken", lost, PAIRS * ROUNDS);
	free(pairs);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(one_side_always_sees_the_other),
};

int main(void)
{
	return ktap_main(tests, ARRAY_SIZE(tests));
}
