/* tree.c - the calling-context tree: from a chain to its node and counter.
 *
 * Nodes are keyed by (parent, function); two call sites of one function lead
 * to the same node.  Edges, keyed by (parent, site), only shorten the way
 * there.  Invariant: every node in `edges` is in `nodes`.
 */
#include <string.h>

#include "session.h"

static uint64_t pair(mprof_ref parent, uint32_t other) {
    return (uint64_t)parent << 32 | other;
}

static uint64_t frame_key(const struct mprof__frame *frame) {
    return frame->object != 0 ? frame->object : frame->pc;
}

/* Past the limit: an ancestor that is the same function, else the parent. */
static struct mprof_node *fold(struct mprof__thread *thread,
                               struct mprof_node *parent, mprof_ref function) {
    struct mprof__arena *arena = &thread->session->arena;
    struct mprof_node *node = parent;
    while (node->function != function && node->parent != 0)
        node = mprof__arena_at(arena, node->parent);
    return node->function == function && function != 0 ? node : parent;
}

static struct mprof_node *add_node(struct mprof__thread *thread,
                                   struct mprof_node *parent,
                                   mprof_ref function) {
    struct mprof__session *session = thread->session;
    struct mprof__arena *arena = &session->arena;
    mprof_ref parent_ref = mprof__arena_ref(arena, parent);
    mprof__lock(&session->lock);
    struct mprof_node *node = NULL;
    if (mprof__arena_spare(arena))
        node = mprof__arena_record(arena, MPROF_NODE, sizeof *node);
    if (node != NULL) {
        node->thread = mprof__arena_ref(arena, thread->record);
        node->parent = parent_ref;
        node->function = function;
        mprof__arena_publish(arena, node);
        mprof__session_clock(session);
    }
    mprof__unlock(&session->lock);
    if (node != NULL)
        mprof__table_add(&thread->nodes, pair(parent_ref, function),
                         (uintptr_t)node);
    return node;
}

static struct mprof_node *find_node(struct mprof__thread *thread,
                                    struct mprof_node *parent,
                                    mprof_ref function, bool *folded) {
    mprof_ref parent_ref = mprof__arena_ref(&thread->session->arena, parent);
    struct mprof__slot *slot =
        mprof__table_find(&thread->nodes, pair(parent_ref, function));
    if (slot != NULL)
        return (struct mprof_node *)(uintptr_t)slot->value;
    struct mprof_node *node =
        function == 0 ? NULL : add_node(thread, parent, function);
    if (node == NULL) {
        *folded = true;
        node = fold(thread, parent, function);
    }
    return node;
}

static mprof_ref record_edge(struct mprof__session *session, mprof_ref node,
                             const struct mprof__frame *frame) {
    struct mprof__arena *arena = &session->arena;
    mprof_ref ref = 0;
    mprof__lock(&session->lock);
    struct mprof_edge *edge = NULL;
    if (mprof__arena_spare(arena))
        edge = mprof__arena_record(arena, MPROF_EDGE, sizeof *edge);
    if (edge != NULL) {
        struct mprof__slot *module = mprof__table_find(
            &session->modules, frame->site->unwind.module_start);
        edge->node = node;
        edge->module = module == NULL ? 0 : (mprof_ref)module->value;
        edge->return_address = frame->pc;
        ref = mprof__arena_publish(arena, edge);
    }
    mprof__unlock(&session->lock);
    return ref;
}

/* One step inwards from *LEAF. */
static void descend(struct mprof__thread *thread, struct mprof__leaf *leaf,
                    size_t index) {
    struct mprof__session *session = thread->session;
    struct mprof__arena *arena = &session->arena;
    const struct mprof__frame *frame = &thread->chain.frames[index];
    leaf->edge = 0;
    if (frame->object != 0) {
        mprof_ref function =
            mprof__session_object(session, &thread->chain, index);
        leaf->node = find_node(thread, leaf->node, function, &leaf->folded);
        return;
    }
    uint64_t key = pair(mprof__arena_ref(arena, leaf->node), frame->site->id);
    struct mprof__slot *slot = mprof__table_find(&thread->edges, key);
    if (slot != NULL) {
        leaf->node = mprof__arena_at(arena, (mprof_ref)(slot->value >> 32));
        leaf->edge = (mprof_ref)slot->value;
        return;
    }
    bool here = false;
    leaf->node = find_node(thread, leaf->node, frame->site->function, &here);
    if (here) {
        leaf->folded = true;
        return;
    }
    mprof_ref node = mprof__arena_ref(arena, leaf->node);
    leaf->edge = record_edge(session, node, frame);
    mprof__table_add(&thread->edges, key, pair(node, leaf->edge));
}

