// SPDX-License-Identifier: GPL-2.0
/*
 * abuse.c - what a hostile daemon can write into its rings and do with its file.
 *
 * One case at a time, with its exact consequence; hostile.c does it at random. The
 * device has two queues: 0 is abused, the daemon of 1 must not notice.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "gsotun_test.h"
#include "kselftest_harness.h"

#define RING	GSOTUN_RING_BYTES_MIN
#define load(p)			__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define store(p, v)		__atomic_store_n(p, v, __ATOMIC_RELEASE)

FIXTURE(abuse)
{
	int ifindex;
	int sock;
	struct gt_queue bad;
	struct gt_queue good;
};

static int attach_to(struct gt_queue *q, int ifindex, uint32_t queue)
{
	struct gsotun_attach a;

	gt_attach_init(&a, ifindex, GSOTUN_OFFLOAD_CSUM | GSOTUN_OFFLOAD_TSO4 |
		       GSOTUN_OFFLOAD_USO);
	a.queue = queue;
	return gt_attach(q, ifindex, &a);
}

FIXTURE_SETUP(abuse)
{
	close(gt_unshare_net());
	gt_no_ipv6();
	self->ifindex = gt_dev_add("g0", 2);
	gt_dev_start(self->ifindex);
	ASSERT_EQ(attach_to(&self->bad, self->ifindex, 0), 0);
	ASSERT_EQ(attach_to(&self->good, self->ifindex, 1), 0);
	self->sock = gt_udp_socket("10.9.0.1", 4000);
}

FIXTURE_TEARDOWN(abuse)
{
	close(self->sock);
	gt_close(&self->bad);
	gt_close(&self->good);
}

static uint32_t udp_in(uint8_t *packet)
{
	return gt_udp4(packet, "10.9.0.2", "10.9.0.1", 1, 4000, "hello", 5);
}

static bool arrives(int sock)
{
	char buf[2048];

	return gt_until(recv(sock, buf, sizeof(buf), 0) == 5);
}

/* A packet through a queue's from_user ring. */
static bool injects(struct gt_queue *q, int sock)
{
	uint8_t packet[100];

	/* What others left there must not take the room. */
	while (recv(sock, packet, sizeof(packet), 0) >= 0)
		;
	return !gt_inject(q, packet, udp_in(packet), NULL) && arrives(sock);
}

/* Packets of many flows, until one comes out of this queue. */
static bool receives(struct gt_queue *q)
{
	int sock = gt_udp_socket(NULL, 0), port = 1000;
	bool ok;

	ok = gt_until((gt_send_to(sock, 2, port++, "hello", 5), gt_peek(q, NULL)));
	gt_drain(q);
	close(sock);
	return ok;
}

static bool works(struct gt_queue *q, int sock)
{
	return injects(q, sock) && receives(q);
}

static struct gsotun_record *record_at(struct gt_queue *q, uint32_t pos)
{
	return (void *)(q->from_data + (pos & (q->a.ring_bytes[GSOTUN_FROM_USER] - 1)));
}

/*
 * The queue was given up, for the reason that it is corrupt, in @ring: everybody who
 * looks can see it, the other queue goes on, and a new file gets the queue.
 */
static bool given_up(struct gt_queue *q, struct gt_queue *good, int ifindex, int sock, int ring,
		     uint64_t corruptions)
{
	struct pollfd p = { .fd = q->fd };
	struct gt_queue_info info;
	struct gsotun_attach a;
	uint32_t generation = q->a.generation;

#define MUST(what) do {								\
	if (!(what)) {								\
		printf("# not given up as it should: %s\n", #what);		\
		return false;							\
	}									\
} while (0)
	MUST(gt_until(load(&q->from_k->status) & GSOTUN_STATUS_DETACHED));
	MUST(load(&q->to_k->status) == (GSOTUN_STATUS_DETACHED | GSOTUN_STATUS_CORRUPT));
	MUST(load(&q->from_k->status) == (GSOTUN_STATUS_DETACHED | GSOTUN_STATUS_CORRUPT));
	MUST(poll(&p, 1, GT_HANG_MS) == 1 && p.revents == (POLLERR | POLLHUP));
	MUST(gt_kick_fd(q->fd, GSOTUN_KICK_FROM_USER) == -ENOTCONN);
	MUST(!gt_query_fd(q->fd, &a) && a.state == GSOTUN_STATE_DETACHED);
	gt_attach_init(&a, ifindex, 0);
	MUST(gt_attach_fd(q->fd, &a) == -ESTALE);
	MUST(!gt_queue_get(ifindex, 0, &info) && info.attached == 0);
	MUST(info.ring[ring].corruptions == corruptions);
	MUST(works(good, sock));
	gt_close(q);
	MUST(!attach_to(q, ifindex, 0));
	MUST(q->a.generation == generation + 1);
	MUST(works(q, sock));
#undef MUST
	return true;
}

