// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * plan_vectors_test.c - gsotun_plan_parse() against the test vectors.
 */
#include "plan_util.h"
#include "vec.h"

static const char *const reasons[] = {
	[GSOTUN_DROP_SHORT] = "short",
	[GSOTUN_DROP_LENGTH] = "length",
	[GSOTUN_DROP_HDR_LEN] = "hdr_len",
	[GSOTUN_DROP_IP_VERSION] = "ip_version",
	[GSOTUN_DROP_IP_HEADER] = "ip_header",
	[GSOTUN_DROP_IP_LENGTH] = "ip_length",
	[GSOTUN_DROP_IP_OPTIONS] = "ip_options",
	[GSOTUN_DROP_FRAGMENT] = "fragment",
	[GSOTUN_DROP_L4_HEADER] = "l4_header",
	[GSOTUN_DROP_UDP_LENGTH] = "udp_length",
	[GSOTUN_DROP_CSUM] = "csum",
	[GSOTUN_DROP_GSO_TYPE] = "gso_type",
	[GSOTUN_DROP_GSO_PROTO] = "gso_proto",
	[GSOTUN_DROP_GSO_SIZE] = "gso_size",
	[GSOTUN_DROP_GSO_SEGS] = "gso_segs",
};

static const char *reason_name(int drop)
{
	if (drop < 0 || (size_t)drop >= ARRAY_SIZE(reasons) || !reasons[drop])
		return "a reason that has no vector";
	return reasons[drop];
}

/* Calls @check for each vector of a kind; @least of them must be there. */
static void for_each_vector(const char *path, enum vec_op op, unsigned int least,
			    void (*check)(const struct vec *v))
{
	static struct vec v;
	unsigned int num = 0;
	struct vec_file f;

	for (vec_open(&f, path); vec_next(&f, &v);) {
		if (v.op != op)
			continue;
		check(&v);
		num++;
	}
	expect(!f.error[0], "%s", f.error);
	expect(num >= least, "%s to have %u vectors, not %u", path, least, num);
	vec_close(&f);
}

static void check_refused(const struct vec *v)
{
	const struct vec_bytes *in = &v->in[0];
	struct gsotun_vnet vnet;
	struct gsotun_plan p;
	int drop;

	if (v->vnet.len < VNET_LEN_MIN) {
		/* The ring's reader refuses it; there is no header to parse. */
		expect(!strcmp(v->reason, "short"), "%s, not %s", v->name, v->reason);
		return;
	}
	gsotun_vnet_get(&vnet, v->vnet.data);
	drop = parse(&p, &vnet, in->data, in->len);
	expect(drop, "%s to be refused: %s", v->name, v->reason);
	expect(!drop || !strcmp(reason_name(drop), v->reason), "%s: %s, but got %s",
	       v->name, v->reason, reason_name(drop));
}

static void vectors_to_refuse_are_refused(void)
{
	for_each_vector(VECTORS "/invalid.vec", VEC_REFUSE, 43, check_refused);
	for_each_vector(VECTORS "/siblings.vec", VEC_REFUSE, 102, check_refused);
}

static void check_cut(const struct vec *v)
{
	static const struct gsotun_vnet none;
	const struct vec_bytes *in = &v->in[0];
	struct gsotun_vnet vnet;
	struct gsotun_plan p;
	u32 i;
	int drop;

	gsotun_vnet_get(&vnet, v->vnet.data);
	drop = parse(&p, &vnet, in->data, in->len);
	expect(!drop, "%s: %s", v->name, reason_name(drop));
	if (drop)
		return;
	expect(p.segs == v->num_out, "%s: %u segments, not %u", v->name, v->num_out, p.segs);
	check_plan(&p, &vnet, in->data, min_u32(in->len, PLAN_HDR_MAX), in->len);
	/* A packet that is too small for GSO keeps the checksum that is to be finished. */
	expect(p.needs_csum == (vnet.flags & VNET_F_NEEDS_CSUM), "%s", v->name);
	if (p.segs > 1)
		expect(v->out[0].len == p.hdr_len + p.gso_size, "%s: %u", v->name, p.hdr_len);

	for (i = 0; i < v->num_out; i++) {
		drop = parse(&p, &none, v->out[i].data, v->out[i].len);
		expect(!drop, "%s, segment %u: %s", v->name, i, reason_name(drop));
	}
}

static void vectors_to_cut_are_accepted(void)
{
	for_each_vector(VECTORS "/segment.vec", VEC_SEGMENT, 45, check_cut);
	for_each_vector(VECTORS "/siblings.vec", VEC_SEGMENT, 48, check_cut);
}

