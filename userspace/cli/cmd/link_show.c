// SPDX-License-Identifier: GPL-2.0
/* link_show.c - gsotun link show: devices, and with -s what they counted. */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/if.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include <linux/gsotun.h>

#include "cli.h"
#include "link_info.h"
#include "nl.h"
#include "print.h"
#include "queues.h"

/* By GSOTUN_A_DEV_*. */
struct device {
	uint32_t given;
	uint64_t value[GSOTUN_A_DEV_MAX + 1];
	char name[IFNAMSIZ];
	struct link_info link;
	bool gone;
};

struct device_list {
	struct device *devices;
	unsigned int count;
};

static bool has(const struct device *d, int attr)
{
	return d->given & 1u << attr;
}

static int on_device(const struct nlmsghdr *nlh, void *arg)
{
	struct nlattr *tb[GSOTUN_A_DEV_MAX + 1];
	struct device_list *list = arg;
	struct device *d;
	int type;

	if (genlmsg_parse((struct nlmsghdr *)nlh, 0, tb, GSOTUN_A_DEV_MAX, NULL) < 0)
		return -EPROTO;
	d = realloc(list->devices, (list->count + 1) * sizeof(*d));
	if (!d)
		return -ENOMEM;
	list->devices = d;
	d += list->count++;
	memset(d, 0, sizeof(*d));
	for (type = 1; type <= GSOTUN_A_DEV_MAX; type++) {
		if (!tb[type] || type == GSOTUN_A_DEV_PAD)
			continue;
		d->given |= 1u << type;
		if (type == GSOTUN_A_DEV_NAME)
			nla_strlcpy(d->name, tb[type], sizeof(d->name));
		else if (nla_len(tb[type]) == 1)
			d->value[type] = nla_get_u8(tb[type]);
		else if (nla_len(tb[type]) == 4)
			d->value[type] = nla_get_u32(tb[type]);
		else if (nla_len(tb[type]) == 8)
			d->value[type] = nla_get_u64(tb[type]);
	}
	return 0;
}

static int get_devices(struct nl *nl, uint32_t ifindex, struct device_list *list)
{
	struct nl_msg *msg;
	int tries, err;

	for (tries = 0; tries < DUMP_TRIES; tries++) {
		msg = netlink_gsotun_msg(nl, GSOTUN_CMD_DEV_GET, ifindex ? 0 : NLM_F_DUMP);
		if (!msg)
			return -ENOMEM;
		if (ifindex && nla_put_u32(msg, GSOTUN_A_DEV_IFINDEX, ifindex)) {
			nlmsg_free(msg);
			return -ENOMEM;
		}
		err = netlink_request(nl, msg, on_device, list);
		if (!err)
			return 0;
		free(list->devices);
		memset(list, 0, sizeof(*list));
		if (err != -EAGAIN)
			break;
	}
	return err;
}

/* What rtnetlink adds. A device that went away meanwhile is not shown. */
static int get_links(struct device_list *list)
{
	struct device *d = list->devices;
	unsigned int i;
	struct nl nl;
	int err;

	err = netlink_open_route(&nl);
	for (i = 0; i < list->count && !err; i++, d++) {
		err = link_info_get(&nl, (uint32_t)d->value[GSOTUN_A_DEV_IFINDEX], &d->link);
		if (err == -ENODEV) {
			d->gone = true;
			err = 0;
		}
	}
	if (nl.sk)
		netlink_close(&nl);
	return err;
}

static void print_flags(uint32_t flags)
{
	static const struct {
		uint32_t bit;
		const char *name;
	} names[] = {
		{ IFF_POINTOPOINT, "POINTOPOINT" },
		{ IFF_MULTICAST, "MULTICAST" },
		{ IFF_NOARP, "NOARP" },
		{ IFF_PROMISC, "PROMISC" },
		{ IFF_ALLMULTI, "ALLMULTI" },
		{ IFF_DORMANT, "DORMANT" },
		{ IFF_UP, "UP" },
		{ IFF_LOWER_UP, "LOWER_UP" },
	};
	unsigned int i;

	print_list_open("flags", "<", ",");
	/* As ip(8): up, but nobody at the other end. */
	if (flags & IFF_UP && !(flags & IFF_RUNNING))
		print_list_item("NO-CARRIER");
	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (flags & names[i].bit)
			print_list_item(names[i].name);
	print_list_close(">");
}

static const char *operstate_name(uint8_t state)
{
	static const char * const names[] = {
		"UNKNOWN", "NOTPRESENT", "DOWN", "LOWERLAYERDOWN", "TESTING",
		"DORMANT", "UP",
	};

	return state < sizeof(names) / sizeof(*names) ? names[state] : "UNKNOWN";
}

static const char *carrier_name(uint64_t policy)
{
	switch (policy) {
	case GSOTUN_CARRIER_AUTO:	return "auto";
	case GSOTUN_CARRIER_HOLD:	return "hold";
	case GSOTUN_CARRIER_ON:		return "on";
	default:			return "unknown";
	}
}

static void print_number(const struct device *d, int attr, const char *key, const char *label)
{
	if (has(d, attr))
		print_u64(key, label, d->value[attr]);
}