/* ---- positions --------------------------------------------------------------------- */

/* K31: a producer that moves where it cannot: too far, backwards, off the grid. */
TEST_F_TIMEOUT(abuse, producer_position, 60)
{
	static const int64_t moves[] = {
		1, 63, 65, -1, -64, -128, RING + 64, 2 * (int64_t)RING, RING + 1, 0x7fffffff,
		0x80000000, -(int64_t)RING, -(int64_t)RING - 64,
	};
	struct gt_queue *q = &self->bad;
	int i, warm;

	for (i = 0; i < ARRAY_SIZE(moves); i++) {
		/* From the start, and after some traffic. */
		for (warm = i % 2; warm > 0; warm--)
			ASSERT_TRUE(injects(q, self->sock));
		store(&q->from_d->prod, q->prod + (uint32_t)moves[i]);
		gt_kick_fd(q->fd, GSOTUN_KICK_FROM_USER);
		EXPECT_TRUE(given_up(q, &self->good, self->ifindex, self->sock, GSOTUN_FROM_USER,
				     i + 1))
			TH_LOG("move by %lld", (long long)moves[i]);
	}
}

/* The whole ring is the most that may be submitted, and it may. */
TEST_F(abuse, producer_full)
{
	struct gt_queue *q = &self->bad;
	int i;

	for (i = 0; i < 5; i++) {
		record_at(q, q->prod)->span = RING;
		record_at(q, q->prod)->type = GSOTUN_RECORD_SKIP;
		gt_submit(q, RING, true);
		EXPECT_TRUE(gt_until(load(&q->from_k->cons) == q->prod));
	}
	EXPECT_TRUE(works(q, self->sock));
}

static void fill_up(struct gt_queue *q, int ifindex)
{
	struct gt_queue_info info;
	struct gt_flood flood;

	gt_flood_start(&flood, 1000);
	if (!gt_until(!gt_queue_get(ifindex, 0, &info) && info.stopped == 1))
		gt_die("ring does not get full");
	gt_flood_stop(&flood);
	(void)q;
}

/* K31: a consumer that has read what was never written, or takes back a release. */
TEST_F_TIMEOUT(abuse, consumer_position, 60)
{
	static const int64_t moves[] = { 64, RING, 1, -63, 0x80000000, -0x7fffffc0 };
	struct gt_queue *q = &self->bad;
	int i, how;

	for (i = 0; i < ARRAY_SIZE(moves); i++) {
		how = i % 3;
		fill_up(q, self->ifindex);
		gt_drain(&self->good);
		/* Relative to the end of what was written. */
		store(&q->to_d->cons, load(&q->to_k->prod) + (uint32_t)moves[i]);
		if (how == 0)
			gt_kick_fd(q->fd, GSOTUN_KICK_TO_USER);
		else if (how == 1)
			poll(&(struct pollfd) { q->fd, POLLIN, 0 }, 1, 0);
		else	/* nothing: who has it moved must be told by somebody */
			gt_kick_fd(q->fd, GSOTUN_KICK_TO_USER | GSOTUN_KICK_FROM_USER);
		EXPECT_TRUE(given_up(q, &self->good, self->ifindex, self->sock, GSOTUN_TO_USER,
				     i + 1))
			TH_LOG("move by %lld", (long long)moves[i]);
	}
}

/* The same while there is room: found as soon as it would matter, not used before. */
TEST_F_TIMEOUT(abuse, consumer_position_early, 60)
{
	static const uint32_t values[] = { RING, 1, (uint32_t)-64, 0x80000000 };
	struct gt_queue *q = &self->bad;
	struct gt_flood flood;
	int i;

	for (i = 0; i < ARRAY_SIZE(values); i++) {
		store(&q->to_d->cons, values[i]);
		gt_flood_start(&flood, 1000);
		EXPECT_TRUE(gt_until((gt_drain(&self->good),
				      load(&q->to_k->status) & GSOTUN_STATUS_DETACHED)))
			TH_LOG("%u", values[i]);
		gt_flood_stop(&flood);
		EXPECT_TRUE(given_up(q, &self->good, self->ifindex, self->sock, GSOTUN_TO_USER,
				     i + 1))
			TH_LOG("%u", values[i]);
	}
}

/* A release that is taken back: backwards from what the kernel has accepted. */
TEST_F(abuse, consumer_backwards)
{
	struct gt_queue *q = &self->bad;
	uint32_t accepted;

	fill_up(q, self->ifindex);
	gt_drain(&self->good);
	gt_drain(q);
	ASSERT_TRUE(receives(q));
	accepted = q->cons;
	fill_up(q, self->ifindex);
	gt_drain(&self->good);
	store(&q->to_d->cons, accepted - RING);
	gt_kick_fd(q->fd, GSOTUN_KICK_TO_USER);
	EXPECT_TRUE(given_up(q, &self->good, self->ifindex, self->sock, GSOTUN_TO_USER, 1));
}

