/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * internal.h - a queue as the library sees it: two sides, and a backend.
 *
 * All that is peculiar to the kernel module sits behind struct gsotun_backend
 * and in attach.c; the verbs only know memory. Tests put plain memory and a
 * kernel of their own there.
 */
#ifndef GSOTUN_INTERNAL_H
#define GSOTUN_INTERNAL_H

#include <assert.h>
#include <stdalign.h>

#include "core/ring.h"
#include "gsotun.h"

typedef int32_t s32;
typedef int64_t s64;

struct pollfd;

#define REGION_COUNT	(2 * GSOTUN_REGIONS)
#define FRAMES_DEFAULT	1024u

/* Third word of both kernel pages and of both daemon pages. */
struct kernel_words {
	struct gsotun_ring_words ring;
	u32 status;
};

struct daemon_words {
	struct gsotun_ring_words ring;
	u32 flags;
	u32 claim;	/* to_user only */
};

/**
 * struct gsotun_backend - what carries a queue
 * @id: GSOTUN_BACKEND_*
 * @kick: make the other side look at the rings in the mask; a system call
 * @poll: poll(), which is also a kick of all rings; like it, but -errno
 * @destroy: unmap and close
 */
struct gsotun_backend {
	u32 id;
	int (*kick)(struct gsotun_queue *q, u32 rings);
	int (*poll)(struct pollfd *fds, unsigned int n, int timeout_ms);
	void (*destroy)(struct gsotun_queue *q);
};

/**
 * struct gsotun_side - the daemon's side of one ring
 * @ring: to_user: consumer; from_user: producer
 * @kernel: page that the kernel writes
 * @daemon: page that the daemon writes
 * @end: where each held frame ends, oldest at @first; a ring of @frames
 * @frames: most frames held, a power of two
 * @first: index of the oldest held frame, free-running
 * @held: frames held; read by gsotun_info() in any thread
 * @max_span: largest record
 * @data_off: from_user: first byte of content of a reservation
 * @flags: what @daemon->flags holds
 * @wait: what @daemon->ring.wait holds
 * @quiesced: no more frames
 * @kick_due: the kernel waits for what was published, and was not told yet
 * @stats: written by the side's caller, read in any thread
 *
 * One caller at a time. Two sides share no cache line.
 */
struct gsotun_side {
	alignas(64) struct gsotun_ring ring;
	const struct kernel_words *kernel;
	struct daemon_words *daemon;
	u32 *end;
	u32 frames;
	u32 first;
	u32 held;
	u32 max_span;
	u32 data_off;
	u32 flags;
	u32 wait;
	bool quiesced;
	bool kick_due;
	struct gsotun_ring_stats stats;
};

struct gsotun_queue {
	struct gsotun_side side[2];

	/* read-mostly */
	alignas(64) const struct gsotun_backend *backend;
	int fd;
	u32 vnet_len;
	bool read_only;
	bool defer_kicks;
	void *map[REGION_COUNT];
	struct gsotun_attach granted;

	/* rare */
	u64 setup;
	u64 adopt_dropped;
	const char *message;
};

/*
 * Counters are read by other threads. Where a u64 cannot be stored at once, a
 * reader may see a torn number; a library for atomics would be the alternative.
 */
static inline void stat_add(u64 *counter, u64 n)
{
#if __SIZEOF_LONG__ == 8
	core_store(counter, *counter + n);
#else
	*counter += n;
#endif
}

static inline u64 stat_get(const u64 *counter)
{
#if __SIZEOF_LONG__ == 8
	return core_load(counter);
#else
	return *counter;
#endif
}

/* Position at which the @i-th held frame ends. */
static inline u32 held_end(const struct gsotun_side *s, u32 i)
{
	return s->end[(s->first + i) & (s->frames - 1)];
}

static inline void hold(struct gsotun_side *s, u32 end)
{
	s->end[(s->first + s->held) & (s->frames - 1)] = end;
	core_store(&s->held, s->held + 1);
}

static inline void set_flags(struct gsotun_side *s, u32 flags)
{
	if (s->flags == flags)
		return;
	s->flags = flags;
	core_store(&s->daemon->flags, flags);
}

/* Publish what this side waits for. The caller looks once more afterwards. */
static inline void set_wait(struct gsotun_side *s, u32 at)
{
	s->wait = at;
	ring_wait_at(&s->ring, at);
}

/* superpacket: more than one segment, by the virtio_net_hdr's gso_type */
static inline bool vnet_is_gso(const u8 *vnet)
{
	return vnet[1] & 0x7f;
}

/* attach.c */
/**
 * gsotun_queue_new - make a queue out of mapped regions
 * @a: the answer of GSOTUN_ATTACH or GSOTUN_QUERY
 * @map: the regions; belong to the queue on success
 * @fd: belongs to the queue on success
 * @backend: who carries it
 * @opts: options, already checked
 * @out: the queue
 *
 * Takes up the positions that stand in the rings, and drops what is claimed.
 *
 * Return: 0, -ENOMEM, -EINVAL (frames), -EPROTO (the answer makes no sense) or
 * -EBADMSG (the positions make none).
 */
int gsotun_queue_new(const struct gsotun_attach *a, void *const map[REGION_COUNT],
		     int fd, const struct gsotun_backend *backend,
		     const struct gsotun_attach_opts *opts,
		     struct gsotun_queue **out);

/* to_user.c */
/* Skip the records before @claim, which may be altered. */
void gsotun_drop_claimed(struct gsotun_queue *q, u32 claim);

/* from_user.c */
/**
 * gsotun_room_target - consumer position that gives room
 * @s: from_user side
 * @need: bytes of record
 * @least: do not settle for less than @need
 * @at: out: the position
 *
 * Return: false if nothing that the kernel does can give that room.
 */
bool gsotun_room_target(const struct gsotun_side *s, u32 need, bool least, u32 *at);

/* Span of a reservation of @max bytes, 0 if that is too large. */
u32 gsotun_reserve_span(const struct gsotun_side *s, size_t max);

/* wait.c */
/* Publish @pos in ring @dir; kick if the kernel waits for it. */
void gsotun_publish(struct gsotun_queue *q, unsigned int dir, u32 pos);

/* Tell the kernel what it was not told yet. */
void gsotun_flush_kicks(struct gsotun_queue *q);

/* 0, or why a ring that has nothing to offer never will: -ENODEV, -EBADMSG. */
int gsotun_status(struct gsotun_queue *q, unsigned int dir);

/* text.c */
extern const char * const gsotun_bad_position;
extern const char * const gsotun_broken;
extern const char * const gsotun_detached;
extern const char * const gsotun_too_large;
extern const char * const gsotun_too_many_peeked;
extern const char * const gsotun_too_many_reserved;

/* Remember @message, a constant; returns @err. Any thread. */
int gsotun_fail(struct gsotun_queue *q, int err, const char *message);

/* Write @a and @b, joined by ": " if there are both, as far as they fit. */
void gsotun_say(char *buf, size_t size, const char *a, const char *b);

/**
 * gsotun_copy_sized - copy a structure that starts with its size
 * @dst: out: @known bytes
 * @known: sizeof() as this library knows it
 * @src: the caller's; NULL: all zero
 *
 * Return: 0, -EINVAL if it is too short, -E2BIG if an unknown member is not zero.
 */
int gsotun_copy_sized(void *dst, u32 known, const void *src);

#endif /* GSOTUN_INTERNAL_H */
