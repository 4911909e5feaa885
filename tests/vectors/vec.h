/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * vec.h - reads the test vectors of this folder, one after the other.
 *
 * A file is read into one block of memory, and its hex is decoded where it lies:
 * nothing is allocated for a vector, and every pointer that vec_next() hands out
 * stays valid until vec_close(). README.rst describes the files.
 */
#ifndef GSOTUN_TESTS_VEC_H
#define GSOTUN_TESTS_VEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VEC_MAX		256	/* most packets on one side of a vector */

enum vec_op {
	VEC_SEGMENT,
	VEC_REFUSE,
	VEC_COALESCE,
};

/* How exactly a coalescer must do what a vector shows. */
enum vec_policy {
	VEC_EXACT,
	VEC_MUST_NOT_MERGE,
	VEC_EITHER,		/* as shown, or every packet alone */
	VEC_EXACT_OR_SMALLER,	/* as shown, or in smaller groups */
	VEC_NO_CRASH,		/* each packet unchanged, or dropped and counted */
};

struct vec_bytes {
	const uint8_t *data;
	uint32_t len;
};

/**
 * struct vec - one vector
 * @name: unique in its file
 * @line: where it starts, for messages
 * @op: what it is an example of
 * @vnet: segment, refuse: the virtio_net_hdr of in[0]
 * @in: packets that go in; segment and refuse have one
 * @num_in: how many
 * @out: segment: the segments; coalesce: the packets of the records
 * @out_vnet: coalesce: the virtio_net_hdr of each record
 * @num_out: how many
 * @out_of: coalesce: the record that in[i] went into
 * @policy: coalesce: how exactly
 * @no_roundtrip: coalesce: cutting the records does not give the packets back
 * @tcp_csum_alt: segment: a TCP checksum of 0x0000 may be 0xffff as well
 * @reason: refuse: GSOTUN_DROP_* in lower case without the prefix
 */
struct vec {
	const char *name;
	unsigned int line;
	enum vec_op op;
	struct vec_bytes vnet;
	struct vec_bytes in[VEC_MAX];
	uint32_t num_in;
	struct vec_bytes out[VEC_MAX];
	struct vec_bytes out_vnet[VEC_MAX];
	uint32_t num_out;
	uint32_t out_of[VEC_MAX];
	enum vec_policy policy;
	bool no_roundtrip;
	bool tcp_csum_alt;
	const char *reason;
};

/**
 * struct vec_file - an open file of vectors
 * @path: as given
 * @line: number of the line read last
 * @error: what is wrong, a sentence; empty if nothing is
 * @text: the whole file
 * @next: the first byte not yet read
 */
struct vec_file {
	const char *path;
	unsigned int line;
	char error[160];
	char *text;
	char *next;
};

/* Return: false, and the reason in f->error, if the file cannot be read. */
bool vec_open(struct vec_file *f, const char *path);

/* The same for @len bytes in memory, which are copied. */
bool vec_open_text(struct vec_file *f, const char *text, size_t len);

/**
 * vec_next - the next vector of a file
 * @f: file
 * @v: filled in
 *
 * Return: true if there was one; false at the end and, with the reason in
 * f->error, where the file is wrong. Always look at f->error after the last one.
 */
bool vec_next(struct vec_file *f, struct vec *v);

void vec_close(struct vec_file *f);

#endif /* GSOTUN_TESTS_VEC_H */
