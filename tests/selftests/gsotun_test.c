// SPDX-License-Identifier: GPL-2.0
/* gsotun_test.c - see gsotun_test.h */

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/genetlink.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "gsotun_test.h"

#define load(p)			__atomic_load_n(p, __ATOMIC_RELAXED)
#define load_acquire(p)		__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define store_release(p, v)	__atomic_store_n(p, v, __ATOMIC_RELEASE)
#define full_barrier()		__atomic_thread_fence(__ATOMIC_SEQ_CST)

/* ---- time and state -------------------------------------------------------- */

uint64_t gt_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ull + ts.tv_nsec / 1000000;
}

void gt_sleep_ms(unsigned int ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000l };

	nanosleep(&ts, NULL);
}

void gt_die(const char *format, ...)
{
	va_list args;

	fflush(stdout);
	va_start(args, format);
	fputs("# ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	_exit(1);
}

int gt_write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY), err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		err = -errno;
	close(fd);
	return err;
}

const char *gt_read_file(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, size - 1);

	if (fd >= 0)
		close(fd);
	buf[n > 0 ? n : 0] = 0;
	buf[strcspn(buf, "\n")] = 0;
	return buf;
}

/* ---- namespaces and processes ------------------------------------------------ */

int gt_net_fd(void)
{
	int fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		gt_die("network namespace: %s", strerror(errno));
	return fd;
}

void gt_set_net(int fd)
{
	if (setns(fd, CLONE_NEWNET))
		gt_die("setns: %s", strerror(errno));
}

int gt_unshare_net(void)
{
	if (unshare(CLONE_NEWNET))
		gt_die("unshare: %s", strerror(errno));
	if (gt_dev_up(1, true))
		gt_die("lo does not come up");
	return gt_net_fd();
}

void gt_no_ipv6(void)
{
	if (gt_write_file("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1") ||
	    gt_write_file("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1"))
		gt_die("IPv6 cannot be switched off");
}

pid_t gt_fork(void)
{
	pid_t parent = getpid(), pid;

	fflush(stdout);
	fflush(stderr);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		/* 0: the parent is outside of our pid namespace. */
		if (getppid() && getppid() != parent)
			_exit(1);
	}
	return pid;
}

int gt_wait_child(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			gt_die("waitpid: %s", strerror(errno));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int gt_run_child(int (*fn)(void *), void *arg)
{
	pid_t pid = gt_fork();

	if (pid < 0)
		gt_die("fork: %s", strerror(errno));
	if (!pid)
		_exit(fn(arg));
	return gt_wait_child(pid);
}

/* ---- netlink -------------------------------------------------------------------- */

char gt_extack[256];

void gt_msg_init(struct gt_msg *m, uint16_t type, uint16_t flags, const void *hdr, size_t len)
{
	memset(m->buf, 0, sizeof(m->buf));
	m->nlh = (struct nlmsghdr *)m->buf;
	m->nlh->nlmsg_len = NLMSG_LENGTH(NLMSG_ALIGN(len));
	m->nlh->nlmsg_type = type;
	m->nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	memcpy(NLMSG_DATA(m->nlh), hdr, len);
}

void gt_put(struct gt_msg *m, uint16_t type, const void *data, size_t len)
{
	struct nlattr *a = (void *)(m->buf + NLMSG_ALIGN(m->nlh->nlmsg_len));

	if ((char *)a + NLA_HDRLEN + len > m->buf + sizeof(m->buf))
		gt_die("netlink message too long");
	a->nla_type = type;
	a->nla_len = NLA_HDRLEN + len;
	if (len)
		memcpy(a + 1, data, len);
	m->nlh->nlmsg_len = (char *)a - m->buf + NLA_ALIGN(a->nla_len);
}

void gt_put_u8(struct gt_msg *m, uint16_t type, uint8_t v)
{
	gt_put(m, type, &v, sizeof(v));
}

void gt_put_u32(struct gt_msg *m, uint16_t type, uint32_t v)
{
	gt_put(m, type, &v, sizeof(v));
}

void gt_put_str(struct gt_msg *m, uint16_t type, const char *s)
{
	gt_put(m, type, s, strlen(s) + 1);
}

struct nlattr *gt_nest(struct gt_msg *m, uint16_t type)
{
	struct nlattr *a = (void *)(m->buf + NLMSG_ALIGN(m->nlh->nlmsg_len));

	gt_put(m, type | NLA_F_NESTED, NULL, 0);
	return a;
}

void gt_nest_end(struct gt_msg *m, struct nlattr *nest)
{
	nest->nla_len = m->buf + m->nlh->nlmsg_len - (char *)nest;
}

int gt_nl_open(int protocol)
{
	struct sockaddr_nl any = { .nl_family = AF_NETLINK };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol), on = 1;

	/* Without an address of its own a socket gets no notifications. */
	if (fd < 0 || bind(fd, (struct sockaddr *)&any, sizeof(any)))
		gt_die("netlink: %s", strerror(errno));
	setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	setsockopt(fd, SOL_NETLINK, NETLINK_GET_STRICT_CHK, &on, sizeof(on));
	return fd;
}

