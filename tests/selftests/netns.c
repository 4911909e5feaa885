// SPDX-License-Identifier: GPL-2.0
/* netns.c - devices and files across network namespaces, in every order of ends. */

#include <errno.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>

#include "gsotun_test.h"
#include "kselftest_harness.h"

/* Namespaces are entered by descriptor; one that nobody has is gone soon. */
FIXTURE(netns)
{
	int here;
	int there;
};

FIXTURE_SETUP(netns)
{
	self->there = gt_unshare_net();
	self->here = gt_unshare_net();
}

FIXTURE_TEARDOWN(netns)
{
	if (self->here >= 0)
		close(self->here);
	if (self->there >= 0)
		close(self->there);
}

static uint32_t state_of(int fd)
{
	struct gsotun_attach a;

	return gt_query_fd(fd, &a) ? ~0u : a.state;
}

/* Our own namespace is @go from now on; nobody is in @leave any more. */
static void leave(int *left, int go)
{
	gt_set_net(go);
	close(*left);
	*left = -1;
}

/* A packet from the stack arrives in the ring. */
static bool to_user_works(struct gt_queue *q)
{
	int sock = gt_udp_socket(NULL, 0);
	bool ok = gt_until(!gt_send_to(sock, 2, 9, "hello", 5)) && gt_until(gt_peek(q, NULL));

	close(sock);
	gt_release(q);
	return ok;
}

/* A packet from the ring arrives in the stack. */
static bool from_user_works(struct gt_queue *q)
{
	int sock = gt_udp_socket("10.9.0.1", 4000);
	uint8_t packet[100];
	bool ok;

	ok = !gt_inject(q, packet, gt_udp4(packet, "10.9.0.2", "10.9.0.1", 1, 4000, "hello", 5),
			NULL) &&
	     gt_until(recv(sock, packet, sizeof(packet), 0) == 5);
	close(sock);
	return ok;
}

/* ---- moves ------------------------------------------------------------------------- */

/* The attachment goes along, rings, counters and all, under load. */
TEST_F_TIMEOUT(netns, move_under_load, 60)
{
	int ifindex = gt_dev_add("g0", 2), round;
	struct gt_queue_info before, after;
	struct gt_flood flood;
	struct gsotun_attach a;
	struct gt_queue q;

	ASSERT_EQ(gt_attach(&q, ifindex, NULL), 0);
	for (round = 0; round < 8; round++) {
		int from = round % 2 ? self->there : self->here;
		int to = round % 2 ? self->here : self->there;
		uint32_t prod = q.to_k->prod;

		gt_set_net(from);
		gt_dev_start(ifindex);
		EXPECT_EQ(q.to_k->status, GSOTUN_STATUS_UP);
		gt_flood_start(&flood, 1000);
		/* With a ring that is read, and one that is full. */
		ASSERT_TRUE(gt_until((round % 4 < 2 ? gt_drain(&q) : 0, q.to_k->prod - prod > 50000)));
		ASSERT_EQ(gt_queue_get(ifindex, 0, &before), 0);
		ASSERT_EQ(gt_dev_move(ifindex, to), 0);
		EXPECT_EQ(gt_queue_get(ifindex, 0, &after), -ENODEV);
		gt_flood_stop(&flood);
		gt_set_net(to);
		ifindex = gt_ifindex("g0");
		ASSERT_NE(ifindex, 0);
		ASSERT_EQ(gt_query_fd(q.fd, &a), 0);
		EXPECT_EQ(a.state, GSOTUN_STATE_ATTACHED);
		EXPECT_EQ(a.ifindex, ifindex);
		EXPECT_EQ(q.to_k->status, 0);	/* a move takes it down */
		ASSERT_EQ(gt_queue_get(ifindex, 0, &after), 0);
		EXPECT_EQ(after.attached, 1);
		EXPECT_EQ(after.generation, 1);
		EXPECT_GE(after.ring[GSOTUN_TO_USER].records, before.ring[GSOTUN_TO_USER].records);
		gt_drain(&q);
	}
	gt_dev_start(ifindex);
	EXPECT_TRUE(to_user_works(&q));
	EXPECT_TRUE(from_user_works(&q));
	gt_close(&q);
}

/* A move that fails leaves all as it was. */
TEST_F(netns, move_refused)
{
	int ifindex = gt_dev_add("g0", 1);
	struct gt_queue q;

	gt_set_net(self->there);
	gt_dev_add("g0", 1);
	gt_set_net(self->here);
	gt_dev_start(ifindex);
	ASSERT_EQ(gt_attach(&q, ifindex, NULL), 0);
	EXPECT_LT(gt_dev_move(ifindex, self->there), 0);
	EXPECT_EQ(state_of(q.fd), GSOTUN_STATE_ATTACHED);
	EXPECT_EQ(q.to_k->status, GSOTUN_STATUS_UP);
	EXPECT_TRUE(to_user_works(&q));
	EXPECT_TRUE(from_user_works(&q));
	gt_close(&q);
}

