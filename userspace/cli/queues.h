/* SPDX-License-Identifier: GPL-2.0 */
/*
 * queues.h - queues of devices, as the gsotun family describes them.
 */
#ifndef GSOTUN_CLI_QUEUES_H
#define GSOTUN_CLI_QUEUES_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/gsotun.h>

struct nl;

/* Newer kernels may know more reasons; these are shown by number. */
#define DROPS_MAX	128

/* By GSOTUN_A_RING_*; @given has a bit for each that the kernel gave. */
struct ring_info {
	uint32_t given;
	uint64_t value[GSOTUN_A_RING_MAX + 1];
};

/* By GSOTUN_A_QUEUE_*, but for what is a nest. */
struct queue_info {
	uint32_t given;
	uint32_t value[GSOTUN_A_QUEUE_MAX + 1];
	struct ring_info ring[2];
	uint64_t drops[DROPS_MAX];
};

struct queue_list {
	struct queue_info *queues;
	unsigned int count;
};

/**
 * queues_get - read queues
 * @nl: gsotun family
 * @ifindex: of one device; 0: of all
 * @list: out; free with queues_free()
 *
 * Return: 0, -errno, or -EAGAIN if the list kept changing.
 */
int queues_get(struct nl *nl, uint32_t ifindex, struct queue_list *list);
void queues_free(struct queue_list *list);

/* Print the counters of a ring, and drops. @ring is GSOTUN_TO_USER or FROM_USER. */
void print_ring_stats(const struct ring_info *info, unsigned int ring);
void print_drops(const uint64_t drops[DROPS_MAX]);

/* "csum tso4", as a list. */
void print_offloads(const char *key, const char *label, uint64_t offloads);

#endif /* GSOTUN_CLI_QUEUES_H */
