/* SPDX-License-Identifier: GPL-2.0 */
/* qdisc_txq_has_no_queue() came with 6.16. */
#ifndef GSOTUN_COMPAT_NET_SCH_GENERIC_H
#define GSOTUN_COMPAT_NET_SCH_GENERIC_H

#include_next <net/sch_generic.h>

#ifndef GSOTUN_HAVE_TXQ_HAS_NO_QUEUE
static inline bool qdisc_txq_has_no_queue(const struct netdev_queue *txq)
{
	return !rcu_access_pointer(txq->qdisc)->enqueue;
}
#endif

#endif /* GSOTUN_COMPAT_NET_SCH_GENERIC_H */
