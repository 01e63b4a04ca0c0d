/* memo.c - the memory of what is remembered; see remembered.h. */
#include <errno.h>
#include <string.h>

#include "monitor/base/table.h"
#include "monitor/record/remembered.h"
#include "monitor/record/thread.h"

/* Cells: at first, and how many times more when these are used up, which is
 * less while they are few: there may be thousands of threads. */
enum { FIRST_CELLS = 32, FEW_CELLS = 128, FIRST_GROWTH = 2, GROWTH = 4 };

/* Of the limit, the part that all that is beside the data file may have while
 * there are to be more cells: the tree is more important. */
enum { SHARE = 16 };

/* What is mapped for CAPACITY cells: cells, more of them, index, visited,
 * seen. */
static size_t bytes_of(uint32_t capacity) {
    return capacity * (sizeof(struct mprof__cell) +
                       sizeof(struct mprof__cell_more) + 2 * sizeof(uint32_t)) +
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
    memo->capacity = 0;
}

void mprof__memo_forget(struct mprof__memo *memo) {
    memo->generation = 0;
}

static uint32_t more_than(uint32_t capacity) {
    return capacity * (capacity < FEW_CELLS ? FIRST_GROWTH : GROWTH);
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
    memo->index = (void *)(cells + used);
    used += capacity * 2 * sizeof(uint32_t);
    memo->visited = (void *)(cells + used);
    used += mprof__far(capacity) * sizeof(struct mprof__cell *);
    memo->seen = (void *)(cells + used);
    memo->mask = capacity * 2 - 1;
    memo->capacity = capacity;
    mprof__order_for_handlers();
    memo->cells = (void *)cells;
    return true;
}

bool mprof__memo_begin(struct mprof__thread *thread, uint64_t generation) {
    struct mprof__memo *memo = &thread->memo;
    int saved = errno;
    uint32_t wanted = FIRST_CELLS;
    if (memo->cells != NULL)
        wanted = memo->used + 1 < memo->capacity ? memo->capacity
                                                 : more_than(memo->capacity);
    bool fresh = wanted <= MPROF__MOST_CELLS && wanted > memo->capacity &&
                 has_room(&thread->session->arena, bytes_of(wanted)) &&
                 map_cells(memo, wanted);
    errno = saved;
    if (memo->cells == NULL)
        return false;
    memo->generation = 0;
    mprof__order_for_handlers();
    if (!fresh)
        memset(memo->index, 0, (memo->mask + (size_t)1) * sizeof *memo->index);
    memo->used = memo->hand = memo->seen_count = 0;
    memo->largest = wanted > memo->capacity;
    memo->base = thread->session->arena.base;
    if (memo->versions > MPROF__MOST_VERSIONS)
        memo->versions = 0;
    memo->patience = 1;
    mprof__order_for_handlers();
    memo->generation = generation;
    return true;
}