const struct nlattr *gt_find(const void *first, int len, uint16_t type)
{
	const struct nlattr *a = first;

	while (len >= NLA_HDRLEN && a->nla_len >= NLA_HDRLEN && a->nla_len <= len) {
		if ((a->nla_type & NLA_TYPE_MASK) == type)
			return a;
		len -= NLA_ALIGN(a->nla_len);
		a = (const void *)((const char *)a + NLA_ALIGN(a->nla_len));
	}
	return NULL;
}

uint64_t gt_num(const struct nlattr *a)
{
	uint64_t v = 0;

	if (!a)
		return ~0ull;
	/* Little-endian machines only, like the rest of the tests. */
	memcpy(&v, gt_data(a), gt_len(a) < 8 ? gt_len(a) : 8);
	return v;
}

static void take_extack(const struct nlmsghdr *nlh)
{
	const struct nlmsgerr *e = NLMSG_DATA(nlh);
	int off = NLMSG_HDRLEN + sizeof(*e);
	const struct nlattr *a;

	if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS))
		return;
	if (!(nlh->nlmsg_flags & NLM_F_CAPPED))
		off += NLMSG_ALIGN(e->msg.nlmsg_len) - NLMSG_HDRLEN;
	a = gt_find((const char *)nlh + off, nlh->nlmsg_len - off, NLMSGERR_ATTR_MSG);
	if (a)
		snprintf(gt_extack, sizeof(gt_extack), "%.*s", gt_len(a), (const char *)gt_data(a));
}

int gt_nl_talk(int fd, struct gt_msg *m,
	       void (*cb)(const struct nlmsghdr *nlh, void *arg), void *arg)
{
	static uint32_t seq;
	_Alignas(8) char buf[65536];
	bool interrupted = false;
	unsigned int answers = 0;

	gt_extack[0] = 0;
	m->nlh->nlmsg_flags |= NLM_F_ACK;
	m->nlh->nlmsg_seq = ++seq;
	if (send(fd, m->nlh, m->nlh->nlmsg_len, 0) < 0)
		return -errno;
	for (;;) {
		int n = recv(fd, buf, sizeof(buf), 0);
		struct nlmsghdr *nlh = (void *)buf;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		for (; NLMSG_OK(nlh, n); nlh = NLMSG_NEXT(nlh, n)) {
			if (nlh->nlmsg_seq != m->nlh->nlmsg_seq)
				continue;
			if (nlh->nlmsg_flags & NLM_F_DUMP_INTR)
				interrupted = true;
			if (nlh->nlmsg_type == NLMSG_ERROR) {
				take_extack(nlh);
				return ((struct nlmsgerr *)NLMSG_DATA(nlh))->error;
			}
			if (nlh->nlmsg_type == NLMSG_DONE) {
				int err = *(int *)NLMSG_DATA(nlh);

				return err < 0 ? err : interrupted ? -EINTR : 0;
			}
			if (cb)
				cb(nlh, arg);
			/* A dump without an end. */
			if (++answers == 100000)
				return -ELOOP;
		}
	}
}

static bool readable(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, ms) > 0;
}

int gt_nl_next(int fd, struct gt_msg *m, int ms)
{
	int n;

	/* One message a datagram, as the kernel's notifications are. */
	if (!readable(fd, ms))
		return -EAGAIN;
	n = recv(fd, m->buf, sizeof(m->buf), 0);
	if (n < 0)
		return -errno;
	m->nlh = (struct nlmsghdr *)m->buf;
	return n;
}

int gt_rtnl(struct gt_msg *m)
{
	int fd = gt_nl_open(NETLINK_ROUTE), err = gt_nl_talk(fd, m, NULL, NULL);

	close(fd);
	return err;
}

/* ---- devices --------------------------------------------------------------------- */

