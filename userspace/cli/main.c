// SPDX-License-Identifier: GPL-2.0
/* main.c - gsotun: global options, objects and their commands. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "gsotun.h"

struct options options;

struct verb {
	const char *name;
	command *run;
};

struct object {
	const char *name;
	const char *help;
	const struct verb *verbs;
};

static const struct verb link_verbs[] = {
	{ "add", cmd_link_add },
	{ "set", cmd_link_set },
	{ "del", cmd_link_del },
	{ "show", cmd_link_show },
	{ NULL, NULL }
};

static const struct verb queue_verbs[] = {
	{ "show", cmd_queue_show },
	{ NULL, NULL }
};

static const char usage[] =
	"Usage: gsotun [ OPTIONS ] OBJECT { COMMAND | help }\n"
	"where  OBJECT := { link | queue }\n"
	"       OPTIONS := { -V[ersion] | -h[elp] | -s[tatistics] | -d[etails] |\n"
	"                    -j[son] | -p[retty] | -n[etns] NAME }\n";

static const char link_usage[] =
	"Usage: gsotun link add NAME [ queues N ] [ ephemeral ] [ ATTRIBUTES ]\n"
	"       gsotun link set NAME [ up | down ] [ ATTRIBUTES ]\n"
	"       gsotun link del NAME\n"
	"       gsotun link [ show [ NAME ] ]\n"
	"where  ATTRIBUTES := [ owner USER ] [ group GROUP ]\n"
	"                     [ carrier { auto | hold | on } ] [ hold MSEC ]\n"
	"                     [ to-user SIZE ] [ from-user SIZE ] [ mtu N ]\n"
	"       SIZE := bytes, with K or M; a power of two\n";

static const char queue_usage[] =
	"Usage: gsotun queue [ show [ dev NAME ] [ queue N ] ]\n";

static const struct object objects[] = {
	{ "link", link_usage, link_verbs },
	{ "queue", queue_usage, queue_verbs },
	{ NULL, NULL, NULL }
};

int complain(const char *format, ...)
{
	va_list ap;

	fputs("gsotun: ", stderr);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputs(".\n", stderr);
	return EXIT_USAGE;
}

static int enter_netns(const char *name)
{
	char path[512];
	int fd, err;

	snprintf(path, sizeof(path), "%s%s", strchr(name, '/') ? "" : "/run/netns/", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return complain("Cannot open network namespace \"%s\": %s", name, strerror(errno));
	err = setns(fd, CLONE_NEWNET) ? errno : 0;
	close(fd);
	if (err)
		return complain("Cannot enter network namespace \"%s\": %s", name, strerror(err));
	return 0;
}

static int run_object(const struct object *object, int argc, char **argv)
{
	const struct verb *verb;
	int i;

	for (i = 0; i < argc && i < 2; i++)
		if (arg_is_help(argv[i])) {
			fputs(object->help, stdout);
			return 0;
		}
	if (!argc) {
		for (verb = object->verbs; strcmp(verb->name, "show"); verb++)
			;
		return verb->run(0, argv);
	}
	for (verb = object->verbs; verb->name; verb++)
		if (!strcmp(argv[0], verb->name))
			return verb->run(argc - 1, argv + 1);
	return complain("Command \"%s\" is unknown, try \"gsotun %s help\"", argv[0], object->name);
}

/* "-x" and "-word" and "--word", exactly. */
static bool is_option(const char *arg, const char *letter, const char *word)
{
	return !strcmp(arg + 1, letter) || !strcmp(arg + 1, word) ||
	       (arg[1] == '-' && !strcmp(arg + 2, word));
}

int main(int argc, char **argv)
{
	const struct object *object;
	int i;

	for (i = 1; i < argc && argv[i][0] == '-'; i++) {
		if (is_option(argv[i], "j", "json")) {
			options.json = true;
		} else if (is_option(argv[i], "p", "pretty")) {
			options.pretty = true;
		} else if (is_option(argv[i], "d", "details")) {
			options.details = true;
		} else if (is_option(argv[i], "s", "statistics") ||
			   is_option(argv[i], "s", "stats")) {
			options.statistics = true;
		} else if (is_option(argv[i], "V", "Version")) {
			printf("gsotun %d.%d.%d, ABI %d\n", GSOTUN_VERSION_MAJOR,
			       GSOTUN_VERSION_MINOR, GSOTUN_VERSION_PATCH, GSOTUN_ABI);
			return 0;
		} else if (is_option(argv[i], "h", "help")) {
			fputs(usage, stdout);
			return 0;
		} else if (is_option(argv[i], "n", "netns")) {
			if (i + 1 == argc)
				return complain("Option \"%s\" needs a name", argv[i]);
			if (enter_netns(argv[++i]))
				return EXIT_USAGE;
		} else {
			return complain("Option \"%s\" is unknown, try \"gsotun -help\"", argv[i]);
		}
	}
	if (i == argc) {
		fputs(usage, stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[i], "help")) {
		fputs(usage, stdout);
		return 0;
	}
	for (object = objects; object->name; object++)
		if (!strcmp(argv[i], object->name))
			return run_object(object, argc - i - 1, argv + i + 1);
	return complain("Object \"%s\" is unknown, try \"gsotun help\"", argv[i]);
}
