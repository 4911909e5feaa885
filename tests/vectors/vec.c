// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * vec.c - reads the test vectors of this folder, one after the other.
 *
 * Strict on purpose: a line that is not understood would be a test that is not
 * run. Each keyword has a function that knows in which vectors it may stand.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vec.h"

/* ---- files and lines ---- */

static bool fail(struct vec_file *f, const char *fmt, ...)
{
	va_list ap;
	int n;

	n = snprintf(f->error, sizeof(f->error), "%s:%u: ", f->path, f->line);
	if (n < 0 || (size_t)n >= sizeof(f->error))
		return false;
	va_start(ap, fmt);
	vsnprintf(f->error + n, sizeof(f->error) - (size_t)n, fmt, ap);
	va_end(ap);
	return false;
}

bool vec_open_text(struct vec_file *f, const char *text, size_t len)
{
	memset(f, 0, sizeof(*f));
	f->path = "text";
	f->text = malloc(len + 1);
	if (!f->text)
		return fail(f, "no memory");
	memcpy(f->text, text, len);
	f->text[len] = '\0';
	f->next = f->text;
	return true;
}

static char *read_all(FILE *file)
{
	char *text;
	long size;

	if (fseek(file, 0, SEEK_END))
		return NULL;
	size = ftell(file);
	if (size < 0 || fseek(file, 0, SEEK_SET))
		return NULL;
	text = malloc((size_t)size + 1);
	if (!text)
		return NULL;
	if (fread(text, 1, (size_t)size, file) != (size_t)size) {
		free(text);
		return NULL;
	}
	text[size] = '\0';
	return text;
}

bool vec_open(struct vec_file *f, const char *path)
{
	FILE *file;

	memset(f, 0, sizeof(*f));
	f->path = path;
	file = fopen(path, "rb");
	if (!file)
		return fail(f, "cannot be opened");
	f->text = read_all(file);
	fclose(file);
	if (!f->text)
		return fail(f, "cannot be read");
	f->next = f->text;
	return true;
}

void vec_close(struct vec_file *f)
{
	free(f->text);
	f->text = NULL;
	f->next = NULL;
}

/* Splits the next line that says something; *@word is NULL at the end. */
static bool next_line(struct vec_file *f, char **word, char **rest)
{
	char *line, *end, *space;

	*word = NULL;
	do {
		line = f->next;
		if (!*line)
			return true;
		f->line++;
		end = strchr(line, '\n');
		if (!end)
			return fail(f, "the last line is not complete");
		*end = '\0';
		f->next = end + 1;
	} while (!*line || *line == '#');

	*word = line;
	space = strchr(line, ' ');
	*rest = space ? space + 1 : end;
	if (space)
		*space = '\0';
	return true;
}

/* ---- values ---- */

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

/* Two digits become one byte, so the result fits where the text was. */
static bool get_bytes(struct vec_file *f, struct vec_bytes *b, char *hex)
{
	uint8_t *to = (uint8_t *)hex;
	size_t i, len;
	int hi, lo;

	len = strlen(hex);
	b->data = to;
	b->len = 0;
	if (!strcmp(hex, "-"))
		return true;
	if (!len || len % 2)
		return fail(f, "half a byte, or none");
	for (i = 0; i < len; i += 2) {
		hi = hex_digit(hex[i]);
		lo = hex_digit(hex[i + 1]);
		if (hi < 0 || lo < 0)
			return fail(f, "not lower-case hex");
		to[i / 2] = (uint8_t)(hi << 4 | lo);
	}
	b->len = (uint32_t)(len / 2);
	return true;
}

static bool get_choice(struct vec_file *f, unsigned int *choice, const char *text,
		       const char *const names[], unsigned int num)
{
	for (*choice = 0; *choice < num; ++*choice)
		if (!strcmp(text, names[*choice]))
			return true;
	return fail(f, "'%s' is not known", text);
}

static bool get_op(struct vec_file *f, struct vec *v, const char *text)
{
	static const char *const names[] = { "segment", "refuse", "coalesce" };
	unsigned int choice;

	if (!get_choice(f, &choice, text, names, 3))
		return false;
	v->op = (enum vec_op)choice;
	return true;
}

static bool get_policy(struct vec_file *f, struct vec *v, const char *text)
{
	static const char *const names[] = {
		"exact", "must_not_merge", "either", "exact_or_smaller", "no_crash",
	};
	unsigned int choice;

	if (!get_choice(f, &choice, text, names, 5))
		return false;
	v->policy = (enum vec_policy)choice;
	return true;
}

