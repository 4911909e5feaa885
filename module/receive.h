/* SPDX-License-Identifier: GPL-2.0 */
/* receive.h - data in: record -> checks -> skb -> GRO, in NAPI. */
#ifndef GSOTUN_RECEIVE_H
#define GSOTUN_RECEIVE_H

#include <linux/netdevice.h>

struct gsotun_queue;

/* NAPI poll. Context: softirq or the NAPI thread. */
int gsotun_poll(struct napi_struct *napi, int budget);

/**
 * gsotun_receive_kick - the daemon submitted records: poll
 * @q: queue
 *
 * Polls at once, on this CPU, unless NAPI is threaded. While the device is down
 * nothing happens.
 * Context: process, RCU or RTNL.
 */
void gsotun_receive_kick(struct gsotun_queue *q);

#endif /* GSOTUN_RECEIVE_H */
