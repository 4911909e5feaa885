/* SPDX-License-Identifier: GPL-2.0 */
/*
 * gsotun_test.h - what the C tests have in common: netlink, and an attached queue
 * without the library, so that hostile things can be written to the rings.
 *
 * A test goes into a network namespace of its own first (gt_unshare_net()): its
 * devices die with it, and names cannot collide. Functions that return int
 * return a number >= 0 or a negative errno, unless they say otherwise. Calls that
 * a test cannot do without end it with a message when they fail.
 */
#ifndef GSOTUN_TEST_H
#define GSOTUN_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/netlink.h>

#include <linux/gsotun.h>

#define GT_KIB(n)	((n) << 10)
#define GT_MIB(n)	((n) << 20)

/* The longest that anything may take that does happen: emulation is slow. */
#define GT_HANG_MS	10000

/* ---- time and state -------------------------------------------------------- */

uint64_t gt_now_ms(void);
void gt_sleep_ms(unsigned int ms);

/* Poll for a condition until it holds or @ms are over; the value is whether. */
#define gt_until_ms(cond, ms) ({					\
	uint64_t gt_end_ = gt_now_ms() + (ms);				\
	bool gt_ok_;							\
	while (!(gt_ok_ = (cond)) && gt_now_ms() < gt_end_)		\
		gt_sleep_ms(1);						\
	gt_ok_ || (cond);						\
})
#define gt_until(cond)	gt_until_ms(cond, GT_HANG_MS)

/* End the process with a failure and a text. */
void gt_die(const char *format, ...)
	__attribute__((format(printf, 1, 2), noreturn));

/* Write @text to a file. */
int gt_write_file(const char *path, const char *text);
/* The first line of a file, without its end; "" if there is none. */
const char *gt_read_file(const char *path, char *buf, size_t size);

/* ---- namespaces and processes ------------------------------------------------ */

/* A new network namespace with lo up; returns a descriptor of it. */
int gt_unshare_net(void);
/* No IPv6 here: it talks unasked, which tests that count to the packet cannot use. */
void gt_no_ipv6(void);
/* A descriptor of the current network namespace. */
int gt_net_fd(void);
/* Go there. */
void gt_set_net(int fd);

/* Run @fn in a child, and return its exit status, or 128 + signal. */
int gt_run_child(int (*fn)(void *), void *arg);
/* The child dies with its parent. -1 when it could not be made. */
pid_t gt_fork(void);
/* Wait for the end of a child; exit status or 128 + signal. */
int gt_wait_child(pid_t pid);

/* ---- netlink -------------------------------------------------------------------- */

struct gt_msg {
	struct nlmsghdr *nlh;
	_Alignas(8) char buf[8192];
};

/* Text of the last refusal, from extack; "" if there was none. */
extern char gt_extack[256];

void gt_msg_init(struct gt_msg *m, uint16_t type, uint16_t flags, const void *hdr, size_t len);
void gt_put(struct gt_msg *m, uint16_t type, const void *data, size_t len);
void gt_put_u8(struct gt_msg *m, uint16_t type, uint8_t v);
void gt_put_u32(struct gt_msg *m, uint16_t type, uint32_t v);
void gt_put_str(struct gt_msg *m, uint16_t type, const char *s);
struct nlattr *gt_nest(struct gt_msg *m, uint16_t type);
void gt_nest_end(struct gt_msg *m, struct nlattr *nest);

/* An open netlink socket, with extack. */
int gt_nl_open(int protocol);
/*
 * Send, and hand all answers to @cb, up to the acknowledgement or the end of the
 * dump. Returns 0 or what the kernel said; -EINTR for an inconsistent dump.
 */
int gt_nl_talk(int fd, struct gt_msg *m,
	       void (*cb)(const struct nlmsghdr *nlh, void *arg), void *arg);
/* The next notification, its length; -EAGAIN if none comes within @ms. */
int gt_nl_next(int fd, struct gt_msg *m, int ms);
/* gt_nl_talk() on a socket of its own. */
int gt_rtnl(struct gt_msg *m);

/* Find an attribute among @len bytes at @first; NULL if it is not there. */
const struct nlattr *gt_find(const void *first, int len, uint16_t type);
static inline const void *gt_data(const struct nlattr *a) { return a + 1; }
static inline int gt_len(const struct nlattr *a) { return a->nla_len - NLA_HDRLEN; }
/* Value of a number of 1, 2, 4 or 8 bytes; ~0 without an attribute. */
uint64_t gt_num(const struct nlattr *a);

/* ---- devices --------------------------------------------------------------------- */

#define GT_UNSET	0xffffffffu

/* What to put into a link message; gt_link_init() sets all to GT_UNSET. */
struct gt_link {
	const char *name;
	int ifindex;		/* 0: by name, or a new one */
	uint32_t mtu, num_tx, num_rx, txqlen;
	uint32_t owner, group, carrier, hold_ms, to_user_bytes, from_user_bytes;
	uint32_t ephemeral, queues, attached;
	int netns_fd;		/* -1: not set */
};

void gt_link_init(struct gt_link *l, const char *name);
/* RTM_NEWLINK with NLM_F_CREATE | NLM_F_EXCL. */
int gt_link_add(const struct gt_link *l);
/* RTM_NEWLINK without; @ifindex or @name says which. */
int gt_link_change(const struct gt_link *l);
/* What the kernel reports as IFLA_GSOTUN_*; what is absent is GT_UNSET. */
int gt_link_get(int ifindex, struct gt_link *l);

/*
 * Index of a device of this namespace, 0 if there is none. if_nametoindex() would
 * have the kernel look for a module of that name, which takes a second.
 */
