// SPDX-License-Identifier: GPL-2.0
/*
 * hostile.c - daemons that write anything at any time, and a good one beside them.
 *
 * usage: hostile [SECONDS [SEED]]
 *
 * Processes attach to queues of two devices, write valid, nearly valid and random
 * records, let threads change them while the kernel reads, move positions to where
 * they must not be, call everything with anything, and die in the middle of it.
 * Meanwhile one device goes up and down, through namespaces and away. Invariant:
 * the kernel does not complain, and the good daemon on queue 0 of the other device
 * goes on receiving and injecting throughout.
 *
 * What is written follows from the seed; the interleaving does not.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gsotun_test.h"

#define SECONDS_DEFAULT	12
#define DAEMONS		3
#define ROUND_MS	40

/* Shared by all processes. */
struct shared {
	atomic_ulong records;		/* written by hostile producers */
	atomic_ulong rounds;
	atomic_ulong attached;
	atomic_int victim;		/* ifindex of the device that comes and goes */
};

static struct shared *shared;

/* ---- numbers that follow from a seed ---------------------------------------- */

struct rnd {
	uint64_t s;
};

static uint32_t rnd(struct rnd *r)
{
	r->s ^= r->s << 13;
	r->s ^= r->s >> 7;
	r->s ^= r->s << 17;
	return r->s >> 16;
}

static uint32_t below(struct rnd *r, uint32_t n)
{
	return rnd(r) % n;
}

/* Borders first: most faults sit there. */
static uint32_t nasty(struct rnd *r)
{
	static const uint32_t words[] = {
		0, 1, 20, 40, 44, 54, 56, 63, 64, 65, 127, 128, 255, 256, 511, 512, 513, 1448,
		1500, 4095, 4096, 32767, 32768, 65514, 65515, 65534, 65535, 65536, 65537,
		0x7fffffc0, 0x7fffffff, 0x80000000, 0x80000040, 0xffffffc0, 0xffffffff,
	};

	return below(r, 4) ? words[below(r, sizeof(words) / sizeof(*words))] : rnd(r);
}

/* ---- one hostile daemon ------------------------------------------------------- */

struct daemon {
	struct gt_queue q;
	atomic_bool stop;
	uint64_t seed;
};

/* A superpacket that passes, to be spoiled later. */
static uint32_t good_packet(struct rnd *r, uint8_t *p, uint8_t *vnet)
{
	static const uint8_t payload[16384];
	uint32_t len = gt_udp4(p, "10.9.0.2", "10.9.0.1", 1000 + below(r, 8), 9, payload,
			       below(r, 2) ? below(r, 1400) : 1400 * (1 + below(r, 11)));

	memset(vnet, 0, 12);
	if (len > 1500) {
		vnet[0] = 1;
		vnet[1] = 5;
		vnet[4] = 1400 & 0xff;
		vnet[5] = 1400 >> 8;
		vnet[6] = 20;
		vnet[8] = 6;
	}
	return len;
}

static void spoil(struct rnd *r, struct gsotun_record *rec, uint8_t *vnet, uint8_t *packet)
{
	switch (below(r, 12)) {
	case 0:
		rec->len = nasty(r);
		break;
	case 1:
		rec->type = below(r, 4) ? below(r, 4) : nasty(r);
		break;
	case 2:
		rec->data_off = nasty(r);
		break;
	case 3:
		rec->vnet_len = nasty(r);
		break;
	case 4:
		rec->flags = nasty(r);
		break;
	case 5:
		rec->mark = nasty(r);
		break;
	case 6:
	case 7:
		vnet[below(r, 12)] = nasty(r);
		break;
	case 8:
		vnet[below(r, 6) * 2] = rnd(r);
		vnet[1] = below(r, 8) | (below(r, 4) ? 0 : 0x80);
		break;
	default:
		packet[below(r, 64)] = nasty(r);
		break;
	}
}