static bool add_in(struct vec_file *f, struct vec *v, char *hex)
{
	if (v->num_in == VEC_MAX)
		return fail(f, "more than %u packets", VEC_MAX);
	v->out_of[v->num_in] = VEC_MAX;
	return get_bytes(f, &v->in[v->num_in++], hex);
}

static bool add_out(struct vec_file *f, struct vec *v, char *hex)
{
	if (v->num_out == VEC_MAX)
		return fail(f, "more than %u packets", VEC_MAX);
	return get_bytes(f, &v->out[v->num_out++], hex);
}

/* "group 0,2,3": these packets make the record that the next "out" shows. */
static bool get_group(struct vec_file *f, struct vec *v, const char *text)
{
	unsigned long i;
	char *end;

	if (v->num_out == VEC_MAX)
		return fail(f, "more than %u packets", VEC_MAX);
	for (;;) {
		i = strtoul(text, &end, 10);
		if (end == text || i >= v->num_in || v->out_of[i] != VEC_MAX)
			return fail(f, "a group names a packet that is not there, or twice");
		v->out_of[i] = v->num_out;
		if (!*end)
			return true;
		if (*end != ',')
			return fail(f, "'%s' in a group", end);
		text = end + 1;
	}
}

/* ---- vectors ---- */

static bool get_line(struct vec_file *f, struct vec *v, const char *word, char *rest)
{
	bool one_packet = v->op != VEC_COALESCE;

	if (!strcmp(word, "vnet") && one_packet)
		return get_bytes(f, &v->vnet, rest);
	if (!strcmp(word, "packet") && one_packet && !v->num_in)
		return add_in(f, v, rest);

	switch (v->op) {
	case VEC_REFUSE:
		if (strcmp(word, "reason"))
			break;
		v->reason = rest;
		return true;
	case VEC_SEGMENT:
		if (!strcmp(word, "seg"))
			return add_out(f, v, rest);
		if (strcmp(word, "alt") || strcmp(rest, "tcp-csum"))
			break;
		v->tcp_csum_alt = true;
		return true;
	case VEC_COALESCE:
		if (!strcmp(word, "in"))
			return add_in(f, v, rest);
		if (!strcmp(word, "policy"))
			return get_policy(f, v, rest);
		if (!strcmp(word, "group"))
			return get_group(f, v, rest);
		if (!strcmp(word, "vnet") && v->num_out < VEC_MAX)
			return get_bytes(f, &v->out_vnet[v->num_out], rest);
		if (!strcmp(word, "out"))
			return add_out(f, v, rest);
		if (strcmp(word, "roundtrip") || strcmp(rest, "no"))
			break;
		v->no_roundtrip = true;
		return true;
	}
	return fail(f, "'%s' does not belong here", word);
}

/* What a test relies on: it shall not have to look for what is not there. */
static bool check_complete(struct vec_file *f, const struct vec *v)
{
	bool refuse = v->op == VEC_REFUSE;
	uint32_t i;

	if (!v->num_in || (v->op != VEC_COALESCE && !v->vnet.data))
		return fail(f, "%s has no packet, or one without a vnet", v->name);
	if (refuse != !!v->reason)
		return fail(f, "%s has no reason", v->name);
	if (refuse != !v->num_out)
		return fail(f, "%s has no result", v->name);
	if (v->op != VEC_COALESCE)
		return true;
	for (i = 0; i < v->num_out; i++)
		if (v->out_vnet[i].len < 10)
			return fail(f, "%s has an out without a vnet", v->name);
	for (i = 0; i < v->num_in; i++)
		if (v->out_of[i] >= v->num_out)
			return fail(f, "%s does not say where packet %u went", v->name, i);
	return true;
}

bool vec_next(struct vec_file *f, struct vec *v)
{
	char *word, *rest;

	if (f->error[0] || !f->next)
		return false;
	memset(v, 0, sizeof(*v));

	if (!next_line(f, &word, &rest) || !word)
		return false;
	if (strcmp(word, "vector") || !*rest)
		return fail(f, "'%s' where a vector should start", word);
	v->name = rest;
	v->line = f->line;

	if (!next_line(f, &word, &rest))
		return false;
	if (!word || strcmp(word, "op"))
		return fail(f, "%s does not start with its op", v->name);
	if (!get_op(f, v, rest))
		return false;

	for (;;) {
		if (!next_line(f, &word, &rest))
			return false;
		if (!word)
			return fail(f, "%s has no end", v->name);
		if (!strcmp(word, "end"))
			return check_complete(f, v);
		if (!get_line(f, v, word, rest))
			return false;
	}
}
