// SPDX-License-Identifier: GPL-2.0
/* wait.c - poll(), epoll and GSOTUN_KICK: when they are ready, who is woken, and when not. */

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "gsotun_test.h"
#include "kselftest_harness.h"

#define load(p)			__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define store(p, v)		__atomic_store_n(p, v, __ATOMIC_RELEASE)
#define full_barrier()		__atomic_thread_fence(__ATOMIC_SEQ_CST)

FIXTURE(wait)
{
	int ifindex;
	int sock;
	struct gt_queue q;
};

FIXTURE_SETUP(wait)
{
	close(gt_unshare_net());
	gt_no_ipv6();
	self->ifindex = gt_dev_add("g0", 1);
	ASSERT_EQ(gt_attach(&self->q, self->ifindex, NULL), 0);
	gt_dev_start(self->ifindex);
	self->sock = gt_udp_socket("10.9.0.1", 4000);
	/* Carrier has come, everything is at rest. */
	ASSERT_TRUE(gt_until((gt_send_to(self->sock, 2, 9, "x", 1), gt_peek(&self->q, NULL))));
	gt_drain(&self->q);
}

FIXTURE_TEARDOWN(wait)
{
	close(self->sock);
	gt_close(&self->q);
}

/* What poll() says right now. */
static int events_of(int fd, int events)
{
	struct pollfd p = { .fd = fd, .events = events };

	return poll(&p, 1, 0) < 0 ? -errno : p.revents;
}

static void send_one(int sock)
{
	if (gt_send_to(sock, 2, 9, "hello", 5))
		gt_die("cannot send");
}

static uint64_t wakes(int ifindex, int ring)
{
	struct gt_queue_info info;

	if (gt_queue_get(ifindex, 0, &info))
		gt_die("queue get");
	return info.ring[ring].wakes;
}

/* ---- what is ready ---------------------------------------------------------------------- */

/* EPOLLIN is prod != seen: what has been looked at does not spin, though it is held. */
TEST_F(wait, readable)
{
	struct gt_queue *q = &self->q;
	uint32_t old;

	EXPECT_EQ(events_of(q->fd, POLLIN), 0);
	old = load(&q->to_k->prod);
	send_one(self->sock);
	ASSERT_TRUE(gt_until(load(&q->to_k->prod) != old));
	EXPECT_EQ(events_of(q->fd, POLLIN), POLLIN);
	EXPECT_EQ(events_of(q->fd, POLLIN | POLLRDNORM), POLLIN | POLLRDNORM);
	/* Looked at, not released. */
	q->to_d->seen = load(&q->to_k->prod);
	EXPECT_EQ(events_of(q->fd, POLLIN), 0);
	/* Anything else than prod is readable, wherever it lies. */
	q->to_d->seen = old;
	EXPECT_EQ(events_of(q->fd, POLLIN), POLLIN);
	q->to_d->seen = load(&q->to_k->prod) + 64;
	EXPECT_EQ(events_of(q->fd, POLLIN), POLLIN);
	q->to_d->seen = load(&q->to_k->prod);
	/* A release does not change it. */
	gt_drain(q);
	EXPECT_EQ(events_of(q->fd, POLLIN), 0);
}

/* EPOLLOUT is cons >= room_at, as positions go. */
TEST_F(wait, writable)
{
	static const uint32_t ahead[] = { 1, 64, 1000, 0x7fffffff };
	struct gt_queue *q = &self->q;
	uint32_t cons = load(&q->from_k->cons);
	int i;

	for (i = 0; i < ARRAY_SIZE(ahead); i++) {
		q->from_d->room_at = cons - ahead[i];
		EXPECT_EQ(events_of(q->fd, POLLOUT | POLLWRNORM), POLLOUT | POLLWRNORM);
		q->from_d->room_at = cons + ahead[i];
		EXPECT_EQ(events_of(q->fd, POLLOUT), 0);
	}
	q->from_d->room_at = cons;
	EXPECT_EQ(events_of(q->fd, POLLOUT), POLLOUT);
	/* Both at once, each by itself. */
	send_one(self->sock);
	EXPECT_TRUE(gt_until(events_of(q->fd, POLLIN | POLLOUT) == (POLLIN | POLLOUT)));
	q->from_d->room_at = cons + 1;
	EXPECT_EQ(events_of(q->fd, POLLIN | POLLOUT), POLLIN);
}

