// SPDX-License-Identifier: GPL-2.0
/*
 * live_test.c - libgsotun against the module. Needs root and the module, makes a
 * network namespace of its own.
 *
 * What the rings do is tested by lib_test; here it is about what only a kernel
 * has: devices, attaching, sleeping, death of a daemon, detaching under a sleeper.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "gsotun.h"
#include "ktap.h"

static struct gsotun_frame f[64];
static char text[GSOTUN_TEXT_MAX];

/* ---- a device with an address, and a socket that sends into it ---- */

static void if_ioctl(unsigned long request, struct ifreq *ifr)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	CHECK_EQ(ioctl(fd, request, ifr), 0);
	close(fd);
}

/*
 * 10.9.0.1/24, up. With carrier from the start: the queueing discipline of a
 * device that gets its carrier at attach is put in place some time after that, and
 * drops everything until then.
 */
static uint32_t make_device(const struct gsotun_dev_opts *like)
{
	struct gsotun_dev_opts opts = { .size = sizeof(opts) };
	struct sockaddr_in sin = { .sin_family = AF_INET };
	struct ifreq ifr = { 0 };
	uint32_t ifindex = 0;

	if (like)
		opts = *like;
	opts.carrier = GSOTUN_CARRIER_ON;
	CHECK_EQ(gsotun_dev_create(&opts, &ifindex, text, sizeof(text)), 0);
	if (!ifindex || !if_indextoname(ifindex, ifr.ifr_name)) {
		printf("# %s\n", text);
		return 0;
	}
	inet_pton(AF_INET, "10.9.0.1", &sin.sin_addr);
	memcpy(&ifr.ifr_addr, &sin, sizeof(sin));
	if_ioctl(SIOCSIFADDR, &ifr);
	inet_pton(AF_INET, "255.255.255.0", &sin.sin_addr);
	memcpy(&ifr.ifr_netmask, &sin, sizeof(sin));
	if_ioctl(SIOCSIFNETMASK, &ifr);
	ifr.ifr_flags = IFF_UP;
	if_ioctl(SIOCSIFFLAGS, &ifr);
	return ifindex;
}

static void send_udp(unsigned int n, size_t len)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(9) };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	static char bytes[1400];

	inet_pton(AF_INET, "10.9.0.2", &to.sin_addr);
	while (n--)
		CHECK_EQ(sendto(fd, bytes, len, 0, (struct sockaddr *)&to, sizeof(to)), len);
	close(fd);
}

/* The kernel may speak IPv6 by itself: only UDP over IPv4 counts. */
static bool is_udp(const struct gsotun_frame *frame)
{
	return frame->data[0] == 0x45 && frame->data[9] == IPPROTO_UDP;
}

/* Peek and release all there is. Return: UDP packets. */
static int drain(struct gsotun_queue *q)
{
	int n, i, udp = 0;

	while ((n = gsotun_peek(q, f, 64)) > 0) {
		for (i = 0; i < n; i++)
			udp += is_udp(&f[i]);
		gsotun_release(q, (unsigned int)n);
	}
	return n < 0 ? n : udp;
}

static int wait_for_udp(struct gsotun_queue *q, int want)
{
	int got = 0, n;

	while (got < want) {
		n = gsotun_wait(q, GSOTUN_EV_RECORDS, 0, 5000);
		if (n <= 0)
			break;
		n = drain(q);
		if (n < 0)
			return n;
		got += n;
	}
	return got;
}

static struct gsotun_queue *attach(uint32_t ifindex, uint32_t flags)
{
	struct gsotun_attach_opts opts = {
		.size = sizeof(opts),
		.flags = flags,
		.offloads_want = { GSOTUN_OFFLOADS_SUPER, GSOTUN_OFFLOADS_SUPER },
	};
	struct gsotun_queue *q = NULL;
	int err = gsotun_attach(ifindex, &opts, &q, text, sizeof(text));

	CHECK_EQ(err, 0);
	if (err)
		printf("# %s\n", text);
	return q;
}

