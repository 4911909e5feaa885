// SPDX-License-Identifier: GPL-2.0
/* link.c - create, change, look at and delete devices, by both netlinks. */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>

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

/* Create @name with INFO_DATA as it is in @data; raw, so that it can be wrong. */
static int add_raw(const char *name, size_t name_len, uint16_t attr, const void *value,
		   size_t len)
{
	struct ifinfomsg ifi = { };
	struct nlattr *info, *nest;
	struct gt_msg m;

	gt_msg_init(&m, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &ifi, sizeof(ifi));
	if (name)
		gt_put(&m, IFLA_IFNAME, name, name_len);
	info = gt_nest(&m, IFLA_LINKINFO);
	gt_put_str(&m, IFLA_INFO_KIND, "gsotun");
	if (attr) {
		nest = gt_nest(&m, IFLA_INFO_DATA);
		gt_put(&m, attr, value, len);
		gt_nest_end(&m, nest);
	}
	gt_nest_end(&m, info);
	return gt_rtnl(&m);
}

/* ---- rtnetlink ------------------------------------------------------------------ */

/* A name and the kind are enough; a second device of that name is refused. */
TEST_F(link, plain)
{
	struct gt_link l;

	EXPECT_EQ(system("ip link add g0 type gsotun"), 0);
	ASSERT_NE(gt_ifindex("g0"), 0);
	ASSERT_EQ(gt_link_get(gt_ifindex("g0"), &l), 0);
	EXPECT_EQ(l.mtu, 1500);
	EXPECT_EQ(l.txqlen, 1000);
	EXPECT_EQ(l.queues, 1);
	EXPECT_EQ(l.owner, GT_UNSET);
	EXPECT_EQ(l.group, GT_UNSET);
	EXPECT_EQ(l.carrier, GSOTUN_CARRIER_AUTO);
	EXPECT_EQ(l.hold_ms, 10000);
	EXPECT_EQ(l.to_user_bytes, GSOTUN_RING_BYTES_DEFAULT);
	EXPECT_EQ(l.from_user_bytes, GSOTUN_RING_BYTES_DEFAULT);
	EXPECT_EQ(l.ephemeral, 0);
	EXPECT_EQ(l.attached, 0);

	gt_link_init(&l, "g0");
	EXPECT_EQ(gt_link_add(&l), -EEXIST);
	EXPECT_EQ(gt_dev_del(gt_ifindex("g0")), 0);
	EXPECT_EQ(gt_ifindex("g0"), 0);
	EXPECT_EQ(system("ip link add type gsotun"), 0);
	EXPECT_NE(gt_ifindex("gsotun0"), 0);
}

/* What makes "ip link add type gsotun" and the CLI load the module. */
TEST_F(link, module_aliases)
{
	char cmd[4096], line[256];
	bool link = false, genl = false;
	FILE *p;

	if (!getenv("GSOTUN_MODULE"))
		SKIP(return, "GSOTUN_MODULE is not set");
	snprintf(cmd, sizeof(cmd), "modinfo -F alias %s", getenv("GSOTUN_MODULE"));
	p = popen(cmd, "r");
	ASSERT_NE(p, NULL);
	while (fgets(line, sizeof(line), p)) {
		link |= !strcmp(line, "rtnl-link-gsotun\n");
		genl |= !strcmp(line, "net-pf-16-proto-16-family-gsotun\n");
	}
	pclose(p);
	EXPECT_TRUE(link);
	EXPECT_TRUE(genl);
}

/* Every number of queues, by the attribute of the kind, is what one gets. */
TEST_F(link, queues_by_attribute)
{
	struct gt_link l;
	int n, ifindex;

	for (n = 1; n <= GSOTUN_MAX_QUEUES; n++) {
		ifindex = gt_dev_add("g0", n);
		ASSERT_EQ(gt_link_get(ifindex, &l), 0);
		EXPECT_EQ(l.queues, n);
		EXPECT_EQ(l.num_tx, n);
		EXPECT_EQ(l.num_rx, n);
		ASSERT_EQ(gt_dev_del(ifindex), 0);
	}
}

/* The same by the numbers that every kind has: one of them, or both. */
TEST_F(link, queues_by_numtxqueues)
{
	static const uint32_t numbers[] = { 1, 2, 5, 63, 64 };
	struct gt_link l;
	int i, how;

	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		for (how = 0; how < 3; how++) {
			gt_link_init(&l, "g0");
			if (how != 1)
				l.num_tx = numbers[i];
			if (how != 0)
				l.num_rx = numbers[i];
			ASSERT_EQ(gt_link_add(&l), 0)
				TH_LOG("%u, %d: %s", numbers[i], how, gt_extack);
			ASSERT_EQ(gt_link_get(gt_ifindex("g0"), &l), 0);
			EXPECT_EQ(l.queues, numbers[i]);
			EXPECT_EQ(l.num_tx, numbers[i]);
			EXPECT_EQ(l.num_rx, numbers[i]);
			ASSERT_EQ(gt_dev_del(gt_ifindex("g0")), 0);
		}
	}
}

