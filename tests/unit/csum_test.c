// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * csum_test.c - one's complement sums, against addition in network order.
 */
#include "cut_util.h"
#include "csum.h"

static struct edge edge;

/* The value of a sum, as a number: what is stored, read in network order. */
static u32 value(u32 sum)
{
	u8 bytes[2];

	word_put16(bytes, ones_fold(sum));
	return be16(bytes);
}

/* 0 and 0xffff are one number, in two forms. */
static bool equal(u32 a, u32 b)
{
	return a % 0xffff == b % 0xffff;
}

static void words_are_laid_out_as_in_packets(void)
{
	u8 b[12];
	u32 i, x;

	for (i = 0; i < 5; i++) {
		memset(b, 0xaa, sizeof(b));
		word_put16(b + i, ones_be16(0x1234));
		expect(b[i] == 0x12 && b[i + 1] == 0x34 && b[i + 2] == 0xaa, "16 bits at %u", i);
		expect(ones_be16(word_get16(b + i)) == 0x1234, "16 bits at %u", i);
		word_put32(b + i, ones_be32(0x12345678));
		expect(be32(b + i) == 0x12345678 && b[i + 4] == 0xaa, "32 bits at %u", i);
		expect(ones_be32(word_get32(b + i)) == 0x12345678, "32 bits at %u", i);
	}
	/* Only the lower 16 bits, of whatever number. */
	word_put16(b, 0xbeef1234);
	expect(word_get16(b) == 0x1234, "%#x", word_get16(b));
	for (i = 0; i < 1000; i++) {
		x = noise();
		expect(ones_be16(x) == ones_be16(x & 0xffff) && ones_be16(x) <= 0xffff, "%#x", x);
		expect(ones_be16(ones_be16(x)) == (x & 0xffff), "%#x", x);
		expect(ones_be32(ones_be32(x)) == x, "%#x", x);
	}
}

static void folding_keeps_the_value(void)
{
	static const u32 some[] = {
		0, 1, 0xfffe, 0xffff, 0x10000, 0x10001, 0x1fffe, 0x1ffff, 0xfffeffff, 0xffff0000,
		0xffff0001, 0xfffffffe, 0xffffffff, 0x7fffffff, 0x80000000,
	};
	u32 i, j, x, y;
	u64 z;

	for (i = 0; i < ARRAY_SIZE(some) + 10000; i++) {
		x = i < ARRAY_SIZE(some) ? some[i] : noise();
		expect(ones_fold(x) == slow_fold(x), "%#x to %#x", x, ones_fold(x));
		expect(!ones_fold(x) == !x, "zero to stay what it is: %#x", x);
		expect(ones_check(x) == 0xffff - slow_fold(x), "%#x to %#x", x, ones_check(x));
		for (j = 0; j < ARRAY_SIZE(some) + 5; j++) {
			y = j < ARRAY_SIZE(some) ? some[j] : noise();
			z = (u64)x << 32 | y;
			expect(ones_fold(ones_narrow(z)) == slow_fold(z), "%#llx",
			       (unsigned long long)z);
			expect(ones_check(z) == 0xffff - slow_fold(z), "%#llx",
			       (unsigned long long)z);
		}
	}
}

static void adding_and_taking_back(void)
{
	static const u32 some[] = { 0, 1, 0xffff, 0x10000, 0xfffffffe, 0xffffffff };
	u32 i, j, x, y;

	for (i = 0; i < ARRAY_SIZE(some) + 1000; i++) {
		x = i < ARRAY_SIZE(some) ? some[i] : noise();
		for (j = 0; j < ARRAY_SIZE(some) + 20; j++) {
			y = j < ARRAY_SIZE(some) ? some[j] : noise();
			expect(ones_fold(ones_add(x, y)) == slow_fold((u64)x + y),
			       "%#x + %#x", x, y);
			expect(equal(ones_fold(ones_sub(ones_add(x, y), y)), x),
			       "%#x - %#x", x, y);
			/* Nothing but zeros adds up to zero: a check of 0xffff means that. */
			expect(!ones_add(x, y) == (!x && !y), "%#x + %#x", x, y);
		}
	}
}

static void blocks_of_any_length_and_address(void)
{
	u8 data[PLAN_HDR_MAX + 4];
	u32 len, shift, sum;
	u8 *b;

	noise_bytes(data, sizeof(data));
	for (len = 0; len <= PLAN_HDR_MAX; len++) {
		b = edge_open(&edge, len);
		memcpy(b, data, len);
		sum = ones_sum(b, len);
		expect(value(sum) == slow_fold(slow_sum(b, len)), "%u bytes", len);
		for (shift = 1; shift < 4; shift++) {
			memcpy(data + shift, b, len);
			expect(value(ones_sum(data + shift, len)) == value(sum), "%u bytes at %u",
			       len, shift);
			noise_bytes(data, sizeof(data));
			memcpy(data, b, len);
		}
		/* The most that so many bytes can be; carries everywhere. */
		memset(b, 0xff, len);
		expect(value(ones_sum(b, len)) == slow_fold(slow_sum(b, len)), "%u of 0xff", len);
		memset(b, 0, len);
		expect(!ones_sum(b, len), "%u zeros", len);
	}
}

/* A packet in two parts, the border anywhere. */
static void parts_at_odd_offsets(void)
{
	u32 len, border, whole, sum;
	u8 data[70];

	for (len = 0; len <= sizeof(data); len++) {
		noise_bytes(data, sizeof(data));
		whole = slow_fold(slow_sum(data, len));
		for (border = 0; border <= len; border++) {
			sum = ones_sum(data + border, len - border);
			sum = ones_at(sum, border);
			sum = ones_add(ones_sum(data, border), sum);
			expect(value(sum) == whole, "%u bytes, %u in front", len, border);
		}
	}
	/* Of sums that were not folded too. */
	for (len = 0; len < 1000; len++) {
		sum = noise();
		whole = ones_fold(sum);
		expect(equal(ones_at(sum, 1), whole >> 8 | (whole & 0xff) << 8), "%#x", sum);
		expect(ones_at(sum, 2 * len) == sum, "%u", 2 * len);
	}
}

static void pseudo_headers(void)
{
	u8 b[64];
	int i;

	for (i = 0; i < 2000; i++) {
		u32 proto = one_in(2) ? 6 : 17;
		u32 len = one_in(2) ? below(65536) : noise();
		bool v4 = one_in(2);

		noise_bytes(b, sizeof(b));
		b[0] = v4 ? 0x45 : 0x60;
		b[v4 ? 9 : 6] = (u8)proto;
		expect(value(ones_pseudo(v4 ? 4 : 6, b, proto, len)) ==
		       slow_fold(slow_pseudo(b, len)), "IPv%d, %u", v4 ? 4 : 6, len);
	}
}

static const struct ktap_test tests[] = {
	KTAP_TEST(words_are_laid_out_as_in_packets),
	KTAP_TEST(folding_keeps_the_value),
	KTAP_TEST(adding_and_taking_back),
	KTAP_TEST(blocks_of_any_length_and_address),
	KTAP_TEST(parts_at_odd_offsets),
	KTAP_TEST(pseudo_headers),
};

int main(void)
{
	int status = ktap_main(tests, ARRAY_SIZE(tests));

	free(edge.memory);
	return status;
}
