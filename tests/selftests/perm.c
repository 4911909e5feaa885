// SPDX-License-Identifier: GPL-2.0
/* perm.c - who may create, attach, set marks; and what a passed file allows. */

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "gsotun_test.h"
#include "kselftest_harness.h"

#ifndef SO_RCVMARK
#define SO_RCVMARK	75
#endif

#define OWNER		1001
#define GROUP		2002
#define STRANGER	3003

FIXTURE(perm)
{
	int net;
	int ifindex;
};

FIXTURE_SETUP(perm)
{
	struct gt_link l;

	self->net = gt_unshare_net();
	gt_link_init(&l, "g0");
	l.owner = OWNER;
	l.group = GROUP;
	l.queues = 2;
	ASSERT_EQ(gt_link_add(&l), 0);
	self->ifindex = gt_ifindex("g0");
}

FIXTURE_TEARDOWN(perm)
{
	close(self->net);
}

/* ---- becoming somebody ---------------------------------------------------------- */

struct who {
	uid_t uid;
	gid_t gid;
	gid_t extra;	/* supplementary group, 0: none */
	int ifindex;
	int net;	/* for GSOTUN_ATTACH_NETNS_FD, 0: none */
};

static void become(const struct who *w)
{
	if (setgroups(!!w->extra, &w->extra) || setresgid(w->gid, w->gid, w->gid) ||
	    setresuid(w->uid, w->uid, w->uid))
		gt_die("cannot become %u: %s", w->uid, strerror(errno));
	/* Or /proc/self stays root's, and no user namespace can be set up. */
	prctl(PR_SET_DUMPABLE, 1);
}

static int attach_here(const struct who *w)
{
	struct gsotun_attach a;
	int fd = gt_open(), err;

	if (fd < 0)
		return fd;
	gt_attach_init(&a, w->ifindex, 0);
	if (w->net) {
		a.flags = GSOTUN_ATTACH_NETNS_FD;
		a.netns_fd = w->net;
	}
	err = gt_attach_fd(fd, &a);
	if (err && !a.message[0])
		err = -99;
	close(fd);
	return err;
}

/* In a child: the exit status is the error, 0 for success. */
static int attach_as(void *arg)
{
	become(arg);
	return -attach_here(arg);
}

/* ---- attach ------------------------------------------------------------------------ */

/* The node is open to all, like that of TUN: attach decides. */
TEST_F(perm, node)
{
	struct stat st;

	ASSERT_EQ(stat("/dev/net/gsotun", &st), 0);
	EXPECT_EQ(st.st_mode, S_IFCHR | 0666);
}

/* Owner and group may, by any way to be in the group; nobody else. */
TEST_F(perm, attach)
{
	struct who w = { .ifindex = self->ifindex };

	w.uid = OWNER, w.gid = STRANGER;
	EXPECT_EQ(gt_run_child(attach_as, &w), 0);
	w.uid = STRANGER, w.gid = GROUP;
	EXPECT_EQ(gt_run_child(attach_as, &w), 0);
	w.uid = STRANGER, w.gid = STRANGER, w.extra = GROUP;
	EXPECT_EQ(gt_run_child(attach_as, &w), 0);
	w.extra = 0;
	EXPECT_EQ(gt_run_child(attach_as, &w), EACCES);
	/* Numbers are not mixed up. */
	w.uid = GROUP, w.gid = OWNER;
	EXPECT_EQ(gt_run_child(attach_as, &w), EACCES);
	/* CAP_NET_ADMIN, whoever the owner is. */
	w = (struct who) { .ifindex = self->ifindex };
	EXPECT_EQ(gt_run_child(attach_as, &w), 0);
}

/* Without an owner, only CAP_NET_ADMIN; and a new owner counts from then on. */
TEST_F(perm, owner_changes)
{
	struct who w = { .uid = OWNER, .gid = STRANGER };
	struct gt_link l;

	w.ifindex = gt_dev_add("g1", 1);
	EXPECT_EQ(gt_run_child(attach_as, &w), EACCES);
	gt_link_init(&l, NULL);
	l.ifindex = w.ifindex;
	l.owner = OWNER;
	ASSERT_EQ(gt_link_change(&l), 0);
	EXPECT_EQ(gt_run_child(attach_as, &w), 0);
	l.owner = STRANGER;
	ASSERT_EQ(gt_link_change(&l), 0);
	EXPECT_EQ(gt_run_child(attach_as, &w), EACCES);
}

/* Ring memory is not spent on who may not attach, whatever size he asks for. */
static int attach_huge_as_stranger(void *arg)
{
	struct who *w = arg;
	struct gsotun_attach a;
	int fd;

	become(w);
	fd = gt_open();
	gt_attach_init(&a, w->ifindex, 0);
	a.ring_bytes[GSOTUN_TO_USER] = GSOTUN_RING_BYTES_MAX;
	a.ring_bytes[GSOTUN_FROM_USER] = GSOTUN_RING_BYTES_MAX;
	return -gt_attach_fd(fd, &a);
}