/* Created here for there; K41: it lives there, whatever becomes of here. */
TEST_F(netns, created_across)
{
	int ifindex, canary;
	struct gsotun_attach a;
	struct gt_queue q;
	struct gt_link l;

	gt_link_init(&l, "g0");
	l.netns_fd = self->there;
	l.queues = 2;
	ASSERT_EQ(gt_link_add(&l), 0)
		TH_LOG("%s", gt_extack);
	EXPECT_EQ(gt_ifindex("g0"), 0);
	/* Something that tells us when here has ended. */
	gt_dev_add("canary", 1);
	gt_attach_init(&a, gt_ifindex("canary"), 0);
	canary = gt_open();
	ASSERT_EQ(gt_attach_fd(canary, &a), 0);

	leave(&self->here, self->there);
	EXPECT_TRUE(gt_until(state_of(canary) == GSOTUN_STATE_DETACHED));
	close(canary);
	ifindex = gt_ifindex("g0");
	ASSERT_NE(ifindex, 0);
	ASSERT_EQ(gt_attach(&q, ifindex, NULL), 0);
	gt_dev_start(ifindex);
	EXPECT_TRUE(to_user_works(&q));
	EXPECT_TRUE(from_user_works(&q));
	gt_close(&q);
}

/* ---- ends ---------------------------------------------------------------------------- */

/* The namespace of the device ends, with everything open, mapped and in use. */
TEST_F(netns, end_of_the_devices_namespace)
{
	int ifindex = gt_dev_add("g0", 2), i;
	struct gt_queue q[2];
	struct gt_flood flood;

	gt_dev_start(ifindex);
	for (i = 0; i < 2; i++)
		ASSERT_EQ(gt_attach(&q[i], ifindex, NULL), 0);
	gt_flood_start(&flood, 500);
	ASSERT_TRUE(gt_until(q[0].to_k->prod && q[1].to_k->prod));
	gt_set_net(self->there);
	close(self->here);
	self->here = -1;
	/* The flood is in there, so it lives on; and ends with it. */
	EXPECT_EQ(state_of(q[0].fd), GSOTUN_STATE_ATTACHED);
	gt_flood_stop(&flood);
	for (i = 0; i < 2; i++) {
		struct gsotun_attach a;

		EXPECT_TRUE(gt_until(state_of(q[i].fd) == GSOTUN_STATE_DETACHED));
		EXPECT_EQ(gt_query_fd(q[i].fd, &a), 0);
		EXPECT_EQ(a.ifindex, 0);
		EXPECT_EQ(q[i].to_k->status, GSOTUN_STATUS_DETACHED);
		EXPECT_EQ(gt_kick_fd(q[i].fd, GSOTUN_KICK_TO_USER | GSOTUN_KICK_FROM_USER),
			  -ENOTCONN);
		memset(q[i].to_data, i, q[i].a.region[GSOTUN_REGION_DATA].length);
		EXPECT_EQ(q[i].to_data[12345], i);
		gt_close(&q[i]);
	}
}

/* An ephemeral device and its namespace end at once; and the other way round. */
TEST_F(netns, end_of_an_ephemeral_device)
{
	struct gt_queue q;
	struct gt_link l;
	int round;

	for (round = 0; round < 10; round++) {
		int net = gt_unshare_net();

		gt_link_init(&l, "g0");
		l.ephemeral = 1;
		ASSERT_EQ(gt_link_add(&l), 0);
		ASSERT_EQ(gt_attach(&q, gt_ifindex("g0"), NULL), 0);
		gt_dev_start(gt_ifindex("g0"));
		leave(&net, self->there);
		if (round % 2)
			EXPECT_TRUE(gt_until(state_of(q.fd) == GSOTUN_STATE_DETACHED));
		gt_close(&q);
	}
}

/*
 * A file that is not attached yet holds the namespace of its open(), like a socket;
 * once attached it does not: the device's decides.
 */
TEST_F(netns, end_of_the_openers_namespace)
{
	int canary, opened, ifindex, lost;
	struct gsotun_attach a;
	struct gt_queue q = { };

	gt_set_net(self->there);
	ifindex = gt_dev_add("g0", 1);
	gt_set_net(self->here);
	canary = gt_open();
	lost = gt_dev_add("canary", 2);
	gt_attach_init(&a, lost, 0);
	ASSERT_EQ(gt_attach_fd(canary, &a), 0);
	opened = gt_open();
	q.fd = gt_open();
	gt_attach_init(&q.a, ifindex, 0);
	q.a.flags = GSOTUN_ATTACH_NETNS_FD;
	q.a.netns_fd = self->there;
	ASSERT_EQ(gt_attach_fd(q.fd, &q.a), 0);
	ASSERT_EQ(gt_map(&q), 0);

	leave(&self->here, self->there);
	EXPECT_FALSE(gt_until_ms(state_of(canary) != GSOTUN_STATE_ATTACHED, 500));
	/* The last way into it. It attaches there, and so lets it go. */
	gt_attach_init(&a, lost, 0);
	EXPECT_EQ(gt_attach_fd(opened, &a), 0);
	EXPECT_TRUE(gt_until(state_of(canary) == GSOTUN_STATE_DETACHED));
	EXPECT_TRUE(gt_until(state_of(opened) == GSOTUN_STATE_DETACHED));
	close(opened);
	EXPECT_EQ(state_of(q.fd), GSOTUN_STATE_ATTACHED);
	gt_dev_start(ifindex);
	EXPECT_TRUE(to_user_works(&q));
	EXPECT_TRUE(from_user_works(&q));
	close(canary);
	gt_close(&q);
}

