// SPDX-License-Identifier: GPL-2.0
/* mmap.c - the mapped regions: what they allow, what they are, how long they live. */

#include <errno.h>
#include <fcntl.h>
#include <linux/errqueue.h>
#include <linux/io_uring.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "gsotun_test.h"
#include "kselftest_harness.h"

#ifndef SO_ZEROCOPY
#define SO_ZEROCOPY	60
#endif
#ifndef MSG_ZEROCOPY
#define MSG_ZEROCOPY	0x4000000
#endif

#define REGIONS	(2 * GSOTUN_REGIONS)
#define RING	GSOTUN_RING_BYTES_MIN

FIXTURE(mmap)
{
	int net;
	int ifindex;
	struct gt_queue q;
};

FIXTURE_SETUP(mmap)
{
	self->net = gt_unshare_net();
	self->ifindex = gt_dev_add("g0", 2);
	ASSERT_EQ(gt_attach(&self->q, self->ifindex, NULL), 0);
}

FIXTURE_TEARDOWN(mmap)
{
	gt_close(&self->q);
	close(self->net);
}

static bool is_kernel_page(int region)
{
	return region % GSOTUN_REGIONS == GSOTUN_REGION_KERNEL;
}

static int prot_of(int region)
{
	return is_kernel_page(region) ? PROT_READ : PROT_READ | PROT_WRITE;
}

static void *map_region(const struct gt_queue *q, int region)
{
	return mmap(NULL, q->a.region[region].length, prot_of(region), MAP_SHARED, q->fd,
		    q->a.region[region].offset);
}

/* ---- access that may fault ------------------------------------------------------- */

static sigjmp_buf fault;

static void on_fault(int sig)
{
	siglongjmp(fault, sig);
}

/* 0, or the signal that reading, or writing back, one byte gives. */
static int touch(volatile uint8_t *p, bool write)
{
	struct sigaction sa = { .sa_handler = on_fault }, old_segv, old_bus;
	int sig;

	sigaction(SIGSEGV, &sa, &old_segv);
	sigaction(SIGBUS, &sa, &old_bus);
	sig = sigsetjmp(fault, 1);
	if (!sig) {
		uint8_t byte = *p;

		if (write)
			*p = byte;
	}
	sigaction(SIGSEGV, &old_segv, NULL);
	sigaction(SIGBUS, &old_bus, NULL);
	return sig;
}

/* ---- what mmap() takes -------------------------------------------------------------- */

TEST_F(mmap, before_attach)
{
	int fd = gt_open(), i;

	for (i = 0; i < REGIONS; i++) {
		EXPECT_EQ(mmap(NULL, self->q.a.region[i].length, PROT_READ, MAP_SHARED, fd,
			       self->q.a.region[i].offset), MAP_FAILED);
		EXPECT_EQ(errno, ENOTCONN);
	}
	close(fd);
}

/* A private mapping would be a copy that the kernel never sees. */
TEST_F(mmap, private)
{
	int i;

	for (i = 0; i < REGIONS; i++) {
		EXPECT_EQ(mmap(NULL, self->q.a.region[i].length, PROT_READ, MAP_PRIVATE,
			       self->q.fd, self->q.a.region[i].offset), MAP_FAILED);
		EXPECT_EQ(errno, EINVAL);
	}
}

