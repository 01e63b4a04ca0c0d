/* sum_up.c - the chains of a spill, summed up in totals; see totals.h.
 *
 * One walk over the spill, in both views at once.  The sum of a frame's subtree
 * is added to its function and its arc when the walk leaves it, unless these
 * are on the path above as well.
 */
#include <string.h>

#include "monitor/tree/lisp_counter.h"
#include "monitor/names/shown.h"
#include "monitor/tree/trees.h"
#include "monitor/tree/totals.h"

#define NONE MPROF__NOTHING

/* A node on the path of the walk, in each view. */
struct level {
    uint32_t node;                  /* its number in the block */
    uint32_t function[MPROF_VIEWS]; /* that the node is in, or NONE */
    uint32_t first[MPROF_VIEWS];    /* the outermost one of the chain */
    uint32_t arc[MPROF_VIEWS];      /* by which it was called, or NONE: it
                                     * is in the function of its caller */
    uint32_t depth[MPROF_VIEWS];    /* functions further out */
    struct mprof_count sum[MPROF_CLASSES]; /* of its subtree, so far */
};

struct walk {
    struct mprof__adding to;
    const struct mprof_node *nodes;
    uint32_t *child, *sibling; /* by node, or 0 */
    struct level *levels;
};

/* Enter a level in one view, below the level of its CALLER. */
static void enter_view(struct walk *w, const struct level *caller,
                       struct level *at, unsigned view,
                       const struct mprof__shown *shown) {
    uint32_t above = caller->function[view];
    at->function[view] = above;
    at->first[view] = caller->first[view];
    at->depth[view] = caller->depth[view];
    at->arc[view] = NONE;
    if (view == MPROF__SHOWN && shown->hidden &&
        (above != NONE || shown->function != MPROF_TOP))
        return;
    uint32_t number = mprof__totals_function(&w->to, shown->function);
    if (w->to.failed || (shown->fragment && number == above))
        return;
    uint32_t arc = mprof__totals_arc(&w->to, above, number);
    if (w->to.failed)
        return;
    at->function[view] = number;
    at->arc[view] = arc;
    at->depth[view] = above == NONE ? 0 : caller->depth[view] + 1;
    if (above == NONE)
        at->first[view] = number;
    w->to.totals->functions[number].on_path[view]++;
    w->to.totals->arc[arc].on_path[view]++;
}

/* Count COUNT for the top level, which has no caller: no function on its chain
 * is shown. */
static void add_top(struct walk *w, unsigned view, uint32_t key,
                    const struct mprof_count *count) {
    const struct mprof__arena *arena = w->to.trees->arena;
    uint32_t number = mprof__totals_function(&w->to, MPROF_TOP);
    if (w->to.failed)
        return;
    struct level at = {.depth = {0, 0}};
    at.sum[mprof__key_class(arena, key)] = *count;
    uint32_t arc = mprof__totals_arc(&w->to, NONE, number);
    if (w->to.failed)
        return;
    mprof__totals_self(&w->to, number, view, key, count);
    mprof__totals_below(&w->to, number, view, at.sum, at.depth);
    mprof__totals_through(&w->to, arc, view, at.sum);
}

/* Return the sum that FROM has. */
static struct mprof_count read_counter(struct walk *w,
                                       const struct mprof_counter *from) {
    const struct mprof_spill_counter *lives = (const void *)from;
    if (!mprof__knows_lives(w->to.trees))
        return mprof__lisp_counter_read(w->to.trees->arena->base,
                                        (const void *)from);
    mprof__totals_short(&w->to, lives);
    return lives->allocated;
}

