// SPDX-License-Identifier: GPL-2.0
/*
 * lib_stress.c - both rings at full speed, each end in a thread of its own.
 *
 * Small rings, so that all four ends sleep all the time. The kernel's ends sleep
 * on what a kick writes, the daemon's in poll(). A wake-up that gets lost ends in
 * SIGALRM. To be run under TSAN too.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "ktap.h"
#include "world.h"

#define RING		16384u
#define RECORDS		150000u
#define LENGTH(i)	(1 + (i) * 2654435761u % 3000)
#define DEADLINE	120

static struct world w;
static int wake[2], kicked[2];		/* by direction: to the daemon, to the kernel */

static void signal_fd(int fd)
{
	u64 one = 1;

	if (write(fd, &one, sizeof(one)) != sizeof(one))
		abort();
}

static void sleep_fd(int fd)
{
	u64 count;

	if (read(fd, &count, sizeof(count)) != sizeof(count))
		abort();
}

static int stress_kick(struct gsotun_queue *q, u32 rings)
{
	int dir;

	(void)q;
	for (dir = 0; dir < 2; dir++)
		if (rings & 1u << dir)
			signal_fd(kicked[dir]);
	return 0;
}

/* One direction at a time, as the threads use it. */
static int stress_poll(struct pollfd *fds, unsigned int n, int timeout_ms)
{
	int dir = fds->events & POLLIN ? GSOTUN_TO_USER : GSOTUN_FROM_USER;

	(void)n;
	(void)timeout_ms;
	sleep_fd(wake[dir]);
	return 1;
}

static void stress_destroy(struct gsotun_queue *q)
{
	(void)q;
}

static const struct gsotun_backend stress_backend = {
	.kick = stress_kick,
	.poll = stress_poll,
	.destroy = stress_destroy,
};

/* As the module does: wake the daemon if the position leaves what it has seen. */
static void publish_to_user(u32 pos)
{
	u32 old = ring_publish(&w.to, pos);
	u32 seen = ring_peer_wait(&w.to);

	if (ring_crossed(old, pos, seen + 1) &&
	    !(core_load(&to_daemon(&w)->flags) & GSOTUN_DAEMON_NO_WAKE))
		signal_fd(wake[GSOTUN_TO_USER]);
}

static void *kernel_transmits(void *arg)
{
	struct gsotun_ring *r = &w.to;
	unsigned int seed = 1;
	u32 i, span;

	for (i = 0; i < RECORDS; i++) {
		span = ring_span(58 + LENGTH(i));
		while (ring_update_consumer(r), ring_room(r) < span) {
			/* What was written must be visible, or both sleep. */
			if (r->pos != r->published)
				publish_to_user(r->pos);
			ring_wait_at(r, r->pos + span - r->size);
			ring_update_consumer(r);
			if (ring_room(r) < span)
				sleep_fd(kicked[GSOTUN_TO_USER]);
		}
		kernel_write(&w, LENGTH(i), (u8)i);
		if (rand_r(&seed) % 4 == 0)
			publish_to_user(r->pos);
	}
	if (r->pos != r->published)
		publish_to_user(r->pos);
	return arg;
}

/* In the library, or in a loop of one's own. */
static void sleep_somehow(u32 event, unsigned int *seed)
{
	int ret;

	if (rand_r(seed) % 2) {
		CHECK(gsotun_wait(w.q, event, (u32)rand_r(seed) % 2000, -1) > 0);
		return;
	}
	ret = gsotun_arm(w.q, event, event == GSOTUN_EV_ROOM ? 3000 : 0);
	CHECK(ret >= 0);
	if (!ret)
		sleep_fd(wake[event == GSOTUN_EV_ROOM ? GSOTUN_FROM_USER : GSOTUN_TO_USER]);
	gsotun_disarm(w.q, event);
}