/* All of a region, from its start, and nothing else. */
TEST_F(mmap, lengths_and_offsets)
{
	static const int64_t lengths[] = {
		-RING, -4096, 4096, 8192, RING, 3 * (int64_t)RING, 1ll << 31, 1ll << 32,
	};
	static const uint64_t shifts[] = { 4096, 8192, RING, 2 * (uint64_t)RING, 1ull << 31 };
	static const uint64_t offsets[] = {
		6ull << 32, 7ull << 32, 255ull << 32, 1ull << 40, 1ull << 52, 1ull << 62,
		0x7ffffffffffff000, 0xfffffffffffff000,
	};
	int i, j;

	for (i = 0; i < REGIONS; i++) {
		int64_t length = self->q.a.region[i].length;
		uint64_t offset = self->q.a.region[i].offset;

		for (j = 0; j < ARRAY_SIZE(lengths); j++) {
			if (length + lengths[j] <= 0)
				continue;
			EXPECT_EQ(mmap(NULL, length + lengths[j], PROT_READ, MAP_SHARED,
				       self->q.fd, offset), MAP_FAILED)
				TH_LOG("region %d, length %+lld", i, (long long)lengths[j]);
		}
		for (j = 0; j < ARRAY_SIZE(shifts); j++)
			EXPECT_EQ(mmap(NULL, length, PROT_READ, MAP_SHARED, self->q.fd,
				       offset + shifts[j]), MAP_FAILED)
				TH_LOG("region %d, offset %#llx", i, (long long)shifts[j]);
		for (j = 0; j < ARRAY_SIZE(offsets); j++)
			EXPECT_EQ(syscall(SYS_mmap, NULL, length, PROT_READ, MAP_SHARED,
					  self->q.fd, offsets[j]), -1)
				TH_LOG("region %d, offset %#llx", i, (long long)offsets[j]);
	}
}

/* What the kernel writes is read-only, and no way leads around it. */
TEST_F(mmap, kernel_pages_cannot_be_written)
{
	char old[64], junk[64];
	int i, mem, pipes[2];

	memset(junk, 0xaa, sizeof(junk));
	mem = open("/proc/self/mem", O_RDWR);
	ASSERT_GE(mem, 0);
	ASSERT_EQ(pipe(pipes), 0);
	for (i = 0; i < REGIONS; i += GSOTUN_REGIONS) {
		uint8_t *p = gt_region(&self->q, i);
		struct iovec local = { junk, sizeof(junk) }, remote = { p, sizeof(junk) };

		memcpy(old, p, sizeof(old));
		EXPECT_EQ(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, self->q.fd,
			       self->q.a.region[i].offset), MAP_FAILED);
		EXPECT_EQ(errno, EPERM);
		EXPECT_EQ(mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, self->q.fd,
			       self->q.a.region[i].offset), MAP_FAILED);
		EXPECT_EQ(mprotect(p, 4096, PROT_READ | PROT_WRITE), -1);
		EXPECT_EQ(errno, EACCES);
		EXPECT_EQ(mprotect(p, 4096, PROT_WRITE), -1);
		EXPECT_EQ(touch(p, true), SIGSEGV);
		/* As a debugger would, which breaks through private mappings. */
		EXPECT_LE(pwrite(mem, junk, sizeof(junk), (off_t)(uintptr_t)p), 0);
		EXPECT_EQ(process_vm_writev(getpid(), &local, 1, &remote, 1, 0), -1);
		ASSERT_EQ(write(pipes[1], junk, sizeof(junk)), sizeof(junk));
		EXPECT_EQ(read(pipes[0], p, sizeof(junk)), -1);
		EXPECT_EQ(errno, EFAULT);
		ASSERT_EQ(read(pipes[0], junk, sizeof(junk)), sizeof(junk));
		EXPECT_EQ(memcmp(old, p, sizeof(old)), 0);
	}
	close(mem);
	close(pipes[0]);
	close(pipes[1]);
}

/* The letters of VmFlags of the mapping at @p, "" if there is none. */
static const char *vm_flags(const void *p, char *buf, size_t size)
{
	FILE *f = fopen("/proc/self/smaps", "r");
	unsigned long from, to;
	bool ours = false;

	while (fgets(buf, size, f)) {
		if (sscanf(buf, "%lx-%lx ", &from, &to) == 2)
			ours = from == (uintptr_t)p;
		else if (ours && !strncmp(buf, "VmFlags:", 8))
			goto found;
	}
	buf[0] = 0;
found:
	fclose(f);
	return buf;
}

