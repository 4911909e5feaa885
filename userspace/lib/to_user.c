// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* to_user.c - consumer of the to_user ring: peek, release. */
#include <errno.h>

#include "internal.h"

/* Is the record whole? The kernel is trusted, a predecessor's leavings are not. */
static bool record_fits(const struct gsotun_record *rec, u32 vnet_len)
{
	if (rec->vnet_len != vnet_len ||
	    rec->data_off < sizeof(*rec) + vnet_len ||
	    rec->data_off > rec->span || !rec->len ||
	    rec->len > rec->span - rec->data_off)
		return false;
	if (rec->type == GSOTUN_RECORD_PACKET)
		return true;
	return rec->type == GSOTUN_RECORD_TRAIN && rec->nsegs &&
	       rec->seg_len <= rec->seg_padded &&
	       rec->last_len <= rec->last_padded &&
	       rec->seg_padded <= rec->stride && rec->last_padded <= rec->stride &&
	       rec->headroom <= rec->data_off - sizeof(*rec) - vnet_len &&
	       (u64)(rec->nsegs - 1) * rec->stride + rec->last_padded == rec->len;
}

static void fill_frame(struct gsotun_frame *f, const struct gsotun_record *rec,
		       u8 *at)
{
	*f = (struct gsotun_frame) {
		.data = at + rec->data_off,
		.len = rec->len,
		.type = rec->type,
		.flags = rec->flags,
		.hash = rec->hash,
		.mark = rec->mark,
		.vnet = at + sizeof(*rec),
	};
	if (rec->type == GSOTUN_RECORD_TRAIN) {
		f->stride = rec->stride;
		f->nsegs = rec->nsegs;
		f->headroom = rec->headroom;
		f->seg_len = rec->seg_len;
		f->seg_padded = rec->seg_padded;
		f->last_len = rec->last_len;
		f->last_padded = rec->last_padded;
		return;
	}
	f->stride = rec->len;
	f->nsegs = 1;
	if (rec->len <= UINT16_MAX) {
		f->seg_len = (u16)rec->len;
		f->seg_padded = f->seg_len;
		f->last_len = f->seg_len;
		f->last_padded = f->seg_len;
	}
}

/* Span of the record at the ring's position, 0 if it is none. */
static u32 record_span(const struct gsotun_ring *r)
{
	const struct gsotun_record *rec = ring_at(r, r->pos);
	u32 span = core_load(&rec->span);

	if (!span || span % RING_ALIGN || span > ring_ready(r))
		return 0;
	return span;
}

/* Take up to @n frames of what the ring is known to hold. */
static int take(struct gsotun_queue *q, struct gsotun_frame *f, u32 n)
{
	struct gsotun_side *s = &q->side[GSOTUN_TO_USER];
	struct gsotun_ring *r = &s->ring;
	u64 skips = 0, supers = 0, bytes = 0;
	u32 start = r->pos, got = 0;
	bool bad = false;

	while (got < n && ring_ready(r)) {
		u8 *at = ring_at(r, r->pos);
		struct gsotun_record rec;

		memcpy(&rec, at, sizeof(rec));
		rec.span = record_span(r);
		if (!rec.span) {
			bad = true;
			break;
		}
		if (rec.type == GSOTUN_RECORD_SKIP) {
			r->pos += rec.span;
			skips++;
			continue;
		}
		if (!record_fits(&rec, q->vnet_len)) {
			bad = true;
			break;
		}
		r->pos += rec.span;
		hold(s, r->pos);
		fill_frame(&f[got], &rec, at);
		supers += f[got].nsegs > 1 || vnet_is_gso(f[got].vnet);
		bytes += rec.len;
		got++;
	}
	if (r->pos != start) {
		/* Before the caller can change a byte: see ring.h, G. */
		if (!q->read_only)
			ring_claim(&s->daemon->claim, r->pos);
		stat_add(&s->stats.records, got);
		stat_add(&s->stats.superpackets, supers);
		stat_add(&s->stats.bytes, bytes);
		stat_add(&s->stats.skips, skips);
		/* Nobody will release what holds no frame. */
		if (!s->held)
			gsotun_publish(q, GSOTUN_TO_USER, r->pos);
	}
	if (bad && !got)
		return gsotun_fail(q, -EBADMSG, "a record in the to_user ring makes no sense");
	return (int)got;
}

static int look(struct gsotun_queue *q)
{
	if (ring_update_producer(&q->side[GSOTUN_TO_USER].ring))
		return 0;
	return gsotun_fail(q, -EBADMSG, gsotun_bad_position);
}

int gsotun_peek(struct gsotun_queue *q, struct gsotun_frame *f, unsigned int n)
{
	struct gsotun_side *s = &q->side[GSOTUN_TO_USER];
	u32 space = s->frames - s->held;
	int gone, ret;

	if (s->quiesced)
		return -ESHUTDOWN;
	if (!n)
		return 0;
	if (!space)
		return -ENOBUFS;
	if (n > space)
		n = space;

	ret = look(q);
	if (!ret)
		ret = take(q, f, n);
	if (ret)
		return ret;

	/*
	 * Nothing. Leave word of how far this side has looked, so that a plain
	 * poll() loop sleeps; and what came before a detach must not be missed.
	 */
	gone = gsotun_status(q, GSOTUN_TO_USER);
	if (s->wait == s->ring.peer_pos && !gone)
		return 0;
	set_wait(s, s->ring.peer_pos);
	ret = look(q);
	if (!ret)
		ret = take(q, f, n);
	return ret ? ret : gone;
}

int gsotun_release(struct gsotun_queue *q, unsigned int n)
{
	struct gsotun_side *s = &q->side[GSOTUN_TO_USER];
	u32 to;

	if (n > s->held)
		return -EINVAL;
	if (!n)
		return (int)s->held;
	/* With the last frame go the skips after it. */
	to = n == s->held ? s->ring.pos : held_end(s, n - 1);
	s->first += n;
	core_store(&s->held, s->held - n);
	gsotun_publish(q, GSOTUN_TO_USER, to);
	return (int)s->held;
}

void gsotun_drop_claimed(struct gsotun_queue *q, u32 claim)
{
	struct gsotun_side *s = &q->side[GSOTUN_TO_USER];
	struct gsotun_ring *r = &s->ring;

	while (r->pos != claim) {
		const struct gsotun_record *rec = ring_at(r, r->pos);
		u32 span = record_span(r);

		/* Even the spans are gone: the claim still ends where it ends. */
		if (!span || span > claim - r->pos) {
			q->adopt_dropped++;
			r->pos = claim;
			break;
		}
		q->adopt_dropped += rec->type != GSOTUN_RECORD_SKIP;
		r->pos += span;
	}
	gsotun_publish(q, GSOTUN_TO_USER, claim);
}