/* After the end: error and hang-up, whether asked for or not, and for good. */
TEST_F(wait, detached)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET };
	int epoll = epoll_create1(EPOLL_CLOEXEC), i, fresh = gt_open();

	EXPECT_EQ(events_of(fresh, POLLIN), POLLERR | POLLHUP);
	close(fresh);
	ASSERT_EQ(epoll_ctl(epoll, EPOLL_CTL_ADD, self->q.fd, &ev), 0);
	EXPECT_EQ(epoll_wait(epoll, &ev, 1, 0), 0);
	ASSERT_EQ(gt_dev_del(self->ifindex), 0);
	/* Edge-triggered: the end is an edge. */
	EXPECT_EQ(epoll_wait(epoll, &ev, 1, 0), 1);
	EXPECT_EQ(ev.events & (EPOLLERR | EPOLLHUP), EPOLLERR | EPOLLHUP);
	for (i = 0; i < 3; i++)
		EXPECT_EQ(events_of(self->q.fd, 0), POLLERR | POLLHUP);
	EXPECT_EQ(gt_kick_fd(self->q.fd, GSOTUN_KICK_TO_USER), -ENOTCONN);
	close(epoll);
}

/* ---- who sleeps is woken -------------------------------------------------------------------- */

struct sleeper {
	pthread_t thread;
	int fd;
	int events;
	int timeout;
	int result;	/* of poll */
	int revents;
	int done;
};

static void *sleep_in_poll(void *arg)
{
	struct sleeper *s = arg;
	struct pollfd p = { .fd = s->fd, .events = s->events };

	s->result = poll(&p, 1, s->timeout);
	s->revents = p.revents;
	store(&s->done, 1);
	return NULL;
}

/* Return when it sleeps: all that runs is other than it. */
static void start_sleeper(struct sleeper *s, int fd, int events, int timeout)
{
	*s = (struct sleeper) { .fd = fd, .events = events, .timeout = timeout };
	pthread_create(&s->thread, NULL, sleep_in_poll, s);
	gt_sleep_ms(100);
}

static void join(struct sleeper *s)
{
	pthread_join(s->thread, NULL);
}

/* All that sleep are woken: by a record, by room, by the end. */
TEST_F(wait, sleepers)
{
	struct gt_queue *q = &self->q;
	struct sleeper s[3];
	uint8_t packet[100];
	int i;

	for (i = 0; i < 3; i++)
		start_sleeper(&s[i], q->fd, POLLIN, GT_HANG_MS);
	EXPECT_EQ(load(&s[0].done), 0);
	send_one(self->sock);
	for (i = 0; i < 3; i++) {
		join(&s[i]);
		EXPECT_EQ(s[i].result, 1);
		EXPECT_EQ(s[i].revents, POLLIN);
	}
	gt_drain(q);

	q->from_d->room_at = q->prod + 192;
	for (i = 0; i < 3; i++)
		start_sleeper(&s[i], q->fd, POLLOUT, GT_HANG_MS);
	EXPECT_EQ(load(&s[0].done), 0);
	ASSERT_EQ(gt_inject(q, packet, gt_udp4(packet, "10.9.0.2", "10.9.0.1", 1, 4000, "x", 1),
			    NULL), 0);
	for (i = 0; i < 3; i++) {
		join(&s[i]);
		EXPECT_EQ(s[i].result, 1);
		EXPECT_EQ(s[i].revents, POLLOUT);
	}

	for (i = 0; i < 3; i++)
		start_sleeper(&s[i], q->fd, POLLIN, GT_HANG_MS);
	ASSERT_EQ(gt_dev_del(self->ifindex), 0);
	for (i = 0; i < 3; i++) {
		join(&s[i]);
		EXPECT_EQ(s[i].revents & (POLLERR | POLLHUP), POLLERR | POLLHUP);
	}
}

static void on_signal(int sig)
{
	(void)sig;
}

/* A signal ends the sleep. */
TEST_F(wait, signal)
{
	struct sigaction sa = { .sa_handler = on_signal };
	struct sleeper s;

	sigaction(SIGUSR1, &sa, NULL);
	start_sleeper(&s, self->q.fd, POLLIN, GT_HANG_MS);
	pthread_kill(s.thread, SIGUSR1);
	join(&s);
	EXPECT_EQ(s.result, -1);
}

/* ---- who does not sleep costs nothing -------------------------------------------------------- */

