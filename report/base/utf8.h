/* utf8.h - characters of names, which may be anything. */
#ifndef REPORT_BASE_UTF8_H
#define REPORT_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "report/base/pool.h"

/* Bytes of the character at TEXT, of which LEFT are there; 0: it is none, or
 * NUL.  *CODE is its number. */
size_t report__utf8(const char *text, size_t left, uint32_t *code);

/* May the character CODE go to a terminal, and into a line?  Not if it is a
 * control, breaks lines, or lets text look as if it were another. */
bool report__is_visible(uint32_t code);

/* Print TEXT, of whatever bytes, on one line: a line break as \n, with `?` for
 * other characters that are not to be seen. */
void report__print_name(FILE *out, const char *text);

/* Return TEXT, of any bytes, as UTF-8 on one line: `?` replaces invisible
 * characters, and "..." the end of a very long text.  In POOL. */
const char *report__clean_name(struct report__pool *pool, const char *text);

/* Whether a character begins with this byte of valid UTF-8. */
static inline bool report__begins_character(char c) {
    return ((unsigned char)c & 0xc0) != 0x80;
}

/* Return TEXT as report__print_name() prints it.  In POOL. */
const char *report__printed_name(struct report__pool *pool, const char *text);

/* Characters of TEXT, which is UTF-8: columns of a terminal. */
uint32_t report__columns(const char *text);

/* Choose the middle part of TEXT, which ends at END, that three dots can
 * replace, so that MOST characters are left: from *FROM to *TO; or both are
 * END. MOST is 4 at least. */
void report__cut_middle(const char *text, const char *end, uint32_t most,
                        const char **from, const char **to);

/* TEXT, clean, without its middle if it has more than MOST characters.  In
 * POOL. */
const char *report__short_name(struct report__pool *pool, const char *text,
                               uint32_t most);

/* Print TEXT as a string of Lisp: invisible characters as \n, or as \x{9b} with
 * the number, bytes that are no character as \x{ff}.  NULL is NIL. */
void report__print_string(FILE *out, const char *text);

#endif
