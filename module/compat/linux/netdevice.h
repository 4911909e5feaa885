/* SPDX-License-Identifier: GPL-2.0 */
/* netif_napi_add_config() came with 6.13. */
#ifndef GSOTUN_COMPAT_LINUX_NETDEVICE_H
#define GSOTUN_COMPAT_LINUX_NETDEVICE_H

#include_next <linux/netdevice.h>

#ifndef GSOTUN_HAVE_NAPI_ADD_CONFIG
static inline void netif_napi_add_config(struct net_device *dev, struct napi_struct *napi,
					 int (*poll)(struct napi_struct *, int), int index)
{
	netif_napi_add(dev, napi, poll);
}
#endif

#endif /* GSOTUN_COMPAT_LINUX_NETDEVICE_H */
