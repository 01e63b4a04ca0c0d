/* naming.h - which code is one function to a programmer, by its names. */
#ifndef MONITOR_FORMAT_NAMING_H
#define MONITOR_FORMAT_NAMING_H

#include <stdbool.h>
#include <stddef.h>

#include "monitor/format/format.h"

/* Did nobody give the Lisp function NAME its name?  There may be others that
 * are called the same. */
bool mprof__is_anonymous(const char *name);

/* Where the ending begins that the C compiler gave to a part or a copy of a
 * function, as ".cold"; the length of SYMBOL when it has none. */
size_t mprof__base_length(const char *symbol);

/* Functions that have the same text are one: write it to TEXT, cut after SIZE
 * bytes as snprintf() does, for a function of Lisp with NAME and SYMBOL, ""
 * when there is none.  False: it is one by itself, told by its code. */
bool mprof__function_text(enum mprof_function_kind kind, const char *name,
                          const char *symbol, char *text, size_t size);

#endif
