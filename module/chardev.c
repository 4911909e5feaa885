// SPDX-License-Identifier: GPL-2.0
/*
 * chardev.c - /dev/net/gsotun: attach, map, wait, kick.
 *
 * A file attaches once. Its ring memory is allocated before RTNL is taken, and
 * freed when the last descriptor and the last mapping are gone: every mapping
 * holds the file. mmap() runs under mmap_lock and takes no lock of ours: it sees
 * the memory once the state says so.
 */
#include <linux/anon_inodes.h>
#include <linux/fs.h>
#include <linux/log2.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mount.h>
#include <linux/nospec.h>
#include <linux/nsproxy.h>
#include <linux/poll.h>
#include <linux/pseudo_fs.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <net/net_namespace.h>

#include "chardev.h"
#include "device.h"
#include "queue.h"
#include "receive.h"
#include "xmit.h"

/* Regions lie far apart, so that no mapping can reach from one into another. */
#define REGION_SHIFT	32

#define VNET_LEN_DEFAULT	12

/* ---- an inode of our own ------------------------------------------------------ */

/*
 * Long-term pins of shared mappings are refused for files of a file system that
 * writes back, and the node may lie on one. So each file gets the mapping of an
 * anonymous inode. The file system is pinned by open files only, which leaves
 * the module free to go when there are none.
 */
#define GSOTUN_FS_MAGIC	0x6773746e	/* "gstn" */

static struct vfsmount *fs_mount;
static int fs_pins;

static int fs_init_context(struct fs_context *fc)
{
	return init_pseudo(fc, GSOTUN_FS_MAGIC) ? 0 : -ENOMEM;
}

static struct file_system_type gsotun_fs = {
	.name = "gsotun",
	.owner = THIS_MODULE,
	.init_fs_context = fs_init_context,
	.kill_sb = kill_anon_super,
};

static struct inode *get_inode(void)
{
	struct inode *inode;
	int err;

	err = simple_pin_fs(&gsotun_fs, &fs_mount, &fs_pins);
	if (err)
		return ERR_PTR(err);
	inode = alloc_anon_inode(fs_mount->mnt_sb);
	if (IS_ERR(inode))
		simple_release_fs(&fs_mount, &fs_pins);
	return inode;
}

static void put_inode(struct inode *inode)
{
	iput(inode);
	simple_release_fs(&fs_mount, &fs_pins);
}

/* ---- open and close ------------------------------------------------------------ */

/* A ring was found corrupt where RTNL could not be taken. */
static void broken_work(struct work_struct *work)
{
	struct gsotun_file *f = container_of(work, struct gsotun_file, broken);
	struct gsotun_queue *q;

	rtnl_lock();
	q = rtnl_dereference(f->queue);
	if (q)
		gsotun_dev_unbind(q);
	rtnl_unlock();
}

static int gsotun_fop_open(struct inode *inode, struct file *filp)
{
	struct gsotun_file *f;

	f = kzalloc(sizeof(*f), GFP_KERNEL_ACCOUNT);
	if (!f)
		return -ENOMEM;
	f->inode = get_inode();
	if (IS_ERR(f->inode)) {
		int err = PTR_ERR(f->inode);

		kfree(f);
		return err;
	}
	init_waitqueue_head(&f->wait);
	mutex_init(&f->lock);
	INIT_WORK(&f->broken, broken_work);
	f->net = get_net(current->nsproxy->net_ns);
	filp->f_mapping = f->inode->i_mapping;
	filp->private_data = f;
	return nonseekable_open(inode, filp);
}

static void free_rings(struct gsotun_file *f)
{
	gsotun_ringmem_free(&f->mem[GSOTUN_TO_USER]);
	gsotun_ringmem_free(&f->mem[GSOTUN_FROM_USER]);
	if (f->quota)
		gsotun_quota_put(f->quota, f->charged);
	f->quota = NULL;
	f->charged = 0;
}

static int gsotun_fop_release(struct inode *inode, struct file *filp)
{
	struct gsotun_file *f = filp->private_data;
	struct gsotun_queue *q;

	rtnl_lock();
	q = rtnl_dereference(f->queue);
	if (q)
		gsotun_dev_unbind(q);
	rtnl_unlock();
	/* Detached: nobody starts it any more. */
	cancel_work_sync(&f->broken);

	free_rings(f);
	if (f->net)
		put_net(f->net);
	put_inode(f->inode);
	kfree(f);
	return 0;
}

