// SPDX-License-Identifier: GPL-2.0
/* attach.c - GSOTUN_ATTACH and GSOTUN_QUERY: what they take, refuse and answer. */

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <net/if.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "gsotun_test.h"
#include "kselftest_harness.h"

#define OFFLOADS_ALL	(GSOTUN_OFFLOAD_CSUM | GSOTUN_OFFLOAD_TSO4 | GSOTUN_OFFLOAD_TSO6 | \
			 GSOTUN_OFFLOAD_TSO_ECN | GSOTUN_OFFLOAD_USO)

#define LIMIT_PATH	"/sys/module/gsotun/parameters/ring_limit"

FIXTURE(attach)
{
	int net;
	int ifindex;	/* a device of four queues */
};

FIXTURE_SETUP(attach)
{
	self->net = gt_unshare_net();
	self->ifindex = gt_dev_add("g0", 4);
}

FIXTURE_TEARDOWN(attach)
{
	close(self->net);
}

static int attached_queues(int ifindex)
{
	struct gt_link l;

	return gt_link_get(ifindex, &l) ? -1 : (int)l.attached;
}

/* Attach a new file, close it again; the answer is left in @a. */
static int try_attach(struct gsotun_attach *a)
{
	int fd = gt_open(), err;

	if (fd < 0)
		return fd;
	err = gt_attach_fd(fd, a);
	close(fd);
	return err;
}

/* It fails with @err and says why. */
static bool refused(struct gsotun_attach *a, int err)
{
	int got = try_attach(a);

	if (got == err && a->message[0] && memchr(a->message, 0, sizeof(a->message)))
		return true;
	printf("# error %d expected, got %d, '%.128s'\n", err, got, a->message);
	return false;
}

/* ---- the structure ---------------------------------------------------------------- */

/* Memory that ends exactly where the structure of @size bytes does. */
static void *at_the_end_of_a_page(size_t size)
{
	char *p = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	mprotect(p + 2 * 4096, 4096, PROT_NONE);
	return p + 2 * 4096 - size;
}

/* K35: every size below the first version's is refused, and not read beyond. */
TEST_F(attach, cut_short)
{
	struct gsotun_attach full;
	uint32_t size;
	int fd = gt_open();

	ASSERT_GE(fd, 0);
	gt_attach_init(&full, self->ifindex, 0);
	for (size = 0; size < GSOTUN_ATTACH_SIZE_VER0; size++) {
		char *p = at_the_end_of_a_page(size);

		full.size = size;
		if (size < 4)	/* the word itself must be there */
			p -= 4 - size;
		memcpy(p, &full, size < 4 ? 4 : size);
		EXPECT_EQ(ioctl(fd, GSOTUN_ATTACH, p), -1);
		EXPECT_EQ(errno, EINVAL)
			TH_LOG("attach, size %u", size);
		EXPECT_EQ(ioctl(fd, GSOTUN_QUERY, p), -1);
		EXPECT_EQ(errno, EINVAL)
			TH_LOG("query, size %u", size);
	}
	EXPECT_EQ(attached_queues(self->ifindex), 0);
	/* The full size works from there. */
	full.size = sizeof(full);
	memcpy(at_the_end_of_a_page(sizeof(full)), &full, sizeof(full));
	EXPECT_EQ(gt_attach_fd(fd, &full), 0);
	close(fd);
}

