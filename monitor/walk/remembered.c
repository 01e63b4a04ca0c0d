/* remembered.c - walks by what is remembered of frames; see remembered.h. */
#include "monitor/walk/remembered.h"

#include "monitor/walk/deepest.h"
#include "monitor/walk/plainly.h"
#include "monitor/walk/revise.h"
#include "monitor/tree/trees.h"

/* Walks that are not tried after one that found no way.  In libraries for tests
 * all are tried. */
#ifdef MPROF_CHECK_WALKS
enum { MOST_WAITS = 0 };
#else
enum { MOST_WAITS = 63 };
#endif

/* Cells */

/* A walk that is under way. */
struct walk {
    struct mprof__memo *memo;
    struct mprof__chain *chain;
    size_t n;        /* cells that it visited */
    size_t stale;    /* index of the outermost one that leads elsewhere */
    mprof_ref outer; /* the node outside of them all, or 0: the root's */
    uintptr_t bp;    /* the innermost frame's */
};

enum { NONE_STALE = SIZE_MAX };

/* The frame pointer in frame N of the walk. */
static uintptr_t bp_in(const struct walk *w, size_t n) {
    while (n-- > 0) {
        const struct mprof__cell *c = w->memo->visited[n];
        if (c->shape.bp_at != MPROF__NOT_SAVED)
            return mprof__word_at(mprof__cell_bp_slot(c));
    }
    return w->bp;
}

static bool is_visited(const struct walk *w, const struct mprof__cell *c) {
    for (size_t n = w->n; n-- > 0;)
        if (w->memo->visited[n] == c)
            return true;
    return false;
}

/* mprof__cell_can_be_read(), for a plain frame: nearly always all of it is in
 * pages that are known. */
static inline bool is_in_reach(struct mprof__reach *reach,
                               const struct mprof__cell *c) {
    return (c->low >= reach->low && mprof__cell_high(c) <= reach->high &&
            c->low % sizeof c->low == 0) ||
           mprof__cell_can_be_read(reach, c);
}

/* Use C for the next frame outwards, in the state PC and SP.  False: the frame
 * cannot be cached. */
static inline __attribute__((always_inline)) bool
fill(struct walk *w, struct mprof__cell *c, uintptr_t pc, uintptr_t sp) {
    struct mprof__chain *chain = w->chain;
    const struct mprof__known_site *known =
        mprof__known_site(&chain->known, pc);
    if (known == NULL)
        return false;
    c->version = 0;
    c->pc = 0;
    mprof__order_for_handlers();
    c->low = sp;
    c->node = c->parent = 0;
    c->counter[0] = c->counter[1] = 0;
    c->call = known->ref;
    if (__builtin_expect(known->way == MPROF__PLAINLY, 1)) {
        c->shape = known->shape;
        c->shape.flags |= MPROF__CELL_STALE;
        if (!is_in_reach(&chain->reach, c))
            return false;
    } else {
        c->shape = (struct mprof__shape){.flags = MPROF__CELL_STALE,
                                         .bp_at = MPROF__NOT_SAVED};
        *mprof__cell_more(w->memo, c) = (struct mprof__cell_more){
            .site = known->site, .bp = bp_in(w, w->n)};
        if (c->call == 0 || !mprof__cell_measure(w->memo, c, known))
            return false;
    }
    mprof__order_for_handlers();
    c->pc = pc;
    return true;
}

/* Return the number of the cell that ENTRY of the index is for; 0: none. */
static inline uint32_t number_of(uint32_t entry) {
    return entry & (MPROF__MOST_CELLS - 1);
}

/* Write ENTRY at AT in the index. */
static inline void enter(struct mprof__memo *memo, uint32_t *at,
                         uint32_t entry) {
    *at = entry;
    memo->at[number_of(entry)] = (uint16_t)(at - memo->index);
}

/* The number of a cell that is not in use any more, of those that have been for
 * long; 0: this walk came by all of them. */
