/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/*
 * gsotun.h - the kernel interface of gsotun, and its manual.
 *
 * A gsotun device is a virtual L3 network device (link kind "gsotun") whose
 * packets a daemon exchanges with the IP stack through shared memory.
 *
 *	create	 rtnetlink, RTM_NEWLINK with kind "gsotun" and IFLA_GSOTUN_*
 *	attach	 open("/dev/net/gsotun"), ioctl(GSOTUN_ATTACH): binds the file to
 *		 one queue of the device, allocates its two rings
 *	map	 mmap() of the regions that GSOTUN_ATTACH reports
 *	run	 read and write records; poll() or epoll to wait, ioctl(GSOTUN_KICK)
 *		 when the kernel asked for it
 *	detach	 close() of the last descriptor and munmap() of the last mapping
 *	watch	 generic netlink, family "gsotun"
 *
 * Conventions: every word is naturally aligned and in host byte order, but for
 * the virtio_net_hdr, which is little-endian (virtio 1). Sizes are in bytes.
 * There are no bit fields, enums or unions in shared memory. A structure only
 * grows at its end. Unknown flags and reserved words must be zero: the kernel
 * answers EINVAL (or E2BIG for an unknown tail) instead of guessing.
 */
#ifndef _UAPI_LINUX_GSOTUN_H
#define _UAPI_LINUX_GSOTUN_H

#include <linux/types.h>
#include <linux/ioctl.h>

#define GSOTUN_ABI		1

#define GSOTUN_MAX_QUEUES	64

/* Index of every two-element array below, and of struct gsotun_attach.region. */
#define GSOTUN_TO_USER		0	/* the stack transmits, the daemon reads */
#define GSOTUN_FROM_USER	1	/* the daemon injects, the stack receives */

/* ---- rings ---------------------------------------------------------------
 *
 * A ring is a byte ring of a power-of-two size. Positions are free-running
 * u32 byte counts; `position & (size - 1)` is the offset in the data area. The
 * data area is mapped twice in a row, so a record never wraps. All positions
 * are multiples of GSOTUN_RECORD_ALIGN.
 *
 * Each ring has a page that only the kernel writes (mapped read-only) and a
 * page that only the daemon writes. A position is published with release and
 * read with acquire semantics. Documentation/ring-protocol.rst names every
 * barrier and its partner.
 *
 * Waiting is by event index: the waiter publishes the position it waits for,
 * issues a full barrier and looks again before it sleeps; the other side
 * publishes its position, issues a full barrier and compares. A side that does
 * not wait never causes a system call or a wake-up.
 *
 * "Position @at is crossed" when a position moves from @from to @to and
 * @at lies in (@from, @to]:
 *
 *	(__u32)(to - at) < (__u32)(to - from)
 */
#define GSOTUN_RECORD_ALIGN	64

/* status: what became of the queue, in both kernel pages. */
#define GSOTUN_STATUS_UP	(1u << 0)	/* the device is administratively up */
#define GSOTUN_STATUS_DETACHED	(1u << 1)	/* nothing more comes or goes: close the file */
#define GSOTUN_STATUS_CORRUPT	(1u << 2)	/* detached because the daemon broke a ring */

/**
 * struct gsotun_to_user_kernel - to_user ring, written by the kernel
 * @prod: records up to here may be read
 * @kick_at: when @cons crosses it, call GSOTUN_KICK with GSOTUN_KICK_TO_USER
 * @status: GSOTUN_STATUS_*
 * @generation: number of this attachment of the queue; never 0
 * @resv: zero
 */
struct gsotun_to_user_kernel {
	__u32 prod;
	__u32 kick_at;
	__u32 status;
	__u32 generation;
	__u32 resv[12];
};

