/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * ktap.h - runs the tests of one program and reports them in KTAP.
 *
 * A test is a function; it fails when an expect() in it failed, or when it came
 * to none. What failed is said in a comment, the first few times.
 */
#ifndef GSOTUN_TESTS_KTAP_H
#define GSOTUN_TESTS_KTAP_H

#include <stdio.h>

#define KTAP_MAX_SHOWN	10

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

struct ktap_test {
	const char *name;
	void (*run)(void);
};

#define KTAP_TEST(fn)	{ #fn, fn }

/* Of the test that runs. Only the thread of main() may expect something. */
static unsigned long ktap_expected;
static unsigned long ktap_problems;

#define expect(cond, fmt, ...)						\
	do {								\
		ktap_expected++;					\
		if (!(cond) && ktap_problems++ < KTAP_MAX_SHOWN)	\
			printf("# %s:%d: expected %s: " fmt "\n",	\
			       __FILE__, __LINE__, #cond, ##__VA_ARGS__);	\
	} while (0)

/* Return: the exit status of the program. */
static inline int ktap_main(const struct ktap_test *tests, size_t num)
{
	size_t i, failed = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("KTAP version 1\n1..%zu\n", num);
	for (i = 0; i < num; i++) {
		ktap_expected = 0;
		ktap_problems = 0;
		tests[i].run();
		expect(ktap_expected > 1, "%s to test something", tests[i].name);
		if (ktap_problems > KTAP_MAX_SHOWN)
			printf("# and %lu more\n", ktap_problems - KTAP_MAX_SHOWN);
		printf("%sok %zu %s\n", ktap_problems ? "not " : "", i + 1, tests[i].name);
		failed += !!ktap_problems;
	}
	return failed || !num;
}

#endif /* GSOTUN_TESTS_KTAP_H */