static uint32_t steal(struct walk *w) {
    struct mprof__memo *memo = w->memo;
    for (size_t tries = 0; tries <= w->n; tries++) {
        uint32_t number = memo->hand < memo->used ? memo->hand + 1 : 1;
        memo->hand = number;
        __builtin_prefetch(&memo->cells[number + 1], 1);
        if (is_visited(w, &memo->cells[number]))
            continue;
        uint32_t *entry = &memo->index[memo->at[number]];
        if (number_of(*entry) == number)
            *entry = 0;
        return number;
    }
    return 0;
}

/* Return the first free entry of PLACE; NULL: there is none. */
static inline uint32_t *free_way(struct mprof__cell_bucket bucket) {
#pragma GCC unroll 4
    for (unsigned way = 0; way < MPROF__CELL_WAYS; way++)
        if (number_of(*mprof__cell_way(bucket, way)) == 0)
            return mprof__cell_way(bucket, way);
    return NULL;
}

/* A cell that can be used for a frame that is to be found at PLACE; NULL: the
 * walk came by all that there are. */
static struct mprof__cell *take(struct walk *w,
                                struct mprof__cell_bucket bucket) {
    struct mprof__memo *memo = w->memo;
    uint32_t *at = free_way(bucket), number = 0;
    if (at != NULL)
        number = memo->used + 1 < memo->capacity ? ++memo->used : steal(w);
    /* The newest entry comes first. */
    for (unsigned way = MPROF__CELL_WAYS; way-- > 0 && number == 0;) {
        at = mprof__cell_way(bucket, way);
        number = number_of(*at);
        if (is_visited(w, &memo->cells[number]))
            number = 0;
    }
    if (number == 0)
        return NULL;
    enter(memo, at, *bucket.at);
    enter(memo, bucket.at, bucket.tag | number);
    return &memo->cells[number];
}

/* A cell for the next frame outwards, in the state PC and SP.  NULL: it is none
 * that cells are for. */
static struct mprof__cell *make(struct walk *w, uintptr_t pc, uintptr_t sp) {
    struct mprof__memo *memo = w->memo;
    struct mprof__cell *c = NULL;
    /* A thread that makes few uses the first ones again. */
    bool grows = !memo->largest && memo->made >= 2 * memo->capacity;
    if (!grows)
        c = take(w, mprof__cell_bucket(memo, pc, sp));
    /* There may be cells, but no slot of the index, again and again. */
    if (c == NULL && (grows || memo->used + 1 >= memo->capacity ||
                      memo->backoff == MOST_WAITS))
        mprof__memo_grow(memo);
    if (c == NULL || !fill(w, c, pc, sp))
        return NULL;
    memo->made++;
    return c;
}

/* The same when there may be several: for what it interprets, or with another
 * frame pointer. */
static struct mprof__cell *find_slowly(struct walk *w, uintptr_t pc,
                                       uintptr_t sp) {
    struct mprof__memo *memo = w->memo;
    struct mprof__cell_bucket bucket = mprof__cell_bucket(memo, pc, sp);
    for (unsigned way = 0; way < MPROF__CELL_WAYS; way++) {
        struct mprof__cell *c = mprof__cell_candidate(memo, bucket, way);
        if (!mprof__cell_is(c, pc, sp) ||
            (c->shape.flags & MPROF__CELL_ASKS && !mprof__cell_runs(memo, c)))
            continue;
        if (c->shape.flags & MPROF__CELL_NEEDS &&
            mprof__cell_more(memo, c)->bp != bp_in(w, w->n))
            return fill(w, c, pc, sp) ? c : NULL;
        return c;
    }
    return make(w, pc, sp);
}

/* The cell of the next frame outwards, in the state PC and SP; NULL: it is none
 * that cells are for. */
static inline struct mprof__cell *find(struct walk *w, uintptr_t pc,
                                       uintptr_t sp) {
    struct mprof__cell *c = mprof__cell_at(w->memo, pc, sp);
    if (__builtin_expect(!mprof__cell_is(c, pc, sp), 0))
        return make(w, pc, sp);
    if (__builtin_expect(
            c->shape.flags & (MPROF__CELL_NEEDS | MPROF__CELL_ASKS), 0))
        return find_slowly(w, pc, sp);
    return c;
}

/* The walk */

/* WORD is a mark, where the return address of C is: put the real one in its
 * place.  False: it is not ours.  True, with the node of what is outside in
 * w->outer, or 0: it is not known. */
