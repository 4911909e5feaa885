// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* wait.c - publish and kick; arm, disarm, wait. */
#include <errno.h>
#include <poll.h>
#include <time.h>

#include "internal.h"

#define EVENTS	(GSOTUN_EV_RECORDS | GSOTUN_EV_ROOM)
#define NSEC	1000000000ll

/* Looks at the ring between two looks at the clock. */
#define SPINS	64

static int kick(struct gsotun_queue *q, u32 rings)
{
	unsigned int dir = rings & GSOTUN_KICK_TO_USER ? GSOTUN_TO_USER : GSOTUN_FROM_USER;

	stat_add(&q->side[dir].stats.kicks, 1);
	/* It fails when the queue is detached, which the next look finds too. */
	return q->backend->kick(q, rings);
}

void gsotun_publish(struct gsotun_queue *q, unsigned int dir, u32 pos)
{
	struct gsotun_side *s = &q->side[dir];
	u32 old = ring_publish(&s->ring, pos);

	stat_add(&s->stats.batches, 1);
	/* An old claim would be met again after 4 GiB. */
	if (dir == GSOTUN_TO_USER && q->read_only)
		ring_claim(&s->daemon->claim, pos);
	if (!ring_crossed(old, pos, ring_peer_wait(&s->ring)))
		return;
	if (q->defer_kicks)
		s->kick_due = true;
	else
		kick(q, 1u << dir);
}

static bool kicks_due(const struct gsotun_queue *q)
{
	return q->side[GSOTUN_TO_USER].kick_due || q->side[GSOTUN_FROM_USER].kick_due;
}

static void kicks_done(struct gsotun_queue *q)
{
	if (!kicks_due(q))
		return;
	q->side[GSOTUN_TO_USER].kick_due = false;
	q->side[GSOTUN_FROM_USER].kick_due = false;
}

void gsotun_flush_kicks(struct gsotun_queue *q)
{
	u32 rings = 0;

	if (q->side[GSOTUN_TO_USER].kick_due)
		rings |= GSOTUN_KICK_TO_USER;
	if (q->side[GSOTUN_FROM_USER].kick_due)
		rings |= GSOTUN_KICK_FROM_USER;
	if (!rings)
		return;
	kicks_done(q);
	kick(q, rings);
}

int gsotun_status(struct gsotun_queue *q, unsigned int dir)
{
	u32 status = core_load_acquire(&q->side[dir].kernel->status);

	if (!(status & GSOTUN_STATUS_DETACHED))
		return 0;
	if (status & GSOTUN_STATUS_CORRUPT)
		return gsotun_fail(q, -EBADMSG, gsotun_broken);
	return gsotun_fail(q, -ENODEV, gsotun_detached);
}

int gsotun_kick(struct gsotun_queue *q, uint32_t rings)
{
	if (!rings || rings & ~(GSOTUN_KICK_TO_USER | GSOTUN_KICK_FROM_USER))
		return -EINVAL;
	return kick(q, rings);
}

/* > 0: there are records; or an error. */
static int look_for_records(struct gsotun_queue *q)
{
	struct gsotun_side *s = &q->side[GSOTUN_TO_USER];
	int gone;

	if (s->quiesced)
		return -ESHUTDOWN;
	if (s->held == s->frames)
		return gsotun_fail(q, -ENOBUFS, gsotun_too_many_peeked);
	/* Before the position: records that came before a detach count. */
	gone = gsotun_status(q, GSOTUN_TO_USER);
	if (!ring_update_producer(&s->ring))
		return gsotun_fail(q, -EBADMSG, gsotun_bad_position);
	return ring_ready(&s->ring) ? (int)GSOTUN_EV_RECORDS : gone;
}