/*
 * Shared; not copied by fork, not expanded, not dumped; made of ordinary pages, so
 * that they can be pinned. Kernel pages may never become writable.
 */
TEST_F(mmap, flags)
{
	char buf[512];
	int i;

	for (i = 0; i < REGIONS; i++) {
		const char *flags = vm_flags(gt_region(&self->q, i), buf, sizeof(buf));

		EXPECT_NE(strstr(flags, " sh"), NULL)
			TH_LOG("region %d: %s", i, flags);
		EXPECT_NE(strstr(flags, " dc"), NULL);
		EXPECT_NE(strstr(flags, " de"), NULL);
		EXPECT_NE(strstr(flags, " dd"), NULL);
		EXPECT_NE(strstr(flags, " mm"), NULL);
		EXPECT_EQ(strstr(flags, " pf"), NULL);
		EXPECT_EQ(strstr(flags, " io"), NULL);
		EXPECT_EQ(!strstr(flags, " mw"), is_kernel_page(i));
		EXPECT_EQ(!strstr(flags, " wr"), is_kernel_page(i));
	}
}

/* ---- what is mapped -------------------------------------------------------------------- */

/* Two halves of one memory; six regions of different memory; zero at first. */
TEST_F(mmap, memory)
{
	int dir, other;
	uint32_t i;

	for (dir = 0; dir < 2; dir++) {
		uint8_t *data = gt_region(&self->q, GSOTUN_REGIONS * dir + GSOTUN_REGION_DATA);

		for (i = 0; i < 2 * RING; i += 8)
			ASSERT_EQ(*(uint64_t *)(data + i), 0);
		for (i = 0; i < RING; i += 4096) {
			*(uint32_t *)(data + i) = ~i - dir;
			*(uint32_t *)(data + RING + i + 4092) = i + dir;
		}
		for (i = 0; i < RING; i += 4096) {
			EXPECT_EQ(*(uint32_t *)(data + RING + i), ~i - dir);
			EXPECT_EQ(*(uint32_t *)(data + i + 4092), i + dir);
		}
		/* Across the seam, as a record does. */
		memset(data + RING - 100, 0x5a, 200);
		for (i = 0; i < 100; i++) {
			EXPECT_EQ(data[2 * RING - 100 + i], 0x5a);
			EXPECT_EQ(data[i], 0x5a);
		}
	}
	for (dir = 0; dir < REGIONS; dir++) {
		if (is_kernel_page(dir))
			continue;
		*(uint32_t *)gt_region(&self->q, dir) = 0x1000 + dir;
		for (other = 0; other < REGIONS; other++)
			if (other != dir)
				EXPECT_NE(*(uint32_t *)gt_region(&self->q, other), 0x1000 + dir);
	}
}

/* A second mapping is of the same memory, a second file is not. */
TEST_F(mmap, twice)
{
	struct gt_queue q2;
	void *again;
	int i;

	ASSERT_EQ(gt_attach(&q2, self->ifindex, NULL), 0);
	for (i = 0; i < REGIONS; i++) {
		again = map_region(&self->q, i);
		ASSERT_NE(again, MAP_FAILED);
		if (!is_kernel_page(i)) {
			*(uint32_t *)gt_region(&self->q, i) = 0xabcd0000 + i;
			EXPECT_EQ(*(uint32_t *)again, 0xabcd0000 + i);
			EXPECT_EQ(*(uint32_t *)gt_region(&q2, i), 0);
		}
		EXPECT_EQ(munmap(again, self->q.a.region[i].length), 0);
	}
	gt_close(&q2);
}

