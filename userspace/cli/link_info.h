/* SPDX-License-Identifier: GPL-2.0 */
/*
 * link_info.h - what rtnetlink knows about a link.
 */
#ifndef GSOTUN_CLI_LINK_INFO_H
#define GSOTUN_CLI_LINK_INFO_H

#include <stdbool.h>
#include <stdint.h>

struct nl;

struct link_info {
	bool is_gsotun;
	uint32_t flags;		/* IFF_* */
	uint32_t mtu;
	uint8_t operstate;	/* IF_OPER_* */
};

/* Return: 0 or -errno; -ENODEV if there is no such link. */
int link_info_get(struct nl *route, uint32_t ifindex, struct link_info *info);

#endif /* GSOTUN_CLI_LINK_INFO_H */