/**
 * struct gsotun_to_user_daemon - to_user ring, written by the daemon
 * @cons: records before it are released, their bytes belong to the kernel again
 * @seen: the @prod up to which the daemon has looked; poll() reports EPOLLIN
 *	while prod != seen, and the kernel wakes the sleeper when prod leaves it
 * @flags: GSOTUN_DAEMON_*
 * @claim: records in [cons, claim) may have been altered in place. Advance it,
 *	then issue a store barrier, before the first change of a record. A
 *	successor that adopts the file drops and counts them
 * @resv: zero
 */
struct gsotun_to_user_daemon {
	__u32 cons;
	__u32 seen;
	__u32 flags;
	__u32 claim;
	__u32 resv[12];
};

/**
 * struct gsotun_from_user_kernel - from_user ring, written by the kernel
 * @cons: records before it are consumed, their bytes belong to the daemon again
 * @kick_at: when @prod crosses it, call GSOTUN_KICK with GSOTUN_KICK_FROM_USER
 * @status: GSOTUN_STATUS_*
 * @generation: number of this attachment of the queue; never 0
 * @resv: zero
 */
struct gsotun_from_user_kernel {
	__u32 cons;
	__u32 kick_at;
	__u32 status;
	__u32 generation;
	__u32 resv[12];
};

/**
 * struct gsotun_from_user_daemon - from_user ring, written by the daemon
 * @prod: records up to here are submitted
 * @room_at: the @cons the daemon waits for; poll() reports EPOLLOUT once cons
 *	has reached it, and the kernel wakes the sleeper when cons crosses it
 * @flags: GSOTUN_DAEMON_*
 * @resv: zero
 */
struct gsotun_from_user_daemon {
	__u32 prod;
	__u32 room_at;
	__u32 flags;
	__u32 resv[13];
};

/* Do not wake on this ring. Off at attach, so that a plain poll() loop works. */
#define GSOTUN_DAEMON_NO_WAKE	(1u << 0)

/* ---- records ------------------------------------------------------------- */

#define GSOTUN_RECORD_SKIP	0	/* nothing; only span counts */
#define GSOTUN_RECORD_PACKET	1	/* one IP packet, perhaps a superpacket */
#define GSOTUN_RECORD_TRAIN	2	/* nsegs packets at a fixed stride */

/* from_user train: the contents are authenticated, do not verify checksums. */
#define GSOTUN_RECORD_F_DATA_VALID	(1u << 0)
/* to_user packet above 65,535 bytes: lengths in its IP header are 0, len is right. */
#define GSOTUN_RECORD_F_BIG		(1u << 1)

/**
 * struct gsotun_record - header of a record, at a multiple of GSOTUN_RECORD_ALIGN
 * @span: distance to the next record, a multiple of GSOTUN_RECORD_ALIGN; may be
 *	more than the content needs
 * @len: bytes of content from data_off. Packet: the length of the IP packet.
 *	Train: (nsegs - 1) * stride + last_padded
 * @type: GSOTUN_RECORD_*
 * @flags: GSOTUN_RECORD_F_*
 * @data_off: first byte of the (first) IP packet, from the start of the record;
 *	no alignment is assumed
 * @vnet_len: bytes of the virtio_net_hdr that follows this header, as attached
 * @table_off: from_user train: offset of a table of nsegs u16 in units of 64
 *	bytes: the true IP length of each segment, 0 for a void one
 * @nsegs: train: number of segments
 * @headroom: to_user train: writable bytes before every segment
 * @resv: zero
 * @stride: train: distance of segments
 * @seg_len: train: IP length of every segment but the last
 * @seg_padded: train: the same with padding
 * @last_len: train: IP length of the last segment
 * @last_padded: train: the same with padding
 * @hash: to_user: flow hash, 0 if not known; a hint for sharding, not an identity
 * @mark: to_user: the skb's mark. from_user: mark for the skb; must be 0 unless
 *	the queue was attached with CAP_NET_ADMIN
 *
 * The virtio_net_hdr follows at once. Its offsets count from the first byte of
 * the IP header. to_user: hdr_len is the true length of the IP and transport headers
 * of a superpacket, and 0 for other packets.
 * from_user: the header is read once; whatever happens to the memory later
 * cannot change what was checked.
 */
