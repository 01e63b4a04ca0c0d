/* blocks.h - records in the data file that hold many small things of a thread.
 *
 *     | head | thread | count | thing | thing | thing | 000000 | 000000 |
 *      0      8        12      16              ^ the next is made here
 *
 * Only the thread itself adds to its blocks, and needs the arena's lock just
 * for a new one.  A thing is complete before `count` grows over it.
 */
#ifndef MONITOR_FILE_BLOCKS_H
#define MONITOR_FILE_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/base/atomic.h"
#include "monitor/format/format.h"
#include "monitor/file/arena.h"

/* The blocks of one type of a thread. */
struct mprof__blocks {
    struct mprof__arena *arena;
    mprof_ref thread;         /* its THREAD */
    struct mprof_block *last; /* NULL: there are none yet */
    uint32_t type;            /* enum mprof_record_type */
    uint32_t bytes;           /* size of a thing, a multiple of 8 */
    uint32_t room;            /* things that fit into all blocks together */
    bool fixed; /* there is one block, and there will be no other */
};

/* Things that the last block has room for; 0: there is none. */
static inline uint32_t
mprof__block_capacity(const struct mprof__blocks *blocks) {
    return blocks->last == NULL
               ? 0
               : (blocks->last->head.bytes - sizeof *blocks->last) /
                     blocks->bytes;
}

/* Return the address for the next thing of BLOCKS, with arbitrary contents.
 * NULL: there is no ROOM for it.  Takes the arena's lock. */
void *mprof__block_next(struct mprof__blocks *blocks, enum mprof__room room);

/* Make the one block of FIXED blocks, with room for CAPACITY things; the caller
 * holds the arena's lock. */
bool mprof__block_fix(struct mprof__blocks *blocks, uint32_t capacity);

/* Things that it has room for yet. */
static inline uint32_t mprof__block_left(const struct mprof__blocks *blocks) {
    return mprof__block_capacity(blocks) - blocks->last->count;
}

/* That thing is complete. */
static inline mprof_ref mprof__block_publish(struct mprof__blocks *blocks,
                                             const void *thing) {
    mprof__store_release(&blocks->last->count, blocks->last->count + 1);
    return mprof__arena_ref(blocks->arena, thing);
}

#endif