/* Words that only decide what poll() says can be anything. */
TEST_F(abuse, wait_words)
{
	static const uint32_t words[] = { 1, 63, 0x7fffffff, 0x80000000, 0xffffffff, RING + 1 };
	struct gt_queue *q = &self->bad;
	int i;

	for (i = 0; i < ARRAY_SIZE(words); i++) {
		q->to_d->seen = words[i];
		q->to_d->claim = words[i];
		q->from_d->room_at = words[i];
		q->to_d->flags = words[i] & ~GSOTUN_DAEMON_NO_WAKE;
		q->from_d->flags = words[i] & ~GSOTUN_DAEMON_NO_WAKE;
		memset(q->to_d->resv, words[i], sizeof(q->to_d->resv));
		memset(q->from_d->resv, words[i], sizeof(q->from_d->resv));
		memset((char *)q->to_d + 64, words[i], 4096 - 64);
		poll(&(struct pollfd) { q->fd, POLLIN | POLLOUT, 0 }, 1, 0);
		EXPECT_TRUE(works(q, self->sock));
	}
}

/* ---- records ----------------------------------------------------------------------- */

/* A span from which there is no way on. */
TEST_F_TIMEOUT(abuse, span, 60)
{
	static const uint32_t spans[] = {
		0, 1, 32, 63, 65, 127, 320, RING, RING + 64, 0x80000000, 0xffffffc0, 0xffffffff,
	};
	struct gt_queue *q = &self->bad;
	int i;

	for (i = 0; i < ARRAY_SIZE(spans); i++) {
		uint8_t packet[100];
		struct gsotun_record *rec;

		/* Whether it would be skipped or not: 256 bytes are submitted. */
		gt_reserve(q, 256);
		ASSERT_EQ(gt_inject(q, packet, udp_in(packet), NULL), 0);
		ASSERT_TRUE(arrives(self->sock));
		rec = (void *)gt_reserve(q, 256);
		rec->span = spans[i];
		rec->type = i % 2 ? GSOTUN_RECORD_SKIP : GSOTUN_RECORD_PACKET;
		gt_submit(q, 256, true);
		EXPECT_TRUE(given_up(q, &self->good, self->ifindex, self->sock, GSOTUN_FROM_USER,
				     i + 1))
			TH_LOG("span %u", spans[i]);
	}
}