void gt_link_init(struct gt_link *l, const char *name)
{
	memset(l, 0xff, sizeof(*l));
	l->name = name;
	l->ifindex = 0;
}

static void put_set(struct gt_msg *m, uint16_t type, uint32_t v)
{
	if (v != GT_UNSET)
		gt_put_u32(m, type, v);
}

static void put_set_u8(struct gt_msg *m, uint16_t type, uint32_t v)
{
	if (v != GT_UNSET)
		gt_put_u8(m, type, v);
}

static int link_talk(const struct gt_link *l, uint16_t flags)
{
	struct ifinfomsg ifi = { .ifi_index = l->ifindex };
	struct nlattr *info, *data;
	struct gt_msg m;

	gt_msg_init(&m, RTM_NEWLINK, flags, &ifi, sizeof(ifi));
	if (l->name)
		gt_put_str(&m, IFLA_IFNAME, l->name);
	put_set(&m, IFLA_MTU, l->mtu);
	put_set(&m, IFLA_TXQLEN, l->txqlen);
	put_set(&m, IFLA_NUM_TX_QUEUES, l->num_tx);
	put_set(&m, IFLA_NUM_RX_QUEUES, l->num_rx);
	if (l->netns_fd >= 0)
		gt_put_u32(&m, IFLA_NET_NS_FD, l->netns_fd);
	info = gt_nest(&m, IFLA_LINKINFO);
	gt_put_str(&m, IFLA_INFO_KIND, "gsotun");
	data = gt_nest(&m, IFLA_INFO_DATA);
	put_set(&m, IFLA_GSOTUN_OWNER, l->owner);
	put_set(&m, IFLA_GSOTUN_GROUP, l->group);
	put_set_u8(&m, IFLA_GSOTUN_CARRIER, l->carrier);
	put_set(&m, IFLA_GSOTUN_CARRIER_HOLD, l->hold_ms);
	put_set(&m, IFLA_GSOTUN_TO_USER_BYTES, l->to_user_bytes);
	put_set(&m, IFLA_GSOTUN_FROM_USER_BYTES, l->from_user_bytes);
	put_set_u8(&m, IFLA_GSOTUN_EPHEMERAL, l->ephemeral);
	put_set(&m, IFLA_GSOTUN_QUEUES, l->queues);
	put_set(&m, IFLA_GSOTUN_ATTACHED, l->attached);
	gt_nest_end(&m, data);
	gt_nest_end(&m, info);
	return gt_rtnl(&m);
}

int gt_link_add(const struct gt_link *l)
{
	return link_talk(l, NLM_F_CREATE | NLM_F_EXCL);
}

int gt_link_change(const struct gt_link *l)
{
	return link_talk(l, 0);
}

static void copy_answer(const struct nlmsghdr *nlh, void *arg)
{
	struct gt_msg *m = arg;

	if (nlh->nlmsg_len > sizeof(m->buf))
		gt_die("netlink answer too long");
	memcpy(m->buf, nlh, nlh->nlmsg_len);
	m->nlh = (struct nlmsghdr *)m->buf;
}

/* Message about a link; the answer replaces it. */
static int link_ask(int ifindex, struct gt_msg *m)
{
	struct ifinfomsg ifi = { .ifi_index = ifindex };
	int fd = gt_nl_open(NETLINK_ROUTE), err;
	struct gt_msg ask;

	gt_msg_init(&ask, RTM_GETLINK, 0, &ifi, sizeof(ifi));
	err = gt_nl_talk(fd, &ask, copy_answer, m);
	close(fd);
	return err;
}

const struct nlattr *gt_genl_attr(const struct nlmsghdr *nlh, uint16_t type)
{
	int off = NLMSG_LENGTH(GENL_HDRLEN);

	return gt_find((const char *)nlh + off, (int)nlh->nlmsg_len - off, type);
}

static const struct nlattr *link_attr(const struct gt_msg *m, uint16_t type)
{
	int off = NLMSG_LENGTH(sizeof(struct ifinfomsg));

	return gt_find(m->buf + off, m->nlh->nlmsg_len - off, type);
}

int gt_ifindex(const char *name)
{
	struct ifinfomsg ifi = { };
	int fd = gt_nl_open(NETLINK_ROUTE), err;
	struct gt_msg ask, m;

	gt_msg_init(&ask, RTM_GETLINK, 0, &ifi, sizeof(ifi));
	gt_put_str(&ask, IFLA_IFNAME, name);
	err = gt_nl_talk(fd, &ask, copy_answer, &m);
	close(fd);
	return err ? 0 : ((struct ifinfomsg *)NLMSG_DATA(m.nlh))->ifi_index;
}

