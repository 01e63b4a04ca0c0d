/* malloc.c - the allocator's functions, as the program sees them.
 *
 * Each calls the next definition of the same function, mostly the C library's,
 * and reports to the monitor: see around.h.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "monitor/base/atomic.h"
#include "monitor/malloc/around.h"
#include "monitor/malloc/autostart.h"
#include "monitor/malloc/definitions.h"
#include "monitor/malloc/further.h"
#include "monitor/malloc/malloc_hook.h"
#include "monitor/malloc/unseen.h"
#include "monitor/record/c_quick.h"
#include "monitor/record/recording.h"

#define PUBLIC __attribute__((visibility("default"))) MPROF__ENTRY

static struct definitions {
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
} next;                /* the next ones */
static pid_t began_in; /* the process that has found them; 0: not yet */

/* The C library's functions, for a program without a dynamic loader. */
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
        void *address = mprof__next_definition(#name).function;                \
        next.name = address != NULL ? address : (void *)(otherwise);           \
    } while (0)

/* Find the next definitions: in the first call, before there is a second
 * thread, and under any lock of the C library that the caller holds. */
static void __attribute__((noinline)) search(void) {
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
    mprof__further_find();
    mprof__malloc_await(mprof__autostart);
    mprof__store_release(&began_in, getpid());
}

static void prepare(void) {
    if (mprof__load_acquire(&began_in) == 0)
        search();
}

/* Who calls one of them before all are known calls these. */
#define FIRST(type, name, parameters, ...)                                     \
    static type first_##name parameters {                                      \
        prepare();                                                             \
        return next.name(__VA_ARGS__);                                         \
    }
FIRST(void *, malloc, (size_t bytes), bytes)
FIRST(void *, calloc, (size_t count, size_t size), count, size)
FIRST(void *, realloc, (void *object, size_t bytes), object, bytes)
FIRST(void, free, (void *object), object)
FIRST(int, posix_memalign, (void **at, size_t alignment, size_t bytes), at,
      alignment, bytes)
FIRST(void *, aligned_alloc, (size_t alignment, size_t bytes), alignment, bytes)
FIRST(void *, memalign, (size_t alignment, size_t bytes), alignment, bytes)
FIRST(void *, valloc, (size_t bytes), bytes)
FIRST(void *, pvalloc, (size_t bytes), bytes)

#define INITIAL(name) .name = first_##name
static struct definitions next = {
    INITIAL(malloc),   INITIAL(calloc),         INITIAL(realloc),
    INITIAL(free),     INITIAL(posix_memalign), INITIAL(aligned_alloc),
    INITIAL(memalign), INITIAL(valloc),         INITIAL(pvalloc)};

/* Begin before main(), and where the loader can arrange that, before the
 * constructors of all other libraries: no lock of the C library is held, and
 * our exit function runs after all others. */
static void __attribute__((constructor))
start_early(int argc, char **argv, char **environment) {
    int saved = errno;
    mprof__autostart_early(argc, argv, environment);
    mprof__finish_last();
    prepare();
    mprof__further_bind();
    mprof__malloc_begin();
    errno = saved;
}

/* To the monitor; COUNT is calloc()'s, or 0. */
static void *__attribute__((noinline))
report(void *object, size_t bytes, size_t count, const void *frame) {
    return count == 0 ? mprof__answer(object, bytes, frame)
                      : mprof__answer_cleared(object, bytes, count, frame);
}

/* The same, mostly without asking it, in the function with FRAME: that is what
 * is returned. */
static inline __attribute__((always_inline)) void *
answer(void *object, size_t bytes, size_t count, const void *frame) {
    mprof__calling = 0;
    struct mprof__self *me =
        __builtin_expect(object != NULL, 1)
            ? mprof__c_enter_directly(mprof__frame_position(frame))
            : NULL;
    if (__builtin_expect(me == NULL, 0))
        return report(object, bytes, count, frame);
    return mprof__c_allocated_quickly(me, object, bytes, frame);
}

