/* SPDX-License-Identifier: GPL-2.0 */
/*
 * cli.h - what the commands share: options, exit statuses, arguments.
 */
#ifndef GSOTUN_CLI_H
#define GSOTUN_CLI_H

#include <stdbool.h>
#include <stdint.h>

#define EXIT_USAGE	1	/* the command line, or this machine */
#define EXIT_KERNEL	2	/* the kernel refused */
#define EXIT_CHANGED	3	/* a list kept changing while it was read */

/* Dumps that were interrupted are repeated so many times. */
#define DUMP_TRIES	5

struct options {
	bool json;
	bool pretty;
	bool details;
	bool statistics;
};

extern struct options options;

/* main.c: "gsotun: ..." on standard error. Return: EXIT_USAGE. */
#define attribute(...)	__attribute__((__VA_ARGS__))
attribute(format(printf, 1, 2)) int complain(const char *format, ...);

/* Commands: arguments after the command's name. Return: exit status. */
typedef int command(int argc, char **argv);

command cmd_link_add;
command cmd_link_set;
command cmd_link_del;
command cmd_link_show;
command cmd_queue_show;

/* args.c: read one argument. Return: false if it makes no sense. */
bool arg_number(const char *text, uint32_t max, uint32_t *value);
bool arg_size(const char *text, uint32_t *value);	/* 4M, 512K, 4194304 */
bool arg_user(const char *text, uint32_t *uid);
bool arg_group(const char *text, uint32_t *gid);

/* args.c: interface index, 0 after a complaint. */
uint32_t arg_device(const char *name);

/* args.c: is it "help", "-h", "-help" or "--help"? */
bool arg_is_help(const char *text);

#endif /* GSOTUN_CLI_H */
