/* SPDX-License-Identifier: GPL-2.0 */
/* xmit.h - data out: skb -> virtio_net_hdr -> record -> doorbell. */
#ifndef GSOTUN_XMIT_H
#define GSOTUN_XMIT_H

#include <linux/netdevice.h>

struct gsotun_queue;

/* ndo_start_xmit. Context: BH, tx queue lock. */
netdev_tx_t gsotun_xmit(struct sk_buff *skb, struct net_device *dev);

/**
 * gsotun_xmit_kick - the daemon released records: wake a stopped queue
 * @q: queue
 *
 * Context: process, RCU or RTNL; takes the tx queue lock.
 */
void gsotun_xmit_kick(struct gsotun_queue *q);

/* The same, but does nothing unless the queue looks stopped. */
void gsotun_xmit_poll(struct gsotun_queue *q);

#endif /* GSOTUN_XMIT_H */
