/* lisp_counter.c - see lisp_counter.h. */
#include "monitor/tree/lisp_counter.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "monitor/base/self.h"
#include "monitor/file/arena.h"

mprof_ref mprof__make_wide(struct mprof__arena *arena, uint32_t type,
                           const void *counter, const void *numbers,
                           size_t bytes) {
    const size_t head = offsetof(struct mprof_wide, allocated);
    struct mprof_wide *wide = NULL;
    mprof_ref ref = 0;
    int saved = errno;
    mprof__lock(&arena->lock);
    if (mprof__arena_has_room(arena, MPROF__FOR_ROOTS))
        wide = mprof__arena_record(arena, type, head + bytes);
    if (wide != NULL) {
        wide->counter = mprof__arena_ref(arena, counter);
        memcpy((char *)wide + head, numbers, bytes);
        ref = mprof__arena_publish(arena, wide);
    }
    mprof__unlock(&arena->lock);
    errno = saved;
    return ref;
}

bool mprof__lisp_counter_widen(struct mprof__trees *trees,
                               struct mprof_lisp_counter *counter,
                               struct mprof_count n) {
    struct mprof_count sum = mprof_narrow_count(counter->sum);
    sum.allocs += n.allocs;
    sum.bytes += n.bytes;
    mprof_ref wide =
        mprof__make_wide(trees->arena, MPROF_WIDE, counter, &sum, sizeof sum);
    if (wide != 0)
        mprof__store_release(&counter->sum, MPROF_IS_WIDE | wide);
    return wide != 0;
}

void mprof__lisp_counter_set(void *copy, struct mprof_lisp_counter *counter,
                             struct mprof_count n) {
    if (!(counter->sum & MPROF_IS_WIDE)) {
        counter->sum = mprof_narrow_sum(n);
        return;
    }
    struct mprof_wide *wide =
        (void *)((char *)copy + (size_t)mprof_wide_ref(counter->sum) * 8);
    wide->allocated = n;
}

bool mprof__counter_add(struct mprof__trees *trees,
                        struct mprof_counter *counter, bool in_spill,
                        struct mprof_count n) {
    if (mprof__knows_lives(trees) && in_spill) {
        mprof__count_more(&((struct mprof_spill_counter *)counter)->allocated,
                          n);
        return true;
    }
    if (mprof__knows_lives(trees)) {
        mprof__count_more(&((struct mprof_alive_counter *)counter)->allocated,
                          n);
        return true;
    }
    struct mprof_lisp_counter *own = (struct mprof_lisp_counter *)counter;
    return mprof__lisp_counter_add(trees->arena->base, own, n) ||
           mprof__lisp_counter_widen(trees, own, n);
}