/* Attach races with the end of the namespace: it works or it says so. */
TEST_F(netns, attach_races_with_the_end)
{
	int round;

	for (round = 0; round < 20; round++) {
		int net = gt_unshare_net(), ifindex = gt_dev_add("g0", 1), fd = gt_open(), err;
		struct gsotun_attach a;
		pid_t pid;

		gt_attach_init(&a, ifindex, 0);
		a.ring_bytes[GSOTUN_TO_USER] = GT_MIB(round % 8 ? 1 : 16);
		pid = gt_fork();
		if (!pid) {
			gt_sleep_ms(round % 5);
			gt_dev_del(ifindex);
			_exit(0);
		}
		leave(&net, self->there);
		err = gt_attach_fd(fd, &a);
		EXPECT_TRUE(!err || err == -ENODEV)
			TH_LOG("%d %s", err, a.message);
		gt_wait_child(pid);
		EXPECT_TRUE(gt_until(state_of(fd) != GSOTUN_STATE_ATTACHED));
		close(fd);
	}
}

/* ---- storms ---------------------------------------------------------------------------- */

/* A holder: its own namespace, an attached device, perhaps under load. */
static int hold(int kind, int ready)
{
	struct gt_queue q;
	int ifindex, i = 0;

	close(gt_unshare_net());
	ifindex = gt_dev_add("g0", 1 + kind % 3);
	if (kind & 1)
		gt_dev_start(ifindex);
	if (kind & 2) {
		/* Attached, mapped, with traffic in both directions. */
		int sock = gt_udp_socket(NULL, 0);
		uint8_t packet[100];
		uint32_t len = gt_udp4(packet, "10.9.0.2", "10.9.0.1", 1, 4000, "hello", 5);

		if (gt_attach(&q, ifindex, NULL))
			return 1;
		for (i = 0; kind & 1 && i < 20; i++) {
			gt_send_to(sock, 2, 9, "hello", 5);
			gt_inject(&q, packet, len, NULL);
		}
		if (kind & 4)
			close(q.fd);
	} else {
		gt_open();
	}
	if (write(ready, "", 1) != 1)
		return 2;
	for (;;) {
		if (kind & 8)
			gt_dev_up(ifindex, i++ % 2);
		else
			pause();
	}
}

/* K40: kill -9 of the only one who holds file, mapping and namespace, many times. */
TEST_F_TIMEOUT(netns, kill_holders, 60)
{
	uint64_t end = gt_now_ms() + 6000;
	int round, pipes[2], i;
	pid_t pid[4];
	char byte;

	ASSERT_EQ(pipe(pipes), 0);
	/* Four at a time: grace periods are long, and ends may overlap. */
	for (round = 0; round < 400 && gt_now_ms() < end; round += 4) {
		for (i = 0; i < 4; i++) {
			pid[i] = gt_fork();
			if (!pid[i])
				_exit(hold(round + i, pipes[1]));
		}
		for (i = 0; i < 4; i++)
			ASSERT_EQ(read(pipes[0], &byte, 1), 1);
		for (i = 0; i < 4; i++)
			kill(pid[i], SIGKILL);
		for (i = 0; i < 4; i++)
			EXPECT_EQ(gt_wait_child(pid[i]), 128 + SIGKILL);
	}
	TH_LOG("%d rounds", round);
	EXPECT_GT(round, 4);
}

/* K40: the namespace ends first, by deletion of the last thing that names it. */
TEST_F_TIMEOUT(netns, end_before_close, 60)
{
	uint64_t end = gt_now_ms() + 4000;
	struct gt_queue q[4];
	int round, i;

	for (i = 0; i < 4; i++)
		q[i].fd = -1;
	for (round = 0; round < 400 && gt_now_ms() < end; round++) {
		struct gt_queue *p = &q[round % 4];
		int net;

		/* Some three namespaces are always on their way out. */
		if (p->fd >= 0) {
			if (round % 3)
				EXPECT_TRUE(gt_until(state_of(p->fd) == GSOTUN_STATE_DETACHED));
			gt_close(p);
		}
		net = gt_unshare_net();
		ASSERT_EQ(gt_attach(p, gt_dev_add("g0", 1), NULL), 0);
		if (round & 1)
			gt_dev_start(gt_ifindex("g0"));
		leave(&net, self->there);
	}
	for (i = 0; i < 4; i++)
		gt_close(&q[i]);
	TH_LOG("%d rounds", round);
	EXPECT_GT(round, 4);
}

TEST_HARNESS_MAIN