/* Numbers that contradict each other are refused with a reason, not guessed. */
TEST_F(link, queue_conflicts)
{
	static const struct {
		uint32_t tx, rx, queues;
		int err;
		const char *text;
	} cases[] = {
		{ 4, 2, GT_UNSET, -EINVAL, "must agree" },
		{ 2, 4, GT_UNSET, -EINVAL, "must agree" },
		{ 4, GT_UNSET, 2, -EINVAL, "must agree" },
		{ 2, GT_UNSET, 4, -EINVAL, "must agree" },
		{ GT_UNSET, 1, 4, -EINVAL, "must agree" },
		{ 4, 4, 3, -EINVAL, "must agree" },
		{ 1, 1, 2, -EINVAL, "must agree" },
		{ 65, GT_UNSET, GT_UNSET, -EINVAL, "64" },
		{ GT_UNSET, 4096, GT_UNSET, -EINVAL, "64" },
		{ 65, 65, 64, -EINVAL, "" },
		{ 0, GT_UNSET, GT_UNSET, -EINVAL, "" },
		{ GT_UNSET, GT_UNSET, 0, -ERANGE, "" },
		{ GT_UNSET, GT_UNSET, 65, -ERANGE, "" },
		{ GT_UNSET, GT_UNSET, 0x80000000, -ERANGE, "" },
		{ GT_UNSET, GT_UNSET, 0xfffffffe, -ERANGE, "" },
	};
	struct gt_link l;
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		gt_link_init(&l, "g0");
		l.num_tx = cases[i].tx;
		l.num_rx = cases[i].rx;
		l.queues = cases[i].queues;
		EXPECT_EQ(gt_link_add(&l), cases[i].err)
			TH_LOG("case %d: %s", i, gt_extack);
		EXPECT_NE(gt_extack[0], 0)
			TH_LOG("case %d has no text", i);
		EXPECT_NE(strstr(gt_extack, cases[i].text), NULL)
			TH_LOG("case %d: '%s'", i, gt_extack);
		EXPECT_EQ(gt_ifindex("g0"), 0);
	}
}

/* Every option can be given at creation and reads back as it was given. */
TEST_F(link, options_at_creation)
{
	struct gt_link l;

	gt_link_init(&l, "g0");
	l.mtu = 9000;
	l.owner = 1234;
	l.group = 4321;
	l.carrier = GSOTUN_CARRIER_HOLD;
	l.hold_ms = 600000;
	l.to_user_bytes = GSOTUN_RING_BYTES_MIN;
	l.from_user_bytes = GSOTUN_RING_BYTES_MAX;
	l.ephemeral = 1;
	l.queues = 7;
	ASSERT_EQ(gt_link_add(&l), 0)
		TH_LOG("%s", gt_extack);
	ASSERT_EQ(gt_link_get(gt_ifindex("g0"), &l), 0);
	EXPECT_EQ(l.mtu, 9000);
	EXPECT_EQ(l.owner, 1234);
	EXPECT_EQ(l.group, 4321);
	EXPECT_EQ(l.carrier, GSOTUN_CARRIER_HOLD);
	EXPECT_EQ(l.hold_ms, 600000);
	EXPECT_EQ(l.to_user_bytes, GSOTUN_RING_BYTES_MIN);
	EXPECT_EQ(l.from_user_bytes, GSOTUN_RING_BYTES_MAX);
	EXPECT_EQ(l.ephemeral, 1);
	EXPECT_EQ(l.queues, 7);
}

/* What may change changes, alone: the rest stays as it was. */
TEST_F(link, options_change)
{
	int ifindex = gt_dev_add("g0", 3);
	struct gt_link want, l;
	int i;

	ASSERT_EQ(gt_link_get(ifindex, &want), 0);
	for (i = 0; i < 6; i++) {
		gt_link_init(&l, NULL);
		l.ifindex = ifindex;
		switch (i) {
		case 0:
			want.owner = l.owner = 7;
			break;
		case 1:
			want.group = l.group = 8;
			break;
		case 2:
			want.carrier = l.carrier = GSOTUN_CARRIER_ON;
			break;
		case 3:
			want.hold_ms = l.hold_ms = 1;
			break;
		case 4:
			want.to_user_bytes = l.to_user_bytes = GT_MIB(1);
			break;
		case 5:
			want.from_user_bytes = l.from_user_bytes = GT_MIB(2);
			break;
		}
		EXPECT_EQ(gt_link_change(&l), 0)
			TH_LOG("change %d: %s", i, gt_extack);
		ASSERT_EQ(gt_link_get(ifindex, &l), 0);
		EXPECT_EQ(memcmp(&l, &want, sizeof(l)), 0)
			TH_LOG("after change %d", i);
	}
}