/* A caller from the future: fine as long as it wants nothing that is new. */
TEST_F(attach, longer)
{
	static const uint32_t sizes[] = { 377, 380, 400, 512, 4096 };
	char *p = malloc(8192);
	int i, fd;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct gsotun_attach *a = (void *)p;
		uint32_t tail = sizes[i] - sizeof(*a), j;

		memset(p, 0, 8192);
		gt_attach_init(a, self->ifindex, 0);
		a->size = sizes[i];
		p[sizes[i] - 1] = 1;
		EXPECT_EQ(try_attach(a), -E2BIG);
		p[sizes[i] - 1] = 0;
		p[sizeof(*a)] = 1;
		EXPECT_EQ(try_attach(a), -E2BIG);
		p[sizeof(*a)] = 0;
		fd = gt_open();
		EXPECT_EQ(gt_attach_fd(fd, a), 0);
		EXPECT_EQ(a->size, sizeof(*a));
		for (j = 0; j < tail; j++)
			EXPECT_EQ(p[sizeof(*a) + j], 0);
		/* QUERY reads only the size. */
		memset(p, 0xff, 8192);
		a->size = sizeof(*a);
		EXPECT_EQ(ioctl(fd, GSOTUN_QUERY, a), 0);
		EXPECT_EQ(a->state, GSOTUN_STATE_ATTACHED);
		EXPECT_EQ((uint8_t)p[sizeof(*a)], 0xff);
		close(fd);
	}
	/* More than a page is nobody's structure: it is not even searched. */
	memset(p, 0, 8192);
	gt_attach_init((void *)p, self->ifindex, 0);
	((struct gsotun_attach *)p)->size = 8192;
	EXPECT_EQ(try_attach((void *)p), -E2BIG);
	((struct gsotun_attach *)p)->size = 0xffffffff;
	EXPECT_EQ(try_attach((void *)p), -E2BIG);
	free(p);
}

/* Memory that is not there, in whole or in part. */
TEST_F(attach, bad_pointer)
{
	struct gsotun_attach a;
	int fd = gt_open();
	char *p;

	ASSERT_GE(fd, 0);
	EXPECT_EQ(gt_attach_fd(fd, NULL), -EFAULT);
	EXPECT_EQ(gt_attach_fd(fd, (void *)8), -EFAULT);
	EXPECT_EQ(gt_attach_fd(fd, (void *)0xffffffff81000000ul), -EFAULT);
	EXPECT_EQ(gt_attach_fd(fd, (void *)0x7fffffffffffull), -EFAULT);
	EXPECT_EQ(ioctl(fd, GSOTUN_QUERY, NULL), -1);
	EXPECT_EQ(errno, EFAULT);
	/* Says more than there is. */
	p = at_the_end_of_a_page(100);
	gt_attach_init(&a, self->ifindex, 0);
	memcpy(p, &a, 100);
	EXPECT_EQ(gt_attach_fd(fd, (void *)p), -EFAULT);
	EXPECT_EQ(attached_queues(self->ifindex), 0);

	/* The answer cannot be written: nobody would know, so nothing is attached. */
	p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(p, &a, sizeof(a));
	mprotect(p, 4096, PROT_READ);
	EXPECT_EQ(gt_attach_fd(fd, (void *)p), -EFAULT);
	EXPECT_EQ(attached_queues(self->ifindex), 0);
	EXPECT_EQ(gt_query_fd(fd, &a), 0);
	EXPECT_EQ(a.state, GSOTUN_STATE_DETACHED);
	EXPECT_EQ(ioctl(fd, GSOTUN_QUERY, p), -1);
	EXPECT_EQ(errno, EFAULT);
	close(fd);
}

/* ---- fields ----------------------------------------------------------------------- */

TEST_F(attach, flags)
{
	struct gsotun_attach a;
	int bit;

	for (bit = 1; bit < 32; bit++) {
		gt_attach_init(&a, self->ifindex, 0);
		a.flags = 1u << bit;
		EXPECT_TRUE(refused(&a, -EINVAL));
	}
	gt_attach_init(&a, self->ifindex, 0);
	a.resv = 1;
	EXPECT_TRUE(refused(&a, -EINVAL));
	gt_attach_init(&a, self->ifindex, 0);
	a.netns_fd = self->net;
	EXPECT_TRUE(refused(&a, -EINVAL));
}

TEST_F(attach, vnet_len)
{
	static const uint32_t odd[] = {
		64, 256 + 12, 65536 + 12, 0x80000000 + 12, 0xffffffff,
	};
	struct gsotun_attach a;
	int len;

	for (len = 0; len < 40; len++) {
		gt_attach_init(&a, self->ifindex, 0);
		a.vnet_len = len;
		if (!len || len == 10 || len == 12 || len == 20 || len == 24) {
			EXPECT_EQ(try_attach(&a), 0);
			EXPECT_EQ(a.vnet_len, len ?: 12);
		} else {
			EXPECT_TRUE(refused(&a, -EINVAL));
		}
	}
	for (len = 0; len < ARRAY_SIZE(odd); len++) {
		gt_attach_init(&a, self->ifindex, 0);
		a.vnet_len = odd[len];
		EXPECT_TRUE(refused(&a, -EINVAL));
	}
}

