// SPDX-License-Identifier: GPL-2.0
/* world.c - memory that is mapped twice, and a kernel that plays along. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "world.h"

#define PAGE	4096u

static struct world *current;

static void give_up(const char *what)
{
	perror(what);
	exit(1);
}

/* Like the kernel: the same pages twice in a row. */
static void *map_twice(int fd, off_t offset, size_t bytes)
{
	u8 *at = mmap(NULL, 2 * bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int i;

	if (at == MAP_FAILED)
		give_up("mmap");
	for (i = 0; i < 2; i++)
		if (mmap(at + i * bytes, bytes, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_FIXED, fd, offset) == MAP_FAILED)
			give_up("mmap");
	return at;
}

static void set_start(struct world *w, u32 start)
{
	to_kernel(w)->prod = start;
	to_daemon(w)->cons = start;
	to_daemon(w)->claim = start;
	to_daemon(w)->seen = start;
	from_daemon(w)->prod = start;
	from_kernel(w)->cons = start;
	/* Nobody waits. */
	to_kernel(w)->kick_at = start - 0x80000000u;
	from_kernel(w)->kick_at = start - 0x80000000u;
	w->to.pos = start;
	w->to.published = start;
	w->to.peer_pos = start;
	w->from.pos = start;
	w->from.published = start;
	w->from.peer_pos = start;
}

void world_init(struct world *w, u32 bytes, u32 start)
{
	struct gsotun_region *region;
	off_t offset = 0;
	int i;

	memset(w, 0, sizeof(*w));
	w->memfd = memfd_create("rings", MFD_CLOEXEC);
	if (w->memfd < 0 || ftruncate(w->memfd, 4 * PAGE + 2 * (off_t)bytes))
		give_up("memfd");
	w->a = (struct gsotun_attach) {
		.size = sizeof(w->a),
		.ifindex = 7,
		.queue = 3,
		.vnet_len = 12,
		.ring_bytes = { bytes, bytes },
		.abi = GSOTUN_ABI,
		.state = GSOTUN_STATE_ATTACHED,
		.generation = 1,
		.num_queues = 4,
		.prod = { start, start },
		.cons = { start, start },
	};
	for (i = 0; i < REGION_COUNT; i++) {
		region = &w->a.region[i];
		if (i % GSOTUN_REGIONS == GSOTUN_REGION_DATA) {
			region->length = 2ull * bytes;
			w->map[i] = map_twice(w->memfd, offset, bytes);
			offset += bytes;
			continue;
		}
		region->length = PAGE;
		w->map[i] = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
				 w->memfd, offset);
		if (w->map[i] == MAP_FAILED)
			give_up("mmap");
		offset += PAGE;
	}
	w->to = (struct gsotun_ring) {
		.own = w->map[GSOTUN_REGION_KERNEL],
		.peer = w->map[GSOTUN_REGION_DAEMON],
		.data = w->map[GSOTUN_REGION_DATA],
		.size = bytes,
	};
	w->from = (struct gsotun_ring) {
		.own = w->map[GSOTUN_REGIONS + GSOTUN_REGION_KERNEL],
		.peer = w->map[GSOTUN_REGIONS + GSOTUN_REGION_DAEMON],
		.data = w->map[GSOTUN_REGIONS + GSOTUN_REGION_DATA],
		.size = bytes,
	};
	set_start(w, start);
	current = w;
}

void world_exit(struct world *w)
{
	int i;

	if (w->q)
		gsotun_close(w->q, GSOTUN_CLOSE_FORCE);
	for (i = 0; i < REGION_COUNT; i++)
		munmap(w->map[i], w->a.region[i].length);
	close(w->memfd);
}

static int world_kick(struct gsotun_queue *q, u32 rings)
{
	(void)q;
	current->kick_calls++;
	current->kicks[GSOTUN_TO_USER] += !!(rings & GSOTUN_KICK_TO_USER);
	current->kicks[GSOTUN_FROM_USER] += !!(rings & GSOTUN_KICK_FROM_USER);
	return 0;
}