/* What is fixed is refused with a reason; the value it has already is fine. */
TEST_F(link, options_fixed)
{
	int ifindex = gt_dev_add("g0", 3);
	struct gt_link l;

	gt_link_init(&l, NULL);
	l.ifindex = ifindex;
	l.queues = 4;
	EXPECT_EQ(gt_link_change(&l), -EOPNOTSUPP);
	EXPECT_NE(strstr(gt_extack, "queues"), NULL)
		TH_LOG("'%s'", gt_extack);
	l.queues = 3;
	l.ephemeral = 1;
	EXPECT_EQ(gt_link_change(&l), -EOPNOTSUPP);
	EXPECT_NE(strstr(gt_extack, "ephemeral"), NULL)
		TH_LOG("'%s'", gt_extack);
	l.ephemeral = 0;
	EXPECT_EQ(gt_link_change(&l), 0);
	l.attached = 1;
	EXPECT_NE(gt_link_change(&l), 0);
	/* A refused change changes nothing of the rest either. */
	l.attached = GT_UNSET;
	l.ephemeral = 1;
	l.owner = 5;
	EXPECT_EQ(gt_link_change(&l), -EOPNOTSUPP);
	ASSERT_EQ(gt_link_get(ifindex, &l), 0);
	EXPECT_EQ(l.owner, GT_UNSET);
}

/* K30: values out of bounds are refused, at creation and at change, with a text. */
TEST_F(link, options_refused)
{
	static const struct {
		size_t field;
		uint32_t value;
	} cases[] = {
#define CASE(name, value) { offsetof(struct gt_link, name), value }
		CASE(to_user_bytes, 0), CASE(to_user_bytes, 1),
		CASE(to_user_bytes, 4096), CASE(to_user_bytes, GSOTUN_RING_BYTES_MIN / 2),
		CASE(to_user_bytes, GSOTUN_RING_BYTES_MIN - 1),
		CASE(to_user_bytes, GSOTUN_RING_BYTES_MIN + 4096),
		CASE(to_user_bytes, 3 * GSOTUN_RING_BYTES_MIN),
		CASE(to_user_bytes, 2 * GSOTUN_RING_BYTES_MAX),
		CASE(to_user_bytes, 0x7fffffff), CASE(to_user_bytes, 0x80000000),
		CASE(to_user_bytes, 0xfffffff8), CASE(to_user_bytes, 0xfffffffe),
		CASE(from_user_bytes, 0), CASE(from_user_bytes, 1),
		CASE(from_user_bytes, GSOTUN_RING_BYTES_MIN / 2),
		CASE(from_user_bytes, 3 * GSOTUN_RING_BYTES_MIN),
		CASE(from_user_bytes, 2 * GSOTUN_RING_BYTES_MAX),
		CASE(from_user_bytes, 0x80000000), CASE(from_user_bytes, 0xfffffff8),
		CASE(carrier, 3), CASE(carrier, 255),
		CASE(hold_ms, 0), CASE(hold_ms, 600001), CASE(hold_ms, 0xfffffffe),
		CASE(ephemeral, 2), CASE(attached, 0),
#undef CASE
	};
	int ifindex = gt_dev_add("g1", 1), i, create;
	struct gt_link want, l;

	ASSERT_EQ(gt_link_get(ifindex, &want), 0);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		for (create = 0; create < 2; create++) {
			gt_link_init(&l, create ? "g0" : NULL);
			if (!create)
				l.ifindex = ifindex;
			*(uint32_t *)((char *)&l + cases[i].field) = cases[i].value;
			EXPECT_LT(create ? gt_link_add(&l) : gt_link_change(&l), 0)
				TH_LOG("case %d, create %d: accepted", i, create);
			EXPECT_NE(gt_extack[0], 0)
				TH_LOG("case %d, create %d: no text", i, create);
			EXPECT_EQ(gt_ifindex("g0"), 0);
		}
	}
	ASSERT_EQ(gt_link_get(ifindex, &l), 0);
	EXPECT_EQ(memcmp(&l, &want, sizeof(l)), 0);
}

/* K35: attributes cut short are refused before anything is read. */
TEST_F(link, attributes_cut_short)
{
	static const char zeros[8];
	int attr, len;

	for (attr = 1; attr <= IFLA_GSOTUN_MAX; attr++) {
		int full = attr == IFLA_GSOTUN_CARRIER || attr == IFLA_GSOTUN_EPHEMERAL ? 1 : 4;

		for (len = 0; len < full; len++)
			EXPECT_LT(add_raw("g0", 3, attr, zeros, len), 0)
				TH_LOG("attribute %d of %d bytes", attr, len);
	}
	EXPECT_EQ(gt_ifindex("g0"), 0);
}

