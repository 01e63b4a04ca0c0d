/* cxx_names.h - names of C++ functions as people read them. */
#ifndef REPORT_ELF_CXX_NAMES_H
#define REPORT_ELF_CXX_NAMES_H

#include <stdbool.h>

#include "report/base/pool.h"

/* The demangled NAME without what it returns and, unless PARAMETERS, without
 * these; without ABI tags and default arguments of templates of the standard
 * library; and with names such as std::string in place of their expansion.  In
 * POOL. */
const char *report__shorten_cxx(struct report__pool *pool, const char *name,
                                bool parameters);

/* The C++ name SYMBOL as it is written in the program, or NULL when it is no
 * C++ name, or would be absurdly long. */
char *report__demangle(struct report__pool *pool, const char *symbol);

#endif