struct gsotun_record {
	__u32 span;
	__u32 len;
	__u16 type;
	__u16 flags;
	__u16 data_off;
	__u16 vnet_len;
	__u16 table_off;
	__u16 nsegs;
	__u16 headroom;
	__u16 resv;
	__u32 stride;
	__u16 seg_len;
	__u16 seg_padded;
	__u16 last_len;
	__u16 last_padded;
	__u32 hash;
	__u32 mark;
};

/* ---- attach -------------------------------------------------------------- */

/* What a side can take. to_user: what the daemon accepts. from_user: what it may send. */
#define GSOTUN_OFFLOAD_CSUM		(1ull << 0)	/* partial checksums (NEEDS_CSUM) */
#define GSOTUN_OFFLOAD_TSO4		(1ull << 1)	/* needs CSUM */
#define GSOTUN_OFFLOAD_TSO6		(1ull << 2)	/* needs CSUM */
#define GSOTUN_OFFLOAD_TSO_ECN		(1ull << 3)	/* needs TSO4 or TSO6 */
#define GSOTUN_OFFLOAD_USO		(1ull << 4)	/* UDP_L4, IPv4 and IPv6; needs CSUM */
#define GSOTUN_OFFLOAD_UDP_TUNNEL	(1ull << 5)	/* needs vnet_len 24 */
#define GSOTUN_OFFLOAD_UDP_TUNNEL_CSUM	(1ull << 6)	/* needs UDP_TUNNEL */
#define GSOTUN_OFFLOAD_BIG_TCP		(1ull << 7)	/* to_user only */

#define GSOTUN_LAYOUT_SUPER	0	/* packets as the stack has them */
#define GSOTUN_LAYOUT_TRAIN	1	/* segments, ready to be encrypted in place */

/**
 * struct gsotun_layout - how packets lie in the records of one ring
 * @type: GSOTUN_LAYOUT_*; for GSOTUN_LAYOUT_SUPER the rest must be 0
 * @headroom: bytes before every segment
 * @tailroom: bytes after every segment and its padding
 * @pad_to: pad segments to a multiple of it; 0 and 1: no padding
 * @pad_extra: bytes that count as content when padding
 * @pad_cap: never pad beyond it; 0: no cap
 * @stride_align: the stride is a multiple of it; 0 and 1: any
 * @max_segs: most segments in a train, 1..128; 0: 64
 * @max_train_bytes: most bytes of a train; 0: 65,507
 * @resv: zero
 */
struct gsotun_layout {
	__u16 type;
	__u16 headroom;
	__u16 tailroom;
	__u16 pad_to;
	__u16 pad_extra;
	__u16 pad_cap;
	__u16 stride_align;
	__u16 max_segs;
	__u32 max_train_bytes;
	__u32 resv;
};

/**
 * struct gsotun_region - one memory region of an attached file
 * @offset: offset to pass to mmap()
 * @length: length to pass to mmap(), all of it; 2 * ring_bytes for a data area
 */
struct gsotun_region {
	__u64 offset;
	__u64 length;
};

/* Index into struct gsotun_attach.region, plus GSOTUN_REGIONS for from_user. */
#define GSOTUN_REGION_KERNEL	0	/* page written by the kernel; map PROT_READ */
#define GSOTUN_REGION_DAEMON	1	/* page written by the daemon */
#define GSOTUN_REGION_DATA	2	/* data area, twice in a row */
#define GSOTUN_REGIONS		3

#define GSOTUN_QUEUE_ANY	0xffffffffu

/* flags of struct gsotun_attach */
#define GSOTUN_ATTACH_NETNS_FD	(1u << 0)	/* netns_fd is valid */

#define GSOTUN_STATE_NONE	0	/* never attached */
#define GSOTUN_STATE_ATTACHED	1
#define GSOTUN_STATE_DETACHED	2	/* was attached; such a file cannot attach again */

#define GSOTUN_MESSAGE_MAX	128

