// SPDX-License-Identifier: GPL-2.0
/*
 * cable.c - a patch cable between two gsotun devices; written to be copied from.
 *
 * One thread for each direction of each pair of queues. A record is copied once,
 * with its virtio_net_hdr. When the far ring is full the near one is not read:
 * it fills up, its queue stops, and packets wait in the qdisc.
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

struct wire {			/* one direction of one pair of queues */
	struct gsotun_queue *from, *to;
	pthread_t thread;
	int error;
};

static struct wire wires[2 * GSOTUN_MAX_QUEUES];
static unsigned int queues = 1, spin_ns = 20000;
static atomic_bool stop;

/* Copy frames until the far ring is full. Return: how many went, or an error. */
static int copy(struct wire *w, const struct gsotun_frame *in, int n, size_t vnet_len)
{
	struct gsotun_frame out[BATCH];
	int i, ret = 0;

	for (i = 0; i < n; i++) {
		ret = gsotun_reserve(w->to, in[i].len, &out[i], 1);
		if (ret < 0)
			break;
		memcpy(out[i].data, in[i].data, in[i].len);
		memcpy(out[i].vnet, in[i].vnet, vnet_len);
	}
	if (!i)
		return ret == -EAGAIN ? 0 : ret;
	gsotun_submit(w->to, out, i);	/* once per batch: one barrier, at most one kick */
	gsotun_release(w->from, i);
	return i;
}

/* Look, spin, sleep. Return: 0 to look again, or an error. */
static int rest(struct gsotun_queue *q, uint32_t event)
{
	int ret = gsotun_wait(q, event, spin_ns, WAKE_MS);

	return ret < 0 ? ret : 0;
}

static int pump(struct wire *w)
{
	struct gsotun_frame in[BATCH];
	struct gsotun_info info;
	int n, done, ret;

	gsotun_info(w->from, &info, sizeof(info));
	while (!stop) {
		n = gsotun_peek(w->from, in, BATCH);
		if (!n)
			n = rest(w->from, GSOTUN_EV_RECORDS);
		for (done = 0; done < n && !stop; done += ret) {
			ret = copy(w, in + done, n - done, info.vnet_len);
			if (!ret)
				ret = rest(w->to, GSOTUN_EV_ROOM);
			if (ret < 0)
				return ret;
		}
		if (n < 0)
			return n;
	}
	return 0;
}

static void *run(void *arg)
{
	struct wire *w = arg;

	w->error = pump(w);
	if (w->error)			/* a wire broke: the cable ends */
		kill(getpid(), SIGTERM);
	return NULL;
}

static void attach(struct gsotun_queue **q, const char *dev, const char *netns)
{
	struct gsotun_attach_opts opts = {
		.size = sizeof(opts),
		.flags = GSOTUN_OPT_READ_ONLY,
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

/* One line of JSON, a to b and back. System calls are those the library counted. */
static void report(void)
{
	struct { unsigned long long records, superpackets, bytes, calls; } sum[3] = { 0 };
	static const char * const names[] = { "{\"a_to_b\":{", "},\"b_to_a\":{", "}," };
	struct gsotun_stats in, out;
	unsigned int i, k;

	for (i = 0; i < 4 * queues; i++) {	/* everything twice: once for the total */
		k = i < 2 * queues ? i & 1 : 2;
		gsotun_stats(wires[i % (2 * queues)].from, &in, sizeof(in));
		gsotun_stats(wires[i % (2 * queues)].to, &out, sizeof(out));
		sum[k].records += in.ring[GSOTUN_TO_USER].records;
		sum[k].superpackets += in.ring[GSOTUN_TO_USER].superpackets;
		sum[k].bytes += in.ring[GSOTUN_TO_USER].bytes;
		sum[k].calls += in.ring[GSOTUN_TO_USER].kicks + in.ring[GSOTUN_TO_USER].polls +
				out.ring[GSOTUN_FROM_USER].kicks + out.ring[GSOTUN_FROM_USER].polls;
	}
	for (k = 0; k < 3; k++)
		printf("%s\"records\":%llu,\"superpackets\":%llu,\"bytes\":%llu,"
		       "\"mean_record\":%llu,\"system_calls\":%llu,\"system_calls_per_mb\":%.3f",
		       names[k], sum[k].records, sum[k].superpackets, sum[k].bytes,
		       sum[k].records ? sum[k].bytes / sum[k].records : 0, sum[k].calls,
		       sum[k].bytes ? sum[k].calls * 1e6 / sum[k].bytes : 0.0);
	puts("}");
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
		errx(2, "usage: cable DEV_A DEV_B [-q QUEUES] [-s SPIN_NS] "
		     "[--netns-a NS] [--netns-b NS]");
	attach(ends[0], argv[optind], netns[0]);
	attach(ends[1], argv[optind + 1], netns[1]);

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);		/* the threads inherit it */
	for (i = 0; i < 2 * queues; i++) {
		wires[i].from = ends[i & 1][i / 2];
		wires[i].to = ends[!(i & 1)][i / 2];
	}
	for (i = 0; i < 2 * queues; i++)
		if (pthread_create(&wires[i].thread, NULL, run, &wires[i]))
			errx(1, "no thread");
	while (!sigwait(&set, &sig) && sig == SIGUSR1)
		report();

	stop = true;
	for (i = 0; i < 2 * queues; i++) {
		pthread_join(wires[i].thread, NULL);
		if (wires[i].error)
			warnx("%s", gsotun_strerror(wires[i].error));
		failed |= wires[i].error;
	}
	report();
	for (i = 0; i < 2 * queues; i++) {
		gsotun_quiesce(wires[i].from);
		gsotun_close(wires[i].from, GSOTUN_CLOSE_FORCE);
	}
	return failed ? 1 : 0;
}
