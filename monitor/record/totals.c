/* totals.c - see totals.h. */
#include "monitor/record/totals.h"

#include <string.h>

#include "monitor/base/atomic.h"
#include "monitor/record/shown.h"
#include "monitor/record/thread.h"

/* Views, in the arrays here: shown frames, all frames; and both in one. */
enum { SHOWN, ALL, BOTH, WAYS };

enum { NONE = UINT32_MAX, FIRST_ROOM = 256, MOST_DEPTH = UINT16_MAX };

/* Where the TOTALs of something are, by way and class; 0: there is none yet. */
typedef mprof_ref refs[WAYS][MPROF_CLASSES];

struct mprof__function_totals {
    mprof_ref function;
    uint32_t on_path[MPROF_VIEWS];
    refs self, twice, below, calls;
};

struct mprof__arc_totals {
    mprof_ref caller, function;
    uint32_t on_path[MPROF_VIEWS];
    refs through;
};

/* A node on the path of the walk, in each view. */
struct level {
    uint32_t node;                  /* its number in the block */
    uint32_t function[MPROF_VIEWS]; /* that the node is in, or NONE */
    uint32_t first[MPROF_VIEWS];    /* ... the outermost one of the chain */
    uint32_t arc[MPROF_VIEWS];      /* by which it was called, or NONE: it is
                                     * in the function of its caller */
    uint32_t depth[MPROF_VIEWS];    /* functions further out */
    struct mprof_count sum[MPROF_CLASSES]; /* of its subtree, so far */
};

struct walk {
    struct mprof__thread *thread;
    struct mprof__totals *totals;
    const struct mprof_node *nodes;
    unsigned valid;            /* the count of a TOTAL that will be true */
    uint32_t *child, *sibling; /* by node, or 0 */
    struct level *levels;
    bool failed; /* there was no room */
};

/* Room for another of SIZE bytes behind COUNT of them. */
static bool make_room(void **list, uint32_t count, uint32_t *room,
                      size_t size) {
    if (count < *room)
        return true;
    uint32_t larger = *room == 0 ? FIRST_ROOM : 2 * *room;
    void *fresh = mprof__map(larger * size);
    if (fresh == NULL)
        return false;
    if (count > 0)
        memcpy(fresh, *list, count * size);
    mprof__unmap(*list, *room * size);
    *list = fresh;
    *room = larger;
    return true;
}

/* The number of the FUNCTION that stands for others. */
static uint32_t number_of(struct walk *w, mprof_ref function) {
    struct mprof__totals *t = w->totals;
    const struct mprof__slot *slot =
        mprof__table_find(&t->numbers, (uint64_t)function << 1);
    if (slot != NULL)
        return (uint32_t)slot->value;
    uint32_t number = t->function_count;
    if (!make_room((void **)&t->functions, number, &t->function_room,
                   sizeof *t->functions) ||
        !mprof__table_add(&t->numbers, (uint64_t)function << 1, number)) {
        w->failed = true;
        return NONE;
    }
    mprof__table_trim(&t->numbers);
    t->functions[number] =
        (struct mprof__function_totals){.function = function};
    t->function_count++;
    return number;
}

/* That of the arc from CALLER, or NONE, to FUNCTION. */
static uint32_t arc_of(struct walk *w, uint32_t caller, uint32_t function) {
    struct mprof__totals *t = w->totals;
    uint64_t key = ((uint64_t)(caller + 1) << 32 | function) + 2;
    const struct mprof__slot *slot = mprof__table_find(&t->arcs, key);
    if (slot != NULL)
        return (uint32_t)slot->value;
    uint32_t number = t->arc_count;
    if (!make_room((void **)&t->arc, number, &t->arc_room, sizeof *t->arc) ||
        !mprof__table_add(&t->arcs, key, number)) {
        w->failed = true;
        return NONE;
    }
    mprof__table_trim(&t->arcs);
    t->arc[number] = (struct mprof__arc_totals){
        .caller = caller == NONE ? 0 : t->functions[caller].function,
        .function = t->functions[function].function};
    t->arc_count++;
    return number;
}