/**
 * struct gsotun_attach - argument of GSOTUN_ATTACH and GSOTUN_QUERY
 * @size: in: sizeof(struct gsotun_attach) as the caller knows it
 * @flags: in: GSOTUN_ATTACH_*
 * @ifindex: in: the device, in the network namespace in which the file was
 *	opened, or in netns_fd. out: its index in the namespace where it lives now
 * @queue: in: 0..63 or GSOTUN_QUEUE_ANY. out: the queue
 * @netns_fd: in: a network namespace, if GSOTUN_ATTACH_NETNS_FD; else 0
 * @vnet_len: in: length of the virtio_net_hdr, 10, 12, 20 or 24; 0 means 12.
 *	out: the length in use
 * @offloads: in: GSOTUN_OFFLOAD_* wanted for each direction; one that this
 *	kernel lacks is refused with EOPNOTSUPP. out: granted
 * @ring_bytes: in: a power of two, or 0 for the device's default. out: granted
 * @fill_limit: in: most bytes that may stand in the to_user ring before the
 *	queue is stopped and packets wait in the qdisc; 0: half of the ring.
 *	out: the limit in use. Choose rate * latency
 * @resv: in: zero
 * @layout: in: layout of each ring. out: with the defaults filled in
 * @abi: out: GSOTUN_ABI of the kernel
 * @state: out: GSOTUN_STATE_*
 * @generation: out: number of this attachment of the queue
 * @num_queues: out: queues of the device
 * @region: out: what to map; [GSOTUN_REGIONS * direction + GSOTUN_REGION_*]
 * @prod: out: producer position of each ring as the kernel last saw it; 0 when
 *	detached
 * @cons: out: the same of the consumer position
 * @supported: out: GSOTUN_OFFLOAD_* that this kernel can do, each direction
 * @message: out: why the call failed, a sentence; empty on success
 *
 * GSOTUN_ATTACH allocates and binds. GSOTUN_QUERY fills in the same answer for
 * whoever inherited the file; on a file that was never attached it gives abi,
 * state and supported.
 */
struct gsotun_attach {
	__u32 size;
	__u32 flags;
	__u32 ifindex;
	__u32 queue;
	__s32 netns_fd;
	__u32 vnet_len;
	__u64 offloads[2];
	__u32 ring_bytes[2];
	__u32 fill_limit;
	__u32 resv;
	struct gsotun_layout layout[2];
	__u32 abi;
	__u32 state;
	__u32 generation;
	__u32 num_queues;
	struct gsotun_region region[2 * GSOTUN_REGIONS];
	__u32 prod[2];
	__u32 cons[2];
	__u64 supported[2];
	char message[GSOTUN_MESSAGE_MAX];
};

#define GSOTUN_ATTACH_SIZE_VER0	376	/* sizeof() in ABI 1; smaller is EINVAL */

#define GSOTUN_IOC_MAGIC	0xbe

/**
 * GSOTUN_ATTACH - bind this file to a queue of a device
 *
 * Argument: struct gsotun_attach *, in and out. Allowed for CAP_NET_ADMIN over
 * the device's network namespace and for the owner and the group of the device.
 *
 * EACCES		not allowed to attach
 * EBADF, EINVAL	netns_fd is not a network namespace
 * EBUSY		the queue, or with GSOTUN_QUEUE_ANY every queue, is taken;
 *			or this file is attached already
 * E2BIG		a field that this kernel does not know is not zero, or size is
 *			more than a page
 * EINVAL		see message
 * ENODEV		no such device, or not one of kind gsotun
 * ENOMEM		no memory for the rings
 * ENOBUFS		over the limit of ring memory of a device
 * EOPNOTSUPP		an offload or a layout that this kernel lacks
 * ESTALE		the file was attached and its queue is gone: open a new one
 */
#define GSOTUN_ATTACH		_IO(GSOTUN_IOC_MAGIC, 0)

