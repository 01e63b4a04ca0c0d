/* naming.h - which code is one function to a programmer, by its names. */
#ifndef MONITOR_FORMAT_NAMING_H
#define MONITOR_FORMAT_NAMING_H

#include <stdbool.h>
#include <stddef.h>

#include "monitor/format/format.h"

/* Return true if the name NAME of a Lisp function was generated.  Other
 * functions may have it, too. */
bool mprof__is_anonymous(const char *name);

/* Where the ending begins that the C compiler gave to a part or a copy of a
 * function, as ".cold"; the length of SYMBOL when it has none. */
size_t mprof__base_length(const char *symbol);

/* Return how a Lisp function with NAME, "" when there is none, is recognized:
 * by its name; without one, by its SYMBOL or its code. */
enum mprof__same_as {
    MPROF__SAME_NAME,
    MPROF__SAME_SYMBOL, /* and name */
    MPROF__SAME_ENTRY,  /* as others that count arguments for that name */
    MPROF__SAME_CODE
};
enum mprof__same_as mprof__same_by(enum mprof_function_kind kind,
                                   const char *name, const char *symbol);

#endif
