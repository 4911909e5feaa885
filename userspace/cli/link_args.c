// SPDX-License-Identifier: GPL-2.0
/* link_args.c - attributes of a device: from words to netlink. */
#include <net/if.h>
#include <string.h>

#include <linux/if_link.h>
#include <netlink/attr.h>
#include <netlink/msg.h>

#include <linux/gsotun.h>

#include "cli.h"
#include "link_args.h"

#define ADD_ONLY	true

static bool read_count(const char *text, uint32_t *value)
{
	return arg_number(text, UINT32_MAX, value);
}

static bool read_carrier(const char *text, uint32_t *value)
{
	static const char * const names[] = {
		[GSOTUN_CARRIER_AUTO] = "auto",
		[GSOTUN_CARRIER_HOLD] = "hold",
		[GSOTUN_CARRIER_ON] = "on",
	};

	for (*value = 0; *value < sizeof(names) / sizeof(*names); ++*value)
		if (!strcmp(text, names[*value]))
			return true;
	return false;
}

struct keyword {
	const char *name;
	bool (*read)(const char *text, uint32_t *value);
	const char *expects;
	uint32_t attr;
	bool add_only;
};

static const struct keyword keywords[] = {
	{ "queues", read_count, "a number", IFLA_GSOTUN_QUEUES, ADD_ONLY },
	{ "owner", arg_user, "a user", IFLA_GSOTUN_OWNER, false },
	{ "group", arg_group, "a group", IFLA_GSOTUN_GROUP, false },
	{ "carrier", read_carrier, "auto, hold or on", IFLA_GSOTUN_CARRIER, false },
	{ "hold", read_count, "milliseconds", IFLA_GSOTUN_CARRIER_HOLD, false },
	{ "to-user", arg_size, "a size", IFLA_GSOTUN_TO_USER_BYTES, false },
	{ "from-user", arg_size, "a size", IFLA_GSOTUN_FROM_USER_BYTES, false },
	{ NULL, NULL, NULL, 0, false }
};

static const struct keyword *find_keyword(const char *name, bool adding)
{
	const struct keyword *k;

	for (k = keywords; k->name; k++)
		if (!strcmp(name, k->name) && (adding || !k->add_only))
			return k;
	return NULL;
}

/* One word without a value. Return: false if it is none. */
static bool take_flag(struct link_args *a, bool adding, const char *word)
{
	if (adding && !strcmp(word, "ephemeral")) {
		a->given |= 1u << IFLA_GSOTUN_EPHEMERAL;
		a->value[IFLA_GSOTUN_EPHEMERAL] = 1;
	} else if (!adding && !strcmp(word, "up")) {
		a->flags |= LINK_ARG_UP;
	} else if (!adding && !strcmp(word, "down")) {
		a->flags |= LINK_ARG_DOWN;
	} else {
		return false;
	}
	return true;
}

static int take_pair(struct link_args *a, bool adding, const char *word, const char *text)
{
	const struct keyword *k = find_keyword(word, adding);
	bool is_mtu = !strcmp(word, "mtu");

	if (!k && !is_mtu)
		return complain("\"%s\" is unknown here, try \"gsotun link help\"", word);
	if (!text)
		return complain("\"%s\" needs a value", word);
	if (is_mtu)
		return arg_number(text, INT32_MAX, &a->mtu) && a->mtu ? 0 :
		       complain("\"mtu\" needs a number, not \"%s\"", text);
	if (a->given & 1u << k->attr)
		return complain("\"%s\" is given twice", word);
	if (!k->read(text, &a->value[k->attr]))
		return complain("\"%s\" needs %s, not \"%s\"", word, k->expects, text);
	a->given |= 1u << k->attr;
	return 0;
}

int link_args_parse(struct link_args *a, bool adding, int argc, char **argv)
{
	int i = 0;

	memset(a, 0, sizeof(*a));
	if (argc > 1 && !strcmp(argv[0], adding ? "name" : "dev"))
		i++;
	if (i == argc)
		return complain("Which device? Try \"gsotun link help\"");
	a->name = argv[i++];
	if (!a->name[0] || strlen(a->name) >= IFNAMSIZ)
		return complain("\"%s\" is not the name of a device", a->name);
	while (i < argc) {
		if (take_flag(a, adding, argv[i])) {
			i++;
			continue;
		}
		if (take_pair(a, adding, argv[i], i + 1 < argc ? argv[i + 1] : NULL))
			return EXIT_USAGE;
		i += 2;
	}
	if (a->flags == (LINK_ARG_UP | LINK_ARG_DOWN))
		return complain("Either \"up\" or \"down\"");
	return 0;
}

static bool put_data(const struct link_args *a, struct nl_msg *msg)
{
	uint32_t attr;
	int err = 0;

	for (attr = 1; attr <= IFLA_GSOTUN_MAX && !err; attr++) {
		if (!(a->given & 1u << attr))
			continue;
		if (attr == IFLA_GSOTUN_CARRIER || attr == IFLA_GSOTUN_EPHEMERAL)
			err = nla_put_u8(msg, (int)attr, (uint8_t)a->value[attr]);
		else
			err = nla_put_u32(msg, (int)attr, a->value[attr]);
	}
	return !err;
}

bool link_args_put(const struct link_args *a, struct nl_msg *msg)
{
	uint32_t queues = a->value[IFLA_GSOTUN_QUEUES];
	struct nlattr *info, *data;

	if (a->mtu && nla_put_u32(msg, IFLA_MTU, a->mtu))
		return false;
	/* The core sizes the device by these, before it calls the driver. */
	if (a->given & 1u << IFLA_GSOTUN_QUEUES &&
	    (nla_put_u32(msg, IFLA_NUM_TX_QUEUES, queues) ||
	     nla_put_u32(msg, IFLA_NUM_RX_QUEUES, queues)))
		return false;
	info = nla_nest_start(msg, IFLA_LINKINFO);
	if (!info || nla_put_string(msg, IFLA_INFO_KIND, "gsotun"))
		return false;
	if (a->given) {
		data = nla_nest_start(msg, IFLA_INFO_DATA);
		if (!data || !put_data(a, msg))
			return false;
		nla_nest_end(msg, data);
	}
	nla_nest_end(msg, info);
	return true;
}
