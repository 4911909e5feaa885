// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* attach.c - life of a queue: attach or adopt, describe, quiesce, close. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "internal.h"

#define DEVICE		"/dev/net/gsotun"
#define OPT_FLAGS	(GSOTUN_OPT_QUEUE | GSOTUN_OPT_NETNS | GSOTUN_OPT_READ_ONLY | \
			 GSOTUN_OPT_DEFER_KICKS)
#define VNET_LEN_MAX	24u

static_assert(sizeof(off_t) == 8, "regions lie beyond 2 GiB");
static_assert(sizeof(struct gsotun_record) == 44, "ABI");
static_assert(sizeof(struct gsotun_attach) == GSOTUN_ATTACH_SIZE_VER0, "ABI");
static_assert(GSOTUN_RECORD_ALIGN == RING_ALIGN, "ABI");
static_assert(offsetof(struct gsotun_to_user_kernel, status) ==
	      offsetof(struct kernel_words, status), "ABI");
static_assert(offsetof(struct gsotun_from_user_kernel, status) ==
	      offsetof(struct kernel_words, status), "ABI");
static_assert(offsetof(struct gsotun_to_user_daemon, flags) ==
	      offsetof(struct daemon_words, flags), "ABI");
static_assert(offsetof(struct gsotun_to_user_daemon, claim) ==
	      offsetof(struct daemon_words, claim), "ABI");
static_assert(offsetof(struct gsotun_from_user_daemon, flags) ==
	      offsetof(struct daemon_words, flags), "ABI");

/* ---- the kernel module as a backend ---- */

static int module_kick(struct gsotun_queue *q, u32 rings)
{
	if (!ioctl(q->fd, GSOTUN_KICK, (unsigned long)rings))
		return 0;
	return errno == ENOTCONN ? -ENODEV : -errno;
}

static int module_poll(struct pollfd *fds, unsigned int n, int timeout_ms)
{
	int ret = poll(fds, n, timeout_ms);

	return ret < 0 ? -errno : ret;
}

static void unmap(const struct gsotun_attach *a, void *const map[REGION_COUNT])
{
	int i;

	for (i = 0; i < REGION_COUNT; i++)
		if (map[i])
			munmap(map[i], a->region[i].length);
}

static void module_destroy(struct gsotun_queue *q)
{
	unmap(&q->granted, q->map);
	close(q->fd);
}

static const struct gsotun_backend module_backend = {
	.id = GSOTUN_BACKEND_MODULE,
	.kick = module_kick,
	.poll = module_poll,
	.destroy = module_destroy,
};

static int map_regions(int fd, const struct gsotun_attach *a, void *map[REGION_COUNT])
{
	int i, prot, err;
	void *at;

	memset(map, 0, REGION_COUNT * sizeof(*map));
	for (i = 0; i < REGION_COUNT; i++) {
		prot = i % GSOTUN_REGIONS == GSOTUN_REGION_KERNEL ?
		       PROT_READ : PROT_READ | PROT_WRITE;
		at = a->region[i].length > SIZE_MAX ? MAP_FAILED :
		     mmap(NULL, a->region[i].length, prot, MAP_SHARED, fd,
			  (off_t)a->region[i].offset);
		if (at == MAP_FAILED) {
			err = a->region[i].length > SIZE_MAX ? -ENOMEM : -errno;
			unmap(a, map);
			return err;
		}
		map[i] = at;
	}
	return 0;
}

/* ---- a queue ---- */

/* What is used as a size or an index later. */
static bool answer_makes_sense(const struct gsotun_attach *a)
{
	const struct gsotun_region *region;
	u32 size;
	int dir;

	if (a->vnet_len < 10 || a->vnet_len > VNET_LEN_MAX)
		return false;
	for (dir = 0; dir < 2; dir++) {
		region = &a->region[GSOTUN_REGIONS * dir];
		size = a->ring_bytes[dir];
		if (size < 4096 || size & (size - 1) ||
		    size > GSOTUN_RING_BYTES_MAX ||
		    region[GSOTUN_REGION_KERNEL].length < sizeof(struct gsotun_to_user_kernel) ||
		    region[GSOTUN_REGION_DAEMON].length < sizeof(struct gsotun_to_user_daemon) ||
		    region[GSOTUN_REGION_DATA].length != 2ull * size)
			return false;
	}
	return true;
}