/* Each direction by itself: unknown, not supported, or without what it needs. */
TEST_F(attach, offloads)
{
	struct gsotun_attach a;
	int dir, bit;

	for (dir = 0; dir < 2; dir++) {
		for (bit = 8; bit < 64; bit++) {
			gt_attach_init(&a, self->ifindex, 0);
			a.offloads[dir] = 1ull << bit;
			EXPECT_TRUE(refused(&a, -EINVAL));
		}
		for (bit = 5; bit < 8; bit++) {
			gt_attach_init(&a, self->ifindex, 0);
			a.offloads[dir] = GSOTUN_OFFLOAD_CSUM | 1ull << bit;
			EXPECT_TRUE(refused(&a, -EOPNOTSUPP));
		}
		for (bit = 1; bit < 5; bit++) {
			gt_attach_init(&a, self->ifindex, 0);
			a.offloads[dir] = 1ull << bit;
			EXPECT_TRUE(refused(&a, -EINVAL));
		}
		gt_attach_init(&a, self->ifindex, 0);
		a.offloads[dir] = GSOTUN_OFFLOAD_CSUM | GSOTUN_OFFLOAD_TSO_ECN;
		EXPECT_TRUE(refused(&a, -EINVAL));
		a.offloads[dir] |= GSOTUN_OFFLOAD_TSO6;
		a.offloads[!dir] = OFFLOADS_ALL;
		EXPECT_EQ(try_attach(&a), 0);
		EXPECT_EQ(a.offloads[dir], GSOTUN_OFFLOAD_CSUM | GSOTUN_OFFLOAD_TSO_ECN |
			  GSOTUN_OFFLOAD_TSO6);
		EXPECT_EQ(a.offloads[!dir], OFFLOADS_ALL);
		EXPECT_EQ(a.supported[dir], OFFLOADS_ALL);
	}
}

/* Trains come later; their fields mean nothing in the layout that there is. */
TEST_F(attach, layout)
{
	struct gsotun_attach a;
	int dir, i;

	for (dir = 0; dir < 2; dir++) {
		gt_attach_init(&a, self->ifindex, 0);
		a.layout[dir].type = GSOTUN_LAYOUT_TRAIN;
		EXPECT_TRUE(refused(&a, -EOPNOTSUPP));
		gt_attach_init(&a, self->ifindex, 0);
		a.layout[dir].type = 2;
		EXPECT_TRUE(refused(&a, -EINVAL));
		for (i = 2; i < sizeof(a.layout[dir]); i++) {
			gt_attach_init(&a, self->ifindex, 0);
			((uint8_t *)&a.layout[dir])[i] = 0x80;
			EXPECT_TRUE(refused(&a, -EINVAL));
		}
	}
}

/* K30: no ring of a size that would not be right, and none is leaked. */
TEST_F(attach, ring_sizes)
{
	static const uint32_t bad[] = {
		1, 2, 63, 64, 4095, 4096, 65536, GSOTUN_RING_BYTES_MIN / 2,
		GSOTUN_RING_BYTES_MIN - 1, GSOTUN_RING_BYTES_MIN + 1,
		GSOTUN_RING_BYTES_MIN + 4096, 3 * GSOTUN_RING_BYTES_MIN / 2,
		GSOTUN_RING_BYTES_MAX + 4096, 2 * GSOTUN_RING_BYTES_MAX, 0x7fffffff, 0x80000000,
		0x80000001, 0xfffff000, 0xfffffff8, 0xffffffff,
	};
	struct gsotun_attach a;
	int dir, i;

	for (dir = 0; dir < 2; dir++) {
		for (i = 0; i < ARRAY_SIZE(bad); i++) {
			gt_attach_init(&a, self->ifindex, 0);
			a.ring_bytes[dir] = bad[i];
			EXPECT_TRUE(refused(&a, -EINVAL))
				TH_LOG("%u", bad[i]);
		}
		for (i = 0; i < 4; i++) {
			gt_attach_init(&a, self->ifindex, 0);
			a.ring_bytes[dir] = GSOTUN_RING_BYTES_MIN << i;
			EXPECT_EQ(try_attach(&a), 0);
			EXPECT_EQ(a.ring_bytes[dir], GSOTUN_RING_BYTES_MIN << i);
			EXPECT_EQ(a.ring_bytes[!dir], GSOTUN_RING_BYTES_MIN);
			EXPECT_EQ(a.region[GSOTUN_REGIONS * dir + GSOTUN_REGION_DATA].length,
				  (uint64_t)GSOTUN_RING_BYTES_MIN << i << 1);
			EXPECT_EQ(a.region[GSOTUN_REGIONS * dir + GSOTUN_REGION_KERNEL].length, 4096);
			EXPECT_EQ(a.region[GSOTUN_REGIONS * dir + GSOTUN_REGION_DAEMON].length, 4096);
		}
	}
}

