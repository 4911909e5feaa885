// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * join.c - joining: which packets become one superpacket, and its headers.
 *
 * Theory of operation
 *
 * The rule from which all others follow: cutting a superpacket gives its packets
 * back, byte for byte. So a packet continues a group if its headers are those of
 * the first packet but for the words that segmentation writes (seg.c lists them),
 * and these are as segmentation would write them. Whatever header there is, and
 * whatever bit of it, differs or is equal; there is no list of fields to compare
 * that something could be missing from.
 *
 * A packet whose checksum is wrong is passed on as it is. It is not joined, which
 * would repair it: the error may have been in what the checksum protects. The
 * same for a checksum that is right but would come back in its other form (0x0000
 * and 0xffff mean the same, but in UDP), and for none at all.
 *
 * Order. Each flow has at most one open group. A packet of that flow continues
 * it, or the group is delivered before the packet. A packet whose flow cannot be
 * told, a fragment for example, waits for all groups between its addresses.
 * Between flows there is no order.
 *
 * Invariant: no byte at or beyond hdr[avail] is read, and only JOIN_SCOPE_FLOW
 * says that the headers end before it. Arithmetic is of 32 bits, of values below
 * 2^17, but for TCP's sequence numbers, which are meant to wrap.
 */
#include <linux/gsotun.h>
#include "csum.h"
#include "join.h"

#define SUPERPACKET_MAX		65535u
#define UDP_GROUP_MAX		64u	/* as the kernel's GRO; a socket takes no more */

#define IPV4_VERSION_IHL	0x45u
#define IPV4_HDR_LEN		20u
#define IPV4_LEN_AT		2u
#define IPV4_ID_AT		4u
#define IPV4_FRAG_AT		6u
#define IPV4_DF			0x4000u
#define IPV4_PROTO_AT		9u
#define IPV4_CSUM_AT		10u
#define IPV4_ADDR_AT		12u
#define IPV6_HDR_LEN		40u
#define IPV6_LEN_AT		4u
#define IPV6_NEXT_AT		6u
#define IPV6_ADDR_AT		8u
#define IPV6_EXT_LEN_MIN	8u

#define TCP_HDR_LEN		20u
#define TCP_SEQ_AT		4u
#define TCP_ACK_AT		8u
#define TCP_DOFF_AT		12u
#define TCP_FLAGS_AT		13u
#define TCP_WINDOW_AT		14u
#define TCP_CSUM_AT		16u
#define TCP_URGENT_AT		18u
#define TCP_GSO_SIZE_MIN	8u
#define UDP_HDR_LEN		8u
#define UDP_LEN_AT		4u
#define UDP_CSUM_AT		6u

#define TCP_FIN			0x01u
#define TCP_SYN			0x02u
#define TCP_RST			0x04u
#define TCP_PSH			0x08u
#define TCP_URG			0x20u
#define TCP_CWR			0x80u

#define PROTO_HOP_BY_HOP	0
#define PROTO_TCP		6
#define PROTO_UDP		17
#define PROTO_ROUTING		43
#define PROTO_FRAGMENT		44
#define PROTO_DEST_OPTIONS	60

static u32 get_be16(const u8 *at)
{
	return ones_be16(word_get16(at));
}

/* ---- a packet by itself ---- */

/* Its flow is known from here on. Other flows may have the same key. */
static void set_flow(struct gsotun_join_packet *k)
{
	const u8 *hdr = k->hdr;

	k->scope = JOIN_SCOPE_FLOW;
	k->payload = k->len - k->hdr_len;
	k->key = word_get32(hdr + k->l4_off);
	if (k->version == 4)
		k->key ^= word_get32(hdr + 12) ^ word_get32(hdr + 16);
	else
		k->key ^= word_get32(hdr + 20) ^ word_get32(hdr + 36);
}

static int check_offload(const struct gsotun_join *j, u64 need)
{
	return need & ~j->offloads ? JOIN_NO_OFFLOAD : JOIN_FITS;
}

