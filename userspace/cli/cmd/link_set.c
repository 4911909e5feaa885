// SPDX-License-Identifier: GPL-2.0
/* link_set.c - gsotun link set: change a device. */
#include <errno.h>
#include <net/if.h>

#include <linux/rtnetlink.h>
#include <netlink/msg.h>

#include "cli.h"
#include "link_args.h"
#include "link_info.h"
#include "nl.h"

static struct nl_msg *request(const struct link_args *a, uint32_t ifindex)
{
	struct nl_msg *msg = nlmsg_alloc_simple(RTM_NEWLINK, 0);
	struct ifinfomsg ifi = {
		.ifi_family = AF_UNSPEC,
		.ifi_index = (int)ifindex,
		.ifi_change = a->flags ? IFF_UP : 0,
		.ifi_flags = a->flags & LINK_ARG_UP ? IFF_UP : 0,
	};

	if (msg && !nlmsg_append(msg, &ifi, sizeof(ifi), NLMSG_ALIGNTO) &&
	    link_args_put(a, msg))
		return msg;
	nlmsg_free(msg);
	return NULL;
}

int cmd_link_set(int argc, char **argv)
{
	struct link_info info;
	struct link_args a;
	struct nl_msg *msg;
	uint32_t ifindex;
	struct nl nl;
	int err;

	err = link_args_parse(&a, false, argc, argv);
	if (err)
		return err;
	if (!a.given && !a.mtu && !a.flags)
		return complain("What shall change? Try \"gsotun link help\"");
	ifindex = arg_device(a.name);
	if (!ifindex)
		return EXIT_USAGE;
	err = netlink_open_route(&nl);
	if (err)
		return netlink_fail(NULL, err, "netlink");
	err = link_info_get(&nl, ifindex, &info);
	if (!err && !info.is_gsotun) {
		netlink_close(&nl);
		return complain("\"%s\" is not a gsotun device", a.name);
	}
	if (!err) {
		msg = request(&a, ifindex);
		err = msg ? netlink_request(&nl, msg, NULL, NULL) : -ENOMEM;
	}
	if (err)
		err = netlink_fail(&nl, err, a.name);
	netlink_close(&nl);
	return err;
}