/* 0 is the device's default of the moment. */
TEST_F(attach, ring_size_defaults)
{
	struct gsotun_attach a;
	struct gt_link l;

	gt_link_init(&l, NULL);
	l.ifindex = self->ifindex;
	l.to_user_bytes = GT_MIB(1);
	l.from_user_bytes = GT_MIB(2);
	ASSERT_EQ(gt_link_change(&l), 0);
	gt_attach_init(&a, self->ifindex, 0);
	a.ring_bytes[GSOTUN_TO_USER] = 0;
	a.ring_bytes[GSOTUN_FROM_USER] = 0;
	EXPECT_EQ(try_attach(&a), 0);
	EXPECT_EQ(a.ring_bytes[GSOTUN_TO_USER], GT_MIB(1));
	EXPECT_EQ(a.ring_bytes[GSOTUN_FROM_USER], GT_MIB(2));
	EXPECT_EQ(a.fill_limit, GT_MIB(1) / 2);
}

TEST_F(attach, fill_limit)
{
	static const uint32_t good[] = { 1, 64, 65536, GSOTUN_RING_BYTES_MIN };
	static const uint32_t bad[] = { GSOTUN_RING_BYTES_MIN + 1, 0x80000000, 0xffffffff };
	struct gsotun_attach a;
	int i;

	for (i = 0; i < ARRAY_SIZE(good); i++) {
		gt_attach_init(&a, self->ifindex, 0);
		a.fill_limit = good[i];
		EXPECT_EQ(try_attach(&a), 0);
		EXPECT_EQ(a.fill_limit, good[i]);
	}
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		gt_attach_init(&a, self->ifindex, 0);
		a.fill_limit = bad[i];
		EXPECT_TRUE(refused(&a, -EINVAL));
	}
}

/* ---- device, namespace, queue --------------------------------------------------------- */

TEST_F(attach, device)
{
	static const uint32_t wrong[] = { 0, 1, 99999, 0x7fffffff, 0x80000000, 0xffffffff };
	struct gsotun_attach a;
	int i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		gt_attach_init(&a, wrong[i], 0);
		EXPECT_TRUE(refused(&a, -ENODEV));
	}
	/* The numbers of another namespace are not ours, whatever we open there. */
	close(gt_unshare_net());
	gt_attach_init(&a, self->ifindex, 0);
	EXPECT_TRUE(refused(&a, -ENODEV));
}

/* A namespace by descriptor; anything else that a descriptor can be is refused. */
TEST_F(attach, netns_fd)
{
	int fds[5], i, file, other;
	struct gsotun_attach a;

	fds[0] = open("/proc/self/ns/mnt", O_RDONLY);
	fds[1] = open("/dev/null", O_RDWR);
	fds[2] = socket(AF_INET, SOCK_DGRAM, 0);
	fds[3] = gt_open();
	fds[4] = open("/proc/self/status", O_RDONLY);
	for (i = 0; i < 5; i++) {
		gt_attach_init(&a, self->ifindex, 0);
		a.flags = GSOTUN_ATTACH_NETNS_FD;
		a.netns_fd = fds[i];
		EXPECT_TRUE(refused(&a, -EINVAL))
			TH_LOG("%d", i);
	}
	gt_attach_init(&a, self->ifindex, 0);
	a.flags = GSOTUN_ATTACH_NETNS_FD;
	a.netns_fd = -1;
	EXPECT_TRUE(refused(&a, -EBADF));
	a.netns_fd = 12345;
	EXPECT_TRUE(refused(&a, -EBADF));

	/* The file remembers where it was opened; the descriptor overrides it. */
	file = gt_open();
	other = gt_unshare_net();
	gt_attach_init(&a, self->ifindex, 0);
	EXPECT_EQ(gt_attach_fd(file, &a), 0);
	EXPECT_EQ(a.ifindex, self->ifindex);
	close(file);
	file = gt_open();
	EXPECT_EQ(gt_attach_fd(file, &a), -ENODEV);
	gt_attach_init(&a, self->ifindex, 0);
	a.flags = GSOTUN_ATTACH_NETNS_FD;
	a.netns_fd = self->net;
	EXPECT_EQ(gt_attach_fd(file, &a), 0);
	close(file);
	close(other);
	for (i = 0; i < 5; i++)
		close(fds[i]);
}