static void *produce(void *arg)
{
	struct daemon *d = arg;
	struct rnd r = { d->seed ^ 0x9e3779b97f4a7c15 };
	uint32_t span, len;

	while (!d->stop) {
		uint8_t *at = gt_reserve(&d->q, GT_KIB(20));
		struct gsotun_record *rec = (void *)at;

		if (!at) {
			gt_kick_fd(d->q.fd, GSOTUN_KICK_FROM_USER);
			continue;
		}
		len = good_packet(&r, at + 64, at + 44);
		span = (64 + len + 63) & ~63u;
		*rec = (struct gsotun_record) {
			.span = span, .len = len, .type = GSOTUN_RECORD_PACKET,
			.data_off = 64, .vnet_len = 12,
		};
		if (below(&r, 4))
			spoil(&r, rec, at + 44, at + 64);
		/* Now and then there is no way on. */
		if (!below(&r, 3000))
			rec->span = nasty(&r);
		gt_submit(&d->q, span, true);
		atomic_fetch_add(&shared->records, 1);
	}
	return NULL;
}

/* Change what the kernel may be reading. Not span: that would end it too soon. */
static void *flip(void *arg)
{
	struct daemon *d = arg;
	struct rnd r = { d->seed ^ 0xbf58476d1ce4e5b9 };
	uint32_t size = d->q.a.ring_bytes[GSOTUN_FROM_USER];

	while (!d->stop) {
		uint32_t pos = __atomic_load_n(&d->q.from_d->prod, __ATOMIC_RELAXED) -
			       below(&r, GT_KIB(64));
		volatile uint8_t *at = d->q.from_data + (pos & (size - 1) & ~63u);

		if (below(&r, 2))
			at[4 + below(&r, 52)] = rnd(&r);
		else
			at[64 + below(&r, 80)] = rnd(&r);
	}
	return NULL;
}

static void *move_positions(void *arg)
{
	struct daemon *d = arg;
	struct rnd r = { d->seed ^ 0x94d049bb133111eb };

	while (!d->stop) {
		switch (below(&r, 8)) {
		case 0:
			__atomic_store_n(&d->q.to_d->seen, nasty(&r), __ATOMIC_RELAXED);
			break;
		case 1:
			__atomic_store_n(&d->q.from_d->room_at, nasty(&r), __ATOMIC_RELAXED);
			break;
		case 2:
			__atomic_store_n(&d->q.to_d->flags, nasty(&r), __ATOMIC_RELAXED);
			__atomic_store_n(&d->q.from_d->flags, nasty(&r), __ATOMIC_RELAXED);
			break;
		case 3:
			__atomic_store_n(&d->q.to_d->claim, nasty(&r), __ATOMIC_RELAXED);
			break;
		case 4:
			if (!below(&r, 5000))
				__atomic_store_n(&d->q.to_d->cons, nasty(&r), __ATOMIC_RELEASE);
			break;
		case 5:
			if (!below(&r, 5000))
				__atomic_store_n(&d->q.from_d->prod, nasty(&r), __ATOMIC_RELEASE);
			break;
		default:
			__atomic_store_n(&d->q.to_d->cons,
					 __atomic_load_n(&d->q.to_k->prod, __ATOMIC_ACQUIRE),
					 __ATOMIC_RELEASE);
			gt_kick_fd(d->q.fd, GSOTUN_KICK_TO_USER);
			break;
		}
	}
	return NULL;
}