/* Add the allocations at the node of AT itself. */
static void add_own(struct walk *w, struct level *at) {
    const struct mprof__arena *arena = w->to.trees->arena;
    const struct mprof_counter *from;
    mprof_ref ref = w->nodes[at->node].counter;
    for (; ref != 0 && !w->to.failed; ref = from->next) {
        from = mprof__arena_at(arena, ref);
        uint32_t key = from->key;
        enum mprof_class class_ = mprof__key_class(arena, key);
        const struct mprof_count own = read_counter(w, from), *count = &own;
        at->sum[class_].allocs += count->allocs;
        at->sum[class_].bytes += count->bytes;
        if (at->function[MPROF__SHOWN] == at->function[MPROF__ALL] &&
            at->function[MPROF__ALL] != NONE) {
            mprof__totals_self(&w->to, at->function[MPROF__ALL], MPROF__BOTH,
                               key, count);
            continue;
        }
        for (unsigned view = 0; view < MPROF_VIEWS; view++)
            if (at->function[view] == NONE)
                add_top(w, view, key, count);
            else
                mprof__totals_self(&w->to, at->function[view], view, key,
                                   count);
    }
}

static void enter(struct walk *w, struct level *at, uint32_t node) {
    const struct mprof__arena *arena = w->to.trees->arena;
    *at = (struct level){.node = node};
    if (node == 0) {
        for (unsigned view = 0; view < MPROF_VIEWS; view++)
            at->function[view] = at->arc[view] = at->first[view] = NONE;
    } else {
        struct mprof__shown shown =
            mprof__shown(&w->to.trees->shows,
                         mprof__call_function(arena, w->nodes[node].call));
        for (unsigned view = 0; view < MPROF_VIEWS && !w->to.failed; view++)
            enter_view(w, at - 1, at, view, &shown);
    }
    if (!w->to.failed)
        add_own(w, at);
}

/* What a level did in one view: for the totals, when the walk leaves it. */
struct left {
    bool below, through; /* no frame further out is of its function, or arc */
    struct mprof_count calls;
};

static struct left leave_view(struct walk *w, const struct level *at,
                              unsigned view, uint64_t allocs) {
    struct mprof__totals *t = w->to.totals;
    uint32_t number = at->function[view], arc = at->arc[view];
    struct left left = {.below = false};
    if (arc == NONE)
        return left;
    uint32_t above = --t->functions[number].on_path[view];
    left.below = above == 0;
    left.through = --t->arc[arc].on_path[view] == 0;
    /* The outermost frame of a chain has no caller. */
    bool is_first = number == at->first[view];
    if (at->depth[view] > 0 && above == (is_first ? 1 : 0))
        left.calls.allocs = allocs;
    if (above == 1)
        left.calls.bytes = allocs;
    return left;
}

/* Add what it has done in VIEWS, one of them or both. */
static void add_left(struct walk *w, const struct level *at,
                     enum mprof__views views, const struct left *left) {
    unsigned view = views == MPROF__SHOWN ? MPROF__SHOWN : MPROF__ALL;
    mprof__totals_calls(&w->to, at->function[view], views, &left->calls);
    if (left->below)
        mprof__totals_below(&w->to, at->function[view], views, at->sum,
                            at->depth);
    if (left->through)
        mprof__totals_through(&w->to, at->arc[view], views, at->sum);
}

/* Take from both views what is the same, which is then left for both. */
static struct left take_same(const struct level *at, struct left left[]) {
    struct left *x = &left[MPROF__SHOWN], *y = &left[MPROF__ALL], both = *x;
    if (at->function[MPROF__SHOWN] != at->function[MPROF__ALL])
        return (struct left){.below = false};
    both.below = x->below && y->below;
    both.through = x->through && y->through &&
                   at->arc[MPROF__SHOWN] == at->arc[MPROF__ALL];
    if (memcmp(&x->calls, &y->calls, sizeof x->calls) == 0)
        x->calls = y->calls = (struct mprof_count){0, 0};
    else
        both.calls = (struct mprof_count){0, 0};
    x->below &= !both.below;
    y->below &= !both.below;
    x->through &= !both.through;
    y->through &= !both.through;
    return both;
}