/* Any other nonsense costs the record, is counted by reason, and the next one passes. */
TEST_F_TIMEOUT(abuse, record_header, 60)
{
	/* As it would be right: 256 bytes, packet of 33 at 128. */
	static const struct {
		uint32_t len;
		uint16_t type, flags, data_off, vnet_len, resv;
		int reason;
	} cases[] = {
		{ 33, 1, 0, 128, 12, 0, GSOTUN_DROP_NONE },
		{ 33, 2, 0, 128, 12, 0, GSOTUN_DROP_RECORD },
		{ 33, 3, 0, 128, 12, 0, GSOTUN_DROP_RECORD },
		{ 33, 0x100, 0, 128, 12, 0, GSOTUN_DROP_RECORD },
		{ 33, 0xffff, 0, 128, 12, 0, GSOTUN_DROP_RECORD },
		{ 33, 1, 1, 128, 12, 0, GSOTUN_DROP_RECORD },
		{ 33, 1, 2, 128, 12, 0, GSOTUN_DROP_RECORD },
		{ 33, 1, 0x8000, 128, 12, 0, GSOTUN_DROP_RECORD },
		{ 33, 1, 0, 128, 12, 1, GSOTUN_DROP_RECORD },
		{ 33, 1, 0, 128, 0, 0, GSOTUN_DROP_RECORD },
		{ 33, 1, 0, 128, 10, 0, GSOTUN_DROP_RECORD },
		{ 33, 1, 0, 128, 13, 0, GSOTUN_DROP_RECORD },
		{ 33, 1, 0, 128, 24, 0, GSOTUN_DROP_RECORD },
		{ 33, 1, 0, 128, 0xffff, 0, GSOTUN_DROP_RECORD },
		{ 33, 1, 0, 0, 12, 0, GSOTUN_DROP_RECORD },
		{ 33, 1, 0, 44, 12, 0, GSOTUN_DROP_RECORD },
		{ 33, 1, 0, 55, 12, 0, GSOTUN_DROP_RECORD },
		{ 33, 1, 0, 56, 12, 0, GSOTUN_DROP_NONE },
		{ 33, 1, 0, 57, 12, 0, GSOTUN_DROP_NONE },
		{ 33, 1, 0, 223, 12, 0, GSOTUN_DROP_NONE },
		{ 33, 1, 0, 224, 12, 0, GSOTUN_DROP_LENGTH },
		{ 33, 1, 0, 255, 12, 0, GSOTUN_DROP_LENGTH },
		{ 33, 1, 0, 256, 12, 0, GSOTUN_DROP_LENGTH },
		{ 0, 1, 0, 256, 12, 0, GSOTUN_DROP_SHORT },
		{ 0, 1, 0, 257, 12, 0, GSOTUN_DROP_LENGTH },
		{ 33, 1, 0, 0xffff, 12, 0, GSOTUN_DROP_LENGTH },
		{ 0xffffffff, 1, 0, 0xffff, 12, 0, GSOTUN_DROP_LENGTH },
		{ 0, 1, 0, 128, 12, 0, GSOTUN_DROP_SHORT },
		{ 1, 1, 0, 128, 12, 0, GSOTUN_DROP_SHORT },
		{ 19, 1, 0, 128, 12, 0, GSOTUN_DROP_SHORT },
		{ 32, 1, 0, 128, 12, 0, GSOTUN_DROP_IP_LENGTH },
		{ 34, 1, 0, 128, 12, 0, GSOTUN_DROP_IP_LENGTH },
		{ 128, 1, 0, 128, 12, 0, GSOTUN_DROP_IP_LENGTH },
		{ 129, 1, 0, 128, 12, 0, GSOTUN_DROP_LENGTH },
		/* K43 */
		{ 65535, 1, 0, 128, 12, 0, GSOTUN_DROP_LENGTH },
		{ 65536, 1, 0, 128, 12, 0, GSOTUN_DROP_LENGTH },
		{ 65546, 1, 0, 128, 12, 0, GSOTUN_DROP_LENGTH },
		{ 70000, 1, 0, 128, 12, 0, GSOTUN_DROP_LENGTH },
		{ 0x80000000, 1, 0, 128, 12, 0, GSOTUN_DROP_LENGTH },
		{ 0xffffffff, 1, 0, 128, 12, 0, GSOTUN_DROP_LENGTH },
		{ (uint32_t)-128, 1, 0, 128, 12, 0, GSOTUN_DROP_LENGTH },
		{ (uint32_t)-95, 1, 0, 128, 12, 0, GSOTUN_DROP_LENGTH },
	};
	struct gt_queue *q = &self->bad;
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct gsotun_record *rec = (void *)gt_reserve(q, 256);
		struct gt_queue_info before, after;
		uint8_t packet[100];
		uint32_t len = udp_in(packet);
		int reason = cases[i].reason;

		ASSERT_NE(rec, NULL);
		ASSERT_EQ(len, 33);
		ASSERT_EQ(gt_queue_get(self->ifindex, 0, &before), 0);
		memset(rec, 0, 256);
		if (cases[i].data_off + len <= 256)
			memcpy((uint8_t *)rec + cases[i].data_off, packet, len);
		memset(rec, 0, sizeof(*rec) + 12);
		rec->span = 256;
		rec->len = cases[i].len;
		rec->type = cases[i].type;
		rec->flags = cases[i].flags;
		rec->data_off = cases[i].data_off;
		rec->vnet_len = cases[i].vnet_len;
		rec->resv = cases[i].resv;
		gt_submit(q, 256, true);
		if (!reason)
			EXPECT_TRUE(arrives(self->sock))
				TH_LOG("case %d does not arrive", i);
		EXPECT_TRUE(injects(q, self->sock))
			TH_LOG("after case %d", i);
		ASSERT_EQ(gt_queue_get(self->ifindex, 0, &after), 0);
		EXPECT_EQ(after.drop_sum - before.drop_sum, !!reason)
			TH_LOG("case %d", i);
		if (reason)
			EXPECT_EQ(after.drops[reason] - before.drops[reason], 1)
				TH_LOG("case %d: another reason", i);
		EXPECT_EQ(after.ring[GSOTUN_FROM_USER].corruptions, 0);
	}
}

/* The largest offset, the largest length, at the end of the ring: all of it is ring. */
TEST_F(abuse, far_ends)
{
	struct gt_queue *q = &self->bad;
	struct gsotun_record *rec;
	struct gt_queue_info info;
	int i;

	/* To the last 64 bytes before the seam. */
	record_at(q, q->prod)->span = RING - 64;
	record_at(q, q->prod)->type = GSOTUN_RECORD_SKIP;
	gt_submit(q, RING - 64, true);
	ASSERT_TRUE(gt_until(load(&q->from_k->cons) == q->prod));
	for (i = 0; i < 3; i++) {
		rec = (void *)gt_reserve(q, RING);
		rec->span = 131072 + 64;
		rec->len = 65535;
		rec->type = GSOTUN_RECORD_PACKET;
		rec->data_off = 65535;
		rec->vnet_len = 12;
		memset((uint8_t *)rec + 65535, 0x45, 65535);
		gt_submit(q, rec->span, true);
		ASSERT_TRUE(gt_until(load(&q->from_k->cons) == q->prod));
	}
	ASSERT_EQ(gt_queue_get(self->ifindex, 0, &info), 0);
	EXPECT_EQ(info.drop_sum, 3);
	EXPECT_TRUE(works(q, self->sock));
}