/* It has no hardware address, and says so. */
TEST_F(link, no_address)
{
	struct ifinfomsg ifi = { };
	struct nlattr *info;
	struct gt_msg m;

	gt_msg_init(&m, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &ifi, sizeof(ifi));
	gt_put_str(&m, IFLA_IFNAME, "g0");
	gt_put(&m, IFLA_ADDRESS, "\2\0\0\0\0\1", 6);
	info = gt_nest(&m, IFLA_LINKINFO);
	gt_put_str(&m, IFLA_INFO_KIND, "gsotun");
	gt_nest_end(&m, info);
	EXPECT_EQ(gt_rtnl(&m), -EINVAL);
	EXPECT_NE(strstr(gt_extack, "address"), NULL);
}

/* K42: names that sysfs cannot take are refused; patterns give a name. */
TEST_F(link, names)
{
	static const char *const refused[] = {
		".", "..", "a/b", "/", "a b", "a:b", "%s", "%d%d", "a%", "sixteen_letters_",
		"this name is far too long for an interface", "\t", "a\nb",
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(refused); i++)
		EXPECT_LT(add_raw(refused[i], strlen(refused[i]) + 1, 0, NULL, 0), 0)
			TH_LOG("name %d was accepted", i);
	/* Without the terminating zero. */
	EXPECT_LT(add_raw("sixteen_letters_", 16, 0, NULL, 0), 0);
	EXPECT_EQ(add_raw("fifteen_letters", 15, 0, NULL, 0), 0);
	EXPECT_NE(gt_ifindex("fifteen_letters"), 0);
	EXPECT_EQ(add_raw("vpn%d", 6, 0, NULL, 0), 0);
	EXPECT_NE(gt_ifindex("vpn0"), 0);
	/* The kernel chooses. */
	EXPECT_EQ(add_raw(NULL, 0, 0, NULL, 0), 0);
	EXPECT_NE(gt_ifindex("gsotun0"), 0);
	/* Kernels differ. Accepted or not, it must not crash. */
	add_raw("", 1, 0, NULL, 0);
	add_raw("%d", 3, 0, NULL, 0);
	add_raw("\xff\xfe", 3, 0, NULL, 0);
}

/* A device that is up, has carrier and daemons can be deleted, queue by queue. */
TEST_F(link, delete_attached)
{
	int ifindex = gt_dev_add("g0", 4), i;
	struct gt_queue q[4];
	struct gsotun_attach a;

	gt_dev_start(ifindex);
	for (i = 0; i < 4; i++)
		ASSERT_EQ(gt_attach(&q[i], ifindex, NULL), 0);
	ASSERT_TRUE(gt_until(gt_carrier(ifindex)));
	EXPECT_EQ(gt_dev_del(ifindex), 0);
	EXPECT_FALSE(gt_dev_exists(ifindex));
	for (i = 0; i < 4; i++) {
		EXPECT_EQ(gt_query_fd(q[i].fd, &a), 0);
		EXPECT_EQ(a.state, GSOTUN_STATE_DETACHED);
		EXPECT_EQ(a.ifindex, 0);
		EXPECT_EQ(q[i].to_k->status, GSOTUN_STATUS_DETACHED);
		EXPECT_EQ(q[i].from_k->status, GSOTUN_STATUS_DETACHED);
		gt_close(&q[i]);
	}
}

/* ---- generic netlink ------------------------------------------------------------- */

static int genl_get(uint8_t cmd, uint32_t ifindex, uint32_t queue,
		    void (*cb)(const struct nlmsghdr *nlh, void *arg), void *arg)
{
	int fd = gt_nl_open(NETLINK_GENERIC), err;
	struct gt_msg m;

	gt_genl_init(&m, cmd, 0);
	if (ifindex != GT_UNSET)
		gt_put_u32(&m, GSOTUN_A_DEV_IFINDEX, ifindex);
	if (queue != GT_UNSET)
		gt_put_u32(&m, GSOTUN_A_QUEUE_ID, queue);
	err = gt_nl_talk(fd, &m, cb, arg);
	close(fd);
	return err;
}

static void keep(const struct nlmsghdr *nlh, void *arg)
{
	struct gt_msg *m = arg;

	memcpy(m->buf, nlh, nlh->nlmsg_len);
	m->nlh = (struct nlmsghdr *)m->buf;
}