/* A queue is a file's: by number, or any that is free; and free again after. */
TEST_F(attach, queues)
{
	static const uint32_t wrong[] = { 4, 5, 63, 64, 65535, 65536, 0x80000000, 0xfffffffe };
	struct gsotun_attach a;
	struct gt_queue q[4];
	int i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		gt_attach_init(&a, self->ifindex, 0);
		a.queue = wrong[i];
		EXPECT_TRUE(refused(&a, -EINVAL));
	}
	gt_attach_init(&a, self->ifindex, 0);
	a.queue = 2;
	ASSERT_EQ(gt_attach(&q[2], self->ifindex, &a), 0);
	EXPECT_EQ(q[2].a.queue, 2);
	EXPECT_EQ(q[2].a.num_queues, 4);
	EXPECT_TRUE(refused(&a, -EBUSY));
	for (i = 0; i < 4; i++) {
		if (i == 2)
			continue;
		ASSERT_EQ(gt_attach(&q[i], self->ifindex, NULL), 0);
		EXPECT_EQ(q[i].a.queue, i);
	}
	EXPECT_EQ(attached_queues(self->ifindex), 4);
	gt_attach_init(&a, self->ifindex, 0);
	EXPECT_TRUE(refused(&a, -EBUSY));
	gt_close(&q[1]);
	EXPECT_EQ(attached_queues(self->ifindex), 3);
	gt_attach_init(&a, self->ifindex, 0);
	EXPECT_EQ(try_attach(&a), 0);
	EXPECT_EQ(a.queue, 1);
	gt_close(&q[0]);
	gt_close(&q[2]);
	gt_close(&q[3]);
	EXPECT_EQ(attached_queues(self->ifindex), 0);
}

/* A file attaches once in its life. */
TEST_F(attach, once)
{
	struct gsotun_attach a;
	int fd = gt_open(), i;

	/* Refusals do not use it up. */
	for (i = 0; i < 20; i++) {
		gt_attach_init(&a, self->ifindex, 0);
		a.queue = 77;
		EXPECT_EQ(gt_attach_fd(fd, &a), -EINVAL);
	}
	gt_attach_init(&a, self->ifindex, 0);
	ASSERT_EQ(gt_attach_fd(fd, &a), 0);
	EXPECT_EQ(a.message[0], 0);
	for (i = 0; i < 3; i++) {
		gt_attach_init(&a, self->ifindex, 0);
		EXPECT_EQ(gt_attach_fd(fd, &a), -EBUSY);
		EXPECT_NE(a.message[0], 0);
	}
	EXPECT_EQ(attached_queues(self->ifindex), 1);
	ASSERT_EQ(gt_dev_del(self->ifindex), 0);
	self->ifindex = gt_dev_add("g0", 4);
	gt_attach_init(&a, self->ifindex, 0);
	EXPECT_EQ(gt_attach_fd(fd, &a), -ESTALE);
	EXPECT_NE(a.message[0], 0);
	close(fd);
}

