/* SPDX-License-Identifier: GPL-2.0 */
/* chardev.h - /dev/net/gsotun: attach, map, wait, kick. */
#ifndef GSOTUN_CHARDEV_H
#define GSOTUN_CHARDEV_H

int gsotun_chardev_init(void);
void gsotun_chardev_exit(void);

#endif /* GSOTUN_CHARDEV_H */
