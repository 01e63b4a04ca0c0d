/* further.h - allocators with functions of their own.
 *
 * A program may come with another allocator than the C library's: jemalloc,
 * tcmalloc, mimalloc.  Its malloc() is the next one of malloc.c.  But it has
 * more functions, operator new among them, which do not call malloc().  These
 * cannot be defined here as malloc() is: programs ask whether there is a
 * mallocx(), and a library with its own C++ runtime must keep its operator new.
 * So where libraries are bound to such functions they are bound to ours
 * instead. Programs with the C library's allocator and libstdc++ are left as
 * they are.
 */
#ifndef MONITOR_MALLOC_FURTHER_H
#define MONITOR_MALLOC_FURTHER_H

#include <stdint.h>

/* Find out which of these functions there are: once, before a second thread,
 * under any lock of the C library. */
void mprof__further_find(void);

/* Bind all libraries that are there; to be called again when there are more.
 * Takes the lock of the loader. */
void mprof__further_bind(void);

/* A function of an allocator, whatever its arguments are. */
typedef uintptr_t mprof__further(uintptr_t, uintptr_t, uintptr_t, uintptr_t);

enum {
#define FURTHER(form, name) MPROF__FURTHER_##name,
#include "monitor/malloc/further_list.h"
    MPROF__FURTHERS
};

/* By number: the name, our function, which reports to the monitor, and the next
 * one, which ours calls. */
extern const char *const mprof__further_name[MPROF__FURTHERS];
extern mprof__further *const mprof__further_ours[MPROF__FURTHERS];
extern mprof__further *mprof__further_next[MPROF__FURTHERS];

#endif