static int parse_tcp(const struct gsotun_join *j, struct gsotun_join_packet *k, u32 avail)
{
	const u8 *tcp = k->hdr + k->l4_off;
	u32 room = avail - k->l4_off;
	u64 need = GSOTUN_OFFLOAD_CSUM;
	u32 tcp_len, flags;

	if (room < TCP_HDR_LEN)
		return JOIN_L4_HEADER;
	tcp_len = (tcp[TCP_DOFF_AT] >> 4) * 4u;
	if (tcp_len < TCP_HDR_LEN || tcp_len > room)
		return JOIN_L4_HEADER;
	k->hdr_len = k->l4_off + tcp_len;
	set_flow(k);

	flags = tcp[TCP_FLAGS_AT];
	if (flags & (TCP_SYN | TCP_RST | TCP_URG))
		return JOIN_FLAGS;
	if (!k->payload)
		return JOIN_EMPTY;
	/* Right perhaps, but it would come back as 0. */
	if (word_get16(tcp + TCP_CSUM_AT) == 0xffff)
		return JOIN_CSUM;

	need |= k->version == 4 ? GSOTUN_OFFLOAD_TSO4 : GSOTUN_OFFLOAD_TSO6;
	if (flags & TCP_CWR)
		need |= GSOTUN_OFFLOAD_TSO_ECN;
	return check_offload(j, need);
}

static int parse_udp(const struct gsotun_join *j, struct gsotun_join_packet *k, u32 avail)
{
	const u8 *udp = k->hdr + k->l4_off;

	if (avail - k->l4_off < UDP_HDR_LEN)
		return JOIN_L4_HEADER;
	k->hdr_len = k->l4_off + UDP_HDR_LEN;
	set_flow(k);

	if (get_be16(udp + UDP_LEN_AT) != k->len - k->l4_off)
		return JOIN_LENGTH;
	if (!k->payload)
		return JOIN_EMPTY;
	/* Cutting would give it one. */
	if (!word_get16(udp + UDP_CSUM_AT))
		return JOIN_CSUM;
	return check_offload(j, GSOTUN_OFFLOAD_CSUM | GSOTUN_OFFLOAD_USO);
}

static int parse_l4(const struct gsotun_join *j, struct gsotun_join_packet *k, u32 avail)
{
	switch (k->proto) {
	case PROTO_TCP:
		return parse_tcp(j, k, avail);
	case PROTO_UDP:
		return parse_udp(j, k, avail);
	default:
		k->scope = JOIN_SCOPE_NONE;
		return JOIN_PROTO;
	}
}

static int parse_ipv4(const struct gsotun_join *j, struct gsotun_join_packet *k, u32 avail)
{
	const u8 *hdr = k->hdr;

	k->scope = JOIN_SCOPE_HOSTS;
	if (hdr[0] != IPV4_VERSION_IHL)
		return JOIN_IP_OPTIONS;
	if (get_be16(hdr + IPV4_LEN_AT) != k->len)
		return JOIN_LENGTH;
	/* The reserved bit too: GRO does not join that, so do not find out why. */
	if (get_be16(hdr + IPV4_FRAG_AT) & ~IPV4_DF)
		return JOIN_FRAGMENT;
	if (ones_fold(ones_sum(hdr, IPV4_HDR_LEN)) != 0xffff ||
	    word_get16(hdr + IPV4_CSUM_AT) == 0xffff)
		return JOIN_CSUM;

	k->proto = hdr[IPV4_PROTO_AT];
	k->l4_off = IPV4_HDR_LEN;
	return parse_l4(j, k, avail);
}

/*
 * A routing header with segments left, or a home address option, makes the
 * checksum cover addresses that are not in the IPv6 header, and the sum of the
 * superpacket would be made of the wrong ones. Verifying finds both out; so what
 * is not verified has no extension headers.
 */
static int parse_ipv6(const struct gsotun_join *j, struct gsotun_join_packet *k, u32 avail)
{
	const u8 *hdr = k->hdr;
	u32 next = hdr[IPV6_NEXT_AT];
	u32 off = IPV6_HDR_LEN;

	k->scope = JOIN_SCOPE_HOSTS;
	if (get_be16(hdr + IPV6_LEN_AT) + IPV6_HDR_LEN != k->len)
		return JOIN_LENGTH;

	while (next == PROTO_HOP_BY_HOP || next == PROTO_ROUTING ||
	       next == PROTO_DEST_OPTIONS) {
		u32 ext_len;

		if (k->data_valid || avail - off < IPV6_EXT_LEN_MIN)
			return JOIN_IP_OPTIONS;
		ext_len = (hdr[off + 1] + 1u) * 8;
		if (avail - off < ext_len)
			return JOIN_IP_OPTIONS;
		next = hdr[off];
		off += ext_len;
	}
	if (next == PROTO_FRAGMENT)
		return JOIN_FRAGMENT;

	k->proto = next;
	k->l4_off = off;
	return parse_l4(j, k, avail);
}