/*
 * K38: positions pass 2^32. They cannot be set, so 8,192 records as large as the ring
 * lead there, with real packets all around.
 */
TEST_F_TIMEOUT(abuse, wrap, 60)
{
	struct gt_queue *q = &self->bad;
	uint64_t total = 0;
	bool wrapped = false;

	while (total < (1ull << 32) + GT_MIB(64)) {
		uint32_t old = q->prod;
		/* Near the wrap small steps, or it would always lie at a seam. */
		uint32_t span = q->prod > (uint32_t)-GT_MIB(2) ? 65536 - 192 : RING;

		if (span != RING)
			ASSERT_TRUE(injects(q, self->sock));
		record_at(q, q->prod)->span = span;
		record_at(q, q->prod)->type = GSOTUN_RECORD_SKIP;
		gt_submit(q, span, true);
		ASSERT_TRUE(gt_until(load(&q->from_k->cons) == q->prod));
		total += q->prod - old;
		wrapped |= q->prod < old;
		if (q->prod < old)
			ASSERT_TRUE(injects(q, self->sock));
	}
	EXPECT_TRUE(wrapped);
	EXPECT_TRUE(works(q, self->sock));
	EXPECT_EQ(load(&q->from_k->status), GSOTUN_STATUS_UP);
}

/* ---- memory that changes ------------------------------------------------------------------ */

struct flipper {
	pthread_t thread;
	struct gt_queue *q;
	int stop;
};

/* Change everything but span that the kernel may be reading. */
static void *flip(void *arg)
{
	struct flipper *f = arg;
	struct gt_queue *q = f->q;
	uint32_t n = 0;

	while (!load(&f->stop)) {
		uint32_t cons = load(&q->from_k->cons), i;

		for (i = 0; i < 64; i++) {
			struct gsotun_record *rec = record_at(q, cons + i % 8 * 2048);
			volatile uint8_t *vnet = (void *)(rec + 1);
			struct iphdr *ip = (void *)((uint8_t *)rec + 128);

			switch (n++ % 9) {
			case 0:
				*(volatile uint32_t *)&rec->len = n & 16 ? 64 : 65535;
				break;
			case 1:
				*(volatile uint16_t *)&rec->data_off = n & 32 ? 128 : 65535;
				break;
			case 2:
				vnet[4] = n & 64 ? 1 : 0xa8;	/* gso_size */
				break;
			case 3:
				vnet[1] = n & 64 ? 5 : 0;	/* gso_type */
				break;
			case 4:
				vnet[6] = n;			/* csum_start */
				break;
			case 5:
				*(volatile uint16_t *)&ip->tot_len = n & 32 ? htons(1500) : n;
				break;
			case 6:
				*((volatile uint8_t *)ip) = n & 64 ? 0x45 : 0x4f;
				break;
			case 7:
				*(volatile uint16_t *)((uint8_t *)ip + 24) = n & 32 ? htons(1480) : n;
				break;
			case 8:
				/* All right again, or nothing would ever pass. */
				rec->len = 1500;
				rec->data_off = 128;
				vnet[1] = 5;
				vnet[4] = 0xa8;
				vnet[6] = 20;
				ip->tot_len = htons(1500);
				*(uint8_t *)ip = 0x45;
				*(uint16_t *)((uint8_t *)ip + 24) = htons(1480);
				break;
			}
		}
	}
	return NULL;
}

/*
 * K34: what was checked is what is used. Whatever another thread writes meanwhile,
 * every packet that comes out agrees with itself: its length is that of its header.
 */
