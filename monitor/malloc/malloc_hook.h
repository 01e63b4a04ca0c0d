/* malloc_hook.h - the C heap's side of an adapter; see malloc_hook.c. */
#ifndef MONITOR_MALLOC_MALLOC_HOOK_H
#define MONITOR_MALLOC_MALLOC_HOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Return true if malloc() reports to us. */
bool mprof__malloc_is_there(void);

/* Write to TEXT the allocations that it does not report, "" if there are none.
 */
void mprof__malloc_unseen(char *text, size_t size);

/* Start and stop recording allocations; frees are followed on. */
void mprof__malloc_attach(void);
void mprof__malloc_detach(void);

/* Call FUNCTION after each change; NULL: no more. */
void mprof__malloc_watch(void (*function)(void *cookie, uint64_t current),
                         void *cookie);

/* Do now what waits for the next allocation.  False: this thread does it. */
bool mprof__malloc_begin(void);

/* Call START at the next allocation, before that is recorded.  False: it is
 * too early, at the next one again.  To be called while there is one thread. */
void mprof__malloc_await(bool (*start)(void));

#endif
