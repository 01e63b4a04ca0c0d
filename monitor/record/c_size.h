/* c_size.h - what was allocated and freed of each size in the C heap. */
#ifndef MONITOR_RECORD_C_SIZE_H
#define MONITOR_RECORD_C_SIZE_H

#include <stdint.h>

#include "monitor/base/atomic.h"
#include "monitor/record/thread.h"

/* Return the number of the SIZE for objects of BYTES: all large ones have one.
 */
static inline uint32_t mprof__size_bin(uint64_t bytes) {
    return bytes <= MPROF_LARGEST_BIN ? (uint32_t)bytes : MPROF_LARGEST_BIN + 1;
}

/* mprof_size_class() of all that have a SIZE of their own. */
extern MPROF__NEAR const uint8_t mprof__classes[MPROF_LARGEST_BIN + 1];

/* Add an object of BYTES to a count that several threads write. */
static inline void mprof__count_atomic(uint64_t *count, uint64_t *sum,
                                       uint64_t bytes) {
    mprof__add_relaxed(count, 1);
    mprof__add_relaxed(sum, bytes);
}

/* Return a new SIZE in which THREAD counts objects of thread OWNER; NULL: no
 * space. */
struct mprof_size *mprof__add_size(struct mprof__thread *thread,
                                   mprof_ref owner, uint32_t size);

/* Return THREAD's SIZE for its own objects, made if it is not there; NULL: no
 * space. */
struct mprof_size *mprof__make_size(struct mprof__thread *thread,
                                    uint32_t size);
static inline struct mprof_size *mprof__own_size(struct mprof__thread *thread,
                                                 uint32_t size) {
    struct mprof_size *own = thread->sizes[size];
    return own != NULL ? own : mprof__make_size(thread, size);
}

#endif