/* ---- tests ---- */

static void devices_come_and_go(void)
{
	struct gsotun_dev_opts opts = { .size = sizeof(opts), .name = "live%d", .queues = 2 };
	uint32_t a = 0, b = 0;
	char name[IF_NAMESIZE];

	CHECK_EQ(gsotun_dev_create(&opts, &a, text, sizeof(text)), 0);
	CHECK_EQ(gsotun_dev_create(&opts, &b, text, sizeof(text)), 0);
	CHECK(a != b);
	CHECK(if_indextoname(a, name) && !strcmp(name, "live0"));
	CHECK(if_indextoname(b, name) && !strcmp(name, "live1"));
	opts.name = "live1";
	CHECK_EQ(gsotun_dev_create(&opts, NULL, text, sizeof(text)), -EEXIST);
	CHECK(text[0]);
	opts.name = "live2";
	opts.ring_bytes[0] = 12345;
	CHECK(gsotun_dev_create(&opts, NULL, text, sizeof(text)) < 0);
	CHECK(strstr(text, "power of two"));
	CHECK_EQ(gsotun_dev_delete(a, text, sizeof(text)), 0);
	CHECK_EQ(gsotun_dev_delete(a, text, sizeof(text)), -ENODEV);
	CHECK_EQ(gsotun_dev_delete(b, NULL, 0), 0);
	CHECK_EQ(gsotun_dev_create(NULL, &a, NULL, 0), 0);
	CHECK(if_indextoname(a, name) && !strncmp(name, "gsotun", 6));
	CHECK_EQ(gsotun_dev_delete(a, NULL, 0), 0);
}

static void attach_says_why_not(void)
{
	struct gsotun_attach_opts opts = { .size = sizeof(opts) };
	struct gsotun_dev_opts dev = { .size = sizeof(dev), .queues = 2 };
	uint32_t ifindex = make_device(&dev);
	struct gsotun_queue *a = NULL, *b = NULL, *c = NULL;
	struct gsotun_info info;

	CHECK_EQ(gsotun_attach(1, NULL, &c, text, sizeof(text)), -ENODEV);
	CHECK(text[0]);
	CHECK_EQ(gsotun_attach(0x7fffffff, NULL, &c, text, sizeof(text)), -ENODEV);
	opts.flags = GSOTUN_OPT_QUEUE;
	opts.queue = 1;
	opts.offloads_want[0] = ~0ull;		/* what the kernel lacks is left out */
	opts.offloads_want[0] &= ~(GSOTUN_OFFLOAD_UDP_TUNNEL | GSOTUN_OFFLOAD_UDP_TUNNEL_CSUM);
	CHECK_EQ(gsotun_attach(ifindex, &opts, &a, text, sizeof(text)), 0);
	if (a) {
		gsotun_info(a, &info, sizeof(info));
		CHECK_EQ(info.queue, 1);
		CHECK_EQ(info.num_queues, 2);
		CHECK_EQ(info.ifindex, ifindex);
		CHECK_EQ(info.vnet_len, 12);
		CHECK_EQ(info.status, GSOTUN_STATUS_UP);
		CHECK_EQ(info.offloads[1], 0);
		CHECK(info.offloads[0] & GSOTUN_OFFLOAD_TSO4);
	}
	CHECK_EQ(gsotun_attach(ifindex, &opts, &c, text, sizeof(text)), -EBUSY);
	CHECK(text[0]);
	CHECK_EQ(gsotun_attach(ifindex, NULL, &b, text, sizeof(text)), 0);
	CHECK_EQ(gsotun_attach(ifindex, NULL, &c, text, sizeof(text)), -EBUSY);
	CHECK_EQ(gsotun_close(a, 0), 0);
	opts.queue = 2;
	CHECK(gsotun_attach(ifindex, &opts, &c, text, sizeof(text)) < 0);
	opts.queue = 1;
	opts.offloads_need[0] = 1ull << 40;	/* nobody knows it */
	CHECK_EQ(gsotun_attach(ifindex, &opts, &c, text, sizeof(text)), -EINVAL);
	opts.offloads_need[0] = GSOTUN_OFFLOAD_CSUM | GSOTUN_OFFLOAD_UDP_TUNNEL;
	opts.vnet_len = 24;
	CHECK_EQ(gsotun_attach(ifindex, &opts, &c, text, sizeof(text)), -EOPNOTSUPP);
	CHECK(text[0]);
	opts.offloads_need[0] = 0;
	opts.ring_bytes[0] = 1000;
	CHECK_EQ(gsotun_attach(ifindex, &opts, &c, text, sizeof(text)), -EINVAL);
	CHECK(text[0]);
	CHECK(!c);
	CHECK_EQ(gsotun_close(b, 0), 0);
	gsotun_dev_delete(ifindex, NULL, 0);
}