/* DEV_GET says what rtnetlink says, and what the kernel can do. */
TEST_F(link, dev_get)
{
	struct gt_link l;
	struct gt_msg m;
	int ifindex;

	gt_link_init(&l, "g0");
	l.queues = 5;
	l.owner = 11;
	l.group = 12;
	l.carrier = GSOTUN_CARRIER_ON;
	l.hold_ms = 77;
	l.to_user_bytes = GT_MIB(1);
	l.from_user_bytes = GT_MIB(2);
	ASSERT_EQ(gt_link_add(&l), 0);
	ifindex = gt_ifindex("g0");

	ASSERT_EQ(genl_get(GSOTUN_CMD_DEV_GET, ifindex, GT_UNSET, keep, &m), 0)
		TH_LOG("%s", gt_extack);
#define NUM(type) gt_num(gt_genl_attr(m.nlh, GSOTUN_A_DEV_##type))
	EXPECT_EQ(NUM(IFINDEX), ifindex);
	EXPECT_STREQ((const char *)gt_data(gt_genl_attr(m.nlh, GSOTUN_A_DEV_NAME)), "g0");
	EXPECT_EQ(NUM(NUM_QUEUES), 5);
	EXPECT_EQ(NUM(NUM_ATTACHED), 0);
	EXPECT_EQ(NUM(OWNER), 11);
	EXPECT_EQ(NUM(GROUP), 12);
	EXPECT_EQ(NUM(CARRIER), GSOTUN_CARRIER_ON);
	EXPECT_EQ(NUM(CARRIER_HOLD), 77);
	EXPECT_EQ(NUM(TO_USER_BYTES), GT_MIB(1));
	EXPECT_EQ(NUM(FROM_USER_BYTES), GT_MIB(2));
	EXPECT_EQ(NUM(EPHEMERAL), 0);
	EXPECT_EQ(NUM(ABI), GSOTUN_ABI);
	EXPECT_EQ(NUM(SUPPORTED_TO_USER) & GSOTUN_OFFLOAD_CSUM, GSOTUN_OFFLOAD_CSUM);
	EXPECT_EQ(NUM(SUPPORTED_FROM_USER) & GSOTUN_OFFLOAD_CSUM, GSOTUN_OFFLOAD_CSUM);

	/* What is not set is absent. */
	ifindex = gt_dev_add("g1", 1);
	ASSERT_EQ(genl_get(GSOTUN_CMD_DEV_GET, ifindex, GT_UNSET, keep, &m), 0);
	EXPECT_EQ(NUM(OWNER), ~0ull);
	EXPECT_EQ(NUM(GROUP), ~0ull);
#undef NUM
}

/* What cannot be answered is refused, with a text, on the attribute. */
TEST_F(link, get_refused)
{
	int ifindex = gt_dev_add("g0", 2), cmd;
	struct gt_msg m;

	for (cmd = GSOTUN_CMD_DEV_GET; cmd <= GSOTUN_CMD_QUEUE_GET; cmd++) {
		uint32_t queue = cmd == GSOTUN_CMD_QUEUE_GET ? 0 : GT_UNSET;

		EXPECT_EQ(genl_get(cmd, GT_UNSET, queue, keep, &m), -EINVAL);
		EXPECT_NE(gt_extack[0], 0);
		EXPECT_EQ(genl_get(cmd, 99999, queue, keep, &m), -ENODEV);
		EXPECT_NE(gt_extack[0], 0);
		EXPECT_EQ(genl_get(cmd, 1, queue, keep, &m), -EOPNOTSUPP);
		EXPECT_NE(gt_extack[0], 0);
		EXPECT_LT(genl_get(cmd, 0, queue, keep, &m), 0);
		EXPECT_LT(genl_get(cmd, 0x80000000, queue, keep, &m), 0);
	}
	EXPECT_EQ(genl_get(GSOTUN_CMD_QUEUE_GET, ifindex, GT_UNSET, keep, &m), -EINVAL);
	EXPECT_EQ(genl_get(GSOTUN_CMD_QUEUE_GET, ifindex, 2, keep, &m), -ENOENT);
	EXPECT_EQ(genl_get(GSOTUN_CMD_QUEUE_GET, ifindex, 0xfffffffe, keep, &m), -ENOENT);
	EXPECT_NE(gt_extack[0], 0);
	/* An attribute that the command does not have, and commands there are not. */
	EXPECT_EQ(genl_get(GSOTUN_CMD_DEV_GET, ifindex, 0, keep, &m), -EINVAL);
	EXPECT_EQ(genl_get(0, ifindex, GT_UNSET, keep, &m), -EOPNOTSUPP);
	EXPECT_EQ(genl_get(GSOTUN_CMD_DEV_ADD_NTF, ifindex, GT_UNSET, keep, &m), -EOPNOTSUPP);
	EXPECT_EQ(genl_get(255, ifindex, GT_UNSET, keep, &m), -EOPNOTSUPP);
}

