// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * link.c - create and delete devices: the few rtnetlink messages it takes.
 *
 * Written out by hand, because a netlink library would be the only dependency
 * of this one.
 */
#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include "internal.h"

#define KIND		"gsotun"
#define DEV_FLAGS	(GSOTUN_DEV_OWNER | GSOTUN_DEV_GROUP | GSOTUN_DEV_EPHEMERAL)

/* Names that a pattern is tried with. */
#define NAMES_MAX	1024

struct request {
	struct nlmsghdr nlh;
	struct ifinfomsg ifi;
	u8 attrs[512];
};

/* What came back: the link that was asked for. */
struct answer {
	u32 ifindex;
	bool is_gsotun;
};

static void put(struct request *r, u16 type, const void *data, size_t len)
{
	u8 *at = (u8 *)r + NLMSG_ALIGN(r->nlh.nlmsg_len);
	struct rtattr rta = { .rta_len = (u16)RTA_LENGTH(len), .rta_type = type };

	/* All attributes of a request fit; see dev_create(). */
	memcpy(at, &rta, sizeof(rta));
	memcpy(at + RTA_LENGTH(0), data, len);
	r->nlh.nlmsg_len = (u32)(NLMSG_ALIGN(r->nlh.nlmsg_len) + RTA_ALIGN(rta.rta_len));
}

static void put_u32(struct request *r, u16 type, u32 value)
{
	put(r, type, &value, sizeof(value));
}

static void put_u8(struct request *r, u16 type, u8 value)
{
	put(r, type, &value, sizeof(value));
}

static u32 nest(struct request *r, u16 type)
{
	u32 at = r->nlh.nlmsg_len;

	put(r, type, "", 0);
	return at;
}

static void nest_end(struct request *r, u32 at)
{
	u16 len = (u16)(r->nlh.nlmsg_len - at);

	memcpy((u8 *)r + at, &len, sizeof(len));
}

static void start(struct request *r, u16 type, u16 flags)
{
	memset(r, 0, sizeof(*r));
	r->nlh.nlmsg_len = NLMSG_LENGTH(sizeof(r->ifi));
	r->nlh.nlmsg_type = type;
	r->nlh.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
	r->nlh.nlmsg_seq = 1;
}

/* Find attribute @type among @len bytes; its length goes to @size. */
static const u8 *find(const u8 *at, size_t len, u16 type, size_t *size)
{
	struct rtattr rta;

	while (len >= sizeof(rta)) {
		memcpy(&rta, at, sizeof(rta));
		if (rta.rta_len < sizeof(rta) || rta.rta_len > len)
			break;
		if ((rta.rta_type & NLA_TYPE_MASK) == type) {
			*size = rta.rta_len - sizeof(rta);
			return at + sizeof(rta);
		}
		if (RTA_ALIGN(rta.rta_len) >= len)
			break;
		at += RTA_ALIGN(rta.rta_len);
		len -= RTA_ALIGN(rta.rta_len);
	}
	return NULL;
}

/* The sentence of an extended acknowledgment. */
static void read_extack(const u8 *msg, const struct nlmsghdr *nlh,
			const struct nlmsgerr *nlerr, char *message, size_t size)
{
	size_t off = NLMSG_HDRLEN + sizeof(*nlerr), len;
	const u8 *text;

	if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS))
		return;
	if (!(nlh->nlmsg_flags & NLM_F_CAPPED))
		off += nlerr->msg.nlmsg_len - NLMSG_HDRLEN;
	if (off >= nlh->nlmsg_len)
		return;
	text = find(msg + off, nlh->nlmsg_len - off, NLMSGERR_ATTR_MSG, &len);
	if (text && len && !text[len - 1])
		gsotun_say(message, size, (const char *)text, NULL);
}

static void read_link(const u8 *msg, u32 len, struct answer *answer)
{
	size_t off = NLMSG_SPACE(sizeof(struct ifinfomsg)), size;
	struct ifinfomsg ifi;
	const u8 *info, *kind;

	if (len < off)
		return;
	memcpy(&ifi, msg + NLMSG_HDRLEN, sizeof(ifi));
	answer->ifindex = (u32)ifi.ifi_index;
	info = find(msg + off, len - off, IFLA_LINKINFO, &size);
	kind = info ? find(info, size, IFLA_INFO_KIND, &size) : NULL;
	answer->is_gsotun = kind && size >= sizeof(KIND) && !memcmp(kind, KIND, sizeof(KIND));
}

