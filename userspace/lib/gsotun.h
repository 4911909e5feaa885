/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * gsotun.h - libgsotun: exchange packets with a gsotun device.
 *
 *	struct gsotun_attach_opts opts = {
 *		.size = sizeof(opts),
 *		.offloads_want = { GSOTUN_OFFLOADS_SUPER, GSOTUN_OFFLOADS_SUPER },
 *	};
 *	struct gsotun_frame f[64];
 *	struct gsotun_queue *q;
 *	char why[256];
 *
 *	err = gsotun_attach(if_nametoindex("gt0"), &opts, &q, why, sizeof(why));
 *	for (;;) {
 *		n = gsotun_peek(q, f, 64);
 *		if (n > 0) {
 *			consume(f, n);
 *			gsotun_release(q, n);
 *		} else if (n < 0 || gsotun_wait(q, GSOTUN_EV_RECORDS, 20000, -1) < 0) {
 *			break;
 *		}
 *	}
 *	gsotun_close(q, GSOTUN_CLOSE_FORCE);
 *
 * examples/cable in the source is a whole program.
 *
 * Conventions
 *
 * Results: every function that returns int returns a number >= 0 or a negative
 * errno. errno itself is neither read nor set.
 *
 * Memory: frames, options and texts belong to the caller. What a frame points to
 * is ring memory: for a peeked frame it is the caller's until gsotun_release(),
 * for a reserved one until gsotun_submit() or gsotun_cancel(). The library
 * allocates when a queue is attached and never per packet.
 *
 * Growth: a structure whose first member is size is filled in by the caller with
 * sizeof(). Members that a later version adds come at the end; zero means the
 * default. A member that this library does not know and that is not zero is
 * refused with -E2BIG.
 *
 * Threads: one caller at a time for each ring of a queue, from any thread. The
 * verbs of the to_user ring (peek, release, and arm, disarm and wait for
 * GSOTUN_EV_RECORDS) and those of the from_user ring (reserve, submit, cancel,
 * and arm, disarm and wait for GSOTUN_EV_ROOM) may run in two threads at once.
 * gsotun_fd(), gsotun_kick(), gsotun_stats(), gsotun_info() and
 * gsotun_last_message() may be called at any time. gsotun_quiesce() and
 * gsotun_close() need both rings to be at rest. Different queues have nothing in
 * common.
 *
 * The library never prints, never exits, starts no thread, installs no signal
 * handler, and depends on the C library alone.
 */
#ifndef GSOTUN_H
#define GSOTUN_H

#include <stddef.h>
#include <stdint.h>

#include <linux/gsotun.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GSOTUN_VERSION_MAJOR	0
#define GSOTUN_VERSION_MINOR	1
#define GSOTUN_VERSION_PATCH	0

/* Room for any text that the library or the kernel gives for a failure. */
#define GSOTUN_TEXT_MAX		256

/* What most daemons want: superpackets in both directions. */
#define GSOTUN_OFFLOADS_SUPER	(GSOTUN_OFFLOAD_CSUM | GSOTUN_OFFLOAD_TSO4 | \
				 GSOTUN_OFFLOAD_TSO6 | GSOTUN_OFFLOAD_TSO_ECN | \
				 GSOTUN_OFFLOAD_USO)

/* One queue of a device, attached. */
struct gsotun_queue;

/* ---- devices --------------------------------------------------------------- */

/* flags of struct gsotun_dev_opts */
#define GSOTUN_DEV_OWNER	(1u << 0)	/* owner is valid */
#define GSOTUN_DEV_GROUP	(1u << 1)	/* group is valid */
#define GSOTUN_DEV_EPHEMERAL	(1u << 2)	/* goes with its last attachment */

/**
 * struct gsotun_dev_opts - a device to be created
 * @size: sizeof(struct gsotun_dev_opts)
 * @flags: GSOTUN_DEV_*
 * @name: interface name, or a pattern like "vpn%d"; NULL: "gsotun%d"
 * @queues: 1..64; 0: 1
 * @owner: uid that may attach without CAP_NET_ADMIN
 * @group: gid that may attach without CAP_NET_ADMIN
 * @carrier: GSOTUN_CARRIER_*
 * @carrier_hold_ms: how long GSOTUN_CARRIER_HOLD keeps the carrier; 0: default
 * @ring_bytes: default ring sizes, [GSOTUN_TO_USER] and [GSOTUN_FROM_USER];
 *	powers of two; 0: default
 * @mtu: 0: default
 * @resv: 0
 */
