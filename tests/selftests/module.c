// SPDX-License-Identifier: GPL-2.0
/*
 * module.c - unloading the module, under every reference that keeps it and every one
 * that does not. The module is loaded again after each.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/genetlink.h>
#include <linux/io_uring.h>
#include <linux/rtnetlink.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "gsotun_test.h"
#include "kselftest_harness.h"

static int unload(void)
{
	return syscall(SYS_delete_module, "gsotun", O_NONBLOCK) ? -errno : 0;
}

static bool loaded(void)
{
	return access("/sys/module/gsotun", F_OK) == 0;
}

static int load(void)
{
	const char *path = getenv("GSOTUN_MODULE");
	int fd, err;

	if (loaded())
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = syscall(SYS_finit_module, fd, "", 0) ? -errno : 0;
	close(fd);
	return err;
}

/* Unloads now, or as soon as what was closed is really gone. */
static bool unloads(void)
{
	int err;

	return gt_until((err = unload()) != -EWOULDBLOCK && err != -EBUSY) && !err && !loaded();
}

/* Refused, and still whole. */
static bool stays(void)
{
	int err = unload();

	return (err == -EWOULDBLOCK || err == -EBUSY) && loaded();
}

FIXTURE(module)
{
	int ifindex;
	struct gt_queue q;
};

FIXTURE_SETUP(module)
{
	if (!getenv("GSOTUN_MODULE"))
		SKIP(return, "GSOTUN_MODULE is not set");
	ASSERT_EQ(load(), 0);
	close(gt_unshare_net());
	self->ifindex = gt_dev_add("g0", 2);
	gt_dev_start(self->ifindex);
	self->q.fd = -1;
}

FIXTURE_TEARDOWN(module)
{
	gt_close(&self->q);
	if (getenv("GSOTUN_MODULE"))
		EXPECT_EQ(load(), 0);
}

/* ---- what does not keep it ----------------------------------------------------------- */

/* Devices go with the module: up, down, of many queues, in other namespaces. */
TEST_F(module, devices_only)
{
	int here = gt_net_fd(), there;

	gt_dev_add("g1", 64);
	there = gt_unshare_net();
	gt_dev_start(gt_dev_add("g2", 3));
	EXPECT_TRUE(unloads());
	EXPECT_EQ(gt_ifindex("g2"), 0);
	gt_set_net(here);
	EXPECT_EQ(gt_ifindex("g0"), 0);
	EXPECT_EQ(gt_ifindex("g1"), 0);
	EXPECT_NE(access("/dev/net/gsotun", F_OK), 0);
	/* And comes back as new. */
	ASSERT_EQ(load(), 0);
	self->ifindex = gt_dev_add("g0", 1);
	EXPECT_EQ(gt_attach(&self->q, self->ifindex, NULL), 0);
	close(here);
	close(there);
}

/* Right after the last close, many times: what close starts, unload waits for. */
TEST_F(module, right_after_close)
{
	int i;

	for (i = 0; i < 10; i++) {
		ASSERT_EQ(gt_attach(&self->q, self->ifindex, NULL), 0);
		if (i % 2) {
			/* Broken: its work is on the way. */
			self->q.from_d->prod = 1;
			gt_kick_fd(self->q.fd, GSOTUN_KICK_FROM_USER);
		}
		gt_close(&self->q);
		EXPECT_TRUE(unloads());
		ASSERT_EQ(load(), 0);
		self->ifindex = gt_dev_add("g0", 2);
		gt_dev_start(self->ifindex);
	}
}

/* A hold that runs, packets in its qdisc, and senders that do not stop. */
TEST_F(module, hold_and_traffic)
{
	struct gt_flood flood;
	struct gt_link l;

	gt_link_init(&l, NULL);
	l.ifindex = self->ifindex;
	l.carrier = GSOTUN_CARRIER_HOLD;
	ASSERT_EQ(gt_link_change(&l), 0);
	ASSERT_EQ(gt_attach(&self->q, self->ifindex, NULL), 0);
	gt_flood_start(&flood, 1000);
	ASSERT_TRUE(gt_until(self->q.to_k->prod != 0));
	gt_close(&self->q);
	EXPECT_TRUE(unloads());
	gt_flood_stop(&flood);
}