int gt_link_get(int ifindex, struct gt_link *l)
{
	const struct nlattr *info, *data;
	int err;
	struct gt_msg m;

	gt_link_init(l, NULL);
	err = link_ask(ifindex, &m);
	if (err)
		return err;
	l->ifindex = ifindex;
	l->mtu = gt_num(link_attr(&m, IFLA_MTU));
	l->txqlen = gt_num(link_attr(&m, IFLA_TXQLEN));
	l->num_tx = gt_num(link_attr(&m, IFLA_NUM_TX_QUEUES));
	l->num_rx = gt_num(link_attr(&m, IFLA_NUM_RX_QUEUES));
	info = link_attr(&m, IFLA_LINKINFO);
	data = info ? gt_find(gt_data(info), gt_len(info), IFLA_INFO_DATA) : NULL;
	if (!data)
		return -ENODATA;
#define ATTR(type) gt_num(gt_find(gt_data(data), gt_len(data), type))
	l->owner = ATTR(IFLA_GSOTUN_OWNER);
	l->group = ATTR(IFLA_GSOTUN_GROUP);
	l->carrier = ATTR(IFLA_GSOTUN_CARRIER);
	l->hold_ms = ATTR(IFLA_GSOTUN_CARRIER_HOLD);
	l->to_user_bytes = ATTR(IFLA_GSOTUN_TO_USER_BYTES);
	l->from_user_bytes = ATTR(IFLA_GSOTUN_FROM_USER_BYTES);
	l->ephemeral = ATTR(IFLA_GSOTUN_EPHEMERAL);
	l->queues = ATTR(IFLA_GSOTUN_QUEUES);
	l->attached = ATTR(IFLA_GSOTUN_ATTACHED);
#undef ATTR
	return 0;
}

int gt_stats(int ifindex, struct rtnl_link_stats64 *stats)
{
	const struct nlattr *a;
	struct gt_msg m;
	int err = link_ask(ifindex, &m);

	if (err)
		return err;
	a = link_attr(&m, IFLA_STATS64);
	if (!a)
		return -ENODATA;
	memset(stats, 0, sizeof(*stats));
	memcpy(stats, gt_data(a), gt_len(a) < sizeof(*stats) ? gt_len(a) : sizeof(*stats));
	return 0;
}

int gt_dev_add(const char *name, uint32_t queues)
{
	struct gt_link l;
	int err;

	gt_link_init(&l, name);
	l.queues = queues;
	err = gt_link_add(&l);
	if (err)
		gt_die("cannot create %s: %s (%s)", name, strerror(-err), gt_extack);
	return gt_ifindex(name);
}

int gt_dev_del(int ifindex)
{
	struct ifinfomsg ifi = { .ifi_index = ifindex };
	struct gt_msg m;

	gt_msg_init(&m, RTM_DELLINK, 0, &ifi, sizeof(ifi));
	return gt_rtnl(&m);
}

int gt_dev_up(int ifindex, bool up)
{
	struct ifinfomsg ifi = {
		.ifi_index = ifindex, .ifi_flags = up ? IFF_UP : 0, .ifi_change = IFF_UP,
	};
	struct gt_msg m;

	gt_msg_init(&m, RTM_NEWLINK, 0, &ifi, sizeof(ifi));
	return gt_rtnl(&m);
}

int gt_addr_add(int ifindex, const char *addr, int prefix)
{
	struct ifaddrmsg ifa = {
		.ifa_family = AF_INET, .ifa_prefixlen = prefix, .ifa_index = ifindex,
	};
	struct in_addr in;
	struct gt_msg m;

	inet_pton(AF_INET, addr, &in);
	gt_msg_init(&m, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, &ifa, sizeof(ifa));
	gt_put(&m, IFA_LOCAL, &in, sizeof(in));
	gt_put(&m, IFA_ADDRESS, &in, sizeof(in));
	return gt_rtnl(&m);
}

void gt_dev_start(int ifindex)
{
	int err = gt_addr_add(ifindex, "10.9.0.1", 24) ?: gt_dev_up(ifindex, true);

	if (err)
		gt_die("device does not start: %s (%s)", strerror(-err), gt_extack);
}