TEST_F_TIMEOUT(abuse, flip, 60)
{
	static const char payload[1472];
	struct sockaddr_ll sll = {
		.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = self->ifindex,
	};
	int tap = socket(AF_PACKET, SOCK_DGRAM | SOCK_NONBLOCK, htons(ETH_P_ALL));
	struct gt_queue *q = &self->bad;
	struct flipper f = { .q = q };
	unsigned long out = 0, wrong = 0, records = 0;
	uint64_t end = gt_now_ms() + 6000;
	struct gt_queue_info info;
	uint8_t buf[65536];
	int n;

	ASSERT_EQ(bind(tap, (struct sockaddr *)&sll, sizeof(sll)), 0);
	pthread_create(&f.thread, NULL, flip, &f);
	while (gt_now_ms() < end) {
		struct gsotun_record *rec = (void *)gt_reserve(q, 2048);
		static const uint8_t vnet[12] = { 1, 5, 28, 0, 0xa8, 0, 20, 0, 6, 0 };

		while ((n = recv(tap, buf, sizeof(buf), MSG_TRUNC)) > 0) {
			out++;
			if (n < 20 || n != ntohs(((struct iphdr *)buf)->tot_len) ||
			    ((struct iphdr *)buf)->version != 4)
				wrong++;
		}
		if (!rec) {
			poll(&(struct pollfd) { q->fd, POLLOUT, 0 }, 1, 1);
			continue;
		}
		rec->span = 2048;
		rec->len = 1500;
		rec->type = GSOTUN_RECORD_PACKET;
		rec->data_off = 128;
		rec->vnet_len = 12;
		memcpy(rec + 1, vnet, sizeof(vnet));
		gt_udp4((uint8_t *)rec + 128, "10.9.0.2", "10.9.0.1", 1, 4000, payload,
			sizeof(payload));
		records++;
		gt_submit(q, 2048, records % 8 == 0);
	}
	store(&f.stop, 1);
	pthread_join(f.thread, NULL);
	ASSERT_EQ(gt_queue_get(self->ifindex, 0, &info), 0);
	TH_LOG("%lu records, %lu packets out, %llu refused", records, out,
	       (unsigned long long)info.drop_sum);
	EXPECT_EQ(wrong, 0);
	EXPECT_GT(out, 100);
	EXPECT_GT(info.drop_sum, 100);
	EXPECT_EQ(load(&q->from_k->status), GSOTUN_STATUS_UP);
	EXPECT_TRUE(works(&self->good, self->sock));
	close(tap);
}

/* A span that changes is the one word that can end it; then it ends properly. */
static void *flip_span(void *arg)
{
	struct flipper *f = arg;
	uint32_t n = 0;

	while (!load(&f->stop))
		*(volatile uint32_t *)&record_at(f->q, load(&f->q->from_k->cons))->span =
			n++ & 1 ? 64 : 0x80000040;
	return NULL;
}

TEST_F_TIMEOUT(abuse, flip_span, 60)
{
	struct gt_queue *q = &self->bad;
	struct flipper f = { .q = q };
	uint64_t corruptions = 0;
	int round;

	for (round = 0; round < 10; round++) {
		struct gt_queue_info info;
		uint64_t end = gt_now_ms() + 300;

		f.stop = 0;
		pthread_create(&f.thread, NULL, flip_span, &f);
		while (gt_now_ms() < end && !(load(&q->from_k->status) & GSOTUN_STATUS_DETACHED)) {
			struct gsotun_record *rec = (void *)gt_reserve(q, 64);

			if (rec) {
				rec->span = 64;
				gt_submit(q, 64, true);
			} else {
				gt_kick_fd(q->fd, GSOTUN_KICK_FROM_USER);
			}
		}
		store(&f.stop, 1);
		pthread_join(f.thread, NULL);
		if (!(load(&q->from_k->status) & GSOTUN_STATUS_DETACHED))
			continue;
		ASSERT_EQ(gt_queue_get(self->ifindex, 0, &info), 0);
		corruptions++;
		EXPECT_EQ(info.ring[GSOTUN_FROM_USER].corruptions, corruptions);
		gt_close(q);
		ASSERT_EQ(attach_to(q, self->ifindex, 0), 0);
	}
	EXPECT_TRUE(works(&self->good, self->sock));
}

/* ---- floods -------------------------------------------------------------------------------- */

/* A thread on one CPU that notes how long it ever had to wait for it. */
struct heart {
	pthread_t thread;
	int cpu;
	int stop;
	uint64_t longest_ms;
};

