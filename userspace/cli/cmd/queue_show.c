// SPDX-License-Identifier: GPL-2.0
/* queue_show.c - gsotun queue show: queues, who has them, what they counted. */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include <linux/gsotun.h>

#include "cli.h"
#include "nl.h"
#include "print.h"
#include "queues.h"

#define ALL_QUEUES	UINT32_MAX

static void print_number(const struct queue_info *q, int attr, const char *name)
{
	if (q->given & 1u << attr)
		print_u64(name, name, q->value[attr]);
}

/* State that comes and goes with an attachment. */
static void print_ring(const struct ring_info *info, unsigned int ring)
{
	uint64_t layout = info->value[GSOTUN_A_RING_LAYOUT];

	if (!(info->given & 1u << GSOTUN_A_RING_BYTES))
		return;
	print_line("    ");
	print_object_open(ring == GSOTUN_TO_USER ? "to_user_ring" : "from_user_ring");
	print_size("bytes", ring == GSOTUN_TO_USER ? "to_user" : "from_user",
		   info->value[GSOTUN_A_RING_BYTES]);
	print_u64("used", "used", info->value[GSOTUN_A_RING_USED]);
	print_u64("high_water", "high_water", info->value[GSOTUN_A_RING_HIGH_WATER]);
	print_string("layout", "layout", layout == GSOTUN_LAYOUT_SUPER ? "super" :
		     layout == GSOTUN_LAYOUT_TRAIN ? "train" : "unknown");
	print_offloads("offloads", "offloads", info->value[GSOTUN_A_RING_OFFLOADS]);
	print_object_close();
}

static void print_queue(const struct queue_info *q)
{
	uint32_t ifindex = q->value[GSOTUN_A_QUEUE_IFINDEX];
	char name[IFNAMSIZ];

	if (!if_indextoname(ifindex, name))
		snprintf(name, sizeof(name), "if%u", ifindex);
	print_line("");
	print_object_open(NULL);
	print_string("ifname", NULL, name);
	print_number(q, GSOTUN_A_QUEUE_ID, "queue");
	print_mark(":");
	print_bool("attached", "attached", q->value[GSOTUN_A_QUEUE_ATTACHED]);
	print_number(q, GSOTUN_A_QUEUE_PID, "pid");
	print_number(q, GSOTUN_A_QUEUE_GENERATION, "generation");
	print_bool("stopped", "stopped", q->value[GSOTUN_A_QUEUE_STOPPED]);
	if (options.details) {
		print_number(q, GSOTUN_A_QUEUE_NAPI_ID, "napi_id");
		print_number(q, GSOTUN_A_QUEUE_VNET_LEN, "vnet_len");
		print_number(q, GSOTUN_A_QUEUE_FILL_LIMIT, "fill_limit");
	}
	print_ring(&q->ring[GSOTUN_TO_USER], GSOTUN_TO_USER);
	print_ring(&q->ring[GSOTUN_FROM_USER], GSOTUN_FROM_USER);
	if (options.statistics) {
		print_ring_stats(&q->ring[GSOTUN_TO_USER], GSOTUN_TO_USER);
		print_ring_stats(&q->ring[GSOTUN_FROM_USER], GSOTUN_FROM_USER);
		print_drops(q->drops);
	}
	print_object_close();
}

static int show_queues(struct nl *nl, uint32_t ifindex, uint32_t id)
{
	struct queue_list list;
	unsigned int i, shown = 0;
	int err;

	err = queues_get(nl, ifindex, &list);
	if (err)
		return netlink_fail(nl, err, "queue show");
	print_start(options.json, options.pretty);
	for (i = 0; i < list.count; i++) {
		if (id != ALL_QUEUES && list.queues[i].value[GSOTUN_A_QUEUE_ID] != id)
			continue;
		print_queue(&list.queues[i]);
		shown++;
	}
	if (print_end())
		err = complain("Cannot write: %s", strerror(errno));
	else if (id != ALL_QUEUES && !shown)
		err = complain("There is no queue %u", id);
	queues_free(&list);
	return err;
}

int cmd_queue_show(int argc, char **argv)
{
	uint32_t ifindex = 0, id = ALL_QUEUES;
	struct nl nl;
	int err, i;

	for (i = 0; i < argc; i += 2) {
		if (i + 1 == argc)
			return complain("\"%s\" needs a value", argv[i]);
		if (!strcmp(argv[i], "dev")) {
			ifindex = arg_device(argv[i + 1]);
			if (!ifindex)
				return EXIT_USAGE;
		} else if (!strcmp(argv[i], "queue")) {
			if (!arg_number(argv[i + 1], GSOTUN_MAX_QUEUES - 1, &id))
				return complain("\"queue\" needs a number, not \"%s\"",
						argv[i + 1]);
		} else {
			return complain("\"%s\" is unknown here, try \"gsotun queue help\"",
					argv[i]);
		}
	}
	err = netlink_open_gsotun(&nl);
	if (err)
		return netlink_fail(NULL, err, "queue show");
	err = show_queues(&nl, ifindex, id);
	netlink_close(&nl);
	return err;
}