int gt_dev_move(int ifindex, int netns_fd)
{
	struct ifinfomsg ifi = { .ifi_index = ifindex };
	struct gt_msg m;

	gt_msg_init(&m, RTM_NEWLINK, 0, &ifi, sizeof(ifi));
	gt_put_u32(&m, IFLA_NET_NS_FD, netns_fd);
	return gt_rtnl(&m);
}

void gt_dev_threaded(const char *name, bool on)
{
	char path[64], buf[8];

	/* /sys shows the namespace of whoever mounted it: ours needs one of its own. */
	snprintf(path, sizeof(path), "/sys/class/net/%s/threaded", name);
	if (access(path, F_OK) &&
	    (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	     mount("sysfs", "/sys", "sysfs", 0, NULL)))
		gt_die("no sysfs: %s", strerror(errno));
	if (gt_write_file(path, on ? "1" : "0") ||
	    strcmp(gt_read_file(path, buf, sizeof(buf)), on ? "1" : "0"))
		gt_die("%s cannot be written", path);
}

bool gt_dev_exists(int ifindex)
{
	struct gt_msg m;

	return link_ask(ifindex, &m) == 0;
}

bool gt_carrier(int ifindex)
{
	struct gt_msg m;

	return !link_ask(ifindex, &m) &&
	       gt_num(link_attr(&m, IFLA_CARRIER)) == 1;
}

/* ---- generic netlink --------------------------------------------------------------- */

struct genl_ids {
	int family;
	uint32_t group;
};

static void take_ids(const struct nlmsghdr *nlh, void *arg)
{
	int off = NLMSG_LENGTH(GENL_HDRLEN);
	const char *first = (const char *)nlh + off;
	const struct nlattr *groups, *group;
	struct genl_ids *ids = arg;

	ids->family = gt_num(gt_find(first, nlh->nlmsg_len - off, CTRL_ATTR_FAMILY_ID));
	groups = gt_find(first, nlh->nlmsg_len - off, CTRL_ATTR_MCAST_GROUPS);
	group = groups ? gt_find(gt_data(groups), gt_len(groups), 1) : NULL;
	if (group)
		ids->group = gt_num(gt_find(gt_data(group), gt_len(group),
					    CTRL_ATTR_MCAST_GRP_ID));
}

int gt_genl_family(uint32_t *group)
{
	struct genlmsghdr g = { .cmd = CTRL_CMD_GETFAMILY, .version = 1 };
	int fd = gt_nl_open(NETLINK_GENERIC), err;
	struct genl_ids ids = { };
	struct gt_msg m;

	gt_msg_init(&m, GENL_ID_CTRL, 0, &g, sizeof(g));
	gt_put_str(&m, CTRL_ATTR_FAMILY_NAME, GSOTUN_GENL_NAME);
	err = gt_nl_talk(fd, &m, take_ids, &ids);
	close(fd);
	if (err)
		gt_die("generic netlink family: %s", strerror(-err));
	if (group)
		*group = ids.group;
	return ids.family;
}

void gt_genl_init(struct gt_msg *m, uint8_t cmd, uint16_t flags)
{
	struct genlmsghdr g = { .cmd = cmd, .version = GSOTUN_GENL_VERSION };
	static int family;

	if (!family)
		family = gt_genl_family(NULL);
	gt_msg_init(m, family, flags, &g, sizeof(g));
}

int gt_genl_watch(void)
{
	int fd = gt_nl_open(NETLINK_GENERIC);
	uint32_t group;

	gt_genl_family(&group);
	if (setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group)))
		gt_die("cannot watch: %s", strerror(errno));
	return fd;
}

int gt_genl_next(int fd, struct gt_msg *m, int ms)
{
	int n = gt_nl_next(fd, m, ms);

	return n < 0 ? n : ((struct genlmsghdr *)NLMSG_DATA(m->nlh))->cmd;
}

static void parse_ring(const struct nlattr *nest, struct gt_ring_info *r)
{
#define ATTR(name, type) \
	(r->name = gt_num(nest ? gt_find(gt_data(nest), gt_len(nest), type) : NULL))
	ATTR(bytes, GSOTUN_A_RING_BYTES);
	ATTR(used, GSOTUN_A_RING_USED);
	ATTR(high_water, GSOTUN_A_RING_HIGH_WATER);
	ATTR(layout, GSOTUN_A_RING_LAYOUT);
	ATTR(offloads, GSOTUN_A_RING_OFFLOADS);
	ATTR(records, GSOTUN_A_RING_RECORDS);
	ATTR(superpackets, GSOTUN_A_RING_SUPERPACKETS);
	ATTR(packets, GSOTUN_A_RING_PACKETS);
	ATTR(wire_bytes, GSOTUN_A_RING_WIRE_BYTES);
	ATTR(packet_bytes, GSOTUN_A_RING_PACKET_BYTES);
	ATTR(skips, GSOTUN_A_RING_SKIPS);
	ATTR(wakes, GSOTUN_A_RING_WAKES);
	ATTR(kicks, GSOTUN_A_RING_KICKS);
	ATTR(stops, GSOTUN_A_RING_STOPS);
	ATTR(corruptions, GSOTUN_A_RING_CORRUPTIONS);
#undef ATTR
}

