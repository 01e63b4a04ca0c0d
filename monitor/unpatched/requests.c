/* requests.c - libecl's requests to the collector; see unpatched.h.
 *
 * ECL has interrupts disabled meanwhile, as when the patch reports.
 */
#include "monitor/unpatched/unpatched.h"

/* Of gc.h, which need not be installed. */
void *GC_malloc(size_t bytes);
void *GC_malloc_atomic(size_t bytes);
void *GC_malloc_uncollectable(size_t bytes);
void *GC_malloc_atomic_uncollectable(size_t bytes);
void *GC_malloc_ignore_off_page(size_t bytes);
void *GC_malloc_atomic_ignore_off_page(size_t bytes);
void *GC_malloc_explicitly_typed(size_t bytes, uintptr_t descriptor);
void GC_free(void *block);

/* The collector gave BLOCK to CALLER.  It asks itself as well, and so may
 * others than ECL. */
static void __attribute__((noinline))
gave(void *block, size_t bytes, const void *caller) {
    const struct ecl_monitor *monitor = mprof__watching();
    if (monitor == NULL || block == NULL ||
        !mprof__is_in(&mprof__libecl, (uintptr_t)caller))
        return;
    struct mprof__owner owner = mprof__owner_of((uintptr_t)caller);
    monitor->allocated(owner.type, owner.storage, bytes, owner.clas, block);
}

/* The caller of this function.  Read it at once: while the collector runs
 * finalizers, their allocations may replace the address by a mark. */
#define CALLER()                                                               \
    ({                                                                         \
        const void *caller_ = __builtin_return_address(0);                     \
        __asm__ volatile("" : "+r"(caller_));                                  \
        caller_;                                                               \
    })

#define REQUEST(name, parameters, arguments)                                   \
    MPROF__STANDS_BEFORE void *name parameters {                               \
        const void *caller = CALLER();                                         \
        void *block = MPROF__BEHIND(name) arguments;                           \
        if (__builtin_expect(mprof__watching() != NULL, 0))                    \
            gave(block, bytes, caller);                                        \
        return block;                                                          \
    }

MPROF__STANDS_BEFORE void GC_free(void *block) {
    const struct ecl_monitor *monitor = mprof__watching();
    if (__builtin_expect(monitor != NULL, 0))
        monitor->freed(block);
    MPROF__BEHIND(GC_free)(block);
}

REQUEST(GC_malloc, (size_t bytes), (bytes))
REQUEST(GC_malloc_atomic, (size_t bytes), (bytes))
REQUEST(GC_malloc_uncollectable, (size_t bytes), (bytes))
REQUEST(GC_malloc_atomic_uncollectable, (size_t bytes), (bytes))
REQUEST(GC_malloc_ignore_off_page, (size_t bytes), (bytes))
REQUEST(GC_malloc_atomic_ignore_off_page, (size_t bytes), (bytes))
REQUEST(GC_malloc_explicitly_typed, (size_t bytes, uintptr_t descriptor),
        (bytes, descriptor))
