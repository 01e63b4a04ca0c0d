/* malloc.c - the allocator's functions, as the program sees them.
 *
 * Each calls the next definition of the same function, mostly the C library's,
 * and tells the monitor: see around.h.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/base/atomic.h"
#include "monitor/malloc/around.h"
#include "monitor/malloc/autostart.h"
#include "monitor/malloc/further.h"
#include "monitor/malloc/malloc_hook.h"
#include "monitor/malloc/unseen.h"

#define PUBLIC __attribute__((visibility("default"))) MPROF__ENTRY

static struct {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void (*free)(void *);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    void *(*memalign)(size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
    size_t (*malloc_usable_size)(void *);
    int (*dlclose)(void *);
} next;
static bool found, searching;

/* What dlsym() allocates while it looks for malloc(); never given back. */
static char pool[16384] __attribute__((aligned(16)));
static size_t pool_used;

static void *__attribute__((noinline)) from_pool(size_t bytes) {
    bytes = (bytes + 31) & ~(size_t)15;
    if (bytes > sizeof pool - pool_used)
        return NULL;
    char *memory = pool + pool_used;
    pool_used += bytes;
    memcpy(memory, &bytes, sizeof bytes);
    return memory + 16;
}

static bool in_pool(const void *object) {
    return (uintptr_t)object - (uintptr_t)pool < sizeof pool;
}

static size_t pool_bytes(const void *object) {
    size_t bytes;
    memcpy(&bytes, (const char *)object - 16, sizeof bytes);
    return bytes - 16;
}

/* Of the C library, for a program without a dynamic loader. */
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t), *__libc_memalign(size_t, size_t);
extern void *__libc_valloc(size_t), *__libc_pvalloc(size_t);
extern void __libc_free(void *);

static int memalign_posix(void **object, size_t alignment, size_t bytes) {
    int saved = errno, error = EINVAL;
    if (alignment % sizeof(void *) == 0 && alignment != 0 &&
        (alignment & (alignment - 1)) == 0) {
        void *memory = __libc_memalign(alignment, bytes);
        error = memory == NULL ? ENOMEM : 0;
        if (memory != NULL)
            *object = memory;
    }
    errno = saved;
    return error;
}

#define FIND(name, otherwise)                                                  \
    do {                                                                       \
        void *address = dlsym(RTLD_NEXT, #name);                               \
        next.name = address != NULL ? address : (void *)(otherwise);           \
    } while (0)

/* In the first call, before there is a second thread. */
static void search(void) {
    searching = true;
    FIND(malloc, __libc_malloc);
    FIND(calloc, __libc_calloc);
    FIND(realloc, __libc_realloc);
    FIND(free, __libc_free);
    FIND(posix_memalign, memalign_posix);
    FIND(aligned_alloc, __libc_memalign);
    FIND(memalign, __libc_memalign);
    FIND(valloc, __libc_valloc);
    FIND(pvalloc, __libc_pvalloc);
    FIND(malloc_usable_size, NULL);
    FIND(dlclose, NULL);
    mprof__further_bind();
    dlerror(); /* what was not found is not the program's affair */
    searching = false;
    mprof__malloc_await(mprof__autostart);
    mprof__store_release(&found, true);
}

/* Before main(), also of a program that allocates nothing so soon: later it
 * may not be allowed to create files. */
static void __attribute__((constructor)) start_early(void) {
    int saved = errno;
    if (!found)
        search();
    mprof__further_bind();
    mprof__unseen_runs();
    mprof__malloc_begin();
    errno = saved;
}

static bool __attribute__((noinline)) ready_slowly(void) {
    if (searching)
        return false;
    int saved = errno;
    search();
    errno = saved;
    return true;
}

/* False: dlsym() asks. */
static inline bool ready(void) {
    return __builtin_expect(mprof__load_acquire(&found), 1) || ready_slowly();
}

__thread uintptr_t mprof__calling __attribute__((tls_model("initial-exec")));

/* What the next allocator asks for itself is part of what it was asked for;
 * what a signal handler does that interrupts it is the program's.  A handler's
 * frame is far away: the registers are between. */
bool __attribute__((noinline)) mprof__is_programs(const void *frame) {
    enum { LEAST_BETWEEN = 1024 };
    const struct mprof__malloc_monitor *m = mprof__malloc_monitor();
    if (mprof__calling & MPROF__LOOSELY) {
        uintptr_t pc, sp, bp;
        mprof__caller(frame, &pc, &sp, &bp);
        return pc != 0 && !mprof__further_asks(pc);
    }
    return m != NULL &&
           mprof__calling - mprof__frame_place(frame) >= LEAST_BETWEEN &&
           m->interrupts(frame, mprof__calling);
}

void __attribute__((noinline))
mprof__refused(const struct mprof__malloc_monitor *m) {
    int saved = errno;
    m->failed();
    errno = saved;
}

PUBLIC void *malloc(size_t bytes) {
    const void *frame = MPROF__FRAME();
    if (!ready())
        return from_pool(bytes);
    if (!mprof__begin_call(frame))
        return next.malloc(bytes);
    return mprof__answer(next.malloc(bytes), bytes, frame);
}

PUBLIC void *calloc(size_t count, size_t size) {
    const void *frame = MPROF__FRAME();
    size_t bytes;
    bool overflow = __builtin_mul_overflow(count, size, &bytes);
    if (!ready())
        return overflow ? NULL : from_pool(bytes);
    if (!mprof__begin_call(frame))
        return next.calloc(count, size);
    return mprof__answer_cleared(next.calloc(count, size), bytes, count, frame);
}

PUBLIC void free(void *object) {
    const void *frame = MPROF__FRAME();
    if (object == NULL || in_pool(object) || !ready())
        return;
    if (!mprof__begin_call(frame)) {
        next.free(object);
        return;
    }
    mprof__release(object);
    next.free(object);
    mprof__calling = 0;
}

/* An object of the pool moves out of it. */
static inline __attribute__((always_inline)) void *leave_pool(void *object,
                                                              size_t bytes) {
    size_t old = pool_bytes(object);
    void *fresh = next.malloc(bytes);
    if (fresh != NULL)
        memcpy(fresh, object, old < bytes ? old : bytes);
    return fresh;
}

static inline __attribute__((always_inline)) void *
resize(void *object, size_t bytes, const void *frame) {
    struct mprof__resizing r;
    mprof__begin_resize(&r, object, frame);
    void *fresh = next.realloc(object, bytes);
    return mprof__end_resize(&r, object, fresh, bytes, frame);
}

static inline __attribute__((always_inline)) void *
reallocate(void *object, size_t bytes, const void *frame) {
    if (!mprof__begin_call(frame))
        return next.realloc(object, bytes);
    if (object == NULL)
        return mprof__answer(next.realloc(NULL, bytes), bytes, frame);
    if (in_pool(object))
        return mprof__answer(leave_pool(object, bytes), bytes, frame);
    return resize(object, bytes, frame);
}

PUBLIC void *realloc(void *object, size_t bytes) {
    if (!ready())
        return from_pool(bytes);
    return reallocate(object, bytes, MPROF__FRAME());
}

PUBLIC void *reallocarray(void *object, size_t count, size_t size) {
    size_t bytes;
    if (!ready())
        return NULL;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return mprof__answer(NULL, 0, NULL);
    }
    return reallocate(object, bytes, MPROF__FRAME());
}