static bool meet_mark(struct walk *w, struct mprof__cell *c, uintptr_t *word) {
    struct mprof__marks *marks = w->chain->marks;
    int number = mprof__marks_find(marks, *word, mprof__cell_high(c));
    *word = mprof__marked_address(*word);
    if (number < 0)
        return mprof__load_relaxed(&mprof__marks_off);
    struct mprof__mark *mark = &marks->mark[number];
    w->memo->marks = marks;
    /* A function that ended by jumping to another leaves it the mark. */
    mark->ra_slot = mprof__cell_slot(c);
    c->outer = (uint32_t)number;
    c->outer_version = mark->serial;
    mprof__order_for_handlers();
    c->shape.flags |= MPROF__CELL_MARK;
    w->outer = mprof__walk_outer(w->chain, (uint32_t)number);
    return true;
}

/* Note that the caller of C is OUTER; but not beyond a mark. */
static inline void set_outer(const struct walk *w, struct mprof__cell *c,
                             const struct mprof__cell *outer) {
    if (!(c->shape.flags & MPROF__CELL_MARK))
        c->outer = (uint32_t)(outer - w->memo->cells);
}

/* C, the last one visited, has another caller, OUTER. */
static void lead_to(struct walk *w, struct mprof__cell *c,
                    const struct mprof__cell *outer) {
    w->stale = w->n - 1;
    mprof__cell_make_stale(c);
    set_outer(w, c, outer);
}

/* C, the last one visited, leads elsewhere: to the returned cell.  NULL: *ENDS,
 * or it is none that cells are for. */
static inline struct mprof__cell *turn(struct walk *w, struct mprof__cell *c,
                                       bool *ends) {
    uintptr_t word = mprof__word_at(mprof__cell_slot(c));
    w->stale = w->n - 1;
    mprof__cell_make_stale(c);
    c->shape.flags &= ~(uint32_t)MPROF__CELL_MARK;
    c->ra = word;
    if (__builtin_expect(mprof__is_mark(word), 0)) {
        if (!meet_mark(w, c, &word))
            return NULL;
        *ends = w->outer != 0;
        if (*ends)
            return NULL;
    }
    /* Should there be no cell yet. */
    __builtin_prefetch(mprof__known_slot(&w->chain->known, word));
    struct mprof__cell *outer = find(w, word, mprof__cell_high(c));
    if (outer != NULL)
        set_outer(w, c, outer);
    return outer;
}

/* C, which was just visited and is special, or leads elsewhere: the cell to go
 * on with.  NULL: *ENDS, or what C leads to is to be looked for. */
static inline struct mprof__cell *
straight_on(struct walk *w, const struct mprof__cell *c, bool *ends) {
    unsigned flags = c->shape.flags;
    if (flags & MPROF__CELL_STALE)
        w->stale = w->n - 1;
    if (flags & MPROF__CELL_END) {
        *ends = true;
        return NULL;
    }
    if (mprof__word_at(mprof__cell_slot(c)) != c->ra)
        return NULL;
    if (flags & MPROF__CELL_MARK) {
        const struct mprof__marks *marks = w->chain->marks;
        if (!mprof__marks_has(marks, c->outer, c->outer_version))
            return NULL;
        *ends = !(flags & MPROF__CELL_STALE);
        if (!*ends) {
            w->outer = mprof__walk_outer(w->chain, c->outer);
            *ends = w->outer != 0;
        }
        return NULL;
    }
    /* A stale cell may have the number of a mark, or of a cell that is gone. */
    if (c->outer > w->memo->used)
        return NULL;
    struct mprof__cell *outer = &w->memo->cells[c->outer];
    uintptr_t ra = mprof__is_mark(c->ra) ? mprof__marked_address(c->ra) : c->ra;
    if (!mprof__cell_is(outer, ra, mprof__cell_high(c)))
        return NULL;
    /* Only the node of the caller is another, or what it needs. */
    if (outer->version != c->outer_version || flags & MPROF__CELL_STALE) {
        w->stale = w->n - 1;
        return outer->shape.flags & (MPROF__CELL_NEEDS | MPROF__CELL_ASKS)
                   ? NULL
                   : outer;
    }
    return flags & MPROF__CELL_SAVES && !mprof__cell_saves(w->memo, c) ? NULL
                                                                       : outer;
}

