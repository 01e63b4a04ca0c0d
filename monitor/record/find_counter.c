/* find_counter.c - see find_counter.h. */
#include "monitor/record/find_counter.h"

#include "monitor/base/atomic.h"
#include "monitor/walk/deepest.h"
#include "monitor/walk/plainly.h"

/* The same when CELL is where the chain begins. */
static inline struct mprof_counter *counter_of(struct mprof__thread *thread,
                                               const void *frame,
                                               struct mprof__cell *cell,
                                               uint32_t key) {
    mprof__check_cell(thread, frame, cell);
    struct mprof_counter *counter =
        mprof__cell_counter(&thread->memo, cell, key);
    if (__builtin_expect(counter != NULL, 1))
        return counter;
    counter = mprof__tree_counter(&thread->trees, cell->node, cell->call, key);
    if (counter != NULL)
        cell->counter[mprof__cell_counter_slot(key)] =
            mprof__ref_from(thread->memo.base, counter);
    return counter;
}

struct mprof_counter *mprof__counter_by_cells(struct mprof__thread *thread,
                                              const void *frame,
                                              struct mprof__trail trail,
                                              uint32_t key) {
    struct mprof__cell *cell =
        mprof__remembered_slowly(&thread->memo, frame, trail);
    return cell == NULL ? NULL : counter_of(thread, frame, cell, key);
}

struct mprof_counter *__attribute__((noinline))
mprof__counter_guarded(struct mprof__self *me, struct mprof__thread *thread,
                       const void *frame, struct mprof__trail trail,
                       uint32_t key) {
    /* The file may have been cut while this thread was inside. */
    if (mprof__recording_id() == 0)
        return NULL;
    struct mprof_counter *counter = NULL;
    struct mprof__cell *cell =
        mprof__remembered_perhaps(&thread->memo, frame, &trail);
    if (cell != NULL)
        counter = mprof__cell_counter(&thread->memo, cell, key);
    if (counter != NULL) {
        mprof__check_cell(thread, frame, cell);
        return counter;
    }
    if (mprof__guard(me))
        counter = cell != NULL
                      ? counter_of(thread, frame, cell, key)
                      : mprof__counter_by_cells(thread, frame, trail, key);
    me->guarded = false;
    return counter;
}

/* The next walk by cells may end at the mark where this one did. */
static void note_outermost_mark(const struct mprof__chain *chain) {
    const struct mprof__frame *f = &chain->frames[chain->unreturned - 1];
    if (f->marked && !f[-1].folded)
        mprof__walk_set_outer(chain, f->mark, f[-1].node);
}

mprof_ref mprof__node_by_rules(struct mprof__thread *thread,
                               const void *frame) {
    struct mprof__chain *chain = &thread->chain;
    mprof__walk(chain, frame);
    if (chain->innermost != NULL &&
        mprof__stack_is_deeper(&thread->memo, chain->innermost->low))
        mprof__stack_by_rules(&thread->memo);
    if (chain->interprets)
        mprof__adapter.match(chain);
    mprof_ref node = mprof__trees_node(&thread->trees);
    mprof__walk_done(chain);
    if (chain->unreturned > 1)
        note_outermost_mark(chain);
    mprof__check_walk(thread, frame);
    return node;
}

void mprof__count_losses(struct mprof__thread *thread, struct mprof_count n) {
    const struct mprof__chain *chain = &thread->chain;
    if (thread->trees.lost) {
        mprof__bump(&thread->record->folded_allocs, n.allocs);
        mprof__bump(&thread->record->folded_bytes, n.bytes);
    }
    if (chain->cut) {
        mprof__bump(&thread->record->cut_allocs, n.allocs);
        mprof__bump(&thread->record->cut_bytes, n.bytes);
    }
}
