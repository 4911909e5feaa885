/* SPDX-License-Identifier: GPL-2.0 */
/*
 * packet.h - packets for the C tests: build, check, cut, forward.
 *
 * pk_cut() is an oracle: slow, obvious, and it shares nothing with the module or
 * the kernel. The vectors test holds it against tests/vectors before others rely
 * on it.
 */
#ifndef GSOTUN_TEST_PACKET_H
#define GSOTUN_TEST_PACKET_H

#include <stdbool.h>
#include <stdint.h>

#define PK_MAX		65535	/* bytes of an IP packet */
#define PK_VNET		12	/* bytes of a virtio_net_hdr as the tests attach */
#define PK_SEGS		8200	/* most segments of one packet: 65,535 by 8 */

#define PK_NEEDS_CSUM	1
#define PK_DATA_VALID	2
#define PK_TCPV4	1
#define PK_TCPV6	4
#define PK_UDP_L4	5
#define PK_ECN		0x80

#define PK_FIN		0x01
#define PK_SYN		0x02
#define PK_PSH		0x08
#define PK_ACK		0x10
#define PK_ECE		0x40
#define PK_CWR		0x80

/* A virtio_net_hdr in host order. */
struct pk_vnet {
	uint8_t flags, gso_type;
	uint16_t hdr_len, gso_size, csum_start, csum_offset;
};

void pk_vnet_get(struct pk_vnet *v, const void *le);
/* PK_VNET bytes. */
void pk_vnet_put(const struct pk_vnet *v, void *le);

/* Addresses as text, IPv4 or IPv6 both; ports. */
struct pk_flow {
	const char *from, *to;
	uint16_t sport, dport;
};

/*
 * Write a packet with complete checksums; return its length. IPv4 packets have DF
 * set and @id, a TCP header has no options.
 */
uint32_t pk_udp(void *buf, const struct pk_flow *f, uint16_t id, const void *payload,
		uint32_t len);
uint32_t pk_tcp(void *buf, const struct pk_flow *f, uint16_t id, uint32_t seq, uint8_t flags,
		const void *payload, uint32_t len);

/* Make it a superpacket of segments of @gso_size: partial checksum, and @v for it. */
void pk_make_gso(void *packet, uint32_t len, uint16_t gso_size, struct pk_vnet *v);

/* What lies where in a packet without a lie in it. */
struct pk_parts {
	int version;
	uint8_t proto;
	bool fragment;
	uint32_t l4_off, hdr_len;	/* hdr_len: l4_off, for neither TCP nor UDP */
};
bool pk_parse(const void *packet, uint32_t len, struct pk_parts *p);

/* Lengths agree, and every checksum that is there is right. */
bool pk_complete(const void *packet, uint32_t len);

/*
 * Cut a packet as its @vnet (le, 10 bytes) says, into @out, one segment behind the
 * other; lengths into @lens. Returns their number; 1: checksum finished, or as it
 * was. 0: it makes no sense.
 */
uint32_t pk_cut(const void *packet, uint32_t len, const void *vnet, uint8_t *out,
		uint32_t lens[PK_SEGS]);

/* Bytes that pk_cut() may write. */
#define PK_CUT_MAX	(PK_MAX + PK_SEGS * 600u)

/*
 * Do to a packet what a router does: TTL or hop limit one less, IPv4 header
 * checksum to match. An IPv4 timestamp option with room is a job for the router
 * too: pointer moved, time as in @got, which is what came out.
 */
void pk_forward(void *packet, uint32_t len, const void *got);

/* Fill with bytes that depend on @seed. */
void pk_fill(void *buf, uint32_t len, uint32_t seed);

#endif /* GSOTUN_TEST_PACKET_H */