/* The TOTAL that *REF leads to, made as LIKE it is. */
static struct mprof_total *get_total(struct walk *w, mprof_ref *ref,
                                     const struct mprof_total *like) {
    const struct mprof__arena *arena = &w->thread->session->arena;
    struct mprof__blocks *blocks = &w->totals->blocks;
    if (*ref != 0)
        return mprof__arena_at(arena, *ref);
    const struct mprof_block *last = blocks->last;
    struct mprof__totals *t = w->totals;
    struct mprof_total *total = NULL;
    if (make_room((void **)&t->block, t->block_count, &t->block_room,
                  sizeof *t->block))
        total = mprof__block_next(w->thread, blocks, MPROF__FOR_SHORTER);
    if (total == NULL) {
        w->failed = true;
        return NULL;
    }
    if (blocks->last != last)
        t->block[t->block_count++] = blocks->last;
    *total = *like;
    *ref = mprof__block_publish(arena, blocks, total);
    return total;
}

static struct mprof_total *add(struct walk *w, mprof_ref *ref,
                               struct mprof_total like,
                               const struct mprof_count *count) {
    if (count->allocs == 0 && count->bytes == 0)
        return NULL;
    struct mprof_total *total = get_total(w, ref, &like);
    if (total != NULL) {
        total->counts[w->valid].allocs += count->allocs;
        total->counts[w->valid].bytes += count->bytes;
    }
    return total;
}

static uint8_t views_of(unsigned way) {
    static const uint8_t views[WAYS] = {[SHOWN] = MPROF_SHOWN_FRAMES,
                                        [ALL] = MPROF_ALL_FRAMES,
                                        [BOTH] = MPROF_SHOWN_FRAMES |
                                                 MPROF_ALL_FRAMES};
    return views[way];
}

/* What was allocated at a node itself in CLASS_, in the function that it is in
 * in one view, or in both. */
static void add_self(struct walk *w, uint32_t number, unsigned way,
                     unsigned class_, const struct mprof_count *count) {
    struct mprof__function_totals *f = &w->totals->functions[number];
    struct mprof_total like = {.function = f->function,
                               .kind = MPROF_SELF,
                               .views = views_of(way),
                               .class_ = (uint8_t)class_};
    add(w, &f->self[way][class_], like, count);
    like.kind = MPROF_TWICE;
    for (unsigned view = 0; view < MPROF_VIEWS; view++) {
        like.views = views_of(view);
        if (f->on_path[view] > 1 && (way == BOTH || way == view))
            add(w, &f->twice[view][class_], like, count);
    }
}

static void note_depth(struct mprof_total *total, unsigned view,
                       uint32_t depth) {
    if (total != NULL && depth < total->depth[view])
        total->depth[view] = (uint16_t)depth;
}

/* The SUM of the subtree of a frame of function NUMBER, by itself: no other
 * frame of it is further out. */
static void add_below(struct walk *w, uint32_t number, unsigned way,
                      const struct level *at) {
    struct mprof__function_totals *f = &w->totals->functions[number];
    for (unsigned c = 0; c < MPROF_CLASSES; c++) {
        struct mprof_total *total =
            add(w, &f->below[way][c],
                (struct mprof_total){.function = f->function,
                                     .kind = MPROF_BELOW,
                                     .views = views_of(way),
                                     .class_ = (uint8_t)c,
                                     .depth = {MOST_DEPTH, MOST_DEPTH}},
                &at->sum[c]);
        for (unsigned view = 0; view < MPROF_VIEWS; view++)
            if (way == BOTH || way == view)
                note_depth(total, view, at->depth[view]);
    }
}

