/* demangle.h - names of C++ as they are written in the program. */
#ifndef REPORT_ELF_DEMANGLE_H
#define REPORT_ELF_DEMANGLE_H

#include "report/base/pool.h"

/* The C++ name SYMBOL as it is written in the program, or NULL when it is no
 * C++ name, or would be absurdly long. */
char *report__demangle(struct report__pool *pool, const char *symbol);

#endif
