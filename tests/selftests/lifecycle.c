// SPDX-License-Identifier: GPL-2.0
/* lifecycle.c - attach, detach, up, down, carrier, death: in every order, under load. */

#include <errno.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>

#include "gsotun_test.h"
#include "kselftest_harness.h"

FIXTURE(lifecycle)
{
	int net;
	int ifindex;	/* two queues, up, 10.9.0.1/24 */
};

FIXTURE_SETUP(lifecycle)
{
	self->net = gt_unshare_net();
	gt_no_ipv6();
	self->ifindex = gt_dev_add("g0", 2);
	gt_dev_start(self->ifindex);
}

FIXTURE_TEARDOWN(lifecycle)
{
	close(self->net);
}

static int attached_queues(int ifindex)
{
	struct gt_link l;

	return gt_link_get(ifindex, &l) ? -1 : (int)l.attached;
}

static void set_carrier(int ifindex, uint32_t policy, uint32_t hold_ms)
{
	struct gt_link l;

	gt_link_init(&l, NULL);
	l.ifindex = ifindex;
	l.carrier = policy;
	l.hold_ms = hold_ms;
	if (gt_link_change(&l))
		gt_die("carrier policy: %s", gt_extack);
}

static uint64_t drops(int ifindex, int reason)
{
	struct gt_queue_info info;
	uint64_t sum = 0;
	int i;

	for (i = 0; i < 2; i++)
		if (!gt_queue_get(ifindex, i, &info))
			sum += info.drops[reason];
	return sum;
}

static uint32_t prod_of(struct gt_queue *q)
{
	return __atomic_load_n(&q->to_k->prod, __ATOMIC_ACQUIRE);
}

static uint32_t cons_of(struct gt_queue *q)
{
	return __atomic_load_n(&q->from_k->cons, __ATOMIC_ACQUIRE);
}

/*
 * After attach the stack learns of the carrier in its own time, and drops until
 * then: so this sends until one arrives.
 */
static bool to_user_works(struct gt_queue *q)
{
	int sock = gt_udp_socket(NULL, 0);
	bool ok;

	gt_drain(q);
	ok = gt_until((gt_send_to(sock, 2, 9, "hello", 5), gt_peek(q, NULL)));
	gt_drain(q);
	close(sock);
	return ok;
}

static uint32_t udp_in(uint8_t *packet)
{
	return gt_udp4(packet, "10.9.0.2", "10.9.0.1", 1, 4000, "hello", 5);
}

static bool from_user_works(struct gt_queue *q)
{
	int sock = gt_udp_socket("10.9.0.1", 4000);
	uint8_t packet[100];
	bool ok;

	ok = !gt_inject(q, packet, udp_in(packet), NULL) &&
	     gt_until(recv(sock, packet, sizeof(packet), 0) == 5);
	close(sock);
	return ok;
}

/* ---- carrier ------------------------------------------------------------------------ */

/* K46: carrier while somebody is attached, and not a moment longer. */
TEST_F(lifecycle, carrier_auto)
{
	struct gt_queue q[2];

	EXPECT_FALSE(gt_carrier(self->ifindex));
	ASSERT_EQ(gt_attach(&q[0], self->ifindex, NULL), 0);
	EXPECT_TRUE(gt_carrier(self->ifindex));
	ASSERT_EQ(gt_attach(&q[1], self->ifindex, NULL), 0);
	gt_close(&q[0]);
	EXPECT_TRUE(gt_carrier(self->ifindex));
	gt_close(&q[1]);
	EXPECT_FALSE(gt_carrier(self->ifindex));
	EXPECT_EQ(attached_queues(self->ifindex), 0);
}

/* Carrier always; without a reader packets are dropped, and counted as that. */
TEST_F(lifecycle, carrier_on)
{
	int sock = gt_udp_socket(NULL, 0), i;
	struct rtnl_link_stats64 stats;
	struct gt_queue q;

	set_carrier(self->ifindex, GSOTUN_CARRIER_ON, GT_UNSET);
	EXPECT_TRUE(gt_carrier(self->ifindex));
	for (i = 0; i < 10; i++)
		ASSERT_EQ(gt_send_to(sock, 2, 9, "hello", 5), 0);
	EXPECT_TRUE(gt_until(drops(self->ifindex, GSOTUN_DROP_NO_READER) == 10));
	ASSERT_EQ(gt_stats(self->ifindex, &stats), 0);
	EXPECT_EQ(stats.tx_dropped, 10);
	EXPECT_EQ(stats.tx_packets, 0);
	ASSERT_EQ(gt_attach(&q, self->ifindex, NULL), 0);
	EXPECT_TRUE(to_user_works(&q));
	gt_close(&q);
	EXPECT_TRUE(gt_carrier(self->ifindex));
	ASSERT_EQ(gt_send_to(sock, 2, 9, "hello", 5), 0);
	EXPECT_TRUE(gt_until(drops(self->ifindex, GSOTUN_DROP_NO_READER) == 11));
	close(sock);
}