TEST_F(perm, stranger_gets_no_memory)
{
	struct who w = { .uid = STRANGER, .gid = STRANGER, .ifindex = self->ifindex };
	uint64_t start = gt_now_ms();
	int i;

	for (i = 0; i < 20; i++)
		EXPECT_EQ(gt_run_child(attach_huge_as_stranger, &w), EACCES);
	EXPECT_LT(gt_now_ms() - start, 20 * 200);
}

static int create_as(void *arg)
{
	struct gt_link l;

	become(arg);
	gt_link_init(&l, "g1");
	return -gt_link_add(&l);
}

static int change_as(void *arg)
{
	struct who *w = arg;
	struct gt_link l;

	become(w);
	gt_link_init(&l, NULL);
	l.ifindex = w->ifindex;
	l.owner = w->uid;
	return -gt_link_change(&l);
}

static int delete_as(void *arg)
{
	struct who *w = arg;

	become(w);
	return -gt_dev_del(w->ifindex);
}

/* The owner may attach, and nothing else. */
TEST_F(perm, owner_is_no_admin)
{
	struct who w = { .uid = OWNER, .gid = GROUP, .ifindex = self->ifindex };

	EXPECT_EQ(gt_run_child(create_as, &w), EPERM);
	EXPECT_EQ(gt_run_child(change_as, &w), EPERM);
	EXPECT_EQ(gt_run_child(delete_as, &w), EPERM);
}

static int look_as(void *arg)
{
	struct who *w = arg;
	struct gt_queue_info info;

	become(w);
	return -gt_queue_get(w->ifindex, 0, &info);
}

/* Everybody may look, as with ip link. */
TEST_F(perm, anybody_may_look)
{
	struct who w = { .uid = STRANGER, .gid = STRANGER, .ifindex = self->ifindex };

	EXPECT_EQ(gt_run_child(look_as, &w), 0);
}

/* ---- user namespaces ------------------------------------------------------------------ */

static void map_ids(uid_t uid, gid_t gid)
{
	char text[64];

	gt_write_file("/proc/self/setgroups", "deny");
	snprintf(text, sizeof(text), "0 %u 1\n", uid);
	if (gt_write_file("/proc/self/uid_map", text))
		gt_die("uid_map");
	snprintf(text, sizeof(text), "0 %u 1\n", gid);
	if (gt_write_file("/proc/self/gid_map", text))
		gt_die("gid_map");
}

enum { NO_USERNS = 77 };

/* Become nobody in particular, then root of a user and network namespace. */
static bool enter_userns(const struct who *w)
{
	become(w);
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET))
		return false;
	map_ids(w->uid, w->gid);
	return true;
}

static int userns_all(void *arg)
{
	static const char payload[32];
	struct gt_queue_info info;
	struct gt_queue q;
	uint8_t packet[100];
	struct gt_link l;
	int ifindex, sock, err;

	if (!enter_userns(arg))
		return NO_USERNS;
	gt_link_init(&l, "g0");
	l.owner = 0;
	err = gt_link_add(&l);
	if (err)
		return 1;
	/* Numbers without a meaning in here are refused, not taken as they are. */
	gt_link_init(&l, "g1");
	l.owner = OWNER;
	if (gt_link_add(&l) != -EINVAL || !strstr(gt_extack, "user"))
		return 2;
	gt_link_init(&l, "g1");
	l.group = GROUP;
	if (gt_link_add(&l) != -EINVAL || !strstr(gt_extack, "group"))
		return 3;
	ifindex = gt_ifindex("g0");
	if (gt_attach(&q, ifindex, NULL))
		return 4;
	if (gt_dev_up(1, true))
		return 5;
	gt_dev_start(ifindex);
	sock = gt_udp_socket("10.9.0.1", 4000);
	if (gt_send_to(sock, 2, 4001, payload, sizeof(payload)))
		return 6;
	if (!gt_until(gt_peek(&q, NULL)))
		return 7;
	gt_release(&q);
	if (gt_inject(&q, packet, gt_udp4(packet, "10.9.0.2", "10.9.0.1", 4001, 4000, payload,
					  sizeof(payload)), NULL))
		return 8;
	if (!gt_until(recv(sock, packet, sizeof(packet), 0) == sizeof(payload)))
		return 9;
	if (gt_queue_get(ifindex, 0, &info) || info.drop_sum)
		return 10;
	if (gt_link_get(ifindex, &l) || l.owner != 0)
		return 11;
	gt_close(&q);
	return -gt_dev_del(ifindex);
}

