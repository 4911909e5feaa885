/* SPDX-License-Identifier: GPL-2.0 */
/*
 * nl.h - requests to rtnetlink and to the generic netlink family of gsotun.
 *
 * Errors are -errno. Each request is sent, answered and acknowledged before the
 * function returns.
 */
#ifndef GSOTUN_CLI_NL_H
#define GSOTUN_CLI_NL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nl_msg;
struct nl_sock;
struct nlmsghdr;

#define NL_TEXT_MAX	256

/**
 * struct nl - a netlink socket and what the kernel last said
 * @sk: the socket
 * @family: generic netlink: number of the gsotun family
 * @text: the kernel's sentence about the last request, empty if it gave none
 */
struct nl {
	struct nl_sock *sk;
	int family;
	char text[NL_TEXT_MAX];
};

/* -ENOENT of netlink_open_gsotun(): there is no such family, so no module. */
int netlink_open_route(struct nl *nl);
int netlink_open_gsotun(struct nl *nl);
void netlink_close(struct nl *nl);

/* Called for each answer. Return: 0, or -errno, which netlink_request() returns. */
typedef int netlink_handler(const struct nlmsghdr *nlh, void *arg);

/**
 * netlink_request - send a request and handle all of its answers
 * @nl: socket
 * @msg: request; freed in every case
 * @fn: what to do with an answer; NULL: nothing
 * @arg: for @fn
 *
 * Return: 0, -errno as the kernel gave it, or -EAGAIN for a dump that changed
 * while it was read, whose answers are of no use.
 */
int netlink_request(struct nl *nl, struct nl_msg *msg, netlink_handler *fn, void *arg);

/* A request to the gsotun family; the caller adds attributes. NULL: no memory. */
struct nl_msg *netlink_gsotun_msg(const struct nl *nl, uint8_t cmd, int flags);

/* Wire up the standard way of telling failures. Return: the exit status. */
int netlink_fail(const struct nl *nl, int err, const char *what);

#endif /* GSOTUN_CLI_NL_H */