/* ---- attach -------------------------------------------------------------------- */

/* Refuse, and say why. */
static int refuse(struct gsotun_attach *a, int err, const char *why)
{
	strscpy(a->message, why, sizeof(a->message));
	return err;
}

static bool is_zero(const void *p, size_t n)
{
	return !memchr_inv(p, 0, n);
}

static int check_layout(struct gsotun_attach *a)
{
	int i;

	for (i = 0; i < 2; i++) {
		const struct gsotun_layout *l = &a->layout[i];

		if (l->type == GSOTUN_LAYOUT_TRAIN)
			return refuse(a, -EOPNOTSUPP, "this version has no trains");
		if (!is_zero(l, sizeof(*l)))
			return refuse(a, -EINVAL,
				      "layout: type not known, or fields that belong to trains");
	}
	return 0;
}

static int check_offloads(struct gsotun_attach *a)
{
	int i;

	for (i = 0; i < 2; i++) {
		u64 o = a->offloads[i];

		if (o & ~GSOTUN_OFFLOADS_KNOWN)
			return refuse(a, -EINVAL, "offloads: unknown bits");
		if (o & ~GSOTUN_OFFLOADS_SUPPORTED)
			return refuse(a, -EOPNOTSUPP,
				      "offloads: UDP tunnels and BIG TCP are not supported");
		if (o & ~GSOTUN_OFFLOAD_CSUM && !(o & GSOTUN_OFFLOAD_CSUM))
			return refuse(a, -EINVAL, "offloads: TSO and USO need CSUM");
		if (o & GSOTUN_OFFLOAD_TSO_ECN &&
		    !(o & (GSOTUN_OFFLOAD_TSO4 | GSOTUN_OFFLOAD_TSO6)))
			return refuse(a, -EINVAL, "offloads: TSO_ECN needs TSO4 or TSO6");
	}
	return 0;
}

static int check_ring(struct gsotun_attach *a, int dir)
{
	u32 bytes = a->ring_bytes[dir];

	if (!is_power_of_2(bytes))
		return refuse(a, -EINVAL, "ring_bytes must be a power of two");
	if (bytes < GSOTUN_RING_BYTES_MIN)
		return refuse(a, -EINVAL,
			      "ring_bytes: a record may take a quarter of a ring; use at least 524288");
	if (bytes > GSOTUN_RING_BYTES_MAX)
		return refuse(a, -EINVAL, "ring_bytes: at most 268435456");
	return 0;
}

/* What needs no device; and defaults. */
static int check_args(struct gsotun_attach *a)
{
	int err;

	if (a->flags & ~GSOTUN_ATTACH_NETNS_FD)
		return refuse(a, -EINVAL, "flags: unknown bits");
	if (!(a->flags & GSOTUN_ATTACH_NETNS_FD) && a->netns_fd)
		return refuse(a, -EINVAL, "netns_fd without GSOTUN_ATTACH_NETNS_FD");
	if (a->resv)
		return refuse(a, -EINVAL, "resv must be 0");
	if (!a->vnet_len)
		a->vnet_len = VNET_LEN_DEFAULT;
	if (a->vnet_len != 10 && a->vnet_len != 12 && a->vnet_len != 20 && a->vnet_len != 24)
		return refuse(a, -EINVAL, "vnet_len must be 10, 12, 20 or 24");
	err = check_offloads(a);
	if (err)
		return err;
	return check_layout(a);
}

/* Ring sizes and limit, once the device's defaults are known. */
static int check_sizes(struct gsotun_attach *a)
{
	int err;

	err = check_ring(a, GSOTUN_TO_USER);
	if (err)
		return err;
	err = check_ring(a, GSOTUN_FROM_USER);
	if (err)
		return err;
	if (!a->fill_limit)
		a->fill_limit = a->ring_bytes[GSOTUN_TO_USER] / 2;
	if (a->fill_limit > a->ring_bytes[GSOTUN_TO_USER])
		return refuse(a, -EINVAL, "fill_limit is more than the to_user ring holds");
	return 0;
}

static void set_regions(struct gsotun_file *f, struct gsotun_attach *a)
{
	u32 i;

	for (i = 0; i < 2 * GSOTUN_REGIONS; i++) {
		a->region[i].offset = (u64)i << REGION_SHIFT;
		a->region[i].length = gsotun_ringmem_length(&f->mem[i / GSOTUN_REGIONS],
							    i % GSOTUN_REGIONS);
	}
}