static void check_joined(const struct vec *v)
{
	struct gsotun_vnet vnet;
	struct gsotun_plan p;
	u32 i, j, members;
	int drop;

	for (i = 0; i < v->num_out; i++) {
		gsotun_vnet_get(&vnet, v->out_vnet[i].data);
		if (vnet.gso_type == VNET_GSO_NONE)
			continue;
		for (members = 0, j = 0; j < v->num_in; j++)
			members += v->out_of[j] == i;
		drop = parse(&p, &vnet, v->out[i].data, v->out[i].len);
		expect(!drop, "%s: %s", v->name, reason_name(drop));
		expect(p.segs == members, "%s: %u segments, not %u", v->name, members, p.segs);
		expect(p.hdr_len == vnet.hdr_len, "%s: %u", v->name, p.hdr_len);
	}
}

static void vectors_that_were_joined_are_accepted(void)
{
	for_each_vector(VECTORS "/coalesce.vec", VEC_COALESCE, 42, check_joined);
	for_each_vector(VECTORS "/siblings.vec", VEC_COALESCE, 21, check_joined);
}

/*
 * With less of the packet at hand a verdict may become a refusal. It never
 * becomes another plan, and what was refused is never accepted.
 */
static void check_less_at_hand(const struct vec *v)
{
	const struct vec_bytes *in = &v->in[0];
	struct gsotun_plan full, p;
	struct gsotun_vnet vnet;
	u32 avail;
	int drop;

	if (v->vnet.len < VNET_LEN_MIN)
		return;
	gsotun_vnet_get(&vnet, v->vnet.data);
	drop = parse(&full, &vnet, in->data, in->len);
	for (avail = 0; avail < min_u32(in->len, PLAN_HDR_MAX); avail++) {
		if (parse_some(&p, &vnet, in->data, avail, in->len, ALL))
			continue;
		expect(!drop, "%s with %u bytes to be refused too", v->name, avail);
		expect(avail >= p.hdr_len, "%s: %u bytes", v->name, avail);
		p.hdr_len = full.hdr_len;	/* differs for plain packets */
		expect(!memcmp(&p, &full, sizeof(p)), "%s: %u bytes", v->name, avail);
	}
}

/* A packet that was cut short is none, whatever is left of it. */
static void check_cut_short(const struct vec *v)
{
	const struct vec_bytes *in = &v->in[0];
	struct gsotun_vnet vnet;
	struct gsotun_plan p;
	u32 len;

	if (v->op == VEC_REFUSE)
		return;
	gsotun_vnet_get(&vnet, v->vnet.data);
	for (len = 0; len < in->len; len += len < PLAN_HDR_MAX ? 1 : 97)
		expect(parse(&p, &vnet, in->data, len), "%s with %u bytes", v->name, len);
}

static void truncated_vectors_are_refused(void)
{
	for_each_vector(VECTORS "/segment.vec", VEC_SEGMENT, 45, check_less_at_hand);
	for_each_vector(VECTORS "/siblings.vec", VEC_SEGMENT, 48, check_less_at_hand);
	for_each_vector(VECTORS "/invalid.vec", VEC_REFUSE, 43, check_less_at_hand);
	for_each_vector(VECTORS "/siblings.vec", VEC_REFUSE, 102, check_less_at_hand);
	for_each_vector(VECTORS "/segment.vec", VEC_SEGMENT, 45, check_cut_short);
	for_each_vector(VECTORS "/siblings.vec", VEC_SEGMENT, 48, check_cut_short);
}

/* Every set of offloads: a packet passes if, and only if, all it uses are in it. */
static void check_offloads(const struct vec *v)
{
	static const u64 of_type[6] = { 0, TSO4, 0, 0, TSO6, USO };
	const struct vec_bytes *in = &v->in[0];
	struct gsotun_vnet vnet;
	struct gsotun_plan p;
	u64 need, has;
	int drop;

	gsotun_vnet_get(&vnet, v->vnet.data);
	need = of_type[vnet.gso_type & 0x7f];
	if (vnet.flags & VNET_F_NEEDS_CSUM)
		need |= CSUM;
	if (vnet.gso_type & VNET_GSO_ECN)
		need |= TSO_ECN;
	for (has = 0; has <= ALL; has++) {
		drop = parse_some(&p, &vnet, in->data, min_u32(in->len, PLAN_HDR_MAX),
				  in->len, has);
		expect(drop == ((has & need) == need ? 0 : GSOTUN_DROP_NO_OFFLOAD),
		       "%s with offloads %#llx: %d", v->name, (unsigned long long)has, drop);
	}
}

static void offloads_not_asked_for_are_refused(void)
{
	for_each_vector(VECTORS "/segment.vec", VEC_SEGMENT, 45, check_offloads);
	for_each_vector(VECTORS "/siblings.vec", VEC_SEGMENT, 48, check_offloads);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(vectors_to_refuse_are_refused),
	KTAP_TEST(vectors_to_cut_are_accepted),
	KTAP_TEST(vectors_that_were_joined_are_accepted),
	KTAP_TEST(truncated_vectors_are_refused),
	KTAP_TEST(offloads_not_asked_for_are_refused),
};

int main(void)
{
	return plan_main(tests, ARRAY_SIZE(tests));
}