/* One wake-up for one wait: further records do not wake again, until seen moves. */
TEST_F(wait, one_wake_per_wait)
{
	struct gt_queue *q = &self->q;
	uint64_t before = wakes(self->ifindex, GSOTUN_TO_USER);
	int i;

	for (i = 0; i < 20; i++)
		send_one(self->sock);
	ASSERT_TRUE(gt_until(gt_peek(q, NULL)));
	EXPECT_EQ(wakes(self->ifindex, GSOTUN_TO_USER) - before, 1);
	/* Armed again, by seen. */
	ASSERT_TRUE(gt_until((gt_drain(q), q->cons == load(&q->to_k->prod))));
	q->to_d->seen = load(&q->to_k->prod);
	send_one(self->sock);
	EXPECT_TRUE(gt_until(wakes(self->ifindex, GSOTUN_TO_USER) - before == 2));
	gt_drain(q);
	/* Not waiting: seen lies far behind, and is not crossed. */
	q->to_d->seen = load(&q->to_k->prod) - 0x80000000;
	for (i = 0; i < 20; i++)
		send_one(self->sock);
	ASSERT_TRUE(gt_until(gt_peek(q, NULL)));
	EXPECT_EQ(wakes(self->ifindex, GSOTUN_TO_USER) - before, 2);
}

/* NO_WAKE: a sleeper sleeps on, though poll() would say ready; off, it is woken. */
TEST_F(wait, no_wake)
{
	struct gt_queue *q = &self->q;
	uint64_t before = wakes(self->ifindex, GSOTUN_TO_USER);
	struct sleeper s;
	uint32_t old = load(&q->to_k->prod);

	q->to_d->flags = GSOTUN_DAEMON_NO_WAKE;
	start_sleeper(&s, q->fd, POLLIN, 1000);
	send_one(self->sock);
	ASSERT_TRUE(gt_until(load(&q->to_k->prod) != old));
	EXPECT_EQ(load(&s.done), 0);
	EXPECT_EQ(events_of(q->fd, POLLIN), POLLIN);
	join(&s);
	EXPECT_EQ(wakes(self->ifindex, GSOTUN_TO_USER), before);
	gt_drain(q);
	q->to_d->flags = 0;
	start_sleeper(&s, q->fd, POLLIN, GT_HANG_MS);
	send_one(self->sock);
	join(&s);
	EXPECT_EQ(s.result, 1);
	EXPECT_EQ(wakes(self->ifindex, GSOTUN_TO_USER), before + 1);

	/* The other ring has a flag of its own. */
	gt_drain(q);
	before = wakes(self->ifindex, GSOTUN_FROM_USER);
	q->from_d->flags = GSOTUN_DAEMON_NO_WAKE;
	q->from_d->room_at = q->prod + 64;
	start_sleeper(&s, q->fd, POLLOUT, 500);
	gt_reserve(q, 64);
	((struct gsotun_record *)(q->from_data + q->prod % q->a.ring_bytes[1]))->span = 64;
	gt_submit(q, 64, true);
	ASSERT_TRUE(gt_until(load(&q->from_k->cons) == q->prod));
	EXPECT_EQ(load(&s.done), 0);
	join(&s);
	EXPECT_EQ(wakes(self->ifindex, GSOTUN_FROM_USER), before);
	EXPECT_EQ(events_of(q->fd, POLLOUT), POLLOUT);
}

/* ---- kick ------------------------------------------------------------------------------------- */

TEST_F(wait, kick)
{
	int fd = gt_open(), bit;

	for (bit = 2; bit < 64; bit++)
		EXPECT_EQ(gt_kick_fd(self->q.fd, 1ul << bit), -EINVAL);
	EXPECT_EQ(gt_kick_fd(self->q.fd, ~0ul), -EINVAL);
	for (bit = 0; bit < 4; bit++)
		EXPECT_EQ(gt_kick_fd(self->q.fd, bit), 0);
	EXPECT_EQ(gt_kick_fd(fd, GSOTUN_KICK_TO_USER), -ENOTCONN);
	EXPECT_EQ(gt_kick_fd(fd, 1ul << 32), -EINVAL);
	/* Other commands than there are. */
	EXPECT_EQ(ioctl(self->q.fd, _IO(GSOTUN_IOC_MAGIC, 3), 0), -1);
	EXPECT_EQ(errno, ENOTTY);
	close(fd);
}

/* Idle, the kernel asks for a kick at the next byte; busy, for none. */
TEST_F(wait, kick_at)
{
	struct gt_queue *q = &self->q;
	struct gt_queue_info info;

	EXPECT_EQ(load(&q->from_k->kick_at), q->prod + 1);
	/* Submitted without the kick that was asked for: it lies there. */
	((struct gsotun_record *)gt_reserve(q, 64))->span = 64;
	gt_submit(q, 64, false);
	gt_sleep_ms(100);
	EXPECT_NE(load(&q->from_k->cons), q->prod);
	/* poll() is a kick. */
	events_of(q->fd, 0);
	EXPECT_TRUE(gt_until(load(&q->from_k->cons) == q->prod));
	EXPECT_TRUE(gt_until(load(&q->from_k->kick_at) == q->prod + 1));
	/* And a needless one harms nobody. */
	EXPECT_EQ(gt_kick_fd(q->fd, GSOTUN_KICK_FROM_USER | GSOTUN_KICK_TO_USER), 0);
	ASSERT_EQ(gt_queue_get(self->ifindex, 0, &info), 0);
	EXPECT_EQ(info.ring[GSOTUN_FROM_USER].skips, 1);
	EXPECT_EQ(info.drop_sum, 0);
}