static int parse_ip(const struct gsotun_join *j, struct gsotun_join_packet *k, u32 avail)
{
	k->scope = JOIN_SCOPE_NONE;
	if (avail < IPV4_HDR_LEN)
		return JOIN_NOT_IP;
	k->version = k->hdr[0] >> 4;
	if (k->version == 4)
		return parse_ipv4(j, k, avail);
	if (k->version == 6 && avail >= IPV6_HDR_LEN)
		return parse_ipv6(j, k, avail);
	return JOIN_NOT_IP;
}

int gsotun_join_parse(const struct gsotun_join *j, struct gsotun_join_packet *k,
		      const u8 *hdr, u32 avail, u32 len, u32 flags)
{
	k->hdr = hdr;
	k->len = len;
	k->hdr_len = 0;
	k->data_valid = flags & JOIN_DATA_VALID;
	k->why = parse_ip(j, k, avail < len ? avail : len);
	return k->why;
}

bool gsotun_join_verify(struct gsotun_join_packet *k, u32 payload_sum)
{
	const u8 *l4 = k->hdr + k->l4_off;
	u64 sum = payload_sum;

	if (k->data_valid)
		return true;
	if (k->scope != JOIN_SCOPE_FLOW)
		return false;
	if (k->proto == PROTO_UDP && !word_get16(l4 + UDP_CSUM_AT))
		return false;
	sum += ones_pseudo(k->version, k->hdr, k->proto, k->len - k->l4_off);
	sum += ones_sum(l4, k->hdr_len - k->l4_off);
	if (ones_fold(ones_narrow(sum)) == 0xffff)
		return true;
	k->why = JOIN_CSUM;
	return false;
}

/* ---- a packet and a group ---- */

/* Inline, because a call of memcmp() costs more. @len is a multiple of 4. */
static inline bool same_bytes(const u8 *a, const u8 *b, u32 len)
{
	for (; len >= 8; len -= 8, a += 8, b += 8)
		if (word_get64(a) != word_get64(b))
			return false;
	return !len || word_get32(a) == word_get32(b);
}

static bool same_hosts(const struct gsotun_join_group *grp, const struct gsotun_join_packet *k)
{
	if (grp->version != k->version)
		return false;
	if (k->version == 4)
		return same_bytes(grp->hdr + IPV4_ADDR_AT, k->hdr + IPV4_ADDR_AT, 8);
	return same_bytes(grp->hdr + IPV6_ADDR_AT, k->hdr + IPV6_ADDR_AT, 32);
}

/*
 * Must @k not overtake the packets of this group? Where addresses and keys are
 * equal, so are ports.
 */
static bool concerns(const struct gsotun_join_group *grp, const struct gsotun_join_packet *k)
{
	if (k->scope == JOIN_SCOPE_HOSTS)
		return same_hosts(grp, k);
	return grp->key == k->key && grp->proto == k->proto && same_hosts(grp, k);
}

/*
 * The second packet tells whether ids count or stay. They may stay only where
 * nothing needs them, in packets that are not to be fragmented.
 */
static bool continues_id(const struct gsotun_join *j, const struct gsotun_join_group *grp,
			 const u8 *hdr)
{
	u32 id = get_be16(hdr + IPV4_ID_AT);

	if (id == grp->next_id)
		return true;
	return j->flags & JOIN_FIXED_ID && grp->count == 1 &&
	       get_be16(hdr + IPV4_FRAG_AT) & IPV4_DF && id == get_be16(grp->hdr + IPV4_ID_AT);
}

/* All but addresses, protocol, lengths and id. */
static bool continues_ipv4(const struct gsotun_join_group *grp, const u8 *hdr)
{
	/* TOS; fragment word and TTL */
	return grp->hdr[1] == hdr[1] &&
	       word_get32(grp->hdr + IPV4_FRAG_AT) == word_get32(hdr + IPV4_FRAG_AT);
}

