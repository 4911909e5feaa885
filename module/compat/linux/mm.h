/* SPDX-License-Identifier: GPL-2.0 */
/* vm_flags_set() and vm_flags_clear() came with 6.3. */
#ifndef GSOTUN_COMPAT_LINUX_MM_H
#define GSOTUN_COMPAT_LINUX_MM_H

#include_next <linux/mm.h>

#ifndef GSOTUN_HAVE_VM_FLAGS_SET
static inline void vm_flags_set(struct vm_area_struct *vma, vm_flags_t flags)
{
	mmap_assert_write_locked(vma->vm_mm);
	vma->vm_flags |= flags;
}

static inline void vm_flags_clear(struct vm_area_struct *vma, vm_flags_t flags)
{
	mmap_assert_write_locked(vma->vm_mm);
	vma->vm_flags &= ~flags;
}
#endif

#endif /* GSOTUN_COMPAT_LINUX_MM_H */
