/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * csum.h - the one's complement sums of IP, TCP and UDP.
 *
 * Theory of operation
 *
 * A sum is a u32, as the kernel's __wsum: words of 16 bits as they lie in
 * memory, added with end-around carry, neither folded nor inverted. The values x
 * and x + 0xffff mean the same; only 0 stands for itself, because nothing but
 * zeros adds up to it. A word of 32 or 64 bits is added as it is: 2^16 leaves 1.
 *
 * Such sums do not know of byte order (RFC 1071, 2B): what comes out is stored as
 * it is. Only a number that is at hand as a number, a length or an identification,
 * has to be laid out as in a packet first: ones_be16(), ones_be32().
 *
 * A checksum field holds the inverse of the sum over everything else, so a
 * correct packet adds up to 0xffff with its field.
 */
#ifndef GSOTUN_CORE_CSUM_H
#define GSOTUN_CORE_CSUM_H

#include "barrier.h"

/* ---- words at any address, in memory order ---- */

static inline u32 word_get16(const u8 *at)
{
	u16 word;

	memcpy(&word, at, sizeof(word));
	return word;
}

static inline u32 word_get32(const u8 *at)
{
	u32 word;

	memcpy(&word, at, sizeof(word));
	return word;
}

static inline u64 word_get64(const u8 *at)
{
	u64 word;

	memcpy(&word, at, sizeof(word));
	return word;
}

/* Stores the lower 16 bits. */
static inline void word_put16(u8 *at, u32 x)
{
	u16 word = x & 0xffff;

	memcpy(at, &word, sizeof(word));
}

static inline void word_put32(u8 *at, u32 word)
{
	memcpy(at, &word, sizeof(word));
}

static inline void word_put64(u8 *at, u64 word)
{
	memcpy(at, &word, sizeof(word));
}

/*
 * Numbers as they lie in a packet, and back; compilers know the pattern. Not
 * __builtin_bswap32(): some kernels would have to link a function for it.
 */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
static inline u32 ones_be16(u32 x)
{
	return (x & 0xff) << 8 | (x >> 8 & 0xff);
}

static inline u32 ones_be32(u32 x)
{
	return x << 24 | (x & 0xff00) << 8 | (x >> 8 & 0xff00) | x >> 24;
}
#else
static inline u32 ones_be16(u32 x)
{
	return x & 0xffff;
}

static inline u32 ones_be32(u32 x)
{
	return x;
}
#endif

/* ---- sums ---- */

static inline u32 ones_add(u32 a, u32 b)
{
	a += b;
	return a + (a < b);
}

/* Takes back what was added. */
static inline u32 ones_sub(u32 a, u32 b)
{
	return ones_add(a, ~b);
}

/* To 32 bits: what was added up in 64, where carries need no care. */
static inline u32 ones_narrow(u64 sum)
{
	return (sum + (sum >> 32 | sum << 32)) >> 32;
}

/* To 16 bits; not inverted. The sum of both halves carries out of the lower one. */
static inline u32 ones_fold(u32 sum)
{
	return (sum + (sum >> 16 | sum << 16)) >> 16;
}

/* The field that makes the rest correct. */
static inline u32 ones_check(u64 sum)
{
	return ones_fold(ones_narrow(sum)) ^ 0xffff;
}

/* A sum whose first byte lies @offset bytes behind that of the sum it is added to. */
static inline u32 ones_at(u32 sum, u32 offset)
{
	return offset & 1 ? sum >> 8 | sum << 24 : sum;
}

/**
 * ones_sum - sum of a header
 * @at: first byte, of any alignment
 * @len: bytes; an odd last one is padded with a zero
 *
 * For headers, of some dozen bytes. Payload is summed by whoever copies it.
 */
static inline u32 ones_sum(const u8 *at, u32 len)
{
	u64 sum = 0;

	for (; len >= 4; len -= 4, at += 4)
		sum += word_get32(at);
	if (len & 2) {
		sum += word_get16(at);
		at += 2;
	}
	if (len & 1)
		sum += ones_be16(*at << 8);
	return ones_narrow(sum);
}

/**
 * ones_pseudo - sum of a pseudo header
 * @version: 4 or 6
 * @ip: IP header
 * @proto: 6 or 17
 * @l4_len: bytes from the transport header to the end of the packet
 */
static inline u32 ones_pseudo(u32 version, const u8 *ip, u32 proto, u32 l4_len)
{
	u32 sum = version == 4 ? ones_sum(ip + 12, 8) : ones_sum(ip + 8, 32);

	return ones_add(sum, ones_add(ones_be32(l4_len), ones_be16(proto)));
}

#endif /* GSOTUN_CORE_CSUM_H */