/* A restart within the hold time loses nothing: packets wait in the qdisc, in order. */
TEST_F(lifecycle, carrier_hold_restart)
{
	int sock = gt_udp_socket(NULL, 0), i;
	const struct gsotun_record *rec;
	const uint8_t *packet;
	struct gt_queue q;
	char byte;

	set_carrier(self->ifindex, GSOTUN_CARRIER_HOLD, 60000);
	/* It takes a first reader to have something to hold. */
	EXPECT_FALSE(gt_carrier(self->ifindex));
	ASSERT_EQ(gt_attach(&q, self->ifindex, NULL), 0);
	EXPECT_TRUE(to_user_works(&q));
	gt_close(&q);
	EXPECT_TRUE(gt_carrier(self->ifindex));
	for (i = 0; i < 50; i++) {
		byte = i;
		ASSERT_EQ(gt_send_to(sock, 2, 9, &byte, 1), 0);
	}
	EXPECT_EQ(drops(self->ifindex, GSOTUN_DROP_NO_READER), 0);
	ASSERT_EQ(gt_attach(&q, self->ifindex, NULL), 0);
	for (i = 0; i < 50; i++) {
		ASSERT_TRUE(gt_until((rec = gt_peek(&q, &packet)) != NULL))
			TH_LOG("packet %d does not come", i);
		EXPECT_EQ(packet[28], i);
	}
	gt_release(&q);
	EXPECT_EQ(drops(self->ifindex, GSOTUN_DROP_NO_READER), 0);
	EXPECT_TRUE(gt_carrier(self->ifindex));
	EXPECT_TRUE(to_user_works(&q));
	gt_close(&q);
	close(sock);
}

/* When nobody comes in time the carrier goes, and what waited is dropped and counted. */
TEST_F(lifecycle, carrier_hold_runs_out)
{
	int sock = gt_udp_socket(NULL, 0), i;
	struct gt_queue q;

	set_carrier(self->ifindex, GSOTUN_CARRIER_HOLD, 700);
	ASSERT_EQ(gt_attach(&q, self->ifindex, NULL), 0);
	gt_close(&q);
	for (i = 0; i < 20; i++)
		ASSERT_EQ(gt_send_to(sock, 2, 9, "hello", 5), 0);
	EXPECT_TRUE(gt_carrier(self->ifindex));
	EXPECT_TRUE(gt_until(!gt_carrier(self->ifindex)));
	EXPECT_TRUE(gt_until(drops(self->ifindex, GSOTUN_DROP_NO_READER) == 20));
	ASSERT_EQ(gt_attach(&q, self->ifindex, NULL), 0);
	EXPECT_TRUE(gt_carrier(self->ifindex));
	EXPECT_TRUE(to_user_works(&q));
	gt_close(&q);
	close(sock);
}

/* Two readers, one goes: its flows go to the other, the carrier stays for good. */
TEST_F(lifecycle, carrier_hold_one_of_two)
{
	struct gt_queue q[2];

	set_carrier(self->ifindex, GSOTUN_CARRIER_HOLD, 300);
	ASSERT_EQ(gt_attach(&q[0], self->ifindex, NULL), 0);
	ASSERT_EQ(gt_attach(&q[1], self->ifindex, NULL), 0);
	gt_close(&q[0]);
	EXPECT_TRUE(to_user_works(&q[1]));
	gt_sleep_ms(600);	/* the hold time is over: nothing may happen */
	EXPECT_TRUE(gt_carrier(self->ifindex));
	EXPECT_TRUE(to_user_works(&q[1]));
	gt_close(&q[1]);
}

