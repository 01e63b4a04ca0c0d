/* around.h - what is done around each call of the next allocator.
 *
 * An allocator may be built upon itself, calloc() upon malloc().  Its calls
 * while it works for the program are not recorded.
 */
#ifndef MONITOR_MALLOC_AROUND_H
#define MONITOR_MALLOC_AROUND_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/base/loaded.h"
#include "monitor/base/objects.h"
#include "monitor/malloc/malloc_monitor.h"
#include "monitor/unwind/arch.h"

/* The chain begins at the frame of such a function, which must stay there. */
#define MPROF__ENTRY                                                           \
    __attribute__((noinline, optimize("no-omit-frame-pointer",                 \
                                      "no-optimize-sibling-calls")))

/* Where on the stack this thread called the next allocator, 0 elsewhere.  A
 * frame further out than that shows that the call was abandoned by longjmp().
 * With bit 0: the called function may do more than allocate, or be left by an
 * exception. */
extern __thread uintptr_t mprof__calling
    __attribute__((tls_model("initial-exec")));
enum { MPROF__LOOSELY = 1 };

/* mprof__begin_call() when the next allocator was called further out. */
bool mprof__begin_call_slowly(const void *frame);

/* FILE is an allocator with functions of its own: see further.h. */
void mprof__add_allocator(const struct mprof__loaded *file);

/* The function with FRAME is about to call the next allocator.  False: it is
 * that allocator which asks. */
static inline bool mprof__begin_call(const void *frame) {
    if (__builtin_expect(mprof__frame_position(frame) < mprof__calling, 0))
        return mprof__begin_call_slowly(frame);
    mprof__calling = mprof__frame_position(frame);
    return true;
}

/* A request for BYTES was answered with OBJECT, or refused: NULL. */
static inline __attribute__((always_inline)) void *
mprof__answer(void *object, size_t bytes, const void *frame) {
    mprof__calling = 0;
    const struct mprof__malloc_monitor *m = mprof__malloc_monitor();
    if (m == NULL)
        return object;
    if (__builtin_expect(object != NULL, 1))
        m->allocated(object, bytes, frame);
    else
        m->failed();
    return object;
}

/* The same for calloc(). */
static inline __attribute__((always_inline)) void *
mprof__answer_cleared(void *object, size_t bytes, size_t count,
                      const void *frame) {
    const struct mprof__malloc_monitor *m = mprof__malloc_monitor();
    if (__builtin_expect(m == NULL || m->cleared == NULL || object == NULL, 1))
        return mprof__answer(object, bytes, frame);
    mprof__calling = 0;
    m->cleared(object, bytes, count, frame);
    return object;
}

/* OBJECT is about to be freed. */
static inline void mprof__release(void *object) {
    const struct mprof__malloc_monitor *m = mprof__malloc_monitor();
    if (m != NULL)
        m->release(object);
}

/* The old object is forgotten before the next allocator can give its address
 * to another thread, and remembered again if nothing came of it. */
struct mprof__resizing {
    const struct mprof__malloc_monitor *monitor;
    void (*resized)(const struct mprof__resized *r, const void *frame);
    struct mprof__object what;
    bool taken;
};

static inline __attribute__((always_inline)) void
mprof__begin_resize(struct mprof__resizing *r, void *object,
                    const void *frame) {
    int saved = errno;
    r->monitor = mprof__malloc_monitor();
    r->resized =
        r->monitor == NULL ? NULL : mprof__load_relaxed(&r->monitor->resized);
    if (r->resized != NULL)
        r->taken = r->monitor->resizing(object, &r->what, frame);
    else
        r->taken = r->monitor != NULL && r->monitor->take(object, &r->what);
    errno = saved;
}

/* In two parts, of which either may be there. */
static inline __attribute__((always_inline)) void
mprof__end_parts(const struct mprof__resizing *r, void *object, void *fresh,
                 size_t bytes, const void *frame) {
    const struct mprof__malloc_monitor *m = r->monitor;
    if (fresh == NULL && bytes > 0) {
        if (r->taken)
            m->untake(object, &r->what);
        m->failed();
    } else if (r->taken) {
        m->freed(&r->what);
    }
    if (fresh != NULL && (m = mprof__malloc_monitor()) != NULL)
        m->allocated(fresh, bytes, frame);
    if (r->taken)
        r->monitor->moved();
}

/* OBJECT has become FRESH, of BYTES, or has not: NULL. */
static inline __attribute__((always_inline)) void *
mprof__end_resize(struct mprof__resizing *r, void *object, void *fresh,
                  size_t bytes, const void *frame) {
    mprof__calling = 0;
    if (r->monitor == NULL)
        return fresh;
    int saved = errno;
    if (r->resized != NULL) {
        struct mprof__resized resized = {.old = object,
                                         .fresh = fresh,
                                         .bytes = bytes,
                                         .what = r->taken ? &r->what : NULL,
                                         .kept = fresh == NULL && bytes > 0};
        r->resized(&resized, frame);
        if (resized.kept)
            r->monitor->failed();
    } else {
        mprof__end_parts(r, object, fresh, bytes, frame);
    }
    errno = saved;
    return fresh;
}

#endif
