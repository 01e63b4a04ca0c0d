/* malloc_monitor.h - between the allocator and the code that observes it.
 *
 * malloc.c comes before the C library's allocator, like the patched ECL's
 * allocator before the collector, and reports to a monitor.  The symbols here
 * are exported, so that another library's monitor, such as the one for ECL, can
 * replace the one in this library.
 */
#ifndef MONITOR_MALLOC_MALLOC_MONITOR_H
#define MONITOR_MALLOC_MALLOC_MONITOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/base/atomic.h"

struct mprof__object;
struct mprof__resized;

/* Called by the thread that allocates; `allocated`, `failed` and `release`
 * leave errno as it is.  FRAME is the frame address of the function that the
 * program called. */
struct mprof__malloc_monitor {
    void (*allocated)(const void *object, size_t bytes, const void *frame);
    void (*failed)(void);
    void (*release)(const void *object); /* before it is freed */
    /* NULL, or in place of `allocated` for calloc() of COUNT elements. */
    void (*cleared)(const void *object, size_t bytes, size_t count,
                    const void *frame);
    /* The function with FRAME was called while one further out, at STACK, asks
     * the next allocator: because a signal interrupted that? */
    bool (*interrupts)(const void *frame, uintptr_t stack);
    /* realloc(): before, and then one of the other two. */
    bool (*take)(const void *object, struct mprof__object *what);
    void (*freed)(const struct mprof__object *what);
    void (*untake)(const void *object, const struct mprof__object *what);
    void (*moved)(void); /* after all that, if it was taken */
    /* NULL, or in place of these four: before, by the function with FRAME, and
     * after it, when OLD became FRESH, or was freed, or was KEPT. */
    bool (*resizing)(const void *old, struct mprof__object *what,
                     const void *frame);
    void (*resized)(const struct mprof__resized *r, const void *frame);
    /* Before and after a library is closed; see dlclose(3). */
    void (*closing)(void);
    void (*closed)(void);
    /* Before the program looks at the return addresses of this thread, in a
     * function at FRAME; and with 0 when it has done so. */
    void (*unwinding)(uintptr_t frame);
    /* Another library's monitor has taken this one's place. */
    void (*replaced)(void);
};

/* Report to FRESH from now on; NULL: to none.  With OLD, only if that is the
 * present monitor.  A few late calls of the former monitor may follow; if it is
 * another library's, its `replaced` is called. */
void mprof_set_malloc_monitor(const struct mprof__malloc_monitor *old,
                              const struct mprof__malloc_monitor *fresh)
    __attribute__((visibility("default")));

/* Write to TEXT the allocations of the program that are not reported, "" if
 * there are none.  Outside of all locks. */
void mprof_malloc_unseen(char *text, size_t size)
    __attribute__((visibility("default")));

/* The present monitor, or NULL; for malloc.c. */
extern MPROF__NEAR const struct mprof__malloc_monitor
    *mprof__present_monitor; /* atomic */

static inline const struct mprof__malloc_monitor *mprof__malloc_monitor(void) {
    return mprof__load_acquire(&mprof__present_monitor);
}

/* Report that the program is about to look at its stack, in a function at
 * FRAME; with 0, that it has done so. */
void mprof__unwinding(uintptr_t frame);

#endif