static void every_length_of_header(void)
{
	static const uint32_t lengths[] = { 10, 12, 20, 24 };
	uint32_t ifindex = make_device(NULL);
	struct gsotun_attach_opts opts = { .size = sizeof(opts) };
	struct gsotun_queue *q;
	struct gsotun_info info;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		q = NULL;
		opts.vnet_len = lengths[i];
		CHECK_EQ(gsotun_attach(ifindex, &opts, &q, text, sizeof(text)), 0);
		if (!q)
			break;
		drain(q);
		gsotun_info(q, &info, sizeof(info));
		CHECK_EQ(info.vnet_len, lengths[i]);
		send_udp(3, 100);
		CHECK_EQ(wait_for_udp(q, 3), 3);
		CHECK_EQ(gsotun_close(q, 0), 0);
	}
	gsotun_dev_delete(ifindex, NULL, 0);
}

/* What is read from to_user is what was sent; what is injected arrives. */
static void an_echo(void)
{
	struct sockaddr_in me = { .sin_family = AF_INET }, you = { .sin_family = AF_INET };
	uint32_t ifindex = make_device(NULL);
	struct gsotun_queue *q = attach(ifindex, 0);
	int fd = socket(AF_INET, SOCK_DGRAM, 0), n, i, back = 0;
	struct timeval limit = { .tv_sec = 5 };
	struct gsotun_frame out;
	uint8_t swap[4], port[2];
	char got[16];

	inet_pton(AF_INET, "10.9.0.1", &me.sin_addr);
	inet_pton(AF_INET, "10.9.0.2", &you.sin_addr);
	you.sin_port = htons(7);
	CHECK_EQ(bind(fd, (struct sockaddr *)&me, sizeof(me)), 0);
	CHECK_EQ(connect(fd, (struct sockaddr *)&you, sizeof(you)), 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	CHECK_EQ(send(fd, "hello", 5, 0), 5);
	while (q && !back && gsotun_wait(q, GSOTUN_EV_RECORDS, 1000, 5000) > 0) {
		n = gsotun_peek(q, f, 64);
		for (i = 0; i < n; i++) {
			if (!is_udp(&f[i]))
				continue;
			CHECK_EQ(f[i].len, 33);
			CHECK_EQ(gsotun_reserve(q, f[i].len, &out, 1), 1);
			memcpy(out.data, f[i].data, f[i].len);
			/* Addresses and ports change places: the sums stay. */
			memcpy(swap, out.data + 12, 4);
			memcpy(out.data + 12, out.data + 16, 4);
			memcpy(out.data + 16, swap, 4);
			memcpy(port, out.data + 20, 2);
			memcpy(out.data + 20, out.data + 22, 2);
			memcpy(out.data + 22, port, 2);
			memcpy(out.vnet, f[i].vnet, 12);
			CHECK_EQ(gsotun_submit(q, &out, 1), 0);
			back++;
		}
		gsotun_release(q, n > 0 ? (unsigned int)n : 0);
	}
	CHECK_EQ(back, 1);
	CHECK_EQ(recv(fd, got, sizeof(got), 0), 5);
	CHECK(!memcmp(got, "hello", 5));
	close(fd);
	gsotun_close(q, 0);
	gsotun_dev_delete(ifindex, NULL, 0);
}

static long ms_since(const struct timespec *start)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - start->tv_sec) * 1000 + (now.tv_nsec - start->tv_nsec) / 1000000;
}

