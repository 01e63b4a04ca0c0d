/* trees.h - the calling contexts of a thread in one heap: the tree of whole and
 * short chains, the spill, and where the chain counts that was walked last.
 */
#ifndef MONITOR_TREE_TREES_H
#define MONITOR_TREE_TREES_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/file/arena.h"
#include "monitor/names/shown.h"
#include "monitor/tree/counters.h"
#include "monitor/tree/spill.h"
#include "monitor/tree/tree.h"
#include "monitor/unwind/walk.h"

/* Only the thread itself touches it. */
struct mprof__trees {
    struct mprof__arena *arena;
    struct mprof__chain *chain;  /* that the thread walked last */
    struct mprof_thread *record; /* the THREAD */
    mprof_ref ref;               /* of that */
    struct mprof__tree tree;
    struct mprof__spill spill;
    struct mprof__shows shows;
    bool lost;  /* that is what folded frames of the chain are */
    bool lives; /* Lisp: live objects are followed */
    /* By key: a counter of the chain, or 0; and the one that objects remember.
     * They are of this node and site. */
    mprof_ref counter[MPROF_CLASSES], owner[MPROF_CLASSES];
    mprof_ref counted;
    const struct mprof__site *counted_site;
};

/* Make the root of TREES, whose thread has a record.  False: no memory. */
bool mprof__trees_begin(struct mprof__trees *trees);

/* Give the chain that was just walked, and its frames, their nodes; return the
 * chain's. */
mprof_ref mprof__trees_node(struct mprof__trees *trees);

/* Where what has KEY is in arrays of as many as there are classes. */
static inline unsigned mprof__key_slot(uint32_t key) {
    return (key ^ key >> 31) % MPROF_CLASSES;
}

/* Is a node one call site of its function? */
static inline bool mprof__by_site(const struct mprof__trees *trees) {
    return trees->record->heap == MPROF_C_HEAP;
}

static inline bool mprof__knows_lives(const struct mprof__trees *trees) {
    return trees->lives || mprof__by_site(trees);
}

/* Where to count N with KEY of the chain that was just walked, which has its
 * place at NODE. */
static inline struct mprof_counter *mprof__counter(struct mprof__trees *trees,
                                                   mprof_ref node, uint32_t key,
                                                   struct mprof_count n) {
    mprof_ref ref = trees->counter[mprof__key_slot(key)];
    struct mprof_counter *counter = mprof__arena_at(trees->arena, ref);
    if (__builtin_expect(ref != 0 && counter->key == key, 1))
        return counter;
    return mprof__make_counter(trees, node, key, n);
}

/* Is the chain that was just walked lost, or cut? */
static inline bool mprof__has_losses(const struct mprof__trees *trees) {
    return trees->lost || trees->chain->cut;
}

#endif
