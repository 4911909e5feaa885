// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * seg_kernel_test.c - cutting, against the segmentation of the running kernel.
 *
 * A packet socket with PACKET_VNET_HDR sends superpackets into a TUN without
 * offloads, in a network namespace of its own. So the kernel cuts them in
 * software, and the packets that come out are compared with ours. Needs
 * CAP_NET_ADMIN and CAP_NET_RAW, or user namespaces that give them, and
 * /dev/net/tun; is skipped where these are missing.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <linux/if_tun.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "cut_util.h"
#include "seg.h"

#define ROUNDS		12000u
#define SEGS_MAX	300u	/* fewer than the TUN's queue holds */
#define HANG_MS		10000

static int tun_fd, packet_fd, ifindex;
static char skip_reason[160];
static struct sample s;
static u8 ours[LEN_MAX + 1], theirs[LEN_MAX + 1];

static bool skip(const char *what)
{
	snprintf(skip_reason, sizeof(skip_reason), "%s: %s", what, strerror(errno));
	return false;
}

static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool done;

	if (fd < 0)
		return false;
	done = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	close(fd);
	return done;
}

static bool open_namespace(void)
{
	char map[64];

	if (!unshare(CLONE_NEWNET))
		return true;
	snprintf(map, sizeof(map), "0 %u 1", (unsigned int)getuid());
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET))
		return skip("network namespace");
	if (!write_file("/proc/self/uid_map", map))
		return skip("user namespace");
	return true;
}