static void add_arc(struct walk *w, uint32_t number, unsigned way,
                    const struct level *at) {
    struct mprof__arc_totals *arc = &w->totals->arc[number];
    for (unsigned c = 0; c < MPROF_CLASSES; c++)
        add(w, &arc->through[way][c],
            (struct mprof_total){.caller = arc->caller,
                                 .function = arc->function,
                                 .kind = MPROF_ARC,
                                 .views = views_of(way),
                                 .class_ = (uint8_t)c},
            &at->sum[c]);
}

/* The CALLS of a function: allocations through these, and in place of bytes
 * those with the function further out. */
static void add_calls(struct walk *w, uint32_t number, unsigned way,
                      const struct mprof_count *calls) {
    if (calls->allocs == 0 && calls->bytes == 0)
        return;
    struct mprof__function_totals *f = &w->totals->functions[number];
    add(w, &f->calls[way][0],
        (struct mprof_total){.function = f->function,
                             .kind = MPROF_CALLS,
                             .views = views_of(way)},
        calls);
}

/* What a level is in one view, below that of its caller. */
static void enter_view(struct walk *w, const struct level *caller,
                       struct level *at, unsigned view,
                       const struct mprof__shown *shown) {
    uint32_t above = caller->function[view];
    at->function[view] = above;
    at->first[view] = caller->first[view];
    at->depth[view] = caller->depth[view];
    at->arc[view] = NONE;
    if (view == SHOWN && shown->hidden &&
        (above != NONE || shown->function != MPROF_TOP))
        return;
    uint32_t number = number_of(w, shown->function);
    if (w->failed || (shown->fragment && number == above))
        return;
    uint32_t arc = arc_of(w, above, number);
    if (w->failed)
        return;
    at->function[view] = number;
    at->arc[view] = arc;
    at->depth[view] = above == NONE ? 0 : caller->depth[view] + 1;
    if (above == NONE)
        at->first[view] = number;
    w->totals->functions[number].on_path[view]++;
    w->totals->arc[arc].on_path[view]++;
}

/* Nothing that is shown has COUNT on its chain: it is of the top level, which
 * nobody called. */
static void add_top(struct walk *w, unsigned view, unsigned class_,
                    const struct mprof_count *count) {
    uint32_t number = number_of(w, MPROF_TOP);
    if (w->failed)
        return;
    struct level at = {.depth = {0, 0}};
    at.sum[class_] = *count;
    uint32_t arc = arc_of(w, NONE, number);
    if (w->failed)
        return;
    add_self(w, number, view, class_, count);
    add_below(w, number, view, &at);
    add_arc(w, arc, view, &at);
}

static void add_short(struct walk *w, const struct mprof_spill_counter *from) {
    const struct mprof__slot *slot;
    mprof_ref ref = 0;
    if (from->short_ == 0)
        return;
    slot = mprof__table_find(&w->totals->shorts, from->short_);
    if (slot != NULL)
        ref = (mprof_ref)slot->value;
    add(w, &ref,
        (struct mprof_total){.function = from->short_,
                             .kind = MPROF_SHORT,
                             .views = views_of(BOTH),
                             .class_ = (uint8_t)from->counter.class_},
        &from->counter.allocated);
    if (slot != NULL || ref == 0)
        return;
    if (!mprof__table_add(&w->totals->shorts, from->short_, ref))
        w->failed = true;
    mprof__table_trim(&w->totals->shorts);
}

/* What was allocated at the node of AT itself. */
static void add_own(struct walk *w, struct level *at) {
    const struct mprof__arena *arena = &w->thread->session->arena;
    const struct mprof_spill_counter *from;
    mprof_ref ref = w->nodes[at->node].counter;
    for (; ref != 0 && !w->failed; ref = from->counter.next) {
        from = mprof__arena_at(arena, ref);
        unsigned class_ = from->counter.class_;
        const struct mprof_count *count = &from->counter.allocated;
        at->sum[class_].allocs += count->allocs;
        at->sum[class_].bytes += count->bytes;
        add_short(w, from);
        if (at->function[SHOWN] == at->function[ALL] &&
            at->function[ALL] != NONE) {
            add_self(w, at->function[ALL], BOTH, class_, count);
            continue;
        }
        for (unsigned view = 0; view < MPROF_VIEWS; view++)
            if (at->function[view] == NONE)
                add_top(w, view, class_, count);
            else
                add_self(w, at->function[view], view, class_, count);
    }
}

