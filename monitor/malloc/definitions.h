/* definitions.h - where a function is defined, as the loader binds programs.
 *
 * dlsym() answers the same question, but it may allocate, and dlerror() takes
 * the lock of the C library's locales.  The first malloc() of a process may
 * come from under any lock of the C library: nothing here takes one.
 */
#ifndef MONITOR_MALLOC_DEFINITIONS_H
#define MONITOR_MALLOC_DEFINITIONS_H

#include <stdint.h>

struct link_map;

struct mprof__definition {
    void *function;              /* NULL: there is none */
    const struct link_map *file; /* that has it */
    uintptr_t start;             /* of that file in memory */
};

/* Return the definition of NAME that programs are bound to, and the next one
 * behind this library.  Only files that were loaded when the program began are
 * searched.  Call these before a second thread can open or close others. */
struct mprof__definition mprof__first_definition(const char *name);
struct mprof__definition mprof__next_definition(const char *name);

/* The file that this code is in; NULL: the program has no loader. */
struct link_map *mprof__own_file(void);

#endif