static int side_init(struct gsotun_side *s, const struct gsotun_attach *a,
		     void *const map[GSOTUN_REGIONS], u32 dir, u32 frames)
{
	const struct gsotun_layout *layout = &a->layout[dir];

	s->kernel = map[GSOTUN_REGION_KERNEL];
	s->daemon = map[GSOTUN_REGION_DAEMON];
	s->ring.own = &s->daemon->ring;
	s->ring.peer = &s->kernel->ring;
	s->ring.data = map[GSOTUN_REGION_DATA];
	s->ring.size = a->ring_bytes[dir];
	s->max_span = s->ring.size / 4;
	s->data_off = ring_span(sizeof(struct gsotun_record) + a->vnet_len);
	if (dir == GSOTUN_FROM_USER && layout->type == GSOTUN_LAYOUT_TRAIN)
		s->data_off += ring_span(layout->max_segs * 2u);

	/* More than one for every smallest record can never be held. */
	if (!frames)
		frames = FRAMES_DEFAULT;
	if (frames > s->ring.size / RING_ALIGN)
		frames = s->ring.size / RING_ALIGN;
	for (s->frames = 1; s->frames < frames;)
		s->frames *= 2;
	s->end = calloc(s->frames, sizeof(*s->end));
	return s->end ? 0 : -ENOMEM;
}

/*
 * The pages say where the rings stand; the kernel's answer is older. What was
 * left by a process that died may be anything, so it is checked against what the
 * kernel has already accepted.
 */
static int resume_to_user(struct gsotun_queue *q)
{
	struct gsotun_side *s = &q->side[GSOTUN_TO_USER];
	u32 accepted = q->granted.cons[GSOTUN_TO_USER], cons, claim;
	struct gsotun_ring *r = &s->ring;

	r->published = accepted;
	r->peer_pos = accepted;
	if (!ring_update_producer(r))
		return -EBADMSG;
	cons = core_load(&r->own->pos);
	if (cons - accepted > r->peer_pos - accepted || cons % RING_ALIGN)
		return -EBADMSG;
	r->published = cons;
	r->pos = cons;

	claim = core_load(&s->daemon->claim);
	if (claim != cons && claim - cons <= ring_ready(r) && !(claim % RING_ALIGN))
		gsotun_drop_claimed(q, claim);
	else
		ring_claim(&s->daemon->claim, cons);
	return 0;
}

static int resume_from_user(struct gsotun_queue *q)
{
	struct gsotun_ring *r = &q->side[GSOTUN_FROM_USER].ring;
	u32 accepted = q->granted.cons[GSOTUN_FROM_USER];
	u32 prod = core_load(&r->own->pos);

	if (prod - accepted > r->size || prod % RING_ALIGN)
		return -EBADMSG;
	r->published = prod;
	r->pos = prod;
	r->peer_pos = accepted;
	return ring_update_consumer(r) ? 0 : -EBADMSG;
}

static void queue_free(struct gsotun_queue *q)
{
	free(q->side[GSOTUN_TO_USER].end);
	free(q->side[GSOTUN_FROM_USER].end);
	free(q);
}

int gsotun_queue_new(const struct gsotun_attach *a, void *const map[REGION_COUNT],
		     int fd, const struct gsotun_backend *backend,
		     const struct gsotun_attach_opts *opts,
		     struct gsotun_queue **out)
{
	struct gsotun_queue *q;
	int err = 0;
	u32 dir;

	if (!answer_makes_sense(a))
		return -EPROTO;
	q = aligned_alloc(64, sizeof(*q));
	if (!q)
		return -ENOMEM;
	memset(q, 0, sizeof(*q));
	q->backend = backend;
	q->fd = fd;
	q->vnet_len = a->vnet_len;
	q->read_only = opts->flags & GSOTUN_OPT_READ_ONLY;
	q->defer_kicks = opts->flags & GSOTUN_OPT_DEFER_KICKS;
	q->granted = *a;
	memcpy(q->map, map, sizeof(q->map));

	for (dir = 0; dir < 2 && !err; dir++)
		err = side_init(&q->side[dir], a, map + GSOTUN_REGIONS * dir,
				dir, opts->frames[dir]);
	if (!err)
		err = resume_from_user(q);
	if (!err)
		err = resume_to_user(q);
	if (err) {
		queue_free(q);
		return err;
	}
	for (dir = 0; dir < 2; dir++) {
		q->side[dir].wait = core_load(&q->side[dir].daemon->ring.wait);
		core_store(&q->side[dir].daemon->flags, 0);
	}
	*out = q;
	return 0;
}

static const char *queue_new_says(int err)
{
	return err == -EBADMSG ? "the predecessor left positions that make no sense" :
	       gsotun_strerror(err);
}