/*
 * Packets that came out of a ring and lie in a socket's queue: their pages belong to
 * the queue's pool, their device is gone. They can still be read.
 */
TEST_F(module, packets_in_sockets)
{
	static char payload[1200], buf[1200];
	int sock = gt_udp_socket("10.9.0.1", 4000), i;
	uint8_t packet[1300];

	memset(payload, 0x5a, sizeof(payload));
	ASSERT_EQ(gt_attach(&self->q, self->ifindex, NULL), 0);
	for (i = 0; i < 20; i++)
		ASSERT_EQ(gt_inject(&self->q, packet,
				    gt_udp4(packet, "10.9.0.2", "10.9.0.1", 1, 4000, payload,
					    sizeof(payload)), NULL), 0);
	ASSERT_TRUE(gt_until(__atomic_load_n(&self->q.from_k->cons, __ATOMIC_ACQUIRE) ==
			     self->q.prod));
	gt_close(&self->q);
	EXPECT_TRUE(unloads());
	for (i = 0; i < 20; i++) {
		EXPECT_TRUE(gt_until(recv(sock, buf, sizeof(buf), 0) == sizeof(buf)));
		EXPECT_EQ(memcmp(buf, payload, sizeof(buf)), 0);
	}
	close(sock);
}

/* Pages of a ring that are pinned, while nobody has the file or a mapping. */
TEST_F(module, pinned_pages)
{
	struct io_uring_params p = { };
	int uring = syscall(SYS_io_uring_setup, 1, &p), pipes[2], i;
	struct iovec iov;
	char buf[4096];

	ASSERT_EQ(gt_attach(&self->q, self->ifindex, NULL), 0);
	iov = (struct iovec) { self->q.to_data, self->q.a.region[GSOTUN_REGION_DATA].length };
	memset(iov.iov_base, 0x77, iov.iov_len);
	/* Older kernels register no memory of files; then the pipe alone has some. */
	if (uring >= 0 && syscall(SYS_io_uring_register, uring, IORING_REGISTER_BUFFERS, &iov, 1))
		EXPECT_EQ(errno, EOPNOTSUPP);
	ASSERT_EQ(pipe(pipes), 0);
	iov.iov_len = 4096;
	ASSERT_EQ(vmsplice(pipes[1], &iov, 1, 0), 4096);
	gt_close(&self->q);
	EXPECT_TRUE(unloads());
	ASSERT_EQ(read(pipes[0], buf, sizeof(buf)), sizeof(buf));
	for (i = 0; i < sizeof(buf); i++)
		ASSERT_EQ(buf[i], 0x77);
	close(uring);
	close(pipes[0]);
	close(pipes[1]);
}

/* Sockets that watch, or are bound to the device, or have routes over it. */
TEST_F(module, sockets)
{
	int watch = gt_genl_watch(), sock = gt_udp_socket("10.9.0.1", 4000);
	int packet = socket(AF_PACKET, SOCK_RAW, htons(3));
	struct gt_queue_info info;

	EXPECT_EQ(setsockopt(sock, SOL_SOCKET, SO_BINDTODEVICE, "g0", 3), 0);
	EXPECT_GE(packet, 0);
	EXPECT_EQ(gt_queue_get(self->ifindex, 0, &info), 0);
	EXPECT_TRUE(unloads());
	close(packet);
	close(sock);
	close(watch);
}

/* ---- what keeps it ------------------------------------------------------------------- */

TEST_F(module, open_file)
{
	int fd = gt_open();

	ASSERT_GE(fd, 0);
	EXPECT_TRUE(stays());
	close(fd);
	EXPECT_TRUE(unloads());
}

