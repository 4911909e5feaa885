// SPDX-License-Identifier: GPL-2.0
/* packet.c - see packet.h */
#include <arpa/inet.h>
#include <string.h>

#include "packet.h"

static uint16_t get16(const uint8_t *b) { return b[0] << 8 | b[1]; }
static void put16(uint8_t *b, uint16_t v) { b[0] = v >> 8; b[1] = v; }
static uint16_t get_le16(const uint8_t *b) { return b[0] | b[1] << 8; }
static void put_le16(uint8_t *b, uint16_t v) { b[0] = v; b[1] = v >> 8; }

static uint32_t get32(const uint8_t *b)
{
	return (uint32_t)get16(b) << 16 | get16(b + 2);
}

static void put32(uint8_t *b, uint32_t v)
{
	put16(b, v >> 16);
	put16(b + 2, v);
}

/* Ones' complement sum of big-endian words, not folded. */
static uint64_t sum(const uint8_t *b, uint32_t len)
{
	uint64_t s = 0;
	uint32_t i;

	for (i = 0; i + 1 < len; i += 2)
		s += get16(b + i);
	if (len & 1)
		s += b[len - 1] << 8;
	return s;
}

static uint16_t fold(uint64_t s)
{
	while (s >> 16)
		s = (s & 0xffff) + (s >> 16);
	return s;
}

void pk_vnet_get(struct pk_vnet *v, const void *le)
{
	const uint8_t *b = le;

	v->flags = b[0];
	v->gso_type = b[1];
	v->hdr_len = get_le16(b + 2);
	v->gso_size = get_le16(b + 4);
	v->csum_start = get_le16(b + 6);
	v->csum_offset = get_le16(b + 8);
}

void pk_vnet_put(const struct pk_vnet *v, void *le)
{
	uint8_t *b = le;

	memset(b, 0, PK_VNET);
	b[0] = v->flags;
	b[1] = v->gso_type;
	put_le16(b + 2, v->hdr_len);
	put_le16(b + 4, v->gso_size);
	put_le16(b + 6, v->csum_start);
	put_le16(b + 8, v->csum_offset);
}

bool pk_parse(const void *packet, uint32_t len, struct pk_parts *p)
{
	const uint8_t *b = packet;
	uint32_t off;

	memset(p, 0, sizeof(*p));
	if (len < 20)
		return false;
	p->version = b[0] >> 4;
	if (p->version == 4) {
		off = (b[0] & 15) * 4;
		if (off < 20 || off > len || get16(b + 2) != len)
			return false;
		p->proto = b[9];
		p->fragment = get16(b + 6) & 0x3fff;
	} else if (p->version == 6) {
		off = 40;
		if (len < off || get16(b + 4) + 40u != len)
			return false;
		p->proto = b[6];
		while (p->proto == 0 || p->proto == 43 || p->proto == 60) {
			uint8_t next;

			if (off + 8 > len)
				return false;
			next = b[off];
			off += (b[off + 1] + 1) * 8;
			if (off > len)
				return false;
			p->proto = next;
		}
		p->fragment = p->proto == 44;
	} else {
		return false;
	}
	p->l4_off = p->hdr_len = off;
	if (p->fragment)
		return true;
	if (p->proto == IPPROTO_TCP) {
		if (off + 20 > len)
			return false;
		p->hdr_len += (b[off + 12] >> 4) * 4;
	} else if (p->proto == IPPROTO_UDP) {
		p->hdr_len += 8;
	}
	return p->hdr_len <= len && (p->proto != IPPROTO_TCP || p->hdr_len >= off + 20);
}

/* Sum of the pseudo header; addresses as they stand in the IP header. */
static uint64_t pseudo_sum(const uint8_t *b, const struct pk_parts *p, uint32_t l4_len)
{
	return (p->version == 4 ? sum(b + 12, 8) : sum(b + 8, 32)) + p->proto + l4_len;
}