/* A TUN of which no offload was asked, up, with room for the longest plain packet. */
static bool open_tun(void)
{
	struct ifreq ifr;
	int ctl;

	/* Or the kernel's own packets come out too. */
	write_file("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
	tun_fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (tun_fd < 0)
		return skip("/dev/net/tun");
	memset(&ifr, 0, sizeof(ifr));
	ifr.ifr_flags = IFF_TUN | IFF_NO_PI;
	snprintf(ifr.ifr_name, IFNAMSIZ, "cut%d", (int)getpid() % 100000);
	if (ioctl(tun_fd, TUNSETIFF, &ifr))
		return skip("TUNSETIFF");
	ctl = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (ctl < 0)
		return skip("socket");
	ifr.ifr_mtu = 9000;
	ioctl(ctl, SIOCSIFMTU, &ifr);
	ifr.ifr_flags = IFF_UP;
	if (ioctl(ctl, SIOCSIFFLAGS, &ifr)) {
		close(ctl);
		return skip("SIOCSIFFLAGS");
	}
	if (ioctl(ctl, SIOCGIFINDEX, &ifr)) {
		close(ctl);
		return skip("SIOCGIFINDEX");
	}
	close(ctl);
	ifindex = ifr.ifr_ifindex;
	return true;
}

static bool open_packet_socket(void)
{
	int one = 1, bytes = 1 << 20;

	packet_fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (packet_fd < 0)
		return skip("packet socket");
	if (setsockopt(packet_fd, SOL_PACKET, PACKET_VNET_HDR, &one, sizeof(one)))
		return skip("PACKET_VNET_HDR");
	setsockopt(packet_fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
	return true;
}

static bool set_up(void)
{
	return open_namespace() && open_tun() && open_packet_socket();
}

static bool send_sample(void)
{
	struct sockaddr_ll ll = {
		.sll_family = AF_PACKET, .sll_ifindex = ifindex,
		.sll_protocol = htons(s.b[0] >> 4 == 4 ? ETHERTYPE_IP : ETHERTYPE_IPV6),
	};
	u8 vnet[VNET_LEN_MIN];
	struct iovec iov[2] = { { vnet, sizeof(vnet) }, { s.b, s.len } };
	struct msghdr msg = {
		.msg_name = &ll, .msg_namelen = sizeof(ll), .msg_iov = iov, .msg_iovlen = 2,
	};

	gsotun_vnet_put(&s.v, vnet);
	return sendmsg(packet_fd, &msg, 0) == (ssize_t)(sizeof(vnet) + s.len);
}

/* The next packet that comes out of the kernel; 0 if none does. */
static u32 receive(void)
{
	struct pollfd pfd = { .fd = tun_fd, .events = POLLIN };
	ssize_t n;

	do {
		n = read(tun_fd, theirs, sizeof(theirs));
	} while (n < 0 && errno == EAGAIN && poll(&pfd, 1, HANG_MS) > 0);
	return n < 0 ? 0 : (u32)n;
}

static bool compare_all(const struct gsotun_plan *p, const char *what)
{
	u32 i, off, len, got, at;
	struct gsotun_seg seg;

	gsotun_seg_init(&seg, p, s.b, 0);
	for (i = 0; i < p->segs; i++) {
		gsotun_seg_payload(&seg, i, &off, &len);
		memcpy(ours + p->hdr_len, s.b + off, len);
		gsotun_seg_header(&seg, i, payload_sum(s.b + off, len), ours);
		got = receive();
		expect(got == p->hdr_len + len, "%s: segment %u of %u: %u bytes, not %u", what, i,
		       p->segs, p->hdr_len + len, got);
		if (got != p->hdr_len + len)
			return false;
		for (at = 0; at < got && ours[at] == theirs[at];)
			at++;
		expect(at == got, "%s: segment %u of %u, byte %u: header %u+%u", what, i, p->segs,
		       at, p->l4_off, p->hdr_len - p->l4_off);
	}
	return true;
}

static bool check_sample(const char *what)
{
	struct gsotun_plan p;
	int drop;

	drop = parse(&p, &s.v, s.b, s.len);
	expect(!drop, "%s: to be accepted: %d", what, drop);
	if (drop)
		return true;
	if (!send_sample()) {
		expect(false, "%s: %u bytes to be sent: %s", what, s.len, strerror(errno));
		return true;
	}
	return compare_all(&p, what);
}

static void random_superpackets(void)
{
	static const char *const names[KINDS] = { "TCP4", "TCP6", "UDP4", "UDP6" };
	u32 round;
	int kind;

	for (round = 0; round < ROUNDS; round++) {
		kind = (int)below(KINDS);
		random_super(&s, kind, one_in(2), one_in(20) ? SEGS_MAX : 40);
		if (is_tcp(kind) && s.b[s.l4_off + 13] & CWR && one_in(2))
			s.v.gso_type |= VNET_GSO_ECN;
		/* What it covers, only the sender knows. */
		if (one_in(8))
			noise_bytes(s.b + s.l4_off + s.v.csum_offset, 2);
		/* The kernel then looks for TCP itself, and gives up after 15 headers. */
		if (is_tcp(kind) && one_in(8) && s.l4_off <= 40 + 14 * 8) {
			s.v.flags = 0;
			s.v.csum_start = 0;
			s.v.csum_offset = 0;
		}
		/* If a packet is missing, what follows is compared with the wrong ones. */
		if (!check_sample(names[kind]))
			break;
	}
	printf("# %u superpackets\n", round);
}

static void plain_packets_with_partial_checksums(void)
{
	u32 round;
	int kind;

	for (round = 0; round < 1000; round++) {
		kind = (int)below(KINDS);
		make_plain(&s, kind, below(1200));
		noise_bytes(s.b + s.hdr_len, s.len - s.hdr_len);
		if (s.b[0] == 0x45)
			slow_ipv4_csum(s.b);
		s.v.flags = VNET_F_NEEDS_CSUM;
		s.v.csum_start = (u16)s.l4_off;
		s.v.csum_offset = is_tcp(kind) ? 16 : 6;
		put_be16(s.b + s.l4_off + s.v.csum_offset,
			 slow_fold(slow_pseudo(s.b, s.len - s.l4_off)));
		/* One in some that comes out as zero. */
		if (s.len >= s.hdr_len + 2 && one_in(2)) {
			put_be16(s.b + s.hdr_len, 0);
			put_be16(s.b + s.hdr_len, 0xffff - slow_fold(slow_sum(s.b + s.l4_off,
									      s.len - s.l4_off)));
		}
		if (!check_sample("plain"))
			break;
	}
}

static const struct ktap_test tests[] = {
	KTAP_TEST(random_superpackets),
	KTAP_TEST(plain_packets_with_partial_checksums),
};

int main(void)
{
	size_t i;

	if (set_up())
		return plan_main(tests, ARRAY_SIZE(tests));

	printf("KTAP version 1\n1..%zu\n", ARRAY_SIZE(tests));
	for (i = 0; i < ARRAY_SIZE(tests); i++)
		printf("ok %zu %s # SKIP %s\n", i + 1, tests[i].name, skip_reason);
	return 0;
}
