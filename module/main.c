// SPDX-License-Identifier: GPL-2.0
/* main.c - loading and unloading: what there is, in order. */

#include <linux/module.h>
#include <net/genetlink.h>
#include <net/rtnetlink.h>

#include "chardev.h"
#include "device.h"
#include "genl.h"

static int __init gsotun_init(void)
{
	int err;

	err = gsotun_genl_init();
	if (err)
		return err;
	err = gsotun_device_init();
	if (err)
		goto err_genl;
	err = gsotun_chardev_init();
	if (err)
		goto err_device;
	return 0;

err_device:
	gsotun_device_exit();
err_genl:
	gsotun_genl_exit();
	return err;
}

/* Nobody has a file open here: each holds a reference to the module. */
static void __exit gsotun_exit(void)
{
	gsotun_chardev_exit();
	gsotun_device_exit();
	gsotun_genl_exit();
}

module_init(gsotun_init);
module_exit(gsotun_exit);

MODULE_DESCRIPTION("L3 tunnel device that shares GSO rings with userspace");
MODULE_AUTHOR("The gsotun authors");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1.0");
MODULE_ALIAS_RTNL_LINK("gsotun");
MODULE_ALIAS_GENL_FAMILY("gsotun");