bool pk_complete(const void *packet, uint32_t len)
{
	const uint8_t *b = packet;
	struct pk_parts p;
	uint32_t l4_len;

	if (!pk_parse(packet, len, &p))
		return false;
	if (p.version == 4 && fold(sum(b, p.version == 4 ? (b[0] & 15) * 4 : 0)) != 0xffff)
		return false;
	if (p.fragment)
		return true;
	l4_len = len - p.l4_off;
	if (p.proto == IPPROTO_UDP) {
		if (get16(b + p.l4_off + 4) != l4_len)
			return false;
		if (!get16(b + p.l4_off + 6))
			return p.version == 4;
	} else if (p.proto == IPPROTO_ICMP) {
		return fold(sum(b + p.l4_off, l4_len)) == 0xffff;
	} else if (p.proto != IPPROTO_TCP && p.proto != IPPROTO_ICMPV6) {
		return true;
	}
	return fold(sum(b + p.l4_off, l4_len) + pseudo_sum(b, &p, l4_len)) == 0xffff;
}

static void finish_ipv4(uint8_t *b)
{
	put16(b + 10, 0);
	put16(b + 10, ~fold(sum(b, (b[0] & 15) * 4)));
}

/* ---- build ---------------------------------------------------------------------- */

static uint32_t put_ip(uint8_t *b, const struct pk_flow *f, uint16_t id, uint8_t proto,
		       uint32_t l4_len)
{
	if (strchr(f->from, ':')) {
		memset(b, 0, 40);
		b[0] = 0x60;
		put16(b + 4, l4_len);
		b[6] = proto;
		b[7] = 64;
		inet_pton(AF_INET6, f->from, b + 8);
		inet_pton(AF_INET6, f->to, b + 24);
		return 40;
	}
	memset(b, 0, 20);
	b[0] = 0x45;
	put16(b + 2, 20 + l4_len);
	put16(b + 4, id);
	b[6] = 0x40;
	b[8] = 64;
	b[9] = proto;
	inet_pton(AF_INET, f->from, b + 12);
	inet_pton(AF_INET, f->to, b + 16);
	finish_ipv4(b);
	return 20;
}

static uint32_t put_l4(uint8_t *b, const struct pk_flow *f, uint16_t id, uint8_t proto,
		       uint8_t *l4, uint32_t l4_len, uint32_t csum_off)
{
	uint32_t off = put_ip(b, f, id, proto, l4_len);
	struct pk_parts p = { .version = b[0] >> 4, .proto = proto };
	uint16_t check;

	put16(l4, f->sport);
	put16(l4 + 2, f->dport);
	check = ~fold(sum(l4, l4_len) + pseudo_sum(b, &p, l4_len));
	put16(l4 + csum_off, check || proto == IPPROTO_TCP ? check : 0xffff);
	return off + l4_len;
}

uint32_t pk_udp(void *buf, const struct pk_flow *f, uint16_t id, const void *payload,
		uint32_t len)
{
	uint8_t *b = buf, *l4 = b + (strchr(f->from, ':') ? 40 : 20);

	memset(l4, 0, 8);
	put16(l4 + 4, 8 + len);
	memmove(l4 + 8, payload, len);
	return put_l4(b, f, id, IPPROTO_UDP, l4, 8 + len, 6);
}

uint32_t pk_tcp(void *buf, const struct pk_flow *f, uint16_t id, uint32_t seq, uint8_t flags,
		const void *payload, uint32_t len)
{
	uint8_t *b = buf, *l4 = b + (strchr(f->from, ':') ? 40 : 20);

	memset(l4, 0, 20);
	put32(l4 + 4, seq);
	put32(l4 + 8, 0x01020304);
	l4[12] = 5 << 4;
	l4[13] = flags;
	put16(l4 + 14, 512);
	memmove(l4 + 20, payload, len);
	return put_l4(b, f, id, IPPROTO_TCP, l4, 20 + len, 16);
}

void pk_make_gso(void *packet, uint32_t len, uint16_t gso_size, struct pk_vnet *v)
{
	uint8_t *b = packet;
	struct pk_parts p;

	pk_parse(packet, len, &p);
	*v = (struct pk_vnet) {
		.flags = PK_NEEDS_CSUM,
		.gso_type = p.proto == IPPROTO_UDP ? PK_UDP_L4 :
			    p.version == 4 ? PK_TCPV4 : PK_TCPV6,
		.hdr_len = p.hdr_len,
		.gso_size = gso_size,
		.csum_start = p.l4_off,
		.csum_offset = p.proto == IPPROTO_UDP ? 6 : 16,
	};
	put16(b + v->csum_start + v->csum_offset, fold(pseudo_sum(b, &p, len - p.l4_off)));
}

void pk_fill(void *buf, uint32_t len, uint32_t seed)
{
	uint8_t *b = buf;
	uint32_t i;

	for (i = 0; i < len; i++) {
		seed = seed * 1664525 + 1013904223;
		b[i] = seed >> 24;
	}
}