void gt_queue_parse(const struct nlmsghdr *nlh, struct gt_queue_info *info)
{
	const struct nlattr *drops;
	int i;

#define FIND(type) gt_genl_attr(nlh, type)
	info->ifindex = gt_num(FIND(GSOTUN_A_QUEUE_IFINDEX));
	info->id = gt_num(FIND(GSOTUN_A_QUEUE_ID));
	info->attached = gt_num(FIND(GSOTUN_A_QUEUE_ATTACHED));
	info->pid = gt_num(FIND(GSOTUN_A_QUEUE_PID));
	info->generation = gt_num(FIND(GSOTUN_A_QUEUE_GENERATION));
	info->napi_id = gt_num(FIND(GSOTUN_A_QUEUE_NAPI_ID));
	info->vnet_len = gt_num(FIND(GSOTUN_A_QUEUE_VNET_LEN));
	info->fill_limit = gt_num(FIND(GSOTUN_A_QUEUE_FILL_LIMIT));
	info->stopped = gt_num(FIND(GSOTUN_A_QUEUE_STOPPED));
	parse_ring(FIND(GSOTUN_A_QUEUE_TO_USER), &info->ring[GSOTUN_TO_USER]);
	parse_ring(FIND(GSOTUN_A_QUEUE_FROM_USER), &info->ring[GSOTUN_FROM_USER]);
	drops = FIND(GSOTUN_A_QUEUE_DROPS);
#undef FIND
	info->drop_sum = 0;
	for (i = 0; i <= GSOTUN_DROP_MAX; i++) {
		const struct nlattr *a = drops ? gt_find(gt_data(drops), gt_len(drops), i) : NULL;

		info->drops[i] = a && i ? gt_num(a) : 0;
		info->drop_sum += info->drops[i];
	}
}

static void parse_queue_cb(const struct nlmsghdr *nlh, void *arg)
{
	gt_queue_parse(nlh, arg);
}

int gt_queue_get(int ifindex, uint32_t queue, struct gt_queue_info *info)
{
	int fd = gt_nl_open(NETLINK_GENERIC), err;
	struct gt_msg m;

	gt_genl_init(&m, GSOTUN_CMD_QUEUE_GET, 0);
	gt_put_u32(&m, GSOTUN_A_QUEUE_IFINDEX, ifindex);
	gt_put_u32(&m, GSOTUN_A_QUEUE_ID, queue);
	err = gt_nl_talk(fd, &m, parse_queue_cb, info);
	close(fd);
	return err;
}

/* ---- an attached queue ---------------------------------------------------------------- */