static bool more_links(struct mprof__thread *thread, size_t count) {
    size_t room = thread->last_room == 0 ? 1024 : thread->last_room;
    while (room < count)
        room *= 2;
    struct mprof__link *links = mprof__map(room * sizeof *links);
    if (links == NULL)
        return false;
    if (thread->last_count > 0)
        memcpy(links, thread->last, thread->last_count * sizeof *links);
    mprof__unmap(thread->last, thread->last_room * sizeof *links);
    thread->last = links;
    thread->last_room = room;
    return true;
}

void mprof__tree_flush(struct mprof__thread *thread) {
    /* The edges stay: a site that is made anew has another number. */
    thread->last_count = 0;
}

struct mprof__leaf mprof__tree_leaf(struct mprof__thread *thread) {
    const struct mprof__chain *chain = &thread->chain;
    size_t count = chain->count, i = chain->kept;
    bool keep = count <= thread->last_room || more_links(thread, count);
    if (i > thread->last_count)
        i = thread->last_count;
    while (i < thread->last_count && i < count &&
           thread->last[i].key == frame_key(&chain->frames[i]))
        i++;
    struct mprof__leaf leaf = {.node = thread->root};
    if (i > 0)
        leaf = thread->last[i - 1].leaf;
    /* Should a jump leave what follows, only the links up to here are true. */
    thread->last_count = i;
    for (; i < count; i++) {
        descend(thread, &leaf, i);
        if (keep)
            thread->last[i] =
                (struct mprof__link){frame_key(&chain->frames[i]), leaf};
    }
    thread->last_count = keep ? count : 0;
    return leaf;
}

static struct mprof_counter *find_counter(const struct mprof__arena *arena,
                                          const struct mprof_node *node,
                                          mprof_ref edge, unsigned class_) {
    mprof_ref ref = node->counters[class_];
    while (ref != 0) {
        struct mprof_counter *counter = mprof__arena_at(arena, ref);
        if (counter->edge == edge)
            return counter;
        ref = counter->next;
    }
    return NULL;
}

bool mprof__add_counter(struct mprof__session *session, mprof_ref thread,
                        struct mprof_node *node, mprof_ref edge,
                        unsigned class_) {
    struct mprof__arena *arena = &session->arena;
    struct mprof_counter *counter =
        mprof__arena_record(arena, MPROF_COUNTER, sizeof *counter);
    if (counter == NULL)
        return false;
    counter->node = mprof__arena_ref(arena, node);
    counter->edge = edge;
    counter->thread = thread;
    counter->next = node->counters[class_];
    counter->class_ = class_;
    mprof_ref ref = mprof__arena_publish(arena, counter);
    __atomic_store_n(&node->counters[class_], ref, __ATOMIC_RELEASE);
    return true;
}

struct mprof_counter *mprof__counter(struct mprof__thread *thread,
                                     const struct mprof__leaf *leaf,
                                     unsigned class_) {
    struct mprof__session *session = thread->session;
    struct mprof__arena *arena = &session->arena;
    struct mprof_node *node = leaf->node;
    struct mprof_counter *counter =
        find_counter(arena, node, leaf->edge, class_);
    if (__builtin_expect(counter != NULL, 1))
        return counter;
    mprof__lock(&session->lock);
    if (mprof__arena_counters(arena))
        mprof__add_counter(session, thread->ref, node, leaf->edge, class_);
    mprof__unlock(&session->lock);
    counter = find_counter(arena, node, leaf->edge, class_);
    /* Without room: the nearest one further out; the root has all. */
    while (counter == NULL) {
        if (node->counters[class_] != 0)
            return mprof__arena_at(arena, node->counters[class_]);
        node = mprof__arena_at(arena, node->parent);
    }
    return counter;
}