/* As far as TRAIL leads. */
static void go_along(struct walk *w, struct mprof__trail trail) {
    struct mprof__cell *c = trail.first, *cells = w->memo->cells;
    size_t far = mprof__far(w->memo->capacity), n = 0;
    for (; c != trail.last && n < far; c = &cells[c->outer])
        w->memo->visited[n++] = c;
    w->n = n;
}

/* From C, the cell of the next frame, to a mark or to the end.  False: not by
 * cells. */
static bool follow(struct walk *w, struct mprof__cell *c) {
    struct mprof__memo *memo = w->memo;
    struct mprof__cell *cells = memo->cells, **visited = memo->visited;
    size_t far = mprof__far(memo->capacity), n = w->n;
    bool ends = false;
    while (c != NULL && n < far) {
        struct mprof__cell *outer = &cells[c->outer];
        if (__builtin_expect(!(c->shape.flags & MPROF__CELL_SPECIAL) &&
                                 mprof__word_at(mprof__cell_slot(c)) == c->ra &&
                                 outer->version == c->outer_version,
                             1)) {
            visited[n++] = c;
            c = outer;
            continue;
        }
        w->n = n;
        if (c->shape.flags & MPROF__CELL_ASKS && !mprof__cell_runs(memo, c)) {
            /* Mostly the interpreter, which runs another function. */
            c = find_slowly(w, c->pc, c->low);
            if (c != NULL && n > 0)
                lead_to(w, visited[n - 1], c);
        } else {
            visited[n] = c;
            w->n = ++n;
            struct mprof__cell *next = straight_on(w, c, &ends);
            c = next != NULL || ends ? next : turn(w, c, &ends);
        }
    }
    w->n = n;
    return ends;
}

/* Nodes */

/* The node of what C is for, called by PARENT; 0: there is no room. */
static inline mprof_ref step(struct walk *w, const struct mprof__cell *c,
                             mprof_ref parent) {
    mprof_ref node = mprof__tree_by_call(w->memo->base, parent, c->call);
    return node != 0 ? node : mprof__tree_step(w->memo->trees, parent, c->call);
}

/* Set in FLAGS what C, the I-th frame of the walk, needs of the frame pointer
 * and what it saves; OUTER is its caller's cell. */
static void settle_bp(const struct walk *w, size_t i, struct mprof__cell *c,
                      const struct mprof__cell *outer, uint32_t *flags) {
    struct mprof__cell_more *more = mprof__cell_more(w->memo, c);
    bool passes = outer != NULL && outer->shape.flags & MPROF__CELL_NEEDS;
    bool needed = c->shape.flags & MPROF__CELL_NEEDS;
    bool needs = c->shape.flags & MPROF__CELL_USES ||
                 (c->shape.bp_at == MPROF__NOT_SAVED && passes);
    uintptr_t bp = needs ? bp_in(w, i) : 0;
    bool differs = needs != needed || (needs && bp != more->bp);
    *flags &= ~(uint32_t)(MPROF__CELL_NEEDS | MPROF__CELL_SAVES);
    if (needs)
        *flags |= MPROF__CELL_NEEDS;
    if (passes && c->shape.bp_at != MPROF__NOT_SAVED &&
        !(c->shape.flags & MPROF__CELL_MARK))
        *flags |= MPROF__CELL_SAVES;
    if (differs)
        c->version = ++w->memo->versions;
    mprof__order_for_handlers();
    if (needs)
        more->bp = bp;
}

/* Give C, the I-th frame of the walk, its node: its caller is OUTER's frame, or
 * without one PARENT.  False: there is no space. */