/* Attached, by file, by mapping, by each single mapping, and detached the same. */
TEST_F(module, file_and_mapping)
{
	int detached, keep;

	for (detached = 0; detached < 2; detached++) {
		for (keep = -1; keep < 2 * GSOTUN_REGIONS; keep++) {
			size_t length;
			void *map;

			ASSERT_EQ(gt_attach(&self->q, self->ifindex, NULL), 0);
			EXPECT_TRUE(stays());
			if (detached) {
				ASSERT_EQ(gt_dev_del(self->ifindex), 0);
				EXPECT_TRUE(stays());
				self->ifindex = gt_dev_add("g0", 2);
			}
			map = keep < 0 ? NULL : gt_region(&self->q, keep);
			length = keep < 0 ? 0 : self->q.a.region[keep].length;
			if (map) {
				/* Out of reach of gt_close(). */
				void *place = mmap(NULL, length, PROT_NONE,
						   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

				map = mremap(map, length, length, MREMAP_MAYMOVE | MREMAP_FIXED,
					     place);
				ASSERT_EQ(map, place);
				gt_close(&self->q);
				EXPECT_TRUE(stays())
					TH_LOG("mapping %d alone does not keep it", keep);
				munmap(map, length);
			} else {
				gt_unmap(&self->q);
				EXPECT_TRUE(stays());
				gt_close(&self->q);
			}
		}
	}
	EXPECT_TRUE(unloads());
}

/* A file that no process has: in a socket's queue, in an epoll, in an io_uring. */
TEST_F(module, hidden_files)
{
	char byte = 0, control[CMSG_SPACE(sizeof(int))] = { };
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
	struct io_uring_params p = { };
	struct epoll_event ev = { .events = EPOLLIN };
	int pair[2], fd, epoll, uring;

	ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	fd = gt_open();
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(int));
	ASSERT_EQ(sendmsg(pair[0], &msg, 0), 1);
	close(fd);
	EXPECT_TRUE(stays());
	close(pair[0]);
	close(pair[1]);
	EXPECT_TRUE(unloads());
	ASSERT_EQ(load(), 0);

	/* An epoll does not keep a file. */
	fd = gt_open();
	epoll = epoll_create1(EPOLL_CLOEXEC);
	ASSERT_EQ(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &ev), 0);
	EXPECT_TRUE(stays());
	close(fd);
	EXPECT_TRUE(unloads());
	EXPECT_EQ(epoll_wait(epoll, &ev, 1, 0), 0);
	close(epoll);
	ASSERT_EQ(load(), 0);

	uring = syscall(SYS_io_uring_setup, 1, &p);
	if (uring >= 0) {
		fd = gt_open();
		ASSERT_EQ(syscall(SYS_io_uring_register, uring, IORING_REGISTER_FILES, &fd, 1), 0);
		close(fd);
		EXPECT_TRUE(stays());
		close(uring);
		EXPECT_TRUE(unloads());
	}
}

/* A process that is killed while the unload is tried again and again. */
TEST_F(module, killed_holder)
{
	int round;

	for (round = 0; round < 10; round++) {
		int pipes[2];
		pid_t pid;
		char byte;

		ASSERT_EQ(pipe(pipes), 0);
		pid = gt_fork();
		if (!pid) {
			if (gt_attach(&self->q, self->ifindex, NULL))
				_exit(1);
			if (round % 2)
				close(self->q.fd);
			if (write(pipes[1], "", 1) != 1)
				_exit(1);
			for (;;)
				gt_drain(&self->q);
		}
		ASSERT_EQ(read(pipes[0], &byte, 1), 1);
		EXPECT_TRUE(stays());
		kill(pid, SIGKILL);
		EXPECT_TRUE(unloads());
		gt_wait_child(pid);
		close(pipes[0]);
		close(pipes[1]);
		ASSERT_EQ(load(), 0);
		self->ifindex = gt_dev_add("g0", 2);
		gt_dev_start(self->ifindex);
	}
}

/* A dump that its reader never finishes is the kernel's business, not a crash. */
TEST_F(module, dump_in_progress)
{
	int fd = gt_nl_open(NETLINK_GENERIC), small = 4096;
	struct gt_msg m;

	gt_dev_add("g1", 64);
	gt_dev_add("g2", 64);
	gt_genl_init(&m, GSOTUN_CMD_QUEUE_GET, NLM_F_DUMP);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	ASSERT_EQ(send(fd, m.nlh, m.nlh->nlmsg_len, 0), m.nlh->nlmsg_len);
	EXPECT_TRUE(stays());
	close(fd);
	EXPECT_TRUE(unloads());
}

TEST_HARNESS_MAIN
