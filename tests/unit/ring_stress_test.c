// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * ring_stress_test.c - two threads and one ring: is every record there, whole and in
 * order, and does nobody sleep on?
 *
 * The data area is real memory mapped twice, positions begin shortly before 2^32,
 * and either side sleeps on a futex by the wait index of the protocol. Who has
 * slept for long although what it waited for came was not woken: a lost wake-up
 * is found by looking, not by the time it takes.
 *
 * Built twice, because one build cannot find everything:
 *
 *   -O2	The real barriers on the real CPU (ring_litmus_test.c looks at E and F
 *		more closely). Each thread has mappings of its own, as kernel and
 *		daemon have.
 *   TSAN	The thread sanitizer proves that records are handed over by A-D. It
 *		does not know fences (gcc warns: -Wtsan), so it cannot judge E-G; they
 *		guard no data, only sleep, so it has nothing to complain of either. It
 *		tells memory by its address, so both threads share a mapping here. A
 *		futex is no synchronisation to it, so a hand-over that would be right
 *		only because the other side was asleep is found too.
 */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ring.h"

#include "ktap.h"
#include "noise.h"

#ifdef __SANITIZE_THREAD__
#define SHARED_MAPPING	1
#define SCALE		2	/* instrumented accesses are slow */
#else
#define SHARED_MAPPING	0
#define SCALE		1
#endif

#define PAGE		4096u
#define NSEC		1000000000ll
#define LONG_SLEEP	(2 * NSEC)
#define VERY_LONG_SLEEP	(10 * NSEC)

/**
 * struct run - what a test wants
 * @size: bytes of the ring
 * @records: how many
 * @max_len: most bytes of content; a record is a quarter of the ring at most
 * @burst: most records that are submitted or released at once
 * @lazy: one in so many records the producer [0] or the consumer [1] dawdles; 0: never
 * @lockstep: the producer waits until all it submitted is released
 */
struct run {
	u32 size;
	u32 records;
	u32 max_len;
	u32 burst;
	u32 lazy[2];
	bool lockstep;
};

struct record {
	u32 span;
	u32 len;
	u64 seq;
	u64 words[];
};

/* One side, written by its thread alone, but for woken. */
struct side {
	struct gsotun_ring ring;
	const struct run *run;
	struct side *peer;
	u32 rng;
	u32 woken;		/* futex: counts the wake-ups that the peer sent */
	u64 arms, sleeps, wakes, lost, bad;
};

/* ---- sleeping and waking ---- */

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * NSEC + t.tv_nsec;
}

static void futex_sleep(u32 *word, u32 value)
{
	const struct timespec second = { .tv_sec = 1 };

	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &second, NULL, 0);
}

