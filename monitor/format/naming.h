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

/* Is a function of Lisp with NAME, "" when there is none, one with all others
 * of that name?  Without a name of its own it is told by its SYMBOL, or its
 * code. */
enum mprof__same_as {
    MPROF__SAME_NAME,
    MPROF__SAME_SYMBOL, /* and name */
    MPROF__SAME_ENTRY,  /* as others that count arguments for that name */
    MPROF__SAME_CODE
};
enum mprof__same_as mprof__told_by(enum mprof_function_kind kind,
                                   const char *name, const char *symbol);

#endif
