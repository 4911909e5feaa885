// SPDX-License-Identifier: GPL-2.0
/*
 * vectors.c - every vector of tests/vectors through a real ring and a real stack.
 *
 * refuse: the record is written to a from_user ring; it costs one drop with the
 * reason that the vector names, and the next record passes.
 *
 * segment: the record is injected into device in0 and forwarded by the IP stack
 *  - out of cut0, whose reader takes no offload, so that the kernel cuts: what
 *    comes out is what the vector says, byte for byte;
 *  - out of sup0, whose reader takes all: one record, described by a right
 *    virtio_net_hdr, that cuts into the same segments.
 * What a router must change is done to the vector before it is compared, see
 * pk_forward().
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_link.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gsotun.h"
#include "gsotun_test.h"
#include "kselftest_harness.h"
#include "packet.h"
#include "vec.h"

#define OFFLOADS	(GSOTUN_OFFLOAD_CSUM | GSOTUN_OFFLOAD_TSO4 | GSOTUN_OFFLOAD_TSO6 | \
			 GSOTUN_OFFLOAD_TSO_ECN | GSOTUN_OFFLOAD_USO)

static const char * const files[] = { "invalid.vec", "segment.vec", "siblings.vec" };

/* What the IP stack does not forward, and why. */
static const struct {
	const char *name, *why;
} not_forwarded[] = {
	{ "none-ext-truncated", "ipv6_rcv() reads hop-by-hop options and finds them cut short" },
	{ "tcp6-three-exts", "ip6_parse_tlv() takes no hop-by-hop padding of more than 7 bytes" },
};

static const char *why_not_forwarded(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(not_forwarded) / sizeof(not_forwarded[0]); i++)
		if (!strcmp(not_forwarded[i].name, name))
			return not_forwarded[i].why;
	return NULL;
}

/*
 * Kernels that have "net: qdisc_pkt_len_init() drops bad GSO" (6.12.117 does) judge
 * the TCP header of a GSO packet by its transport header. ip6_rcv_core() has left
 * that at the end of the fixed IPv6 header, so behind extension headers other bytes
 * are judged, and a forwarded packet may be dropped, whatever device it goes to.
 */
static bool perhaps_dropped(const struct vec *v)
{
	struct pk_parts p;

	return v->num_out > 1 && pk_parse(v->in[0].data, v->in[0].len, &p) &&
	       p.version == 6 && p.proto == IPPROTO_TCP && p.l4_off > 40;
}

/* Vectors of one kind, from all files. */
struct walk {
	struct vec_file file;
	char path[512];
	size_t next;
	bool open;
	enum vec_op op;
};

static bool walk_next(struct walk *w, struct vec *v)
{
	for (;;) {
		while (w->open && vec_next(&w->file, v))
			if (v->op == w->op)
				return true;
		if (w->open) {
			if (w->file.error[0])
				gt_die("%s: %s", w->file.path, w->file.error);
			vec_close(&w->file);
			w->open = false;
		}
		if (w->next == sizeof(files) / sizeof(files[0]))
			return false;
		snprintf(w->path, sizeof(w->path), "%s/%s", VECTORS, files[w->next++]);
		if (!vec_open(&w->file, w->path))
			gt_die("%s: %s", w->path, w->file.error);
		w->open = true;
	}
}

static void run(const char *command)
{
	if (system(command))
		gt_die("failed: %s", command);
}

FIXTURE(vectors)
{
	int net, in, cut, sup;
	struct gt_queue in_q, cut_q, sup_q;
	int sock;
};

