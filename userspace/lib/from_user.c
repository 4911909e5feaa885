// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* from_user.c - producer of the from_user ring: reserve, submit, cancel. */
#include <errno.h>

#include "internal.h"

u32 gsotun_reserve_span(const struct gsotun_side *s, size_t max)
{
	if (max > s->max_span - s->data_off)
		return 0;
	return ring_span(s->data_off + (u32)max);
}

bool gsotun_room_target(const struct gsotun_side *s, u32 need, bool least, u32 *at)
{
	const struct gsotun_ring *r = &s->ring;

	*at = r->pos + need - r->size;
	if ((s32)(*at - r->published) <= 0)
		return true;
	/* Reservations take the room; at best all that is submitted goes away. */
	*at = r->published;
	return !least && r->peer_pos != r->published;
}

static int look(struct gsotun_queue *q)
{
	if (ring_update_consumer(&q->side[GSOTUN_FROM_USER].ring))
		return 0;
	return gsotun_fail(q, -EBADMSG, gsotun_bad_position);
}

/* No room for @span: leave word of what is wanted, and look once more. */
static int wait_for_room(struct gsotun_queue *q, u32 span)
{
	struct gsotun_side *s = &q->side[GSOTUN_FROM_USER];
	struct gsotun_ring *r = &s->ring;
	u32 half = r->size / 2;
	int err;
	u32 at;

	if (!gsotun_room_target(s, span, true, &at))
		return gsotun_fail(q, -ENOBUFS, gsotun_too_many_reserved);
	if (gsotun_room_target(s, half > span ? half : span, false, &at) &&
	    at != s->wait) {
		set_wait(s, at);
		err = look(q);
		if (err || ring_room(r) >= span)
			return err;
	}
	err = gsotun_status(q, GSOTUN_FROM_USER);
	return err ? err : -EAGAIN;
}

/* Train layout: the table stands before the content, so that the end can move. */
static u32 table_off(const struct gsotun_queue *q)
{
	return ring_span(sizeof(struct gsotun_record) + q->vnet_len);
}

static void init_frame(const struct gsotun_queue *q, const struct gsotun_side *s,
		       struct gsotun_frame *f, u8 *at, u32 max)
{
	const struct gsotun_layout *layout = &q->granted.layout[GSOTUN_FROM_USER];

	*f = (struct gsotun_frame) {
		.data = at + s->data_off,
		.len = max,
		.nsegs = 1,
		.type = GSOTUN_RECORD_PACKET,
		.vnet = at + sizeof(struct gsotun_record),
	};
	if (layout->type == GSOTUN_LAYOUT_TRAIN)
		f->lens = (u16 *)(at + table_off(q));
	memset(f->vnet, 0, q->vnet_len);
}

int gsotun_reserve(struct gsotun_queue *q, size_t max, struct gsotun_frame *f,
		   unsigned int n)
{
	struct gsotun_side *s = &q->side[GSOTUN_FROM_USER];
	u32 span = gsotun_reserve_span(s, max), space = s->frames - s->held, i;
	struct gsotun_ring *r = &s->ring;
	int err;

	if (s->quiesced)
		return -ESHUTDOWN;
	if (!n)
		return -EINVAL;
	if (!span)
		return gsotun_fail(q, -EMSGSIZE, gsotun_too_large);
	if (!space)
		return gsotun_fail(q, -ENOBUFS, gsotun_too_many_reserved);
	if (n > space)
		n = space;

	if ((u64)n * span > ring_room(r)) {
		err = look(q);
		if (!err && ring_room(r) < span)
			err = wait_for_room(q, span);
		if (err)
			return err;
		if (n > ring_room(r) / span)
			n = ring_room(r) / span;
	}
	for (i = 0; i < n; i++) {
		init_frame(q, s, &f[i], ring_at(r, r->pos), (u32)max);
		r->pos += span;
		hold(s, r->pos);
	}
	return (int)n;
}