/* A policy that changes while a hold runs is the policy from then on. */
TEST_F(lifecycle, carrier_policy_changes)
{
	struct gt_queue q;

	/* hold, then on: the end of the hold time must not take the carrier. */
	set_carrier(self->ifindex, GSOTUN_CARRIER_HOLD, 500);
	ASSERT_EQ(gt_attach(&q, self->ifindex, NULL), 0);
	gt_close(&q);
	set_carrier(self->ifindex, GSOTUN_CARRIER_ON, GT_UNSET);
	gt_sleep_ms(1000);
	EXPECT_TRUE(gt_carrier(self->ifindex));
	/* on, then auto: nobody is attached. */
	set_carrier(self->ifindex, GSOTUN_CARRIER_AUTO, GT_UNSET);
	EXPECT_FALSE(gt_carrier(self->ifindex));
	/* on, then hold: there is no reader whose return could be waited for. */
	set_carrier(self->ifindex, GSOTUN_CARRIER_ON, GT_UNSET);
	EXPECT_TRUE(gt_carrier(self->ifindex));
	set_carrier(self->ifindex, GSOTUN_CARRIER_HOLD, 300);
	EXPECT_TRUE(gt_until_ms(!gt_carrier(self->ifindex), 3000));
	/* hold, then auto: at once. */
	ASSERT_EQ(gt_attach(&q, self->ifindex, NULL), 0);
	set_carrier(self->ifindex, GSOTUN_CARRIER_HOLD, 60000);
	gt_close(&q);
	EXPECT_TRUE(gt_carrier(self->ifindex));
	set_carrier(self->ifindex, GSOTUN_CARRIER_AUTO, GT_UNSET);
	EXPECT_FALSE(gt_carrier(self->ifindex));
	ASSERT_EQ(gt_attach(&q, self->ifindex, NULL), 0);
	EXPECT_TRUE(to_user_works(&q));
	gt_close(&q);
}

/* A device that goes while packets are on hold, timer and all. */
TEST_F(lifecycle, delete_while_holding)
{
	int sock = gt_udp_socket(NULL, 0), round;
	struct gt_queue q;

	for (round = 0; round < 6; round++) {
		set_carrier(self->ifindex, GSOTUN_CARRIER_HOLD, round % 2 ? 1 : 60000);
		ASSERT_EQ(gt_attach(&q, self->ifindex, NULL), 0);
		gt_close(&q);
		gt_send_to(sock, 2, 9, "hello", 5);
		if (round % 3 == 1)
			ASSERT_EQ(gt_dev_up(self->ifindex, false), 0);
		ASSERT_EQ(gt_dev_del(self->ifindex), 0);
		self->ifindex = gt_dev_add("g0", 2);
		gt_dev_start(self->ifindex);
	}
	close(sock);
}

/* ---- up and down ------------------------------------------------------------------------ */

/* Down: nothing is consumed and the page says so. Up: what waited goes on by itself. */
TEST_F(lifecycle, down_and_up)
{
	uint8_t packet[100];
	struct gt_queue q;
	int round, i, sock;
	uint32_t cons;

	ASSERT_EQ(gt_attach(&q, self->ifindex, NULL), 0);
	for (round = 0; round < 5; round++) {
		EXPECT_EQ(q.to_k->status, GSOTUN_STATUS_UP);
		EXPECT_EQ(q.from_k->status, GSOTUN_STATUS_UP);
		EXPECT_TRUE(to_user_works(&q));
		EXPECT_TRUE(from_user_works(&q));
		ASSERT_EQ(gt_dev_up(self->ifindex, false), 0);
		gt_drain(&q);
		EXPECT_EQ(q.to_k->status, 0);
		EXPECT_EQ(q.from_k->status, 0);
		cons = cons_of(&q);
		for (i = 0; i < 10; i++)
			ASSERT_EQ(gt_inject(&q, packet, udp_in(packet), NULL), 0);
		EXPECT_EQ(gt_kick_fd(q.fd, GSOTUN_KICK_FROM_USER | GSOTUN_KICK_TO_USER), 0);
		EXPECT_EQ(poll(&(struct pollfd) { q.fd, POLLIN, 0 }, 1, 0), 0);
		EXPECT_EQ(cons_of(&q), cons);
		sock = gt_udp_socket("10.9.0.1", 4000);
		ASSERT_EQ(gt_dev_up(self->ifindex, true), 0);
		EXPECT_TRUE(gt_until(cons_of(&q) == q.prod));
		for (i = 0; i < 10; i++)
			EXPECT_TRUE(gt_until(recv(sock, packet, sizeof(packet), 0) == 5));
		close(sock);
	}
	gt_close(&q);
}

