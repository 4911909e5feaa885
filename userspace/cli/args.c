// SPDX-License-Identifier: GPL-2.0
/* args.c - numbers, sizes, users, devices from the command line. */
#include <errno.h>
#include <grp.h>
#include <net/if.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* Digits and nothing else: strtoul() alone takes spaces and signs. */
static bool read_number(const char *text, uint64_t max, uint64_t *value, const char **end)
{
	uint64_t n = 0;

	if (*text < '0' || *text > '9')
		return false;
	for (; *text >= '0' && *text <= '9'; text++) {
		n = n * 10 + (uint64_t)(*text - '0');
		if (n > max)
			return false;
	}
	*value = n;
	*end = text;
	return true;
}

bool arg_number(const char *text, uint32_t max, uint32_t *value)
{
	const char *end;
	uint64_t n;

	if (!read_number(text, max, &n, &end) || *end)
		return false;
	*value = (uint32_t)n;
	return true;
}

bool arg_size(const char *text, uint32_t *value)
{
	unsigned int shift = 0;
	const char *end;
	uint64_t n;

	if (!read_number(text, UINT32_MAX, &n, &end))
		return false;
	if (*end == 'K' || *end == 'k')
		shift = 10;
	else if (*end == 'M' || *end == 'm')
		shift = 20;
	if (shift)
		end++;
	if (*end || n > UINT32_MAX >> shift)
		return false;
	*value = (uint32_t)(n << shift);
	return true;
}

/* A name of digits is a number, as for chown. (uid_t)-1 is nobody's. */
bool arg_user(const char *text, uint32_t *uid)
{
	const struct passwd *pw = getpwnam(text);

	if (!pw)
		return arg_number(text, UINT32_MAX - 1, uid);
	*uid = pw->pw_uid;
	return true;
}

bool arg_group(const char *text, uint32_t *gid)
{
	const struct group *gr = getgrnam(text);

	if (!gr)
		return arg_number(text, UINT32_MAX - 1, gid);
	*gid = gr->gr_gid;
	return true;
}

uint32_t arg_device(const char *name)
{
	uint32_t ifindex = if_nametoindex(name);

	if (!ifindex)
		complain("Cannot find device \"%s\"", name);
	return ifindex;
}

bool arg_is_help(const char *text)
{
	return !strcmp(text, "help") || !strcmp(text, "-h") ||
	       !strcmp(text, "-help") || !strcmp(text, "--help");
}