static bool settle(struct walk *w, size_t i, struct mprof__cell *c,
                   const struct mprof__cell *outer, mprof_ref parent) {
    mprof_ref node = c->node;
    mprof__cell_make_stale(c);
    if (c->parent != parent || node == 0) {
        if (node != 0 && mprof__cell_is_plain(c))
            mprof__cell_keep_place(c, mprof__cell_place_before(w->memo, c));
        node = step(w, c, parent);
    }
    uint32_t flags = c->shape.flags;
    if (__builtin_expect(node == 0, 0))
        return false;
    if (__builtin_expect(
            flags & (MPROF__CELL_USES | MPROF__CELL_NEEDS |
                     MPROF__CELL_SAVES) ||
                (outer != NULL && outer->shape.flags & MPROF__CELL_NEEDS),
            0))
        settle_bp(w, i, c, outer, &flags);
    if (c->version == 0 || node != c->node) {
        c->node = 0;
        mprof__order_for_handlers();
        c->version = ++w->memo->versions;
        mprof__order_for_handlers();
        c->counter[0] = c->counter[1] = 0;
    }
    c->parent = parent;
    mprof__order_for_handlers();
    c->node = node;
    if (flags & MPROF__CELL_MARK) {
        if (outer != NULL)
            mprof__walk_set_outer(w->chain, c->outer, outer->node);
    } else if (outer != NULL) {
        c->outer = (uint32_t)(outer - w->memo->cells);
        c->outer_version = outer->version;
    }
    mprof__order_for_handlers();
    c->shape.flags = flags & ~(uint32_t)MPROF__CELL_STALE;
    return true;
}

/* All cells that the walk came by get their nodes, from the outermost stale one
 * inwards. */
static bool settle_all(struct walk *w) {
    const struct mprof__cell *outer = NULL;
    mprof_ref parent = w->outer;
    if (w->stale + 1 < w->n) {
        outer = w->memo->visited[w->stale + 1];
        parent = outer->node;
    } else if (parent == 0) {
        parent = w->memo->trees->tree.root;
    }
    for (size_t i = w->stale + 1; i-- > 0;) {
        struct mprof__cell *c = w->memo->visited[i];
        bool same = outer != NULL && !(c->shape.flags & MPROF__CELL_STALE) &&
                    &w->memo->cells[c->outer] == outer &&
                    c->outer_version == outer->version;
        if (!same && !settle(w, i, c, outer, parent))
            return false;
        parent = c->node;
        outer = c;
    }
    return true;
}

/* A walk by cells led nowhere, as the next ones may. */
static struct mprof__cell *give_up(struct mprof__memo *memo) {
    memo->backoff = memo->backoff * 2 + 1;
    if (memo->backoff > MOST_WAITS)
        memo->backoff = MOST_WAITS;
    memo->waits = memo->backoff;
    memo->patience += memo->patience == 0;
    return NULL;
}

struct mprof__cell *__attribute__((noinline))
mprof__remembered_slowly(struct mprof__memo *memo, const void *frame,
                         struct mprof__trail trail) {
    struct mprof__chain *chain = memo->trees->chain;
    uint64_t generation = mprof__load_acquire(&mprof__generation);
    bool revises = memo->patience == 0;
    uintptr_t pc, sp;
    struct walk w = {.memo = memo, .chain = chain, .stale = NONE_STALE};
    mprof__caller(frame, &pc, &sp, &w.bp);
    if (memo->waits > 0 || chain->known.sites == NULL ||
        chain->known.generation != generation) {
        memo->waits -= memo->waits > 0;
        memo->patience += revises;
        return NULL;
    }
    if (memo->generation != generation && !mprof__memo_begin(memo, generation))
        return give_up(memo);
    if (trail.first == NULL)
        trail.first = trail.last = find(&w, pc, sp);
    go_along(&w, trail);
    if (!follow(&w, trail.last) || (w.stale != NONE_STALE && !settle_all(&w)))
        return give_up(memo);
    if (memo->versions > MPROF__MOST_VERSIONS)
        memo->generation = 0;
    if (++memo->walks >= MPROF__JUDGE_EVERY)
        mprof__memo_judge(memo);
    memo->backoff = 0;
    if (sp > memo->shallowest)
        memo->shallowest = sp;
    if (mprof__stack_is_deeper(memo, sp))
        mprof__stack_by_cells(memo, memo->visited[w.n - 1], sp);
    if (revises)
        memo->patience = MPROF__REVISE_EVERY;
    if (MPROF__HAS_MARKS && (revises || mprof__stretch_is_long(w.n - 1)))
        mprof__revise_marks(memo, w.n);
    return *mprof__memo_recent(memo, pc, sp) = memo->visited[0];
}