struct gsotun_dev_opts {
	uint32_t size;
	uint32_t flags;
	const char *name;
	uint32_t queues;
	uint32_t owner;
	uint32_t group;
	uint32_t carrier;
	uint32_t carrier_hold_ms;
	uint32_t ring_bytes[2];
	uint32_t mtu;
	uint32_t resv;
};

/**
 * gsotun_dev_create - create a device in the caller's network namespace
 * @opts: what to create; NULL: all defaults
 * @ifindex: out: its interface index; may be NULL
 * @message: out: why it failed, a sentence, always terminated; may be NULL
 * @message_size: bytes at @message; GSOTUN_TEXT_MAX is enough
 *
 * The device is down and without addresses. Needs CAP_NET_ADMIN.
 *
 * Return: 0, or -EEXIST (name taken), -EPERM, -EOPNOTSUPP (module missing),
 * -EINVAL, -ERANGE (see message), -E2BIG, or an error of socket().
 */
int gsotun_dev_create(const struct gsotun_dev_opts *opts, uint32_t *ifindex,
		      char *message, size_t message_size);

/**
 * gsotun_dev_delete - delete a gsotun device of the caller's network namespace
 * @ifindex: its interface index
 * @message: out: why it failed; may be NULL
 * @message_size: bytes at @message
 *
 * Attached queues are detached.
 *
 * Return: 0, or -ENODEV (no such device), -EINVAL (not a gsotun device), -EPERM.
 */
int gsotun_dev_delete(uint32_t ifindex, char *message, size_t message_size);

/* ---- attach ---------------------------------------------------------------- */

/* flags of struct gsotun_attach_opts */
#define GSOTUN_OPT_QUEUE	(1u << 0)	/* queue is valid; else any free one */
#define GSOTUN_OPT_NETNS	(1u << 1)	/* netns_fd is valid */
#define GSOTUN_OPT_READ_ONLY	(1u << 2)	/* never writes to peeked frames */
#define GSOTUN_OPT_DEFER_KICKS	(1u << 3)	/* gsotun_wait() and gsotun_poll() kick */

/**
 * struct gsotun_attach_opts - how to attach
 * @size: sizeof(struct gsotun_attach_opts)
 * @flags: GSOTUN_OPT_*
 * @queue: number of the queue, if GSOTUN_OPT_QUEUE
 * @netns_fd: network namespace in which ifindex is looked up, if
 *	GSOTUN_OPT_NETNS; else the caller's
 * @vnet_len: length of every virtio_net_hdr, 10, 12, 20 or 24; 0: 12
 * @fill_limit: most bytes that may stand in the to_user ring before packets wait
 *	in the qdisc; 0: half of the ring. Choose rate * latency
 * @offloads_need: GSOTUN_OFFLOAD_* for [GSOTUN_TO_USER] what may arrive and
 *	[GSOTUN_FROM_USER] what will be sent; refused if the kernel lacks one
 * @offloads_want: the same, but those that the kernel lacks are left out; see
 *	struct gsotun_info for what was granted
 * @ring_bytes: sizes of the rings, powers of two; 0: the device's default
 * @frames: most frames that can be held at a time: peeked, reserved; rounded up
 *	to a power of two; 0: 1024
 * @layout: how packets lie in the records of each ring
 *
 * With GSOTUN_OPT_READ_ONLY a successor that adopts the descriptor after a crash
 * sees the frames that were being looked at; without, those are dropped, as they
 * may have been altered.
 *
 * With GSOTUN_OPT_DEFER_KICKS gsotun_release() and gsotun_submit() never make a
 * system call. They note that the kernel waits, and the next gsotun_wait(),
 * gsotun_poll() or gsotun_arm() tells it, for all rings at once. For loops that
 * do one of these in every round, with one thread for both rings.
 */
struct gsotun_attach_opts {
	uint32_t size;
	uint32_t flags;
	uint32_t queue;
	int32_t netns_fd;
	uint32_t vnet_len;
	uint32_t fill_limit;
	uint64_t offloads_need[2];
	uint64_t offloads_want[2];
	uint32_t ring_bytes[2];
	uint32_t frames[2];
	struct gsotun_layout layout[2];
};