/* Map what the kernel granted and make a queue of it. On failure @fd stays open. */
static int bind_queue(int fd, const struct gsotun_attach *a,
		      const struct gsotun_attach_opts *opts, u32 calls,
		      struct gsotun_queue **out, char *message, size_t size)
{
	void *map[REGION_COUNT];
	int err;

	if (!answer_makes_sense(a)) {
		gsotun_say(message, size, gsotun_strerror(-EPROTO), NULL);
		return -EPROTO;
	}
	err = map_regions(fd, a, map);
	if (err) {
		gsotun_say(message, size, "mapping the rings", gsotun_strerror(err));
		return err;
	}
	err = gsotun_queue_new(a, map, fd, &module_backend, opts, out);
	if (err) {
		gsotun_say(message, size, queue_new_says(err), NULL);
		unmap(a, map);
		return err;
	}
	(*out)->setup = calls + REGION_COUNT;
	return 0;
}

static int query(int fd, struct gsotun_attach *a, char *message, size_t size)
{
	int err;

	memset(a, 0, sizeof(*a));
	a->size = sizeof(*a);
	if (ioctl(fd, GSOTUN_QUERY, a)) {
		err = -errno;
		gsotun_say(message, size, gsotun_strerror(err), NULL);
		return err;
	}
	if (a->abi < GSOTUN_ABI) {
		gsotun_say(message, size, "the gsotun module is too old for this library", NULL);
		return -EPROTO;
	}
	return 0;
}

static int open_device(char *message, size_t size)
{
	int fd = open(DEVICE, O_RDWR | O_CLOEXEC), err;

	if (fd >= 0)
		return fd;
	err = -errno;
	/* A node may be there, static or left over, with no driver behind it. */
	if (err == -ENOENT || err == -ENXIO || err == -ENODEV) {
		gsotun_say(message, size, DEVICE,
			   "the gsotun module is not loaded (try: modprobe gsotun)");
		return -ENOENT;
	}
	gsotun_say(message, size, DEVICE, gsotun_strerror(err));
	return err;
}

static int take_opts(struct gsotun_attach_opts *opts,
		     const struct gsotun_attach_opts *from, char *message, size_t size)
{
	int err = gsotun_copy_sized(opts, sizeof(*opts), from);

	if (!err && opts->flags & ~OPT_FLAGS)
		err = -EINVAL;
	if (err)
		gsotun_say(message, size, "options", gsotun_strerror(err));
	return err;
}

static void fill_request(struct gsotun_attach *a, u32 ifindex,
			 const struct gsotun_attach_opts *opts)
{
	u64 supported[2] = { a->supported[0], a->supported[1] };
	int dir;

	*a = (struct gsotun_attach) {
		.size = sizeof(*a),
		.ifindex = ifindex,
		.queue = opts->flags & GSOTUN_OPT_QUEUE ? opts->queue : GSOTUN_QUEUE_ANY,
		.vnet_len = opts->vnet_len,
		.fill_limit = opts->fill_limit,
	};
	if (opts->flags & GSOTUN_OPT_NETNS) {
		a->flags |= GSOTUN_ATTACH_NETNS_FD;
		a->netns_fd = opts->netns_fd;
	}
	for (dir = 0; dir < 2; dir++) {
		a->offloads[dir] = opts->offloads_need[dir] |
				   (opts->offloads_want[dir] & supported[dir]);
		a->ring_bytes[dir] = opts->ring_bytes[dir];
		a->layout[dir] = opts->layout[dir];
	}
}

int gsotun_attach(uint32_t ifindex, const struct gsotun_attach_opts *opts,
		  struct gsotun_queue **out, char *message, size_t message_size)
{
	struct gsotun_attach_opts o;
	struct gsotun_attach a;
	int err, fd;

	gsotun_say(message, message_size, NULL, NULL);
	err = take_opts(&o, opts, message, message_size);
	if (err)
		return err;
	fd = open_device(message, message_size);
	if (fd < 0)
		return fd;
	err = query(fd, &a, message, message_size);
	if (err)
		goto err_close;
	fill_request(&a, ifindex, &o);
	if (ioctl(fd, GSOTUN_ATTACH, &a)) {
		err = -errno;
		a.message[sizeof(a.message) - 1] = '\0';
		gsotun_say(message, message_size,
			   a.message[0] ? a.message : gsotun_strerror(err), NULL);
		goto err_close;
	}
	err = bind_queue(fd, &a, &o, 3, out, message, message_size);
	if (err)
		goto err_close;
	return 0;

err_close:
	close(fd);
	return err;
}