static bool continues_ipv6(const struct gsotun_join_group *grp, const u8 *hdr)
{
	/* traffic class and flow label; next header and hop limit; extension headers */
	return word_get32(grp->hdr) == word_get32(hdr) &&
	       word_get16(grp->hdr + IPV6_NEXT_AT) == word_get16(hdr + IPV6_NEXT_AT) &&
	       same_bytes(grp->hdr + IPV6_HDR_LEN, hdr + IPV6_HDR_LEN,
			  grp->l4_off - IPV6_HDR_LEN);
}

/*
 * All but ports, checksum, and the flags that segmentation writes. Equal doff
 * comes first: the options are compared only where they are equally long.
 */
static bool continues_tcp(const struct gsotun_join_group *grp, const u8 *tcp)
{
	const u8 *first = grp->hdr + grp->l4_off;
	u32 differ = first[TCP_FLAGS_AT] ^ tcp[TCP_FLAGS_AT];

	/* Cutting would leave CWR on the first packet only. */
	if (tcp[TCP_FLAGS_AT] & TCP_CWR || differ & ~(TCP_FIN | TCP_PSH | TCP_CWR))
		return false;
	return first[TCP_DOFF_AT] == tcp[TCP_DOFF_AT] &&
	       ones_be32(word_get32(tcp + TCP_SEQ_AT)) == grp->next_seq &&
	       word_get32(first + TCP_ACK_AT) == word_get32(tcp + TCP_ACK_AT) &&
	       word_get16(first + TCP_WINDOW_AT) == word_get16(tcp + TCP_WINDOW_AT) &&
	       word_get16(first + TCP_URGENT_AT) == word_get16(tcp + TCP_URGENT_AT) &&
	       same_bytes(first + TCP_HDR_LEN, tcp + TCP_HDR_LEN,
			  grp->hdr_len - grp->l4_off - TCP_HDR_LEN);
}

static bool continues(const struct gsotun_join *j, const struct gsotun_join_group *grp,
		      const struct gsotun_join_packet *k)
{
	if (k->l4_off != grp->l4_off || k->payload > grp->gso_size ||
	    grp->payload + k->payload > SUPERPACKET_MAX - grp->hdr_len)
		return false;
	if (k->version == 4) {
		if (!continues_ipv4(grp, k->hdr) || !continues_id(j, grp, k->hdr))
			return false;
	} else if (!continues_ipv6(grp, k->hdr)) {
		return false;
	}
	return k->proto == PROTO_UDP || continues_tcp(grp, k->hdr + k->l4_off);
}

/* A group of which nothing could become but one packet is not worth a start. */
static bool may_start(const struct gsotun_join_packet *k)
{
	if (k->why)
		return false;
	if (k->proto == PROTO_UDP)
		return true;
	return k->payload >= TCP_GSO_SIZE_MIN &&
	       !(k->hdr[k->l4_off + TCP_FLAGS_AT] & (TCP_FIN | TCP_PSH));
}

int gsotun_join_decide(const struct gsotun_join *j, const struct gsotun_join_packet *k,
		       u32 *g)
{
	u32 unused = j->used;
	u32 i;

	if (k->scope == JOIN_SCOPE_NONE)
		return JOIN_ALONE;
	for (i = 0; i < j->used; i++) {
		const struct gsotun_join_group *grp = &j->group[i];

		if (!grp->count) {
			unused = i;
		} else if (concerns(grp, k)) {
			*g = i;
			return !k->why && continues(j, grp, k) ? JOIN_APPEND : JOIN_FINISH;
		}
	}
	if (!may_start(k))
		return JOIN_ALONE;
	if (unused < j->num) {
		*g = unused;
		return JOIN_START;
	}
	gsotun_join_oldest(j, g);
	return JOIN_FINISH;
}

/* ---- groups ---- */

void gsotun_join_init(struct gsotun_join *j, u32 num, u64 offloads, u32 flags, u32 *next)
{
	u32 i;

	memset(j, 0, sizeof(*j));
	j->num = num;
	j->flags = flags;
	j->offloads = offloads;
	j->next = next;
	for (i = 0; i < num; i++)
		j->group[i].count = 0;
}