/* ---- no wake-up is lost --------------------------------------------------------------------- */

struct ping {
	int sock;
	uint32_t sent;
	uint32_t wanted;
};

/* One packet each time the other side has nothing any more. */
static void *pinger(void *arg)
{
	struct ping *p = arg;
	uint32_t i;

	for (i = 0; i < 4000; i++) {
		while (load(&p->wanted) == i)
			sched_yield();
		if (load(&p->wanted) == ~0u)
			break;
		while (gt_send_to(p->sock, 2, 9, "hello", 5))
			sched_yield();
		store(&p->sent, i + 1);
	}
	return NULL;
}

/*
 * K36: going to sleep races with the arrival of the one record there is. A wake-up
 * that is lost shows as a poll() that times out.
 */
TEST_F_TIMEOUT(wait, not_lost_to_user, 60)
{
	struct ping p = { .sock = self->sock };
	struct gt_queue *q = &self->q;
	uint64_t end = gt_now_ms() + 4000;
	pthread_t thread;
	uint32_t i;
	int slept = 0;

	pthread_create(&thread, NULL, pinger, &p);
	for (i = 0; i < 4000 && gt_now_ms() < end; i++) {
		store(&p.wanted, i + 1);
		while (!gt_peek(q, NULL)) {
			/* gt_peek() has set seen; poll() looks again before it sleeps. */
			struct pollfd f = { .fd = q->fd, .events = POLLIN };

			if (load(&p.sent) != i + 1)
				slept++;
			ASSERT_EQ(poll(&f, 1, GT_HANG_MS), 1)
				TH_LOG("round %u: sleeps, prod %u, seen %u", i,
				       load(&q->to_k->prod), q->to_d->seen);
		}
		gt_release(q);
	}
	store(&p.wanted, ~0u);
	pthread_join(thread, NULL);
	TH_LOG("%u rounds, %d with a wait", i, slept);
	EXPECT_GT(i, 100);
}

/* The same for room: the ring is full, and empties while the daemon goes to sleep. */
TEST_F_TIMEOUT(wait, not_lost_room, 60)
{
	struct gt_queue *q = &self->q;
	uint32_t size = q->a.ring_bytes[GSOTUN_FROM_USER], span = size / 4;
	uint64_t end = gt_now_ms() + 3000;
	uint32_t i;
	int waits = 0;

	/* Else every kick, and every poll(), empties the ring before it returns. */
	gt_dev_threaded("g0", true);
	for (i = 0; i < 20000 && gt_now_ms() < end; i++) {
		while (q->prod + span - load(&q->from_k->cons) > size) {
			struct pollfd f = { .fd = q->fd, .events = POLLOUT };

			store(&q->from_d->room_at, q->prod + span - size);
			full_barrier();
			if (q->prod + span - load(&q->from_k->cons) <= size)
				break;
			waits++;
			ASSERT_EQ(poll(&f, 1, GT_HANG_MS), 1)
				TH_LOG("record %u: prod %u, cons %u, room_at %u", i, q->prod,
				       load(&q->from_k->cons), q->from_d->room_at);
		}
		((struct gsotun_record *)(q->from_data + (q->prod & (size - 1))))->span = span;
		((struct gsotun_record *)(q->from_data + (q->prod & (size - 1))))->type = 0;
		gt_submit(q, span, true);
	}
	TH_LOG("%u records, %d waits", i, waits);
	EXPECT_GT(i, 100);
	EXPECT_TRUE(gt_until(load(&q->from_k->cons) == q->prod));
}

/* The same for the kernel's own sleep: every kick that it asks for is enough. */
TEST_F_TIMEOUT(wait, not_lost_kick, 60)
{
	struct gt_queue *q = &self->q;
	uint64_t end = gt_now_ms() + 3000;
	uint32_t i;

	gt_dev_threaded("g0", true);
	for (i = 0; i < 20000 && gt_now_ms() < end; i++) {
		/* Now and then it is idle, now and then about to be. */
		uint32_t n = 1 + i % 3;

		while (n--) {
			((struct gsotun_record *)gt_reserve(q, 64))->span = 64;
			gt_submit(q, 64, true);
		}
		ASSERT_TRUE(gt_until(load(&q->from_k->cons) == q->prod))
			TH_LOG("round %u: prod %u, cons %u, kick_at %u", i, q->prod,
			       load(&q->from_k->cons), load(&q->from_k->kick_at));
	}
	TH_LOG("%u rounds", i);
	EXPECT_GT(i, 100);
}

