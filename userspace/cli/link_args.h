/* SPDX-License-Identifier: GPL-2.0 */
/*
 * link_args.h - the attributes of "link add" and "link set".
 */
#ifndef GSOTUN_CLI_LINK_ARGS_H
#define GSOTUN_CLI_LINK_ARGS_H

#include <stdbool.h>
#include <stdint.h>

struct nl_msg;

#define LINK_ARG_UP	(1u << 0)
#define LINK_ARG_DOWN	(1u << 1)

struct link_args {
	uint32_t given;		/* bit per IFLA_GSOTUN_* */
	uint32_t value[16];	/* by IFLA_GSOTUN_* */
	uint32_t mtu;		/* 0: not given */
	uint32_t flags;		/* LINK_ARG_* */
	const char *name;
};

/**
 * link_args_parse - read "[ name | dev ] NAME [ ATTRIBUTE VALUE ]..."
 * @a: out
 * @adding: for "link add"; else for "link set"
 * @argc, @argv: arguments
 *
 * Return: 0, or EXIT_USAGE after a complaint.
 */
int link_args_parse(struct link_args *a, bool adding, int argc, char **argv);

/* Append what was given. Return: false if it does not fit. */
bool link_args_put(const struct link_args *a, struct nl_msg *msg);

#endif /* GSOTUN_CLI_LINK_ARGS_H */
