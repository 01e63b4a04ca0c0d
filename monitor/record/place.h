/* place.h - the place of an allocation in the tree, and its counter.
 *
 * What one allocation passes through:
 *     Lisp: ecl_hook.c -> mprof__allocated (lisp_record.c) -> walk.c -> tree.c
 *           -> a counter of a node and a bin in the data file (arena.c)
 *     C:    malloc.c -> malloc_hook.c -> mprof__c_allocated (c_record.c)
 *           -> walk.c -> tree.c -> a counter, a size, an object (objects.c)
 * Most allocations have the chain of the one before: then mprof__find_place()
 * below, by mprof__walk_again() (walk.h), is the whole way from the hook to the
 * counter.  look.c sees to it that this is so, with the marks of marks.c.
 */
#ifndef MONITOR_RECORD_PLACE_H
#define MONITOR_RECORD_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/base/atomic.h"
#include "monitor/record/adapter.h"
#include "monitor/record/arena.h"
#include "monitor/record/remembered.h"
#include "monitor/record/thread.h"
#include "monitor/record/tree.h"
#include "monitor/unwind/walk.h"

/* Walk from FRAME, which does not find the chain of the walk before, and find
 * or make the place of the chain in the tree. */
mprof_ref mprof__locate(struct mprof__thread *thread, const void *frame);
/* The same for frames that interpret another function than before. */
mprof_ref mprof__relocate(struct mprof__thread *thread);
/* Count an allocation whose chain is lost or cut as such. */
void mprof__count_losses(struct mprof__thread *thread, uint64_t bytes);

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

/* The node of the chain that begins at FRAME, when it is that of the walk
 * before; else 0. */
static inline mprof_ref mprof__find_place(struct mprof__thread *thread,
                                          const void *frame) {
    struct mprof__chain *chain = &thread->chain;
    enum mprof__same same = mprof__walk_again(chain, frame);
    if (__builtin_expect(same == MPROF__DIFFERS, 0))
        return 0;
    mprof_ref node = chain->innermost->node;
    if (__builtin_expect(same == MPROF__SAME_IF, 0)) {
        mprof__adapter.match(chain);
        if (chain->reused < chain->count)
            node = mprof__relocate(thread);
    }
    mprof__check_walk(thread, frame);
    return node;
}

/* The node of the chain that begins at FRAME. */
static inline mprof_ref mprof__place(struct mprof__thread *thread,
                                     const void *frame) {
    mprof_ref node = mprof__find_place(thread, frame);
    if (__builtin_expect(node != 0, 1))
        return node;
    node = mprof__locate(thread, frame);
    mprof__check_walk(thread, frame);
    return node;
}

/* Where to count what is of CLASS_ of the chain that begins in the frame of
 * CELL; NULL: there is none yet. */
static inline struct mprof_counter *
mprof__cell_counter(const struct mprof__memo *memo,
                    const struct mprof__cell *cell, unsigned class_) {
    mprof_ref ref = cell->counter[class_ % 2];
    struct mprof_counter *counter = mprof__memo_at(memo, ref);
    return ref != 0 && counter->class_ == class_ ? counter : NULL;
}

/* Is the chain that THREAD just walked lost, or cut? */
static inline bool mprof__has_losses(const struct mprof__thread *thread) {
    return thread->lost || thread->chain.cut;
}

/* Where to count BYTES of CLASS_ of the chain that THREAD just walked, which
 * has its place at NODE. */
static inline struct mprof_counter *mprof__counter(struct mprof__thread *thread,
                                                   mprof_ref node,
                                                   unsigned class_,
                                                   uint64_t bytes) {
    mprof_ref ref = thread->counter[class_];
    if (__builtin_expect(ref != 0, 1))
        return mprof__arena_at(&thread->session->arena, ref);
    return mprof__make_counter(thread, node, class_, bytes);
}

/* Counters have one writer. */
static inline void mprof__count(struct mprof_count *count, uint64_t bytes) {
    mprof__bump(&count->allocs, 1);
    mprof__bump(&count->bytes, bytes);
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

/* mprof__allocated() for ME, which is inside already and leaves here; its walk
 * came as far as WAY, or has not begun. */
void mprof__allocated_inside(struct mprof__self *me,
                             const struct mprof__event *event,
                             const void *frame, struct mprof__trail way);

static inline void mprof__count_lisp(struct mprof_counter *counter,
                                     struct mprof_bin *bin, bool storage,
                                     uint64_t bytes) {
    mprof__count(&counter->allocated, bytes);
    mprof__count(storage ? &bin->storage : &bin->objects, bytes);
}

#endif