/**
 * gsotun_attach - attach to a queue of a device
 * @ifindex: the device
 * @opts: how; NULL: any free queue, no offloads, all defaults
 * @out: the queue
 * @message: out: why it failed, a sentence, always terminated; may be NULL
 * @message_size: bytes at @message; GSOTUN_TEXT_MAX is enough
 *
 * Allowed for CAP_NET_ADMIN over the device's network namespace and for the
 * device's owner and group.
 *
 * Return: 0, or
 * -ENOENT	the module is not there
 * -EPROTO	the module speaks an ABI that this library does not know
 * -ENODEV	no such device, or not of kind gsotun
 * -EACCES	not allowed
 * -EBUSY	the queue, or every queue, is taken
 * -EINVAL	see @message
 * -EOPNOTSUPP	an offload or layout that the kernel lacks
 * -ENOMEM, -ENOBUFS	no memory; over the limit of ring memory
 * -E2BIG	@opts has members that this library does not know
 * or an error of open() or mmap().
 */
int gsotun_attach(uint32_t ifindex, const struct gsotun_attach_opts *opts,
		  struct gsotun_queue **out, char *message, size_t message_size);

/**
 * gsotun_adopt - go on with a descriptor that another process attached
 * @fd: the descriptor, from SCM_RIGHTS or a service manager; belongs to the
 *	queue on success, stays the caller's on failure
 * @opts: only GSOTUN_OPT_READ_ONLY, GSOTUN_OPT_DEFER_KICKS and frames are looked
 *	at; NULL: defaults
 * @out: the queue
 * @message: out: why it failed; may be NULL
 * @message_size: bytes at @message
 *
 * Records that were not released are seen again, but for those that the
 * predecessor may have altered: these are dropped and counted (struct
 * gsotun_info). What it had reserved and not submitted is gone. The predecessor
 * must not touch the rings any more.
 *
 * Return: 0, -ENOTCONN if @fd is not attached (any more), -EBADMSG if the rings
 * are in no state to go on with, otherwise as gsotun_attach().
 */
int gsotun_adopt(int fd, const struct gsotun_attach_opts *opts,
		 struct gsotun_queue **out, char *message, size_t message_size);

/**
 * gsotun_quiesce - put the rings in order for a successor
 * @q: the queue
 *
 * After it, gsotun_peek() and gsotun_reserve() return -ESHUTDOWN, and whoever
 * adopts the descriptor goes on without loss.
 *
 * Return: 0, or -EBUSY while frames are held: release, submit or cancel them.
 */
int gsotun_quiesce(struct gsotun_queue *q);

#define GSOTUN_CLOSE_FORCE	(1u << 0)	/* even if frames are held */

/**
 * gsotun_close - unmap, close the descriptor, free
 * @q: the queue; NULL is ignored
 * @flags: GSOTUN_CLOSE_*
 *
 * The queue is detached unless another process has the descriptor or a mapping.
 *
 * Return: 0; -EBUSY while frames are held, -EINVAL for unknown flags: the queue
 * stays open then.
 */
int gsotun_close(struct gsotun_queue *q, uint32_t flags);

/**
 * gsotun_fd - the descriptor, for poll(), epoll, io_uring or SCM_RIGHTS
 * @q: the queue; keeps the descriptor
 *
 * Return: the descriptor. It is close-on-exec.
 */
int gsotun_fd(const struct gsotun_queue *q);

#define GSOTUN_BACKEND_MODULE	1	/* the kernel module */

/**
 * struct gsotun_info - what a queue is
 * @backend: GSOTUN_BACKEND_*; expect new ones
 * @abi: ABI of the kernel, GSOTUN_ABI as it was built
 * @status: GSOTUN_STATUS_*, as of now
 * @generation: number of this attachment of the queue
 * @ifindex: the device, in the namespace where it was at attach
 * @queue: number of the queue
 * @num_queues: queues of the device
 * @vnet_len: length of every virtio_net_hdr
 * @fill_limit: most bytes that may stand in the to_user ring
 * @resv: 0
 * @ring_bytes: sizes
 * @used: bytes that stand in each ring, as of now
 * @held: frames held, as of now: peeked, reserved
 * @frames: most frames that can be held
 * @offloads: GSOTUN_OFFLOAD_* granted
 * @supported: GSOTUN_OFFLOAD_* that the kernel could do
 * @layout: layouts, with the defaults filled in
 * @adopt_dropped: gsotun_adopt(): records dropped because they may be altered
 */