/* Root of a user namespace does everything with its own devices. */
TEST_F(perm, user_namespace)
{
	struct who w = { .uid = STRANGER, .gid = STRANGER };
	int status = gt_run_child(userns_all, &w);

	if (status == NO_USERNS)
		SKIP(return, "unprivileged user namespaces are not allowed here");
	EXPECT_EQ(status, 0);
}

static int userns_outside(void *arg)
{
	struct who *w = arg;

	if (!enter_userns(w))
		return NO_USERNS;
	return -attach_here(w);
}

/* And nothing with those of others, though it has CAP_NET_ADMIN over its own. */
TEST_F(perm, user_namespace_is_no_way_out)
{
	struct who w = {
		.uid = STRANGER, .gid = STRANGER, .ifindex = self->ifindex, .net = self->net,
	};
	int status = gt_run_child(userns_outside, &w);

	if (status == NO_USERNS)
		SKIP(return, "unprivileged user namespaces are not allowed here");
	EXPECT_EQ(status, EACCES);
	/* The owner stays the owner, in whatever namespace he sits. */
	w.uid = OWNER;
	EXPECT_EQ(gt_run_child(userns_outside, &w), 0);
}

/* ---- marks ------------------------------------------------------------------------------- */

/* One packet with a mark to port 4000; or without, for 0. */
static int inject_marked(struct gt_queue *q, uint32_t mark)
{
	static const char payload[32];
	uint8_t packet[100];
	uint32_t len = gt_udp4(packet, "10.9.0.2", "10.9.0.1", 4001, 4000, payload,
			       sizeof(payload));
	struct gsotun_record *rec = (void *)gt_reserve(q, 256);

	if (!rec)
		return -EAGAIN;
	rec->span = 256;
	rec->len = len;
	rec->type = GSOTUN_RECORD_PACKET;
	rec->data_off = 128;
	rec->vnet_len = q->a.vnet_len;
	rec->mark = mark;
	memset(rec + 1, 0, q->a.vnet_len);
	memcpy((uint8_t *)rec + 128, packet, len);
	gt_submit(q, 256, true);
	return 0;
}

/* The mark of the next datagram, -1 if none comes. */
static int64_t received_mark(int sock, unsigned int ms)
{
	char buf[64], control[256];
	struct iovec iov = { buf, sizeof(buf) };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *c;

	if (!gt_until_ms(recvmsg(sock, &msg, 0) > 0, ms))
		return -1;
	for (c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_MARK)
			return *(uint32_t *)CMSG_DATA(c);
	return -2;
}

static int mark_as(void *arg)
{
	struct who *w = arg;
	struct gt_queue q;

	become(w);
	if (gt_attach(&q, w->ifindex, NULL))
		return 1;
	if (inject_marked(&q, 42) || inject_marked(&q, 0x80000000) || inject_marked(&q, 0))
		return 2;
	if (!gt_until(__atomic_load_n(&q.from_k->cons, __ATOMIC_ACQUIRE) == q.prod))
		return 3;
	gt_close(&q);
	return 0;
}

/* Marks choose routes and pass filters: only CAP_NET_ADMIN at attach may set them. */
TEST_F(perm, marks)
{
	struct who w = { .uid = OWNER, .gid = STRANGER, .ifindex = self->ifindex };
	int sock, on = 1, status;
	struct gt_queue_info info;
	struct gt_queue q;

	gt_dev_start(self->ifindex);
	sock = gt_udp_socket("10.9.0.1", 4000);
	if (setsockopt(sock, SOL_SOCKET, SO_RCVMARK, &on, sizeof(on)))
		SKIP(return, "no SO_RCVMARK");
	status = gt_run_child(mark_as, &w);
	EXPECT_EQ(status, 0);
	EXPECT_EQ(received_mark(sock, GT_HANG_MS), 0);
	EXPECT_EQ(received_mark(sock, 100), -1);
	ASSERT_EQ(gt_queue_get(self->ifindex, 0, &info), 0);
	EXPECT_EQ(info.drops[GSOTUN_DROP_MARK], 2);
	EXPECT_EQ(info.drop_sum, 2);

	ASSERT_EQ(gt_attach(&q, self->ifindex, NULL), 0);
	ASSERT_EQ(inject_marked(&q, 42), 0);
	EXPECT_EQ(received_mark(sock, GT_HANG_MS), 42);
	ASSERT_EQ(inject_marked(&q, 0x80000000), 0);
	EXPECT_EQ(received_mark(sock, GT_HANG_MS), 0x80000000);
	ASSERT_EQ(gt_queue_get(self->ifindex, 0, &info), 0);
	EXPECT_EQ(info.drop_sum, 2);
	gt_close(&q);
	close(sock);
}

/* ---- passed files ------------------------------------------------------------------------- */