static void *beat(void *arg)
{
	struct heart *h = arg;
	uint64_t last = gt_now_ms();
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(h->cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	while (!load(&h->stop)) {
		uint64_t now = gt_now_ms();

		if (now - last > h->longest_ms)
			h->longest_ms = now - last;
		last = now;
		sched_yield();
	}
	return NULL;
}

/* As many records as there is room for, all the time; @type says of what kind. */
static void flood_records(struct gt_queue *q, int type, bool kick)
{
	for (;;) {
		uint32_t size = q->a.ring_bytes[GSOTUN_FROM_USER];

		while (q->prod + 64 - load(&q->from_k->cons) <= size) {
			struct gsotun_record *rec = record_at(q, q->prod);

			rec->span = 64;
			rec->type = type;
			q->prod += 64;
			if (q->prod % 4096 == 0)
				store(&q->from_d->prod, q->prod);
		}
		store(&q->from_d->prod, q->prod);
		if (kick)
			gt_kick_fd(q->fd, GSOTUN_KICK_FROM_USER);
		else
			poll(&(struct pollfd) { q->fd, POLLOUT, 0 }, 1, 0);
	}
}

/* Records that carry nothing cost their sender: the others get CPU and their traffic. */
TEST_F_TIMEOUT(abuse, floods, 60)
{
	int kind, i;

	for (kind = 0; kind < 4; kind++) {
		uint64_t end = gt_now_ms() + 1500;
		struct heart h[2] = { };
		struct gt_queue_info info;
		unsigned int passed = 0;
		pid_t pid = gt_fork();

		if (!pid) {
			/* Its own attachment: mappings are not inherited. */
			struct gt_queue q;

			gt_close(&self->bad);
			while (attach_to(&q, self->ifindex, 0))
				gt_sleep_ms(1);
			flood_records(&q, kind % 2 ? 0xffff : GSOTUN_RECORD_SKIP, kind / 2);
		}
		gt_close(&self->bad);
		for (i = 0; i < 2; i++) {
			h[i].cpu = i;
			pthread_create(&h[i].thread, NULL, beat, &h[i]);
		}
		while (gt_now_ms() < end && works(&self->good, self->sock))
			passed++;
		for (i = 0; i < 2; i++) {
			store(&h[i].stop, 1);
			pthread_join(h[i].thread, NULL);
			EXPECT_LT(h[i].longest_ms, 2000)
				TH_LOG("kind %d: CPU %d was held for %llu ms", kind, i,
				       (unsigned long long)h[i].longest_ms);
		}
		ASSERT_EQ(gt_queue_get(self->ifindex, 0, &info), 0);
		TH_LOG("kind %d: %llu records, %u round trips beside, CPUs held for %llu, %llu ms",
		       kind, (unsigned long long)(info.ring[1].skips + info.drop_sum), passed,
		       (unsigned long long)h[0].longest_ms, (unsigned long long)h[1].longest_ms);
		EXPECT_GT(info.ring[1].skips + info.drop_sum, 1000);
		EXPECT_GT(passed, 5);
		kill(pid, SIGKILL);
		EXPECT_EQ(gt_wait_child(pid), 128 + SIGKILL);
		ASSERT_EQ(attach_to(&self->bad, self->ifindex, 0), 0);
	}
}

/* ---- the file ---------------------------------------------------------------------------- */

/* Every system call that takes a file, on one that is attached: no effect, no crash. */
TEST_F(abuse, file_operations)
{
	int fd = self->bad.fd, pipes[2], again, null = open("/dev/null", O_RDWR);
	char buf[64] = { };

	ASSERT_EQ(pipe(pipes), 0);
	EXPECT_EQ(read(fd, buf, sizeof(buf)), -1);
	EXPECT_EQ(write(fd, buf, sizeof(buf)), -1);
	EXPECT_EQ(pread(fd, buf, sizeof(buf), 0), -1);
	EXPECT_EQ(pwrite(fd, buf, sizeof(buf), 0), -1);
	EXPECT_EQ(lseek(fd, 1, SEEK_SET), -1);
	EXPECT_EQ(ftruncate(fd, 4096), -1);
	EXPECT_EQ(fallocate(fd, 0, 0, 4096), -1);
	EXPECT_EQ(fsync(fd), -1);
	fdatasync(fd);
	sync_file_range(fd, 0, 4096, 7);
	readahead(fd, 0, 1 << 20);
	posix_fadvise(fd, 0, 1 << 20, POSIX_FADV_WILLNEED);
	posix_fadvise(fd, 0, 1 << 20, POSIX_FADV_DONTNEED);
	EXPECT_EQ(sendfile(null, fd, NULL, 4096), -1);
	EXPECT_EQ(sendfile(fd, null, NULL, 4096), -1);
	EXPECT_EQ(splice(fd, NULL, pipes[1], NULL, 4096, SPLICE_F_NONBLOCK), -1);
	EXPECT_EQ(copy_file_range(fd, NULL, null, NULL, 4096, 0), -1);
	flock(fd, LOCK_EX | LOCK_NB);
	fcntl(fd, F_SETFL, O_NONBLOCK | O_ASYNC | O_DIRECT);
	fcntl(fd, F_SETLEASE, F_WRLCK);
	fcntl(fd, F_SETOWN, getpid());
	madvise(self->bad.to_data, 4096, MADV_REMOVE);
	/* Opened anew by its link it is a new file, not attached. */
	snprintf(buf, sizeof(buf), "/proc/self/fd/%d", fd);
	again = open(buf, O_RDWR);
	ASSERT_GE(again, 0);
	EXPECT_EQ(gt_kick_fd(again, GSOTUN_KICK_TO_USER), -ENOTCONN);
	close(again);
	close(null);
	close(pipes[0]);
	close(pipes[1]);
	EXPECT_TRUE(works(&self->bad, self->sock));
}

/* Every command of every kind, with arguments of every kind. */
TEST_F(abuse, ioctls)
{
	static uint8_t page[4096];
	const unsigned long args[] = {
		0, 1, 3, 4, ~0ul, 1ul << 32, (unsigned long)page, (unsigned long)self->bad.to_data,
		(unsigned long)self->bad.to_k, 0x8000000000000000ul,
	};
	int nr, dir, i;

	memset(page, 0xff, sizeof(page));
	for (dir = 0; dir < 4; dir++)
		for (nr = 0; nr < 256; nr++)
			for (i = 0; i < ARRAY_SIZE(args); i++)
				ioctl(self->bad.fd, _IOC(dir, GSOTUN_IOC_MAGIC, nr, dir * 376),
				      args[i]);
	for (nr = 0x5400; nr < 0x5480; nr++)
		ioctl(self->bad.fd, nr, page);
	/* The argument in the rings themselves. */
	gt_attach_init((void *)self->bad.to_data, self->ifindex, 0);
	EXPECT_EQ(gt_attach_fd(self->bad.fd, (void *)self->bad.to_data), -EBUSY);
	EXPECT_EQ(gt_query_fd(self->bad.fd, (void *)self->bad.from_data), 0);
	EXPECT_EQ(((struct gsotun_attach *)self->bad.from_data)->state, GSOTUN_STATE_ATTACHED);
	EXPECT_TRUE(works(&self->good, self->sock));
}

struct worker {
	pthread_t thread;
	int *fd;
	int *stop;
	int what;
	struct gsotun_attach a;
};

/* Something with a file that others open and close under our hands. */
static void *work(void *arg)
{
	struct worker *w = arg;
	uint32_t n = 0;

	while (!load(w->stop)) {
		int fd = load(w->fd);
		struct gsotun_attach a;
		void *p;

		switch (w->what) {
		case 0:
			poll(&(struct pollfd) { fd, POLLIN | POLLOUT, 0 }, 1, 1);
			break;
		case 1:
			gt_kick_fd(fd, n++ % 4);
			break;
		case 2:
			n++;
			p = mmap(NULL, w->a.region[n % 6].length, PROT_READ, MAP_SHARED, fd,
				 w->a.region[n % 6].offset);
			if (p != MAP_FAILED)
				munmap(p, w->a.region[n % 6].length);
			break;
		case 3:
			gt_query_fd(fd, &a);
			break;
		}
	}
	return NULL;
}

/* Files opened, attached and closed while others poll, kick, map and query them. */
TEST_F_TIMEOUT(abuse, close_under_use, 60)
{
	uint64_t end = gt_now_ms() + 3000;
	int fd = -1, stop = 0, i, round;
	struct worker w[4];

	for (i = 0; i < 4; i++) {
		w[i] = (struct worker) { .fd = &fd, .stop = &stop, .what = i, .a = self->bad.a };
		pthread_create(&w[i].thread, NULL, work, &w[i]);
	}
	gt_close(&self->bad);
	for (round = 0; gt_now_ms() < end; round++) {
		struct gsotun_attach a;
		int new = gt_open();

		ASSERT_GE(new, 0);
		store(&fd, new);
		gt_attach_init(&a, self->ifindex, 0);
		a.queue = 0;
		/* A mapping of a worker may still hold the last one's attachment. */
		EXPECT_TRUE(gt_until(gt_attach_fd(new, &a) != -EBUSY));
		if (round % 4 == 0)
			gt_sleep_ms(2);
		close(new);
	}
	store(&stop, 1);
	for (i = 0; i < 4; i++)
		pthread_join(w[i].thread, NULL);
	TH_LOG("%d rounds", round);
	EXPECT_GT(round, 5);
	ASSERT_TRUE(gt_until(attach_to(&self->bad, self->ifindex, 0) == 0));
	EXPECT_TRUE(works(&self->bad, self->sock));
	EXPECT_TRUE(works(&self->good, self->sock));
}

/* Without close-on-exec another program inherits the queue, and holds it to its end. */
TEST_F(abuse, fork_and_exec)
{
	int pipes[2];
	struct gt_link l;
	pid_t pid;

	ASSERT_EQ(pipe(pipes), 0);
	fcntl(self->bad.fd, F_SETFD, 0);
	pid = gt_fork();
	if (!pid) {
		dup2(pipes[0], 0);
		close(pipes[1]);
		execlp("cat", "cat", NULL);
		_exit(1);
	}
	close(pipes[0]);
	gt_close(&self->bad);
	ASSERT_EQ(gt_link_get(self->ifindex, &l), 0);
	EXPECT_EQ(l.attached, 2);
	EXPECT_TRUE(works(&self->good, self->sock));
	close(pipes[1]);
	EXPECT_EQ(gt_wait_child(pid), 0);
	EXPECT_TRUE(gt_until(!gt_link_get(self->ifindex, &l) && l.attached == 1));
	ASSERT_EQ(attach_to(&self->bad, self->ifindex, 0), 0);
}

TEST_HARNESS_MAIN