/* Each attachment of a queue has the next number, in the answer and in the pages. */
TEST_F(attach, generation)
{
	struct gsotun_attach a;
	struct gt_queue q;
	int i;

	for (i = 1; i <= 5; i++) {
		gt_attach_init(&a, self->ifindex, 0);
		a.queue = 3;
		ASSERT_EQ(gt_attach(&q, self->ifindex, &a), 0);
		EXPECT_EQ(q.a.generation, i);
		EXPECT_EQ(q.to_k->generation, i);
		EXPECT_EQ(q.from_k->generation, i);
		gt_close(&q);
	}
	gt_attach_init(&a, self->ifindex, 0);
	a.queue = 0;
	ASSERT_EQ(gt_attach(&q, self->ifindex, &a), 0);
	EXPECT_EQ(q.a.generation, 1);
	gt_close(&q);
}

/* ---- answers ---------------------------------------------------------------------------- */

/* What comes out may go in again: outputs are not looked at. */
TEST_F(attach, outputs_are_ignored)
{
	struct gsotun_attach a;

	gt_attach_init(&a, self->ifindex, 0);
	memset((char *)&a + offsetof(struct gsotun_attach, abi), 0xff,
	       sizeof(a) - offsetof(struct gsotun_attach, abi));
	EXPECT_EQ(try_attach(&a), 0);
	EXPECT_EQ(a.abi, GSOTUN_ABI);
	EXPECT_EQ(a.message[0], 0);
	EXPECT_EQ(a.prod[GSOTUN_TO_USER], 0);
	EXPECT_EQ(a.state, GSOTUN_STATE_ATTACHED);
	a.ifindex = self->ifindex;
	EXPECT_EQ(try_attach(&a), 0)
		TH_LOG("%s", a.message);
}

/* Regions are told apart by their offsets; none overlaps another. */
TEST_F(attach, regions)
{
	struct gsotun_attach a;
	int i, j;

	gt_attach_init(&a, self->ifindex, 0);
	ASSERT_EQ(try_attach(&a), 0);
	for (i = 0; i < 6; i++) {
		EXPECT_NE(a.region[i].length, 0);
		EXPECT_EQ(a.region[i].length % 4096, 0);
		EXPECT_EQ(a.region[i].offset % 4096, 0);
		for (j = 0; j < i; j++)
			EXPECT_TRUE(a.region[i].offset >= a.region[j].offset + a.region[j].length ||
				    a.region[j].offset >= a.region[i].offset + a.region[i].length);
	}
}

/* QUERY: nothing, then what ATTACH said and where the rings are, then the end. */
TEST_F(attach, query)
{
	static const char payload[100];
	struct gsotun_attach a, zero;
	uint8_t packet[200];
	struct gt_queue q;
	int fd = gt_open(), i;

	memset(&zero, 0, sizeof(zero));
	EXPECT_EQ(gt_query_fd(fd, &a), 0);
	EXPECT_EQ(a.size, sizeof(a));
	EXPECT_EQ(a.abi, GSOTUN_ABI);
	EXPECT_EQ(a.state, GSOTUN_STATE_NONE);
	EXPECT_EQ(a.supported[GSOTUN_TO_USER], OFFLOADS_ALL);
	EXPECT_EQ(a.supported[GSOTUN_FROM_USER], OFFLOADS_ALL);
	EXPECT_EQ(memcmp(a.region, zero.region, sizeof(a.region)), 0);
	close(fd);

	gt_attach_init(&a, self->ifindex, OFFLOADS_ALL);
	a.vnet_len = 24;
	a.fill_limit = 100000;
	ASSERT_EQ(gt_attach(&q, self->ifindex, &a), 0);
	EXPECT_EQ(gt_query_fd(q.fd, &a), 0);
	EXPECT_EQ(memcmp(&a, &q.a, sizeof(a)), 0);
	gt_dev_start(self->ifindex);
	for (i = 0; i < 3; i++)
		ASSERT_EQ(gt_inject(&q, packet, gt_udp4(packet, "10.9.0.2", "10.9.0.1", 9, 9,
							payload, sizeof(payload)), NULL), 0);
	EXPECT_TRUE(gt_until(q.from_k->cons == q.prod));
	EXPECT_EQ(gt_query_fd(q.fd, &a), 0);
	EXPECT_EQ(a.prod[GSOTUN_FROM_USER], q.prod);
	EXPECT_EQ(a.cons[GSOTUN_FROM_USER], q.prod);
	EXPECT_EQ(a.prod[GSOTUN_TO_USER], q.to_k->prod);

	ASSERT_EQ(gt_dev_del(self->ifindex), 0);
	EXPECT_EQ(gt_query_fd(q.fd, &a), 0);
	EXPECT_EQ(a.state, GSOTUN_STATE_DETACHED);
	EXPECT_EQ(a.ifindex, 0);
	EXPECT_EQ(a.generation, 1);
	EXPECT_EQ(a.cons[GSOTUN_FROM_USER], 0);
	EXPECT_EQ(memcmp(a.region, q.a.region, sizeof(a.region)), 0);
	gt_close(&q);
}