int gsotun_adopt(int fd, const struct gsotun_attach_opts *opts,
		 struct gsotun_queue **out, char *message, size_t message_size)
{
	struct gsotun_attach_opts o;
	struct gsotun_attach a;
	int err;

	gsotun_say(message, message_size, NULL, NULL);
	err = take_opts(&o, opts, message, message_size);
	if (err)
		return err;
	err = query(fd, &a, message, message_size);
	if (err)
		return err;
	if (a.state != GSOTUN_STATE_ATTACHED) {
		gsotun_say(message, message_size, "the descriptor is not attached", NULL);
		return -ENOTCONN;
	}
	return bind_queue(fd, &a, &o, 1, out, message, message_size);
}

int gsotun_quiesce(struct gsotun_queue *q)
{
	int dir;

	if (q->side[GSOTUN_TO_USER].held || q->side[GSOTUN_FROM_USER].held)
		return gsotun_fail(q, -EBUSY, "frames are held; release, submit or cancel them");
	for (dir = 0; dir < 2; dir++) {
		q->side[dir].quiesced = true;
		set_flags(&q->side[dir], 0);
	}
	gsotun_flush_kicks(q);
	return 0;
}

int gsotun_close(struct gsotun_queue *q, uint32_t flags)
{
	if (!q)
		return 0;
	if (flags & ~GSOTUN_CLOSE_FORCE)
		return -EINVAL;
	if (!(flags & GSOTUN_CLOSE_FORCE) &&
	    (q->side[GSOTUN_TO_USER].held || q->side[GSOTUN_FROM_USER].held))
		return gsotun_fail(q, -EBUSY, "frames are held; release, submit or cancel them");
	gsotun_flush_kicks(q);
	q->backend->destroy(q);
	queue_free(q);
	return 0;
}

/* ---- what a queue tells ---- */

int gsotun_fd(const struct gsotun_queue *q)
{
	return q->fd;
}

/* Copy what both sides know; what only the caller knows is 0. */
static int give(void *to, size_t size, const void *from, size_t known)
{
	size_t n = size < known ? size : known;

	memset(to, 0, size);
	memcpy(to, from, n);
	return (int)n;
}

int gsotun_info(const struct gsotun_queue *q, struct gsotun_info *info, size_t size)
{
	const struct gsotun_attach *a = &q->granted;
	struct gsotun_info i = {
		.backend = q->backend->id,
		.abi = a->abi,
		.status = core_load(&q->side[GSOTUN_TO_USER].kernel->status),
		.generation = a->generation,
		.ifindex = a->ifindex,
		.queue = a->queue,
		.num_queues = a->num_queues,
		.vnet_len = a->vnet_len,
		.fill_limit = a->fill_limit,
		.adopt_dropped = q->adopt_dropped,
	};
	const struct gsotun_side *s;
	u32 theirs, ours;
	int dir;

	for (dir = 0; dir < 2; dir++) {
		s = &q->side[dir];
		theirs = core_load(&s->kernel->ring.pos);
		ours = core_load(&s->daemon->ring.pos);
		i.used[dir] = dir == GSOTUN_TO_USER ? theirs - ours : ours - theirs;
		i.ring_bytes[dir] = a->ring_bytes[dir];
		i.held[dir] = core_load(&s->held);
		i.frames[dir] = s->frames;
		i.offloads[dir] = a->offloads[dir];
		i.supported[dir] = a->supported[dir];
		i.layout[dir] = a->layout[dir];
	}
	return give(info, size, &i, sizeof(i));
}

static void read_ring_stats(struct gsotun_ring_stats *to,
			    const struct gsotun_ring_stats *from)
{
	to->records = stat_get(&from->records);
	to->superpackets = stat_get(&from->superpackets);
	to->bytes = stat_get(&from->bytes);
	to->batches = stat_get(&from->batches);
	to->kicks = stat_get(&from->kicks);
	to->polls = stat_get(&from->polls);
	to->waits = stat_get(&from->waits);
	to->skips = stat_get(&from->skips);
}

int gsotun_stats(const struct gsotun_queue *q, struct gsotun_stats *stats,
		 size_t size)
{
	struct gsotun_stats s = { .setup = q->setup };
	int dir;

	for (dir = 0; dir < 2; dir++)
		read_ring_stats(&s.ring[dir], &q->side[dir].stats);
	return give(stats, size, &s, sizeof(s));
}
