// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * cable.c - a patch cable between two gsotun devices; written to be copied from.
 *
 * One thread for each pair of queues. A record is copied once, with its
 * virtio_net_hdr. When the far ring is full the near one is not read: it fills
 * up, its queue stops, and packets wait in the qdisc.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <net/if.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gsotun.h"

#define BATCH		64
#define WAKE_MS		250	/* after so long a sleeper looks whether to stop */
#define VNET_LEN	12

struct wire {			/* one direction */
	struct gsotun_queue *from, *to;
	struct gsotun_frame in[BATCH];
	int n, done;		/* in[done] .. in[n - 1] are not copied yet */
};

struct pair {
	struct wire wire[2];
	pthread_t thread;
	int error;
};

static struct pair pairs[GSOTUN_MAX_QUEUES];
static unsigned int queues = 1, spin_ns;
static atomic_bool stop;

/* Copy until the far ring is full. Return: how many frames went, or an error. */
static int copy(struct wire *w)
{
	struct gsotun_frame out[BATCH];
	int i, ret = 0;

	for (i = 0; w->done < w->n; i++, w->done++) {
		const struct gsotun_frame *in = &w->in[w->done];

		ret = gsotun_reserve(w->to, in->len, &out[i], 1);
		if (ret < 0)
			break;
		memcpy(out[i].data, in->data, in->len);
		memcpy(out[i].vnet, in->vnet, VNET_LEN);
	}
	if (!i)
		return ret == -EAGAIN ? 0 : ret;
	gsotun_submit(w->to, out, i);	/* once per batch */
	gsotun_release(w->from, i);
	return i;
}

static int pump(struct wire *w)
{
	if (w->done == w->n) {
		w->done = 0;
		w->n = gsotun_peek(w->from, w->in, BATCH);
	}
	return w->n > 0 ? copy(w) : w->n;
}

static void *run(void *arg)
{
	struct pair *p = arg;
	struct gsotun_poll wait[2];
	int i, moved, ret, pending = 0;

	while (!stop && !p->error) {
		moved = 0;
		for (i = 0; i < 2 && !p->error; i++) {
			ret = pump(&p->wire[i]);
			if (ret < 0)
				p->error = ret;
			else
				moved += ret;
			wait[i] = (struct gsotun_poll) { .queue = p->wire[i].from };
		}
		/* Kicks can wait while there is more to move, for one batch. */
		pending = moved ? pending + moved : BATCH;
		if (pending < BATCH)
			continue;
		pending = 0;
		/* What holds a wire up: nothing to read, or no room to write. */
		for (i = 0; i < 2; i++) {
			if (p->wire[i].done < p->wire[i].n)
				wait[!i].events |= GSOTUN_EV_ROOM;
			else
				wait[i].events |= GSOTUN_EV_RECORDS;
		}
		/* Kicks, if any are due; sleeps only if there was nothing to do. */
		ret = gsotun_poll(wait, 2, moved ? 0 : spin_ns, moved ? 0 : WAKE_MS);
		if (ret < 0 && !p->error)
			p->error = ret;
	}
	if (p->error)			/* a wire broke: the cable ends */
		kill(getpid(), SIGTERM);
	return NULL;
}

static void attach(struct gsotun_queue **q, const char *dev, const char *netns)
{
	struct gsotun_attach_opts opts = {
		.size = sizeof(opts),
		.flags = GSOTUN_OPT_READ_ONLY | GSOTUN_OPT_DEFER_KICKS,
		.vnet_len = VNET_LEN,
		.offloads_want = { GSOTUN_OFFLOADS_SUPER, GSOTUN_OFFLOADS_SUPER },
	};
	char why[GSOTUN_TEXT_MAX], path[300];
	unsigned int i;
	int fd;

	if (netns) {			/* the device is looked up where the thread is */
		snprintf(path, sizeof(path), "/run/netns/%s", netns);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || setns(fd, CLONE_NEWNET))
			err(1, "%s", path);
		close(fd);
	}
	for (i = 0; i < queues; i++)
		if (gsotun_attach(if_nametoindex(dev), &opts, &q[i], why, sizeof(why)))
			errx(1, "%s, queue %u: %s", dev, i, why);
}

