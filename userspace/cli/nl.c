// SPDX-License-Identifier: GPL-2.0
/* nl.c - netlink requests on libnl, with every answer checked. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <linux/netlink.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>

#include <linux/gsotun.h>

#include "cli.h"
#include "nl.h"

#define MSG_BYTES	65536

/* One request on its way. */
struct pending {
	struct nl *nl;
	netlink_handler *fn;
	void *arg;
	int err;
	bool done;
	bool interrupted;
};

/* libnl's own numbers stand for failures that the kernel did not report. */
static int to_errno(int nlerr)
{
	switch (nlerr < 0 ? -nlerr : nlerr) {
	case NLE_NOMEM:		return -ENOMEM;
	case NLE_INTR:		return -EINTR;
	case NLE_AGAIN:		return -EAGAIN;
	case NLE_PERM:		return -EPERM;
	case NLE_NOACCESS:	return -EACCES;
	case NLE_OBJ_NOTFOUND:	return -ENOENT;
	case NLE_NODEV:		return -ENODEV;
	case NLE_MSG_TOOSHORT:	return -EPROTO;
	case NLE_MSG_TRUNC:	return -EMSGSIZE;
	case NLE_AF_NOSUPPORT:	return -EAFNOSUPPORT;
	default:		return -EIO;
	}
}

static void take_text(struct nl *nl, const struct nlmsghdr *nlh, size_t off)
{
	struct nlattr *tb[NLMSGERR_ATTR_MAX + 1];

	if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS) || off >= nlh->nlmsg_len)
		return;
	if (nla_parse(tb, NLMSGERR_ATTR_MAX, (struct nlattr *)((char *)nlh + off),
		      (int)(nlh->nlmsg_len - off), NULL))
		return;
	if (tb[NLMSGERR_ATTR_MSG])
		nla_strlcpy(nl->text, tb[NLMSGERR_ATTR_MSG], sizeof(nl->text));
}

static int on_error(struct sockaddr_nl *from, struct nlmsgerr *nlerr, void *arg)
{
	const struct nlmsghdr *nlh = (struct nlmsghdr *)nlerr - 1;
	size_t off = sizeof(*nlh) + sizeof(*nlerr);
	struct pending *p = arg;

	(void)from;
	if (!(nlh->nlmsg_flags & NLM_F_CAPPED))
		off += nlerr->msg.nlmsg_len - sizeof(nlerr->msg);
	take_text(p->nl, nlh, off);
	p->err = nlerr->error < 0 ? nlerr->error : -EPROTO;
	p->done = true;
	return NL_STOP;
}

static int on_ack(struct nl_msg *msg, void *arg)
{
	struct pending *p = arg;

	(void)msg;
	p->done = true;
	return NL_STOP;
}

/* The end of a dump carries an error of its own. */
static int on_finish(struct nl_msg *msg, void *arg)
{
	const struct nlmsghdr *nlh = nlmsg_hdr(msg);
	struct pending *p = arg;
	int err = 0;

	if (nlh->nlmsg_len >= NLMSG_LENGTH(sizeof(err)))
		memcpy(&err, NLMSG_DATA(nlh), sizeof(err));
	if (err < 0) {
		p->err = err;
		take_text(p->nl, nlh, NLMSG_LENGTH(sizeof(err)));
	}
	p->done = true;
	return NL_STOP;
}

static int on_interrupted(struct nl_msg *msg, void *arg)
{
	struct pending *p = arg;

	(void)msg;
	p->interrupted = true;
	return NL_OK;
}

static int on_valid(struct nl_msg *msg, void *arg)
{
	struct pending *p = arg;

	/* Anyone may send to a netlink socket; only port 0 is the kernel. */
	if (nlmsg_get_src(msg)->nl_pid)
		return NL_SKIP;
	if (p->fn && !p->err)
		p->err = p->fn(nlmsg_hdr(msg), p->arg);
	return NL_OK;
}