static int world_poll(struct pollfd *fds, unsigned int n, int timeout_ms)
{
	unsigned int i;

	current->polls++;
	current->poll_timeout = timeout_ms;
	if (current->on_poll)
		current->on_poll(current);
	for (i = 0; i < n; i++)
		fds[i].revents = current->revents;
	return current->revents ? (int)n : current->poll_result;
}

static void world_destroy(struct gsotun_queue *q)
{
	(void)q;
}

static const struct gsotun_backend world_backend = {
	.id = GSOTUN_BACKEND_MODULE,
	.kick = world_kick,
	.poll = world_poll,
	.destroy = world_destroy,
};

int world_attach(struct world *w, const struct gsotun_attach_opts *opts)
{
	struct gsotun_attach_opts none = { 0 };

	w->a.prod[GSOTUN_TO_USER] = w->to.published;
	w->a.cons[GSOTUN_TO_USER] = w->to.peer_pos;
	w->a.prod[GSOTUN_FROM_USER] = w->from.peer_pos;
	w->a.cons[GSOTUN_FROM_USER] = w->from.published;
	return gsotun_queue_new(&w->a, w->map, -1, &world_backend, opts ? opts : &none,
				&w->q);
}

void world_kill(struct world *w)
{
	free(w->q->side[0].end);
	free(w->q->side[1].end);
	free(w->q);
	w->q = NULL;
}

struct gsotun_to_user_kernel *to_kernel(struct world *w)
{
	return w->map[GSOTUN_REGION_KERNEL];
}

struct gsotun_to_user_daemon *to_daemon(struct world *w)
{
	return w->map[GSOTUN_REGION_DAEMON];
}

struct gsotun_from_user_kernel *from_kernel(struct world *w)
{
	return w->map[GSOTUN_REGIONS + GSOTUN_REGION_KERNEL];
}

struct gsotun_from_user_daemon *from_daemon(struct world *w)
{
	return w->map[GSOTUN_REGIONS + GSOTUN_REGION_DAEMON];
}

void set_status(struct world *w, u32 status)
{
	core_store_release(&to_kernel(w)->status, status);
	core_store_release(&from_kernel(w)->status, status);
}

struct gsotun_record *kernel_write(struct world *w, u32 len, u8 fill)
{
	u32 off = (u32)sizeof(struct gsotun_record) + w->a.vnet_len + 2;
	struct gsotun_ring *r = &w->to;
	struct gsotun_record *rec;

	ring_update_consumer(r);
	if (ring_room(r) < ring_span(off + len))
		return NULL;
	rec = ring_at(r, r->pos);
	*rec = (struct gsotun_record) {
		.span = ring_span(off + len),
		.len = len,
		.type = GSOTUN_RECORD_PACKET,
		.data_off = (u16)off,
		.vnet_len = (u16)w->a.vnet_len,
		.hash = len ^ fill,
		.mark = fill,
	};
	memset(rec + 1, 0, w->a.vnet_len);
	memset((u8 *)rec + off, fill, len);
	r->pos += rec->span;
	return rec;
}

void kernel_publish(struct world *w)
{
	ring_publish(&w->to, w->to.pos);
}

bool kernel_send(struct world *w, u32 len, u8 fill)
{
	if (!kernel_write(w, len, fill))
		return false;
	kernel_publish(w);
	return true;
}

void kernel_skip(struct world *w, u32 span)
{
	struct gsotun_record *rec = ring_at(&w->to, w->to.pos);

	*rec = (struct gsotun_record) { .span = span };
	w->to.pos += span;
	kernel_publish(w);
}

const struct gsotun_record *kernel_receive(struct world *w)
{
	struct gsotun_ring *r = &w->from;
	const struct gsotun_record *rec;

	if (!ring_update_producer(r) || !ring_ready(r))
		return NULL;
	rec = ring_at(r, r->pos);
	r->pos += rec->span;
	ring_publish(r, r->pos);
	return rec;
}
