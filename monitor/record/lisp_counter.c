/* lisp_counter.c - see lisp_counter.h. */
#include "monitor/record/lisp_counter.h"

#include <errno.h>

#include "monitor/record/arena.h"
#include "monitor/record/session.h"

/* Under the session's lock. */
static struct mprof_wide *make(struct mprof__arena *arena,
                               const struct mprof_lisp_counter *counter,
                               struct mprof_count n) {
    struct mprof_wide *wide = NULL;
    if (mprof__arena_has_room(arena, MPROF__FOR_ROOTS))
        wide = mprof__arena_record(arena, MPROF_WIDE, sizeof *wide);
    if (wide == NULL)
        return NULL;
    struct mprof_count had = mprof_narrow_count(counter->sum);
    wide->counter = mprof__arena_ref(arena, counter);
    wide->allocated =
        (struct mprof_count){had.allocs + n.allocs, had.bytes + n.bytes};
    mprof__arena_publish(arena, wide);
    return wide;
}

bool mprof__lisp_counter_widen(struct mprof__thread *thread,
                               struct mprof_lisp_counter *counter,
                               struct mprof_count n) {
    struct mprof__session *session = thread->session;
    int saved = errno;
    mprof__lock(&session->lock);
    struct mprof_wide *wide = make(&session->arena, counter, n);
    mprof__unlock(&session->lock);
    errno = saved;
    if (wide == NULL)
        return false;
    mprof__store_release(
        &counter->sum, MPROF_IS_WIDE | mprof__arena_ref(&session->arena, wide));
    return true;
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

bool mprof__counter_add(struct mprof__thread *thread,
                        struct mprof_counter *counter, bool in_spill,
                        struct mprof_count n) {
    if (mprof__knows_lives(thread) && in_spill) {
        mprof__count_more(&((struct mprof_spill_counter *)counter)->allocated,
                          n);
        return true;
    }
    if (mprof__knows_lives(thread)) {
        mprof__count_more(&((struct mprof_alive_counter *)counter)->allocated,
                          n);
        return true;
    }
    struct mprof_lisp_counter *own = (struct mprof_lisp_counter *)counter;
    return mprof__lisp_counter_add(thread->session->arena.base, own, n) ||
           mprof__lisp_counter_widen(thread, own, n);
}
