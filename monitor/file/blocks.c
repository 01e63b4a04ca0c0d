/* blocks.c - see blocks.h. */
#include "monitor/file/blocks.h"

#include "monitor/base/self.h"

/* Bytes in the first blocks of a thread, at most so many things, and things in
 * the largest ones. */
enum { FIRST_BYTES = 896, FIRST_THINGS = 16, MOST_THINGS = 512 };

/* A quarter of what there is in all.  There may be many threads, and little
 * room in the arena. */
static uint32_t next_capacity(const struct mprof__blocks *blocks) {
    uint32_t fit = FIRST_BYTES / blocks->bytes, quarter = blocks->room / 4;
    uint32_t first = fit < FIRST_THINGS ? fit : FIRST_THINGS;
    if (quarter < first ||
        !mprof__arena_has_room(blocks->arena, MPROF__FOR_CHAINS))
        return first;
    return quarter < MOST_THINGS ? quarter : MOST_THINGS;
}

static bool make_block(struct mprof__blocks *blocks, uint32_t capacity) {
    struct mprof__arena *arena = blocks->arena;
    struct mprof_block *block = mprof__arena_record(
        arena, blocks->type, sizeof *block + (size_t)capacity * blocks->bytes);
    if (block == NULL)
        return false;
    block->thread = blocks->thread;
    mprof__arena_publish(arena, block);
    blocks->last = block;
    blocks->room += capacity;
    return true;
}

bool mprof__block_fix(struct mprof__blocks *blocks, uint32_t capacity) {
    blocks->fixed = true;
    return make_block(blocks, capacity);
}

static bool add_block(struct mprof__blocks *blocks, enum mprof__room room) {
    struct mprof__arena *arena = blocks->arena;
    mprof__lock(&arena->lock);
    bool made = mprof__arena_has_room(arena, room) &&
                make_block(blocks, next_capacity(blocks));
    if (made)
        mprof__arena_clock(arena);
    mprof__unlock(&arena->lock);
    return made;
}

/* Where the next thing of the last block is made; NULL: it is full, or there is
 * none. */
static inline void *next_of(const struct mprof__blocks *blocks) {
    struct mprof_block *last = blocks->last;
    if (last == NULL)
        return NULL;
    size_t at = sizeof *last + (size_t)last->count * blocks->bytes;
    return at + blocks->bytes <= last->head.bytes ? (char *)last + at : NULL;
}

void *mprof__block_next(struct mprof__blocks *blocks, enum mprof__room room) {
    /* Whole chains get no space in existing blocks either, once they have used
     * up their part of the limit. */
    if (!blocks->fixed && !mprof__arena_has_room(blocks->arena, room))
        return NULL;
    void *next = next_of(blocks);
    if (next == NULL && !blocks->fixed && add_block(blocks, room))
        next = next_of(blocks);
    return next;
}
