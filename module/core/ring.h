/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * ring.h - the ring protocol, one side of it: producer or consumer.
 *
 * Theory of operation
 *
 * A ring joins one producer and one consumer, one of them the kernel, the other
 * a daemon that is not trusted. Each writes a page of its own, whose first two
 * words are its position and its wait index, and reads the other's. struct
 * gsotun_ring is the private state of one side. It never takes a value back from
 * shared memory that it wrote there.
 *
 *	producer: reserve (move pos), fill, submit (publish pos)
 *	consumer: peek (move pos), read, release (publish)
 *
 *	published <= pos <= published + size	(mod 2^32, by subtraction)
 *	producer: peer_pos <= published, pos - peer_pos <= size
 *	consumer: peer_pos >= pos, peer_pos - published <= size
 *
 * The peer's position only moves forward and only within these bounds. A peer
 * that breaks this is found in ring_peer_update() before the value is used; the
 * caller then gives the ring up.
 *
 * Barriers. Each letter has a partner and a failure that it prevents:
 *
 *  A  consumer's position, load-acquire by the producer; pairs with D. Without
 *     it the producer may overwrite bytes that are still being read.
 *  B  producer's position, store-release; pairs with C. Without it the consumer
 *     may see the position before the record.
 *  C  producer's position, load-acquire by the consumer; pairs with B.
 *  D  consumer's position, store-release; pairs with A.
 *  E  full barrier between publishing a position and reading the other side's
 *     wait index; pairs with F. Without it both sides read old values: one
 *     sleeps, the other does not wake it.
 *  F  full barrier between publishing a wait index and reading the other side's
 *     position again; pairs with E.
 *  G  store barrier between advancing the claim and the first change of a
 *     claimed record; its partner is the death of the process, after which a
 *     successor reads the claim. Without it a half-encrypted record might look
 *     untouched.
 */
#ifndef GSOTUN_CORE_RING_H
#define GSOTUN_CORE_RING_H

#include "barrier.h"

#define RING_ALIGN	64u

/* First two words of every shared page. */
struct gsotun_ring_words {
	u32 pos;	/* prod or cons */
	u32 wait;	/* kick_at, seen or room_at */
};

/**
 * struct gsotun_ring - one side of one ring
 * @own: the page that this side writes
 * @peer: the page that the other side writes
 * @data: data area, mapped twice in a row
 * @size: bytes of the data area, a power of two
 * @pos: producer: end of what is reserved; consumer: end of what was peeked
 * @published: the position that the other side can see
 * @peer_pos: the other side's position, as last read and checked
 *
 * One caller at a time.
 */
struct gsotun_ring {
	struct gsotun_ring_words *own;
	const struct gsotun_ring_words *peer;
	u8 *data;
	u32 size;
	u32 pos;
	u32 published;
	u32 peer_pos;
};

static inline void *ring_at(const struct gsotun_ring *r, u32 pos)
{
	return r->data + (pos & (r->size - 1));
}

/* @at lies in (@from, @to]: what was waited for has been reached. */
static inline bool ring_crossed(u32 from, u32 to, u32 at)
{
	return to - at < to - from;
}

static inline u32 ring_span(u32 bytes)
{
	return (bytes + RING_ALIGN - 1) & ~(RING_ALIGN - 1);
}

/* Producer: bytes that are reserved or submitted and not yet released. */
static inline u32 ring_used(const struct gsotun_ring *r)
{
	return r->pos - r->peer_pos;
}

/* Producer: bytes that can be reserved, as far as is known without a look. */
static inline u32 ring_room(const struct gsotun_ring *r)
{
	return r->size - ring_used(r);
}

/* Consumer: bytes that can be peeked, as far as is known without a look. */
static inline u32 ring_ready(const struct gsotun_ring *r)
{
	return r->peer_pos - r->pos;
}

/**
 * ring_update_consumer - producer: read how far the consumer is
 * @r: ring
 *
 * Return: false if the consumer's position is impossible; it is not taken then.
 */
static inline bool ring_update_consumer(struct gsotun_ring *r)
{
	u32 cons = core_load_acquire(&r->peer->pos);	/* A */

	if (cons - r->peer_pos > r->published - r->peer_pos ||
	    cons % RING_ALIGN)
		return false;
	r->peer_pos = cons;
	return true;
}

/**
 * ring_update_producer - consumer: read how far the producer is
 * @r: ring
 *
 * Return: false if the producer's position is impossible; it is not taken then.
 */
static inline bool ring_update_producer(struct gsotun_ring *r)
{
	u32 prod = core_load_acquire(&r->peer->pos);	/* C */

	if (prod - r->published > r->size ||
	    prod - r->published < r->peer_pos - r->published ||
	    prod % RING_ALIGN)
		return false;
	r->peer_pos = prod;
	return true;
}

/**
 * ring_publish - submit or release up to @pos
 * @r: ring
 * @pos: new position, in (published, pos]
 *
 * Return: the position published before, for ring_crossed().
 */
static inline u32 ring_publish(struct gsotun_ring *r, u32 pos)
{
	u32 old = r->published;

	r->published = pos;
	core_store_release(&r->own->pos, pos);		/* B, D */
	return old;
}

/**
 * ring_peer_wait - the other side's wait index, after ring_publish()
 * @r: ring
 *
 * Not checked: compare it, do not index with it.
 */
static inline u32 ring_peer_wait(const struct gsotun_ring *r)
{
	core_full_barrier();				/* E */
	return core_load(&r->peer->wait);
}

/**
 * ring_wait_at - publish the position this side waits for
 * @r: ring
 * @at: position
 *
 * The caller must look at the other side's position once more before it sleeps.
 */
static inline void ring_wait_at(struct gsotun_ring *r, u32 at)
{
	core_store(&r->own->wait, at);
	core_full_barrier();				/* F */
}

/**
 * ring_wait_not - publish that this side does not wait
 * @r: ring
 * @from: the other side's position; it cannot cross what lies far behind
 *
 * Costs no barrier: a needless wake-up is allowed, a lost one is not. To be
 * repeated at least once in 2 GiB of traffic, else the index is met again.
 */
static inline void ring_wait_not(struct gsotun_ring *r, u32 from)
{
	core_store(&r->own->wait, from - 0x80000000u);
}

/* Consumer: up to @pos records may be altered in place from now on. */
static inline void ring_claim(u32 *claim, u32 pos)
{
	core_store(claim, pos);
	core_store_barrier();				/* G */
}

#endif /* GSOTUN_CORE_RING_H */