/* ---- loops that know nothing ------------------------------------------------------------------ */

/* Send back what came, with addresses and ports swapped. */
static int echo(struct gt_queue *q, const uint8_t *packet, uint32_t len)
{
	uint32_t span = (128 + len + 63) & ~63u;
	struct gsotun_record *rec = (void *)gt_reserve(q, span);
	struct iphdr *ip;
	struct udphdr *udp;
	uint32_t addr;
	uint16_t port;

	if (!rec)
		return -EAGAIN;
	rec->span = span;
	rec->len = len;
	rec->type = GSOTUN_RECORD_PACKET;
	rec->data_off = 128;
	rec->vnet_len = q->a.vnet_len;
	memset(rec + 1, 0, q->a.vnet_len);
	ip = (void *)((uint8_t *)rec + 128);
	memcpy(ip, packet, len);
	udp = (void *)(ip + 1);
	addr = ip->saddr;
	ip->saddr = ip->daddr;
	ip->daddr = addr;
	port = udp->source;
	udp->source = udp->dest;
	udp->dest = port;
	/* No kick. */
	gt_submit(q, span, false);
	return 0;
}

struct naive {
	struct gt_queue *q;
	int stop;
	unsigned long echoed;
};

/*
 * poll, read, release, write: no event index is ever set but what poll() needs, no
 * kick is ever given. Backlog in both rings.
 */
static void *naive_daemon(void *arg)
{
	struct naive *n = arg;
	struct gt_queue *q = n->q;
	uint32_t mask = q->a.ring_bytes[GSOTUN_TO_USER] - 1;

	while (!load(&n->stop)) {
		struct pollfd f = { .fd = q->fd, .events = POLLIN };
		uint32_t prod;

		if (poll(&f, 1, GT_HANG_MS) != 1)
			break;
		prod = load(&q->to_k->prod);
		while (q->cons != prod) {
			const struct gsotun_record *rec = (void *)(q->to_data + (q->cons & mask));

			if (echo(q, (const uint8_t *)rec + rec->data_off, rec->len))
				poll(&f, 1, 1);		/* no room: give the kernel a chance */
			else
				n->echoed++;
			q->cons += rec->span;
		}
		q->to_d->seen = prod;
		store(&q->to_d->cons, q->cons);
	}
	return NULL;
}

/* Such a loop is slow, but it never hangs, with either ring full. */
TEST_F_TIMEOUT(wait, naive_loop, 60)
{
	uint64_t end = gt_now_ms() + 4000;
	struct naive n = { };
	struct gsotun_attach a;
	unsigned long sent = 0, got = 0;
	pthread_t thread;
	char buf[1500] = { };
	struct gt_queue q;
	int sock;

	/* A low limit: the queue is stopped, and started by poll(), all the time. */
	gt_close(&self->q);
	self->q.fd = -1;
	gt_attach_init(&a, self->ifindex, 0);
	a.fill_limit = 8192;
	ASSERT_EQ(gt_attach(&q, self->ifindex, &a), 0);
	n.q = &q;
	pthread_create(&thread, NULL, naive_daemon, &n);
	sock = gt_udp_socket("10.9.0.1", 4001);
	while (gt_now_ms() < end) {
		uint64_t start = gt_now_ms();
		unsigned long before = got;

		while (!gt_send_to(sock, 2, 9, buf, 200 + sent % 1000))
			sent++;
		while (recv(sock, buf, sizeof(buf), 0) > 0)
			got++;
		if (got != before)
			continue;
		/* Nothing moved for long: it hangs. */
		ASSERT_TRUE(gt_until(recv(sock, buf, sizeof(buf), 0) > 0))
			TH_LOG("stuck after %lu sent, %lu echoed, %lu back", sent, n.echoed, got);
		got++;
		EXPECT_LT(gt_now_ms() - start, GT_HANG_MS);
	}
	store(&n.stop, 1);
	gt_send_to(sock, 2, 9, buf, 1);
	pthread_join(thread, NULL);
	TH_LOG("%lu sent, %lu echoed, %lu back", sent, n.echoed, got);
	EXPECT_GT(got, 200);
	close(sock);
	gt_close(&q);
}

TEST_HARNESS_MAIN
