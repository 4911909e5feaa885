/* SPDX-License-Identifier: GPL-2.0 */
/* ringmem.h - the pages of a ring, and their mapping into kernel and process. */
#ifndef GSOTUN_RINGMEM_H
#define GSOTUN_RINGMEM_H

#include <linux/types.h>

struct page;
struct vm_area_struct;

/**
 * struct gsotun_ringmem - memory of one ring
 * @kernel: page that the kernel writes
 * @daemon: page that the daemon writes
 * @data: data area, mapped twice in a row
 * @pages: pages of the data area, listed twice
 * @bytes: size of the data area
 *
 * Belongs to the file that attached; lives until its last mapping is gone.
 */
struct gsotun_ringmem {
	void *kernel;
	void *daemon;
	u8 *data;
	struct page **pages;
	u32 bytes;
};

/**
 * gsotun_ringmem_alloc - allocate a ring
 * @m: ring memory, zeroed
 * @bytes: size of the data area, a power of two of at least a page
 *
 * Context: process; sleeps, and gives up when the process is killed.
 * Return: 0, -ENOMEM or -EINTR; on failure nothing is held.
 */
int gsotun_ringmem_alloc(struct gsotun_ringmem *m, u32 bytes);

/* Context: process. A ring that was never allocated is fine. */
void gsotun_ringmem_free(struct gsotun_ringmem *m);

/* Length of a region (GSOTUN_REGION_*) in bytes. */
u64 gsotun_ringmem_length(const struct gsotun_ringmem *m, unsigned int region);

/**
 * gsotun_ringmem_mmap - map one region into a process
 * @m: ring memory
 * @region: GSOTUN_REGION_*
 * @vma: as given to mmap()
 *
 * Context: process, mmap_lock held for writing.
 * Return: 0 or -errno for mmap().
 */
int gsotun_ringmem_mmap(const struct gsotun_ringmem *m, unsigned int region,
			struct vm_area_struct *vma);

#endif /* GSOTUN_RINGMEM_H */