#define ALLOCATE(function, bytes, ...)                                         \
    if (!mprof__begin_call(MPROF__FRAME()))                                    \
        return next.function(__VA_ARGS__);                                     \
    return mprof__answer(next.function(__VA_ARGS__), bytes, MPROF__FRAME())

PUBLIC void *malloc(size_t bytes) {
    if (!mprof__begin_call(MPROF__FRAME()))
        return next.malloc(bytes);
    void *object = next.malloc(bytes);
    return answer(object, bytes, 0, MPROF__FRAME());
}

PUBLIC void *calloc(size_t count, size_t size) {
    const void *frame = MPROF__FRAME();
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        bytes = SIZE_MAX; /* it will be refused */
    if (!mprof__begin_call(frame))
        return next.calloc(count, size);
    return answer(next.calloc(count, size), bytes, count, frame);
}

PUBLIC void free(void *object) {
    if (object == NULL)
        return;
    if (!mprof__begin_call(MPROF__FRAME())) {
        next.free(object);
        return;
    }
    struct mprof__self *me =
        mprof__c_enter_directly(mprof__frame_position(MPROF__FRAME()));
    if (__builtin_expect(me != NULL, 1))
        mprof__c_release_quickly(me, object);
    else
        mprof__release(object);
    next.free(object);
    mprof__calling = 0;
}

static inline __attribute__((always_inline)) void *
reallocate(void *object, size_t bytes, const void *frame) {
    struct mprof__resizing r;
    if (!mprof__begin_call(frame))
        return next.realloc(object, bytes);
    if (object == NULL)
        return mprof__answer(next.realloc(NULL, bytes), bytes, frame);
    mprof__begin_resize(&r, object, frame);
    void *fresh = next.realloc(object, bytes);
    return mprof__end_resize(&r, object, fresh, bytes, frame);
}

PUBLIC void *realloc(void *object, size_t bytes) {
    return reallocate(object, bytes, MPROF__FRAME());
}

PUBLIC void *reallocarray(void *object, size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        prepare();
        errno = ENOMEM;
        return mprof__answer(NULL, 0, NULL);
    }
    return reallocate(object, bytes, MPROF__FRAME());
}

PUBLIC int posix_memalign(void **object, size_t alignment, size_t bytes) {
    const void *frame = MPROF__FRAME();
    if (!mprof__begin_call(frame))
        return next.posix_memalign(object, alignment, bytes);
    int error = next.posix_memalign(object, alignment, bytes);
    mprof__answer(error == 0 ? *object : NULL, bytes, frame);
    return error;
}

PUBLIC void *aligned_alloc(size_t alignment, size_t bytes) {
    ALLOCATE(aligned_alloc, bytes, alignment, bytes);
}

PUBLIC void *memalign(size_t alignment, size_t bytes) {
    ALLOCATE(memalign, bytes, alignment, bytes);
}

PUBLIC void *valloc(size_t bytes) {
    ALLOCATE(valloc, bytes, bytes);
}

PUBLIC void *pvalloc(size_t bytes) {
    ALLOCATE(pvalloc, bytes, bytes);
}

PUBLIC size_t malloc_usable_size(void *object) {
    prepare();
    return next.malloc_usable_size == NULL ? 0
                                           : next.malloc_usable_size(object);
}

/* Another library may be mapped where one was. */
PUBLIC int dlclose(void *handle) {
    prepare();
    if (next.dlclose == NULL)
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
    /* In the child of a fork the loader's lock may be a lost thread's. */
    if (getpid() == began_in)
        mprof__further_bind();
    mprof__unseen(text, size);
}

void mprof__unwinding(uintptr_t frame) {
    const struct mprof__malloc_monitor *m = mprof__malloc_monitor();
    if (m != NULL)
        m->unwinding(frame);
}
