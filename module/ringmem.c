// SPDX-License-Identifier: GPL-2.0
/*
 * ringmem.c - the pages of a ring, and their mapping into kernel and process.
 *
 * Pages are of order 0, so that a large ring needs no contiguous memory, and are
 * charged to the process that attaches. The data area is listed twice in the
 * page array and mapped from it twice in a row, in the kernel and in a process,
 * so that no record ever wraps.
 *
 * A mapping holds its file, and the file holds this memory: close, detach and
 * the end of the device leave mapped pages alone.
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include <linux/gsotun.h>

#include "ringmem.h"

#define RINGMEM_GFP	(GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN | __GFP_RETRY_MAYFAIL)

static void free_pages_of(struct gsotun_ringmem *m, u32 n)
{
	while (n)
		__free_page(m->pages[--n]);
	kvfree(m->pages);
	m->pages = NULL;
}

static int alloc_pages_of(struct gsotun_ringmem *m, u32 n)
{
	u32 i;

	m->pages = kvcalloc(2 * (size_t)n, sizeof(*m->pages), GFP_KERNEL_ACCOUNT);
	if (!m->pages)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		/* Hundreds of megabytes may be asked for: let a kill end it. */
		if (fatal_signal_pending(current)) {
			free_pages_of(m, i);
			return -EINTR;
		}
		m->pages[i] = alloc_page(RINGMEM_GFP);
		if (!m->pages[i]) {
			free_pages_of(m, i);
			return -ENOMEM;
		}
		m->pages[n + i] = m->pages[i];
		cond_resched();
	}
	return 0;
}

int gsotun_ringmem_alloc(struct gsotun_ringmem *m, u32 bytes)
{
	u32 n = bytes >> PAGE_SHIFT;
	int err;

	err = alloc_pages_of(m, n);
	if (err)
		return err;
	err = -ENOMEM;
	m->data = vmap(m->pages, 2 * n, VM_MAP, PAGE_KERNEL);
	if (!m->data)
		goto err_pages;
	m->kernel = (void *)__get_free_page(RINGMEM_GFP);
	if (!m->kernel)
		goto err_data;
	m->daemon = (void *)__get_free_page(RINGMEM_GFP);
	if (!m->daemon)
		goto err_kernel;
	m->bytes = bytes;
	return 0;

err_kernel:
	free_page((unsigned long)m->kernel);
	m->kernel = NULL;
err_data:
	vunmap(m->data);
	m->data = NULL;
err_pages:
	free_pages_of(m, n);
	return err;
}

void gsotun_ringmem_free(struct gsotun_ringmem *m)
{
	if (!m->bytes)
		return;
	free_page((unsigned long)m->daemon);
	free_page((unsigned long)m->kernel);
	vunmap(m->data);
	free_pages_of(m, m->bytes >> PAGE_SHIFT);
	m->bytes = 0;
}

u64 gsotun_ringmem_length(const struct gsotun_ringmem *m, unsigned int region)
{
	return region == GSOTUN_REGION_DATA ? 2 * (u64)m->bytes : PAGE_SIZE;
}

int gsotun_ringmem_mmap(const struct gsotun_ringmem *m, unsigned int region,
			struct vm_area_struct *vma)
{
	unsigned long num = m->bytes >> PAGE_SHIFT << 1;

	/* A private mapping would be a copy that nobody else sees. */
	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	if (vma->vm_end - vma->vm_start != gsotun_ringmem_length(m, region))
		return -EINVAL;
	if (region == GSOTUN_REGION_KERNEL) {
		if (vma->vm_flags & VM_WRITE)
			return -EPERM;
		vm_flags_clear(vma, VM_MAYWRITE);
	}

	/*
	 * Not in a child: two processes at one ring corrupt it. Not grown: there
	 * is nothing behind. Not in a core dump: it is other people's traffic.
	 */
	vm_flags_set(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP);
	switch (region) {
	case GSOTUN_REGION_KERNEL:
		return vm_insert_page(vma, vma->vm_start, virt_to_page(m->kernel));
	case GSOTUN_REGION_DAEMON:
		return vm_insert_page(vma, vma->vm_start, virt_to_page(m->daemon));
	default:
		/* Ordinary pages, not PFNs, so that GUP works: MSG_ZEROCOPY, io_uring. */
		return vm_insert_pages(vma, vma->vm_start, m->pages, &num);
	}
}