/* Does the frame lie in its reservation? What else is wrong the kernel counts. */
static bool frame_fits(const struct gsotun_queue *q, const struct gsotun_frame *f,
		       const u8 *at, u32 span)
{
	const struct gsotun_layout *layout = &q->granted.layout[GSOTUN_FROM_USER];
	u32 min = sizeof(struct gsotun_record) + q->vnet_len;
	uintptr_t off = (uintptr_t)f->data - (uintptr_t)at;

	if (f->type == GSOTUN_RECORD_SKIP)
		return true;
	if (f->type == GSOTUN_RECORD_TRAIN) {
		if (layout->type != GSOTUN_LAYOUT_TRAIN || !f->nsegs ||
		    f->nsegs > layout->max_segs ||
		    (u64)(f->nsegs - 1) * f->stride + f->last_padded != f->len)
			return false;
		min = table_off(q) + f->nsegs * 2u;
	} else if (f->type != GSOTUN_RECORD_PACKET) {
		return false;
	}
	return off >= min && off <= span && off <= UINT16_MAX && f->len <= span - off;
}

static void write_record(const struct gsotun_queue *q, const struct gsotun_frame *f,
			 u8 *at, u32 span)
{
	struct gsotun_record rec = {
		.span = span,
		.len = f->len,
		.type = f->type,
		.flags = f->flags,
		.data_off = (u16)(f->data - at),
		.vnet_len = (u16)q->vnet_len,
		.mark = f->mark,
	};

	if (f->type == GSOTUN_RECORD_SKIP) {
		rec = (struct gsotun_record) { .span = span };
	} else if (f->type == GSOTUN_RECORD_TRAIN) {
		rec.table_off = (u16)(table_off(q) / RING_ALIGN);
		rec.nsegs = f->nsegs;
		rec.stride = f->stride;
		rec.seg_len = f->seg_len;
		rec.seg_padded = f->seg_padded;
		rec.last_len = f->last_len;
		rec.last_padded = f->last_padded;
	}
	memcpy(at, &rec, sizeof(rec));
}

int gsotun_submit(struct gsotun_queue *q, const struct gsotun_frame *f,
		  unsigned int n)
{
	struct gsotun_side *s = &q->side[GSOTUN_FROM_USER];
	struct gsotun_ring *r = &s->ring;
	u32 at, end, used, i;

	if (n > s->held)
		return -EINVAL;
	for (i = 0, at = r->published; i < n; i++, at = end) {
		end = held_end(s, i);
		if (!frame_fits(q, &f[i], ring_at(r, at), end - at))
			return gsotun_fail(q, -EINVAL, "a frame does not lie in its reservation");
	}
	/* A skip at the very end needs no record. */
	while (n && n == s->held && f[n - 1].type == GSOTUN_RECORD_SKIP) {
		n--;
		gsotun_cancel(q, 1);
	}
	if (!n)
		return (int)s->held;

	for (i = 0, at = r->published; i < n; i++, at = end) {
		u8 *rec = ring_at(r, at);

		end = held_end(s, i);
		if (i + 1 == s->held) {		/* the youngest: nothing lies behind it */
			used = (u32)(f[i].data - rec) + f[i].len;
			end = at + ring_span(used);
			r->pos = end;
		}
		write_record(q, &f[i], rec, end - at);
		if (f[i].type == GSOTUN_RECORD_SKIP) {
			stat_add(&s->stats.skips, 1);
			continue;
		}
		stat_add(&s->stats.records, 1);
		stat_add(&s->stats.bytes, f[i].len);
		if (f[i].nsegs > 1 || vnet_is_gso(rec + sizeof(struct gsotun_record)))
			stat_add(&s->stats.superpackets, 1);
	}
	s->first += n;
	core_store(&s->held, s->held - n);
	gsotun_publish(q, GSOTUN_FROM_USER, at);
	return (int)s->held;
}

int gsotun_cancel(struct gsotun_queue *q, unsigned int n)
{
	struct gsotun_side *s = &q->side[GSOTUN_FROM_USER];
	struct gsotun_ring *r = &s->ring;
	u32 left;

	if (n > s->held)
		return -EINVAL;
	left = s->held - n;
	r->pos = left ? held_end(s, left - 1) : r->published;
	core_store(&s->held, left);
	return (int)left;
}
