// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * plan.c - is a packet from a daemon what its virtio_net_hdr says it is?
 *
 * Theory of operation
 *
 * The stack trusts a GSO skb: segmentation copies headers by the lengths found
 * in them and writes checksums where it is told, often long after the packet
 * came in and with nobody left to tell. So everything that it would act on is
 * compared with the bytes here, once, on a private copy. What does not fit is
 * refused with a reason; nothing is repaired.
 *
 * How much is looked at depends on what is claimed. A plain packet is not ours
 * to judge: it needs an IP header that agrees with its length, and whatever
 * lies behind that (ESP, fragments, protocols not invented yet) passes. A
 * partial checksum adds that the field lies behind the IP header and inside the
 * copy. GSO adds every header down to TCP or UDP.
 *
 * Invariant: no byte at or beyond hdr[avail] is read. Every function checks that
 * its header lies inside before it looks at it. Sums and products are of u32
 * and of values below 2^17, so none of them wraps.
 */
#include <linux/gsotun.h>
#include "plan.h"

#define PACKET_LEN_MAX		65535u

#define IPV4_HDR_LEN		20u
#define IPV4_FRAG_MASK		0x3fffu	/* more fragments, or an offset */
#define IPV6_HDR_LEN		40u
#define IPV6_EXT_LEN_MIN	8u
#define TCP_HDR_LEN		20u
#define TCP_CSUM_OFFSET		16u
#define TCP_GSO_SIZE_MIN	8u
#define UDP_HDR_LEN		8u
#define UDP_CSUM_OFFSET		6u
#define UDP_SEGS_MAX		128u
#define GSO_BY_FRAGS_SIZE	0xffffu	/* the kernel's skb_segment() means something else by it */

#define PROTO_HOP_BY_HOP	0
#define PROTO_TCP		6
#define PROTO_UDP		17
#define PROTO_ROUTING		43
#define PROTO_FRAGMENT		44
#define PROTO_DEST_OPTIONS	60

static u16 get_le16(const u8 *b)
{
	return b[0] | b[1] << 8;
}

static void put_le16(u8 *b, u16 x)
{
	b[0] = x & 0xff;
	b[1] = x >> 8;
}

static u32 get_be16(const u8 *b)
{
	return (u32)b[0] << 8 | b[1];
}

void gsotun_vnet_get(struct gsotun_vnet *v, const void *le)
{
	const u8 *b = le;

	v->flags = b[0];
	v->gso_type = b[1];
	v->hdr_len = get_le16(b + 2);
	v->gso_size = get_le16(b + 4);
	v->csum_start = get_le16(b + 6);
	v->csum_offset = get_le16(b + 8);
}

void gsotun_vnet_put(const struct gsotun_vnet *v, void *le)
{
	u8 *b = le;

	b[0] = v->flags;
	b[1] = v->gso_type;
	put_le16(b + 2, v->hdr_len);
	put_le16(b + 4, v->gso_size);
	put_le16(b + 6, v->csum_start);
	put_le16(b + 8, v->csum_offset);
}

/* ---- the IP header: of every packet ---- */

static int parse_ipv4(struct gsotun_plan *p, const u8 *hdr, u32 avail)
{
	u32 ip_len = (hdr[0] & 0x0f) * 4u;

	if (ip_len < IPV4_HDR_LEN || ip_len > avail)
		return GSOTUN_DROP_IP_HEADER;
	/* More would be payload that is none, less a read past the end. */
	if (get_be16(hdr + 2) != p->len)
		return GSOTUN_DROP_IP_LENGTH;

	p->version = 4;
	p->l4_off = ip_len;
	return GSOTUN_DROP_NONE;
}

static int parse_ipv6(struct gsotun_plan *p, const u8 *hdr, u32 avail)
{
	if (avail < IPV6_HDR_LEN)
		return GSOTUN_DROP_IP_HEADER;
	/*
	 * This refuses jumbograms, which say 0. A packet that says 0 and has
	 * nothing behind its header is legal (RFC 8200, 4.7) and passes.
	 */
	if (get_be16(hdr + 4) + IPV6_HDR_LEN != p->len)
		return GSOTUN_DROP_IP_LENGTH;

	p->version = 6;
	p->l4_off = IPV6_HDR_LEN;
	return GSOTUN_DROP_NONE;
}

static int parse_ip(struct gsotun_plan *p, const u8 *hdr, u32 avail)
{
	if (avail < IPV4_HDR_LEN)
		return GSOTUN_DROP_SHORT;

	switch (hdr[0] >> 4) {
	case 4:
		return parse_ipv4(p, hdr, avail);
	case 6:
		return parse_ipv6(p, hdr, avail);
	default:
		return GSOTUN_DROP_IP_VERSION;
	}
}

/* ---- a partial checksum on a packet that is no GSO ---- */