/**
 * GSOTUN_QUERY - what GSOTUN_ATTACH answered, and where the rings stand
 *
 * Argument: struct gsotun_attach *, only size is read. Whoever has the file may.
 */
#define GSOTUN_QUERY		_IO(GSOTUN_IOC_MAGIC, 1)

/**
 * GSOTUN_KICK - tell the kernel that a position crossed its kick_at
 *
 * Argument: GSOTUN_KICK_* by value. A needless kick is harmless. poll() does the
 * same work, so a loop that calls it in every round never needs this. epoll_wait()
 * does not: it asks a file only when it has marked it as ready.
 *
 * EINVAL		unknown bits
 * ENOTCONN		the file is not attached (any more)
 */
#define GSOTUN_KICK		_IO(GSOTUN_IOC_MAGIC, 2)
#define GSOTUN_KICK_TO_USER	(1u << GSOTUN_TO_USER)	 /* records were released */
#define GSOTUN_KICK_FROM_USER	(1u << GSOTUN_FROM_USER) /* records were submitted */

/*
 * poll(): EPOLLIN and EPOLLOUT as described at seen and room_at, and
 * EPOLLHUP | EPOLLERR before the file is attached and once it is detached.
 */

/* ---- link attributes (IFLA_INFO_DATA of kind "gsotun") --------------------- */

#define GSOTUN_CARRIER_AUTO	0	/* carrier while a queue is attached */
#define GSOTUN_CARRIER_HOLD	1	/* the same, but kept for a while after the last detach */
#define GSOTUN_CARRIER_ON	2	/* always carrier; without a reader packets are dropped */

/**
 * enum - link attributes
 * @IFLA_GSOTUN_OWNER: u32, uid that may attach. Can be changed
 * @IFLA_GSOTUN_GROUP: u32, gid that may attach. Can be changed
 * @IFLA_GSOTUN_CARRIER: u8, GSOTUN_CARRIER_*. Can be changed
 * @IFLA_GSOTUN_CARRIER_HOLD: u32, milliseconds to keep the carrier after the
 *	last detach, 1..600,000; default 10,000. Can be changed
 * @IFLA_GSOTUN_TO_USER_BYTES: u32, default ring size of later attachments, a
 *	power of two, 512 KiB..256 MiB; default 4 MiB. Can be changed
 * @IFLA_GSOTUN_FROM_USER_BYTES: u32, the same for the other direction
 * @IFLA_GSOTUN_EPHEMERAL: u8, 1: the device is deleted with its last attachment,
 *	once it has had one. Fixed at creation
 * @IFLA_GSOTUN_QUEUES: u32, 1..64. Fixed at creation; IFLA_NUM_TX_QUEUES and
 *	IFLA_NUM_RX_QUEUES do the same, and must agree with it
 * @IFLA_GSOTUN_ATTACHED: u32, number of attached queues. Read only
 */
enum {
	IFLA_GSOTUN_UNSPEC,
	IFLA_GSOTUN_OWNER,
	IFLA_GSOTUN_GROUP,
	IFLA_GSOTUN_CARRIER,
	IFLA_GSOTUN_CARRIER_HOLD,
	IFLA_GSOTUN_TO_USER_BYTES,
	IFLA_GSOTUN_FROM_USER_BYTES,
	IFLA_GSOTUN_EPHEMERAL,
	IFLA_GSOTUN_QUEUES,
	IFLA_GSOTUN_ATTACHED,

	__IFLA_GSOTUN_MAX,
	IFLA_GSOTUN_MAX = __IFLA_GSOTUN_MAX - 1
};

#define GSOTUN_RING_BYTES_MIN		(512u << 10)
#define GSOTUN_RING_BYTES_MAX		(256u << 20)
#define GSOTUN_RING_BYTES_DEFAULT	(4u << 20)

/* ---- drop reasons ----------------------------------------------------------
 *
 * Numbers are ABI and only grow. They index GSOTUN_A_QUEUE_DROPS.
 */
