/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * plan.h - from a virtio_net_hdr and packet headers to a checked description.
 *
 * Pure: no skb, no libc, no allocation, reads only what it is given, writes only
 * the plan. Kernel and userspace compile it unchanged.
 */
#ifndef GSOTUN_CORE_PLAN_H
#define GSOTUN_CORE_PLAN_H

#include "barrier.h"

/* At most so many bytes of IP and transport headers are looked at. */
#define PLAN_HDR_MAX	512

/* struct virtio_net_hdr in host order */
struct gsotun_vnet {
	u8 flags;
	u8 gso_type;
	u16 hdr_len;
	u16 gso_size;
	u16 csum_start;
	u16 csum_offset;
};

#define VNET_LEN_MIN		10
#define VNET_F_NEEDS_CSUM	1
#define VNET_F_DATA_VALID	2
#define VNET_GSO_NONE		0
#define VNET_GSO_TCPV4		1
#define VNET_GSO_TCPV6		4
#define VNET_GSO_UDP_L4		5
#define VNET_GSO_ECN		0x80

/**
 * struct gsotun_plan - what a packet is, every word of it checked
 * @gso_type: VNET_GSO_* without the ECN bit; VNET_GSO_NONE for a packet whose
 *	payload fits one segment, whatever its header said. Test it, or segs > 1,
 *	to see whether this is GSO
 * @ecn: VNET_GSO_ECN was set on a GSO packet
 * @needs_csum: the checksum at csum_start + csum_offset is partial; also on a
 *	packet that only its size made plain, whose checksum is still to be finished
 * @data_valid: the sender vouches for the checksum; never with needs_csum
 * @version: 4 or 6
 * @l4_off: bytes of the IP header with options and extension headers. For a
 *	packet that came without a gso_type: of the IPv4 header with its options,
 *	or 40
 * @hdr_len: l4_off plus the transport header. For a packet that came without a
 *	gso_type: bytes worth keeping together at the front, enough for a TCP
 *	header; at least l4_off, at most what was given as avail. It covers the
 *	checksum field if needs_csum
 * @csum_start: from the first byte of the IP header; valid if needs_csum or GSO
 * @csum_offset: from csum_start; valid if needs_csum or GSO
 * @gso_size: payload bytes of every segment but the last; if GSO
 * @segs: number of segments, 1 if no GSO
 * @len: length of the whole packet
 */
struct gsotun_plan {
	u8 gso_type;
	u8 version;
	bool ecn;
	bool needs_csum;
	bool data_valid;
	u32 l4_off;
	u32 hdr_len;
	u32 csum_start;
	u32 csum_offset;
	u32 gso_size;
	u32 segs;
	u32 len;
};

/**
 * gsotun_vnet_get - read a virtio_net_hdr
 * @v: filled in
 * @le: VNET_LEN_MIN bytes, no alignment needed; not shared memory, each byte is
 *	read once but the compiler is not told so
 */
void gsotun_vnet_get(struct gsotun_vnet *v, const void *le);

/**
 * gsotun_vnet_put - write a virtio_net_hdr
 * @v: its fields
 * @le: VNET_LEN_MIN bytes are written; a longer header's rest is the caller's
 */
void gsotun_vnet_put(const struct gsotun_vnet *v, void *le);

/**
 * gsotun_plan_parse - check a packet as it comes from a daemon
 * @p: the plan; only valid on success
 * @v: its virtio_net_hdr
 * @hdr: private copy of the first @avail bytes of the packet; the memory cannot
 *	change while this runs
 * @avail: bytes in @hdr: min(@len, PLAN_HDR_MAX) or @len. Fewer are safe but
 *	refuse packets that are fine
 * @len: length of the packet; more than 65,535 is refused
 * @offloads: GSOTUN_OFFLOAD_* that may be used
 *
 * Headers of a GSO packet, and a partial checksum, must lie in the first @avail
 * bytes; those of a plain packet may reach further. No byte of the payload is
 * looked at.
 *
 * Context: any. Return: GSOTUN_DROP_NONE (0), or the GSOTUN_DROP_* reason to refuse it.
 */
int gsotun_plan_parse(struct gsotun_plan *p, const struct gsotun_vnet *v,
		      const u8 *hdr, u32 avail, u32 len, u64 offloads);

#endif /* GSOTUN_CORE_PLAN_H */