struct gsotun_info {
	uint32_t backend;
	uint32_t abi;
	uint32_t status;
	uint32_t generation;
	uint32_t ifindex;
	uint32_t queue;
	uint32_t num_queues;
	uint32_t vnet_len;
	uint32_t fill_limit;
	uint32_t resv;
	uint32_t ring_bytes[2];
	uint32_t used[2];
	uint32_t held[2];
	uint32_t frames[2];
	uint64_t offloads[2];
	uint64_t supported[2];
	struct gsotun_layout layout[2];
	uint64_t adopt_dropped;
};

/**
 * gsotun_info - describe a queue
 * @q: the queue
 * @info: out
 * @size: sizeof(*info)
 *
 * Return: bytes filled in; a larger @size is filled up with zeros.
 */
int gsotun_info(const struct gsotun_queue *q, struct gsotun_info *info, size_t size);

/* ---- frames ---------------------------------------------------------------- */

/**
 * struct gsotun_frame - one record of a ring
 * @data: first byte of the (first) IP packet
 * @len: bytes of content from @data
 * @stride: distance of the segments
 * @nsegs: number of packets at @stride; 1 for a packet, however large
 * @type: GSOTUN_RECORD_PACKET or GSOTUN_RECORD_TRAIN; for gsotun_submit() also
 *	GSOTUN_RECORD_SKIP, to give back a reservation that is not used
 * @flags: GSOTUN_RECORD_F_*
 * @headroom: bytes before every segment that may be written
 * @seg_len: IP length of every segment but the last
 * @seg_padded: the same with padding
 * @last_len: IP length of the last segment
 * @last_padded: the same with padding
 * @hash: peeked: flow hash, 0 if not known
 * @mark: the skb's mark
 * @vnet: the virtio_net_hdr, vnet_len bytes, little-endian; never NULL
 * @lens: reserved, train layout: table of true IP lengths, one for each segment,
 *	0 for a void one; to be filled in. Otherwise NULL
 * @cookie: the caller's; set to 0 by gsotun_peek() and gsotun_reserve()
 *
 * Peeked packet: seg_len = seg_padded = last_len = last_padded = len and
 * stride = len, so that a loop over nsegs needs no special case; with
 * GSOTUN_RECORD_F_BIG these lengths do not fit and are 0.
 *
 * Reserved: a packet with @data at the first byte that may be used, @len = max,
 * a virtio_net_hdr of zeros (a plain packet), everything else 0. Before
 * submitting, set @len, fill in vnet, and move @data forward if the packet starts
 * later. For a train set @type, @nsegs, @stride, @seg_len, @seg_padded,
 * @last_len, @last_padded, and @flags. @mark needs CAP_NET_ADMIN at attach.
 */
struct gsotun_frame {
	uint8_t *data;
	uint32_t len;
	uint32_t stride;
	uint16_t nsegs;
	uint16_t type;
	uint16_t flags;
	uint16_t headroom;
	uint16_t seg_len;
	uint16_t seg_padded;
	uint16_t last_len;
	uint16_t last_padded;
	uint32_t hash;
	uint32_t mark;
	uint8_t *vnet;
	uint16_t *lens;
	uint64_t cookie;
};

/**
 * gsotun_peek - look at the next records of the to_user ring
 * @q: the queue
 * @f: out: frames
 * @n: most frames
 *
 * May be repeated before gsotun_release(): every call goes on after the last
 * frame. Frames stay valid, and count as held, until they are released. Frames
 * may be altered in place, headroom included, unless GSOTUN_OPT_READ_ONLY.
 *
 * Return: number of frames, 0 if there is no further record, or
 * -ENOBUFS	as many frames are held as can be
 * -ENODEV	detached, and everything was peeked
 * -EBADMSG	the next record or the kernel's position makes no sense; close
 * -ESHUTDOWN	after gsotun_quiesce()
 */
int gsotun_peek(struct gsotun_queue *q, struct gsotun_frame *f, unsigned int n);

/**
 * gsotun_release - give the oldest peeked frames back
 * @q: the queue
 * @n: how many, at most as many as are held
 *
 * Call it once per batch: it publishes once, and makes one system call if the
 * kernel waits for the room.
 *
 * Return: frames still held, or -EINVAL if fewer than @n are held.
 */
int gsotun_release(struct gsotun_queue *q, unsigned int n);

