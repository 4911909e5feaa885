/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* noise.h - the same noise in each run, so that what it finds can be found again. */
#ifndef GSOTUN_TESTS_NOISE_H
#define GSOTUN_TESTS_NOISE_H

#include <stdint.h>

#define NOISE_SEED	2463534242u	/* any number but 0 */

/* xorshift */
static inline uint32_t noise_next(uint32_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 17;
	*x ^= *x << 5;
	return *x;
}

static inline uint32_t noise(void)
{
	static uint32_t x = NOISE_SEED;

	return noise_next(&x);
}

#endif /* GSOTUN_TESTS_NOISE_H */