static int device(const char *name, uint64_t offloads, struct gt_queue *q)
{
	struct gsotun_attach a;
	int ifindex = gt_dev_add(name, 1), err;
	char command[128];

	gt_attach_init(&a, ifindex, offloads);
	a.ring_bytes[GSOTUN_TO_USER] = GT_MIB(2);
	a.ring_bytes[GSOTUN_FROM_USER] = GT_MIB(2);
	a.fill_limit = GT_MIB(2);
	err = gt_attach(q, ifindex, &a);
	if (err)
		gt_die("cannot attach to %s: %s", name, strerror(-err));
	/* Longer than any segment, and no IPv6 talk of its own. */
	snprintf(command, sizeof(command),
		 "ip link set %s mtu 65535 addrgenmode none up && "
		 "tc qdisc replace dev %s root pfifo limit 10000", name, name);
	run(command);
	return ifindex;
}

FIXTURE_SETUP(vectors)
{
	self->net = gt_unshare_net();
	self->in = device("in0", OFFLOADS, &self->in_q);
	self->cut = device("cut0", 0, &self->cut_q);
	self->sup = device("sup0", OFFLOADS, &self->sup_q);
	ASSERT_EQ(gt_addr_add(self->in, "10.9.0.1", 24), 0);
	ASSERT_EQ(gt_write_file("/proc/sys/net/ipv4/ip_forward", "1"), 0);
	ASSERT_EQ(gt_write_file("/proc/sys/net/ipv6/conf/all/forwarding", "1"), 0);
	ASSERT_EQ(gt_write_file("/proc/sys/net/ipv4/conf/all/rp_filter", "0"), 0);
	ASSERT_EQ(gt_write_file("/proc/sys/net/ipv4/conf/in0/rp_filter", "0"), 0);
	self->sock = gt_udp_socket("10.9.0.1", 5000);
}

FIXTURE_TEARDOWN(vectors)
{
	close(self->sock);
	gt_close(&self->in_q);
	gt_close(&self->cut_q);
	gt_close(&self->sup_q);
	close(self->net);
}

/* A record of a vector; @len may be more than a packet can have. */
static void inject(struct gt_queue *q, const struct vec *v)
{
	uint8_t vnet[PK_VNET] = { 0 };

	memcpy(vnet, v->vnet.data, v->vnet.len);
	if (gt_inject(q, v->in[0].data, v->in[0].len, vnet))
		gt_die("%s: no room in the ring", v->name);
}

/* The next record but for what IPv6 says on its own, from :: and link-local addresses. */
static const struct gsotun_record *look(struct gt_queue *q, const uint8_t **packet)
{
	static const uint8_t unspecified[16];
	const struct gsotun_record *rec;

	while ((rec = gt_peek(q, packet))) {
		const uint8_t *b = *packet;

		if (b[0] >> 4 != 6 || (memcmp(b + 8, unspecified, 16) &&
				       (b[8] != 0xfe || b[9] >> 6 != 2)))
			return rec;
	}
	return NULL;
}

/* The same, waited for. */
static const struct gsotun_record *next(struct gt_queue *q, const uint8_t **packet)
{
	const struct gsotun_record *rec = NULL;

	gt_until_ms((rec = look(q, packet)), 5000);
	return rec;
}

/* ---- the oracle ------------------------------------------------------------------ */

/* pk_cut() says what the vectors say; later tests rely on it. */
TEST(oracle)
{
	struct walk w = { .op = VEC_SEGMENT };
	static uint8_t out[PK_CUT_MAX];
	static uint32_t lens[PK_SEGS];
	unsigned int n = 0;
	uint32_t i, at, got;
	struct vec v;

	for (; walk_next(&w, &v); n++) {
		got = pk_cut(v.in[0].data, v.in[0].len, v.vnet.data, out, lens);
		EXPECT_EQ(got, v.num_out)
			TH_LOG("%s", v.name);
		for (i = 0, at = 0; i < got && i < v.num_out; at += lens[i++])
			EXPECT_TRUE(lens[i] == v.out[i].len &&
				    (!memcmp(out + at, v.out[i].data, lens[i]) ||
				     v.tcp_csum_alt))
				TH_LOG("%s: segment %u", v.name, i);
	}
	EXPECT_GE(n, 45);
}

/* ---- refuse ---------------------------------------------------------------------- */

