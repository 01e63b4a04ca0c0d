/* plainly.h - walks by cells that are there, when all that changes is plain.
 *
 * Between the way on which all is as it was and the one that can do anything
 * (see remembered.h): some frames lead to other callers, but each of these has
 * a cell, which needs no frame pointer, and each chain has its nodes.  Then it
 * takes two loops: outwards to a mark or the end, and from the outermost frame
 * that changed inwards, where each gets the node that it has below its
 * caller's.
 *
 * A frame that is called by turns from two places would get its nodes by turns,
 * too, a new version each time, and its counters would have to be found again.
 * So each cell keeps the place that it had before.
 *
 * Where only one frame of a chain leads elsewhere, the cells stay as they are
 * for a while, and a detour is remembered:
 *
 *     f <- g <- h       the cells, each by the version of the next one
 *           \
 *             <- i      has a cell, and further out nothing changed
 *
 * Two nodes decide which node f has by this way: its node by the cells, whose
 * last steps are the frames up to the turn, and the node of i.  Each has a
 * version of its own.  A detour is a cell beside the others, never in a chain:
 * it has the version of f's cell as `version`, i's as `outer_version`, the
 * number of frames from f to the turn as `outer`, and f's `node`, `call` and
 * `counter` by this way.
 */
#ifndef MONITOR_WALK_PLAINLY_H
#define MONITOR_WALK_PLAINLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/base/atomic.h"
#include "monitor/tree/tree.h"
#include "monitor/walk/memo.h"
#include "monitor/walk/remembered.h"
#include "monitor/walk/revise.h"

/* Let C be STALE, until it is whole again. */
static inline void mprof__cell_make_stale(struct mprof__cell *c) {
    c->shape.flags |= MPROF__CELL_STALE;
    mprof__order_for_handlers();
}

/* Is C one for these walks?  It may be STALE, or a mark that is gone. */
enum { MPROF__CELL_NO_MORE = MPROF__CELL_STALE | MPROF__CELL_MARK };
static inline bool mprof__cell_is_plain(const struct mprof__cell *c) {
    const unsigned other = (MPROF__CELL_SPECIAL & ~MPROF__CELL_NO_MORE) |
                           MPROF__CELL_NEEDS | MPROF__CELL_USES;
    return (c->shape.flags & other) == 0;
}

/* The place that C had before, if it KEEPS one. */
static inline struct mprof__place *
mprof__cell_place_before(const struct mprof__memo *memo,
                         const struct mprof__cell *c) {
    return &memo->before[c - memo->cells];
}

/* C is about to have another place: let the present one be BEFORE. */
static inline void mprof__cell_keep_place(struct mprof__cell *c,
                                          struct mprof__place *before) {
    before->parent = 0;
    mprof__order_for_handlers();
    before->node = c->node;
    before->version = c->version;
    before->counter[0] = c->counter[0];
    before->counter[1] = c->counter[1];
    mprof__order_for_handlers();
    before->parent = c->parent;
    c->shape.flags |= MPROF__CELL_KEEPS;
}

/* Let C, which is STALE, have its place below PARENT.  False: there is no such
 * node yet. */
static inline bool mprof__cell_change_place(struct mprof__memo *memo,
                                            struct mprof__cell *c,
                                            mprof_ref parent) {
    struct mprof__place *before = mprof__cell_place_before(memo, c), place;
    if (c->shape.flags & MPROF__CELL_KEEPS && before->parent == parent) {
        place = *before;
    } else {
        mprof_ref node = mprof__tree_by_call(memo->base, parent, c->call);
        if (node == 0)
            return false;
        place =
            (struct mprof__place){.node = node, .version = ++memo->versions};
    }
    mprof__cell_keep_place(c, before);
    c->node = 0;
    mprof__order_for_handlers();
    c->version = place.version;
    c->counter[0] = place.counter[0];
    c->counter[1] = place.counter[1];
    c->parent = parent;
    mprof__order_for_handlers();
    c->node = place.node;
    return true;
}

/* The cell of the caller of C, which returns to WORD; NULL: it is to be made,
 * or to be looked at. */
static inline struct mprof__cell *
mprof__cell_caller(const struct mprof__memo *memo, const struct mprof__cell *c,
                   uintptr_t word) {
    uintptr_t high = mprof__cell_high(c);
    struct mprof__cell *outer = &memo->cells[c->outer];
    if (word != c->ra || !mprof__cell_is(outer, word, high))
        outer = mprof__cell_at(memo, word, high);
    return mprof__cell_is(outer, word, high) && mprof__cell_is_plain(c) &&
                   !(outer->shape.flags & MPROF__CELL_NEEDS)
               ? outer
               : NULL;
}

/* Frames that such a walk goes by: more are a stretch without marks that is too
 * long. */
enum { MPROF__PLAIN_FRAMES = MPROF__MARKS_SPACE + MPROF__MARKS_CLEARANCE + 1 };

/* Let the first CHANGED of the VISITED cells be whole again, from the outermost
 * of them inwards. */
static inline bool mprof__visited_settle(struct mprof__memo *memo,
                                         struct mprof__cell **visited,
                                         size_t changed) {
    const struct mprof__cell *outer = visited[changed];
    while (changed-- > 0) {
        struct mprof__cell *c = visited[changed];
        uintptr_t word = mprof__word_at(mprof__cell_slot(c));
        if (word != c->ra || c->outer_version != outer->version) {
            if (!mprof__cell_is_plain(c))
                return false;
            mprof__cell_make_stale(c);
            if ((c->parent != outer->node || c->node == 0) &&
                !mprof__cell_change_place(memo, c, outer->node))
                return false;
            c->ra = word;
            if (&memo->cells[c->outer] != outer)
                c->outer = (uint32_t)(outer - memo->cells);
            c->outer_version = outer->version;
            mprof__order_for_handlers();
            c->shape.flags &= ~(uint32_t)MPROF__CELL_NO_MORE;
        }
        outer = c;
    }
    return true;
}