static int alloc_rings(struct gsotun_file *f, struct gsotun_attach *a)
{
	u64 bytes = (u64)a->ring_bytes[GSOTUN_TO_USER] + a->ring_bytes[GSOTUN_FROM_USER];
	int dir, err;

	if (!gsotun_quota_charge(f->quota, bytes))
		return refuse(a, -ENOBUFS,
			      "over the limit of ring memory of a device: see ring_limit of the module");
	f->charged = bytes;
	for (dir = 0; dir < 2; dir++) {
		err = gsotun_ringmem_alloc(&f->mem[dir], a->ring_bytes[dir]);
		if (err)
			return refuse(a, err, "no memory for the rings");
	}
	return 0;
}

/* Find the device, ask whether the caller may. Context: RCU. */
static struct gsotun_dev *look_up(struct net *net, struct gsotun_attach *a)
{
	struct gsotun_dev *gd = gsotun_dev_get(net, a->ifindex);

	if (!gd)
		return ERR_PTR(refuse(a, -ENODEV, "no gsotun device of that index"));
	if (!gsotun_dev_may_attach(gd))
		return ERR_PTR(refuse(a, -EACCES,
				      "neither owner nor group of the device, nor CAP_NET_ADMIN"));
	return gd;
}

/*
 * A first look, before memory is spent on somebody who may not have it. Leaves
 * the file with a reference to what its memory is to be charged to.
 */
static int first_look(struct gsotun_file *f, struct net *net, struct gsotun_attach *a)
{
	struct gsotun_dev *gd;
	int err;

	rcu_read_lock();
	gd = look_up(net, a);
	err = PTR_ERR_OR_ZERO(gd);
	if (!err) {
		if (!a->ring_bytes[GSOTUN_TO_USER])
			a->ring_bytes[GSOTUN_TO_USER] = READ_ONCE(gd->ring_bytes[GSOTUN_TO_USER]);
		if (!a->ring_bytes[GSOTUN_FROM_USER])
			a->ring_bytes[GSOTUN_FROM_USER] =
				READ_ONCE(gd->ring_bytes[GSOTUN_FROM_USER]);
		f->quota = gsotun_quota_get(gd->quota);
	}
	rcu_read_unlock();
	return err;
}

static int bind(struct gsotun_file *f, struct net *net, struct gsotun_attach *a)
{
	const char *why = "";
	struct gsotun_dev *gd;
	int err;

	err = rtnl_lock_killable();
	if (err)
		return err;
	rcu_read_lock();
	gd = look_up(net, a);
	rcu_read_unlock();
	err = PTR_ERR_OR_ZERO(gd);
	/* The index may have gone to another device since the first look. */
	if (!err && gd->quota != f->quota)
		err = refuse(a, -ENODEV, "the device went away");
	if (!err) {
		a->num_queues = gd->dev->num_tx_queues;
		f->granted = *a;
		err = gsotun_dev_bind(gd, f, a->queue, &why);
		if (err)
			refuse(a, err, why);
	}
	rtnl_unlock();
	return err;
}

static int attach_locked(struct gsotun_file *f, struct net *net, struct gsotun_attach *a)
{
	int err;

	if (f->state == GSOTUN_STATE_ATTACHED)
		return refuse(a, -EBUSY, "this file is attached already");
	if (f->state == GSOTUN_STATE_DETACHED)
		return refuse(a, -ESTALE, "this file was attached before: open a new one");
	err = check_args(a);
	if (err)
		return err;
	err = first_look(f, net, a);
	if (err)
		return err;
	err = check_sizes(a);
	if (err)
		goto err_rings;
	err = alloc_rings(f, a);
	if (err)
		goto err_rings;
	set_regions(f, a);
	err = bind(f, net, a);
	if (err)
		goto err_rings;
	return 0;

err_rings:
	free_rings(f);
	return err;
}

/* Outputs of a former call may come back as inputs of the next: not looked at. */
static void clear_outputs(struct gsotun_attach *a)
{
	const size_t first = offsetof(struct gsotun_attach, abi);

	memset((u8 *)a + first, 0, sizeof(*a) - first);
	a->abi = GSOTUN_ABI;
	a->supported[GSOTUN_TO_USER] = GSOTUN_OFFLOADS_SUPPORTED;
	a->supported[GSOTUN_FROM_USER] = GSOTUN_OFFLOADS_SUPPORTED;
}