/* Nothing of one owner reaches the next: what is freed comes back as zeros. */
TEST_F(mmap, no_leak_to_the_next_owner)
{
	struct gt_queue q;
	uint32_t i;
	int round;

	for (round = 0; round < 5; round++) {
		ASSERT_EQ(gt_attach(&q, self->ifindex, NULL), 0);
		for (i = 0; i < RING; i += 8) {
			ASSERT_EQ(*(uint64_t *)(q.to_data + i), 0);
			ASSERT_EQ(*(uint64_t *)(q.from_data + i), 0);
		}
		for (i = 64; i < 4096; i += 8) {
			ASSERT_EQ(*(uint64_t *)((char *)q.to_k + i), 0);
			ASSERT_EQ(*(uint64_t *)((char *)q.from_k + i), 0);
		}
		memset(q.to_data, 0x77, RING);
		memset(q.from_data, 0x77, RING);
		memset(q.to_d, 0x77, 4096);
		memset(q.from_d, 0x77, 4096);
		gt_close(&q);
	}
}

/* ---- fork, mremap, munmap ------------------------------------------------------------------ */

static int touch_all(void *arg)
{
	const struct gt_queue *q = arg;
	int i, reachable = 0;

	for (i = 0; i < REGIONS; i++)
		reachable += touch(gt_region(q, i), false) == 0;
	return reachable;
}

/* K33: a child has no mapping, unless it was asked for; its end harms nobody. */
TEST_F(mmap, fork)
{
	int i, round;

	EXPECT_EQ(gt_run_child(touch_all, &self->q), 0);
	EXPECT_EQ(touch_all(&self->q), REGIONS);
	for (i = 0; i < REGIONS; i++)
		ASSERT_EQ(madvise(gt_region(&self->q, i), self->q.a.region[i].length,
				  MADV_DOFORK), 0);
	for (round = 0; round < 10; round++)
		EXPECT_EQ(gt_run_child(touch_all, &self->q), REGIONS);
	memset(self->q.from_data, 0x11, 2 * RING);
	EXPECT_EQ(touch_all(&self->q), REGIONS);
}