/* Attached while down, detached while down, attached by another meanwhile. */
TEST_F(lifecycle, attach_while_down)
{
	struct gt_queue q[2];

	ASSERT_EQ(gt_dev_up(self->ifindex, false), 0);
	ASSERT_EQ(gt_attach(&q[0], self->ifindex, NULL), 0);
	EXPECT_EQ(q[0].to_k->status, 0);
	ASSERT_EQ(gt_attach(&q[1], self->ifindex, NULL), 0);
	gt_close(&q[0]);
	ASSERT_EQ(gt_dev_up(self->ifindex, true), 0);
	EXPECT_EQ(q[1].to_k->status, GSOTUN_STATUS_UP);
	EXPECT_TRUE(to_user_works(&q[1]));
	EXPECT_TRUE(from_user_works(&q[1]));
	ASSERT_EQ(gt_dev_up(self->ifindex, false), 0);
	gt_close(&q[1]);
	ASSERT_EQ(gt_attach(&q[0], self->ifindex, NULL), 0);
	ASSERT_EQ(gt_dev_up(self->ifindex, true), 0);
	EXPECT_TRUE(to_user_works(&q[0]));
	EXPECT_TRUE(from_user_works(&q[0]));
	gt_close(&q[0]);
}

/* A full ring, down, up: the queue goes on once there is room, not before. */
TEST_F(lifecycle, down_while_full)
{
	struct gt_queue_info info;
	struct gt_flood flood;
	struct gt_queue q;

	ASSERT_EQ(gt_attach(&q, self->ifindex, NULL), 0);
	gt_flood_start(&flood, 1400);
	ASSERT_TRUE(gt_until(!gt_queue_get(self->ifindex, 0, &info) && info.stopped == 1));
	ASSERT_EQ(gt_dev_up(self->ifindex, false), 0);
	ASSERT_EQ(gt_dev_up(self->ifindex, true), 0);
	ASSERT_TRUE(gt_until(!gt_queue_get(self->ifindex, 0, &info) && info.stopped == 1));
	EXPECT_LE(prod_of(&q) - q.to_d->cons, q.a.fill_limit);
	EXPECT_GT(gt_drain(&q), 100);
	EXPECT_TRUE(gt_until(gt_drain(&q) > 0));
	gt_flood_stop(&flood);
	gt_close(&q);
}

/* ---- detach ------------------------------------------------------------------------------- */

/* Close detaches at once; what the next one gets is an empty ring of its own. */
TEST_F(lifecycle, detach_on_close)
{
	struct gt_queue q;
	int i;

	for (i = 0; i < 5; i++) {
		ASSERT_EQ(gt_attach(&q, self->ifindex, NULL), 0);
		EXPECT_EQ(prod_of(&q), 0);
		EXPECT_EQ(cons_of(&q), 0);
		EXPECT_TRUE(to_user_works(&q));
		EXPECT_NE(prod_of(&q), 0);
		gt_close(&q);
		EXPECT_EQ(attached_queues(self->ifindex), 0);
	}
}

/* Both directions as fast as it goes, for ever. */
static int run_daemon(int ifindex)
{
	uint8_t packet[100];
	uint32_t len = udp_in(packet);
	struct gt_queue q;

	if (gt_attach(&q, ifindex, NULL))
		return 1;
	for (;;) {
		if (gt_inject(&q, packet, len, NULL) == -EAGAIN)
			poll(&(struct pollfd) { q.fd, POLLOUT, 0 }, 1, 10);
		gt_drain(&q);
	}
}

/* kill -9 at any moment: the queue is free again, and the next daemon works. */
TEST_F_TIMEOUT(lifecycle, kill_under_load, 60)
{
	struct gt_flood flood;
	struct gt_queue q;
	int round;

	gt_flood_start(&flood, 700);
	for (round = 0; round < 25; round++) {
		pid_t pid = gt_fork();

		if (!pid)
			_exit(run_daemon(self->ifindex));
		ASSERT_TRUE(gt_until(attached_queues(self->ifindex) == 1));
		gt_sleep_ms(5 + round % 20);
		kill(pid, SIGKILL);
		EXPECT_EQ(gt_wait_child(pid), 128 + SIGKILL);
		EXPECT_EQ(attached_queues(self->ifindex), 0);
	}
	ASSERT_EQ(gt_attach(&q, self->ifindex, NULL), 0);
	EXPECT_TRUE(gt_until(gt_drain(&q) > 0));
	gt_flood_stop(&flood);
	EXPECT_TRUE(from_user_works(&q));
	gt_close(&q);
}