static void enter(struct walk *w, struct level *at, uint32_t node) {
    const struct mprof__arena *arena = &w->thread->session->arena;
    *at = (struct level){.node = node};
    if (node == 0) {
        for (unsigned view = 0; view < MPROF_VIEWS; view++)
            at->function[view] = at->arc[view] = at->first[view] = NONE;
    } else {
        struct mprof__shown shown = mprof__shown(
            w->thread, mprof__call_function(arena, w->nodes[node].call));
        for (unsigned view = 0; view < MPROF_VIEWS && !w->failed; view++)
            enter_view(w, at - 1, at, view, &shown);
    }
    if (!w->failed)
        add_own(w, at);
}

/* The subtree of AT is complete. */
static void leave(struct walk *w, struct level *at) {
    bool below[MPROF_VIEWS] = {false}, arc[MPROF_VIEWS] = {false};
    struct mprof_count calls[MPROF_VIEWS] = {{0, 0}};
    struct mprof__totals *t = w->totals;
    uint64_t allocs = 0;
    for (unsigned c = 0; c < MPROF_CLASSES; c++)
        allocs += at->sum[c].allocs;
    for (unsigned view = 0; view < MPROF_VIEWS; view++) {
        uint32_t number = at->function[view];
        if (at->arc[view] == NONE)
            continue;
        uint32_t above = --t->functions[number].on_path[view];
        below[view] = above == 0;
        arc[view] = --t->arc[at->arc[view]].on_path[view] == 0;
        bool is_first = number == at->first[view];
        /* Its outermost frame was called by nobody, if it is the first. */
        bool is_called = at->depth[view] > 0 && above == (is_first ? 1 : 0);
        calls[view] = (struct mprof_count){is_called ? allocs : 0,
                                           above == 1 ? allocs : 0};
    }
    bool same = at->function[SHOWN] == at->function[ALL];
    if (same && memcmp(&calls[SHOWN], &calls[ALL], sizeof *calls) == 0)
        add_calls(w, at->function[ALL], BOTH, &calls[ALL]);
    else
        for (unsigned view = 0; view < MPROF_VIEWS; view++)
            add_calls(w, at->function[view], view, &calls[view]);
    if (same && below[SHOWN] && below[ALL])
        add_below(w, at->function[ALL], BOTH, at);
    else
        for (unsigned view = 0; view < MPROF_VIEWS; view++)
            if (below[view])
                add_below(w, at->function[view], view, at);
    if (arc[SHOWN] && arc[ALL] && at->arc[SHOWN] == at->arc[ALL])
        add_arc(w, at->arc[ALL], BOTH, at);
    else
        for (unsigned view = 0; view < MPROF_VIEWS; view++)
            if (arc[view])
                add_arc(w, at->arc[view], view, at);
    if (at->node == 0)
        return;
    for (unsigned c = 0; c < MPROF_CLASSES; c++) {
        at[-1].sum[c].allocs += at->sum[c].allocs;
        at[-1].sum[c].bytes += at->sum[c].bytes;
    }
}

