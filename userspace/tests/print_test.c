// SPDX-License-Identifier: GPL-2.0
/* print_test.c - the printer of the command: JSON that parses, text that is plain. */
#include <unistd.h>

#include "ktap.h"
#include "print.h"

static char got[4096];

/* Run @fn with standard output going to @got. */
static void capture(void (*fn)(void))
{
	FILE *file = tmpfile();
	size_t n;
	int saved;

	fflush(stdout);
	saved = dup(STDOUT_FILENO);
	dup2(fileno(file), STDOUT_FILENO);
	fn();
	fflush(stdout);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	rewind(file);
	n = fread(got, 1, sizeof(got) - 1, file);
	got[n] = '\0';
	fclose(file);
}

/* @want comes in pieces, up to NULL. */
static void expect(void (*fn)(void), const char * const *want)
{
	const char *at = got;

	capture(fn);
	for (; *want && !strncmp(at, *want, strlen(*want)); want++)
		at += strlen(*want);
	CHECK(!*want && !*at);
	if (*want || *at)
		printf("# at \"%s\"\n# not \"%s\"\n", at, *want ? *want : "");
}

static bool json, pretty;

static void nothing(void)
{
	print_start(json, pretty);
	CHECK_EQ(print_end(), 0);
}

static void devices(void)
{
	print_start(json, pretty);
	print_line("");
	print_object_open(NULL);
	print_u64("ifindex", NULL, 3);
	print_mark(":");
	print_string("ifname", NULL, "gt0");
	print_list_open("flags", "<", ",");
	print_list_item("UP");
	print_list_item("NOARP");
	print_list_close(">");
	print_line("    ");
	print_size("bytes", "ring", 4u << 20);
	print_size("odd", "odd", 1537);
	print_bool("ephemeral", "ephemeral", true);
	print_bool("stopped", "stopped", false);
	print_object_open("drops");
	print_u64("csum", "csum", 18446744073709551615ull);
	print_object_close();
	print_list_open("none", "none ", " ");
	print_list_close("-");
	print_object_close();
	print_line("");
	print_object_open(NULL);
	print_object_open("drops");
	print_object_close();
	print_object_close();
	CHECK_EQ(print_end(), 0);
}

static void strange_names(void)
{
	print_start(json, pretty);
	print_line("");
	print_object_open(NULL);
	print_string("a\"b", "k", "q\" b\\ \012\t\x1b[31m\x7f");
	print_string("u", "u", "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x90\x8c");
	print_string("bad", "bad", "\xff|\xc3|\xc0\x80|\xed\xa0\x80|\xf4\x90\x80\x80|\xe2\x82");
	print_string("", "", "");
	print_object_close();
	CHECK_EQ(print_end(), 0);
}

static void json_of_nothing(void)
{
	static const char * const brackets[] = { "[]\n", NULL };
	static const char * const empty[] = { NULL };

	json = true;
	pretty = false;
	expect(nothing, brackets);
	pretty = true;
	expect(nothing, brackets);
	json = false;
	expect(nothing, empty);
}

static void one_source_two_forms(void)
{
	static const char * const as_json[] = {
		"[{\"ifindex\":3,\"ifname\":\"gt0\",\"flags\":[\"UP\",\"NOARP\"],",
		"\"bytes\":4194304,\"odd\":1537,\"ephemeral\":true,\"stopped\":false,",
		"\"drops\":{\"csum\":18446744073709551615},\"none\":[]},",
		"{\"drops\":{}}]\n",
		NULL
	};
	static const char * const as_text[] = {
		"3: gt0 <UP,NOARP>\n",
		"    ring 4M odd 1537 ephemeral csum 18446744073709551615 none -\n",
		"\n",
		NULL
	};

	json = true;
	pretty = false;
	expect(devices, as_json);
	pretty = true;
	capture(devices);
	CHECK(strstr(got, "[\n    {\n        \"ifindex\": 3,\n"));
	CHECK(strstr(got, "\"none\": []\n    },\n    {\n        \"drops\": {}\n    }\n]\n"));
	json = false;
	pretty = false;
	expect(devices, as_text);
}

#define BAD	"\\ufffd"

static void escapes(void)
{
	static const char * const as_json[] = {
		"[{\"a\\\"b\":\"q\\\" b\\\\ \\u000a\\u0009\\u001b[31m\\u007f\",",
		"\"u\":\"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x90\x8c\",",
		"\"bad\":\"" BAD "|" BAD "|" BAD BAD "|" BAD BAD BAD "|",
		BAD BAD BAD BAD "|" BAD BAD "\",\"\":\"\"}]\n",
		NULL
	};

	json = true;
	pretty = false;
	expect(strange_names, as_json);
	json = false;
	capture(strange_names);
	CHECK(!strchr(got, '\x1b'));
	CHECK(strstr(got, "k q\" b\\ ???[31m?"));
}

static void print_to_full_disk(void)
{
	FILE *full = fopen("/dev/full", "w");
	int saved = dup(STDOUT_FILENO), ret;

	if (!full)
		return;
	fflush(stdout);
	dup2(fileno(full), STDOUT_FILENO);
	json = true;
	print_start(json, false);
	ret = print_end();
	dup2(saved, STDOUT_FILENO);
	clearerr(stdout);
	close(saved);
	fclose(full);
	CHECK_EQ(ret, -1);
}

int main(void)
{
	static const struct ktap_test tests[] = {
		{ "json_of_nothing", json_of_nothing },
		{ "one_source_two_forms", one_source_two_forms },
		{ "escapes", escapes },
		{ "print_to_full_disk", print_to_full_disk },
	};

	return ktap_run(tests, sizeof(tests) / sizeof(*tests));
}