TEST_F(mmap, mremap)
{
	int i;

	for (i = 0; i < REGIONS; i++) {
		size_t length = self->q.a.region[i].length;
		uint8_t *p = map_region(&self->q, i), *moved, *place;

		ASSERT_NE(p, MAP_FAILED);
		/* Growth would show what lies behind; a length of 0 makes a second one. */
		EXPECT_EQ(mremap(p, length, length + 4096, MREMAP_MAYMOVE), MAP_FAILED);
		EXPECT_EQ(mremap(p, length, 2 * length, MREMAP_MAYMOVE), MAP_FAILED);
		EXPECT_EQ(mremap(p, 0, length, MREMAP_MAYMOVE), MAP_FAILED);
		EXPECT_EQ(mremap(p, 0, 2 * length, MREMAP_MAYMOVE), MAP_FAILED);
		/* A move is fine. */
		place = mmap(NULL, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		moved = mremap(p, length, length, MREMAP_MAYMOVE | MREMAP_FIXED, place);
		ASSERT_EQ(moved, place);
		EXPECT_EQ(touch(moved, !is_kernel_page(i)), 0);
		EXPECT_EQ(touch(moved + length - 1, !is_kernel_page(i)), 0);
		if (!is_kernel_page(i)) {
			*(uint32_t *)moved = 0x4242;
			EXPECT_EQ(*(uint32_t *)gt_region(&self->q, i), 0x4242);
		}
		/* So is shrinking. */
		if (length > 4096) {
			EXPECT_EQ(mremap(moved, length, 4096, 0), moved);
			EXPECT_EQ(touch(moved, true), 0);
			EXPECT_EQ(touch(moved + 4096, false), SIGSEGV);
			EXPECT_EQ(mremap(moved, 4096, 8192, MREMAP_MAYMOVE), MAP_FAILED);
			length = 4096;
		}
		EXPECT_EQ(munmap(moved, length), 0);
	}
}

/* Holes, split protections: what is left of a mapping stays what it is. */
TEST_F(mmap, split)
{
	uint8_t *p = map_region(&self->q, GSOTUN_REGION_DATA);
	uint32_t i;

	ASSERT_NE(p, MAP_FAILED);
	for (i = 0; i < 2 * RING; i += 8 * 4096)
		EXPECT_EQ(munmap(p + i, 4096), 0);
	for (i = 4096; i < 2 * RING; i += 8 * 4096)
		EXPECT_EQ(mprotect(p + i, 4096, PROT_READ), 0);
	for (i = 2 * 4096; i < 2 * RING; i += 8 * 4096)
		EXPECT_EQ(mprotect(p + i, 4096, PROT_NONE), 0);
	for (i = 0; i < RING; i += 8 * 4096) {
		EXPECT_EQ(touch(p + i, false), SIGSEGV);
		EXPECT_EQ(touch(p + i + 4096, false), 0);
		EXPECT_EQ(touch(p + i + 4096, true), SIGSEGV);
		EXPECT_EQ(touch(p + i + 2 * 4096, false), SIGSEGV);
		p[i + 3 * 4096] = 0x99;
		EXPECT_EQ(self->q.to_data[i + 3 * 4096], 0x99);
		EXPECT_EQ(p[RING + i + 3 * 4096], 0x99);
	}
	for (i = 2 * 4096; i < 2 * RING; i += 8 * 4096)
		EXPECT_EQ(mprotect(p + i, 4096, PROT_READ | PROT_WRITE), 0);
	munmap(p, RING + 4096);
	munmap(p + RING, RING);
}

/* Whatever madvise() does to a mapping, the kernel's side goes on. */
TEST_F(mmap, madvise)
{
	int advice, i, sock;

	gt_dev_start(self->ifindex);
	sock = gt_udp_socket("10.9.0.1", 0);
	for (advice = 0; advice < 26; advice++) {
		uint32_t prod = self->q.to_k->prod;

		for (i = 0; i < REGIONS; i++) {
			uint8_t *p = map_region(&self->q, i);

			ASSERT_NE(p, MAP_FAILED);
			madvise(p, self->q.a.region[i].length, advice);
			touch(p, !is_kernel_page(i));
			mlock(p, self->q.a.region[i].length);
			munmap(p, self->q.a.region[i].length);
		}
		ASSERT_EQ(gt_send_to(sock, 2, 9, "hello", 5), 0);
		EXPECT_TRUE(gt_until(self->q.to_k->prod != prod))
			TH_LOG("advice %d", advice);
		/* IPv6 may have something to say as well. */
		EXPECT_GE(gt_drain(&self->q), 1);
	}
	close(sock);
}

/* ---- life ------------------------------------------------------------------------------------- */

static void fill(const struct gt_queue *q)
{
	int i;

	for (i = 0; i < REGIONS; i++)
		if (!is_kernel_page(i))
			memset(gt_region(q, i), 0x30 + i, q->a.region[i].length);
}

static bool filled(const struct gt_queue *q)
{
	size_t j;
	int i;

	for (i = 0; i < REGIONS; i++)
		for (j = 0; !is_kernel_page(i) && j < q->a.region[i].length; j += 64)
			if (((uint8_t *)gt_region(q, i))[j] != 0x30 + i)
				return false;
	return true;
}

/* Take and dirty much memory, so that what is free by mistake gets overwritten. */
static void use_memory(void)
{
	size_t size = GT_MIB(64);
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memset(p, 0xee, size);
	munmap(p, size);
}

/* K32: close, device and namespace go; the mapping is there, ours, and writable. */
TEST_F(mmap, survives)
{
	int step;

	for (step = 0; step < 4; step++) {
		switch (step) {
		case 0:
			ASSERT_EQ(gt_dev_del(self->ifindex), 0);
			break;
		case 1:
			close(self->q.fd);
			self->q.fd = -1;
			break;
		case 2:
			close(self->net);
			self->net = gt_unshare_net();
			break;
		}
		use_memory();
		EXPECT_TRUE(step == 0 || filled(&self->q))
			TH_LOG("after step %d", step);
		fill(&self->q);
		EXPECT_EQ(self->q.to_k->status, GSOTUN_STATUS_DETACHED);
	}
}

/* Mapped only, attached still: the daemon that closed its file too early. */
TEST_F(mmap, mapping_keeps_the_attachment)
{
	struct gt_link l;
	int sock;

	gt_dev_start(self->ifindex);
	close(self->q.fd);
	self->q.fd = -1;
	ASSERT_EQ(gt_link_get(self->ifindex, &l), 0);
	EXPECT_EQ(l.attached, 1);
	sock = gt_udp_socket("10.9.0.1", 0);
	ASSERT_EQ(gt_send_to(sock, 2, 9, "hello", 5), 0);
	EXPECT_TRUE(gt_until(self->q.to_k->prod != 0));
	gt_unmap(&self->q);
	EXPECT_TRUE(gt_until(!gt_link_get(self->ifindex, &l) && l.attached == 0));
	close(sock);
}

/* A detached file can still be mapped: what it has is its owner's. */
TEST_F(mmap, after_detach)
{
	int i;

	fill(&self->q);
	ASSERT_EQ(gt_dev_del(self->ifindex), 0);
	gt_unmap(&self->q);
	ASSERT_EQ(gt_map(&self->q), 0);
	EXPECT_TRUE(filled(&self->q));
	for (i = 0; i < REGIONS; i++)
		EXPECT_NE(gt_region(&self->q, i), NULL);
}

static long mem_available_kib(void)
{
	FILE *f = fopen("/proc/meminfo", "r");
	char line[128];
	long kib = 0;

	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "MemAvailable: %ld", &kib) == 1)
			break;
	fclose(f);
	return kib;
}