#define GSOTUN_DROP_NONE	0	/* not a reason: the packet is fine */
/* to_user */
#define GSOTUN_DROP_NO_READER	1	/* no daemon is attached to the queue */
#define GSOTUN_DROP_RING_FULL	2	/* ring full, and no qdisc to hold the packet */
#define GSOTUN_DROP_NOT_IP	3	/* neither IPv4 nor IPv6 */
#define GSOTUN_DROP_OFFLOAD	4	/* needs an offload that the daemon does not take */
#define GSOTUN_DROP_TOO_BIG	5	/* larger than a record may be */
#define GSOTUN_DROP_UNREADABLE	6	/* the skb's memory cannot be read by the CPU */
/* from_user */
#define GSOTUN_DROP_RECORD	7	/* record header: type, flags, offsets, reserved words */
#define GSOTUN_DROP_SHORT	8	/* packet shorter than any IP header */
#define GSOTUN_DROP_LENGTH	9	/* len above 65,535 or beyond the record */
#define GSOTUN_DROP_MARK	10	/* a mark without CAP_NET_ADMIN at attach */
#define GSOTUN_DROP_HDR_LEN	11	/* hdr_len beyond the packet */
#define GSOTUN_DROP_IP_VERSION	12	/* version is neither 4 nor 6 */
#define GSOTUN_DROP_IP_HEADER	13	/* IP header cut short, or ihl wrong */
#define GSOTUN_DROP_IP_LENGTH	14	/* tot_len or payload_len is not the packet's length */
#define GSOTUN_DROP_IP_OPTIONS	15	/* extension headers cut short, or too long to be GSO */
#define GSOTUN_DROP_FRAGMENT	16	/* GSO on a fragment */
#define GSOTUN_DROP_L4_HEADER	17	/* TCP or UDP header cut short, or doff wrong */
#define GSOTUN_DROP_UDP_LENGTH	18	/* GSO with a UDP length that is not the payload's */
#define GSOTUN_DROP_CSUM	19	/* csum_start or csum_offset wrong */
#define GSOTUN_DROP_GSO_TYPE	20	/* gso_type not known, or bits that do not go together */
#define GSOTUN_DROP_GSO_PROTO	21	/* gso_type is not that of the packet's protocol */
#define GSOTUN_DROP_GSO_SIZE	22	/* gso_size 0, 65,535, or below 8 for TCP */
#define GSOTUN_DROP_GSO_SEGS	23	/* more than 128 datagrams */
#define GSOTUN_DROP_NO_OFFLOAD	24	/* uses an offload that was not asked for at attach */
#define GSOTUN_DROP_NOMEM	25	/* no memory for the skb */
#define GSOTUN_DROP_MAX		25

/* ---- generic netlink ------------------------------------------------------- */

#define GSOTUN_GENL_NAME	"gsotun"
#define GSOTUN_GENL_VERSION	1
#define GSOTUN_GENL_MCGRP	"monitor"

/**
 * enum - commands
 * @GSOTUN_CMD_DEV_GET: devices of the caller's namespace; with
 *	GSOTUN_A_DEV_IFINDEX one of them, or a dump. Answer: GSOTUN_A_DEV_*
 * @GSOTUN_CMD_QUEUE_GET: queues; one with GSOTUN_A_QUEUE_IFINDEX and
 *	GSOTUN_A_QUEUE_ID, or a dump, of one device if GSOTUN_A_QUEUE_IFINDEX
 *	is given. Answer: GSOTUN_A_QUEUE_*
 * @GSOTUN_CMD_DEV_ADD_NTF: a device came (created, or moved here)
 * @GSOTUN_CMD_DEV_DEL_NTF: a device went; only ifindex and name
 * @GSOTUN_CMD_DEV_CHANGE_NTF: attributes or offloads of a device changed
 * @GSOTUN_CMD_QUEUE_ATTACH_NTF: a daemon attached
 * @GSOTUN_CMD_QUEUE_DETACH_NTF: a daemon detached, or was
 */
