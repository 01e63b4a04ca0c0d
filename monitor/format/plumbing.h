/* plumbing.h - functions that the tables hide unless asked.
 *
 * The reader takes these functions out of the tables.  The monitor has to know
 * them when the tree is full: their allocations are charged to a function that
 * is shown.
 */
#ifndef MONITOR_FORMAT_PLUMBING_H
#define MONITOR_FORMAT_PLUMBING_H

#include <stdbool.h>

/* Whether a function is left out of the tables.  LISP_NAME is NULL for C, and
 * SYMBOL the ELF name (of C++: mangled) or NULL; MODULE is the path of its
 * file, or "". */
bool mprof__is_plumbing(const char *lisp_name, const char *symbol,
                        const char *module);

/* Whether MODULE is a library that has both plumbing, known by its symbols, and
 * functions that are shown. */
bool mprof__has_plumbing(const char *module);

/* Whether the C function SYMBOL, or NULL, of MODULE is dlopen() or a relative
 * of it. */
bool mprof__is_loading(const char *symbol, const char *module);

/* Reasons why blocks that are never freed are no leak of the program. */
enum mprof__held {
    MPROF__NOT_HELD,
    MPROF__STREAM_BUFFERS,
    MPROF__EXCEPTION_POOL, /* if it was the loader that called */
    MPROF__HELD
};

/* Return why the C or C++ library keeps the blocks of the C function SYMBOL, or
 * NULL, of MODULE until the program ends. */
enum mprof__held mprof__held_by_runtime(const char *symbol, const char *module);

#endif