static int receive(struct nl *nl, struct pending *p)
{
	struct nl_cb *cb = nl_cb_alloc(NL_CB_DEFAULT);
	int n;

	if (!cb)
		return -ENOMEM;
	nl_cb_err(cb, NL_CB_CUSTOM, on_error, p);
	nl_cb_set(cb, NL_CB_ACK, NL_CB_CUSTOM, on_ack, p);
	nl_cb_set(cb, NL_CB_FINISH, NL_CB_CUSTOM, on_finish, p);
	nl_cb_set(cb, NL_CB_DUMP_INTR, NL_CB_CUSTOM, on_interrupted, p);
	nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, on_valid, p);
	while (!p->done) {
		n = nl_recvmsgs(nl->sk, cb);
		/* A refusal comes by on_error() and makes n negative as well. */
		if (n < 0 && !p->done && n != -NLE_INTR) {
			p->err = to_errno(n);
			break;
		}
	}
	nl_cb_put(cb);
	if (p->err)
		return p->err;
	return p->interrupted ? -EAGAIN : 0;
}

int netlink_request(struct nl *nl, struct nl_msg *msg, netlink_handler *fn, void *arg)
{
	struct pending p = { .nl = nl, .fn = fn, .arg = arg };
	int n;

	nl->text[0] = '\0';
	n = nl_send_auto(nl->sk, msg);
	nlmsg_free(msg);
	if (n < 0)
		return to_errno(n);
	return receive(nl, &p);
}

static int open_socket(struct nl *nl, int protocol)
{
	int one = 1, fd, err;

	memset(nl, 0, sizeof(*nl));
	nl->sk = nl_socket_alloc();
	if (!nl->sk)
		return -ENOMEM;
	err = nl_connect(nl->sk, protocol);
	if (err < 0) {
		nl_socket_free(nl->sk);
		nl->sk = NULL;
		return to_errno(err);
	}
	nl_socket_set_msg_buf_size(nl->sk, MSG_BYTES);
	nl_socket_enable_msg_peek(nl->sk);
	fd = nl_socket_get_fd(nl->sk);
	/* Without them, there are no sentences; nothing else is lost. */
	setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one));
	return 0;
}

int netlink_open_route(struct nl *nl)
{
	return open_socket(nl, NETLINK_ROUTE);
}

int netlink_open_gsotun(struct nl *nl)
{
	int err = open_socket(nl, NETLINK_GENERIC);

	if (err)
		return err;
	nl->family = genl_ctrl_resolve(nl->sk, GSOTUN_GENL_NAME);
	if (nl->family < 0) {
		err = to_errno(nl->family);
		netlink_close(nl);
		return err;
	}
	return 0;
}

void netlink_close(struct nl *nl)
{
	nl_socket_free(nl->sk);
	nl->sk = NULL;
}

struct nl_msg *netlink_gsotun_msg(const struct nl *nl, uint8_t cmd, int flags)
{
	struct nl_msg *msg = nlmsg_alloc();

	if (msg && !genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, nl->family, 0,
				flags, cmd, GSOTUN_GENL_VERSION)) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
}

/* Does this kernel know gsotun? The kernel loads the module if it is installed. */
static bool module_missing(void)
{
	struct nl nl;
	int err = netlink_open_gsotun(&nl);

	if (!err)
		netlink_close(&nl);
	return err == -ENOENT;
}

int netlink_fail(const struct nl *nl, int err, const char *what)
{
	if (err == -EAGAIN) {
		complain("%s: the list changed %d times while it was read; try again",
			 what, DUMP_TRIES);
		return EXIT_CHANGED;
	}
	if ((err == -EOPNOTSUPP || err == -ENOENT) && module_missing())
		complain("The gsotun module is not loaded: run \"modprobe gsotun\" or install it");
	else if (nl && nl->text[0])
		complain("%s: %s", what, nl->text);
	else
		complain("%s: %s", what, strerror(-err));
	return EXIT_KERNEL;
}