/**
 * gsotun_reserve - get room for records in the from_user ring
 * @q: the queue
 * @max: bytes of content that each needs at most
 * @f: out: frames
 * @n: most frames
 *
 * May be repeated before gsotun_submit(), with any @max. Frames may be filled in
 * any order.
 *
 * Return: number of frames, from 1 to @n, or
 * -EAGAIN	no room for one: wait for GSOTUN_EV_ROOM
 * -ENOBUFS	as many frames are held as can be, or held frames take the room
 * -ENODEV	no room, and detached
 * -EMSGSIZE	@max makes a record of more than a quarter of the ring
 * -EBADMSG	the kernel's position makes no sense; close
 * -ESHUTDOWN	after gsotun_quiesce()
 * -EINVAL	@n is 0
 */
int gsotun_reserve(struct gsotun_queue *q, size_t max, struct gsotun_frame *f,
		   unsigned int n);

/**
 * gsotun_submit - hand the oldest reserved frames to the kernel
 * @q: the queue
 * @f: the frames, in the order in which they were reserved
 * @n: how many
 *
 * Call it once per batch: it publishes once, and makes one system call if the
 * kernel sleeps. If the youngest reservation is among them, the room it did not
 * use is free again; to use the ring well, reserve what is needed.
 *
 * Return: frames still reserved, or -EINVAL if fewer than @n are reserved, or a
 * frame does not lie in its reservation or contradicts itself; nothing is
 * submitted then.
 */
int gsotun_submit(struct gsotun_queue *q, const struct gsotun_frame *f,
		  unsigned int n);

/**
 * gsotun_cancel - drop the youngest reserved frames
 * @q: the queue
 * @n: how many
 *
 * Return: frames still reserved, or -EINVAL if fewer than @n are reserved.
 */
int gsotun_cancel(struct gsotun_queue *q, unsigned int n);

/* ---- waiting --------------------------------------------------------------- */

#define GSOTUN_EV_RECORDS	(1u << GSOTUN_TO_USER)	 /* gsotun_peek() finds some */
#define GSOTUN_EV_ROOM		(1u << GSOTUN_FROM_USER) /* gsotun_reserve() finds some */

/**
 * gsotun_wait - wait until a ring can go on
 * @q: the queue
 * @events: GSOTUN_EV_*, one or both
 * @spin_ns: nanoseconds to look at the rings before the thread sleeps; 0: sleep
 *	at once. Spinning makes no system calls but uses the CPU
 * @timeout_ms: milliseconds to sleep at most; 0: do not sleep; -1: no limit
 *
 * GSOTUN_EV_ROOM waits until half of the from_user ring is free, so that one
 * wake-up is worth its cost.
 *
 * Return: GSOTUN_EV_* that can go on; 0 after the timeout; or
 * -EINTR	a signal came while asleep
 * -ENODEV	detached, and everything was peeked
 * -ENOBUFS	held frames take what is waited for: finish some first
 * -EBADMSG	the kernel's position makes no sense, or it found a broken ring
 * -EINVAL	@events
 */
int gsotun_wait(struct gsotun_queue *q, uint32_t events, uint32_t spin_ns,
		int timeout_ms);

/**
 * struct gsotun_poll - a queue to wait for
 * @queue: the queue
 * @events: in: GSOTUN_EV_*; may be 0
 * @ready: out: GSOTUN_EV_* that can go on
 */
struct gsotun_poll {
	struct gsotun_queue *queue;
	uint32_t events;
	uint32_t ready;
};

#define GSOTUN_POLL_MAX	64

/**
 * gsotun_poll - wait until one of several queues can go on
 * @p: the queues
 * @n: how many, at most GSOTUN_POLL_MAX
 * @spin_ns: as for gsotun_wait()
 * @timeout_ms: as for gsotun_wait()
 *
 * Without a deferred kick and with @timeout_ms 0 this makes no system call;
 * otherwise one, for all queues.
 *
 * Return: the number of queues that can go on; 0 after the timeout; or an error
 * of one of them as from gsotun_wait(), if none can go on.
 */
int gsotun_poll(struct gsotun_poll *p, unsigned int n, uint32_t spin_ns,
		int timeout_ms);

/**
 * gsotun_arm - prepare for sleeping on gsotun_fd()
 * @q: the queue
 * @events: GSOTUN_EV_*, one or both
 * @room: GSOTUN_EV_ROOM: the max of the gsotun_reserve() that shall succeed; 0:
 *	half of the ring
 *
 * For daemons with an event loop of their own. Call it before every sleep, after
 * gsotun_peek() returned 0 or gsotun_reserve() returned -EAGAIN, and sleep only
 * if it returns 0. Then EPOLLIN means GSOTUN_EV_RECORDS, EPOLLOUT means
 * GSOTUN_EV_ROOM, and EPOLLERR | EPOLLHUP that the queue is detached. Between two
 * sleeps, gsotun_disarm() keeps the kernel from waking for nothing.
 *
 * Return: 0: armed, sleep; > 0: GSOTUN_EV_* that can go on, nothing is armed; or
 * an error as from gsotun_wait(), or -EMSGSIZE for @room.
 */