/*
 * Where the rings stand, as the kernel sees it: what a daemon published and the
 * kernel has not looked at yet does not count. 0 once the queue is gone.
 */
static void answer_now(struct gsotun_file *f, struct gsotun_attach *a)
{
	struct gsotun_queue *q;

	rcu_read_lock();
	q = rcu_dereference(f->queue);
	a->state = q ? GSOTUN_STATE_ATTACHED : GSOTUN_STATE_DETACHED;
	a->ifindex = q ? READ_ONCE(q->dev->ifindex) : 0;
	if (q) {
		a->prod[GSOTUN_TO_USER] = READ_ONCE(q->to_user.ring.published);
		a->cons[GSOTUN_TO_USER] = READ_ONCE(q->to_user.ring.peer_pos);
		a->prod[GSOTUN_FROM_USER] = READ_ONCE(q->from_user.ring.peer_pos);
		a->cons[GSOTUN_FROM_USER] = READ_ONCE(q->from_user.ring.published);
	}
	rcu_read_unlock();
}

static struct net *attach_net(struct gsotun_file *f, const struct gsotun_attach *a)
{
	if (a->flags & GSOTUN_ATTACH_NETNS_FD)
		return get_net_ns_by_fd(a->netns_fd);
	return f->net ? get_net(f->net) : ERR_PTR(-ESTALE);
}

static int attach(struct gsotun_file *f, struct gsotun_attach *a)
{
	struct net *net;
	int err;

	err = mutex_lock_killable(&f->lock);
	if (err)
		return err;
	net = attach_net(f, a);
	if (IS_ERR(net) && f->state == GSOTUN_STATE_NONE) {
		err = refuse(a, PTR_ERR(net), "netns_fd is not a network namespace");
		goto unlock;
	}
	err = attach_locked(f, net, a);
	if (!IS_ERR(net))
		put_net(net);
	if (err)
		goto unlock;
	/* From here on the device's fate decides; a held namespace could not go. */
	put_net(f->net);
	f->net = NULL;
	*a = f->granted;
	answer_now(f, a);
unlock:
	mutex_unlock(&f->lock);
	return err;
}

static int get_arg(struct gsotun_attach *a, void __user *arg, u32 *usize)
{
	if (get_user(*usize, (u32 __user *)arg))
		return -EFAULT;
	if (*usize < GSOTUN_ATTACH_SIZE_VER0)
		return -EINVAL;
	/* Gigabytes of zeros would be searched to the end, deaf to signals. */
	if (*usize > PAGE_SIZE)
		return -E2BIG;
	return copy_struct_from_user(a, sizeof(*a), arg, *usize);
}

static int put_arg(struct gsotun_attach *a, void __user *arg, u32 usize)
{
	a->size = sizeof(*a);
	return copy_to_user(arg, a, min_t(size_t, usize, sizeof(*a))) ? -EFAULT : 0;
}

static long ioctl_attach(struct gsotun_file *f, void __user *arg)
{
	struct gsotun_attach a;
	u32 usize;
	int err;

	err = get_arg(&a, arg, &usize);
	if (err)
		return err;
	clear_outputs(&a);
	err = attach(f, &a);
	if (put_arg(&a, arg, usize)) {
		/* Nobody knows what was granted: take it back. */
		if (!err)
			broken_work(&f->broken);
		return -EFAULT;
	}
	return err;
}

static long ioctl_query(struct gsotun_file *f, void __user *arg)
{
	struct gsotun_attach a;
	u32 usize;
	int err;

	err = get_arg(&a, arg, &usize);
	if (err)
		return err;
	if (core_load_acquire(&f->state) == GSOTUN_STATE_NONE) {
		memset(&a, 0, sizeof(a));
		clear_outputs(&a);
	} else {
		a = f->granted;
		answer_now(f, &a);
	}
	return put_arg(&a, arg, usize);
}

/* ---- run ------------------------------------------------------------------------ */