int gt_open(void)
{
	int fd = open("/dev/net/gsotun", O_RDWR | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

void gt_attach_init(struct gsotun_attach *a, int ifindex, uint64_t offloads)
{
	memset(a, 0, sizeof(*a));
	a->size = sizeof(*a);
	a->ifindex = ifindex;
	a->queue = GSOTUN_QUEUE_ANY;
	a->offloads[GSOTUN_TO_USER] = offloads;
	a->offloads[GSOTUN_FROM_USER] = offloads;
	a->ring_bytes[GSOTUN_TO_USER] = GSOTUN_RING_BYTES_MIN;
	a->ring_bytes[GSOTUN_FROM_USER] = GSOTUN_RING_BYTES_MIN;
}

int gt_attach_fd(int fd, struct gsotun_attach *a)
{
	return ioctl(fd, GSOTUN_ATTACH, a) ? -errno : 0;
}

int gt_query_fd(int fd, struct gsotun_attach *a)
{
	memset(a, 0, sizeof(*a));
	a->size = sizeof(*a);
	return ioctl(fd, GSOTUN_QUERY, a) ? -errno : 0;
}

int gt_kick_fd(int fd, unsigned long what)
{
	return ioctl(fd, GSOTUN_KICK, what) ? -errno : 0;
}

void *gt_region(const struct gt_queue *q, int i)
{
	switch (i) {
	case GSOTUN_REGION_KERNEL:
		return q->to_k;
	case GSOTUN_REGION_DAEMON:
		return q->to_d;
	case GSOTUN_REGION_DATA:
		return q->to_data;
	case GSOTUN_REGIONS + GSOTUN_REGION_KERNEL:
		return q->from_k;
	case GSOTUN_REGIONS + GSOTUN_REGION_DAEMON:
		return q->from_d;
	default:
		return q->from_data;
	}
}

int gt_map(struct gt_queue *q)
{
	void *at[2 * GSOTUN_REGIONS];
	int i;

	for (i = 0; i < 2 * GSOTUN_REGIONS; i++) {
		int prot = PROT_READ;

		if (i % GSOTUN_REGIONS != GSOTUN_REGION_KERNEL)
			prot |= PROT_WRITE;
		at[i] = mmap(NULL, q->a.region[i].length, prot, MAP_SHARED, q->fd,
			     q->a.region[i].offset);
		if (at[i] == MAP_FAILED) {
			int err = -errno;

			while (i--)
				munmap(at[i], q->a.region[i].length);
			return err;
		}
	}
	q->to_k = at[0];
	q->to_d = at[1];
	q->to_data = at[2];
	q->from_k = at[3];
	q->from_d = at[4];
	q->from_data = at[5];
	q->cons = load(&q->to_d->cons);
	q->prod = load(&q->from_d->prod);
	return 0;
}

void gt_unmap(struct gt_queue *q)
{
	int i;

	for (i = 0; i < 2 * GSOTUN_REGIONS; i++)
		if (gt_region(q, i))
			munmap(gt_region(q, i), q->a.region[i].length);
	q->to_k = NULL;
	q->to_d = NULL;
	q->to_data = NULL;
	q->from_k = NULL;
	q->from_d = NULL;
	q->from_data = NULL;
}

int gt_attach(struct gt_queue *q, int ifindex, const struct gsotun_attach *opts)
{
	int err;

	memset(q, 0, sizeof(*q));
	q->fd = gt_open();
	if (q->fd < 0)
		return q->fd;
	if (opts)
		q->a = *opts;
	else
		gt_attach_init(&q->a, ifindex, 0);
	err = gt_attach_fd(q->fd, &q->a);
	if (!err)
		err = gt_map(q);
	if (err) {
		close(q->fd);
		q->fd = -1;
	}
	return err;
}

void gt_close(struct gt_queue *q)
{
	gt_unmap(q);
	if (q->fd >= 0)
		close(q->fd);
	q->fd = -1;
}

static bool crossed(uint32_t from, uint32_t to, uint32_t at)
{
	return to - at < to - from;
}

const struct gsotun_record *gt_peek(struct gt_queue *q, const uint8_t **packet)
{
	uint32_t mask = q->a.ring_bytes[GSOTUN_TO_USER] - 1;
	uint32_t prod = load_acquire(&q->to_k->prod);

	while (q->cons != prod) {
		const struct gsotun_record *rec = (void *)(q->to_data + (q->cons & mask));

		q->cons += rec->span;
		if (rec->type == GSOTUN_RECORD_SKIP)
			continue;
		if (packet)
			*packet = (const uint8_t *)rec + rec->data_off;
		return rec;
	}
	/* Seen it all: EPOLLIN goes, and comes with the next. */
	__atomic_store_n(&q->to_d->seen, prod, __ATOMIC_RELAXED);
	return NULL;
}

void gt_release(struct gt_queue *q)
{
	uint32_t old = load(&q->to_d->cons);

	store_release(&q->to_d->cons, q->cons);
	full_barrier();
	if (crossed(old, q->cons, load(&q->to_k->kick_at)))
		gt_kick_fd(q->fd, GSOTUN_KICK_TO_USER);
}

unsigned int gt_drain(struct gt_queue *q)
{
	unsigned int n = 0;

	while (gt_peek(q, NULL))
		n++;
	gt_release(q);
	return n;
}

uint8_t *gt_reserve(struct gt_queue *q, uint32_t span)
{
	uint32_t size = q->a.ring_bytes[GSOTUN_FROM_USER];
	uint8_t *at = q->from_data + (q->prod & (size - 1));

	if (q->prod + span - load_acquire(&q->from_k->cons) > size)
		return NULL;
	memset(at, 0, sizeof(struct gsotun_record));
	return at;
}

void gt_submit(struct gt_queue *q, uint32_t span, bool kick)
{
	uint32_t old = q->prod;

	q->prod += span;
	store_release(&q->from_d->prod, q->prod);
	full_barrier();
	if (kick && crossed(old, q->prod, load(&q->from_k->kick_at)))
		gt_kick_fd(q->fd, GSOTUN_KICK_FROM_USER);
}

int gt_inject(struct gt_queue *q, const void *packet, uint32_t len, const void *vnet)
{
	uint32_t data_off = 128;
	uint32_t span = (data_off + len + GSOTUN_RECORD_ALIGN - 1) & -GSOTUN_RECORD_ALIGN;
	struct gsotun_record *rec = (void *)gt_reserve(q, span);

	if (!rec)
		return -EAGAIN;
	rec->span = span;
	rec->len = len;
	rec->type = GSOTUN_RECORD_PACKET;
	rec->data_off = data_off;
	rec->vnet_len = q->a.vnet_len;
	memset(rec + 1, 0, q->a.vnet_len);
	if (vnet)
		memcpy(rec + 1, vnet, q->a.vnet_len);
	memcpy((uint8_t *)rec + data_off, packet, len);
	gt_submit(q, span, true);
	return 0;
}

/* ---- packets --------------------------------------------------------------------------- */

uint16_t gt_csum(const void *p, size_t len, uint32_t sum)
{
	const uint8_t *b = p;
	size_t i;

	for (i = 0; i < len; i++)
		sum += i & 1 ? b[i] : b[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons(~sum);
}

uint32_t gt_udp4(void *buf, const char *from, const char *to, uint16_t sport, uint16_t dport,
		 const void *payload, uint32_t len)
{
	struct iphdr *ip = buf;
	struct udphdr *udp = (void *)(ip + 1);
	uint32_t total = sizeof(*ip) + sizeof(*udp) + len, sum, a, b;

	memset(buf, 0, sizeof(*ip) + sizeof(*udp));
	ip->version = 4;
	ip->ihl = 5;
	ip->tot_len = htons(total);
	ip->ttl = 64;
	ip->protocol = IPPROTO_UDP;
	inet_pton(AF_INET, from, &ip->saddr);
	inet_pton(AF_INET, to, &ip->daddr);
	ip->check = gt_csum(ip, sizeof(*ip), 0);
	udp->source = htons(sport);
	udp->dest = htons(dport);
	udp->len = htons(sizeof(*udp) + len);
	if (len)
		memcpy(udp + 1, payload, len);
	a = ntohl(ip->saddr);
	b = ntohl(ip->daddr);
	sum = (a >> 16) + (a & 0xffff) + (b >> 16) + (b & 0xffff) + IPPROTO_UDP +
	      sizeof(*udp) + len;
	udp->check = gt_csum(udp, sizeof(*udp) + len, sum) ?: 0xffff;
	return total;
}

int gt_udp_socket(const char *addr, uint16_t port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(port) };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (addr)
		inet_pton(AF_INET, addr, &sin.sin_addr);
	if (fd < 0 || bind(fd, (struct sockaddr *)&sin, sizeof(sin)))
		gt_die("UDP socket: %s", strerror(errno));
	return fd;
}

int gt_send_to(int fd, int host, uint16_t port, const void *data, size_t len)
{
	struct sockaddr_in sin = {
		.sin_family = AF_INET, .sin_port = htons(port),
		.sin_addr.s_addr = htonl(0x0a090000 + host),
	};

	return sendto(fd, data, len, MSG_DONTWAIT, (struct sockaddr *)&sin, sizeof(sin)) < 0 ?
	       -errno : 0;
}

void gt_flood_start(struct gt_flood *f, size_t len)
{
	static char data[65000];
	uint16_t port = 0;
	int fd;

	f->pid = gt_fork();
	if (f->pid < 0)
		gt_die("fork: %s", strerror(errno));
	if (f->pid)
		return;
	/* What the parent has open must end when the parent closes it. */
	syscall(SYS_close_range, 3, ~0u, 0);
	fd = gt_udp_socket(NULL, 0);
	/* Many flows, so that every queue gets some. A full socket buffer yields. */
	for (;;)
		if (gt_send_to(fd, 2, 1024 + port++ % 4096, data, len) == -EAGAIN)
			gt_sleep_ms(1);
}

void gt_flood_stop(struct gt_flood *f)
{
	kill(f->pid, SIGKILL);
	gt_wait_child(f->pid);
}