/* All of it is given back, whatever goes first: memory stays flat over 200 rounds. */
TEST_F(mmap, freed)
{
	struct gt_queue q;
	long before = 0;
	int i;

	for (i = 0; i < 230; i++) {
		if (i == 30)
			before = mem_available_kib();
		ASSERT_EQ(gt_attach(&q, self->ifindex, NULL), 0);
		q.to_data[0] = 1;
		if (i % 3 == 0) {
			close(q.fd);
			q.fd = -1;
		} else if (i % 3 == 1) {
			munmap(q.to_data, 4096);
		}
		gt_close(&q);
	}
	/* 200 MiB went through: one round in twelve that leaks would show. */
	EXPECT_TRUE(gt_until(mem_available_kib() > before - 16 * 1024))
		TH_LOG("%ld KiB before, %ld after", before, mem_available_kib());
}

/* ---- pages that can be pinned ---------------------------------------------------------------------- */

/* Another process reads and writes ring memory by its page tables. */
TEST_F(mmap, process_vm)
{
	char buf[5000], back[5000];
	struct iovec local = { buf, sizeof(buf) }, remote = {
		self->q.to_data + RING - 2500, sizeof(buf),
	};

	memset(remote.iov_base, 0x21, sizeof(buf));
	ASSERT_EQ(process_vm_readv(getpid(), &local, 1, &remote, 1, 0), sizeof(buf));
	EXPECT_EQ(memcmp(buf, remote.iov_base, sizeof(buf)), 0);
	memset(buf, 0x22, sizeof(buf));
	memset(back, 0x22, sizeof(back));
	ASSERT_EQ(process_vm_writev(getpid(), &local, 1, &remote, 1, 0), sizeof(buf));
	EXPECT_EQ(memcmp(back, remote.iov_base, sizeof(back)), 0);
	/* The beginning of the ring is the memory behind its seam. */
	EXPECT_EQ(memcmp(self->q.to_data, back, 2500), 0);
}

