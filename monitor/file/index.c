/* index.c - see index.h. */
#include "monitor/file/index.h"

#include <string.h>

#include "monitor/base/atomic.h"
#include "monitor/base/table.h"

enum { FIRST_BUCKETS = 1024, MOST_BUCKETS = 1 << 30 };

static mprof_ref *next_of(const struct mprof__index *index,
                          const struct mprof__arena *arena, mprof_ref ref) {
    return (mprof_ref *)((char *)mprof__arena_at(arena, ref) + index->next);
}

/* Put the things of BUCKET where they are to be among twice as many. */
static void split(const struct mprof__index *index,
                  const struct mprof__arena *arena, uint32_t bucket,
                  mprof_ref *larger) {
    uint32_t half = index->mask + 1;
    mprof_ref ref = index->bucket[bucket], next;
    for (; ref != 0; ref = next) {
        mprof_ref *place = next_of(index, arena, ref);
        uint32_t hash = index->hash(arena, mprof__arena_at(arena, ref));
        mprof_ref *to = &larger[bucket + (hash & half)];
        next = *place;
        *place = *to;
        *to = ref;
    }
}

/* Should a jump leave this in the middle, some things are not found any more,
 * and are made again. */
static void grow(struct mprof__index *index, const struct mprof__arena *arena) {
    uint32_t half = index->mask + 1;
    size_t bytes = half * sizeof *index->bucket;
    mprof_ref *old = index->bucket, *larger = mprof__map(2 * bytes);
    if (larger == NULL)
        return;
    for (uint32_t i = 0; i < half; i++)
        split(index, arena, i, larger);
    index->bucket = larger;
    mprof__order_for_handlers();
    index->mask = 2 * half - 1;
    mprof__order_for_handlers();
    mprof__unmap(old, bytes);
}

bool mprof__index_make(struct mprof__index *index,
                       const struct mprof__arena *arena) {
    if (index->bucket == NULL) {
        index->bucket = mprof__map(FIRST_BUCKETS * sizeof *index->bucket);
        index->mask = FIRST_BUCKETS - 1;
        return index->bucket != NULL;
    }
    if (index->count > index->mask && index->mask < MOST_BUCKETS - 1)
        grow(index, arena);
    return true;
}

void mprof__index_add(struct mprof__index *index,
                      const struct mprof__arena *arena, mprof_ref ref,
                      uint32_t hash) {
    mprof_ref *bucket = &index->bucket[hash & index->mask];
    *next_of(index, arena, ref) = *bucket;
    *bucket = ref;
    index->count++;
}

void mprof__index_clear(struct mprof__index *index) {
    if (index->bucket != NULL)
        memset(index->bucket, 0,
               ((size_t)index->mask + 1) * sizeof *index->bucket);
    index->count = 0;
}

void mprof__index_free(struct mprof__index *index) {
    if (index->bucket != NULL)
        mprof__unmap(index->bucket,
                     ((size_t)index->mask + 1) * sizeof *index->bucket);
    index->bucket = NULL;
    index->count = index->mask = 0;
}
