/* revise.c - set marks where they pay off; see marks.h.
 *
 * A mark ends a walk there, and costs as much as some twenty cells when its
 * frame returns.  So marks are set on frames that stay: one every so many
 * frames where a long stretch of the stack has none; and now and then one on
 * the innermost frame that was there in all walks since the last review.  A
 * frame that returns and is called again from the same place looks as if it
 * stayed.  But its mark is gone at the next review, and then the next mark is
 * set further out.
 */
#include "monitor/walk/revise.h"

#include "monitor/base/atomic.h"
#include "monitor/walk/remembered.h"
#include "monitor/tree/trees.h"

enum {
    LEAST_SAVED = 2, /* cells that are too few for a mark */
    FARTHEST = 12,   /* frames that at most are too near to be marked */
    TRIALS = 64      /* reviews, until marking nearer is tried again */
};

/* Mark visited frame I; its caller is the next one, and frames further in have
 * no marks.  False: it cannot be marked. */
static bool mark(struct mprof__chain *chain, struct mprof__memo *memo,
                 size_t i) {
    struct mprof__cell *c = memo->visited[i];
    /* Damaged tables may take anything for a return address. */
    if (c->shape.flags & (MPROF__CELL_MARK | MPROF__CELL_END) ||
        !mprof__follows_call(c->ra))
        return false;
    int number = mprof__marks_set(chain->marks, mprof__cell_slot(c),
                                  mprof__cell_high(c));
    if (number < 0)
        return false;
    /* Should a jump leave this in the middle, the walk finds the mark. */
    c->shape.flags |= MPROF__CELL_STALE;
    mprof__order_for_handlers();
    memo->marks = chain->marks;
    c->ra = chain->marks->mark[number].word;
    c->outer = (uint32_t)number;
    c->outer_version = chain->marks->mark[number].serial;
    mprof__order_for_handlers();
    c->shape.flags |= MPROF__CELL_MARK;
    mprof__walk_set_outer(chain, (size_t)number, memo->visited[i + 1]->node);
    mprof__order_for_handlers();
    c->shape.flags &= ~(uint32_t)MPROF__CELL_STALE;
    mprof__bump(&chain->record->marks, 1);
    return true;
}

/* The innermost frame that is on the stack of the first one for sure. */
static size_t find_innermost(const struct mprof__memo *memo, size_t last) {
    for (size_t i = last + 1; i > 0; i--)
        if (memo->visited[i - 1]->shape.flags & MPROF__CELL_LEAVES)
            return i;
    return 0;
}

/* LAST is the index of the outermost frame that was visited, and KEPT the
 * number of marks up to there. */
static void mark_stretch(struct mprof__chain *chain, struct mprof__memo *memo,
                         size_t last, uint32_t kept) {
    size_t innermost = find_innermost(memo, last);
    if (innermost < MPROF__MARKS_CLEARANCE)
        innermost = MPROF__MARKS_CLEARANCE;
    mprof__marks_drop(chain->marks, kept);
    if (kept == MPROF__MOST_MARKS) {
        /* The next walk finds out which ones are left. */
        mprof__marks_thin(chain->marks);
        return;
    }
    for (size_t i = last; i >= MPROF__MARKS_SPACE + innermost;) {
        i -= MPROF__MARKS_SPACE;
        while (i > innermost && !mark(chain, memo, i))
            i--;
    }
}

/* How far out is the innermost frame that was there at the last review, and has
 * been since?  Its index, at most LAST. */
static size_t find_steady(const struct mprof__memo *memo, size_t last) {
    struct mprof__cell *const *visited = memo->visited;
    size_t i = memo->seen_count, j = last;
    while (i > 0 && memo->seen[i - 1].low > visited[last]->low)
        i--;
    if (i == 0 || memo->seen[i - 1].low != visited[last]->low)
        return last;
    for (i--; i > 0 && j > 0; i--, j--) {
        const struct mprof__cell *c = visited[j - 1];
        if (memo->seen[i - 1].low != c->low ||
            memo->seen[i - 1].version != c->version ||
            c->low < memo->shallowest)
            break;
    }
    return j;
}

/* Is the mark that the last review set still there?  Its frame may look as if
 * it stayed, and return all the time. */
static void judge_nearest(const struct mprof__marks *marks,
                          struct mprof__memo *memo) {
    const struct mprof__mark *mark = &marks->mark[memo->nearest];
    bool was = memo->nearest_serial != 0;
    /* Frames further in than this walk have returned. */
    bool stays = was &&
                 mprof__marks_has(marks, memo->nearest, memo->nearest_serial) &&
                 mark->ra_slot > memo->visited[0]->low &&
                 mprof__word_at(mark->ra_slot) == mark->word;
    memo->nearest_serial = 0;
    if (was && !stays) {
        if (memo->distance < FARTHEST)
            memo->distance++;
    } else if (++memo->reviews % TRIALS == 0 && memo->distance > 0) {
        memo->distance--;
    }
}

static void mark_nearest(struct mprof__chain *chain, struct mprof__memo *memo,
                         size_t last, uint32_t kept) {
    judge_nearest(chain->marks, memo);
    size_t at = find_steady(memo, last) + memo->distance;
    size_t innermost = find_innermost(memo, last);
    if (at < innermost)
        at = innermost;
    for (size_t i = 0; i <= last; i++) {
        memo->seen[i].low = memo->visited[i]->low;
        memo->seen[i].version = memo->visited[i]->version;
    }
    memo->seen_count = (uint32_t)last + 1;
    memo->shallowest = 0;
    for (; at + LEAST_SAVED < last; at++) {
        mprof__marks_drop(chain->marks, kept);
        if (!mark(chain, memo, at))
            continue;
        memo->nearest = memo->visited[at]->outer;
        memo->nearest_serial = memo->visited[at]->outer_version;
        return;
    }
}

void mprof__revise_marks(struct mprof__memo *memo, size_t n) {
    struct mprof__chain *chain = memo->trees->chain;
    const struct mprof__cell *outermost = memo->visited[n - 1];
    size_t last = n - 1;
    uint32_t kept = 0;
    if (outermost->shape.flags & MPROF__CELL_MARK)
        kept = outermost->outer + 1u;
    else if (mprof__walk_marks(chain, mprof__cell_more(memo, outermost)->site,
                               outermost->pc, outermost->low) == NULL)
        return;
    if (mprof__stretch_is_long(last))
        mark_stretch(chain, memo, last, kept);
    else
        mark_nearest(chain, memo, last, kept);
}