static void *daemon_reads(void *arg)
{
	struct gsotun_frame f[16];
	u32 seen = 0, held = 0, release, k;
	unsigned int seed = 2;
	int n;

	while (seen < RECORDS) {
		n = gsotun_peek(w.q, f, 1 + (u32)rand_r(&seed) % 16);
		CHECK(n >= 0);
		if (n < 0)
			break;
		for (k = 0; k < (u32)n; k++, seen++) {
			CHECK_EQ(f[k].len, LENGTH(seen));
			CHECK_EQ(f[k].data[0], (u8)seen);
			CHECK_EQ(f[k].data[f[k].len - 1], (u8)seen);
			memset(f[k].data, 0, f[k].len);
		}
		held += (u32)n;
		/* Keep some now and then, but never sleep on all of the ring. */
		release = !n || rand_r(&seed) % 2 ? held : held / 2;
		if (release)
			CHECK(gsotun_release(w.q, release) >= 0);
		held -= release;
		if (!n && seen < RECORDS)
			sleep_somehow(GSOTUN_EV_RECORDS, &seed);
	}
	gsotun_release(w.q, held);
	return arg;
}

static void *daemon_writes(void *arg)
{
	struct gsotun_frame f[8];
	unsigned int seed = 3;
	u32 i = 0;
	int n, k;

	while (i < RECORDS) {
		/* Reserve more than is needed, fill, give the rest back. */
		n = gsotun_reserve(w.q, 3000, f, 1 + (u32)rand_r(&seed) % 4);
		if (n == -EAGAIN) {
			sleep_somehow(GSOTUN_EV_ROOM, &seed);
			continue;
		}
		CHECK(n > 0);
		if (n <= 0)
			break;
		if ((u32)n > RECORDS - i) {
			CHECK_EQ(gsotun_cancel(w.q, (u32)n - (RECORDS - i)), RECORDS - i);
			n = (int)(RECORDS - i);
		}
		for (k = 0; k < n; k++, i++) {
			f[k].len = LENGTH(i);
			memset(f[k].data, (u8)i, f[k].len);
		}
		CHECK_EQ(gsotun_submit(w.q, f, (u32)n), 0);
	}
	return arg;
}

static void *kernel_receives(void *arg)
{
	struct gsotun_ring *r = &w.from;
	const struct gsotun_record *rec;
	u32 i = 0, old, room_at;

	while (i < RECORDS) {
		if (!ring_update_producer(r))
			abort();
		if (!ring_ready(r)) {
			/* Idle: kick_at is the first position beyond. */
			ring_wait_at(r, r->pos + 1);
			if (!ring_update_producer(r))
				abort();
			if (!ring_ready(r))
				sleep_fd(kicked[GSOTUN_FROM_USER]);
			ring_wait_not(r, r->pos);
			continue;
		}
		while (ring_ready(r)) {
			rec = ring_at(r, r->pos);
			CHECK_EQ(rec->len, LENGTH(i));
			CHECK_EQ(((const u8 *)rec)[rec->data_off + rec->len - 1], (u8)i);
			r->pos += rec->span;
			i++;
		}
		old = ring_publish(r, r->pos);
		room_at = ring_peer_wait(r);
		if (ring_crossed(old, r->pos, room_at) &&
		    !(core_load(&from_daemon(&w)->flags) & GSOTUN_DAEMON_NO_WAKE))
			signal_fd(wake[GSOTUN_FROM_USER]);
	}
	return arg;
}

static void both_rings_at_full_speed(void)
{
	static void *(* const ends[])(void *) = {
		kernel_transmits, daemon_reads, daemon_writes, kernel_receives,
	};
	struct gsotun_attach_opts opts = { 0 };
	pthread_t threads[4];
	int i;

	for (i = 0; i < 2; i++) {
		wake[i] = eventfd(0, EFD_CLOEXEC);
		kicked[i] = eventfd(0, EFD_CLOEXEC);
	}
	world_init(&w, RING, 0u - 4096);
	CHECK_EQ(gsotun_queue_new(&w.a, w.map, -1, &stress_backend, &opts, &w.q), 0);
	alarm(DEADLINE);
	for (i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, ends[i], NULL))
			abort();
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	alarm(0);
	CHECK_EQ(to_daemon(&w)->cons, w.to.pos);
	CHECK_EQ(from_daemon(&w)->prod, w.from.pos);
	printf("# polls %llu %llu, kicks %llu %llu\n",
	       (unsigned long long)w.q->side[0].stats.polls,
	       (unsigned long long)w.q->side[1].stats.polls,
	       (unsigned long long)w.q->side[0].stats.kicks,
	       (unsigned long long)w.q->side[1].stats.kicks);
	world_exit(&w);
}

int main(void)
{
	static const struct ktap_test tests[] = {
		{ "both_rings_at_full_speed", both_rings_at_full_speed },
	};

	return ktap_run(tests, 1);
}
