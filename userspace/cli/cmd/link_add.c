// SPDX-License-Identifier: GPL-2.0
/* link_add.c - gsotun link add: create a device. */
#include <errno.h>

#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <netlink/msg.h>

#include "cli.h"
#include "link_args.h"
#include "nl.h"

static struct nl_msg *request(const struct link_args *a)
{
	struct nl_msg *msg = nlmsg_alloc_simple(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
	struct ifinfomsg ifi = { .ifi_family = AF_UNSPEC };

	if (msg && !nlmsg_append(msg, &ifi, sizeof(ifi), NLMSG_ALIGNTO) &&
	    !nla_put_string(msg, IFLA_IFNAME, a->name) && link_args_put(a, msg))
		return msg;
	nlmsg_free(msg);
	return NULL;
}

int cmd_link_add(int argc, char **argv)
{
	struct link_args a;
	struct nl_msg *msg;
	struct nl nl;
	int err;

	err = link_args_parse(&a, true, argc, argv);
	if (err)
		return err;
	err = netlink_open_route(&nl);
	if (err)
		return netlink_fail(NULL, err, "netlink");
	msg = request(&a);
	err = msg ? netlink_request(&nl, msg, NULL, NULL) : -ENOMEM;
	if (err)
		err = netlink_fail(&nl, err, a.name);
	netlink_close(&nl);
	return err;
}
