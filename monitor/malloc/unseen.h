/* unseen.h - what a program allocates by ways that lead past this library. */
#ifndef MONITOR_MALLOC_UNSEEN_H
#define MONITOR_MALLOC_UNSEEN_H

#include <stddef.h>

struct mprof__definition;

/* The program has a malloc() of its own, which is OWN. */
void mprof__unseen_malloc(const struct mprof__definition *own);

/* It calls NAME, of an allocator that has more functions than are known here.
 */
void mprof__unseen_function(const char *name);

/* LIBRARY was bound to NAME until now; it was opened when the program ran. */
void mprof__unseen_before(const char *library, const char *name);

/* Write what is not seen to TEXT, "" when there is nothing. */
void mprof__unseen(char *text, size_t size);

#endif