static int reason_of(const char *name)
{
	const char *known;
	int i;

	for (i = 1; (known = gsotun_drop_name(i)); i++)
		if (!strcmp(known, name))
			return i;
	gt_die("unknown reason %s", name);
}

/* One drop of the reason named, and the record behind it passes. */
TEST_F_TIMEOUT(vectors, refuse, 60)
{
	struct walk w = { .op = VEC_REFUSE };
	struct gt_queue_info before, after;
	const uint8_t *packet;
	unsigned int n = 0;
	uint8_t good[128];
	uint32_t len, got;
	int reason;
	struct vec v;

	ASSERT_EQ(gt_queue_get(self->in, 0, &before), 0);
	for (; walk_next(&w, &v); n++, before = after) {
		len = gt_udp4(good, "10.9.0.2", "10.9.0.1", 6000, 5000, &n, sizeof(n));
		inject(&self->in_q, &v);
		ASSERT_EQ(gt_inject(&self->in_q, good, len, NULL), 0);
		/* Within the kick, but for a softirq that was busy. */
		EXPECT_TRUE(gt_until(self->in_q.from_k->cons == self->in_q.prod))
			TH_LOG("%s: not consumed", v.name);
		got = ~0;
		EXPECT_TRUE(gt_until(recv(self->sock, &got, sizeof(got), MSG_DONTWAIT) > 0))
			TH_LOG("%s: the next record did not pass", v.name);
		EXPECT_EQ(got, n);

		ASSERT_EQ(gt_queue_get(self->in, 0, &after), 0);
		reason = reason_of(v.reason);
		EXPECT_EQ(after.drop_sum - before.drop_sum, 1)
			TH_LOG("%s", v.name);
		EXPECT_EQ(after.drops[reason] - before.drops[reason], 1)
			TH_LOG("%s: reason %s not counted", v.name, v.reason);
		EXPECT_EQ(after.ring[GSOTUN_FROM_USER].records -
			  before.ring[GSOTUN_FROM_USER].records, 1)
			TH_LOG("%s", v.name);
	}
	EXPECT_GE(n, 43);
	EXPECT_EQ(look(&self->cut_q, &packet), NULL);
	EXPECT_EQ(look(&self->sup_q, &packet), NULL);
	TH_LOG("%u records refused", n);
}

/* ---- segment --------------------------------------------------------------------- */

static void routes_to(const char *dev)
{
	char command[160];

	snprintf(command, sizeof(command),
		 "ip route replace default dev %s && ip -6 route replace default dev %s", dev, dev);
	run(command);
}

/*
 * What was sent is what came, after the router's work. A TCP checksum that
 * computes to 0 has two names where the vector says so; @csum_at is its place.
 */
static bool same(const struct vec *v, bool direct, const uint8_t *want, uint32_t want_len,
		 const uint8_t *got, uint32_t got_len)
{
	uint8_t copy[PK_MAX];
	struct pk_parts p;
	uint8_t *check;

	if (want_len != got_len)
		return false;
	memcpy(copy, want, want_len);
	if (!direct)
		pk_forward(copy, want_len, got);
	if (!memcmp(copy, got, got_len))
		return true;
	if (!v->tcp_csum_alt || !pk_parse(copy, want_len, &p))
		return false;
	check = copy + p.l4_off + 16;
	if (check[0] || check[1])
		return false;
	memset(check, 0xff, 2);
	return !memcmp(copy, got, got_len);
}

static void dump(const char *what, const uint8_t *b, uint32_t len)
{
	char line[3 * 64 + 1];
	uint32_t i;

	for (i = 0; i < len && i < 64; i++)
		sprintf(line + 2 * i, "%02x", b[i]);
	printf("# %s %u: %s\n", what, len, line);
}