/* Many short lives under load, alternating with a second reader that stays. */
TEST_F_TIMEOUT(lifecycle, cycles_under_load, 60)
{
	struct gt_flood flood;
	struct gt_queue q, other;
	struct gsotun_attach a;
	int round;

	gt_flood_start(&flood, 700);
	gt_attach_init(&a, self->ifindex, 0);
	a.queue = 1;
	ASSERT_EQ(gt_attach(&other, self->ifindex, &a), 0);
	for (round = 0; round < 200; round++) {
		ASSERT_EQ(gt_attach(&q, self->ifindex, NULL), 0);
		if (round % 4 == 0)
			ASSERT_TRUE(gt_until((gt_drain(&other), prod_of(&q) != 0)));
		gt_drain(&other);
		gt_close(&q);
	}
	gt_flood_stop(&flood);
	EXPECT_TRUE(to_user_works(&other));
	EXPECT_TRUE(from_user_works(&other));
	gt_close(&other);
}

/* The device goes under load, in both directions, from under its daemon. */
TEST_F_TIMEOUT(lifecycle, delete_under_load, 60)
{
	int round;

	for (round = 0; round < 15; round++) {
		struct gt_flood flood;
		pid_t pid = gt_fork();

		if (!pid)
			_exit(run_daemon(self->ifindex));
		ASSERT_TRUE(gt_until(attached_queues(self->ifindex) == 1));
		gt_flood_start(&flood, 700);
		gt_sleep_ms(5 + round % 20);
		EXPECT_EQ(gt_dev_del(self->ifindex), 0);
		gt_flood_stop(&flood);
		kill(pid, SIGKILL);
		gt_wait_child(pid);
		self->ifindex = gt_dev_add("g0", 2);
		gt_dev_start(self->ifindex);
	}
}

/* K45: up and down, attach and detach, options and traffic, all at once. */
TEST_F_TIMEOUT(lifecycle, everything_at_once, 60)
{
	struct gt_flood flood;
	pid_t pid[3];
	struct gt_queue q;
	int i, n;

	for (i = 0; i < 3; i++) {
		pid[i] = gt_fork();
		if (pid[i])
			continue;
		for (n = 0;; n++) {
			if (i == 0) {
				gt_dev_up(self->ifindex, n % 2);
			} else if (i == 1) {
				if (!gt_attach(&q, self->ifindex, NULL)) {
					gt_drain(&q);
					gt_close(&q);
				}
			} else {
				set_carrier(self->ifindex, n % 3, 1 + n % 50);
			}
		}
	}
	gt_flood_start(&flood, 300);
	gt_sleep_ms(4000);
	gt_flood_stop(&flood);
	for (i = 0; i < 3; i++) {
		kill(pid[i], SIGKILL);
		EXPECT_EQ(gt_wait_child(pid[i]), 128 + SIGKILL);
	}
	set_carrier(self->ifindex, GSOTUN_CARRIER_AUTO, GT_UNSET);
	EXPECT_EQ(gt_dev_up(self->ifindex, true), 0);
	EXPECT_EQ(attached_queues(self->ifindex), 0);
	ASSERT_EQ(gt_attach(&q, self->ifindex, NULL), 0);
	EXPECT_TRUE(to_user_works(&q));
	EXPECT_TRUE(from_user_works(&q));
	gt_close(&q);
}

/* ---- ephemeral devices ------------------------------------------------------------------ */

static int add_ephemeral(const char *name)
{
	struct gt_link l;

	gt_link_init(&l, name);
	l.ephemeral = 1;
	l.queues = 2;
	if (gt_link_add(&l))
		gt_die("%s: %s", name, gt_extack);
	return gt_ifindex(name);
}

