/* SPDX-License-Identifier: GPL-2.0 */
/*
 * world.h - a queue of the library over plain memory, with a kernel made of
 * core/ring.h on the other side.
 */
#ifndef GSOTUN_TESTS_WORLD_H
#define GSOTUN_TESTS_WORLD_H

#include "internal.h"

/**
 * struct world - memory, the kernel's side, and the daemon's queue
 * @q: the queue, NULL between daemons
 * @a: what GSOTUN_ATTACH would have answered
 * @map: the regions
 * @to, @from: the kernel's sides: producer and consumer
 * @kicks: by direction: bits of GSOTUN_KICK calls
 * @kick_calls: GSOTUN_KICK calls
 * @polls: calls of poll()
 * @poll_timeout: what the last one was given
 * @on_poll: what the kernel does while the daemon sleeps; may be NULL
 * @poll_result: what poll() returns if @on_poll is NULL
 * @revents: what it reports
 */
struct world {
	struct gsotun_queue *q;
	struct gsotun_attach a;
	void *map[REGION_COUNT];
	struct gsotun_ring to;
	struct gsotun_ring from;
	unsigned int kicks[2];
	unsigned int kick_calls;
	unsigned int polls;
	int poll_timeout;
	void (*on_poll)(struct world *w);
	int poll_result;
	short revents;
	int memfd;
};

/* Rings of @bytes that stand at @start. The world is the current one from now on. */
void world_init(struct world *w, u32 bytes, u32 start);
void world_exit(struct world *w);

/* A daemon comes; -errno as from gsotun_adopt(). */
int world_attach(struct world *w, const struct gsotun_attach_opts *opts);

/* The daemon dies: nothing is tidied up. */
void world_kill(struct world *w);

/* Kernel pages as the kernel writes them. */
struct gsotun_to_user_kernel *to_kernel(struct world *w);
struct gsotun_to_user_daemon *to_daemon(struct world *w);
struct gsotun_from_user_kernel *from_kernel(struct world *w);
struct gsotun_from_user_daemon *from_daemon(struct world *w);

void set_status(struct world *w, u32 status);

/* The kernel transmits @len bytes, each @fill. Return: false if there is no room. */
bool kernel_send(struct world *w, u32 len, u8 fill);

/* The same without publishing, to be spoiled. Return: the record. */
struct gsotun_record *kernel_write(struct world *w, u32 len, u8 fill);
void kernel_publish(struct world *w);
void kernel_skip(struct world *w, u32 span);

/* The kernel takes the next record. Return: it, or NULL. */
const struct gsotun_record *kernel_receive(struct world *w);

#endif /* GSOTUN_TESTS_WORLD_H */
