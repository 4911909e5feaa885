// SPDX-License-Identifier: GPL-2.0
/* link_info.c - RTM_GETLINK of one link. */
#include <errno.h>
#include <string.h>

#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <netlink/msg.h>

#include "link_info.h"
#include "nl.h"

static int on_link(const struct nlmsghdr *nlh, void *arg)
{
	struct nlattr *tb[IFLA_MAX + 1], *kind;
	const struct ifinfomsg *ifi = nlmsg_data(nlh);
	struct link_info *info = arg;

	if (nlh->nlmsg_type != RTM_NEWLINK)
		return 0;
	if (nlmsg_parse((struct nlmsghdr *)nlh, sizeof(*ifi), tb, IFLA_MAX, NULL) < 0)
		return -EPROTO;
	info->flags = ifi->ifi_flags;
	if (tb[IFLA_MTU] && nla_len(tb[IFLA_MTU]) >= 4)
		info->mtu = nla_get_u32(tb[IFLA_MTU]);
	if (tb[IFLA_OPERSTATE] && nla_len(tb[IFLA_OPERSTATE]) >= 1)
		info->operstate = nla_get_u8(tb[IFLA_OPERSTATE]);
	if (tb[IFLA_LINKINFO]) {
		kind = nla_find(nla_data(tb[IFLA_LINKINFO]), nla_len(tb[IFLA_LINKINFO]),
				IFLA_INFO_KIND);
		info->is_gsotun = kind && !nla_strcmp(kind, "gsotun");
	}
	return 0;
}

int link_info_get(struct nl *route, uint32_t ifindex, struct link_info *info)
{
	struct nl_msg *msg = nlmsg_alloc_simple(RTM_GETLINK, 0);
	struct ifinfomsg ifi = { .ifi_family = AF_UNSPEC, .ifi_index = (int)ifindex };

	memset(info, 0, sizeof(*info));
	if (!msg || nlmsg_append(msg, &ifi, sizeof(ifi), NLMSG_ALIGNTO) ||
	    nla_put_u32(msg, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS)) {
		nlmsg_free(msg);
		return -ENOMEM;
	}
	return netlink_request(route, msg, on_link, info);
}
