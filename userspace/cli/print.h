/* SPDX-License-Identifier: GPL-2.0 */
/*
 * print.h - one printer for text and JSON.
 *
 * Every value is given once, with its JSON key and its label in text. Text is
 * "label value label value" on lines that print_line() starts; JSON is an array
 * of objects.
 */
#ifndef GSOTUN_CLI_PRINT_H
#define GSOTUN_CLI_PRINT_H

#include <stdbool.h>
#include <stdint.h>

/* Before anything else. */
void print_start(bool json, bool pretty);

/* After everything else. Return: 0, or -1 if not all could be written. */
int print_end(void);

/* An element of the outermost array (@key NULL), or a member of an object. */
void print_object_open(const char *key);
void print_object_close(void);

/* Text only: a new line that starts with @start. */
void print_line(const char *start);

/* Text only: right behind what was printed. */
void print_mark(const char *text);

/* @label NULL: no label in text. */
void print_u64(const char *key, const char *label, uint64_t value);
void print_string(const char *key, const char *label, const char *value);

/* Text: 4M; JSON: 4194304. */
void print_size(const char *key, const char *label, uint64_t value);

/* Text: the label if true. */
void print_bool(const char *key, const char *label, bool value);

/* A list of strings. Text: @open, then the items with @between, then @close. */
void print_list_open(const char *key, const char *open, const char *between);
void print_list_item(const char *value);
void print_list_close(const char *close);

#endif /* GSOTUN_CLI_PRINT_H */
