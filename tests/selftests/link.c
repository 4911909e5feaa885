// SPDX-License-Identifier: GPL-2.0
/* link.c - create, change, look at and delete devices, by both netlinks. */

#include <errno.h>
#include <net/if.h>

#include "gsotun_test.h"
#include "kselftest_harness.h"

FIXTURE(link)
{
	int net;
};

FIXTURE_SETUP(link)
{
	self->net = gt_unshare_net();
}

FIXTURE_TEARDOWN(link)
{
	close(self->net);
}

/* A name and the kind are enough; a second device of that name is refused. */
TEST_F(link, plain)
{
	struct gt_link l;

	gt_link_init(&l, "g0");
	ASSERT_EQ(gt_link_add(&l), 0)
		TH_LOG("%s", gt_extack);
	EXPECT_EQ(gt_link_add(&l), -EEXIST);
	EXPECT_EQ(gt_dev_del(if_nametoindex("g0")), 0);
	EXPECT_EQ(if_nametoindex("g0"), 0);
}

TEST_HARNESS_MAIN
