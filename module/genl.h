/* SPDX-License-Identifier: GPL-2.0 */
/* genl.h - generic netlink: look at devices and queues, and watch them. */
#ifndef GSOTUN_GENL_H
#define GSOTUN_GENL_H

#include <linux/types.h>

struct gsotun_dev;
struct gsotun_queue;

int gsotun_genl_init(void);
void gsotun_genl_exit(void);

/* Tell watchers in the device's namespace. @cmd: GSOTUN_CMD_*_NTF. Context: RTNL. */
void gsotun_genl_dev_event(struct gsotun_dev *gd, u8 cmd);
void gsotun_genl_queue_event(struct gsotun_queue *q, u8 cmd);

#endif /* GSOTUN_GENL_H */
