/* tree.c - the calling-context tree: from a chain to its node and counter.
 *
 * Nodes are keyed by (parent, function); two call sites of one function lead
 * to the same node.  A frame's child is found by its link, in three
 * steps: what its caller's link called lately, all links by (parent, site), and
 * the nodes.  Invariant: every node that a link has is in `nodes`.
 */
#include "monitor/record/tree.h"

#include "monitor/base/atomic.h"
#include "monitor/record/names.h"
#include "monitor/record/thread.h"

/* In the keys of links, functions of interpreted objects instead of sites. */
#define BY_FUNCTION ((uint32_t)1 << 31)

static uint64_t pair(mprof_ref parent, uint32_t other) {
    return (uint64_t)parent << 32 | other;
}

/* Memory for links, of one thread */

struct mprof__link *mprof__new_link(struct mprof__thread *thread,
                                    uint32_t *number) {
    size_t bytes = MPROF__PIECES * sizeof *thread->tree.pieces;
    if (thread->tree.pieces == NULL)
        thread->tree.pieces = mprof__map(bytes);
    uint32_t n = thread->tree.link_count + 1, piece = n / MPROF__LINKS;
    if (thread->tree.pieces == NULL || piece >= MPROF__PIECES)
        return NULL;
    if (thread->tree.pieces[piece] == NULL)
        thread->tree.pieces[piece] =
            mprof__map(MPROF__LINKS * sizeof(struct mprof__link));
    if (thread->tree.pieces[piece] == NULL)
        return NULL;
    thread->tree.link_count = n;
    *number = n;
    return mprof__tree_link_at(&thread->tree, n);
}

void mprof__tree_free(struct mprof__thread *thread) {
    for (uint32_t i = 0; thread->tree.pieces != NULL && i < MPROF__PIECES; i++)
        mprof__unmap(thread->tree.pieces[i],
                     MPROF__LINKS * sizeof(struct mprof__link));
    mprof__unmap(thread->tree.pieces,
                 MPROF__PIECES * sizeof *thread->tree.pieces);
    thread->tree.pieces = NULL;
    thread->tree.root = NULL;
    mprof__table_free(&thread->tree.edges);
    mprof__table_free(&thread->tree.nodes);
}

static inline uint64_t key_of(const struct mprof__frame *frame) {
    return frame->object != 0 ? frame->object : (uintptr_t)frame->site;
}

/* Never 0, which stands for no link. */
static inline uint32_t child_key_of(uint64_t key) {
    return (uint32_t)(key >> 4) | (uint32_t)1 << 31;
}

static struct mprof_node *add_node(struct mprof__thread *thread,
                                   mprof_ref parent, mprof_ref function,
                                   enum mprof__room room) {
    struct mprof__session *session = thread->session;
    struct mprof__arena *arena = &session->arena;
    mprof__lock(&session->lock);
    struct mprof_node *node = NULL;
    if (mprof__arena_has_room(arena, room))
        node = mprof__arena_record(arena, MPROF_NODE, sizeof *node);
    if (node != NULL) {
        node->thread = mprof__arena_ref(arena, thread->record);
        node->parent = parent;
        node->function = function;
        mprof__arena_publish(arena, node);
        mprof__session_clock(session);
    }
    mprof__unlock(&session->lock);
    if (node != NULL)
        mprof__table_add(&thread->tree.nodes, pair(parent, function),
                         (uintptr_t)node);
    mprof__table_trim(&thread->tree.nodes);
    return node;
}

/* The node of FUNCTION called by that of PARENT, or 0: there is no room. */
static mprof_ref find_node(struct mprof__thread *thread, mprof_ref parent,
                           mprof_ref function, enum mprof__room room) {
    struct mprof__slot *slot =
        mprof__table_find(&thread->tree.nodes, pair(parent, function));
    struct mprof_node *node = slot != NULL
                                  ? (void *)(uintptr_t)slot->value
                                  : add_node(thread, parent, function, room);
    return node == NULL ? 0 : mprof__arena_ref(&thread->session->arena, node);
}

/* The node that all short chains begin with; 0: there is no room. */
static mprof_ref find_folded(struct mprof__thread *thread) {
    struct mprof__session *session = thread->session;
    if (thread->tree.folded != 0)
        return thread->tree.folded;
    mprof__lock(&session->lock);
    mprof_ref function =
        mprof__session_special(session, MPROF_FOLDED, &session->folded);
    mprof__unlock(&session->lock);
    if (function != 0)
        thread->tree.folded = find_node(thread, thread->tree.root->node,
                                        function, MPROF__FOR_COUNTERS);
    return thread->tree.folded;
}

/* The FUNCTION of a frame that has a link already, or 0. */
static mprof_ref function_of(const struct mprof__thread *thread, size_t index) {
    const struct mprof_node *node = mprof__arena_at(
        &thread->session->arena, thread->chain.frames[index].link->node);
    return node->function;
}

