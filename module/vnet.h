/* SPDX-License-Identifier: GPL-2.0 */
/*
 * vnet.h - the only mapping between an skb and a virtio_net_hdr.
 *
 * Not virtio_net_hdr_from_skb(): it writes the length of the linear area where
 * readers expect that of the headers. Not virtio_net_hdr_to_skb(): it lets
 * through what the stack later drops in silence (see core/plan.c).
 */
#ifndef GSOTUN_VNET_H
#define GSOTUN_VNET_H

#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <linux/udp.h>

#include <linux/gsotun.h>

#include "core/plan.h"

/* Offloads that @skb needs a reader to take; ~0 for what no header can say. */
static inline u64 vnet_offloads_of(const struct sk_buff *skb)
{
	u64 needs = 0;

	if (skb->ip_summed == CHECKSUM_PARTIAL)
		needs |= GSOTUN_OFFLOAD_CSUM;
	/* gso_size, not gso_type, says whether there is something to cut. */
	if (!skb_is_gso(skb))
		return needs;
	switch (skb_shinfo(skb)->gso_type & ~(SKB_GSO_DODGY | SKB_GSO_TCP_ECN)) {
	case SKB_GSO_TCPV4:
		needs |= GSOTUN_OFFLOAD_TSO4;
		break;
	case SKB_GSO_TCPV6:
		needs |= GSOTUN_OFFLOAD_TSO6;
		break;
	case SKB_GSO_UDP_L4:
		needs |= GSOTUN_OFFLOAD_USO;
		break;
	default:
		return ~0ull;
	}
	if (skb_shinfo(skb)->gso_type & SKB_GSO_TCP_ECN)
		needs |= GSOTUN_OFFLOAD_TSO_ECN;
	return needs;
}

/* Length of the IP and transport headers of a GSO skb. */
static inline u32 vnet_gso_hdr_len(const struct sk_buff *skb)
{
	if (skb_shinfo(skb)->gso_type & SKB_GSO_UDP_L4)
		return skb_transport_offset(skb) + sizeof(struct udphdr);
	return skb_tcp_all_headers(skb);
}

/**
 * vnet_from_skb - describe an skb
 * @v: header
 * @skb: skb that vnet_offloads_of() found expressible; data is at the IP header
 */
static inline void vnet_from_skb(struct gsotun_vnet *v, const struct sk_buff *skb)
{
	const struct skb_shared_info *info = skb_shinfo(skb);

	memset(v, 0, sizeof(*v));
	if (skb->ip_summed == CHECKSUM_PARTIAL) {
		v->flags = VNET_F_NEEDS_CSUM;
		v->csum_start = skb_checksum_start_offset(skb);
		v->csum_offset = skb->csum_offset;
	} else if (skb->ip_summed == CHECKSUM_UNNECESSARY) {
		v->flags = VNET_F_DATA_VALID;
	}
	if (!skb_is_gso(skb))
		return;
	if (info->gso_type & SKB_GSO_TCPV4)
		v->gso_type = VNET_GSO_TCPV4;
	else if (info->gso_type & SKB_GSO_TCPV6)
		v->gso_type = VNET_GSO_TCPV6;
	else
		v->gso_type = VNET_GSO_UDP_L4;
	if (info->gso_type & SKB_GSO_TCP_ECN)
		v->gso_type |= VNET_GSO_ECN;
	v->gso_size = info->gso_size;
	v->hdr_len = vnet_gso_hdr_len(skb);
}

/**
 * vnet_to_skb - give an skb what its plan says
 * @skb: skb whose linear area holds at least plan->hdr_len bytes, network header set
 * @plan: as checked by gsotun_plan_parse()
 *
 * Return: false if the checksum lies outside the linear area.
 */
static inline bool vnet_to_skb(struct sk_buff *skb, const struct gsotun_plan *plan)
{
	struct skb_shared_info *info = skb_shinfo(skb);

	skb_set_transport_header(skb, plan->l4_off);
	if (plan->needs_csum) {
		if (!skb_partial_csum_set(skb, plan->csum_start, plan->csum_offset))
			return false;
	} else if (plan->data_valid) {
		skb->ip_summed = CHECKSUM_UNNECESSARY;
	}
	switch (plan->gso_type) {
	case VNET_GSO_NONE:
		return true;
	case VNET_GSO_TCPV4:
		info->gso_type = SKB_GSO_TCPV4;
		break;
	case VNET_GSO_TCPV6:
		info->gso_type = SKB_GSO_TCPV6;
		break;
	default:
		info->gso_type = SKB_GSO_UDP_L4;
		break;
	}
	if (plan->ecn)
		info->gso_type |= SKB_GSO_TCP_ECN;
	/* Untrusted: the stack checks it once more and counts the segments itself. */
	info->gso_type |= SKB_GSO_DODGY;
	info->gso_size = plan->gso_size;
	return true;
}

#endif /* GSOTUN_VNET_H */