static void sleeping_takes_its_time(void)
{
	uint32_t ifindex = make_device(NULL);
	struct gsotun_queue *q = attach(ifindex, 0);
	struct timespec start;
	struct gsotun_stats before, after;
	int i, n;

	/* What the kernel says by itself comes early. */
	while (gsotun_wait(q, GSOTUN_EV_RECORDS, 0, 500) > 0)
		drain(q);
	clock_gettime(CLOCK_MONOTONIC, &start);
	n = gsotun_wait(q, GSOTUN_EV_RECORDS, 0, 50);
	CHECK(n || ms_since(&start) >= 50);
	CHECK_EQ(gsotun_wait(q, GSOTUN_EV_ROOM, 0, -1), GSOTUN_EV_ROOM);

	/* While there is something to read, waiting is free. */
	send_udp(20, 100);
	gsotun_stats(q, &before, sizeof(before));
	for (i = 0; i < 20; i++) {
		CHECK_EQ(gsotun_wait(q, GSOTUN_EV_RECORDS, 0, -1), GSOTUN_EV_RECORDS);
		CHECK_EQ(gsotun_peek(q, f, 1), 1);
		gsotun_release(q, 1);
	}
	gsotun_stats(q, &after, sizeof(after));
	CHECK_EQ(after.ring[0].polls, before.ring[0].polls);
	CHECK_EQ(after.ring[0].kicks, before.ring[0].kicks);
	CHECK_EQ(after.ring[0].batches, before.ring[0].batches + 20);
	gsotun_close(q, 0);
	gsotun_dev_delete(ifindex, NULL, 0);
}

static void *send_later(void *arg)
{
	usleep(50000);
	send_udp(1, 50);
	return arg;
}

/* Own event loops: arm, then epoll. And loops that know nothing of arm. */
static void epoll_wakes(void)
{
	struct epoll_event want = { .events = EPOLLIN }, got;
	uint32_t ifindex = make_device(NULL);
	struct gsotun_queue *q = attach(ifindex, 0);
	int ep = epoll_create1(0), round, udp;
	pthread_t thread;

	epoll_ctl(ep, EPOLL_CTL_ADD, gsotun_fd(q), &want);
	for (round = 0; round < 6; round++) {
		drain(q);
		if (round % 2)
			gsotun_disarm(q, GSOTUN_EV_RECORDS);
		pthread_create(&thread, NULL, send_later, NULL);
		udp = 0;
		while (!udp) {
			/* Plain loops must not have disarmed. */
			if (round % 2 && gsotun_arm(q, GSOTUN_EV_RECORDS, 0) < 0)
				break;
			if (epoll_wait(ep, &got, 1, 5000) != 1)
				break;
			udp = drain(q);
		}
		CHECK_EQ(udp, 1);
		pthread_join(thread, NULL);
	}
	close(ep);
	gsotun_close(q, 0);
	gsotun_dev_delete(ifindex, NULL, 0);
}

/* A full ring holds up the qdisc, and one kick sets it going. */
static void nothing_is_lost_when_full(void)
{
	struct gsotun_dev_opts dev = { .size = sizeof(dev), .ring_bytes = { 512u << 10, 0 } };
	uint32_t ifindex = make_device(&dev);
	struct gsotun_queue *q = attach(ifindex, 0);
	struct gsotun_stats s;

	drain(q);
	/* 256 KiB may stand in the ring; the socket's buffer holds the rest. */
	send_udp(100, 1300);
	CHECK_EQ(wait_for_udp(q, 100), 100);
	send_udp(250, 1300);
	CHECK_EQ(wait_for_udp(q, 250), 250);
	gsotun_stats(q, &s, sizeof(s));
	printf("# %llu kicks\n", (unsigned long long)s.ring[0].kicks);
	CHECK(s.ring[0].kicks <= 4);
	gsotun_close(q, 0);
	gsotun_dev_delete(ifindex, NULL, 0);
}

