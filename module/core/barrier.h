/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * barrier.h - types and memory ordering for kernel and userspace alike.
 *
 * Nothing else in core/ may know on which side it is compiled. Which accesses
 * pair with which is said in ring.h; this file only names the primitives.
 */
#ifndef GSOTUN_CORE_BARRIER_H
#define GSOTUN_CORE_BARRIER_H

#ifdef __KERNEL__

#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/string.h>
#include <linux/types.h>
#include <asm/barrier.h>

#define core_load_acquire(p)		smp_load_acquire(p)	/* A, C in ring.h */
#define core_store_release(p, v)	smp_store_release(p, v)	/* B, D in ring.h */
#define core_load(p)			READ_ONCE(*(p))
#define core_store(p, v)		WRITE_ONCE(*(p), v)
#define core_full_barrier()		smp_mb()	/* E, F in ring.h */
#define core_store_barrier()		smp_wmb()	/* G in ring.h */

#else

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

#define core_load_acquire(p)		__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define core_store_release(p, v)	__atomic_store_n(p, v, __ATOMIC_RELEASE)
#define core_load(p)			__atomic_load_n(p, __ATOMIC_RELAXED)
#define core_store(p, v)		__atomic_store_n(p, v, __ATOMIC_RELAXED)
#define core_full_barrier()		__atomic_thread_fence(__ATOMIC_SEQ_CST)
#define core_store_barrier()		__atomic_thread_fence(__ATOMIC_RELEASE)

#endif

#endif /* GSOTUN_CORE_BARRIER_H */