/* Seen where it enters the stack, since it gets no further. */
static bool enters_unchanged(struct gt_queue *in_q, const struct vec *v)
{
	uint8_t got[PK_MAX];
	bool found;
	int fd;

	fd = socket(AF_PACKET, SOCK_DGRAM, htons(ETH_P_ALL));
	if (fd < 0)
		gt_die("packet socket");
	inject(in_q, v);
	found = gt_until(recv(fd, got, sizeof(got), MSG_DONTWAIT) == v->in[0].len &&
			 !memcmp(got, v->in[0].data, v->in[0].len));
	close(fd);
	return found;
}

/*
 * Packets the stack drops when it forwards them, but not when they come from a
 * packet socket, which looks for the transport header itself.
 */
static void send_to(const char *dev, const struct vec *v)
{
	struct sockaddr_ll to = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(v->in[0].data[0] >> 4 == 6 ? ETH_P_IPV6 : ETH_P_IP),
		.sll_ifindex = if_nametoindex(dev),
	};
	struct iovec iov[] = {
		{ (void *)v->vnet.data, v->vnet.len }, { (void *)v->in[0].data, v->in[0].len },
	};
	struct msghdr msg = {
		.msg_name = &to, .msg_namelen = sizeof(to), .msg_iov = iov, .msg_iovlen = 2,
	};
	int fd = socket(AF_PACKET, SOCK_RAW, 0), one = 1;

	if (fd < 0 || setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &one, sizeof(one)) ||
	    sendmsg(fd, &msg, 0) < 0)
		gt_die("%s: packet socket: %s", v->name, strerror(errno));
	close(fd);
}

static uint64_t tx_dropped(int ifindex)
{
	struct rtnl_link_stats64 stats;

	return gt_stats(ifindex, &stats) ? 0 : stats.tx_dropped;
}

/*
 * In by in0 and out by device @out. What the stack does not forward is looked at
 * where it enters the stack, and then sent straight to the device; @direct says so.
 * The first record, or NULL.
 */
static const struct gsotun_record *
pass(struct gt_queue *in_q, const char *dev, struct gt_queue *out, const struct vec *v,
     const uint8_t **got, bool *direct)
{
	const char *why = why_not_forwarded(v->name);
	const struct gsotun_record *rec = NULL;
	int ifindex = if_nametoindex(dev);
	uint64_t dropped = tx_dropped(ifindex);

	*direct = false;
	if (!why) {
		inject(in_q, v);
		gt_until((rec = look(out, got)) || tx_dropped(ifindex) != dropped);
		if (rec || !perhaps_dropped(v))
			return rec;
		why = "see perhaps_dropped()";
	} else if (!enters_unchanged(in_q, v)) {
		return NULL;
	}
	printf("# %s is not forwarded: %s\n", v->name, why);
	*direct = true;
	send_to(dev, v);
	return next(out, got);
}

/* Cut by the kernel for a reader without offloads: the segments of the vector. */
TEST_F_TIMEOUT(vectors, segment, 60)
{
	struct walk w = { .op = VEC_SEGMENT };
	const struct gsotun_record *rec;
	const uint8_t *got;
	unsigned int n = 0;
	bool direct;
	struct vec v;
	uint32_t i;

	routes_to("cut0");
	for (; walk_next(&w, &v); n++) {
		for (i = 0; i < v.num_out; i++) {
			rec = i ? next(&self->cut_q, &got) :
				  pass(&self->in_q, "cut0", &self->cut_q, &v, &got, &direct);
			ASSERT_NE(rec, NULL)
				TH_LOG("%s: segment %u does not come", v.name, i);
			EXPECT_TRUE(same(&v, direct, v.out[i].data, v.out[i].len, got, rec->len)) {
				TH_LOG("%s: segment %u differs", v.name, i);
				dump("want", v.out[i].data, v.out[i].len);
				dump("got", got, rec->len);
			}
			/* No offload, nothing to describe. */
			EXPECT_EQ(rec->type, GSOTUN_RECORD_PACKET);
			EXPECT_EQ(((const uint8_t *)(rec + 1))[0] & PK_NEEDS_CSUM, 0)
				TH_LOG("%s: segment %u has a partial checksum", v.name, i);
			EXPECT_EQ(((const uint8_t *)(rec + 1))[1], 0)
				TH_LOG("%s: segment %u is GSO", v.name, i);
		}
		EXPECT_EQ(look(&self->cut_q, &got), NULL)
			TH_LOG("%s: more segments than %u", v.name, v.num_out);
		gt_release(&self->cut_q);
	}
	EXPECT_GE(n, 45);
	EXPECT_EQ(look(&self->sup_q, &got), NULL);
	TH_LOG("%u records cut", n);
}