/* One line of JSON: a to b, b to a, both. System calls as the library counted. */
static void report(void)
{
	static const char * const names[] = { "{\"a_to_b\":{", "},\"b_to_a\":{", "}," };
	unsigned long long records[3] = { 0 }, bytes[3] = { 0 }, supers[3] = { 0 };
	unsigned long long calls = 0;
	struct gsotun_ring_stats *r;
	struct gsotun_stats s;
	unsigned int i, k;

	for (i = 0; i < 4 * queues; i++) {	/* everything twice, for the sum */
		k = i < 2 * queues ? i & 1 : 2;
		gsotun_stats(pairs[i / 2 % queues].wire[i & 1].from, &s, sizeof(s));
		r = s.ring;
		records[k] += r[GSOTUN_TO_USER].records;
		supers[k] += r[GSOTUN_TO_USER].superpackets;
		bytes[k] += r[GSOTUN_TO_USER].bytes;
		if (k == 2)
			calls += r[0].kicks + r[0].polls + r[1].kicks + r[1].polls;
	}
	for (k = 0; k < 3; k++) {
		printf("%s\"records\":%llu,\"superpackets\":%llu,", names[k], records[k],
		       supers[k]);
		printf("\"bytes\":%llu,\"mean_record\":%llu", bytes[k],
		       records[k] ? bytes[k] / records[k] : 0);
	}
	printf(",\"system_calls\":%llu,\"system_calls_per_mb\":%.3f}\n", calls,
	       bytes[2] ? calls * 1e6 / bytes[2] : 0.0);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "netns-a", required_argument, NULL, 'a' },
		{ "netns-b", required_argument, NULL, 'b' }, { 0 }
	};
	struct gsotun_queue *ends[2][GSOTUN_MAX_QUEUES];
	const char *netns[2] = { NULL, NULL };
	int opt, sig, failed = 0;
	unsigned int i;
	sigset_t set;

	while ((opt = getopt_long(argc, argv, "q:s:", options, NULL)) >= 0) {
		if (opt == 'q' || opt == '?')
			queues = opt == 'q' ? strtoul(optarg, NULL, 10) : 0;
		else if (opt == 's')
			spin_ns = strtoul(optarg, NULL, 10);
		else
			netns[opt - 'a'] = optarg;
	}
	if (optind + 2 != argc || !queues || queues > GSOTUN_MAX_QUEUES)
		errx(2, "usage: cable A B [-q QUEUES] [-s NSEC] [--netns-a NS] [--netns-b NS]");
	attach(ends[0], argv[optind], netns[0]);
	attach(ends[1], argv[optind + 1], netns[1]);

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);		/* the threads inherit it */
	for (i = 0; i < queues; i++) {
		pairs[i].wire[0] = (struct wire) { .from = ends[0][i], .to = ends[1][i] };
		pairs[i].wire[1] = (struct wire) { .from = ends[1][i], .to = ends[0][i] };
	}
	for (i = 0; i < queues; i++)
		if (pthread_create(&pairs[i].thread, NULL, run, &pairs[i]))
			errx(1, "no thread");
	while (!sigwait(&set, &sig) && sig == SIGUSR1)
		report();

	stop = true;
	for (i = 0; i < queues; i++) {
		pthread_join(pairs[i].thread, NULL);
		if (pairs[i].error)
			warnx("queue %u: %s", i, gsotun_strerror(pairs[i].error));
		failed |= pairs[i].error;
	}
	report();
	for (i = 0; i < 2 * queues; i++) {
		gsotun_quiesce(ends[i & 1][i / 2]);
		gsotun_close(ends[i & 1][i / 2], GSOTUN_CLOSE_FORCE);
	}
	return failed ? 1 : 0;
}
