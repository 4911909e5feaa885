/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ktap.h - tests of one program: run, count, print KTAP.
 */
#ifndef GSOTUN_TESTS_KTAP_H
#define GSOTUN_TESTS_KTAP_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct ktap_test {
	const char *name;
	void (*run)(void);
};

static bool ktap_failed;

/* The test goes on, so that one run tells all. */
#define CHECK(condition) do {							\
	if (!(condition)) {							\
		printf("# %s:%d: %s\n", __func__, __LINE__, #condition);	\
		ktap_failed = true;						\
	}									\
} while (0)

#define CHECK_EQ(a, b) do {							\
	long long a_ = (long long)(a), b_ = (long long)(b);			\
	if (a_ != b_) {								\
		printf("# %s:%d: %s is %lld, not %s = %lld\n", __func__,	\
		       __LINE__, #a, a_, #b, b_);				\
		ktap_failed = true;						\
	}									\
} while (0)

static inline int ktap_run(const struct ktap_test *tests, unsigned int n)
{
	unsigned int i, failures = 0;

	printf("KTAP version 1\n1..%u\n", n);
	for (i = 0; i < n; i++) {
		ktap_failed = false;
		tests[i].run();
		failures += ktap_failed;
		printf("%sok %u %s\n", ktap_failed ? "not " : "", i + 1, tests[i].name);
		fflush(stdout);
	}
	printf("# %u passed, %u failed\n", n - failures, failures);
	return failures ? 1 : 0;
}

#endif /* GSOTUN_TESTS_KTAP_H */