/* As the kernel describes it, not as the daemon that injected it did. */
static bool described(const struct vec *v, const struct gsotun_record *rec)
{
	const struct vec_bytes *in = &v->in[0];
	struct pk_vnet was, is;
	struct pk_parts p;

	pk_vnet_get(&was, v->vnet.data);
	pk_vnet_get(&is, rec + 1);
	if (is.flags & PK_NEEDS_CSUM && is.flags & PK_DATA_VALID)
		return false;
	if (v->num_out > 1) {
		if (!pk_parse(in->data, in->len, &p))
			return false;
		return is.flags == PK_NEEDS_CSUM && is.gso_type == was.gso_type &&
		       is.gso_size == was.gso_size && is.hdr_len == p.hdr_len &&
		       is.csum_start == p.l4_off &&
		       is.csum_offset == (p.proto == IPPROTO_TCP ? 16 : 6);
	}
	if (is.gso_type || is.gso_size || is.hdr_len)
		return false;
	if (was.flags & PK_NEEDS_CSUM)
		return is.flags == PK_NEEDS_CSUM && is.csum_start == was.csum_start &&
		       is.csum_offset == was.csum_offset;
	return !(is.flags & PK_NEEDS_CSUM) && !is.csum_start && !is.csum_offset;
}

/*
 * A record that cuts into the segments of the vector. The oracle works on what
 * the record says, so a wrong description shows in the segments too.
 */
static bool cuts_alike(const struct vec *v, bool direct, const struct gsotun_record *rec,
		       const uint8_t *got)
{
	static uint8_t out[PK_CUT_MAX];
	static uint32_t lens[PK_SEGS];
	uint32_t i, at, n = pk_cut(got, rec->len, rec + 1, out, lens);

	if (n != v->num_out)
		return false;
	for (i = 0, at = 0; i < n; at += lens[i++])
		if (!same(v, direct, v->out[i].data, v->out[i].len, out + at, lens[i]))
			return false;
	return true;
}

/* Taken whole by a reader with all offloads. */
TEST_F_TIMEOUT(vectors, superpacket, 60)
{
	struct walk w = { .op = VEC_SEGMENT };
	const struct gsotun_record *rec;
	const uint8_t *got;
	unsigned int n = 0;
	bool direct;
	struct vec v;

	routes_to("sup0");
	for (; walk_next(&w, &v); n++) {
		rec = pass(&self->in_q, "sup0", &self->sup_q, &v, &got, &direct);
		ASSERT_NE(rec, NULL)
			TH_LOG("%s does not come", v.name);
		EXPECT_TRUE(described(&v, rec)) {
			TH_LOG("%s: wrong virtio_net_hdr", v.name);
			dump("want", v.vnet.data, v.vnet.len);
			dump("got", (const uint8_t *)(rec + 1), PK_VNET);
		}
		EXPECT_TRUE(cuts_alike(&v, direct, rec, got)) {
			TH_LOG("%s: differs", v.name);
			dump("want", v.in[0].data, v.in[0].len);
			dump("got", got, rec->len);
		}
		EXPECT_EQ(look(&self->sup_q, &got), NULL)
			TH_LOG("%s: more than one record", v.name);
		gt_release(&self->sup_q);
	}
	EXPECT_GE(n, 45);
	EXPECT_EQ(look(&self->cut_q, &got), NULL);
	TH_LOG("%u records passed whole", n);
}

TEST_HARNESS_MAIN
