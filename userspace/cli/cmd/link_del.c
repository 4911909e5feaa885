// SPDX-License-Identifier: GPL-2.0
/* link_del.c - gsotun link del: delete a device, and only one of ours. */
#include <errno.h>
#include <string.h>

#include <linux/rtnetlink.h>
#include <netlink/msg.h>

#include "cli.h"
#include "link_info.h"
#include "nl.h"

static int delete(struct nl *nl, uint32_t ifindex)
{
	struct ifinfomsg ifi = { .ifi_family = AF_UNSPEC, .ifi_index = (int)ifindex };
	struct nl_msg *msg = nlmsg_alloc_simple(RTM_DELLINK, 0);

	if (!msg || nlmsg_append(msg, &ifi, sizeof(ifi), NLMSG_ALIGNTO)) {
		nlmsg_free(msg);
		return -ENOMEM;
	}
	return netlink_request(nl, msg, NULL, NULL);
}

int cmd_link_del(int argc, char **argv)
{
	struct link_info info;
	uint32_t ifindex;
	struct nl nl;
	int err;

	if (argc == 2 && !strcmp(argv[0], "dev")) {
		argc--;
		argv++;
	}
	if (argc != 1)
		return complain("Which device? Try \"gsotun link help\"");
	ifindex = arg_device(argv[0]);
	if (!ifindex)
		return EXIT_USAGE;
	err = netlink_open_route(&nl);
	if (err)
		return netlink_fail(NULL, err, "netlink");
	err = link_info_get(&nl, ifindex, &info);
	if (!err && !info.is_gsotun) {
		netlink_close(&nl);
		return complain("\"%s\" is not a gsotun device", argv[0]);
	}
	if (!err)
		err = delete(&nl, ifindex);
	if (err)
		err = netlink_fail(&nl, err, argv[0]);
	netlink_close(&nl);
	return err;
}