static void walk(struct walk *w) {
    struct level *at = w->levels;
    enter(w, at, 0);
    while (!w->failed) {
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

/* The number of the parent of node I. */
static uint32_t parent_of(const struct walk *w, uint32_t i) {
    const struct mprof_node *parent =
        mprof__arena_at(&w->thread->session->arena, w->nodes[i].parent);
    return (uint32_t)(parent - w->nodes);
}

/* See all functions before any of them is told which one it is a part of. */
static void see_functions(struct walk *w, uint32_t count) {
    const struct mprof__arena *arena = &w->thread->session->arena;
    for (uint32_t i = 1; i < count; i++)
        mprof__shown(w->thread, mprof__call_function(arena, w->nodes[i].call));
    mprof__shown_anew(w->thread);
}

static bool map_again(void **memory, size_t *bytes, size_t wanted) {
    mprof__unmap(*memory, *bytes);
    *memory = mprof__map(wanted);
    *bytes = wanted;
    return *memory != NULL;
}

/* Parents come before their children. */
static bool prepare(struct walk *w) {
    const struct mprof_block *block = w->thread->spill.tree.node_blocks.last;
    struct mprof__totals *t = w->totals;
    uint32_t count = block->count, deepest = 0;
    w->nodes = (const void *)(block + 1);
    if (!map_again(&t->links, &t->links_bytes,
                   2 * (count + (size_t)1) * sizeof *w->child))
        return false;
    w->child = t->links;
    w->sibling = w->child + count;
    /* At first the siblings are depths. */
    for (uint32_t i = 1; i < count; i++) {
        w->sibling[i] = w->sibling[parent_of(w, i)] + 1;
        if (w->sibling[i] > deepest)
            deepest = w->sibling[i];
    }
    for (uint32_t i = count; i-- > 1;) {
        uint32_t parent = parent_of(w, i);
        w->sibling[i] = w->child[parent];
        w->child[parent] = i;
    }
    see_functions(w, count);
    bool good = map_again(&t->path, &t->path_bytes,
                          (deepest + (size_t)1) * sizeof *w->levels);
    w->levels = t->path;
    return good;
}

/* Let the counts that will be true be those that are. */
static void copy_counts(struct walk *w) {
    for (uint32_t n = 0; n < w->totals->block_count; n++) {
        struct mprof_block *block = w->totals->block[n];
        struct mprof_total *total = (void *)(block + 1);
        for (uint32_t i = 0; i < block->count; i++)
            total[i].counts[w->valid] = total[i].counts[!w->valid];
    }
}

static void free_scratch(struct mprof__totals *t) {
    mprof__unmap(t->links, t->links_bytes);
    mprof__unmap(t->path, t->path_bytes);
    t->links = t->path = NULL;
}

/* Should a jump leave this in the middle, it begins anew. */
static void forget_path(struct mprof__totals *t) {
    for (uint32_t i = 0; i < t->function_count; i++)
        memset(t->functions[i].on_path, 0, sizeof t->functions[i].on_path);
    for (uint32_t i = 0; i < t->arc_count; i++)
        memset(t->arc[i].on_path, 0, sizeof t->arc[i].on_path);
}

bool mprof__totals_add(struct mprof__thread *thread) {
    struct mprof__totals *totals = &thread->spill.totals;
    struct walk w = {.thread = thread,
                     .totals = totals,
                     .valid = (thread->record->emptied + 1) & 1};
    totals->blocks.type = MPROF_TOTALS;
    totals->blocks.bytes = sizeof(struct mprof_total);
    w.failed = !prepare(&w);
    if (!w.failed) {
        forget_path(totals);
        copy_counts(&w);
        walk(&w);
    }
    free_scratch(totals);
    return !w.failed;
}

void mprof__totals_free(struct mprof__totals *totals) {
    mprof__table_free(&totals->numbers);
    mprof__table_free(&totals->arcs);
    mprof__table_free(&totals->shorts);
    mprof__unmap(totals->functions,
                 totals->function_room * sizeof *totals->functions);
    mprof__unmap(totals->arc, totals->arc_room * sizeof *totals->arc);
    mprof__unmap(totals->block, totals->block_room * sizeof *totals->block);
    free_scratch(totals);
    *totals = (struct mprof__totals){.links = NULL};
}