/* The node of the chain of the innermost LENGTH functions at frame INDEX, which
 * runs FUNCTION; 0: there is no room. */
static mprof_ref find_innermost(struct mprof__thread *thread, size_t index,
                                mprof_ref function, unsigned length,
                                enum mprof__room room) {
    size_t first = index;
    for (unsigned n = 1; first > 0 && n < length; first--)
        n += function_of(thread, first - 1) != 0;
    mprof_ref node = find_folded(thread);
    for (size_t i = first; node != 0 && i <= index; i++) {
        mprof_ref f = i == index ? function : function_of(thread, i);
        if (f != 0)
            node = find_node(thread, node, f, room);
    }
    return node;
}

/* That of a short chain, of a shorter one, at the very end of the room of the
 * function alone. */
static mprof_ref find_short(struct mprof__thread *thread, size_t index,
                            mprof_ref function) {
    static const unsigned lengths[] = {[MPROF__FOR_SHORT] = MPROF__SHORT,
                                       [MPROF__FOR_SHORTER] = MPROF__SHORT / 2,
                                       [MPROF__FOR_COUNTERS] = 1};
    mprof_ref node = 0;
    for (int room = MPROF__FOR_SHORT; node == 0 && room <= MPROF__FOR_COUNTERS;
         room++)
        node = find_innermost(thread, index, function, lengths[room],
                              (enum mprof__room)room);
    return node;
}

