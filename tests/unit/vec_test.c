// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * vec_test.c - the reader of the test vectors: what it gives, and that it refuses
 * what it does not understand, because a vector that is skipped tests nothing.
 */
#include <string.h>

#include "ktap.h"
#include "vec.h"

#define SEGMENT	"vector s\nop segment\nvnet 00112233445566778899\npacket 4500\n"
#define REFUSE	"vector r\nop refuse\nvnet -\npacket -\n"
#define JOIN	"vector c\nop coalesce\npolicy either\nin 4501\nin 4502\nin 4503\n"
#define VNET	"vnet 00000000000000000000\n"

static struct vec v;

static bool bytes_are(const struct vec_bytes *b, const char *want, size_t len)
{
	return b->len == len && !memcmp(b->data, want, len);
}

static void a_file_gives_its_vectors_in_order(void)
{
	static const char text[] =
		"# a comment\n\n"
		SEGMENT "alt tcp-csum\nseg 450a\n# in between\nseg ff\nend\n"
		REFUSE "reason short\nend\n"
		JOIN "roundtrip no\ngroup 0,2\n" VNET "out 4504\ngroup 1\n" VNET "out 4502\nend\n";
	struct vec_file f;

	expect(vec_open_text(&f, text, strlen(text)), "%s", f.error);

	expect(vec_next(&f, &v), "%s", f.error);
	expect(!strcmp(v.name, "s") && v.op == VEC_SEGMENT && v.line == 3, "%s", v.name);
	expect(bytes_are(&v.vnet, "\x00\x11\x22\x33\x44\x55\x66\x77\x88\x99", 10), "vnet");
	expect(v.num_in == 1 && bytes_are(&v.in[0], "\x45\x00", 2), "%u", v.num_in);
	expect(v.num_out == 2 && bytes_are(&v.out[0], "\x45\x0a", 2) &&
	       bytes_are(&v.out[1], "\xff", 1), "%u", v.num_out);
	expect(v.tcp_csum_alt && !v.reason, "alt");

	expect(vec_next(&f, &v), "%s", f.error);
	expect(!strcmp(v.name, "r") && v.op == VEC_REFUSE, "%s", v.name);
	expect(!v.vnet.len && v.num_in == 1 && !v.in[0].len, "%u", v.vnet.len);
	expect(!strcmp(v.reason, "short") && !v.tcp_csum_alt && !v.num_out, "%s", v.reason);

	expect(vec_next(&f, &v), "%s", f.error);
	expect(v.op == VEC_COALESCE && v.policy == VEC_EITHER && v.no_roundtrip, "%s", v.name);
	expect(v.num_in == 3 && bytes_are(&v.in[2], "\x45\x03", 2), "%u", v.num_in);
	expect(v.num_out == 2 && bytes_are(&v.out[1], "\x45\x02", 2), "%u", v.num_out);
	expect(v.out_vnet[0].len == 10 && v.out_vnet[1].len == 10, "%u", v.out_vnet[1].len);
	expect(v.out_of[0] == 0 && v.out_of[1] == 1 && v.out_of[2] == 0, "%u", v.out_of[2]);

	expect(!vec_next(&f, &v) && !f.error[0], "%s", f.error);
	expect(!vec_next(&f, &v) && !f.error[0], "%s", f.error);
	vec_close(&f);
}

static void what_is_not_understood_is_refused(void)
{
	static const char *const texts[] = {
		"packet 45\n",				/* outside of a vector */
		"vector\nop segment\n",			/* no name */
		"vector x\n",				/* ends early */
		"vector x\nend\n",			/* no op */
		"vector x\nop cut\nend\n",
		"vector x\nop segment\nend\n",
		SEGMENT "end\n",			/* no result */
		SEGMENT "seg 45\n",			/* no end */
		SEGMENT "seg 45\nend",			/* torn off */
		SEGMENT "seg 4\nend\n",
		SEGMENT "seg 4G\nend\n",
		SEGMENT "seg 4A\nend\n",		/* one way to write a byte is enough */
		SEGMENT "seg \nend\n",
		SEGMENT "seg\nend\n",
		SEGMENT "packet 45\nseg 45\nend\n",	/* a second one */
		SEGMENT "segs 45\nend\n",
		SEGMENT "alt udp-csum\nseg 45\nend\n",
		SEGMENT "reason short\nseg 45\nend\n",
		SEGMENT "in 45\nseg 45\nend\n",
		"vector x\nop segment\npacket 45\nseg 45\nend\n",
		"vector x\nop segment\n" VNET "seg 45\nend\n",
		REFUSE "end\n",
		REFUSE "seg 45\nreason short\nend\n",
		JOIN "end\n",
		JOIN "group 0,1,2\nout 45\nend\n",	/* no vnet */
		JOIN "group 0,1\n" VNET "out 45\nend\n",	/* one is forgotten */
		JOIN "group 0,1,2\n" VNET "end\n",	/* no out */
		JOIN "group 0,1,3\n" VNET "out 45\nend\n",
		JOIN "group 0,1,1\n" VNET "out 45\nend\n",
		JOIN "group 0;1,2\n" VNET "out 45\nend\n",
		JOIN "group 0,1,\n" VNET "out 45\nend\n",
		JOIN "group\n" VNET "out 45\nend\n",
		JOIN "policy perhaps\ngroup 0,1,2\n" VNET "out 45\nend\n",
		JOIN "roundtrip yes\ngroup 0,1,2\n" VNET "out 45\nend\n",
		JOIN "packet 45\ngroup 0,1,2\n" VNET "out 45\nend\n",
	};
	struct vec_file f;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		vec_open_text(&f, texts[i], strlen(texts[i]));
		while (vec_next(&f, &v))
			;
		expect(f.error[0], "text %zu to be refused", i);
		expect(!vec_next(&f, &v), "text %zu to stay refused", i);
		vec_close(&f);
	}
}

static void a_vector_has_an_end(void)
{
	static char text[8 * 2 * (VEC_MAX + 2) + 200];
	struct vec_file f;
	int i;

	strcpy(text, SEGMENT);
	for (i = 0; i < VEC_MAX; i++)
		strcat(text, "seg 45\n");
	strcat(text, "end\n");
	vec_open_text(&f, text, strlen(text));
	expect(vec_next(&f, &v) && v.num_out == VEC_MAX, "%s", f.error);
	vec_close(&f);

	strcpy(text + strlen(text) - strlen("end\n"), "seg 45\nend\n");
	vec_open_text(&f, text, strlen(text));
	expect(!vec_next(&f, &v) && f.error[0], "one too many");
	vec_close(&f);
}

static void a_file_that_is_not_there_says_so(void)
{
	struct vec_file f;

	expect(!vec_open(&f, "/nonexistent/file.vec"), "no such file");
	expect(strstr(f.error, "/nonexistent/file.vec"), "%s", f.error);
	expect(!vec_next(&f, &v), "nothing");
	vec_close(&f);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(a_file_gives_its_vectors_in_order),
	KTAP_TEST(what_is_not_understood_is_refused),
	KTAP_TEST(a_vector_has_an_end),
	KTAP_TEST(a_file_that_is_not_there_says_so),
};

int main(void)
{
	return ktap_main(tests, ARRAY_SIZE(tests));
}