/* > 0: there is room; 0: not before the consumer is at @at; or an error. */
static int look_for_room(struct gsotun_queue *q, u32 room, u32 *at)
{
	struct gsotun_side *s = &q->side[GSOTUN_FROM_USER];
	u32 need = s->ring.size / 2;
	int gone;

	if (s->quiesced)
		return -ESHUTDOWN;
	if (room) {
		need = gsotun_reserve_span(s, room);
		if (!need)
			return gsotun_fail(q, -EMSGSIZE, gsotun_too_large);
	}
	gone = gsotun_status(q, GSOTUN_FROM_USER);
	if (gone)
		return gone;
	if (!ring_update_consumer(&s->ring))
		return gsotun_fail(q, -EBADMSG, gsotun_bad_position);
	if (s->held == s->frames || !gsotun_room_target(s, need, room, at))
		return gsotun_fail(q, -ENOBUFS, gsotun_too_many_reserved);
	return (s32)(s->ring.peer_pos - *at) >= 0 ? (int)GSOTUN_EV_ROOM : 0;
}

/* GSOTUN_EV_* that can go on; an error only if none can. */
static int look(struct gsotun_queue *q, u32 events, u32 room)
{
	int records = 0, space = 0;
	u32 at;

	if (events & GSOTUN_EV_RECORDS)
		records = look_for_records(q);
	if (events & GSOTUN_EV_ROOM)
		space = look_for_room(q, room, &at);
	if (records > 0 || space > 0)
		return (records > 0 ? records : 0) | (space > 0 ? space : 0);
	return records ? records : space;
}

int gsotun_disarm(struct gsotun_queue *q, uint32_t events)
{
	if (events & ~EVENTS)
		return -EINVAL;
	if (events & GSOTUN_EV_RECORDS)
		set_flags(&q->side[GSOTUN_TO_USER], GSOTUN_DAEMON_NO_WAKE);
	if (events & GSOTUN_EV_ROOM)
		set_flags(&q->side[GSOTUN_FROM_USER], GSOTUN_DAEMON_NO_WAKE);
	return 0;
}

/* Publish what is waited for. Then the caller looks once more. */
static void arm(struct gsotun_queue *q, u32 events, u32 room)
{
	struct gsotun_side *s;
	u32 at;

	if (events & GSOTUN_EV_RECORDS) {
		s = &q->side[GSOTUN_TO_USER];
		set_flags(s, 0);
		set_wait(s, s->ring.peer_pos);
	}
	if (events & GSOTUN_EV_ROOM && !look_for_room(q, room, &at)) {
		s = &q->side[GSOTUN_FROM_USER];
		set_flags(s, 0);
		set_wait(s, at);
	}
}

int gsotun_arm(struct gsotun_queue *q, uint32_t events, uint32_t room)
{
	int ret;

	if (!events || events & ~EVENTS)
		return -EINVAL;
	if (q->defer_kicks)
		gsotun_flush_kicks(q);
	ret = look(q, events, room);
	if (ret)
		return ret;
	arm(q, events, room);
	ret = look(q, events, room);
	if (ret)
		gsotun_disarm(q, events);
	return ret;
}

static s64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (s64)ts.tv_sec * NSEC + ts.tv_nsec;
}

static inline void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
	__asm__ __volatile__("yield" ::: "memory");
#endif
}

/* ---- several queues ---- */

static int look_all(struct gsotun_poll *p, unsigned int n)
{
	int ret, count = 0, err = 0;

	for (; n; n--, p++) {
		ret = p->events ? look(p->queue, p->events, 0) : 0;
		p->ready = ret > 0 ? (u32)ret : 0;
		count += ret > 0;
		if (ret < 0 && !err)
			err = ret;
	}
	return count ? count : err;
}

static bool any_kick_due(const struct gsotun_poll *p, unsigned int n)
{
	for (; n; n--, p++)
		if (p->queue->defer_kicks && kicks_due(p->queue))
			return true;
	return false;
}

static struct gsotun_ring_stats *poll_stats(const struct gsotun_poll *p)
{
	return &p->queue->side[p->events == GSOTUN_EV_ROOM ? GSOTUN_FROM_USER :
			       GSOTUN_TO_USER].stats;
}