enum {
	GSOTUN_CMD_DEV_GET = 1,
	GSOTUN_CMD_QUEUE_GET,
	GSOTUN_CMD_DEV_ADD_NTF,
	GSOTUN_CMD_DEV_DEL_NTF,
	GSOTUN_CMD_DEV_CHANGE_NTF,
	GSOTUN_CMD_QUEUE_ATTACH_NTF,
	GSOTUN_CMD_QUEUE_DETACH_NTF,

	__GSOTUN_CMD_MAX,
	GSOTUN_CMD_MAX = __GSOTUN_CMD_MAX - 1
};

/**
 * enum - attributes of a device
 * @GSOTUN_A_DEV_IFINDEX: u32
 * @GSOTUN_A_DEV_NAME: string
 * @GSOTUN_A_DEV_NUM_QUEUES: u32
 * @GSOTUN_A_DEV_NUM_ATTACHED: u32
 * @GSOTUN_A_DEV_OWNER: u32 uid, absent if not set
 * @GSOTUN_A_DEV_GROUP: u32 gid, absent if not set
 * @GSOTUN_A_DEV_CARRIER: u8 GSOTUN_CARRIER_*
 * @GSOTUN_A_DEV_CARRIER_HOLD: u32 milliseconds
 * @GSOTUN_A_DEV_TO_USER_BYTES: u32
 * @GSOTUN_A_DEV_FROM_USER_BYTES: u32
 * @GSOTUN_A_DEV_EPHEMERAL: u8
 * @GSOTUN_A_DEV_OFFLOADS: u64, GSOTUN_OFFLOAD_* that all attached queues take;
 *	with none attached, the last set
 * @GSOTUN_A_DEV_SUPPORTED_TO_USER: u64, GSOTUN_OFFLOAD_* this kernel can do
 * @GSOTUN_A_DEV_SUPPORTED_FROM_USER: u64
 * @GSOTUN_A_DEV_ABI: u32, GSOTUN_ABI
 * @GSOTUN_A_DEV_PAD: alignment
 */
enum {
	GSOTUN_A_DEV_IFINDEX = 1,
	GSOTUN_A_DEV_NAME,
	GSOTUN_A_DEV_NUM_QUEUES,
	GSOTUN_A_DEV_NUM_ATTACHED,
	GSOTUN_A_DEV_OWNER,
	GSOTUN_A_DEV_GROUP,
	GSOTUN_A_DEV_CARRIER,
	GSOTUN_A_DEV_CARRIER_HOLD,
	GSOTUN_A_DEV_TO_USER_BYTES,
	GSOTUN_A_DEV_FROM_USER_BYTES,
	GSOTUN_A_DEV_EPHEMERAL,
	GSOTUN_A_DEV_OFFLOADS,
	GSOTUN_A_DEV_SUPPORTED_TO_USER,
	GSOTUN_A_DEV_SUPPORTED_FROM_USER,
	GSOTUN_A_DEV_ABI,
	GSOTUN_A_DEV_PAD,

	__GSOTUN_A_DEV_MAX,
	GSOTUN_A_DEV_MAX = __GSOTUN_A_DEV_MAX - 1
};

/**
 * enum - attributes of a queue
 * @GSOTUN_A_QUEUE_IFINDEX: u32
 * @GSOTUN_A_QUEUE_ID: u32
 * @GSOTUN_A_QUEUE_ATTACHED: u8
 * @GSOTUN_A_QUEUE_PID: u32, process that attached, in the reader's pid
 *	namespace; absent if it has no number there, and in notifications
 * @GSOTUN_A_QUEUE_GENERATION: u32, attachments so far
 * @GSOTUN_A_QUEUE_NAPI_ID: u32
 * @GSOTUN_A_QUEUE_VNET_LEN: u32
 * @GSOTUN_A_QUEUE_FILL_LIMIT: u32
 * @GSOTUN_A_QUEUE_STOPPED: u8, 1 while the to_user ring holds up its qdisc
 * @GSOTUN_A_QUEUE_TO_USER: nest of GSOTUN_A_RING_*
 * @GSOTUN_A_QUEUE_FROM_USER: nest of GSOTUN_A_RING_*
 * @GSOTUN_A_QUEUE_DROPS: nest; type = GSOTUN_DROP_*, u64; only those not 0
 * @GSOTUN_A_QUEUE_PAD: alignment
 *
 * What belongs to an attachment is absent while nothing is attached; counters
 * go on over attachments.
 */