int gsotun_arm(struct gsotun_queue *q, uint32_t events, uint32_t room);

/**
 * gsotun_disarm - ask the kernel not to wake
 * @q: the queue
 * @events: GSOTUN_EV_*
 *
 * Without it, one needless wake-up may happen. A queue starts armed, so a loop
 * that calls neither works too.
 *
 * Return: 0 or -EINVAL.
 */
int gsotun_disarm(struct gsotun_queue *q, uint32_t events);

/**
 * gsotun_kick - make the kernel look at the rings
 * @q: the queue
 * @rings: GSOTUN_KICK_TO_USER, GSOTUN_KICK_FROM_USER, or both
 *
 * gsotun_release() and gsotun_submit() do it when the kernel asked for it; there
 * is hardly a reason to call it.
 *
 * Return: 0, -ENODEV if detached, -EINVAL.
 */
int gsotun_kick(struct gsotun_queue *q, uint32_t rings);

/* ---- counters, texts ------------------------------------------------------- */

/**
 * struct gsotun_ring_stats - what the library did with one ring
 * @records: frames peeked, frames submitted (skips are not counted)
 * @superpackets: those of them that carry more than one segment
 * @bytes: their content
 * @batches: calls of gsotun_release() and gsotun_submit()
 * @kicks: system calls: ioctl(GSOTUN_KICK)
 * @polls: system calls: poll(), by gsotun_wait() and gsotun_poll()
 * @waits: calls of these that found nothing at first
 * @skips: skip records met (to_user), submitted (from_user)
 *
 * A poll() for several rings counts once, for the to_user ring if that is among
 * them, and the first queue.
 */
struct gsotun_ring_stats {
	uint64_t records;
	uint64_t superpackets;
	uint64_t bytes;
	uint64_t batches;
	uint64_t kicks;
	uint64_t polls;
	uint64_t waits;
	uint64_t skips;
};

/**
 * struct gsotun_stats - what the library did with a queue
 * @ring: by ring, [GSOTUN_TO_USER] and [GSOTUN_FROM_USER]
 * @setup: system calls made by gsotun_attach() or gsotun_adopt()
 *
 * All system calls that the library made for this queue are setup and the kicks
 * and polls of both rings: counted, not estimated.
 */
struct gsotun_stats {
	struct gsotun_ring_stats ring[2];
	uint64_t setup;
};

/**
 * gsotun_stats - read the counters of a queue
 * @q: the queue
 * @stats: out
 * @size: sizeof(*stats)
 *
 * Return: bytes filled in; a larger @size is filled up with zeros.
 */
int gsotun_stats(const struct gsotun_queue *q, struct gsotun_stats *stats,
		 size_t size);

/**
 * gsotun_last_message - what the last failure on a queue was about
 * @q: the queue
 * @buf: out: a sentence, always terminated; empty if nothing failed
 * @size: bytes at @buf; GSOTUN_TEXT_MAX is enough
 *
 * Return: the length of the whole text.
 */
int gsotun_last_message(const struct gsotun_queue *q, char *buf, size_t size);

/* Version of the library that runs: major << 16 | minor << 8 | patch. */
uint32_t gsotun_version(void);

/**
 * gsotun_strerror - what an error of this library means
 * @err: a negative errno that a function of this library returned
 *
 * Return: a constant text, never NULL.
 */
const char *gsotun_strerror(int err);

/**
 * gsotun_drop_name - name of a drop reason
 * @reason: GSOTUN_DROP_*
 *
 * Return: a constant text like "ring_full", NULL if not known.
 */
const char *gsotun_drop_name(unsigned int reason);

/**
 * gsotun_offload_name - name of an offload
 * @bit: its bit number: 0 for GSOTUN_OFFLOAD_CSUM
 *
 * Return: a constant text like "tso4", NULL if not known.
 */
const char *gsotun_offload_name(unsigned int bit);

#ifdef __cplusplus
}
#endif

#endif /* GSOTUN_H */