static void start(struct gsotun_join_group *grp, const struct gsotun_join_packet *k)
{
	grp->hdr_len = k->hdr_len;
	grp->payload = 0;
	grp->gso_size = k->payload;
	grp->first = k->cookie;
	grp->key = k->key;
	grp->version = k->version;
	grp->proto = k->proto;
	grp->l4_off = k->l4_off;
	grp->end_flags = 0;
	grp->fixed_id = false;
	if (k->version == 4)
		grp->next_id = get_be16(k->hdr + IPV4_ID_AT);
	memcpy(grp->hdr, k->hdr, k->hdr_len);
}

static void add_id(struct gsotun_join_group *grp, u32 id)
{
	/* gsotun_join_decide() let it pass, so ids stay. */
	if (id != grp->next_id)
		grp->fixed_id = true;
	grp->next_id = grp->fixed_id ? id : (id + 1) & 0xffff;
}

bool gsotun_join_add(struct gsotun_join *j, const struct gsotun_join_packet *k, u32 g)
{
	struct gsotun_join_group *grp = &j->group[g];
	const u8 *l4 = k->hdr + k->l4_off;

	if (!grp->count)
		start(grp, k);
	else if (j->next)
		j->next[grp->last] = k->cookie;
	if (j->next)
		j->next[k->cookie] = JOIN_END;
	grp->last = k->cookie;
	if (j->used <= g)
		j->used = g + 1;
	grp->touched = j->now++;
	grp->payload += k->payload;
	grp->count++;

	if (k->version == 4)
		add_id(grp, get_be16(k->hdr + IPV4_ID_AT));
	if (k->proto == PROTO_UDP)
		return k->payload < grp->gso_size || grp->count == UDP_GROUP_MAX;
	grp->next_seq = ones_be32(word_get32(l4 + TCP_SEQ_AT)) + k->payload;
	grp->end_flags = l4[TCP_FLAGS_AT] & (TCP_FIN | TCP_PSH);
	return k->payload < grp->gso_size || grp->end_flags;
}

/* The headers of the first packet become those of all. */
static void make_superpacket(struct gsotun_join_group *grp, struct gsotun_vnet *v)
{
	u32 len = grp->hdr_len + grp->payload;
	u32 l4_len = len - grp->l4_off;
	u8 *l4 = grp->hdr + grp->l4_off;
	u8 *hdr = grp->hdr;

	v->flags = VNET_F_NEEDS_CSUM;
	v->hdr_len = grp->hdr_len;
	v->gso_size = grp->gso_size;
	v->csum_start = grp->l4_off;

	if (grp->version == 4) {
		word_put16(hdr + IPV4_LEN_AT, ones_be16(len));
		word_put16(hdr + IPV4_CSUM_AT, 0);
		word_put16(hdr + IPV4_CSUM_AT, ones_check(ones_sum(hdr, IPV4_HDR_LEN)));
	} else {
		word_put16(hdr + IPV6_LEN_AT, ones_be16(len - IPV6_HDR_LEN));
	}

	if (grp->proto == PROTO_UDP) {
		v->gso_type = VNET_GSO_UDP_L4;
		v->csum_offset = UDP_CSUM_AT;
		word_put16(l4 + UDP_LEN_AT, ones_be16(l4_len));
	} else {
		v->gso_type = grp->version == 4 ? VNET_GSO_TCPV4 : VNET_GSO_TCPV6;
		if (l4[TCP_FLAGS_AT] & TCP_CWR)
			v->gso_type |= VNET_GSO_ECN;
		v->csum_offset = TCP_CSUM_AT;
		l4[TCP_FLAGS_AT] |= grp->end_flags;
	}
	word_put16(l4 + v->csum_offset,
		   ones_fold(ones_pseudo(grp->version, hdr, grp->proto, l4_len)));
}

void gsotun_join_finish(struct gsotun_join *j, u32 g, struct gsotun_vnet *v, u8 *out)
{
	struct gsotun_join_group *grp = &j->group[g];

	memset(v, 0, sizeof(*v));
	if (grp->count > 1)
		make_superpacket(grp, v);
	memcpy(out, grp->hdr, grp->hdr_len);

	grp->count = 0;
	while (j->used && !j->group[j->used - 1].count)
		j->used--;
}

bool gsotun_join_oldest(const struct gsotun_join *j, u32 *g)
{
	u32 i, age, most = 0;
	bool found = false;

	for (i = 0; i < j->used; i++) {
		age = j->now - j->group[i].touched;
		if (!j->group[i].count || (found && age < most))
			continue;
		*g = i;
		most = age;
		found = true;
	}
	return found;
}
