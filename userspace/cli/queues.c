// SPDX-License-Identifier: GPL-2.0
/* queues.c - queues: from netlink to numbers to print. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include "cli.h"
#include "gsotun.h"
#include "nl.h"
#include "print.h"
#include "queues.h"

/* An unsigned integer of whatever width the kernel gave it. */
static uint64_t read_uint(const struct nlattr *attr)
{
	struct nlattr *a = (struct nlattr *)attr;

	switch (nla_len(a)) {
	case 1:		return nla_get_u8(a);
	case 2:		return nla_get_u16(a);
	case 4:		return nla_get_u32(a);
	case 8:		return nla_get_u64(a);
	default:	return 0;
	}
}

static void read_ring(struct ring_info *ring, struct nlattr *nest)
{
	struct nlattr *attr;
	int rem, type;

	nla_for_each_nested(attr, nest, rem) {
		type = nla_type(attr);
		if (type < 1 || type > GSOTUN_A_RING_MAX || type == GSOTUN_A_RING_PAD)
			continue;
		ring->value[type] = read_uint(attr);
		ring->given |= 1u << type;
	}
}

static void read_drops(uint64_t drops[DROPS_MAX], struct nlattr *nest)
{
	struct nlattr *attr;
	int rem;

	/* Type 0 is no reason; some kernels use it to align. */
	nla_for_each_nested(attr, nest, rem)
		if (nla_type(attr) > 0 && nla_type(attr) < DROPS_MAX)
			drops[nla_type(attr)] = read_uint(attr);
}

static void read_queue(struct queue_info *q, struct nlattr *const *tb)
{
	int type;

	for (type = 1; type <= GSOTUN_A_QUEUE_MAX; type++) {
		if (!tb[type])
			continue;
		q->given |= 1u << type;
		if (type == GSOTUN_A_QUEUE_TO_USER)
			read_ring(&q->ring[GSOTUN_TO_USER], tb[type]);
		else if (type == GSOTUN_A_QUEUE_FROM_USER)
			read_ring(&q->ring[GSOTUN_FROM_USER], tb[type]);
		else if (type == GSOTUN_A_QUEUE_DROPS)
			read_drops(q->drops, tb[type]);
		else if (type != GSOTUN_A_QUEUE_PAD)
			q->value[type] = (uint32_t)read_uint(tb[type]);
	}
}

static int on_queue(const struct nlmsghdr *nlh, void *arg)
{
	struct nlattr *tb[GSOTUN_A_QUEUE_MAX + 1];
	struct queue_list *list = arg;
	struct queue_info *queues;

	if (genlmsg_parse((struct nlmsghdr *)nlh, 0, tb, GSOTUN_A_QUEUE_MAX, NULL) < 0)
		return -EPROTO;
	queues = realloc(list->queues, (list->count + 1) * sizeof(*queues));
	if (!queues)
		return -ENOMEM;
	list->queues = queues;
	memset(&queues[list->count], 0, sizeof(*queues));
	read_queue(&queues[list->count], tb);
	list->count++;
	return 0;
}

void queues_free(struct queue_list *list)
{
	free(list->queues);
	memset(list, 0, sizeof(*list));
}

int queues_get(struct nl *nl, uint32_t ifindex, struct queue_list *list)
{
	struct nl_msg *msg;
	int tries, err;

	memset(list, 0, sizeof(*list));
	for (tries = 0; tries < DUMP_TRIES; tries++) {
		msg = netlink_gsotun_msg(nl, GSOTUN_CMD_QUEUE_GET, NLM_F_DUMP);
		if (!msg)
			return -ENOMEM;
		if (ifindex && nla_put_u32(msg, GSOTUN_A_QUEUE_IFINDEX, ifindex)) {
			nlmsg_free(msg);
			return -ENOMEM;
		}
		err = netlink_request(nl, msg, on_queue, list);
		if (!err)
			return 0;
		queues_free(list);
		if (err != -EAGAIN)
			break;
	}
	return err;
}

struct counter {
	int attr;
	const char *name;
};

static const struct counter traffic[] = {
	{ GSOTUN_A_RING_RECORDS, "records" },
	{ GSOTUN_A_RING_SUPERPACKETS, "superpackets" },
	{ GSOTUN_A_RING_PACKETS, "packets" },
	{ GSOTUN_A_RING_WIRE_BYTES, "wire_bytes" },
	{ GSOTUN_A_RING_PACKET_BYTES, "packet_bytes" },
};

static const struct counter events[] = {
	{ GSOTUN_A_RING_WAKES, "wakes" },
	{ GSOTUN_A_RING_KICKS, "kicks" },
	{ GSOTUN_A_RING_STOPS, "stops" },
	{ GSOTUN_A_RING_SKIPS, "skips" },
	{ GSOTUN_A_RING_CORRUPTIONS, "corruptions" },
};

#define COUNT(array)	(sizeof(array) / sizeof(*(array)))

static void print_counters(const struct ring_info *info, const struct counter *c,
			   unsigned int n)
{
	for (; n--; c++)
		if (info->given & 1u << c->attr)
			print_u64(c->name, c->name, info->value[c->attr]);
}

void print_ring_stats(const struct ring_info *info, unsigned int ring)
{
	uint64_t records = info->value[GSOTUN_A_RING_RECORDS];

	print_line(ring == GSOTUN_TO_USER ? "    to_user:   " : "    from_user: ");
	print_object_open(ring == GSOTUN_TO_USER ? "to_user" : "from_user");
	print_counters(info, traffic, COUNT(traffic));
	print_u64("mean_record", "mean_record",
		  records ? info->value[GSOTUN_A_RING_PACKET_BYTES] / records : 0);
	print_line("               ");
	print_counters(info, events, COUNT(events));
	print_object_close();
}

void print_drops(const uint64_t drops[DROPS_MAX])
{
	uint64_t total = 0;
	unsigned int i;
	char number[32];

	for (i = 1; i < DROPS_MAX; i++)
		total += drops[i];
	print_line("    ");
	print_u64("dropped", "dropped", total);
	print_object_open("drops");
	for (i = 1; i < DROPS_MAX; i++) {
		const char *name = gsotun_drop_name(i);

		if (!drops[i])
			continue;
		if (!name) {
			snprintf(number, sizeof(number), "reason_%u", i);
			name = number;
		}
		print_u64(name, name, drops[i]);
	}
	print_object_close();
}

void print_offloads(const char *key, const char *label, uint64_t offloads)
{
	char number[32], open[32];
	unsigned int bit;

	snprintf(open, sizeof(open), "%s ", label);
	print_list_open(key, open, " ");
	for (bit = 0; bit < 64; bit++) {
		const char *name = gsotun_offload_name(bit);

		if (!(offloads >> bit & 1))
			continue;
		if (!name) {
			snprintf(number, sizeof(number), "bit_%u", bit);
			name = number;
		}
		print_list_item(name);
	}
	print_list_close(offloads ? "" : "none");
}
