/* memo.c - see memo.h.
 *
 * Where a program comes from ever new states of its stack, most cells are made
 * in vain, and the more there are the less of them is in the processor's cache.
 * Where it comes from the same ones again, as a deep recursion does, each that
 * is not there any more is made anew.  So there are few at first; when walks
 * make many, it is tried with many, and that stays so if they make half as many
 * then, or less.
 */
#include "monitor/walk/memo.h"

#include <errno.h>
#include <string.h>

#include "monitor/base/table.h"
#include "monitor/tree/trees.h"

/* Cells: at first, and how many times more when these are used up, which is
 * less while they are few: there may be thousands of threads. */
enum { FIRST_CELLS = 32, FEW_CELLS = 128, FIRST_GROWTH = 2, GROWTH = 4 };

/* Walks for a cell that is made, when that is too many; judgements until the
 * second trial, and until another at most. */
enum { SELDOM = 4, FIRST_BACKOFF = 8, MOST_BACKOFF = 64 };

/* More cells are made only while all memory outside of the data file is below
 * this part of the limit: the tree is more important. */
enum { SHARE = 16 };

/* Return the bytes that are mapped for CAPACITY cells: cells, more of them,
 * their places before, index, where they are in it, visited, seen. */
static size_t bytes_of(uint32_t capacity) {
    return capacity *
               (sizeof(struct mprof__cell) + sizeof(struct mprof__cell_more) +
                sizeof(struct mprof__place) + 2 * sizeof(uint32_t) +
                sizeof(uint16_t)) +
           mprof__far(capacity) *
               (sizeof(struct mprof__cell *) + sizeof(struct mprof__seen));
}

void mprof__memo_free(struct mprof__memo *memo) {
    struct mprof__cell *cells = memo->cells;
    memo->generation = 0;
    mprof__order_for_handlers();
    memo->cells = NULL;
    if (cells != NULL)
        mprof__unmap(cells, bytes_of(memo->capacity));
    memo->capacity = memo->made = 0;
}

static bool has_room(const struct mprof__arena *arena, size_t bytes) {
    return mprof__arena_beside(arena) + bytes <= arena->limit / SHARE;
}

/* Should a jump leave this in the middle, there are no cells. */
static bool map_cells(struct mprof__memo *memo, uint32_t capacity) {
    char *cells = mprof__map(bytes_of(capacity));
    if (cells == NULL)
        return false;
    mprof__memo_free(memo);
    size_t used = capacity * sizeof(struct mprof__cell);
    memo->more = (void *)(cells + used);
    used += capacity * sizeof(struct mprof__cell_more);
    memo->before = (void *)(cells + used);
    used += capacity * sizeof(struct mprof__place);
    memo->index = (void *)(cells + used);
    used += capacity * 2 * sizeof(uint32_t);
    memo->at = (void *)(cells + used);
    used += capacity * sizeof(uint16_t);
    memo->visited = (void *)(cells + used);
    used += mprof__far(capacity) * sizeof(struct mprof__cell *);
    memo->seen = (void *)(cells + used);
    memo->mask = capacity * 2 - 1;
    memo->capacity = capacity;
    mprof__order_for_handlers();
    memo->cells = (void *)cells;
    return true;
}

/* How many cells there are to be. */
static uint32_t wanted_by(const struct mprof__memo *memo) {
    if (memo->cells == NULL)
        return FIRST_CELLS;
    return memo->wanted != 0 ? memo->wanted : memo->capacity;
}

static void want(struct mprof__memo *memo, uint32_t cells) {
    memo->wanted = cells;
    memo->generation = 0;
}

void mprof__memo_grow(struct mprof__memo *memo) {
    uint32_t has = memo->capacity;
    if (!memo->largest)
        want(memo, has * (has < FEW_CELLS ? FIRST_GROWTH : GROWTH));
}

/* How many judgements until it is tried again, if this trial is in vain. */
static uint32_t next_backoff(uint32_t backoff) {
    if (backoff == 0)
        return FIRST_BACKOFF;
    return backoff < MOST_BACKOFF ? backoff * 2 : MOST_BACKOFF;
}

void mprof__memo_judge(struct mprof__memo *memo) {
    uint32_t made = memo->made;
    memo->walks = memo->made = 0;
    if (memo->capacity > MPROF__NEAR_CELLS) {
        if (memo->filling) {
            memo->filling =
                memo->used + 1 < memo->capacity && made > memo->made_near / 2;
        } else if (made > memo->made_near / 2) {
            want(memo, MPROF__NEAR_CELLS);
        }
    } else if (memo->trial_waits > 0) {
        memo->trial_waits--;
    } else if (memo->capacity == MPROF__NEAR_CELLS &&
               made > MPROF__JUDGE_EVERY / SELDOM) {
        memo->made_near = made;
        memo->filling = true;
        memo->trial_backoff = next_backoff(memo->trial_backoff);
        memo->trial_waits = memo->trial_backoff;
        want(memo, MPROF__MOST_CELLS);
    }
}

bool mprof__memo_begin(struct mprof__memo *memo, uint64_t generation) {
    int saved = errno;
    uint32_t wanted = wanted_by(memo);
    uint32_t has = memo->cells == NULL ? 0 : memo->capacity;
    bool fresh =
        wanted != has &&
        (wanted < has || has_room(memo->trees->arena, bytes_of(wanted))) &&
        map_cells(memo, wanted);
    errno = saved;
    if (memo->cells == NULL)
        return false;
    memo->generation = 0;
    mprof__order_for_handlers();
    if (!fresh)
        memset(memo->index, 0, (memo->mask + (size_t)1) * sizeof *memo->index);
    for (unsigned i = 0; i < MPROF__RECENT; i++)
        memo->recent[i] = memo->cells;
    for (unsigned i = 0; i < MPROF__DETOURS; i++)
        memo->detour[i].version = 0;
    memo->used = memo->hand = memo->seen_count = memo->wanted = 0;
    memo->largest =
        memo->capacity >= MPROF__NEAR_CELLS || wanted > memo->capacity;
    if (memo->versions > MPROF__MOST_VERSIONS)
        memo->versions = 0;
    memo->patience = 1;
    mprof__order_for_handlers();
    memo->generation = generation;
    return true;
}