/* ---- races ------------------------------------------------------------------------------- */

struct racer {
	pthread_t thread;
	int fd;
	int ifindex;
	int result;
	pthread_barrier_t *start;
};

static void *race(void *arg)
{
	struct racer *r = arg;
	struct gsotun_attach a;

	gt_attach_init(&a, r->ifindex, 0);
	a.queue = 1;
	pthread_barrier_wait(r->start);
	r->result = gt_attach_fd(r->fd, &a);
	return NULL;
}

/* K45: many at one queue, or at one file: one wins, the others hear EBUSY. */
TEST_F(attach, race)
{
	pthread_barrier_t start;
	struct racer r[4];
	int round, i, won;

	pthread_barrier_init(&start, NULL, 4);
	for (round = 0; round < 20; round++) {
		int shared = round % 2 ? gt_open() : -1;

		for (i = 0; i < 4; i++) {
			r[i] = (struct racer) {
				.fd = shared >= 0 ? shared : gt_open(),
				.ifindex = self->ifindex, .start = &start,
			};
			pthread_create(&r[i].thread, NULL, race, &r[i]);
		}
		for (i = 0, won = 0; i < 4; i++) {
			pthread_join(r[i].thread, NULL);
			EXPECT_TRUE(!r[i].result || r[i].result == -EBUSY)
				TH_LOG("%d", r[i].result);
			won += !r[i].result;
		}
		EXPECT_EQ(won, 1);
		EXPECT_EQ(attached_queues(self->ifindex), 1);
		for (i = 0; i < 4; i++)
			if (shared < 0)
				close(r[i].fd);
		if (shared >= 0)
			close(shared);
		EXPECT_EQ(attached_queues(self->ifindex), 0);
	}
}

/* CAP_IPC_LOCK is not bound by the limit. */
TEST_F(attach, limit_not_for_the_privileged)
{
	struct gsotun_attach a;
	char old[32];

	gt_read_file(LIMIT_PATH, old, sizeof(old));
	ASSERT_EQ(gt_write_file(LIMIT_PATH, "0"), 0);
	gt_attach_init(&a, self->ifindex, 0);
	EXPECT_EQ(try_attach(&a), 0);
	gt_write_file(LIMIT_PATH, old);
}

/* ---- the limit of ring memory --------------------------------------------------------------- */

FIXTURE(limit)
{
	int ifindex;
	char old[32];
	struct gsotun_attach a;		/* takes 1 MiB */
};

static void drop_capability(int cap)
{
	struct __user_cap_header_struct h = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct d[2];

	syscall(SYS_capget, &h, d);
	d[cap / 32].effective &= ~(1u << cap % 32);
	d[cap / 32].permitted &= ~(1u << cap % 32);
	if (syscall(SYS_capset, &h, d))
		gt_die("capset: %s", strerror(errno));
}

FIXTURE_SETUP(limit)
{
	close(gt_unshare_net());
	self->ifindex = gt_dev_add("g0", 8);
	gt_read_file(LIMIT_PATH, self->old, sizeof(self->old));
	ASSERT_NE(self->old[0], 0);
	ASSERT_EQ(gt_write_file(LIMIT_PATH, "3145728"), 0);
	drop_capability(CAP_IPC_LOCK);
	gt_attach_init(&self->a, self->ifindex, 0);
}

FIXTURE_TEARDOWN(limit)
{
	gt_write_file(LIMIT_PATH, self->old);
}

