/* short.c - the short chains of a full tree.
 *
 * Of these there are few, however many chains there are, and room is kept for
 * them: what each function allocated, and for which callers near by, stays
 * exact.
 */
#include "monitor/names/names.h"
#include "monitor/names/shown.h"
#include "monitor/record/thread.h"
#include "monitor/record/tree.h"

/* Frames of a short chain with plumbing. */
enum { MOST_FRAMES = 64 };

mprof_ref mprof__tree_folded(struct mprof__thread *thread) {
    struct mprof__session *session = thread->session;
    if (thread->tree.folded != 0)
        return thread->tree.folded;
    mprof__lock(&session->arena.lock);
    mprof_ref function = mprof__function_special(&session->names, MPROF_FOLDED,
                                                 &session->names.folded);
    mprof__unlock(&session->arena.lock);
    if (function != 0)
        thread->tree.folded = mprof__tree_node(
            thread, thread->tree.root, function, false, MPROF__FOR_COUNTERS);
    return thread->tree.folded;
}

/* The frame where the chain of the innermost LENGTH functions at frame INDEX
 * begins, of those that the tables show: what plumbing allocates is theirs. */
static size_t find_first(struct mprof__thread *thread, size_t index,
                         unsigned length) {
    unsigned all = 0, shown = 0;
    for (;; index--) {
        mprof_ref function = mprof__tree_function(thread, index);
        all++;
        shown +=
            function != 0 && !mprof__shown(&thread->shows, function).hidden;
        if (index == 0 || shown >= length || all >= MOST_FRAMES)
            return index;
    }
}

/* The node of the chain from frame FIRST to LAST; 0: there is no ROOM. */
static mprof_ref find_part(struct mprof__thread *thread, size_t first,
                           size_t last, enum mprof__room room) {
    mprof_ref node =
        first == 0 ? thread->tree.root : mprof__tree_folded(thread);
    for (size_t i = first; node != 0 && i <= last; i++) {
        mprof_ref function = mprof__tree_function(thread, i);
        if (function != 0)
            node = mprof__tree_node(
                thread, node, mprof__tree_call(thread, i, function),
                room != MPROF__FOR_COUNTERS && mprof__tree_news(thread, i),
                room);
    }
    return node;
}

/* A short chain, a shorter one, at the very end of the room the function
 * alone. */
mprof_ref mprof__tree_short(struct mprof__thread *thread, size_t index) {
    static const unsigned lengths[] = {[MPROF__FOR_SHORT] = MPROF__SHORT,
                                       [MPROF__FOR_SHORTER] = MPROF__SHORTER,
                                       [MPROF__FOR_COUNTERS] = 1};
    mprof_ref node = 0;
    for (int room = MPROF__FOR_SHORT; node == 0 && room <= MPROF__FOR_COUNTERS;
         room++) {
        size_t first = find_first(thread, index, lengths[room]);
        node = find_part(thread, first, index, (enum mprof__room)room);
    }
    return node;
}

/* How many functions lead from the root to NODE. */
static unsigned depth_of(const struct mprof__thread *thread, mprof_ref node) {
    const struct mprof_node *at =
        mprof__arena_at(&thread->session->arena, node);
    unsigned depth = 0;
    for (; at->parent != 0; depth++)
        at = mprof__arena_at(&thread->session->arena, at->parent);
    return depth;
}

/* Both tell the innermost functions of one chain: CHILD nothing that PARENT
 * does not, if it is no longer.  Where room is short, a chain may be told less
 * of than the one that it calls. */
static bool leads(const struct mprof__thread *thread, mprof_ref parent,
                  mprof_ref child) {
    return depth_of(thread, child) <= depth_of(thread, parent) + 1;
}

/* These steps have keys of their own, also where they begin at a node of a
 * whole chain: other keys are even, as what they are the addresses of. */
mprof_ref mprof__short_inward(struct mprof__thread *thread, mprof_ref parent,
                              size_t index, bool leaves) {
    uint64_t key = mprof__step_key(&thread->chain.frames[index]) + 1;
    const struct mprof__step *step = mprof__step_at(&thread->tree, parent, key);
    if (mprof__is_step(step, parent, key))
        return step->child;
    /* A function that there is no record for is its caller. */
    mprof_ref node = mprof__tree_function(thread, index) == 0
                         ? parent
                         : mprof__tree_short(thread, index);
    if (node == 0)
        node = parent;
    if (leaves || leads(thread, parent, node))
        mprof__tree_remember(thread, &thread->tree, parent, key, node);
    return node;
}