/* A daemon dies with frames in its hands; its parent kept the descriptor. */
static void die_with_frames(uint32_t ifindex, int to_parent, uint32_t flags)
{
	struct gsotun_queue *q = attach(ifindex, flags);
	char control[CMSG_SPACE(sizeof(int))] = { 0 }, byte = 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);
	int fd = gsotun_fd(q), got = 0, n;

	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(cmsg), &fd, sizeof(fd));
	drain(q);
	send_udp(10, 100);
	/* Seven peeked and two of them released. */
	while (got < 7 && gsotun_wait(q, GSOTUN_EV_RECORDS, 0, 5000) > 0) {
		n = gsotun_peek(q, f, 7 - (unsigned int)got);
		got += n > 0 ? n : 0;
	}
	gsotun_release(q, 2);
	gsotun_reserve(q, 1000, f, 3);
	if (got != 7 || ktap_failed || sendmsg(to_parent, &msg, 0) != 1)
		_exit(1);
	kill(getpid(), SIGKILL);
}

static int receive_fd(int sock)
{
	char control[CMSG_SPACE(sizeof(int))], byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	int fd = -1;

	if (recvmsg(sock, &msg, MSG_CMSG_CLOEXEC) == 1 && CMSG_FIRSTHDR(&msg))
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
	return fd;
}

static void adopt_after(uint32_t flags, unsigned int dropped, int left)
{
	uint32_t ifindex = make_device(NULL);
	struct gsotun_queue *q = NULL;
	struct gsotun_info info;
	int sock[2], status, fd;
	pid_t pid;

	socketpair(AF_UNIX, SOCK_STREAM, 0, sock);
	fflush(stdout);
	pid = fork();
	if (!pid)
		die_with_frames(ifindex, sock[1], flags);
	close(sock[1]);
	fd = receive_fd(sock[0]);
	close(sock[0]);
	waitpid(pid, &status, 0);
	CHECK(WIFSIGNALED(status));
	CHECK_EQ(gsotun_adopt(fd, NULL, &q, text, sizeof(text)), 0);
	if (!q) {
		printf("# %s\n", text);
		close(fd);
		gsotun_dev_delete(ifindex, NULL, 0);
		return;
	}
	gsotun_info(q, &info, sizeof(info));
	CHECK_EQ(info.adopt_dropped, dropped);
	CHECK_EQ(info.generation, 1);
	CHECK_EQ(info.ifindex, ifindex);
	CHECK_EQ(wait_for_udp(q, left), left);
	/* It is as good as new. */
	send_udp(5, 100);
	CHECK_EQ(wait_for_udp(q, 5), 5);
	CHECK_EQ(gsotun_reserve(q, 1000, f, 1), 1);
	CHECK_EQ(gsotun_cancel(q, 1), 0);
	CHECK_EQ(gsotun_close(q, 0), 0);
	gsotun_dev_delete(ifindex, NULL, 0);
}

static void adopt_drops_what_may_be_altered(void)
{
	adopt_after(0, 5, 3);
}

static void adopt_keeps_what_was_only_read(void)
{
	adopt_after(GSOTUN_OPT_READ_ONLY, 0, 8);
}

static void *delete_later(void *arg)
{
	usleep(100000);
	CHECK_EQ(gsotun_dev_delete(*(uint32_t *)arg, NULL, 0), 0);
	return NULL;
}