/* One datagram of answers. Return: 1 if the acknowledgment was not among them. */
static int read_answers(const u8 *buf, size_t len, struct answer *answer,
			char *message, size_t size)
{
	struct nlmsgerr nlerr;
	struct nlmsghdr nlh;

	while (len >= sizeof(nlh)) {
		memcpy(&nlh, buf, sizeof(nlh));
		if (nlh.nlmsg_len < sizeof(nlh) || nlh.nlmsg_len > len)
			return -EPROTO;
		if (nlh.nlmsg_type == NLMSG_ERROR) {
			if (nlh.nlmsg_len < NLMSG_LENGTH(sizeof(nlerr)))
				return -EPROTO;
			memcpy(&nlerr, buf + NLMSG_HDRLEN, sizeof(nlerr));
			if (nlerr.error)
				read_extack(buf, &nlh, &nlerr, message, size);
			return nlerr.error > 0 ? -EPROTO : nlerr.error;
		}
		if (nlh.nlmsg_type == RTM_NEWLINK && answer)
			read_link(buf, nlh.nlmsg_len, answer);
		if (NLMSG_ALIGN(nlh.nlmsg_len) >= len)
			break;
		buf += NLMSG_ALIGN(nlh.nlmsg_len);
		len -= NLMSG_ALIGN(nlh.nlmsg_len);
	}
	return 1;
}

/* Send one request and read up to its acknowledgment. */
static int talk(const struct request *r, struct answer *answer, char *message, size_t size)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK }, from;
	struct iovec iov;
	struct msghdr msg = {
		.msg_name = &from, .msg_namelen = sizeof(from),
		.msg_iov = &iov, .msg_iovlen = 1,
	};
	int fd, one = 1, err;
	u8 buf[16384];
	ssize_t n;

	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (fd < 0) {
		err = -errno;
		goto out;
	}
	/* Niceties: without them there is no sentence. */
	setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one));
	n = sendto(fd, r, r->nlh.nlmsg_len, 0, (struct sockaddr *)&kernel, sizeof(kernel));
	if (n < 0) {
		err = -errno;
		goto out_close;
	}
	do {
		iov = (struct iovec) { .iov_base = buf, .iov_len = sizeof(buf) };
		msg.msg_namelen = sizeof(from);
		n = recvmsg(fd, &msg, 0);
		if (n < 0)
			err = errno == EINTR ? 1 : -errno;
		else if (msg.msg_flags & MSG_TRUNC)
			err = -EMSGSIZE;
		else if (from.nl_pid)		/* not from the kernel */
			err = 1;
		else
			err = read_answers(buf, (size_t)n, answer, message, size);
	} while (err > 0);

out_close:
	close(fd);
out:
	if (err && message && size && !message[0])
		gsotun_say(message, size, gsotun_strerror(err), NULL);
	return err;
}