/* Three of 1 MiB fit into 3 MiB, a fourth does not; close gives it back. */
TEST_F(limit, counts)
{
	struct gt_queue q[3];
	struct gsotun_attach a;
	int i, other;

	for (i = 0; i < 3; i++)
		ASSERT_EQ(gt_attach(&q[i], self->ifindex, &self->a), 0);
	a = self->a;
	EXPECT_EQ(try_attach(&a), -ENOBUFS);
	EXPECT_NE(strstr(a.message, "ring_limit"), NULL);
	/* Of a device, not of a user. */
	other = gt_dev_add("g1", 1);
	gt_attach_init(&a, other, 0);
	EXPECT_EQ(try_attach(&a), 0);
	gt_close(&q[0]);
	a = self->a;
	EXPECT_EQ(try_attach(&a), 0);
	/* Twice as much as there is left. */
	a = self->a;
	a.ring_bytes[GSOTUN_TO_USER] = GT_MIB(1);
	EXPECT_EQ(try_attach(&a), -ENOBUFS);
	gt_close(&q[1]);
	gt_close(&q[2]);
}

/* Refusals of all kinds are free: after many, as much fits as before. */
TEST_F(limit, refusals_are_free)
{
	struct gt_queue q[3];
	struct gsotun_attach a;
	int i;

	for (i = 0; i < 3; i++)
		ASSERT_EQ(gt_attach(&q[i], self->ifindex, &self->a), 0);
	for (i = 0; i < 50; i++) {
		a = self->a;
		EXPECT_EQ(try_attach(&a), -ENOBUFS);
	}
	gt_close(&q[2]);
	for (i = 0; i < 50; i++) {
		a = self->a;
		a.queue = 0;	/* memory first, then busy */
		EXPECT_EQ(try_attach(&a), -EBUSY);
		a = self->a;
		a.queue = 99;
		EXPECT_EQ(try_attach(&a), -EINVAL);
	}
	a = self->a;
	EXPECT_EQ(try_attach(&a), 0);
	gt_close(&q[0]);
	gt_close(&q[1]);
}

/* Memory that is detached but still open or mapped is still somebody's. */
TEST_F(limit, detached_still_counts)
{
	struct gt_queue q[3];
	struct gsotun_attach a;
	void *map;
	int i;

	for (i = 0; i < 3; i++)
		ASSERT_EQ(gt_attach(&q[i], self->ifindex, &self->a), 0);
	ASSERT_EQ(gt_dev_up(self->ifindex, true), 0);
	/* Break a ring: detached, which frees the queue but not the memory. */
	q[0].from_d->prod = 1;
	gt_kick_fd(q[0].fd, GSOTUN_KICK_FROM_USER);
	ASSERT_TRUE(gt_until(q[0].from_k->status & GSOTUN_STATUS_DETACHED));
	EXPECT_EQ(attached_queues(self->ifindex), 2);
	a = self->a;
	EXPECT_EQ(try_attach(&a), -ENOBUFS);
	/* One mapping of six is enough. */
	map = q[0].to_d;
	q[0].to_d = NULL;
	gt_close(&q[0]);
	a = self->a;
	EXPECT_EQ(try_attach(&a), -ENOBUFS);
	munmap(map, 4096);
	a = self->a;
	EXPECT_EQ(try_attach(&a), 0);
	gt_close(&q[1]);
	gt_close(&q[2]);
}

static int attach_much(void *arg)
{
	struct gsotun_attach a;

	gt_attach_init(&a, *(int *)arg, 0);
	a.ring_bytes[GSOTUN_TO_USER] = GT_MIB(128);
	try_attach(&a);
	return 0;
}

/* A kill in the middle of a large allocation ends it, and gives all of it back. */
TEST_F(limit, killed_while_allocating)
{
	struct gsotun_attach a;
	int i;

	ASSERT_EQ(gt_write_file(LIMIT_PATH, "142606336"), 0);
	for (i = 0; i < 10; i++) {
		pid_t pid = gt_fork();

		if (!pid)
			_exit(attach_much(&self->ifindex));
		gt_sleep_ms(3 * i);
		kill(pid, SIGKILL);
		gt_wait_child(pid);
	}
	/* All of the limit, exactly. */
	a = self->a;
	a.ring_bytes[GSOTUN_TO_USER] = GT_MIB(128);
	a.ring_bytes[GSOTUN_FROM_USER] = GT_MIB(8);
	EXPECT_EQ(try_attach(&a), 0)
		TH_LOG("%s", a.message);
}

TEST_HARNESS_MAIN
