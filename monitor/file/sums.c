/* sums.c - see sums.h. */
#include "monitor/file/sums.h"

#include <stdbool.h>
#include <stddef.h>

#include "monitor/base/atomic.h"
#include "monitor/base/table.h"
#include "monitor/file/arena.h"

static bool add(struct mprof__finder *finder,
                const struct mprof_record *record) {
    struct mprof__found *found = finder->found;
    if (found == NULL ||
        found->count == sizeof found->list / sizeof *found->list) {
        found = mprof__map(sizeof *found);
        if (found == NULL)
            return false;
        found->older = finder->found;
        finder->found = found;
    }
    found->list[found->count++] = record;
    return true;
}

void mprof__find_more(struct mprof__finder *finder,
                      const struct mprof__arena *arena, uint32_t type) {
    uint64_t used = mprof__load_acquire(&mprof__arena_header(arena)->used);
    if (finder->scanned < MPROF_HEADER_BYTES)
        finder->scanned = MPROF_HEADER_BYTES;
    while (finder->scanned < used) {
        const struct mprof_record *record =
            (const void *)(arena->base + finder->scanned);
        if (record->type == type && !add(finder, record))
            return;
        finder->scanned += mprof__record_size(record);
    }
}

void mprof__finder_end(struct mprof__finder *finder) {
    for (struct mprof__found *f = finder->found, *older; f != NULL; f = older) {
        older = f->older;
        mprof__unmap(f, sizeof *f);
    }
    finder->found = NULL;
}