static mprof_ref record_edge(struct mprof__session *session, mprof_ref node,
                             const struct mprof__frame *frame,
                             enum mprof__room room) {
    struct mprof__arena *arena = &session->arena;
    mprof_ref ref = 0;
    mprof__lock(&session->lock);
    struct mprof_edge *edge = NULL;
    if (mprof__arena_has_room(arena, room))
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

/* The link from PARENT to frame INDEX, whose function is FUNCTION; *CHILD is
 * how it is written in caches and tables, with MPROF__FOLDS if that is set
 * already or there is no room.  NULL: no memory. */
static struct mprof__link *make_link(struct mprof__thread *thread,
                                     const struct mprof__link *parent,
                                     size_t index, mprof_ref function,
                                     uint32_t *child) {
    const struct mprof__frame *frame = &thread->chain.frames[index];
    uint32_t folds = *child & MPROF__FOLDS;
    enum mprof__room room = MPROF__FOR_CHAINS;
    struct mprof__link *link = mprof__new_link(thread, child);
    if (link == NULL)
        return NULL;
    link->key = key_of(frame);
    if (folds == 0 && function != 0)
        link->node = find_node(thread, parent->node, function, room);
    if (link->node == 0) {
        folds = MPROF__FOLDS;
        room = MPROF__FOR_SHORT;
        if (function != 0)
            link->node = find_short(thread, index, function);
    }
    /* A function that there is no record for is its caller. */
    if (link->node == 0)
        link->node = parent->node;
    else if (frame->object == 0)
        link->edge = record_edge(thread->session, link->node, frame, room);
    *child |= folds;
    return link;
}

/* The link from PARENT to frame INDEX, as it is written in caches; FOLDS: with
 * MPROF__FOLDS when a frame further out folds.  0: no memory. */
static uint32_t find_child(struct mprof__thread *thread,
                           const struct mprof__link *parent, size_t index,
                           uint32_t folds) {
    const struct mprof__frame *frame = &thread->chain.frames[index];
    mprof_ref function = frame->site->function;
    uint32_t site = frame->site->id, child = folds;
    if (frame->object != 0) {
        function =
            mprof__session_object(thread->session, &thread->chain, index);
        site = function | BY_FUNCTION;
    }
    uint64_t key = pair(parent->node, site);
    struct mprof__slot *slot = mprof__table_find(&thread->tree.edges, key);
    if (slot != NULL) {
        child = (uint32_t)slot->value;
        /* Another object may be the same function. */
        mprof__tree_link_at(&thread->tree, child & ~MPROF__FOLDS)->key =
            key_of(frame);
        return child;
    }
    if (make_link(thread, parent, index, function, &child) == NULL)
        return 0;
    mprof__table_add(&thread->tree.edges, key, child);
    mprof__table_trim(&thread->tree.edges);
    return child;
}

/* The place in PARENT's cache for a link that is not there: one that is empty,
 * else any. */
static unsigned new_place(const struct mprof__link *parent,
                          uint32_t child_key) {
    for (unsigned i = 0; i < MPROF__INWARD; i++)
        if (parent->child[i] == 0)
            return i;
    return (child_key ^ child_key >> 4) % MPROF__INWARD;
}

static struct mprof__link *__attribute__((noinline))
inward_slowly(struct mprof__thread *thread, struct mprof__link *parent,
              size_t index, uint32_t *folds) {
    uint32_t child_key = child_key_of(key_of(&thread->chain.frames[index]));
    uint32_t child = find_child(thread, parent, index, *folds & MPROF__FOLDS);
    if (child == 0) {
        *folds |= MPROF__FOLDS;
        return parent;
    }
    unsigned place = mprof__find4(parent->child_key, child_key);
    if (place == MPROF__INWARD)
        place = new_place(parent, child_key);
    parent->child[place] = child;
    parent->child_key[place] = child_key;
    *folds |= child;
    return mprof__tree_link_at(&thread->tree, child & ~MPROF__FOLDS);
}

/* One step inwards from PARENT; without memory for it, PARENT itself. */
static inline struct mprof__link *inward(struct mprof__thread *thread,
                                         struct mprof__link *parent,
                                         size_t index, uint32_t *folds) {
    uint64_t key = key_of(&thread->chain.frames[index]);
    unsigned place = mprof__find4(parent->child_key, child_key_of(key));
    if (__builtin_expect(place < MPROF__INWARD, 1)) {
        uint32_t child = parent->child[place];
        struct mprof__link *link =
            mprof__tree_link_at(&thread->tree, child & ~MPROF__FOLDS);
        if (__builtin_expect(link->key == key, 1)) {
            *folds |= child;
            return link;
        }
    }
    return inward_slowly(thread, parent, index, folds);
}

struct mprof__link *mprof__tree_link(struct mprof__thread *thread) {
    const struct mprof__chain *chain = &thread->chain;
    struct mprof__link *link = thread->tree.root;
    uint32_t folds = 0;
    size_t i = chain->reused;
    if (i > 0) {
        link = chain->frames[i - 1].link;
        folds = chain->frames[i - 1].folded ? MPROF__FOLDS : 0;
    }
    for (; i < chain->count; i++) {
        link = inward(thread, link, i, &folds);
        chain->frames[i].link = link;
        chain->frames[i].folded = folds >= MPROF__FOLDS;
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
    mprof__store_release(&node->counters[class_], ref);
    return true;
}

/* The counter of NODE, made if there is ROOM for it; else NULL. */
static struct mprof_counter *get_counter(struct mprof__thread *thread,
                                         struct mprof_node *node,
                                         mprof_ref edge, unsigned class_,
                                         enum mprof__room room) {
    struct mprof__session *session = thread->session;
    struct mprof__arena *arena = &session->arena;
    struct mprof_counter *counter = find_counter(arena, node, edge, class_);
    if (counter != NULL)
        return counter;
    mprof__lock(&session->lock);
    if (mprof__arena_has_room(arena, room))
        mprof__add_counter(session, thread->ref, node, edge, class_);
    mprof__unlock(&session->lock);
    return find_counter(arena, node, edge, class_);
}

/* Without room for a counter of the chain: that of its function alone, else the
 * nearest one further out; the root has all. */
static struct mprof_counter *other_counter(struct mprof__thread *thread,
                                           struct mprof_node *node,
                                           unsigned class_, uint64_t bytes) {
    struct mprof__arena *arena = &thread->session->arena;
    mprof_ref folded = find_folded(thread), alone = 0;
    struct mprof_counter *counter = NULL;
    if (node->counters[class_] != 0) /* of another call */
        return mprof__arena_at(arena, node->counters[class_]);
    const struct mprof__frame *innermost = thread->chain.innermost;
    if (innermost == NULL || !innermost->folded) {
        mprof__bump(&thread->record->folded_allocs, 1);
        mprof__bump(&thread->record->folded_bytes, bytes);
    }
    if (folded != 0 && node->function != 0)
        alone = find_node(thread, folded, node->function, MPROF__FOR_COUNTERS);
    if (alone != 0)
        counter = get_counter(thread, mprof__arena_at(arena, alone), 0, class_,
                              MPROF__FOR_COUNTERS);
    while (counter == NULL) {
        if (node->counters[class_] != 0)
            counter = mprof__arena_at(arena, node->counters[class_]);
        else
            node = mprof__arena_at(arena, node->parent);
    }
    return counter;
}

struct mprof_counter *mprof__make_counter(struct mprof__thread *thread,
                                          struct mprof__link *link,
                                          unsigned class_, uint64_t bytes) {
    struct mprof__arena *arena = &thread->session->arena;
    struct mprof_node *node = mprof__arena_at(arena, link->node);
    /* Those of Lisp do not tell the places in a function apart. */
    mprof_ref edge = thread->record->heap == MPROF_C_HEAP ? link->edge : 0;
    struct mprof_counter *counter =
        get_counter(thread, node, edge, class_, MPROF__FOR_SHORTER);
    /* Each such allocation comes here, to be counted as folded. */
    if (counter == NULL)
        return other_counter(thread, node, class_, bytes);
    link->counter[class_] = mprof__arena_ref(arena, counter);
    return counter;
}
