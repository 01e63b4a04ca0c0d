/* tree.h - the calling-context tree of a thread; see tree.c.
 *
 *     in memory, the thread's              in the data file, for good
 *
 *     root link ------------------- node -> NODE (no function)
 *      | child[]: by child_key             ^ parent    ^ node
 *      v                                   |           |
 *     link: main, calls at +12 ---- node -> NODE main  | --- counters[class]
 *      |                        \-- edge --------------|----> EDGE +12
 *      v                         \- counter[class] ----+----> COUNTER, next ...
 *     link: f, calls malloc at +8 -- ...
 *
 * Two call sites of one function are two links and one node.
 *
 * When there is no room for a new node, the chain is folded from there inwards:
 * its frames have the nodes of short chains, which lead from the root by way of
 * a node of the function FOLDED to the innermost MPROF__SHORT functions.  Of
 * these there are few, however many chains there are, and room is kept for
 * them: what each function allocated, and for which callers near by, stays
 * exact.
 *
 * Of the nodes: parent < node, as refs; each but the root has a function.  No
 * two have both parent and function the same, and `nodes` has them all but the
 * root. Of the links in `edges`: the number is at most link_count; node is a
 * NODE of this thread; edge is 0 or an EDGE of that node; counter[c] is 0 or a
 * COUNTER of class c of that node or, when there was no room, of one further
 * out. Of COUNTERs: those of a node and a class are chained by `next`, newest
 * first.
 */
#ifndef MONITOR_RECORD_TREE_H
#define MONITOR_RECORD_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/base/table.h"
#include "monitor/format/format.h"

struct mprof__session;
struct mprof__thread;

enum {
    MPROF__INWARD = 4,
    MPROF__LINKS = 1024, /* in a piece of memory */
    MPROF__PIECES = 16384,
    MPROF__SHORT = 8 /* functions of a short chain */
};

/* A call site of a context, with cached counters: the function of a node calls
 * another one from one place; where the chain ends, it calls the allocator.
 * Made by tree.c, of the thread's memory, and numbered from 1; the number 0
 * stands for none.  One line of the processor's cache. */
struct mprof__link {
    /* What was called from there lately, a cache. */
    uint32_t child_key[MPROF__INWARD]; /* of the other links' keys */
    uint32_t child[MPROF__INWARD]; /* their numbers, with MPROF__FOLDS or not */
    uint64_t key; /* how it is called: site, or interpreted object */
    mprof_ref counter[MPROF_CLASSES]; /* COUNTER; 0: not asked for yet */
    mprof_ref node;                   /* ... of the function that calls */
    mprof_ref edge;                   /* EDGE; 0: there is none */
} __attribute__((aligned(64)));

/* The node is that of a short chain: the tree was full. */
#define MPROF__FOLDS ((uint32_t)1 << 31)

/* Of a thread, and only it touches it. */
struct mprof__tree {
    struct mprof__link *root;    /* its node has counters of all classes */
    mprof_ref folded;            /* NODE of short chains; 0: there are none */
    struct mprof__table edges;   /* (parent, site or function) -> link */
    struct mprof__table nodes;   /* (parent, function) -> node */
    struct mprof__link **pieces; /* MPROF__PIECES of links; mapped */
    uint32_t link_count;
};

static inline struct mprof__link *
mprof__tree_link_at(const struct mprof__tree *tree, uint32_t number) {
    return &tree->pieces[number / MPROF__LINKS][number % MPROF__LINKS];
}

/* The invariants, of THREAD's tree, which nobody changes meanwhile; see
 * tree_check.c. */
void mprof__tree_check(const struct mprof__thread *thread);

/* The place of the chain that THREAD just walked. */
struct mprof__link *mprof__tree_link(struct mprof__thread *thread);
/* Make the counter of a link for CLASS_; when there is no room, that of its
 * function alone, or one further out, and then BYTES count as folded. */
struct mprof_counter *mprof__make_counter(struct mprof__thread *thread,
                                          struct mprof__link *link,
                                          unsigned class_, uint64_t bytes);
/* Add a counter; under the session's lock. */
bool mprof__add_counter(struct mprof__session *session, mprof_ref thread,
                        struct mprof_node *node, mprof_ref edge,
                        unsigned class_);
/* A link with nothing in it; NULL: no memory. */
struct mprof__link *mprof__new_link(struct mprof__thread *thread,
                                    uint32_t *number);
/* Give back the memory of the tree that is not in the data file. */
void mprof__tree_free(struct mprof__thread *thread);

#endif
