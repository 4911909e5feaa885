/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * join.h - joining: which packets become one superpacket, and its headers.
 *
 * Pure: no skb, no libc, no allocation, no look at the payload. Kernel and
 * userspace compile it unchanged and keep the payloads themselves, by the number
 * of the group that a packet went to:
 *
 *	gsotun_join_parse(j, &pkt, hdr, avail, len, flags)
 *	again:
 *	switch (gsotun_join_decide(j, &pkt, &g)) {
 *	case JOIN_FINISH:
 *		gsotun_join_finish(j, g, &vnet, out), deliver group g
 *		goto again
 *	case JOIN_START, JOIN_APPEND:
 *		copy the payload to where group g is gathered, and sum it
 *		if (!gsotun_join_verify(&pkt, sum))
 *			undo that, goto again
 *		if (gsotun_join_add(j, &pkt, g))
 *			gsotun_join_finish(j, g, &vnet, out), deliver group g
 *		break
 *	case JOIN_ALONE:
 *		deliver the packet as it is, under a virtio_net_hdr of zeros
 *	}
 *
 * and at the end of a batch, so that nothing waits for packets yet to come:
 *
 *	while (gsotun_join_oldest(j, &g))
 *		gsotun_join_finish(j, g, &vnet, out), deliver group g
 *
 * Cutting what was delivered gives the packets back, byte for byte, those of each
 * flow in the order in which they came.
 */
#ifndef GSOTUN_CORE_JOIN_H
#define GSOTUN_CORE_JOIN_H

#include "barrier.h"
#include "plan.h"

/* flags of gsotun_join_init(): what finished groups may be, besides superpackets */
#define JOIN_FIXED_ID	1u	/* atomic IPv4 packets that all have one id: group.fixed_id */

/* flags of gsotun_join_parse() */
#define JOIN_DATA_VALID	1u	/* authenticated: take the checksum as right */

/* No packet: the end of a chain. */
#define JOIN_END	0xffffffffu

/**
 * enum gsotun_join_why - why a packet cannot be joined to any other
 * @JOIN_FITS: it can
 * @JOIN_NOT_IP: too short for an IP header, or of another version
 * @JOIN_LENGTH: a length in its headers is not that of the packet
 * @JOIN_IP_OPTIONS: IPv4 options; extension headers that are cut short, lead
 *	elsewhere, or come with JOIN_DATA_VALID
 * @JOIN_FRAGMENT: a fragment
 * @JOIN_PROTO: neither TCP nor UDP
 * @JOIN_L4_HEADER: TCP or UDP header cut short, or doff wrong
 * @JOIN_FLAGS: SYN, RST or URG
 * @JOIN_EMPTY: no payload
 * @JOIN_CSUM: a checksum that is wrong, missing, or written otherwise than
 *	segmentation would
 * @JOIN_NO_OFFLOAD: such superpackets were not asked for
 */
enum gsotun_join_why {
	JOIN_FITS,
	JOIN_NOT_IP,
	JOIN_LENGTH,
	JOIN_IP_OPTIONS,
	JOIN_FRAGMENT,
	JOIN_PROTO,
	JOIN_L4_HEADER,
	JOIN_FLAGS,
	JOIN_EMPTY,
	JOIN_CSUM,
	JOIN_NO_OFFLOAD,
};

/* How much is known about the flow of a packet; it decides what it may not overtake. */
enum gsotun_join_scope {
	JOIN_SCOPE_NONE,	/* of no flow that is ever joined */
	JOIN_SCOPE_HOSTS,	/* of some flow between its addresses */
	JOIN_SCOPE_FLOW,	/* addresses, protocol and ports */
};

/**
 * struct gsotun_join_packet - a packet that is to be joined
 * @hdr: the caller's copy of its first bytes, until it was added or passed on
 * @len: length of the packet
 * @hdr_len: bytes of IP and transport header; valid if scope is JOIN_SCOPE_FLOW
 * @why: enum gsotun_join_why
 * @cookie: for the caller: the packet's index in the chain given to
 *	gsotun_join_init(). Set it before gsotun_join_add() if there is a chain
 *
 * The rest is private.
 */
struct gsotun_join_packet {
	const u8 *hdr;
	u32 len;
	u32 hdr_len;
	u32 why;
	u32 cookie;
	u32 scope;
	u32 version;
	u32 proto;
	u32 l4_off;
	u32 payload;
	u32 key;	/* ports and some bits of the addresses */
	bool data_valid;
};

/**
 * struct gsotun_join_group - packets that are being joined; a free one has none
 * @count: packets
 * @hdr_len: bytes of headers
 * @payload: bytes of payload of all packets
 * @gso_size: bytes of payload of the first one
 * @first: cookie of the first packet
 * @last: cookie of the last packet
 * @fixed_id: all packets have the id of the first one. A virtio_net_hdr cannot say
 *	that, an skb can (SKB_GSO_TCP_FIXEDID)
 * @hdr: headers of the first packet
 *
 * The rest is private. Read only. What is not overwritten by the headers of the
 * whole stays until the group is started anew.
 */