int gt_ifindex(const char *name);
/* A device called @name with @queues queues, MTU 1500; its index, or dies. */
int gt_dev_add(const char *name, uint32_t queues);
int gt_dev_del(int ifindex);
int gt_dev_up(int ifindex, bool up);
/* IPv4 address like "10.0.0.1". */
int gt_addr_add(int ifindex, const char *addr, int prefix);
/* Up with address 10.9.0.1/24; peers are the rest of the net. Or dies. */
void gt_dev_start(int ifindex);
int gt_dev_move(int ifindex, int netns_fd);
/* Poll in a kernel thread. The caller gets a mount namespace of its own. */
void gt_dev_threaded(const char *name, bool on);
bool gt_dev_exists(int ifindex);
bool gt_carrier(int ifindex);

/* ---- generic netlink --------------------------------------------------------------- */

/* Number of the family "gsotun" and of its group "monitor"; dies without. */
int gt_genl_family(uint32_t *group);

/* @cmd of the family, @flags as NLM_F_DUMP, attributes to be put. */
void gt_genl_init(struct gt_msg *m, uint8_t cmd, uint16_t flags);

const struct nlattr *gt_genl_attr(const struct nlmsghdr *nlh, uint16_t type);

/* A socket that gets the notifications of this namespace. */
int gt_genl_watch(void);
/* The command of the next notification; -EAGAIN if none comes within @ms. */
int gt_genl_next(int fd, struct gt_msg *m, int ms);

struct gt_ring_info {
	uint64_t bytes, used, high_water, layout, offloads;
	uint64_t records, superpackets, packets, wire_bytes, packet_bytes;
	uint64_t skips, wakes, kicks, stops, corruptions;
};

/* What QUEUE_GET says; ~0 for what is absent. */
struct gt_queue_info {
	uint64_t ifindex, id, attached, pid, generation, napi_id, vnet_len, fill_limit, stopped;
	struct gt_ring_info ring[2];	/* [GSOTUN_TO_USER], [GSOTUN_FROM_USER] */
	uint64_t drops[GSOTUN_DROP_MAX + 1];
	uint64_t drop_sum;
};

int gt_queue_get(int ifindex, uint32_t queue, struct gt_queue_info *info);
/* From a message. */
void gt_queue_parse(const struct nlmsghdr *nlh, struct gt_queue_info *info);

struct rtnl_link_stats64;
/* Statistics of a link, by rtnetlink. */
int gt_stats(int ifindex, struct rtnl_link_stats64 *stats);

/* ---- an attached queue ---------------------------------------------------------------- */

/* Everything is where the kernel has it; write what you like. */
struct gt_queue {
	int fd;
	struct gsotun_attach a;			/* the answer */
	struct gsotun_to_user_kernel *to_k;	/* read-only */
	struct gsotun_to_user_daemon *to_d;
	uint8_t *to_data;
	struct gsotun_from_user_kernel *from_k;	/* read-only */
	struct gsotun_from_user_daemon *from_d;
	uint8_t *from_data;
	uint32_t cons, prod;			/* ours */
};

/* open("/dev/net/gsotun"); -errno. */
int gt_open(void);
/* Any queue, 512 KiB rings, offloads as @offloads for both directions. */
void gt_attach_init(struct gsotun_attach *a, int ifindex, uint64_t offloads);
/* The ioctls; -errno. */
int gt_attach_fd(int fd, struct gsotun_attach *a);
int gt_query_fd(int fd, struct gsotun_attach *a);
int gt_kick_fd(int fd, unsigned long what);

/* open, attach and map; -errno. @opts: NULL for gt_attach_init(ifindex, 0). */
int gt_attach(struct gt_queue *q, int ifindex, const struct gsotun_attach *opts);
/* Map what q->fd has; -errno. */
int gt_map(struct gt_queue *q);
void *gt_region(const struct gt_queue *q, int i);
void gt_unmap(struct gt_queue *q);
/* Unmap and close. */
void gt_close(struct gt_queue *q);

/* The next to_user record and its packet, or NULL; it is consumed by gt_release(). */
const struct gsotun_record *gt_peek(struct gt_queue *q, const uint8_t **packet);
/* Everything peeked so far; kicks if it was asked for. */
void gt_release(struct gt_queue *q);
/* Peek and release all there is; returns how many. */
unsigned int gt_drain(struct gt_queue *q);

/* Room for a record of @span bytes at q->prod, zeroed; NULL if there is none. */
uint8_t *gt_reserve(struct gt_queue *q, uint32_t span);
/* Move q->prod by @span, publish; @kick: if it was asked for. */
void gt_submit(struct gt_queue *q, uint32_t span, bool kick);
/* A whole packet with a virtio_net_hdr (may be NULL: zeros): -EAGAIN if no room. */
int gt_inject(struct gt_queue *q, const void *packet, uint32_t len, const void *vnet);

/* ---- packets --------------------------------------------------------------------------- */

uint16_t gt_csum(const void *p, size_t len, uint32_t sum);
/* An IPv4/UDP packet with right checksums; its length. */
uint32_t gt_udp4(void *buf, const char *from, const char *to, uint16_t sport, uint16_t dport,
		 const void *payload, uint32_t len);
/* A UDP socket, bound to @addr (NULL: any) and @port (0: any), non-blocking. */
int gt_udp_socket(const char *addr, uint16_t port);
/* Send @len bytes to 10.9.0.@host port @port; -errno. */
int gt_send_to(int fd, int host, uint16_t port, const void *data, size_t len);

/* UDP datagrams to 10.9.0.2 from a child, as fast as they go, until gt_flood_stop(). */
struct gt_flood {
	pid_t pid;
};
void gt_flood_start(struct gt_flood *f, size_t len);
void gt_flood_stop(struct gt_flood *f);

#endif /* GSOTUN_TEST_H */