static void deletion_wakes_the_sleeper(void)
{
	uint32_t ifindex = make_device(NULL);
	struct gsotun_queue *q = attach(ifindex, 0), *again = NULL;
	struct gsotun_info info;
	pthread_t thread;
	int n, fd;

	pthread_create(&thread, NULL, delete_later, &ifindex);
	while ((n = gsotun_wait(q, GSOTUN_EV_RECORDS, 0, 5000)) > 0)
		drain(q);
	CHECK_EQ(n, -ENODEV);
	pthread_join(thread, NULL);
	CHECK_EQ(drain(q), -ENODEV);
	CHECK_EQ(gsotun_wait(q, GSOTUN_EV_ROOM, 0, -1), -ENODEV);
	CHECK_EQ(gsotun_kick(q, GSOTUN_KICK_TO_USER), -ENODEV);
	gsotun_info(q, &info, sizeof(info));
	CHECK(info.status & GSOTUN_STATUS_DETACHED);
	CHECK(!(info.status & GSOTUN_STATUS_CORRUPT));
	/* Such a descriptor is of no more use. */
	fd = dup(gsotun_fd(q));
	CHECK_EQ(gsotun_adopt(fd, NULL, &again, text, sizeof(text)), -ENOTCONN);
	close(fd);
	CHECK_EQ(gsotun_close(q, 0), 0);
}

static void set_up(uint32_t ifindex, bool up)
{
	struct ifreq ifr = { .ifr_flags = up ? IFF_UP : 0 };

	if_indextoname(ifindex, ifr.ifr_name);
	if_ioctl(SIOCSIFFLAGS, &ifr);
}

static void broken_ring_is_told(void)
{
	uint32_t ifindex = make_device(NULL);
	struct gsotun_queue *q = attach(ifindex, 0);
	struct gsotun_frame out;
	int n;

	/* While the device is down, nobody looks. */
	set_up(ifindex, false);
	CHECK_EQ(gsotun_reserve(q, 100, &out, 1), 1);
	CHECK_EQ(gsotun_submit(q, &out, 1), 0);
	((struct gsotun_record *)(out.vnet - sizeof(struct gsotun_record)))->span = 3;
	set_up(ifindex, true);
	while ((n = gsotun_wait(q, GSOTUN_EV_RECORDS, 0, 5000)) > 0)
		drain(q);
	CHECK_EQ(n, -EBADMSG);
	CHECK(gsotun_last_message(q, text, sizeof(text)) > 0);
	CHECK_EQ(gsotun_close(q, 0), 0);
	/* The device is still good. */
	q = attach(ifindex, 0);
	drain(q);
	send_udp(1, 10);
	CHECK_EQ(wait_for_udp(q, 1), 1);
	CHECK_EQ(gsotun_close(q, 0), 0);
	gsotun_dev_delete(ifindex, NULL, 0);
}

static void ephemeral_goes_with_its_daemon(void)
{
	struct gsotun_dev_opts dev = { .size = sizeof(dev), .flags = GSOTUN_DEV_EPHEMERAL };
	uint32_t ifindex = make_device(&dev);
	struct gsotun_queue *q = attach(ifindex, 0);
	char name[IF_NAMESIZE];
	int i;

	CHECK(if_indextoname(ifindex, name));
	CHECK_EQ(gsotun_close(q, 0), 0);
	for (i = 0; i < 500 && if_indextoname(ifindex, name); i++)
		usleep(10000);
	CHECK(i < 500);
}

#define TEST(name)	{ #name, name }

int main(void)
{
	static const struct ktap_test tests[] = {
		TEST(devices_come_and_go),
		TEST(attach_says_why_not),
		TEST(every_length_of_header),
		TEST(an_echo),
		TEST(sleeping_takes_its_time),
		TEST(epoll_wakes),
		TEST(nothing_is_lost_when_full),
		TEST(adopt_drops_what_may_be_altered),
		TEST(adopt_keeps_what_was_only_read),
		TEST(deletion_wakes_the_sleeper),
		TEST(broken_ring_is_told),
		TEST(ephemeral_goes_with_its_daemon),
	};

	if (access("/dev/net/gsotun", R_OK | W_OK) || unshare(CLONE_NEWNET)) {
		printf("KTAP version 1\n1..0 # SKIP needs root and the module\n");
		return 4;
	}
	alarm(300);
	return ktap_run(tests, sizeof(tests) / sizeof(*tests));
}
