/* short.c - the short chains of a full tree.
 *
 * Of these there are few, however many chains there are, and room is kept for
 * them: what each function allocated, and for which callers near by, stays
 * exact.
 */
#include "monitor/record/names.h"
#include "monitor/record/thread.h"
#include "monitor/record/tree.h"

mprof_ref mprof__tree_folded(struct mprof__thread *thread) {
    struct mprof__session *session = thread->session;
    if (thread->tree.folded != 0)
        return thread->tree.folded;
    mprof__lock(&session->lock);
    mprof_ref function =
        mprof__session_special(session, MPROF_FOLDED, &session->folded);
    mprof__unlock(&session->lock);
    if (function != 0)
        thread->tree.folded = mprof__tree_node(
            thread, thread->tree.root, function, function, MPROF__FOR_COUNTERS);
    return thread->tree.folded;
}

/* The node of the chain of the innermost LENGTH functions at frame INDEX; 0:
 * there is no ROOM. */
static mprof_ref find_innermost(struct mprof__thread *thread, size_t index,
                                unsigned length, enum mprof__room room) {
    size_t first = index;
    for (unsigned n = 1; first > 0 && n < length; first--)
        n += mprof__tree_function(thread, first - 1) != 0;
    mprof_ref node = mprof__tree_folded(thread);
    for (size_t i = first; node != 0 && i <= index; i++) {
        mprof_ref function = mprof__tree_function(thread, i);
        if (function == 0)
            continue;
        mprof_ref call = mprof__tree_call(thread, i, function);
        node = mprof__tree_node(thread, node, function, call, room);
        if (node != 0)
            mprof__tree_edge(thread, node, call, room);
    }
    return node;
}

/* A short chain, a shorter one, at the very end of the room the function
 * alone. */
mprof_ref mprof__tree_short(struct mprof__thread *thread, size_t index) {
    static const unsigned lengths[] = {[MPROF__FOR_SHORT] = MPROF__SHORT,
                                       [MPROF__FOR_SHORTER] = MPROF__SHORT / 2,
                                       [MPROF__FOR_COUNTERS] = 1};
    mprof_ref node = 0;
    for (int room = MPROF__FOR_SHORT; node == 0 && room <= MPROF__FOR_COUNTERS;
         room++)
        node = find_innermost(thread, index, lengths[room],
                              (enum mprof__room)room);
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
 * does not, if it is no longer. */
bool mprof__tree_leads(const struct mprof__thread *thread, mprof_ref parent,
                       mprof_ref child) {
    return depth_of(thread, child) <= depth_of(thread, parent) + 1;
}