/* QUEUE_GET follows the attachment: absent, there, and absent again. */
TEST_F(link, queue_get)
{
	int ifindex = gt_dev_add("g0", 3);
	struct gt_queue_info info;
	struct gsotun_attach a;
	struct gt_queue q;

	ASSERT_EQ(gt_queue_get(ifindex, 1, &info), 0);
	EXPECT_EQ(info.ifindex, ifindex);
	EXPECT_EQ(info.id, 1);
	EXPECT_EQ(info.attached, 0);
	EXPECT_EQ(info.pid, ~0ull);
	EXPECT_EQ(info.vnet_len, ~0ull);
	EXPECT_EQ(info.generation, 0);
	EXPECT_EQ(info.ring[GSOTUN_TO_USER].bytes, ~0ull);
	EXPECT_EQ(info.ring[GSOTUN_TO_USER].records, 0);

	gt_attach_init(&a, ifindex, GSOTUN_OFFLOAD_CSUM);
	a.queue = 1;
	a.vnet_len = 20;
	a.fill_limit = 65536;
	a.ring_bytes[GSOTUN_FROM_USER] = GT_MIB(1);
	ASSERT_EQ(gt_attach(&q, ifindex, &a), 0);
	ASSERT_EQ(gt_queue_get(ifindex, 1, &info), 0);
	EXPECT_EQ(info.attached, 1);
	EXPECT_EQ(info.pid, getpid());
	EXPECT_EQ(info.generation, 1);
	EXPECT_EQ(info.vnet_len, 20);
	EXPECT_EQ(info.fill_limit, 65536);
	EXPECT_EQ(info.stopped, 0);
	EXPECT_EQ(info.ring[GSOTUN_TO_USER].bytes, GSOTUN_RING_BYTES_MIN);
	EXPECT_EQ(info.ring[GSOTUN_FROM_USER].bytes, GT_MIB(1));
	EXPECT_EQ(info.ring[GSOTUN_TO_USER].offloads, GSOTUN_OFFLOAD_CSUM);
	EXPECT_EQ(info.ring[GSOTUN_TO_USER].used, 0);
	EXPECT_EQ(info.ring[GSOTUN_TO_USER].layout, GSOTUN_LAYOUT_SUPER);

	gt_close(&q);
	ASSERT_EQ(gt_queue_get(ifindex, 1, &info), 0);
	EXPECT_EQ(info.attached, 0);
	EXPECT_EQ(info.pid, ~0ull);
	EXPECT_EQ(info.generation, 1);
	ASSERT_EQ(gt_queue_get(ifindex, 0, &info), 0);
	EXPECT_EQ(info.generation, 0);
}

static int pid_seen_from_inside(void *arg)
{
	struct gt_queue_info info;

	if (gt_queue_get(*(int *)arg, 0, &info))
		return 99;
	return info.pid == ~0ull ? 0 : info.pid == getpid() ? 1 : 2;
}

/* The pid is the reader's idea of it; who cannot see the process learns none. */
TEST_F(link, queue_get_pid_namespace)
{
	int ifindex = gt_dev_add("g0", 1);
	struct gt_queue q;

	ASSERT_EQ(gt_attach(&q, ifindex, NULL), 0);
	ASSERT_EQ(unshare(CLONE_NEWPID), 0);
	EXPECT_EQ(gt_run_child(pid_seen_from_inside, &ifindex), 0);
	gt_close(&q);
}

/* ---- dumps ------------------------------------------------------------------------ */

struct dumped {
	int cmd;
	unsigned int count;
	unsigned int stable[8][64];	/* times that a queue of a stable device came */
	int ifindex[8];
};

static void count_dumped(const struct nlmsghdr *nlh, void *arg)
{
	uint32_t ifindex = gt_num(gt_genl_attr(nlh, GSOTUN_A_DEV_IFINDEX)), queue = 0;
	struct dumped *d = arg;
	int i;

	if (d->cmd == GSOTUN_CMD_QUEUE_GET)
		queue = gt_num(gt_genl_attr(nlh, GSOTUN_A_QUEUE_ID));
	d->count++;
	for (i = 0; i < 8; i++)
		if (d->ifindex[i] == ifindex && queue < 64)
			d->stable[i][queue]++;
}

static int dump(int cmd, uint32_t only, struct dumped *d)
{
	int fd = gt_nl_open(NETLINK_GENERIC), err;
	struct gt_msg m;

	d->cmd = cmd;
	d->count = 0;
	memset(d->stable, 0, sizeof(d->stable));
	gt_genl_init(&m, cmd, NLM_F_DUMP);
	if (only != GT_UNSET)
		gt_put_u32(&m, GSOTUN_A_QUEUE_IFINDEX, only);
	err = gt_nl_talk(fd, &m, count_dumped, d);
	close(fd);
	return err;
}