enum {
	GSOTUN_A_QUEUE_IFINDEX = 1,
	GSOTUN_A_QUEUE_ID,
	GSOTUN_A_QUEUE_ATTACHED,
	GSOTUN_A_QUEUE_PID,
	GSOTUN_A_QUEUE_GENERATION,
	GSOTUN_A_QUEUE_NAPI_ID,
	GSOTUN_A_QUEUE_VNET_LEN,
	GSOTUN_A_QUEUE_FILL_LIMIT,
	GSOTUN_A_QUEUE_STOPPED,
	GSOTUN_A_QUEUE_TO_USER,
	GSOTUN_A_QUEUE_FROM_USER,
	GSOTUN_A_QUEUE_DROPS,
	GSOTUN_A_QUEUE_PAD,

	__GSOTUN_A_QUEUE_MAX,
	GSOTUN_A_QUEUE_MAX = __GSOTUN_A_QUEUE_MAX - 1
};

/**
 * enum - attributes of a ring
 * @GSOTUN_A_RING_BYTES: u32, size
 * @GSOTUN_A_RING_USED: u32, bytes published and not yet released
 * @GSOTUN_A_RING_HIGH_WATER: u32, most bytes ever used in this attachment
 * @GSOTUN_A_RING_LAYOUT: u16, GSOTUN_LAYOUT_*
 * @GSOTUN_A_RING_OFFLOADS: u64, GSOTUN_OFFLOAD_*
 * @GSOTUN_A_RING_RECORDS: u64, records with packets
 * @GSOTUN_A_RING_SUPERPACKETS: u64, records that carried more than one segment
 * @GSOTUN_A_RING_PACKETS: u64, packets as on a wire
 * @GSOTUN_A_RING_WIRE_BYTES: u64, IP bytes of those
 * @GSOTUN_A_RING_PACKET_BYTES: u64, IP bytes as they lay in the records; over
 *	GSOTUN_A_RING_RECORDS this is the mean record
 * @GSOTUN_A_RING_SKIPS: u64, from_user: skip records
 * @GSOTUN_A_RING_WAKES: u64, times the daemon was woken
 * @GSOTUN_A_RING_KICKS: u64, GSOTUN_KICK calls for this ring
 * @GSOTUN_A_RING_STOPS: u64, to_user: times the queue was stopped
 * @GSOTUN_A_RING_CORRUPTIONS: u64, times the ring was broken by the daemon
 * @GSOTUN_A_RING_PAD: alignment
 */
enum {
	GSOTUN_A_RING_BYTES = 1,
	GSOTUN_A_RING_USED,
	GSOTUN_A_RING_HIGH_WATER,
	GSOTUN_A_RING_LAYOUT,
	GSOTUN_A_RING_OFFLOADS,
	GSOTUN_A_RING_RECORDS,
	GSOTUN_A_RING_SUPERPACKETS,
	GSOTUN_A_RING_PACKETS,
	GSOTUN_A_RING_WIRE_BYTES,
	GSOTUN_A_RING_PACKET_BYTES,
	GSOTUN_A_RING_SKIPS,
	GSOTUN_A_RING_WAKES,
	GSOTUN_A_RING_KICKS,
	GSOTUN_A_RING_STOPS,
	GSOTUN_A_RING_CORRUPTIONS,
	GSOTUN_A_RING_PAD,

	__GSOTUN_A_RING_MAX,
	GSOTUN_A_RING_MAX = __GSOTUN_A_RING_MAX - 1
};

#endif /* _UAPI_LINUX_GSOTUN_H */