/* ---- cut ------------------------------------------------------------------------ */

/* Segment @i of a superpacket; @part is its partial sum. */
static uint32_t cut_one(const uint8_t *b, uint32_t len, const struct pk_parts *p,
			const struct pk_vnet *v, uint16_t part, uint32_t i, uint32_t n,
			uint8_t *out)
{
	uint32_t payload = i + 1 < n ? v->gso_size : len - p->hdr_len - i * v->gso_size;
	uint32_t seg_len = p->hdr_len + payload, l4_len = seg_len - p->l4_off;
	uint8_t *l4 = out + p->l4_off;
	bool tcp = p->proto == IPPROTO_TCP;
	uint8_t *check = l4 + (tcp ? 16 : 6);

	memcpy(out, b, p->hdr_len);
	memcpy(out + p->hdr_len, b + p->hdr_len + i * v->gso_size, payload);
	if (tcp) {
		put32(l4 + 4, get32(l4 + 4) + i * v->gso_size);
		if (i + 1 < n)
			l4[13] &= ~(PK_FIN | PK_PSH);
		if (i)
			l4[13] &= ~PK_CWR;
	} else {
		put16(l4 + 4, l4_len);
	}
	if (p->version == 4) {
		put16(out + 2, seg_len);
		put16(out + 4, get16(out + 4) + i);
		finish_ipv4(out);
	} else {
		put16(out + 4, seg_len - 40);
	}
	/* The length of the whole taken out, that of this segment put in. */
	put16(check, 0);
	put16(check, ~fold((uint64_t)part + (uint16_t)~(len - p->l4_off) + l4_len +
			   sum(l4, l4_len)));
	if (!tcp && !get16(check))
		put16(check, 0xffff);
	return seg_len;
}

uint32_t pk_cut(const void *packet, uint32_t len, const void *vnet, uint8_t *out,
		uint32_t lens[PK_SEGS])
{
	const uint8_t *b = packet;
	struct pk_parts p;
	struct pk_vnet v;
	uint32_t i, n = 1;
	uint16_t part;

	pk_vnet_get(&v, vnet);
	if (v.gso_type) {
		if (!pk_parse(packet, len, &p) || !v.gso_size)
			return 0;
		n = (len - p.hdr_len + v.gso_size - 1) / v.gso_size ?: 1;
		if (n > PK_SEGS)
			return 0;
	}
	if (n == 1) {
		uint32_t end = (uint32_t)v.csum_start + v.csum_offset + 2;

		memcpy(out, packet, len);
		lens[0] = len;
		if (!(v.flags & PK_NEEDS_CSUM))
			return 1;
		if (end > len)
			return 0;
		put16(out + end - 2, ~fold(sum(b + v.csum_start, len - v.csum_start)));
		if (!get16(out + end - 2))
			put16(out + end - 2, 0xffff);
		return 1;
	}
	part = v.flags & PK_NEEDS_CSUM ? get16(b + v.csum_start + v.csum_offset) :
					 fold(pseudo_sum(b, &p, len - p.l4_off));
	for (i = 0; i < n; i++) {
		lens[i] = cut_one(b, len, &p, &v, part, i, n, out);
		out += lens[i];
	}
	return n;
}

/* ---- forward -------------------------------------------------------------------- */

/* Fill in a timestamp option of flag 0 that has room, as RFC 781 wants. */
static void stamp(uint8_t *b, const uint8_t *got)
{
	uint32_t i = 20, end = (b[0] & 15) * 4, ptr;

	while (i < end && b[i]) {
		if (b[i] == 1) {
			i++;
			continue;
		}
		if (i + 1 >= end || b[i + 1] < 2 || i + b[i + 1] > end)
			return;
		ptr = b[i + 2];
		if (b[i] == 0x44 && !(b[i + 3] & 15) && ptr >= 5 && ptr + 3u <= b[i + 1]) {
			memcpy(b + i + ptr - 1, got + i + ptr - 1, 4);
			b[i + 2] += 4;
		}
		i += b[i + 1];
	}
}

void pk_forward(void *packet, uint32_t len, const void *got)
{
	uint8_t *b = packet;

	(void)len;
	if (b[0] >> 4 == 6) {
		b[7]--;
		return;
	}
	b[8]--;
	stamp(b, got);
	finish_ipv4(b);
}