/* Whether each queue, or device, of the stable devices came exactly once. */
static bool complete(const struct dumped *d, int devices, int queues)
{
	int i, q;

	for (i = 0; i < devices; i++)
		for (q = 0; q < (d->cmd == GSOTUN_CMD_QUEUE_GET ? queues : 1); q++)
			if (d->stable[i][q] != 1)
				return false;
	return true;
}

/* Dumps that need many messages have everything once; a filter filters. */
TEST_F(link, dump)
{
	struct dumped d = { };
	char name[16];
	int i;

	EXPECT_EQ(dump(GSOTUN_CMD_DEV_GET, GT_UNSET, &d), 0);
	EXPECT_EQ(d.count, 0);
	EXPECT_EQ(dump(GSOTUN_CMD_QUEUE_GET, GT_UNSET, &d), 0);
	EXPECT_EQ(d.count, 0);
	for (i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "g%d", i);
		d.ifindex[i] = gt_dev_add(name, 64);
	}
	EXPECT_EQ(dump(GSOTUN_CMD_DEV_GET, GT_UNSET, &d), 0);
	EXPECT_EQ(d.count, 3);
	EXPECT_TRUE(complete(&d, 3, 64));
	EXPECT_EQ(dump(GSOTUN_CMD_QUEUE_GET, GT_UNSET, &d), 0);
	EXPECT_EQ(d.count, 3 * 64);
	EXPECT_TRUE(complete(&d, 3, 64));
	EXPECT_EQ(dump(GSOTUN_CMD_QUEUE_GET, d.ifindex[1], &d), 0);
	EXPECT_EQ(d.count, 64);
	EXPECT_EQ(dump(GSOTUN_CMD_QUEUE_GET, 1, &d), 0);
	EXPECT_EQ(d.count, 0);
}

/* The last index there is must not send a dump back to the first device. */
TEST_F(link, dump_ends_at_the_last_index)
{
	struct ifinfomsg ifi = { .ifi_index = INT_MAX };
	struct dumped d = { };
	struct nlattr *info;
	struct gt_msg m;

	gt_dev_add("g0", 2);
	gt_msg_init(&m, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &ifi, sizeof(ifi));
	gt_put_str(&m, IFLA_IFNAME, "g1");
	info = gt_nest(&m, IFLA_LINKINFO);
	gt_put_str(&m, IFLA_INFO_KIND, "gsotun");
	gt_nest_end(&m, info);
	ASSERT_EQ(gt_rtnl(&m), 0);

	EXPECT_EQ(dump(GSOTUN_CMD_DEV_GET, GT_UNSET, &d), 0);
	EXPECT_EQ(d.count, 2);
	EXPECT_EQ(dump(GSOTUN_CMD_QUEUE_GET, GT_UNSET, &d), 0);
	EXPECT_EQ(d.count, 3);
	EXPECT_EQ(dump(GSOTUN_CMD_QUEUE_GET, INT_MAX, &d), 0);
	EXPECT_EQ(d.count, 1);
}

/* Another namespace's devices are nobody's business here. */
TEST_F(link, dump_other_namespace)
{
	struct dumped d = { };
	int other;

	gt_dev_add("g0", 2);
	other = gt_unshare_net();
	EXPECT_EQ(dump(GSOTUN_CMD_DEV_GET, GT_UNSET, &d), 0);
	EXPECT_EQ(d.count, 0);
	EXPECT_EQ(dump(GSOTUN_CMD_QUEUE_GET, GT_UNSET, &d), 0);
	EXPECT_EQ(d.count, 0);
	close(other);
}

/* K48: while devices come and go, those that stay are in every dump, once. */
TEST_F(link, dump_while_devices_come_and_go)
{
	unsigned int i, bad = 0;
	struct dumped d = { };
	uint64_t end;
	char name[16];
	pid_t pid;

	/* Some before and some after what comes and goes. */
	for (i = 0; i < 8; i++) {
		snprintf(name, sizeof(name), "g%u", i);
		d.ifindex[i] = gt_dev_add(name, 6);
	}
	pid = gt_fork();
	if (!pid) {
		for (i = 0;; i++) {
			int ifindex;

			snprintf(name, sizeof(name), "h%u", i % 16);
			ifindex = gt_ifindex(name);
			if (ifindex)
				gt_dev_del(ifindex);
			else
				gt_dev_add(name, 1 + i % 5);
		}
	}
	end = gt_now_ms() + 4000;
	for (i = 0; gt_now_ms() < end; i++) {
		int err = dump(i % 2 ? GSOTUN_CMD_DEV_GET : GSOTUN_CMD_QUEUE_GET, GT_UNSET, &d);

		if ((err && err != -EINTR) || !complete(&d, 8, 6))
			bad++;
	}
	kill(pid, SIGKILL);
	EXPECT_EQ(gt_wait_child(pid), 128 + SIGKILL);
	EXPECT_EQ(bad, 0)
		TH_LOG("%u of %u dumps were not complete", bad, i);
	EXPECT_GT(i, 10);
}

