/* tree.c - the calling-context tree: from a chain to its node and counter.
 *
 * Nodes are keyed by (parent, function); two call sites of one function lead
 * to the same node.  A frame's way inwards is found by its link, in three
 * steps: what its caller's link called lately, all links by (parent, site), and
 * the nodes.  Invariant: every node that a link has is in `nodes`.
 */
#include <string.h>

#include "session.h"

/* In the keys of links, functions of interpreted objects instead of sites. */
#define BY_FUNCTION ((uint32_t)1 << 31)

static uint64_t pair(mprof_ref parent, uint32_t other) {
    return (uint64_t)parent << 32 | other;
}

/* Memory for links, of one thread */

struct mprof__pieces {
    struct mprof__pieces *next;
    size_t bytes, used;
};

enum { FIRST_PIECE = 4096, LARGEST_PIECE = 64 * 1024 };

struct mprof__link *mprof__new_link(struct mprof__thread *thread) {
    struct mprof__pieces *piece = thread->pieces;
    size_t bytes = sizeof(struct mprof__link);
    if (piece == NULL || piece->bytes - piece->used < bytes) {
        size_t size = piece == NULL                  ? FIRST_PIECE
                      : piece->bytes < LARGEST_PIECE ? 2 * piece->bytes
                                                     : LARGEST_PIECE;
        piece = mprof__map(size);
        if (piece == NULL)
            return NULL;
        piece->bytes = size;
        piece->used = (sizeof *piece + bytes - 1) / bytes * bytes;
        piece->next = thread->pieces;
        thread->pieces = piece;
    }
    void *link = (char *)piece + piece->used;
    piece->used += bytes;
    return link;
}

void mprof__tree_free(struct mprof__thread *thread) {
    while (thread->pieces != NULL) {
        struct mprof__pieces *next = thread->pieces->next;
        mprof__unmap(thread->pieces, thread->pieces->bytes);
        thread->pieces = next;
    }
    thread->root = NULL;
    mprof__table_free(&thread->edges);
    mprof__table_free(&thread->nodes);
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
    mprof__table_trim(&thread->nodes);
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

/* The link from PARENT to frame INDEX, whose function is FUNCTION. */
static struct mprof__link *make_link(struct mprof__thread *thread,
                                     const struct mprof__link *parent,
                                     size_t index, mprof_ref function) {
    const struct mprof__frame *frame = &thread->chain.frames[index];
    struct mprof__link *link = mprof__new_link(thread);
    if (link == NULL)
        return NULL;
    link->node = find_node(thread, parent->node, function, &link->folds);
    /* One that folds stands for calls from elsewhere too. */
    if (!link->folds && frame->object == 0) {
        mprof_ref node = mprof__arena_ref(&thread->session->arena, link->node);
        link->edge = record_edge(thread->session, node, frame);
    }
    return link;
}

/* Without memory for a link: PARENT itself. */
static struct mprof__link *find_link(struct mprof__thread *thread,
                                     struct mprof__link *parent, size_t index) {
    struct mprof__session *session = thread->session;
    const struct mprof__frame *frame = &thread->chain.frames[index];
    mprof_ref function = frame->site->function;
    uint32_t site = frame->site->id;
    if (frame->object != 0) {
        function = mprof__session_object(session, &thread->chain, index);
        site = function | BY_FUNCTION;
    }
    uint64_t key = pair(mprof__arena_ref(&session->arena, parent->node), site);
    struct mprof__slot *slot = mprof__table_find(&thread->edges, key);
    if (slot != NULL)
        return (struct mprof__link *)(uintptr_t)slot->value;
    struct mprof__link *link = make_link(thread, parent, index, function);
    if (link == NULL)
        return parent;
    mprof__table_add(&thread->edges, key, (uintptr_t)link);
    mprof__table_trim(&thread->edges);
    return link;
}

/* One step inwards from PARENT. */
static inline struct mprof__link *
inward(struct mprof__thread *thread, struct mprof__link *parent, size_t index,
       bool *folded) {
    const struct mprof__frame *frame = &thread->chain.frames[index];
    uint64_t key = frame->object != 0 ? frame->object : (uintptr_t)frame->site;
    struct mprof__inward *cache =
        &parent->inward[(key >> 4 ^ key >> 8) % MPROF__INWARD];
    if (__builtin_expect(cache->key != key, 0)) {
        struct mprof__link *link = find_link(thread, parent, index);
        *cache = (struct mprof__inward){key, (uintptr_t)link + link->folds};
    }
    *folded |= cache->way & 1;
    return (struct mprof__link *)(cache->way & ~(uintptr_t)1);
}

struct mprof__link *mprof__tree_link(struct mprof__thread *thread) {
    const struct mprof__chain *chain = &thread->chain;
    struct mprof__link *link = thread->root;
    bool folded = false;
    size_t i = chain->kept;
    if (i > 0) {
        link = chain->frames[i - 1].link;
        folded = chain->frames[i - 1].folded;
    }
    for (; i < chain->count; i++) {
        link = inward(thread, link, i, &folded);
        chain->frames[i].link = link;
        chain->frames[i].folded = folded;
    }
    return link;
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

struct mprof_counter *mprof__make_counter(struct mprof__thread *thread,
                                          struct mprof__link *link,
                                          unsigned class_) {
    struct mprof__session *session = thread->session;
    struct mprof__arena *arena = &session->arena;
    struct mprof_node *node = link->node;
    /* Those of Lisp do not tell the places in a function apart. */
    mprof_ref edge = thread->record->heap == MPROF_C_HEAP ? link->edge : 0;
    struct mprof_counter *counter = find_counter(arena, node, edge, class_);
    if (counter == NULL) {
        mprof__lock(&session->lock);
        if (mprof__arena_counters(arena))
            mprof__add_counter(session, thread->ref, node, edge, class_);
        mprof__unlock(&session->lock);
        counter = find_counter(arena, node, edge, class_);
    }
    /* Without room: the nearest one further out; the root has all. */
    while (counter == NULL) {
        if (node->counters[class_] != 0)
            counter = mprof__arena_at(arena, node->counters[class_]);
        else
            node = mprof__arena_at(arena, node->parent);
    }
    link->counter[class_] = counter;
    return counter;
}