static void wake(struct side *s)
{
	s->wakes++;
	__atomic_fetch_add(&s->peer->woken, 1, __ATOMIC_RELAXED);
	syscall(SYS_futex, &s->peer->woken, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* Submit or release what has been done up to pos. */
static void publish(struct side *s)
{
	struct gsotun_ring *r = &s->ring;
	u32 old;

	if (r->published == r->pos)
		return;
	old = ring_publish(r, r->pos);
	if (ring_crossed(old, r->pos, ring_peer_wait(r)))
		wake(s);
}

/* There is no way on, and the other thread would wait for ever. */
static void give_up(const struct gsotun_ring *r, const char *why)
{
	printf("# %s at %u, the peer's position is %u\n", why, r->pos, core_load(&r->peer->pos));
	_exit(1);
}

static void look(struct gsotun_ring *r, bool (*update)(struct gsotun_ring *r))
{
	if (!update(r))
		give_up(r, "an impossible position");
}

/*
 * Sleeps until the peer's position has reached @at. @update reads that position and
 * is called between arming and sleeping, as the protocol wants it.
 */
static void sleep_until(struct side *s, u32 at, bool (*update)(struct gsotun_ring *r))
{
	struct gsotun_ring *r = &s->ring;
	u32 woken = core_load(&s->woken);
	long long since = now();

	s->arms++;
	ring_wait_at(r, at);
	look(r, update);
	if ((int)(r->peer_pos - at) >= 0)
		return;

	s->sleeps++;
	while (core_load(&s->woken) == woken) {
		futex_sleep(&s->woken, woken);
		if (core_load(&s->woken) != woken || now() - since < LONG_SLEEP)
			continue;
		look(r, update);
		if ((int)(r->peer_pos - at) < 0) {
			since = now();	/* the peer is slow; that is no crime */
		} else if (now() - since > VERY_LONG_SLEEP) {
			s->lost++;
			return;
		}
	}
}

static void dawdle(struct side *s, u32 one_in)
{
	volatile u32 spin;

	if (!one_in || noise_next(&s->rng) % one_in)
		return;
	if (noise_next(&s->rng) % 8)
		for (spin = noise_next(&s->rng) % 4096; spin; spin--)
			;
	else
		sched_yield();
}

/* ---- the two threads ---- */

static void wait_for_room(struct side *s, u32 span)
{
	struct gsotun_ring *r = &s->ring;

	look(r, ring_update_consumer);
	if (ring_room(r) >= span)
		return;
	publish(s);
	sleep_until(s, r->pos + span - r->size, ring_update_consumer);
}

static void *produce(void *arg)
{
	struct side *s = arg;
	struct gsotun_ring *r = &s->ring;
	const struct run *run = s->run;
	u32 n, i, len, span, burst = 1;
	struct record *rec;

	for (n = 0; n < run->records; n++) {
		len = noise_next(&s->rng) % (run->max_len + 1);
		span = ring_span((u32)sizeof(*rec) + len);
		while (ring_room(r) < span)
			wait_for_room(s, span);
		rec = ring_at(r, r->pos);
		rec->span = span;
		rec->len = len;
		rec->seq = n;
		for (i = 0; i < len / 8; i++)
			rec->words[i] = (u64)n << 32 | i;
		r->pos += span;

		dawdle(s, run->lazy[0]);
		if (--burst)
			continue;
		burst = 1 + noise_next(&s->rng) % run->burst;
		publish(s);
		while (run->lockstep && ring_used(r))
			sleep_until(s, r->pos, ring_update_consumer);
	}
	publish(s);
	return NULL;
}

static void check(struct side *s, const struct record *rec, u32 n)
{
	u32 i;

	if (rec->seq != n || rec->len > s->run->max_len ||
	    rec->span != ring_span((u32)sizeof(*rec) + rec->len)) {
		s->bad++;
		return;
	}
	for (i = 0; i < rec->len / 8; i++)
		if (rec->words[i] != ((u64)n << 32 | i))
			s->bad++;
}

static void *consume(void *arg)
{
	struct side *s = arg;
	struct gsotun_ring *r = &s->ring;
	const struct run *run = s->run;
	const struct record *rec;
	u32 n, burst = 1;

	for (n = 0; n < run->records; n++) {
		while (!ring_ready(r)) {
			look(r, ring_update_producer);
			if (ring_ready(r))
				break;
			publish(s);
			sleep_until(s, r->pos + 1, ring_update_producer);
		}
		rec = ring_at(r, r->pos);
		check(s, rec, n);
		if (!rec->span || rec->span > ring_ready(r))
			give_up(r, "an impossible record");
		r->pos += rec->span;
		dawdle(s, run->lazy[1]);
		if (--burst)
			continue;
		burst = 1 + noise_next(&s->rng) % run->burst;
		publish(s);
	}
	publish(s);
	return NULL;
}

/* ---- memory ---- */

static u8 *map_twice(int fd, u32 size)
{
	u8 *area = mmap(NULL, 2ul * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int i;

	if (area == MAP_FAILED)
		return NULL;
	for (i = 0; i < 2; i++)
		if (mmap(area + (size_t)i * size, size, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_FIXED, fd, PAGE * 2) == MAP_FAILED)
			return NULL;
	return area;
}

/* A file of both sides' pages and the data area; each side maps it for itself. */
static bool map_side(struct gsotun_ring *r, int fd, const struct run *run, int index, u32 start)
{
	u8 *pages = mmap(NULL, PAGE * 2, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (pages == MAP_FAILED)
		return false;
	*r = (struct gsotun_ring){
		.own = (void *)(pages + index * PAGE),
		.peer = (void *)(pages + !index * PAGE),
		.data = map_twice(fd, run->size),
		.size = run->size,
		.pos = start,
		.published = start,
		.peer_pos = start,
	};
	r->own->pos = start;
	ring_wait_not(r, start);
	return r->data;
}

static bool map_ring(struct side sides[2], const struct run *run, u32 start)
{
	int fd = memfd_create("ring", MFD_CLOEXEC);
	bool ok;

	if (fd < 0 || ftruncate(fd, PAGE * 2 + run->size))
		return false;
	ok = map_side(&sides[0].ring, fd, run, 0, start) &&
	     map_side(&sides[1].ring, fd, run, 1, start);
	if (ok && SHARED_MAPPING) {
		struct gsotun_ring *r = &sides[1].ring;

		r->data = sides[0].ring.data;
		r->own = (void *)sides[0].ring.peer;
		r->peer = sides[0].ring.own;
	}
	close(fd);
	return ok;
}

/* ---- tests ---- */

static void stress(struct run run)
{
	/* So that positions pass 2^32 after some rounds, in the middle of a record. */
	u32 start = -(3 * run.size) - 64;
	struct side sides[2] = {
		{ .run = &run, .peer = &sides[1], .rng = NOISE_SEED },
		{ .run = &run, .peer = &sides[0], .rng = ~NOISE_SEED },
	};
	pthread_t producer;
	int i;

	run.records /= SCALE;
	if (!map_ring(sides, &run, start)) {
		expect(false, "memory: %d", errno);
		return;
	}
	if (pthread_create(&producer, NULL, produce, &sides[0])) {
		expect(false, "a thread");
		return;
	}
	consume(&sides[1]);
	pthread_join(producer, NULL);

	printf("# %u records; slept %llu + %llu times, woken %llu + %llu times\n", run.records,
	       (unsigned long long)sides[0].sleeps, (unsigned long long)sides[1].sleeps,
	       (unsigned long long)sides[1].wakes, (unsigned long long)sides[0].wakes);
	expect(!sides[0].bad && !sides[1].bad, "%llu + %llu things wrong",
	       (unsigned long long)sides[0].bad, (unsigned long long)sides[1].bad);
	expect(!sides[0].lost && !sides[1].lost, "%llu + %llu wake-ups lost",
	       (unsigned long long)sides[0].lost, (unsigned long long)sides[1].lost);
	expect(sides[0].ring.published == sides[1].ring.published, "nothing left: %u, %u",
	       sides[0].ring.published, sides[1].ring.published);
	expect(sides[0].sleeps + sides[1].sleeps > run.records / 100000, "that somebody slept");
	/* An event index costs one wake-up, a flag would cost one for each submission. */
	for (i = 0; i < 2; i++)
		expect(sides[i].wakes <= sides[!i].arms, "%llu wake-ups for %llu waits",
		       (unsigned long long)sides[i].wakes, (unsigned long long)sides[!i].arms);
}

static void records_arrive_whole_and_in_order(void)
{
	stress((struct run){ .size = 256 << 10, .records = 3000000, .max_len = 1500, .burst = 32 });
}

static void large_records_in_a_small_ring(void)
{
	stress((struct run){ .size = 4096, .records = 1000000, .max_len = 1000, .burst = 3,
			     .lazy = { 50, 50 } });
}

static void a_slow_consumer_lets_the_producer_sleep(void)
{
	stress((struct run){ .size = 16 << 10, .records = 1000000, .max_len = 300, .burst = 8,
			     .lazy = { 0, 4 } });
}

static void a_slow_producer_lets_the_consumer_sleep(void)
{
	stress((struct run){ .size = 16 << 10, .records = 1000000, .max_len = 300, .burst = 8,
			     .lazy = { 4, 0 } });
}

static void both_sleep_for_each_record(void)
{
	stress((struct run){ .size = 4096, .records = 400000, .max_len = 100, .burst = 1,
			     .lockstep = true });
}

static const struct ktap_test tests[] = {
	KTAP_TEST(records_arrive_whole_and_in_order),
	KTAP_TEST(large_records_in_a_small_ring),
	KTAP_TEST(a_slow_consumer_lets_the_producer_sleep),
	KTAP_TEST(a_slow_producer_lets_the_consumer_sleep),
	KTAP_TEST(both_sleep_for_each_record),
};

int main(void)
{
	return ktap_main(tests, ARRAY_SIZE(tests));
}
