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

static void kick(struct gsotun_queue *q, unsigned int dir)
{
	stat_add(&q->side[dir].stats.kicks, 1);
	/* It fails when the queue is detached, which the next look finds. */
	q->backend->kick(q, 1u << dir);
}

void gsotun_publish(struct gsotun_queue *q, unsigned int dir, u32 pos)
{
	struct gsotun_side *s = &q->side[dir];
	u32 old = ring_publish(&s->ring, pos);

	stat_add(&s->stats.batches, 1);
	/* An old claim would be met again after 4 GiB. */
	if (dir == GSOTUN_TO_USER && q->read_only)
		ring_claim(&s->daemon->claim, pos);
	if (ring_crossed(old, pos, ring_peer_wait(&s->ring)))
		kick(q, dir);
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
	stat_add(&q->side[rings & GSOTUN_KICK_TO_USER ? GSOTUN_TO_USER :
			  GSOTUN_FROM_USER].stats.kicks, 1);
	return q->backend->kick(q, rings);
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

int gsotun_arm(struct gsotun_queue *q, uint32_t events, uint32_t room)
{
	int ret;
	u32 at;

	if (!events || events & ~EVENTS)
		return -EINVAL;
	ret = look(q, events, room);
	if (ret)
		return ret;
	if (events & GSOTUN_EV_RECORDS) {
		set_flags(&q->side[GSOTUN_TO_USER], 0);
		set_wait(&q->side[GSOTUN_TO_USER], q->side[GSOTUN_TO_USER].ring.peer_pos);
	}
	if (events & GSOTUN_EV_ROOM) {
		ret = look_for_room(q, room, &at);
		if (!ret) {
			set_flags(&q->side[GSOTUN_FROM_USER], 0);
			set_wait(&q->side[GSOTUN_FROM_USER], at);
		}
	}
	/* Published, barrier: now what came in between is seen. */
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

static int spin(struct gsotun_queue *q, u32 events, u32 spin_ns)
{
	s64 end = now_ns() + spin_ns;
	int ret, i;

	do {
		for (i = 0; i < SPINS; i++) {
			ret = look(q, events, 0);
			if (ret)
				return ret;
			relax();
		}
	} while (now_ns() < end);
	return 0;
}

static int poll_events(u32 events)
{
	return (events & GSOTUN_EV_RECORDS ? POLLIN : 0) |
	       (events & GSOTUN_EV_ROOM ? POLLOUT : 0);
}

/* Round up: a timeout must not end early. */
static int ms_left(s64 end)
{
	s64 left = end - now_ns();

	return left <= 0 ? 0 : (int)((left + 999999) / 1000000);
}

static int sleep_until(struct gsotun_queue *q, u32 events, int timeout_ms)
{
	struct gsotun_side *s = &q->side[events & GSOTUN_EV_RECORDS ?
					 GSOTUN_TO_USER : GSOTUN_FROM_USER];
	s64 end = timeout_ms > 0 ? now_ns() + timeout_ms * 1000000ll : 0;
	int ret, got;

	do {
		ret = gsotun_arm(q, events, 0);
		if (ret)
			return ret;
		stat_add(&s->stats.polls, 1);
		got = q->backend->sleep(q, poll_events(events), timeout_ms);
		gsotun_disarm(q, events);
		ret = look(q, events, 0);
		if (ret)
			return ret;
		if (got < 0)
			return got;
		if (got & (POLLERR | POLLHUP | POLLNVAL))
			return gsotun_fail(q, -ENODEV, gsotun_detached);
		if (timeout_ms > 0)
			timeout_ms = ms_left(end);
	} while (timeout_ms);
	return 0;
}

int gsotun_wait(struct gsotun_queue *q, uint32_t events, uint32_t spin_ns,
		int timeout_ms)
{
	unsigned int dir = events & GSOTUN_EV_RECORDS ? GSOTUN_TO_USER : GSOTUN_FROM_USER;
	int ret;

	if (!events || events & ~EVENTS)
		return -EINVAL;
	ret = look(q, events, 0);
	if (ret)
		return ret;
	stat_add(&q->side[dir].stats.waits, 1);
	if (spin_ns) {
		ret = spin(q, events, spin_ns);
		if (ret)
			return ret;
	}
	return timeout_ms ? sleep_until(q, events, timeout_ms) : 0;
}