/*
 * The offset is not compared with the protocol's: partial checksums exist for
 * more than TCP and UDP. But they never lie in the IP header, where finishing
 * one would change addresses, and they lie in the part that was copied, which
 * the module makes the linear part of the skb.
 */
static int parse_csum(struct gsotun_plan *p, const struct gsotun_vnet *v, u32 avail)
{
	u32 end = (u32)v->csum_start + v->csum_offset + 2;

	if (v->csum_start < p->l4_off || end > avail)
		return GSOTUN_DROP_CSUM;

	p->csum_start = v->csum_start;
	p->csum_offset = v->csum_offset;
	if (p->hdr_len < end)
		p->hdr_len = end;
	return GSOTUN_DROP_NONE;
}

/* ---- GSO: the headers behind the IP header ---- */

static int find_l4_ipv4(const u8 *hdr, u32 *proto)
{
	if (get_be16(hdr + 6) & IPV4_FRAG_MASK)
		return GSOTUN_DROP_FRAGMENT;
	*proto = hdr[9];
	return GSOTUN_DROP_NONE;
}

/*
 * Walks the extension headers that the kernel's segmentation knows how to copy;
 * any other ends the walk and is no TCP or UDP. Each has 8 bytes or more, so
 * the length of the copy bounds the loop.
 */
static int find_l4_ipv6(struct gsotun_plan *p, const u8 *hdr, u32 avail, u32 *proto)
{
	u32 next = hdr[6];
	u32 off = IPV6_HDR_LEN;

	while (next == PROTO_HOP_BY_HOP || next == PROTO_ROUTING ||
	       next == PROTO_DEST_OPTIONS) {
		u32 ext_len;

		if (avail - off < IPV6_EXT_LEN_MIN)
			return GSOTUN_DROP_IP_OPTIONS;
		ext_len = (hdr[off + 1] + 1u) * 8;
		if (avail - off < ext_len)
			return GSOTUN_DROP_IP_OPTIONS;
		next = hdr[off];
		off += ext_len;
	}
	if (next == PROTO_FRAGMENT)
		return GSOTUN_DROP_FRAGMENT;

	p->l4_off = off;
	*proto = next;
	return GSOTUN_DROP_NONE;
}

/*
 * A transport header does not end inside the copy. If the packet goes on, it was
 * pushed out by extension headers.
 */
static int l4_cut_short(const struct gsotun_plan *p, u32 avail)
{
	return avail < p->len ? GSOTUN_DROP_IP_OPTIONS : GSOTUN_DROP_L4_HEADER;
}

static int parse_tcp(struct gsotun_plan *p, const u8 *hdr, u32 avail)
{
	u32 room = avail - p->l4_off;
	u32 tcp_len;

	if (room < TCP_HDR_LEN)
		return l4_cut_short(p, avail);
	tcp_len = (hdr[p->l4_off + 12] >> 4) * 4u;
	if (tcp_len < TCP_HDR_LEN)
		return GSOTUN_DROP_L4_HEADER;
	if (tcp_len > room)
		return l4_cut_short(p, avail);

	p->hdr_len = p->l4_off + tcp_len;
	p->csum_offset = TCP_CSUM_OFFSET;
	return GSOTUN_DROP_NONE;
}

static int parse_udp(struct gsotun_plan *p, const u8 *hdr, u32 avail)
{
	if (avail - p->l4_off < UDP_HDR_LEN)
		return l4_cut_short(p, avail);
	/* Segmentation corrects the checksum by the difference to this length. */
	if (get_be16(hdr + p->l4_off + 4) != p->len - p->l4_off)
		return GSOTUN_DROP_UDP_LENGTH;

	p->hdr_len = p->l4_off + UDP_HDR_LEN;
	p->csum_offset = UDP_CSUM_OFFSET;
	return GSOTUN_DROP_NONE;
}

/* ---- GSO: what the virtio_net_hdr claims ---- */

/* Takes gso_type apart; what is left in the plan is a type that was asked for. */
static int parse_gso_type(struct gsotun_plan *p, const struct gsotun_vnet *v,
			  u64 offloads)
{
	u64 need;

	p->ecn = v->gso_type & VNET_GSO_ECN;
	p->gso_type = v->gso_type & ~VNET_GSO_ECN;

	switch (p->gso_type) {
	case VNET_GSO_TCPV4:
		need = GSOTUN_OFFLOAD_TSO4;
		break;
	case VNET_GSO_TCPV6:
		need = GSOTUN_OFFLOAD_TSO6;
		break;
	case VNET_GSO_UDP_L4:
		if (p->ecn)
			return GSOTUN_DROP_GSO_TYPE;
		need = GSOTUN_OFFLOAD_USO;
		break;
	default:	/* the ECN bit alone, UFO, tunnels, and what comes after us */
		return GSOTUN_DROP_GSO_TYPE;
	}
	if (p->ecn)
		need |= GSOTUN_OFFLOAD_TSO_ECN;
	return (offloads & need) == need ? GSOTUN_DROP_NONE : GSOTUN_DROP_NO_OFFLOAD;
}