/* Sleep, and kick whatever there is to kick. Return: >= 0, or -errno. */
static int poll_all(struct gsotun_poll *p, unsigned int n, int timeout_ms)
{
	struct pollfd fds[GSOTUN_POLL_MAX];
	unsigned int i;
	int ret;

	for (i = 0; i < n; i++) {
		if (p[i].queue->defer_kicks)
			kicks_done(p[i].queue);
		fds[i] = (struct pollfd) { .fd = p[i].queue->fd };
		if (p[i].events & GSOTUN_EV_RECORDS)
			fds[i].events |= POLLIN;
		if (p[i].events & GSOTUN_EV_ROOM)
			fds[i].events |= POLLOUT;
	}
	stat_add(&poll_stats(p)->polls, 1);
	ret = p->queue->backend->poll(fds, n, timeout_ms);
	for (i = 0; i < n && ret > 0; i++)
		if (fds[i].revents & (POLLERR | POLLHUP | POLLNVAL))
			ret = gsotun_fail(p[i].queue, -ENODEV, gsotun_detached);
	return ret;
}

static int spin(struct gsotun_poll *p, unsigned int n, u32 spin_ns)
{
	s64 end = now_ns() + spin_ns;
	int ret, i;

	do {
		for (i = 0; i < SPINS; i++) {
			ret = look_all(p, n);
			if (ret)
				return ret;
			relax();
		}
	} while (now_ns() < end);
	return 0;
}

/* Round up: a timeout must not end early. */
static int ms_left(s64 end)
{
	s64 left = end - now_ns();

	return left <= 0 ? 0 : (int)((left + 999999) / 1000000);
}

static int sleep_all(struct gsotun_poll *p, unsigned int n, int timeout_ms)
{
	s64 end = timeout_ms > 0 ? now_ns() + timeout_ms * 1000000ll : 0;
	int ret, got = 0;
	unsigned int i;

	for (;;) {
		for (i = 0; i < n; i++)
			arm(p[i].queue, p[i].events, 0);
		ret = look_all(p, n);
		if (!ret || any_kick_due(p, n))
			got = poll_all(p, n, ret ? 0 : timeout_ms);
		for (i = 0; i < n; i++)
			gsotun_disarm(p[i].queue, p[i].events);
		ret = look_all(p, n);
		if (ret || got < 0)
			return ret ? ret : got;
		if (timeout_ms > 0)
			timeout_ms = ms_left(end);
		if (!timeout_ms)
			return 0;
	}
}

int gsotun_poll(struct gsotun_poll *p, unsigned int n, uint32_t spin_ns, int timeout_ms)
{
	unsigned int i;
	int ret;

	if (!n || n > GSOTUN_POLL_MAX)
		return -EINVAL;
	for (i = 0; i < n; i++)
		if (p[i].events & ~EVENTS)
			return -EINVAL;
	ret = look_all(p, n);
	/* Kick now, unless it can wait for the poll() that sleeps. */
	if (any_kick_due(p, n) && (ret || spin_ns || !timeout_ms)) {
		poll_all(p, n, 0);
		ret = look_all(p, n);
	}
	if (ret)
		return ret;
	if (!spin_ns && !timeout_ms)
		return 0;
	stat_add(&poll_stats(p)->waits, 1);
	if (spin_ns) {
		ret = spin(p, n, spin_ns);
		if (ret)
			return ret;
	}
	return timeout_ms ? sleep_all(p, n, timeout_ms) : 0;
}

int gsotun_wait(struct gsotun_queue *q, uint32_t events, uint32_t spin_ns,
		int timeout_ms)
{
	struct gsotun_poll p = { .queue = q, .events = events };
	int ret;

	if (!events)
		return -EINVAL;
	ret = gsotun_poll(&p, 1, spin_ns, timeout_ms);
	return ret > 0 ? (int)p.ready : ret;
}