/* It waits for its first attachment, and goes with its last one. */
TEST_F(lifecycle, ephemeral)
{
	int ifindex = add_ephemeral("e0");
	struct gsotun_attach a;
	struct gt_queue q[2];

	/* A refused attach is none. */
	gt_attach_init(&a, ifindex, 0);
	a.queue = 99;
	EXPECT_EQ(gt_attach(&q[0], ifindex, &a), -EINVAL);
	EXPECT_TRUE(gt_dev_exists(ifindex));
	ASSERT_EQ(gt_attach(&q[0], ifindex, NULL), 0);
	ASSERT_EQ(gt_attach(&q[1], ifindex, NULL), 0);
	gt_close(&q[0]);
	EXPECT_TRUE(gt_dev_exists(ifindex));
	ASSERT_EQ(gt_attach(&q[0], ifindex, NULL), 0);
	gt_close(&q[1]);
	EXPECT_TRUE(gt_dev_exists(ifindex));
	gt_close(&q[0]);
	EXPECT_FALSE(gt_dev_exists(ifindex));
}

/* However the last one ends: killed, broken, or by the device itself. */
TEST_F(lifecycle, ephemeral_ends)
{
	int ifindex = add_ephemeral("e0");
	struct gt_queue q;
	pid_t pid;

	gt_dev_up(ifindex, true);
	pid = gt_fork();
	if (!pid)
		_exit(run_daemon(ifindex));
	ASSERT_TRUE(gt_until(attached_queues(ifindex) == 1));
	kill(pid, SIGKILL);
	gt_wait_child(pid);
	EXPECT_FALSE(gt_dev_exists(ifindex));

	ifindex = add_ephemeral("e0");
	gt_dev_up(ifindex, true);
	ASSERT_EQ(gt_attach(&q, ifindex, NULL), 0);
	q.from_d->prod = 1;
	gt_kick_fd(q.fd, GSOTUN_KICK_FROM_USER);
	EXPECT_TRUE(gt_until(!gt_dev_exists(ifindex)));
	gt_close(&q);

	ifindex = add_ephemeral("e0");
	ASSERT_EQ(gt_attach(&q, ifindex, NULL), 0);
	EXPECT_EQ(gt_dev_del(ifindex), 0);
	gt_close(&q);
	EXPECT_FALSE(gt_dev_exists(ifindex));
}

/* ---- NAPI -------------------------------------------------------------------------------- */

/* The NAPI instance is the queue's: its number stays over attachments. */
TEST_F(lifecycle, napi_id)
{
	struct gt_queue_info first, info;
	struct gt_queue q;
	int i;

	ASSERT_EQ(gt_queue_get(self->ifindex, 0, &first), 0);
	EXPECT_NE(first.napi_id, 0);
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(gt_attach(&q, self->ifindex, NULL), 0);
		ASSERT_EQ(gt_queue_get(self->ifindex, 0, &info), 0);
		EXPECT_EQ(info.napi_id, first.napi_id);
		gt_close(&q);
	}
	ASSERT_EQ(gt_queue_get(self->ifindex, 1, &info), 0);
	EXPECT_NE(info.napi_id, first.napi_id);
}

/* Threaded NAPI, switched at any time: nothing is lost, nothing stands still. */
TEST_F_TIMEOUT(lifecycle, threaded_napi, 60)
{
	int sock = gt_udp_socket("10.9.0.1", 4000), i, got = 0;
	uint8_t packet[100];
	struct gt_queue q;

	ASSERT_EQ(gt_attach(&q, self->ifindex, NULL), 0);
	for (i = 0; i < 300; i++) {
		if (i % 50 == 25)
			gt_dev_threaded("g0", i / 50 % 2 == 0);
		ASSERT_EQ(gt_inject(&q, packet, udp_in(packet), NULL), 0);
		/* No more than a socket holds. */
		EXPECT_TRUE(gt_until((got += recv(sock, packet, sizeof(packet), 0) == 5,
				      i - got < 64)));
	}
	EXPECT_TRUE(gt_until((got += recv(sock, packet, sizeof(packet), 0) == 5, got == 300)))
		TH_LOG("%d of 300", got);
	gt_dev_threaded("g0", true);
	close(sock);
	/* Attach, detach, up and down, delete, with threads. */
	EXPECT_TRUE(from_user_works(&q));
	ASSERT_EQ(gt_dev_up(self->ifindex, false), 0);
	ASSERT_EQ(gt_dev_up(self->ifindex, true), 0);
	EXPECT_TRUE(from_user_works(&q));
	gt_close(&q);
	ASSERT_EQ(gt_attach(&q, self->ifindex, NULL), 0);
	EXPECT_TRUE(from_user_works(&q));
	EXPECT_TRUE(to_user_works(&q));
	EXPECT_EQ(gt_dev_del(self->ifindex), 0);
	gt_close(&q);
}

TEST_HARNESS_MAIN