/* K32: pages given to a pipe stay what they are when ring, device and file go. */
TEST_F(mmap, vmsplice)
{
	char buf[4096], want[4096];
	int pipes[2], i;

	ASSERT_EQ(pipe(pipes), 0);
	for (i = 0; i < 8; i++) {
		struct iovec iov = { self->q.from_data + i * 4096, 4096 };

		memset(iov.iov_base, 0x40 + i, 4096);
		ASSERT_EQ(vmsplice(pipes[1], &iov, 1, 0), 4096);
	}
	gt_close(&self->q);
	ASSERT_EQ(gt_dev_del(self->ifindex), 0);
	use_memory();
	for (i = 0; i < 8; i++) {
		memset(want, 0x40 + i, sizeof(want));
		ASSERT_EQ(read(pipes[0], buf, sizeof(buf)), sizeof(buf));
		EXPECT_EQ(memcmp(buf, want, sizeof(buf)), 0)
			TH_LOG("page %d", i);
	}
	close(pipes[0]);
	close(pipes[1]);
}

/* A zero-copy send straight from ring memory, as a daemon does it. */
TEST_F(mmap, msg_zerocopy)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(4000) };
	int to = gt_udp_socket("127.0.0.1", 4000), from = gt_udp_socket(NULL, 0), on = 1, i;
	char buf[2000], control[128];
	struct msghdr done = { .msg_control = control, .msg_controllen = sizeof(control) };
	struct sock_extended_err *err;
	struct cmsghdr *c;

	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (setsockopt(from, SOL_SOCKET, SO_ZEROCOPY, &on, sizeof(on)))
		SKIP(return, "no SO_ZEROCOPY");
	ASSERT_EQ(connect(from, (void *)&sin, sizeof(sin)), 0);
	for (i = 0; i < 10; i++) {
		uint8_t *at = self->q.to_data + RING - 1000 + 3 * i;

		memset(at, 0x50 + i, 2000);
		ASSERT_EQ(send(from, at, 2000, MSG_ZEROCOPY), 2000);
		ASSERT_TRUE(gt_until(recv(to, buf, sizeof(buf), 0) == 2000));
		EXPECT_EQ(memcmp(buf, at, 2000), 0);
	}
	ASSERT_TRUE(gt_until(recvmsg(from, &done, MSG_ERRQUEUE) >= 0));
	c = CMSG_FIRSTHDR(&done);
	ASSERT_NE(c, NULL);
	err = (void *)CMSG_DATA(c);
	EXPECT_EQ(err->ee_origin, SO_EE_ORIGIN_ZEROCOPY);
	EXPECT_EQ(err->ee_errno, 0);
	close(to);
	close(from);
}

/* A ring of io_uring with one entry, by hand. */
struct uring {
	int fd;
	uint8_t *rings;
	struct io_uring_sqe *sqe;
	struct io_uring_params p;
};

static int uring_open(struct uring *u)
{
	memset(u, 0, sizeof(*u));
	u->fd = syscall(SYS_io_uring_setup, 1, &u->p);
	if (u->fd < 0)
		return -errno;
	if (!(u->p.features & IORING_FEAT_SINGLE_MMAP))
		return -EOPNOTSUPP;
	u->rings = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, u->fd, IORING_OFF_SQ_RING);
	u->sqe = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, u->fd, IORING_OFF_SQES);
	return u->rings == MAP_FAILED || (void *)u->sqe == MAP_FAILED ? -ENOMEM : 0;
}

/* Run u->sqe; its result. */
static int uring_run(struct uring *u)
{
	uint32_t *tail = (void *)(u->rings + u->p.sq_off.tail);
	uint32_t *array = (void *)(u->rings + u->p.sq_off.array);
	uint32_t *head = (void *)(u->rings + u->p.cq_off.head);
	struct io_uring_cqe *cqe = (void *)(u->rings + u->p.cq_off.cqes);
	int result;

	array[0] = 0;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, u->fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) != 1)
		return -errno;
	result = cqe[*head & (u->p.cq_entries - 1)].res;
	__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
	return result;
}

