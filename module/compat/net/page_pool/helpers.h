/* SPDX-License-Identifier: GPL-2.0 */
/* 6.6 split net/page_pool.h; pools of fragments needed a flag before 6.7. */
#ifndef GSOTUN_COMPAT_NET_PAGE_POOL_HELPERS_H
#define GSOTUN_COMPAT_NET_PAGE_POOL_HELPERS_H

#ifdef GSOTUN_HAVE_PAGE_POOL_HELPERS
#include_next <net/page_pool/helpers.h>
#else
#include <net/page_pool.h>
#endif

#ifndef PP_FLAG_PAGE_FRAG
#define PP_FLAG_PAGE_FRAG	0
#endif

#endif /* GSOTUN_COMPAT_NET_PAGE_POOL_HELPERS_H */