static void send_fd(int sock, int fd)
{
	char byte = 0, control[CMSG_SPACE(sizeof(int))] = { };
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(int));
	if (sendmsg(sock, &msg, 0) != 1)
		gt_die("cannot pass a file: %s", strerror(errno));
}

static int receive_fd(int sock)
{
	char byte, control[CMSG_SPACE(sizeof(int))];
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	int fd;

	if (recvmsg(sock, &msg, 0) != 1 || !CMSG_FIRSTHDR(&msg))
		gt_die("no file was passed");
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(int));
	return fd;
}

struct passed {
	struct who who;
	int sock;
	int parent_end;
};

/* Somebody without any right of his own runs the queue, by the file alone. */
static int use_passed(void *arg)
{
	static const char payload[32];
	struct passed *p = arg;
	uint8_t packet[100];
	struct gt_queue q = { };

	close(p->parent_end);
	become(&p->who);
	if (attach_here(&p->who) != -EACCES)
		return 1;
	q.fd = receive_fd(p->sock);
	if (gt_query_fd(q.fd, &q.a) || q.a.state != GSOTUN_STATE_ATTACHED)
		return 2;
	if (gt_map(&q))
		return 3;
	/* What was sent before we were there. */
	if (!gt_until(gt_peek(&q, NULL)))
		return 4;
	gt_release(&q);
	if (gt_inject(&q, packet, gt_udp4(packet, "10.9.0.2", "10.9.0.1", 4001, 4000, payload,
					  sizeof(payload)), NULL))
		return 5;
	if (!gt_until(__atomic_load_n(&q.from_k->cons, __ATOMIC_ACQUIRE) == q.prod))
		return 6;
	/* Let the parent look while we are attached. */
	if (send(p->sock, "", 1, 0) != 1 || read(p->sock, packet, 1) != 0)
		return 7;
	return 0;
}

TEST_F(perm, passed_file)
{
	struct passed p = {
		.who = { .uid = STRANGER, .gid = STRANGER, .ifindex = self->ifindex },
	};
	char buf[64];
	int pair[2], sock;
	struct gt_queue q;
	struct gt_link l;
	pid_t pid;

	gt_dev_start(self->ifindex);
	ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	p.parent_end = pair[0];
	p.sock = pair[1];
	ASSERT_EQ(gt_attach(&q, self->ifindex, NULL), 0);
	sock = gt_udp_socket("10.9.0.1", 4000);
	ASSERT_TRUE(gt_until(!gt_send_to(sock, 2, 4001, "x", 1)));
	ASSERT_TRUE(gt_until(q.to_k->prod != 0));

	pid = gt_fork();
	ASSERT_GE(pid, 0);
	if (!pid) {
		gt_unmap(&q);
		close(q.fd);
		_exit(use_passed(&p));
	}
	close(pair[1]);
	send_fd(pair[0], q.fd);
	/* Ours is gone, the queue stays attached: the file decides. */
	gt_close(&q);
	ASSERT_EQ(read(pair[0], buf, 1), 1);
	ASSERT_EQ(gt_link_get(self->ifindex, &l), 0);
	EXPECT_EQ(l.attached, 1);
	EXPECT_TRUE(gt_until(recv(sock, buf, sizeof(buf), 0) == 32));
	close(pair[0]);
	EXPECT_EQ(gt_wait_child(pid), 0);
	ASSERT_EQ(gt_link_get(self->ifindex, &l), 0);
	EXPECT_EQ(l.attached, 0);
}

/* A file that sits in a socket's queue, owned by no process, keeps its queue. */
TEST_F(perm, file_in_flight)
{
	int pair[2];
	struct gt_queue q;
	struct gt_link l;

	ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	ASSERT_EQ(gt_attach(&q, self->ifindex, NULL), 0);
	send_fd(pair[0], q.fd);
	gt_close(&q);
	close(pair[0]);
	ASSERT_EQ(gt_link_get(self->ifindex, &l), 0);
	EXPECT_EQ(l.attached, 1);
	close(pair[1]);
	EXPECT_TRUE(gt_until(!gt_link_get(self->ifindex, &l) && l.attached == 0));
}

/* A file opened for reading can be told to attach, but maps nothing to write to. */
TEST_F(perm, read_only_file)
{
	int fd = open("/dev/net/gsotun", O_RDONLY | O_CLOEXEC), i;
	struct gsotun_attach a;

	ASSERT_GE(fd, 0);
	gt_attach_init(&a, self->ifindex, 0);
	ASSERT_EQ(gt_attach_fd(fd, &a), 0);
	for (i = 0; i < 6; i++)
		EXPECT_EQ(mmap(NULL, a.region[i].length, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			       a.region[i].offset), MAP_FAILED);
	close(fd);
}

TEST_HARNESS_MAIN
