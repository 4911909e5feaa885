// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * join_vectors_test.c - joining, against the test vectors.
 */
#include "join_util.h"
#include "vec.h"

static bool is_record(const struct record *r, const struct vec *v, u32 g)
{
	u8 vnet[VNET_LEN_MIN];
	u32 i, n = 0;

	for (i = 0; i < v->num_in; i++) {
		if (v->out_of[i] != g)
			continue;
		if (n == r->num || r->members[n++] != i)
			return false;
	}
	gsotun_vnet_put(&r->v, vnet);
	return n == r->num && !memcmp(vnet, v->out_vnet[g].data, VNET_LEN_MIN) &&
	       r->len == v->out[g].len && !memcmp(r->b, v->out[g].data, r->len);
}

static bool as_shown(const struct vec *v)
{
	u32 i;

	if (stream.num_records != v->num_out)
		return false;
	for (i = 0; i < v->num_in; i++)
		if (!is_record(record_of(i), v, v->out_of[i]))
			return false;
	return true;
}

static bool as_shown_or_smaller(const struct vec *v)
{
	u32 i, j;

	for (i = 0; i < stream.num_records; i++)
		for (j = 1; j < stream.records[i].num; j++)
			if (v->out_of[stream.records[i].members[j]] !=
			    v->out_of[stream.records[i].members[0]])
				return false;
	return true;
}

static void check_vector(const struct vec *v)
{
	bool good = false;
	u32 i;

	stream_reset();
	for (i = 0; i < v->num_in; i++)
		stream_add(v->in[i].data, v->in[i].len);
	join_and_check(v->name);
	switch (v->policy) {
	case VEC_EXACT:
		good = as_shown(v);
		break;
	case VEC_MUST_NOT_MERGE:
		good = as_shown(v) && all_alone();
		break;
	case VEC_EITHER:
		good = as_shown(v) || all_alone();
		break;
	case VEC_EXACT_OR_SMALLER:
		good = as_shown(v) || as_shown_or_smaller(v);
		break;
	case VEC_NO_CRASH:
		good = all_alone();
		break;
	}
	expect(good, "%s as shown, but got %u records", v->name, stream.num_records);
}

/* Calls @check for each vector; @least of them must be there. */
static void each_vector(const char *path, unsigned int least,
			void (*check)(const struct vec *v))
{
	static struct vec v;
	unsigned int num = 0;
	struct vec_file f;

	for (vec_open(&f, path); vec_next(&f, &v);) {
		if (v.op != VEC_COALESCE)
			continue;
		check(&v);
		num++;
	}
	expect(!f.error[0], "%s", f.error);
	expect(num >= least, "%s to have %u vectors, not %u", path, least, num);
	vec_close(&f);
}

static void vectors_are_joined_as_they_say(void)
{
	each_vector(VECTORS "/coalesce.vec", 42, check_vector);
	each_vector(VECTORS "/siblings.vec", 21, check_vector);
}

/* We choose to join where a vector leaves it open, but for what no header can say. */
static void check_choice(const struct vec *v)
{
	check_vector(v);
	if (v->policy == VEC_EITHER)
		expect(as_shown(v) == !v->no_roundtrip, "%s", v->name);
	if (v->policy == VEC_EXACT_OR_SMALLER)
		expect(as_shown(v), "%s", v->name);
}

static void vectors_that_leave_a_choice(void)
{
	each_vector(VECTORS "/coalesce.vec", 42, check_choice);
}

/* One after the other in one stream, so that each meets what the last one left. */
static void add_vector(const struct vec *v)
{
	u32 i;

	for (i = 0; i < v->num_in; i++)
		stream_add(v->in[i].data, v->in[i].len);
}

static void vectors_in_one_stream(void)
{
	u32 groups;

	for (groups = 1; groups <= 9; groups++) {
		stream_reset();
		stream.groups = groups;
		each_vector(VECTORS "/coalesce.vec", 42, add_vector);
		join_and_check("all vectors");
	}
}

static const struct ktap_test tests[] = {
	KTAP_TEST(vectors_are_joined_as_they_say),
	KTAP_TEST(vectors_that_leave_a_choice),
	KTAP_TEST(vectors_in_one_stream),
};

int main(void)
{
	return join_main(tests, ARRAY_SIZE(tests));
}