static int uring_fixed(struct uring *u, int op, int fd, void *at, uint32_t len)
{
	memset(u->sqe, 0, sizeof(*u->sqe));
	u->sqe->opcode = op;
	u->sqe->fd = fd;
	u->sqe->addr = (uintptr_t)at;
	u->sqe->len = len;
	u->sqe->off = -1;
	return uring_run(u);
}

/*
 * Registered buffers are pinned for as long as they like (FOLL_LONGTERM), which is
 * refused for files of most file systems. They outlive ring, file and device.
 */
TEST_F(mmap, io_uring)
{
	char buf[1000], want[1000];
	struct iovec iov = { self->q.from_data, 2 * RING };
	int pipes[2], err;
	struct uring u;

	err = uring_open(&u);
	if (err == -ENOSYS || err == -EPERM || err == -EOPNOTSUPP)
		SKIP(return, "no io_uring here");
	ASSERT_EQ(err, 0);
	err = syscall(SYS_io_uring_register, u.fd, IORING_REGISTER_BUFFERS, &iov, 1) ? errno : 0;
	if (err == EOPNOTSUPP)
		SKIP(return, "this kernel registers no memory of files");
	ASSERT_EQ(err, 0);
	ASSERT_EQ(pipe(pipes), 0);

	/* Out of the ring, across its seam. */
	memset(self->q.from_data + RING - 500, 0x61, 1000);
	memset(want, 0x61, sizeof(want));
	EXPECT_EQ(uring_fixed(&u, IORING_OP_WRITE_FIXED, pipes[1], self->q.from_data + RING - 500,
			      1000), 1000);
	ASSERT_EQ(read(pipes[0], buf, sizeof(buf)), sizeof(buf));
	EXPECT_EQ(memcmp(buf, want, sizeof(buf)), 0);
	/* Into the ring. */
	memset(buf, 0x62, sizeof(buf));
	ASSERT_EQ(write(pipes[1], buf, sizeof(buf)), sizeof(buf));
	EXPECT_EQ(uring_fixed(&u, IORING_OP_READ_FIXED, pipes[0], self->q.from_data + RING - 500,
			      1000), 1000);
	EXPECT_EQ(memcmp(self->q.from_data, buf + 500, 500), 0);

	/* Everything goes but the registration; K32. */
	ASSERT_EQ(gt_dev_del(self->ifindex), 0);
	gt_close(&self->q);
	use_memory();
	EXPECT_EQ(uring_fixed(&u, IORING_OP_WRITE_FIXED, pipes[1], iov.iov_base + RING - 500,
			      1000), 1000);
	ASSERT_EQ(read(pipes[0], want, sizeof(want)), sizeof(want));
	EXPECT_EQ(memcmp(buf, want, sizeof(buf)), 0);
	close(u.fd);
	close(pipes[0]);
	close(pipes[1]);
}

/* The attached file itself, polled by io_uring. */
TEST_F(mmap, io_uring_poll)
{
	struct uring u;
	int err = uring_open(&u), sock;

	if (err == -ENOSYS || err == -EPERM || err == -EOPNOTSUPP)
		SKIP(return, "no io_uring here");
	ASSERT_EQ(err, 0);
	gt_dev_start(self->ifindex);
	sock = gt_udp_socket("10.9.0.1", 0);
	ASSERT_EQ(gt_send_to(sock, 2, 9, "hello", 5), 0);
	memset(u.sqe, 0, sizeof(*u.sqe));
	u.sqe->opcode = IORING_OP_POLL_ADD;
	u.sqe->fd = self->q.fd;
	u.sqe->poll32_events = 1;	/* POLLIN */
	EXPECT_EQ(uring_run(&u), 1);
	close(u.fd);
	close(sock);
}

TEST_HARNESS_MAIN
