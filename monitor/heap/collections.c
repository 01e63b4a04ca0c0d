/* collections.c - see collections.h. */
#include "monitor/heap/collections.h"

#include <stddef.h>
#include <time.h>

#include "monitor/base/atomic.h"
#include "monitor/format/process.h"
#include "monitor/file/arena.h"

void mprof__collections_begin(struct mprof__collections *collections,
                              struct mprof__arena *arena) {
    struct mprof_collections *record =
        mprof__arena_has_room(arena, MPROF__FOR_COUNTERS)
            ? mprof__arena_record(arena, MPROF_COLLECTIONS, sizeof *record)
            : NULL;
    if (record == NULL)
        return;
    record->step = 1;
    mprof__arena_publish(arena, record);
    collections->record = record;
}

/* All that Lisp asked for. */
static uint64_t allocated(struct mprof__finder *bins,
                          const struct mprof__arena *arena) {
    uint64_t bytes = 0;
    mprof__find_more(bins, arena, MPROF_BIN);
    for (const struct mprof__found *f = bins->found; f != NULL; f = f->older)
        for (uint32_t i = 0; i < f->count; i++) {
            const struct mprof_bin *bin = (const void *)f->list[i];
            bytes += mprof__load_relaxed(&bin->objects.bytes) +
                     mprof__load_relaxed(&bin->storage.bytes);
        }
    return bytes;
}

/* Of two points the later one stays. */
static void halve(struct mprof_collections *record) {
    for (uint32_t i = 0; i < MPROF_COLLECTION_POINTS / 2; i++)
        record->points[i] = record->points[2 * i + 1];
    mprof__store_release(&record->count, MPROF_COLLECTION_POINTS / 2);
    record->step *= 2;
}

void mprof__collections_add(struct mprof__collections *collections,
                            struct mprof__arena *arena, uint64_t ns,
                            uint64_t before, uint64_t after) {
    struct mprof_collections *record = collections->record;
    if (record == NULL)
        return;
    mprof__bump(&record->collections, 1);
    mprof__bump(&record->ns, ns);
    if (before > record->highest)
        mprof__store_relaxed(&record->highest, before);
    if (record->collections % record->step != 0)
        return;
    if (record->count >= MPROF_COLLECTION_POINTS)
        halve(record);
    if (record->collections % record->step != 0)
        return;
    record->points[record->count] = (struct mprof_collection){
        .time = mprof__arena_time(arena, mprof__clock(CLOCK_MONOTONIC)),
        .allocated = allocated(&collections->bins, arena),
        .before = before,
        .after = after,
        .collections = record->collections,
        .ns = record->ns};
    mprof__store_release(&record->count, record->count + 1);
}