struct gsotun_join_group {
	u32 count;
	u32 hdr_len;
	u32 payload;
	u32 gso_size;
	u32 first;
	u32 last;
	u32 key;
	u32 version;
	u32 proto;
	u32 l4_off;
	u32 next_seq;	/* TCP, host order */
	u32 next_id;	/* IPv4, host order */
	u32 end_flags;	/* FIN and PSH of the members */
	u32 touched;	/* when a packet was added last */
	bool fixed_id;
	u8 hdr[PLAN_HDR_MAX];
};

/**
 * struct gsotun_join - groups of several flows
 * @num: how many groups there are
 * @used: the first groups, which are not all free
 * @now: counts packets that were added
 * @flags: JOIN_FIXED_ID
 * @offloads: GSOTUN_OFFLOAD_* that superpackets may use
 * @next: chain: next[cookie] is the cookie of the packet behind it in its group,
 *	or JOIN_END
 * @group: them
 */
struct gsotun_join {
	u32 num;
	u32 used;
	u32 now;
	u32 flags;
	u64 offloads;
	u32 *next;
	struct gsotun_join_group group[];
};

/* Bytes of memory for so many groups; eight are a good number. */
static inline size_t gsotun_join_size(u32 num)
{
	return sizeof(struct gsotun_join) + num * sizeof(struct gsotun_join_group);
}

/**
 * gsotun_join_init - get ready to join
 * @j: gsotun_join_size(@num) bytes, aligned as for a pointer
 * @num: number of groups, at least 1: so many flows can be open at once
 * @offloads: GSOTUN_OFFLOAD_*: without USO no UDP is joined, without TSO_ECN no
 *	TCP packet with CWR, and so on
 * @flags: JOIN_FIXED_ID or 0
 * @next: memory of the caller for a chain of the packets of each group, indexed
 *	by their cookies; or NULL
 */
void gsotun_join_init(struct gsotun_join *j, u32 num, u64 offloads, u32 flags, u32 *next);

/**
 * gsotun_join_parse - can a packet be joined at all?
 * @j: from gsotun_join_init()
 * @k: filled in, but for the cookie
 * @hdr: private copy of the first @avail bytes of the packet
 * @avail: bytes in @hdr: min(@len, PLAN_HDR_MAX) or @len. With fewer, packets with
 *	longer headers are passed on alone
 * @len: length of the packet, any
 * @flags: JOIN_*
 *
 * Accepts any bytes, and reads none behind @avail.
 *
 * Context: any. Return: enum gsotun_join_why.
 */
int gsotun_join_parse(const struct gsotun_join *j, struct gsotun_join_packet *k,
		      const u8 *hdr, u32 avail, u32 len, u32 flags);

/* What to do with a packet. */
enum gsotun_join_step {
	JOIN_ALONE,	/* pass it on as it is */
	JOIN_START,	/* it becomes the first of a group */
	JOIN_APPEND,	/* it continues a group */
	JOIN_FINISH,	/* first finish and deliver a group, then ask again */
};

/**
 * gsotun_join_decide - what to do next with a packet
 * @j: from gsotun_join_init(), not changed
 * @k: packet
 * @g: out: number of the group, unless it is JOIN_ALONE
 *
 * When groups are finished:
 *
 *  - a packet of the same flow came that does not continue it, or one between the
 *    same addresses whose flow cannot be told. It must not overtake them;
 *  - no more can follow: gsotun_join_add() says so;
 *  - all groups are taken, and a packet of another flow wants one: the group that
 *    has waited longest for its next packet;
 *  - the batch ends: gsotun_join_oldest().
 *
 * Return: enum gsotun_join_step.
 */
int gsotun_join_decide(const struct gsotun_join *j, const struct gsotun_join_packet *k,
		       u32 *g);

/**
 * gsotun_join_verify - is the transport checksum of a packet right?
 * @k: packet; if not, it will be passed on alone
 * @payload_sum: sum of the @k->len - @k->hdr_len bytes behind its headers, as
 *	csum_partial() gives it; not looked at with JOIN_DATA_VALID
 *
 * For any packet with JOIN_SCOPE_FLOW, also for one that is passed on alone.
 *
 * Return: true if it is right, or the sender vouched for it. false if it is
 * wrong, or there is none.
 */
bool gsotun_join_verify(struct gsotun_join_packet *k, u32 payload_sum);

/**
 * gsotun_join_add - add a packet to its group
 * @j: from gsotun_join_init()
 * @k: packet that was verified
 * @g: group that gsotun_join_decide() named, with nothing added since
 *
 * Return: true if nothing can follow, and the group is to be finished now.
 */
bool gsotun_join_add(struct gsotun_join *j, const struct gsotun_join_packet *k, u32 g);

/**
 * gsotun_join_finish - write the headers of a group, which is free then
 * @j: from gsotun_join_init()
 * @g: group with at least one packet
 * @v: out: virtio_net_hdr; zeros for a single packet
 * @out: out: hdr_len bytes of headers, as the group says; those of a single packet
 *	are as they came
 */
void gsotun_join_finish(struct gsotun_join *j, u32 g, struct gsotun_vnet *v, u8 *out);

/**
 * gsotun_join_oldest - the group that has waited longest
 * @j: from gsotun_join_init()
 * @g: out: its number
 *
 * Return: false if there is no group left.
 */
bool gsotun_join_oldest(const struct gsotun_join *j, u32 *g);

#endif /* GSOTUN_CORE_JOIN_H */