/* How often a detour is used before the cells take that way, too: frames of
 * several functions may have it by turns. */
enum { MPROF__DETOUR_USES = 255 };

/* Of VISITED cells the one with index TURN leads elsewhere, to the next of
 * them: the detour of the first one.  NULL: let the cells take this way, as it
 * is walked again and again, or has no node yet. */
static inline struct mprof__cell *mprof__detour(struct mprof__memo *memo,
                                                struct mprof__cell **visited,
                                                size_t turn) {
    const struct mprof__cell *c = visited[0], *outer = visited[turn + 1];
    struct mprof__cell *detour =
        &memo->detour[(c->version * 5 + outer->version) % MPROF__DETOURS];
    if (__builtin_expect(detour->version == c->version &&
                             detour->outer_version == outer->version &&
                             detour->outer == turn,
                         1)) {
        bool again = detour->parent == memo->patience + 1;
        detour->parent = memo->patience;
        if (!again && ++detour->shape.size < MPROF__DETOUR_USES)
            return detour;
        detour->version = 0;
        return NULL;
    }
    mprof_ref node = outer->node;
    for (size_t i = turn + 1; i-- > 0 && node != 0;)
        node = mprof__tree_by_call(memo->base, node, visited[i]->call);
    if (node == 0)
        return NULL;
    detour->version = 0;
    mprof__order_for_handlers();
    *detour = (struct mprof__cell){.outer = (uint32_t)turn,
                                   .outer_version = outer->version,
                                   .node = node,
                                   .call = c->call,
                                   .parent = memo->patience};
    mprof__order_for_handlers();
    detour->version = c->version;
    return detour;
}

/* The cell of the frame that called FRAME's, when a walk did not begin there
 * lately; NULL: as above. */
static inline struct mprof__cell *
mprof__cell_of_caller(struct mprof__memo *memo, const void *frame) {
    uintptr_t pc, sp, bp;
    mprof__caller(frame, &pc, &sp, &bp);
    if (memo->generation != mprof__load_acquire(&mprof__generation) ||
        memo->patience == 0)
        return NULL;
    struct mprof__cell *c = mprof__cell_at(memo, pc, sp);
    if (!mprof__cell_is(c, pc, sp) || c->shape.flags & MPROF__CELL_NEEDS)
        return NULL;
    if (sp > memo->shallowest)
        memo->shallowest = sp;
    return *mprof__memo_recent(memo, pc, sp) = c;
}

/* The cell of the frame where the chain from FRAME begins, with its node, after
 * a walk that came as far as *TRAIL; NULL: it takes the longer way, from
 * *TRAIL. It calls nothing. */
static inline struct mprof__cell *
mprof__remembered_plainly(struct mprof__memo *memo, const void *frame,
                          struct mprof__trail *trail) {
    struct mprof__cell *visited[MPROF__PLAIN_FRAMES];
    size_t n = 0, changed = 0, changes = 0;
    bool ends = false;
    if (trail->first == NULL)
        trail->first = trail->last = mprof__cell_of_caller(memo, frame);
    struct mprof__cell *c = trail->first, *outer;
    if (c == NULL || memo->versions > MPROF__MOST_VERSIONS)
        return NULL;
    for (; c != trail->last && n < MPROF__PLAIN_FRAMES;
         c = &memo->cells[c->outer])
        visited[n++] = c;
    for (; n < MPROF__PLAIN_FRAMES && !ends; c = outer) {
        unsigned flags = c->shape.flags & MPROF__CELL_SPECIAL;
        uintptr_t word = 0;
        visited[n++] = c;
        outer = &memo->cells[c->outer];
        if (__builtin_expect(flags == 0, 1)) {
            word = mprof__word_at(mprof__cell_slot(c));
            if (word == c->ra && outer->version == c->outer_version)
                continue;
        } else {
            if (flags == MPROF__CELL_MARK)
                word = mprof__word_at(mprof__cell_slot(c));
            if (mprof__cell_holds(memo, c, flags)) {
                ends = flags & (MPROF__CELL_END | MPROF__CELL_MARK);
                if (ends || outer->version == c->outer_version)
                    continue;
                return NULL;
            }
            if (flags != MPROF__CELL_MARK || word == c->ra)
                return NULL;
        }
        if (changed == 0)
            trail->last = c;
        changed = n;
        changes++;
        outer = mprof__cell_caller(memo, c, word);
        if (outer == NULL)
            return NULL;
    }
    if (!ends)
        return NULL;
    c = changes == 1 ? mprof__detour(memo, visited, changed - 1) : NULL;
    if (c != NULL)
        return c;
    /* If this stops in the middle, the next walk looks at all of them. */
    trail->last = trail->first;
    return mprof__visited_settle(memo, visited, changed) ? visited[0] : NULL;
}

/* The same, but not for a while after several in vain. */
static inline struct mprof__cell *
mprof__remembered_perhaps(struct mprof__memo *memo, const void *frame,
                          struct mprof__trail *trail) {
    enum { SEVERAL = 4, WAITS = 16 };
    if (memo->plain_waits > 0) {
        memo->plain_waits--;
        return NULL;
    }
    struct mprof__cell *cell = mprof__remembered_plainly(memo, frame, trail);
    if (cell == NULL) {
        if (++memo->plain_failures >= SEVERAL) {
            memo->plain_failures = SEVERAL - 1;
            memo->plain_waits = WAITS;
        }
        return NULL;
    }
    memo->plain_failures = 0;
    memo->walks++; /* for mprof__memo_judge() */
    return cell;
}

#endif
