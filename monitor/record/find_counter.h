/* find_counter.h - the node of an allocation in the tree, and its counter.
 *
 * The path of an allocation is drawn in remembered.h.
 */
#ifndef MONITOR_RECORD_FIND_COUNTER_H
#define MONITOR_RECORD_FIND_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/base/atomic.h"
#include "monitor/file/arena.h"
#include "monitor/record/heap_events.h"
#include "monitor/tree/lisp_counter.h"
#include "monitor/walk/remembered.h"
#include "monitor/record/thread.h"
#include "monitor/tree/tree.h"
#include "monitor/unwind/walk.h"

/* Walk by rules from FRAME; return the node of the chain, made if need be. */
mprof_ref mprof__node_by_rules(struct mprof__thread *thread, const void *frame);
/* Count N in the record of THREAD, if their chain is lost or cut. */
void mprof__count_losses(struct mprof__thread *thread, struct mprof_count n);

/* In libraries for tests: take the chain once more, and compare; see
 * tests/support/check_walk.c. */
#ifdef MPROF_CHECK_WALKS
void mprof__check_walk(struct mprof__thread *thread, const void *frame);
void mprof__check_cell(struct mprof__thread *thread, const void *frame,
                       const struct mprof__cell *cell);
#else
static inline void mprof__check_cell(struct mprof__thread *thread,
                                     const void *frame,
                                     const struct mprof__cell *cell) {
    (void)thread, (void)frame, (void)cell;
}

static inline void mprof__check_walk(struct mprof__thread *thread,
                                     const void *frame) {
    (void)thread, (void)frame;
}
#endif

/* Where to count what has KEY of the chain that begins in the frame of CELL;
 * NULL: that is not known yet. */
static inline struct mprof_counter *
mprof__cell_counter(const struct mprof__memo *memo,
                    const struct mprof__cell *cell, uint32_t key) {
    mprof_ref ref = cell->counter[mprof__cell_counter_slot(key)];
    struct mprof_counter *counter = mprof__memo_at(memo, ref);
    return ref != 0 && counter->key == key ? counter : NULL;
}

/* The ref of THING in the data file that begins at BASE: the reverse of
 * mprof__memo_at(). */
static inline mprof_ref mprof__ref_from(const char *base, const void *thing) {
    return (mprof_ref)((uintptr_t)((const char *)thing - base) / 8);
}

/* Where to count what has KEY of the chain that begins at FRAME, after a walk
 * that came as far as TRAIL; made when it is not there.  NULL: the chain is to
 * be walked by rules, or there is no room.  In a guarded function; or for ME,
 * which is inside, and is not guarded then. */
struct mprof_counter *mprof__counter_by_cells(struct mprof__thread *thread,
                                              const void *frame,
                                              struct mprof__trail trail,
                                              uint32_t key);
struct mprof_counter *mprof__counter_guarded(struct mprof__self *me,
                                             struct mprof__thread *thread,
                                             const void *frame,
                                             struct mprof__trail trail,
                                             uint32_t key);

/* The cell where the chain from FRAME begins, when each frame is as it was;
 * else NULL, and *TRAIL is for the functions above.  It calls nothing. */
static inline __attribute__((always_inline)) const struct mprof__cell *
mprof__cell_quickly(struct mprof__thread *thread, const void *frame,
                    struct mprof__trail *trail) {
    const struct mprof__cell *cell =
        mprof__remembered(&thread->memo, frame, trail);
    if (__builtin_expect(cell != NULL, 1))
        mprof__check_cell(thread, frame, cell);
    return cell;
}

/* Where THREAD counts objects of Lisp of TYPE, or of the class OBJECT, if that
 * is not 0; NULL: it has to look. */
static inline struct mprof_bin *
mprof__bin_of(const struct mprof__thread *thread, unsigned type,
              uintptr_t object) {
    if (object == 0)
        return thread->bin[type];
    return thread->last_class == object ? thread->last_class_bin : NULL;
}

/* The key of what is counted in BIN, in the data file that begins at BASE. */
static inline uint32_t
mprof__bin_key(const char *base, const struct mprof_bin *bin, bool storage) {
    return mprof__ref_from(base, bin) | (storage ? MPROF_STORAGE : 0);
}

static inline void mprof__count_bin(struct mprof_bin *bin, bool storage,
                                    struct mprof_count n) {
    mprof__count_more(storage ? &bin->storage : &bin->objects, n);
}

/* N in COUNTER, which is in the tree of THREAD, and in BIN.  False: it is in
 * neither, as that takes longer. */
static inline __attribute__((always_inline)) bool
mprof__count_lisp(const struct mprof__thread *thread,
                  struct mprof_counter *counter, struct mprof_bin *bin,
                  bool storage, struct mprof_count n) {
    if (__builtin_expect(thread->trees.lives, 0))
        mprof__count_more(&((struct mprof_alive_counter *)counter)->allocated,
                          n);
    else if (__builtin_expect(!mprof__lisp_counter_add(
                                  thread->memo.base,
                                  (struct mprof_lisp_counter *)counter, n),
                              0))
        return false;
    mprof__count_bin(bin, storage, n);
    return true;
}

#endif