PUBLIC int posix_memalign(void **object, size_t alignment, size_t bytes) {
    const void *frame = MPROF__FRAME();
    if (!ready())
        return ENOMEM;
    if (!mprof__begin_call(frame))
        return next.posix_memalign(object, alignment, bytes);
    int error = next.posix_memalign(object, alignment, bytes);
    mprof__answer(error == 0 ? *object : NULL, bytes, frame);
    return error;
}

#define ALIGNED(function, bytes, ...)                                          \
    const void *frame = MPROF__FRAME();                                        \
    if (!ready()) {                                                            \
        errno = ENOMEM;                                                        \
        return NULL;                                                           \
    }                                                                          \
    if (!mprof__begin_call(frame))                                             \
        return next.function(__VA_ARGS__);                                     \
    return mprof__answer(next.function(__VA_ARGS__), bytes, frame)

PUBLIC void *aligned_alloc(size_t alignment, size_t bytes) {
    ALIGNED(aligned_alloc, bytes, alignment, bytes);
}

PUBLIC void *memalign(size_t alignment, size_t bytes) {
    ALIGNED(memalign, bytes, alignment, bytes);
}

PUBLIC void *valloc(size_t bytes) {
    ALIGNED(valloc, bytes, bytes);
}

PUBLIC void *pvalloc(size_t bytes) {
    ALIGNED(pvalloc, bytes, bytes);
}

PUBLIC size_t malloc_usable_size(void *object) {
    if (object == NULL)
        return 0;
    if (in_pool(object))
        return pool_bytes(object);
    if (!ready() || next.malloc_usable_size == NULL)
        return 0;
    return next.malloc_usable_size(object);
}

/* Another library may be mapped where one was. */
PUBLIC int dlclose(void *handle) {
    if (!ready() || next.dlclose == NULL)
        return -1;
    const struct mprof__malloc_monitor *m = mprof__malloc_monitor();
    if (m != NULL)
        m->closing();
    int result = next.dlclose(handle);
    if (m != NULL)
        m->closed();
    return result;
}

void mprof_malloc_unseen(char *text, size_t size) {
    mprof__further_bind();
    mprof__unseen(text, size);
}

void mprof__before_unwinding(void) {
    const struct mprof__malloc_monitor *m = mprof__malloc_monitor();
    if (m != NULL)
        m->unwinding();
}