static void print_settings(const struct device *d)
{
	print_line("    ");
	print_number(d, GSOTUN_A_DEV_NUM_QUEUES, "queues", "queues");
	print_number(d, GSOTUN_A_DEV_NUM_ATTACHED, "attached", "attached");
	print_number(d, GSOTUN_A_DEV_OWNER, "owner", "owner");
	print_number(d, GSOTUN_A_DEV_GROUP, "group", "group");
	print_string("carrier", "carrier", carrier_name(d->value[GSOTUN_A_DEV_CARRIER]));
	if (options.details || d->value[GSOTUN_A_DEV_CARRIER] == GSOTUN_CARRIER_HOLD)
		print_number(d, GSOTUN_A_DEV_CARRIER_HOLD, "carrier_hold_ms", "hold");
	if (has(d, GSOTUN_A_DEV_TO_USER_BYTES))
		print_size("to_user_bytes", "to-user", d->value[GSOTUN_A_DEV_TO_USER_BYTES]);
	if (has(d, GSOTUN_A_DEV_FROM_USER_BYTES))
		print_size("from_user_bytes", "from-user", d->value[GSOTUN_A_DEV_FROM_USER_BYTES]);
	print_bool("ephemeral", "ephemeral", d->value[GSOTUN_A_DEV_EPHEMERAL]);
	print_line("    ");
	print_offloads("offloads", "offloads", d->value[GSOTUN_A_DEV_OFFLOADS]);
}

static void print_details(const struct device *d)
{
	print_line("    ");
	print_offloads("supported_to_user", "supported to_user",
		       d->value[GSOTUN_A_DEV_SUPPORTED_TO_USER]);
	print_line("    ");
	print_offloads("supported_from_user", "supported from_user",
		       d->value[GSOTUN_A_DEV_SUPPORTED_FROM_USER]);
	print_line("    ");
	print_number(d, GSOTUN_A_DEV_ABI, "abi", "abi");
}

/* The sums over the queues of the device. */
static void print_statistics(const struct device *d, const struct queue_list *list)
{
	const struct queue_info *q = list->queues;
	struct queue_info sum = { 0 };
	unsigned int i, k, ring;

	for (i = 0; i < list->count; i++, q++) {
		if (q->value[GSOTUN_A_QUEUE_IFINDEX] != d->value[GSOTUN_A_DEV_IFINDEX])
			continue;
		for (ring = 0; ring < 2; ring++) {
			sum.ring[ring].given |= q->ring[ring].given;
			for (k = 1; k <= GSOTUN_A_RING_MAX; k++)
				sum.ring[ring].value[k] += q->ring[ring].value[k];
		}
		for (k = 1; k < DROPS_MAX; k++)
			sum.drops[k] += q->drops[k];
	}
	print_ring_stats(&sum.ring[GSOTUN_TO_USER], GSOTUN_TO_USER);
	print_ring_stats(&sum.ring[GSOTUN_FROM_USER], GSOTUN_FROM_USER);
	print_drops(sum.drops);
}

static void print_device(const struct device *d, const struct queue_list *queues)
{
	print_line("");
	print_object_open(NULL);
	print_u64("ifindex", NULL, d->value[GSOTUN_A_DEV_IFINDEX]);
	print_mark(":");
	print_string("ifname", NULL, d->name);
	print_mark(":");
	print_flags(d->link.flags);
	print_u64("mtu", "mtu", d->link.mtu);
	print_string("operstate", "state", operstate_name(d->link.operstate));
	print_settings(d);
	if (options.details)
		print_details(d);
	if (options.statistics)
		print_statistics(d, queues);
	print_object_close();
}

static int show_devices(struct nl *nl, uint32_t ifindex)
{
	struct device_list list = { NULL, 0 };
	struct queue_list queues = { NULL, 0 };
	unsigned int i;
	int err;

	err = get_devices(nl, ifindex, &list);
	if (!err)
		err = get_links(&list);
	if (!err && options.statistics)
		err = queues_get(nl, ifindex, &queues);
	if (err) {
		err = netlink_fail(nl, err, "link show");
		goto out;
	}
	print_start(options.json, options.pretty);
	for (i = 0; i < list.count; i++)
		if (!list.devices[i].gone)
			print_device(&list.devices[i], &queues);
	if (print_end())
		err = complain("Cannot write: %s", strerror(errno));
out:
	queues_free(&queues);
	free(list.devices);
	return err;
}

int cmd_link_show(int argc, char **argv)
{
	uint32_t ifindex = 0;
	struct nl nl;
	int err;

	if (argc == 2 && !strcmp(argv[0], "dev")) {
		argc--;
		argv++;
	}
	if (argc > 1)
		return complain("\"%s\" is unknown here, try \"gsotun link help\"", argv[1]);
	if (argc) {
		ifindex = arg_device(argv[0]);
		if (!ifindex)
			return EXIT_USAGE;
	}
	err = netlink_open_gsotun(&nl);
	if (err)
		return netlink_fail(NULL, err, "link show");
	err = show_devices(&nl, ifindex);
	netlink_close(&nl);
	return err;
}
