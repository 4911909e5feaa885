/* SPDX-License-Identifier: GPL-2.0 */
/* struct genl_info in dumps came with 6.6; before, only attributes were there. */
#ifndef GSOTUN_COMPAT_NET_GENETLINK_H
#define GSOTUN_COMPAT_NET_GENETLINK_H

#include_next <net/genetlink.h>

static inline struct nlattr **gsotun_dump_attrs(struct netlink_callback *cb)
{
#ifdef GSOTUN_HAVE_GENL_INFO_DUMP
	return genl_info_dump(cb)->attrs;
#else
	return genl_dumpit_info(cb)->attrs;
#endif
}

#endif /* GSOTUN_COMPAT_NET_GENETLINK_H */