/* Finds the transport header, which must be the one that gso_type promises. */
static int parse_gso_headers(struct gsotun_plan *p, const u8 *hdr, u32 avail)
{
	u32 proto = 0;
	int drop;

	if (p->version == 4)
		drop = find_l4_ipv4(hdr, &proto);
	else
		drop = find_l4_ipv6(p, hdr, avail, &proto);
	if (drop)
		return drop;

	switch (p->gso_type) {
	case VNET_GSO_TCPV4:
		if (p->version != 4 || proto != PROTO_TCP)
			return GSOTUN_DROP_GSO_PROTO;
		return parse_tcp(p, hdr, avail);
	case VNET_GSO_TCPV6:
		if (p->version != 6 || proto != PROTO_TCP)
			return GSOTUN_DROP_GSO_PROTO;
		return parse_tcp(p, hdr, avail);
	default:
		if (proto != PROTO_UDP)
			return GSOTUN_DROP_GSO_PROTO;
		return parse_udp(p, hdr, avail);
	}
}

/*
 * TCP may come without NEEDS_CSUM: its segments' checksums are then made from
 * nothing but the addresses. UDP may not; a checksum of zero means none there,
 * and segments could not tell.
 */
static int check_gso_csum(struct gsotun_plan *p, const struct gsotun_vnet *v)
{
	p->csum_start = p->l4_off;
	if (!p->needs_csum)
		return p->gso_type == VNET_GSO_UDP_L4 ? GSOTUN_DROP_CSUM :
							GSOTUN_DROP_NONE;
	if (v->csum_start != p->csum_start || v->csum_offset != p->csum_offset)
		return GSOTUN_DROP_CSUM;
	return GSOTUN_DROP_NONE;
}

/*
 * A payload that fits one segment is a plain packet whatever its header says:
 * some senders fill in the size always. Only its partial checksum remains.
 */
static int parse_gso_size(struct gsotun_plan *p, const struct gsotun_vnet *v)
{
	u32 payload = p->len - p->hdr_len;
	u32 gso_size = v->gso_size;

	if (!gso_size || gso_size == GSO_BY_FRAGS_SIZE)
		return GSOTUN_DROP_GSO_SIZE;

	if (payload <= gso_size) {
		p->gso_type = VNET_GSO_NONE;
		p->ecn = false;
		return GSOTUN_DROP_NONE;
	}

	/* Less is no real MSS, but thousands of packets out of one record. */
	if (p->gso_type != VNET_GSO_UDP_L4 && gso_size < TCP_GSO_SIZE_MIN)
		return GSOTUN_DROP_GSO_SIZE;

	p->gso_size = gso_size;
	p->segs = (payload + gso_size - 1) / gso_size;
	if (p->gso_type == VNET_GSO_UDP_L4 && p->segs > UDP_SEGS_MAX)
		return GSOTUN_DROP_GSO_SEGS;
	return GSOTUN_DROP_NONE;
}

static int parse_gso(struct gsotun_plan *p, const struct gsotun_vnet *v,
		     const u8 *hdr, u32 avail, u64 offloads)
{
	int drop;

	drop = parse_gso_type(p, v, offloads);
	if (drop)
		return drop;
	drop = parse_gso_headers(p, hdr, avail);
	if (drop)
		return drop;
	drop = check_gso_csum(p, v);
	if (drop)
		return drop;
	return parse_gso_size(p, v);
}

int gsotun_plan_parse(struct gsotun_plan *p, const struct gsotun_vnet *v,
		      const u8 *hdr, u32 avail, u32 len, u64 offloads)
{
	int drop;

	memset(p, 0, sizeof(*p));
	p->len = len;
	p->segs = 1;

	if (len > PACKET_LEN_MAX)
		return GSOTUN_DROP_LENGTH;
	if (avail > len)
		avail = len;
	/* hdr_len is a hint, and nothing here looks at it again. */
	if (v->hdr_len > len)
		return GSOTUN_DROP_HDR_LEN;

	drop = parse_ip(p, hdr, avail);
	if (drop)
		return drop;

	/* Both flags at once contradict each other; the one that asks for work wins. */
	p->needs_csum = v->flags & VNET_F_NEEDS_CSUM;
	p->data_valid = v->flags & VNET_F_DATA_VALID && !p->needs_csum;
	if (p->needs_csum && !(offloads & GSOTUN_OFFLOAD_CSUM))
		return GSOTUN_DROP_NO_OFFLOAD;

	if (v->gso_type != VNET_GSO_NONE)
		return parse_gso(p, v, hdr, avail, offloads);

	/* Room for a TCP header, so that the stack seldom has to pull. */
	p->hdr_len = p->l4_off + TCP_HDR_LEN;
	if (p->hdr_len > avail)
		p->hdr_len = avail;
	if (p->needs_csum)
		return parse_csum(p, v, avail);
	return GSOTUN_DROP_NONE;
}