/* The subtree of AT is complete. */
static void leave(struct walk *w, struct level *at) {
    struct left left[MPROF_VIEWS];
    uint64_t allocs = 0;
    if (at->node == 0)
        return;
    for (unsigned c = 0; c < MPROF_CLASSES; c++) {
        allocs += at->sum[c].allocs;
        at[-1].sum[c].allocs += at->sum[c].allocs;
        at[-1].sum[c].bytes += at->sum[c].bytes;
    }
    for (unsigned view = 0; view < MPROF_VIEWS; view++)
        left[view] = leave_view(w, at, view, allocs);
    struct left both = take_same(at, left);
    add_left(w, at, MPROF__BOTH, &both);
    add_left(w, at, MPROF__SHOWN, &left[MPROF__SHOWN]);
    add_left(w, at, MPROF__ALL, &left[MPROF__ALL]);
}

static void walk(struct walk *w) {
    struct level *at = w->levels;
    enter(w, at, 0);
    while (!w->to.failed) {
        if (w->child[at->node] != 0) {
            uint32_t node = w->child[at->node];
            enter(w, ++at, node);
            continue;
        }
        while (at->node != 0 && w->sibling[at->node] == 0)
            leave(w, at--);
        uint32_t next = w->sibling[at->node];
        leave(w, at);
        if (at->node == 0)
            break;
        enter(w, at, next);
    }
}

/* Store the number of node I's parent, which is smaller.  False: another
 * process cuts the file, and it is empty here. */
static bool find_parent(const struct walk *w, uint32_t i, uint32_t *parent) {
    const struct mprof_node *node =
        mprof__arena_at(w->to.trees->arena, w->nodes[i].parent);
    *parent = (uint32_t)(node - w->nodes);
    return node >= w->nodes && *parent < i;
}

/* See all functions before asking which function a part belongs to. */
static void see_functions(struct walk *w, uint32_t count) {
    const struct mprof__arena *arena = w->to.trees->arena;
    for (uint32_t i = 1; i < count; i++)
        mprof__shown(&w->to.trees->shows,
                     mprof__call_function(arena, w->nodes[i].call));
    w->to.trees->shows.time++;
}

static bool map_again(void **memory, size_t *bytes, size_t wanted) {
    mprof__totals_give(memory, *bytes);
    *bytes = wanted;
    *memory = mprof__map(wanted);
    return *memory != NULL;
}

/* Parents come before their children. */
static bool prepare(struct walk *w) {
    const struct mprof_block *block = w->to.trees->spill.tree.node_blocks.last;
    struct mprof__totals *t = w->to.totals;
    uint32_t count = block->count, deepest = 0, parent;
    w->nodes = (const void *)(block + 1);
    if (!map_again(&t->links, &t->links_bytes,
                   2 * (count + (size_t)1) * sizeof *w->child))
        return false;
    w->child = t->links;
    w->sibling = w->child + count;
    /* At first the siblings are depths. */
    for (uint32_t i = 1; i < count; i++) {
        if (!find_parent(w, i, &parent))
            return false;
        w->sibling[i] = w->sibling[parent] + 1;
        if (w->sibling[i] > deepest)
            deepest = w->sibling[i];
    }
    for (uint32_t i = count; i-- > 1;) {
        if (!find_parent(w, i, &parent))
            return false;
        w->sibling[i] = w->child[parent];
        w->child[parent] = i;
    }
    see_functions(w, count);
    bool good = map_again(&t->path, &t->path_bytes,
                          (deepest + (size_t)1) * sizeof *w->levels);
    w->levels = t->path;
    return good;
}

bool mprof__sum_up(struct mprof__trees *trees) {
    struct walk w = {.nodes = NULL};
    mprof__totals_begin(&w.to, trees);
    w.to.failed = !prepare(&w);
    if (!w.to.failed)
        walk(&w);
    mprof__totals_forget(w.to.totals);
    return !w.to.failed;
}
