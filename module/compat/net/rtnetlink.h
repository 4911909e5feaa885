/* SPDX-License-Identifier: GPL-2.0 */
/* newlink() takes one struct from 6.15 on. */
#ifndef GSOTUN_COMPAT_NET_RTNETLINK_H
#define GSOTUN_COMPAT_NET_RTNETLINK_H

#include_next <net/rtnetlink.h>

#ifndef GSOTUN_HAVE_NEWLINK_PARAMS
struct rtnl_newlink_params {
	struct nlattr **tb;
	struct nlattr **data;
};

#define GSOTUN_NEWLINK(name)						\
static int name##_compat(struct net *net, struct net_device *dev,	\
			 struct nlattr *tb[], struct nlattr *data[],	\
			 struct netlink_ext_ack *extack)		\
{									\
	struct rtnl_newlink_params params = { .tb = tb, .data = data };	\
									\
	return name(dev, &params, extack);				\
}

#define GSOTUN_NEWLINK_OP(name)	name##_compat
#else
#define GSOTUN_NEWLINK(name)
#define GSOTUN_NEWLINK_OP(name)	name
#endif

#endif /* GSOTUN_COMPAT_NET_RTNETLINK_H */