static void *call(void *arg)
{
	struct daemon *d = arg;
	struct rnd r = { d->seed ^ 0x2545f4914f6cdd1d };
	struct gsotun_attach a;

	while (!d->stop) {
		struct pollfd p = { .fd = d->q.fd, .events = POLLIN | POLLOUT };
		int region = below(&r, 6);
		void *m;

		switch (below(&r, 6)) {
		case 0:
			gt_kick_fd(d->q.fd, below(&r, 2) ? below(&r, 4) : nasty(&r));
			break;
		case 1:
			poll(&p, 1, 0);
			break;
		case 2:
			memset(&a, below(&r, 2) ? 0 : rnd(&r), sizeof(a));
			a.size = below(&r, 2) ? sizeof(a) : nasty(&r);
			ioctl(d->q.fd, GSOTUN_QUERY + below(&r, 3) - 1, &a);
			break;
		case 3:
			m = mmap(NULL, d->q.a.region[region].length,
				 below(&r, 2) ? PROT_READ : PROT_READ | PROT_WRITE, MAP_SHARED,
				 d->q.fd, d->q.a.region[region].offset);
			if (m != MAP_FAILED) {
				if (below(&r, 2))
					munmap(m, 4096);
				munmap(m, d->q.a.region[region].length);
			}
			break;
		case 4:
			m = mmap(NULL, nasty(&r), rnd(&r) & 7, rnd(&r) & 3, d->q.fd,
				 (off_t)nasty(&r) << below(&r, 33));
			if (m != MAP_FAILED)
				munmap(m, 4096);
			break;
		default:
			ioctl(d->q.fd, nasty(&r), nasty(&r));
			break;
		}
	}
	return NULL;
}

/* Attach, be hostile for a while, end in one of several ways. */
static int one_round(struct rnd *r, int ifindex)
{
	static void *(* const roles[])(void *) = { produce, flip, move_positions, call };
	struct gsotun_attach opts;
	struct daemon d = { .seed = ((uint64_t)rnd(r) << 32 | rnd(r)) | 1 };
	pthread_t threads[4];
	unsigned int i;
	int err;

	gt_attach_init(&opts, ifindex, GSOTUN_OFFLOAD_CSUM | GSOTUN_OFFLOAD_USO);
	if (ifindex != shared->victim)
		opts.queue = 1 + below(r, 3);
	opts.ring_bytes[0] = GT_KIB(512) << below(r, 3);
	opts.ring_bytes[1] = GT_KIB(512) << below(r, 3);
	opts.vnet_len = 12;
	opts.fill_limit = below(r, 2) ? 0 : below(r, opts.ring_bytes[0]);
	err = gt_attach(&d.q, ifindex, &opts);
	if (err)
		return err;
	atomic_fetch_add(&shared->attached, 1);
	for (i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, roles[i], &d))
			_exit(1);
	gt_sleep_ms(below(r, ROUND_MS));
	switch (below(r, 3)) {
	case 0:			/* with all of it going on */
		_exit(0);
	case 1:
		kill(getpid(), SIGKILL);
	}
	d.stop = true;
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	gt_close(&d.q);
	return 0;
}

static void be_hostile(uint64_t seed, int calm)
{
	struct rnd r = { seed * 0x9e3779b97f4a7c15 | 1 };

	for (;;) {
		int ifindex = below(&r, 3) ? calm : shared->victim;
		pid_t pid = gt_fork();

		if (!pid) {
			one_round(&r, ifindex);
			_exit(0);
		}
		if (pid > 0)
			gt_wait_child(pid);
		atomic_fetch_add(&shared->rounds, 1);
	}
}

/* ---- the device that comes and goes --------------------------------------------- */

static void shake(uint64_t seed)
{
	struct rnd r = { seed | 1 };
	int home = gt_net_fd(), away, ifindex, i;

	away = gt_unshare_net();
	gt_set_net(home);
	for (;;) {
		ifindex = gt_dev_add("victim", 3);
		gt_dev_start(ifindex);
		shared->victim = ifindex;
		for (i = below(&r, 12); i; i--) {
			gt_sleep_ms(below(&r, 30));
			switch (below(&r, 3)) {
			case 0:
				gt_dev_up(ifindex, false);
				gt_dev_up(ifindex, true);
				break;
			case 1:
				gt_dev_move(ifindex, away);
				gt_set_net(away);
				ifindex = gt_ifindex("victim");
				if (ifindex)
					gt_dev_move(ifindex, home);
				gt_set_net(home);
				ifindex = gt_ifindex("victim");
				shared->victim = ifindex;
				break;
			}
		}
		gt_dev_del(gt_ifindex("victim"));
	}
}

