// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* text.c - versions, names and sentences. */
#include <errno.h>

#include "internal.h"

static const char * const drop_names[] = {
	[GSOTUN_DROP_NONE]		= "none",
	[GSOTUN_DROP_NO_READER]		= "no_reader",
	[GSOTUN_DROP_RING_FULL]		= "ring_full",
	[GSOTUN_DROP_NOT_IP]		= "not_ip",
	[GSOTUN_DROP_OFFLOAD]		= "offload",
	[GSOTUN_DROP_TOO_BIG]		= "too_big",
	[GSOTUN_DROP_UNREADABLE]	= "unreadable",
	[GSOTUN_DROP_RECORD]		= "record",
	[GSOTUN_DROP_SHORT]		= "short",
	[GSOTUN_DROP_LENGTH]		= "length",
	[GSOTUN_DROP_MARK]		= "mark",
	[GSOTUN_DROP_HDR_LEN]		= "hdr_len",
	[GSOTUN_DROP_IP_VERSION]	= "ip_version",
	[GSOTUN_DROP_IP_HEADER]		= "ip_header",
	[GSOTUN_DROP_IP_LENGTH]		= "ip_length",
	[GSOTUN_DROP_IP_OPTIONS]	= "ip_options",
	[GSOTUN_DROP_FRAGMENT]		= "fragment",
	[GSOTUN_DROP_L4_HEADER]		= "l4_header",
	[GSOTUN_DROP_UDP_LENGTH]	= "udp_length",
	[GSOTUN_DROP_CSUM]		= "csum",
	[GSOTUN_DROP_GSO_TYPE]		= "gso_type",
	[GSOTUN_DROP_GSO_PROTO]		= "gso_proto",
	[GSOTUN_DROP_GSO_SIZE]		= "gso_size",
	[GSOTUN_DROP_GSO_SEGS]		= "gso_segs",
	[GSOTUN_DROP_NO_OFFLOAD]	= "no_offload",
	[GSOTUN_DROP_NOMEM]		= "nomem",
};

static_assert(sizeof(drop_names) / sizeof(*drop_names) == GSOTUN_DROP_MAX + 1,
	      "a drop reason has no name");

static const char * const offload_names[] = {
	"csum", "tso4", "tso6", "tso_ecn", "uso", "udp_tunnel",
	"udp_tunnel_csum", "big_tcp",
};

const char * const gsotun_bad_position = "the kernel's position in a ring makes no sense";
const char * const gsotun_broken = "the kernel detached the queue, because a ring was broken";
const char * const gsotun_detached = "the queue was detached";
const char * const gsotun_too_large = "a record is at most a quarter of its ring";
const char * const gsotun_too_many_peeked = "as many frames are held as can be; release some";
const char * const gsotun_too_many_reserved =
	"reservations take all the room; submit or cancel some";

uint32_t gsotun_version(void)
{
	return GSOTUN_VERSION_MAJOR << 16 | GSOTUN_VERSION_MINOR << 8 |
	       GSOTUN_VERSION_PATCH;
}

const char *gsotun_drop_name(unsigned int reason)
{
	return reason <= GSOTUN_DROP_MAX ? drop_names[reason] : NULL;
}

const char *gsotun_offload_name(unsigned int bit)
{
	return bit < sizeof(offload_names) / sizeof(*offload_names) ?
	       offload_names[bit] : NULL;
}

/* Own texts, because strerror() is neither reentrant nor about rings. */
const char *gsotun_strerror(int err)
{
	switch (err) {
	case 0:			return "success";
	case -E2BIG:		return "an option that this version does not know";
	case -EACCES:		return "permission denied";
	case -EAGAIN:		return "no room in the ring";
	case -EBADF:		return "not a file descriptor";
	case -EBADMSG:		return "the ring is corrupt";
	case -EBUSY:		return "busy";
	case -EEXIST:		return "it exists already";
	case -EINTR:		return "interrupted by a signal";
	case -EINVAL:		return "invalid argument";
	case -EMFILE:		return "too many open files";
	case -EMSGSIZE:		return "too large";
	case -ENETDOWN:		return "the network is down";
	case -ENFILE:		return "too many open files in the system";
	case -ENOBUFS:		return "no room: too much is held";
	case -ENODEV:		return "no such device, or detached from it";
	case -ENOENT:		return "the gsotun module is not there";
	case -ENOMEM:		return "not enough memory";
	case -ENOTCONN:		return "not attached";
	case -ENOTTY:		return "not a gsotun descriptor";
	case -EOPNOTSUPP:	return "not supported";
	case -EPERM:		return "operation not permitted";
	case -EPROTO:		return "the kernel's answer makes no sense";
	case -ERANGE:		return "out of range";
	case -ESHUTDOWN:	return "the queue is quiesced";
	case -ESTALE:		return "the descriptor was attached before";
	default:		return "unknown error";
	}
}

int gsotun_fail(struct gsotun_queue *q, int err, const char *message)
{
	core_store(&q->message, message);
	return err;
}

static size_t append(char *buf, size_t size, size_t at, const char *s)
{
	for (; s && *s; s++, at++)
		if (at + 1 < size)
			buf[at] = *s;
	if (size)
		buf[at < size ? at : size - 1] = '\0';
	return at;
}

void gsotun_say(char *buf, size_t size, const char *a, const char *b)
{
	size_t at;

	if (!buf || !size)
		return;
	at = append(buf, size, 0, a);
	if (at && b && *b)
		at = append(buf, size, at, ": ");
	append(buf, size, at, b);
}

int gsotun_last_message(const struct gsotun_queue *q, char *buf, size_t size)
{
	const char *message = core_load(&q->message);

	return (int)append(buf, buf ? size : 0, 0, message);
}

int gsotun_copy_sized(void *dst, u32 known, const void *src)
{
	const u8 *bytes = src;
	u32 size, i;

	memset(dst, 0, known);
	if (!src)
		return 0;
	memcpy(&size, src, sizeof(size));
	if (size < known)
		return -EINVAL;
	for (i = known; i < size; i++)
		if (bytes[i])
			return -E2BIG;
	memcpy(dst, src, known);
	return 0;
}
