/* tree.h - a tree of nodes whose call sites a test chooses. */
#ifndef TESTS_SUPPORT_TREE_H
#define TESTS_SUPPORT_TREE_H

#include "tests/support/check.h"
#include "tests/support/made.h"
#include "monitor/record/find_counter.h"
#include "monitor/record/thread.h"
#include "monitor/tree/c_counter.h"

enum { SITES = 40, FUNCTIONS = 12, DEPTH = 30, CHAINS = 20000 };

static enum mprof_heap heap; /* of the threads; 0 is Lisp's */
static struct mprof__session *session;
static struct mprof__thread *thread;
static struct mprof__site site[SITES];
static struct mprof__frame frame[4 * DEPTH];

/* SITES call sites spread over FUNCTIONS functions. */
static inline int begin(uint64_t limit) {
    mprof_ref function[FUNCTIONS];
    session = made_session(limit);
    for (unsigned i = 0; i < FUNCTIONS; i++)
        function[i] = made_function(session, 0x1000 * (i + 1));
    for (unsigned i = 0; i < SITES; i++)
        site[i] = (struct mprof__site){
            .has_rule = true,
            .function = function[i % FUNCTIONS],
            .ref = made_site(session, function[i % FUNCTIONS], 0x5000 + i)};
    thread = made_thread(session, heap);
    thread->chain.frames = frame;
    return 0;
}

static inline void end(void) {
    made_end(session, thread);
}

/* COUNT frames, outermost first in SITES_OF. */
static inline mprof_ref find(const unsigned *sites_of, size_t count) {
    for (size_t i = 0; i < count; i++) {
        unsigned s = sites_of[i];
        frame[i] = (struct mprof__frame){.site = &site[s], .pc = 0x5000 + s};
    }
    thread->chain.count = count;
    thread->chain.innermost = count > 0 ? &frame[count - 1] : NULL;
    thread->chain.reused = 0;
    return mprof__trees_node(&thread->trees);
}

static inline struct mprof_node *at(mprof_ref node) {
    return mprof__arena_at(&session->arena, node);
}

static inline struct mprof_node *place(const unsigned *sites_of, size_t count,
                                       bool *folded) {
    mprof_ref node = find(sites_of, count);
    *folded = count > 0 && frame[count - 1].folded;
    return at(node);
}

static inline void tell(mprof_ref node, unsigned class_, uint64_t bytes) {
    const struct mprof_count n = {1, bytes};
    struct mprof_counter *counter =
        mprof__counter(&thread->trees, node, class_, n);
    if (heap == MPROF_C_HEAP)
        mprof__c_counter_add(&session->arena, &thread->share,
                             (struct mprof_c_counter *)counter, bytes, false);
    else
        assert_true(mprof__counter_add(&thread->trees, counter, false, n));
}

#endif
