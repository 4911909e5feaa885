// SPDX-License-Identifier: GPL-2.0
/* print.c - text and JSON out of the same calls. */
#include <stdio.h>
#include <string.h>

#include "print.h"

static struct {
	bool json;
	bool pretty;
	bool fresh;		/* text: nothing on this line yet */
	bool started;		/* text: there is a line */
	const char *between;	/* text: of the list at hand */
	unsigned int depth;	/* JSON: brackets that are open */
	unsigned int filled;	/* JSON: bit per depth; text, list: there is an element */
} out;

/* Length of the UTF-8 sequence at @s, 0 if it is none. */
static unsigned int utf8_length(const unsigned char *s)
{
	unsigned int n, i;

	if (s[0] < 0x80)
		return 1;
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	n = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	for (i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* overlong, surrogates, beyond U+10FFFF */
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

static void json_string(const char *value)
{
	const unsigned char *s = (const unsigned char *)value;
	unsigned int n;

	putchar('"');
	for (; *s; s += n) {
		n = utf8_length(s);
		if (!n) {
			fputs("\\ufffd", stdout);
			n = 1;
		} else if (*s == '"' || *s == '\\') {
			printf("\\%c", *s);
		} else if (*s < 0x20 || *s == 0x7f) {
			printf("\\u%04x", *s);
		} else {
			fwrite(s, 1, n, stdout);
		}
	}
	putchar('"');
}

/* Names are anybody's bytes; they must not drive the terminal. */
static void text_string(const char *value)
{
	for (; *value; value++)
		putchar((unsigned char)*value < 0x20 || *value == 0x7f ? '?' : *value);
}

static void json_break(void)
{
	unsigned int i;

	if (!out.pretty)
		return;
	putchar('\n');
	for (i = 0; i < out.depth; i++)
		fputs("    ", stdout);
}

/* What comes before an element: comma, line break, key. */
static void json_element(const char *key)
{
	if (out.filled & 1u << out.depth)
		putchar(',');
	out.filled |= 1u << out.depth;
	json_break();
	if (key) {
		json_string(key);
		fputs(out.pretty ? ": " : ":", stdout);
	}
}

static void json_open(char bracket)
{
	putchar(bracket);
	out.depth++;
	out.filled &= ~(1u << out.depth);
}

static void json_close(char bracket)
{
	bool filled = out.filled & 1u << out.depth;

	out.depth--;
	if (filled)
		json_break();
	putchar(bracket);
}

static void text_element(const char *label)
{
	if (!out.fresh)
		putchar(' ');
	out.fresh = false;
	if (label)
		printf("%s ", label);
}

void print_start(bool json, bool pretty)
{
	memset(&out, 0, sizeof(out));
	out.json = json;
	out.pretty = pretty;
	if (json)
		json_open('[');
}

int print_end(void)
{
	if (out.json)
		json_close(']');
	if (out.json || out.started)
		putchar('\n');
	return fflush(stdout) || ferror(stdout) ? -1 : 0;
}

void print_object_open(const char *key)
{
	if (!out.json)
		return;
	json_element(key);
	json_open('{');
}

void print_object_close(void)
{
	if (out.json)
		json_close('}');
}

void print_line(const char *start)
{
	if (out.json)
		return;
	if (out.started)
		putchar('\n');
	fputs(start, stdout);
	out.started = true;
	out.fresh = true;
}

void print_mark(const char *text)
{
	if (!out.json)
		fputs(text, stdout);
}

void print_u64(const char *key, const char *label, uint64_t value)
{
	if (out.json)
		json_element(key);
	else
		text_element(label);
	printf("%llu", (unsigned long long)value);
}

void print_string(const char *key, const char *label, const char *value)
{
	if (out.json) {
		json_element(key);
		json_string(value);
	} else {
		text_element(label);
		text_string(value);
	}
}

void print_size(const char *key, const char *label, uint64_t value)
{
	static const char units[] = { '\0', 'K', 'M', 'G' };
	unsigned int i = 0;

	if (out.json) {
		print_u64(key, label, value);
		return;
	}
	while (value && value % 1024 == 0 && i + 1 < sizeof(units)) {
		value /= 1024;
		i++;
	}
	print_u64(key, label, value);
	if (i)
		putchar(units[i]);
}

void print_bool(const char *key, const char *label, bool value)
{
	if (out.json) {
		json_element(key);
		fputs(value ? "true" : "false", stdout);
	} else if (value) {
		text_element(NULL);
		fputs(label, stdout);
	}
}

void print_list_open(const char *key, const char *open, const char *between)
{
	if (out.json) {
		json_element(key);
		json_open('[');
		return;
	}
	text_element(NULL);
	fputs(open, stdout);
	out.between = between;
	out.filled = 0;
}

void print_list_item(const char *value)
{
	if (out.json) {
		json_element(NULL);
		json_string(value);
		return;
	}
	if (out.filled)
		fputs(out.between, stdout);
	out.filled = 1;
	text_string(value);
}

void print_list_close(const char *close)
{
	if (out.json)
		json_close(']');
	else
		fputs(close, stdout);
}