/* Look a link up by index, or by name if that is 0. */
static int get_link(u32 ifindex, const char *name, struct answer *answer,
		    char *message, size_t size)
{
	struct request r;
	int err;

	memset(answer, 0, sizeof(*answer));
	start(&r, RTM_GETLINK, 0);
	r.ifi.ifi_index = (int)ifindex;
	if (!ifindex)
		put(&r, IFLA_IFNAME, name, strlen(name) + 1);
	put_u32(&r, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
	err = talk(&r, answer, message, size);
	if (!err && !answer->ifindex)
		err = -EPROTO;
	return err;
}

static void put_link_info(struct request *r, const struct gsotun_dev_opts *o)
{
	u32 info, data;

	info = nest(r, IFLA_LINKINFO);
	put(r, IFLA_INFO_KIND, KIND, sizeof(KIND));
	data = nest(r, IFLA_INFO_DATA);
	if (o->flags & GSOTUN_DEV_OWNER)
		put_u32(r, IFLA_GSOTUN_OWNER, o->owner);
	if (o->flags & GSOTUN_DEV_GROUP)
		put_u32(r, IFLA_GSOTUN_GROUP, o->group);
	if (o->flags & GSOTUN_DEV_EPHEMERAL)
		put_u8(r, IFLA_GSOTUN_EPHEMERAL, 1);
	if (o->carrier)
		put_u8(r, IFLA_GSOTUN_CARRIER, (u8)o->carrier);
	if (o->carrier_hold_ms)
		put_u32(r, IFLA_GSOTUN_CARRIER_HOLD, o->carrier_hold_ms);
	if (o->ring_bytes[GSOTUN_TO_USER])
		put_u32(r, IFLA_GSOTUN_TO_USER_BYTES, o->ring_bytes[GSOTUN_TO_USER]);
	if (o->ring_bytes[GSOTUN_FROM_USER])
		put_u32(r, IFLA_GSOTUN_FROM_USER_BYTES, o->ring_bytes[GSOTUN_FROM_USER]);
	if (o->queues)
		put_u32(r, IFLA_GSOTUN_QUEUES, o->queues);
	nest_end(r, data);
	nest_end(r, info);
}

static int create_named(const struct gsotun_dev_opts *o, const char *name,
			char *message, size_t size)
{
	struct request r;

	start(&r, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
	put(&r, IFLA_IFNAME, name, strlen(name) + 1);
	/* The core sizes the device by these, before it calls the driver. */
	if (o->queues) {
		put_u32(&r, IFLA_NUM_TX_QUEUES, o->queues);
		put_u32(&r, IFLA_NUM_RX_QUEUES, o->queues);
	}
	if (o->mtu)
		put_u32(&r, IFLA_MTU, o->mtu);
	put_link_info(&r, o);
	gsotun_say(message, size, NULL, NULL);
	return talk(&r, NULL, message, size);
}

/* Put @n in place of the %d at @at. */
static bool expand(char *name, const char *pattern, const char *at, unsigned int n)
{
	size_t head = (size_t)(at - pattern), tail = strlen(at + 2), digits = 0, i;
	char text[8];

	do {
		text[digits++] = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	if (head + digits + tail >= IFNAMSIZ)
		return false;
	memcpy(name, pattern, head);
	for (i = 0; i < digits; i++)
		name[head + i] = text[digits - 1 - i];
	memcpy(name + head + digits, at + 2, tail + 1);
	return true;
}

int gsotun_dev_create(const struct gsotun_dev_opts *opts, uint32_t *ifindex,
		      char *message, size_t message_size)
{
	const char *pattern, *at;
	struct gsotun_dev_opts o;
	struct answer answer;
	char name[IFNAMSIZ];
	unsigned int n = 0;
	int err;

	gsotun_say(message, message_size, NULL, NULL);
	err = gsotun_copy_sized(&o, sizeof(o), opts);
	if (!err && (o.flags & ~DEV_FLAGS || o.resv || o.carrier > UINT8_MAX))
		err = -EINVAL;
	pattern = o.name ? o.name : KIND "%d";
	at = strstr(pattern, "%d");
	if (!err && (!pattern[0] ||
		     !(at ? expand(name, pattern, at, n) : strlen(pattern) < sizeof(name))))
		err = -EINVAL;
	if (err) {
		gsotun_say(message, message_size, "options", gsotun_strerror(err));
		return err;
	}

	/*
	 * A pattern is filled in here and not by the kernel: older kernels do not
	 * say which name they chose.
	 */
	do {
		if (!at)
			memcpy(name, pattern, strlen(pattern) + 1);
		else if (!expand(name, pattern, at, n))
			break;		/* all that fit are taken */
		err = create_named(&o, name, message, message_size);
	} while (err == -EEXIST && at && ++n < NAMES_MAX);
	if (err || !ifindex)
		return err;
	err = get_link(0, name, &answer, message, message_size);
	if (!err)
		*ifindex = answer.ifindex;
	return err;
}

int gsotun_dev_delete(uint32_t ifindex, char *message, size_t message_size)
{
	struct answer answer;
	struct request r;
	int err;

	gsotun_say(message, message_size, NULL, NULL);
	if (!ifindex) {
		gsotun_say(message, message_size, gsotun_strerror(-ENODEV), NULL);
		return -ENODEV;
	}
	err = get_link(ifindex, NULL, &answer, message, message_size);
	if (err)
		return err;
	if (!answer.is_gsotun) {
		gsotun_say(message, message_size, "not a gsotun device", NULL);
		return -EINVAL;
	}
	start(&r, RTM_DELLINK, 0);
	r.ifi.ifi_index = (int)ifindex;
	return talk(&r, NULL, message, message_size);
}