static long ioctl_kick(struct gsotun_file *f, unsigned long what)
{
	struct gsotun_queue *q;

	if (what & ~(unsigned long)(GSOTUN_KICK_TO_USER | GSOTUN_KICK_FROM_USER))
		return -EINVAL;
	rcu_read_lock();
	q = rcu_dereference(f->queue);
	if (!q) {
		rcu_read_unlock();
		return -ENOTCONN;
	}
	if (what & GSOTUN_KICK_TO_USER) {
		atomic64_inc(&q->to_user.counters.kicks);
		gsotun_xmit_kick(q);
	}
	if (what & GSOTUN_KICK_FROM_USER) {
		atomic64_inc(&q->from_user.counters.kicks);
		gsotun_receive_kick(q);
	}
	rcu_read_unlock();
	return 0;
}

static long gsotun_fop_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	struct gsotun_file *f = filp->private_data;

	switch (cmd) {
	case GSOTUN_KICK:
		return ioctl_kick(f, arg);
	case GSOTUN_ATTACH:
		return ioctl_attach(f, (void __user *)arg);
	case GSOTUN_QUERY:
		return ioctl_query(f, (void __user *)arg);
	}
	return -ENOTTY;
}

/*
 * The daemon's words can be anything; they only decide what its own poll() says.
 * Going to sleep here includes the kick, for loops that do not know better.
 *
 * A wake-up is not lost: whoever publishes compares its position with the wait
 * index after a full barrier (E), and takes the lock of the wait queue if it is
 * crossed. poll_wait() took that lock before we look.
 */
static __poll_t gsotun_fop_poll(struct file *filp, poll_table *wait)
{
	struct gsotun_file *f = filp->private_data;
	const struct gsotun_to_user_kernel *to;
	const struct gsotun_to_user_daemon *to_d;
	const struct gsotun_from_user_kernel *from;
	const struct gsotun_from_user_daemon *from_d;
	struct gsotun_queue *q;
	__poll_t events = 0;

	poll_wait(filp, &f->wait, wait);
	if (core_load_acquire(&f->state) != GSOTUN_STATE_ATTACHED)
		return EPOLLERR | EPOLLHUP;
	to = f->mem[GSOTUN_TO_USER].kernel;
	to_d = f->mem[GSOTUN_TO_USER].daemon;
	from = f->mem[GSOTUN_FROM_USER].kernel;
	from_d = f->mem[GSOTUN_FROM_USER].daemon;

	rcu_read_lock();
	q = rcu_dereference(f->queue);
	if (q) {
		gsotun_xmit_poll(q);
		if (core_load(&from_d->prod) != core_load(&from->cons))
			gsotun_receive_kick(q);
	}
	rcu_read_unlock();

	if (core_load(&to->prod) != core_load(&to_d->seen))
		events |= EPOLLIN | EPOLLRDNORM;
	if ((s32)(core_load(&from->cons) - core_load(&from_d->room_at)) >= 0)
		events |= EPOLLOUT | EPOLLWRNORM;
	return events;
}

static int gsotun_fop_mmap(struct file *filp, struct vm_area_struct *vma)
{
	struct gsotun_file *f = filp->private_data;
	u64 offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
	u64 region = offset >> REGION_SHIFT;

	if (core_load_acquire(&f->state) == GSOTUN_STATE_NONE)
		return -ENOTCONN;
	if (region >= 2 * GSOTUN_REGIONS || offset != region << REGION_SHIFT)
		return -EINVAL;
	region = array_index_nospec(region, 2 * GSOTUN_REGIONS);
	return gsotun_ringmem_mmap(&f->mem[region / GSOTUN_REGIONS], region % GSOTUN_REGIONS, vma);
}

static const struct file_operations gsotun_fops = {
	.owner = THIS_MODULE,
	.open = gsotun_fop_open,
	.release = gsotun_fop_release,
	.unlocked_ioctl = gsotun_fop_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.poll = gsotun_fop_poll,
	.mmap = gsotun_fop_mmap,
};

static struct miscdevice gsotun_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "gsotun",
	.nodename = "net/gsotun",
	.mode = 0666,
	.fops = &gsotun_fops,
};

int gsotun_chardev_init(void)
{
	static_assert(sizeof(struct gsotun_record) == 44);
	static_assert(sizeof(struct gsotun_attach) == GSOTUN_ATTACH_SIZE_VER0);

	return misc_register(&gsotun_misc);
}

void gsotun_chardev_exit(void)
{
	misc_deregister(&gsotun_misc);
}