/* ---- notifications ------------------------------------------------------------------ */

/* The next notification is @cmd, about @ifindex. */
static bool next_is(int watch, int cmd, int ifindex)
{
	struct gt_msg m;
	int got = gt_genl_next(watch, &m, 5000);
	uint64_t about = got < 0 ? 0 : gt_num(gt_genl_attr(m.nlh, GSOTUN_A_DEV_IFINDEX));

	if (got == cmd && about == ifindex)
		return true;
	printf("# command %d about %d expected, got %d about %d\n", cmd, ifindex, got,
	       (int)about);
	return false;
}

static bool silent(int watch)
{
	struct gt_msg m;

	return gt_genl_next(watch, &m, 200) == -EAGAIN;
}

/* Every step of a device's life is told, in order, and nothing else is. */
TEST_F(link, notifications)
{
	int watch = gt_genl_watch(), ifindex;
	struct gt_link l;
	struct gt_queue q;

	ifindex = gt_dev_add("g0", 2);
	EXPECT_TRUE(next_is(watch, GSOTUN_CMD_DEV_ADD_NTF, ifindex));
	/* Offloads like before attach, so that the attachment alone is told. */
	ASSERT_EQ(gt_attach(&q, ifindex, &(struct gsotun_attach) {
		.size = sizeof(struct gsotun_attach), .ifindex = ifindex, .queue = 1,
		.offloads = { GSOTUN_OFFLOAD_CSUM | GSOTUN_OFFLOAD_TSO4 | GSOTUN_OFFLOAD_TSO6 |
			      GSOTUN_OFFLOAD_TSO_ECN | GSOTUN_OFFLOAD_USO },
	}), 0);
	EXPECT_TRUE(next_is(watch, GSOTUN_CMD_QUEUE_ATTACH_NTF, ifindex));
	EXPECT_TRUE(silent(watch));
	gt_close(&q);
	EXPECT_TRUE(next_is(watch, GSOTUN_CMD_QUEUE_DETACH_NTF, ifindex));
	EXPECT_TRUE(silent(watch));

	/* Fewer offloads: a change of the device. */
	ASSERT_EQ(gt_attach(&q, ifindex, NULL), 0);
	EXPECT_TRUE(next_is(watch, GSOTUN_CMD_DEV_CHANGE_NTF, ifindex));
	EXPECT_TRUE(next_is(watch, GSOTUN_CMD_QUEUE_ATTACH_NTF, ifindex));
	gt_link_init(&l, NULL);
	l.ifindex = ifindex;
	l.hold_ms = 5;
	EXPECT_EQ(gt_link_change(&l), 0);
	EXPECT_TRUE(next_is(watch, GSOTUN_CMD_DEV_CHANGE_NTF, ifindex));
	EXPECT_EQ(system("ip link set g0 name g1"), 0);
	EXPECT_TRUE(next_is(watch, GSOTUN_CMD_DEV_CHANGE_NTF, ifindex));
	EXPECT_TRUE(silent(watch));
	/* Daemons go before the device. */
	EXPECT_EQ(gt_dev_del(ifindex), 0);
	EXPECT_TRUE(next_is(watch, GSOTUN_CMD_QUEUE_DETACH_NTF, ifindex));
	EXPECT_TRUE(next_is(watch, GSOTUN_CMD_DEV_DEL_NTF, ifindex));
	EXPECT_TRUE(silent(watch));
	gt_close(&q);
	close(watch);
}

/* A move is an end here and a beginning there. */
TEST_F(link, notifications_of_a_move)
{
	int here = gt_genl_watch(), there, other, ifindex, now;
	struct gt_queue q;

	ifindex = gt_dev_add("g0", 1);
	EXPECT_TRUE(next_is(here, GSOTUN_CMD_DEV_ADD_NTF, ifindex));
	other = gt_unshare_net();
	there = gt_genl_watch();
	gt_set_net(self->net);
	ASSERT_EQ(gt_dev_move(ifindex, other), 0);
	EXPECT_TRUE(next_is(here, GSOTUN_CMD_DEV_DEL_NTF, ifindex));
	gt_set_net(other);
	now = gt_ifindex("g0");
	EXPECT_TRUE(next_is(there, GSOTUN_CMD_DEV_ADD_NTF, now));
	/* From now on it is told there only. */
	ASSERT_EQ(gt_attach(&q, now, NULL), 0);
	gt_close(&q);
	EXPECT_EQ(gt_dev_del(now), 0);
	EXPECT_TRUE(silent(here));
	EXPECT_FALSE(silent(there));
	close(here);
	close(there);
	close(other);
}

TEST_HARNESS_MAIN