/* ---- the good daemon --------------------------------------------------------------- */

/* Received and injected in about a second; 0 if one of them stood still. */
static unsigned long good_second(struct gt_queue *q, int sock)
{
	unsigned long in = 0, out = 0;
	uint64_t end = gt_now_ms() + 1000;
	uint8_t packet[200];
	uint32_t len = gt_udp4(packet, "10.9.0.2", "10.9.0.1", 5000, 5001, "good", 4);
	char buf[64];
	int i;

	do {
		/* Traffic of our own, through whichever queue. */
		for (i = 0; i < 4; i++)
			gt_send_to(sock, 2 + i, 7000, "good", 4);
		in += gt_drain(q);
		gt_inject(q, packet, len, NULL);
		while (recv(sock, buf, sizeof(buf), MSG_DONTWAIT) > 0)
			out++;
		gt_sleep_ms(2);
	} while (gt_now_ms() < end || ((!in || !out) && gt_now_ms() < end + GT_HANG_MS));
	return in && out ? in + out : 0;
}

static pid_t children[DAEMONS + 1];

static void stop_children(void)
{
	unsigned int i;

	for (i = 0; i < DAEMONS + 1; i++) {
		kill(-children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
	}
}

static void start_child(unsigned int i, uint64_t seed, int ifindex)
{
	children[i] = gt_fork();
	if (!children[i]) {
		setpgid(0, 0);
		if (i == DAEMONS)
			shake(seed);
		else
			be_hostile(seed, ifindex);
		_exit(1);
	}
	setpgid(children[i], children[i]);
}

int main(int argc, char **argv)
{
	unsigned int seconds = argc > 1 ? strtoul(argv[1], NULL, 0) : SECONDS_DEFAULT;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	unsigned long good = 0, bad = 0;
	struct gt_queue_info info;
	struct gsotun_attach opts;
	struct gt_queue q;
	struct gt_flood flood;
	unsigned int i;
	int ifindex, sock;

	printf("TAP version 13\n1..2\n# seed %llu, %u s\n", (unsigned long long)seed, seconds);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (shared == MAP_FAILED)
		gt_die("mmap");
	gt_unshare_net();
	ifindex = gt_dev_add("calm", 4);
	gt_attach_init(&opts, ifindex, 0);
	opts.queue = 0;
	if (gt_attach(&q, ifindex, &opts))
		gt_die("attach: %s", opts.message);
	gt_dev_start(ifindex);
	sock = gt_udp_socket("10.9.0.1", 5001);
	gt_flood_start(&flood, 1200);
	start_child(DAEMONS, seed, 0);
	for (i = 0; i < DAEMONS; i++)
		start_child(i, seed + i, ifindex);

	for (i = 0; i < seconds; i++) {
		unsigned long n = good_second(&q, sock);

		good += n;
		bad += !n;
	}
	stop_children();
	gt_flood_stop(&flood);
	printf("# %lu rounds, %lu attached, %lu records; good daemon: %lu packets\n",
	       shared->rounds, shared->attached, shared->records, good);
	for (i = 0; i < 4; i++)
		if (!gt_queue_get(ifindex, i, &info))
			printf("# queue %u: generation %llu, corruptions %llu + %llu, records %llu, dropped %llu\n",
			       i, (unsigned long long)info.generation,
			       (unsigned long long)info.ring[0].corruptions,
			       (unsigned long long)info.ring[1].corruptions,
			       (unsigned long long)info.ring[1].records,
			       (unsigned long long)info.drop_sum);
	printf("%sok 1 - the good daemon goes on\n", bad || !good ? "not " : "");
	printf("%sok 2 - there were hostile daemons\n",
	       shared->attached > 3 && shared->records > 300 ? "" : "not ");
	gt_close(&q);
	return bad || !good || shared->attached <= 3 || shared->records <= 300;
}
