/* collections.c - see collections.h. */
#include "monitor/record/collections.h"

#include <stddef.h>
#include <time.h>

#include "monitor/base/atomic.h"
#include "monitor/base/self.h"
#include "monitor/format/process.h"
#include "monitor/record/session.h"

void mprof__collections_begin(struct mprof__session *session) {
    struct mprof__arena *arena = &session->arena;
    struct mprof_collections *record =
        mprof__arena_has_room(arena, MPROF__FOR_COUNTERS)
            ? mprof__arena_record(arena, MPROF_COLLECTIONS, sizeof *record)
            : NULL;
    if (record == NULL)
        return;
    record->step = 1;
    mprof__arena_publish(arena, record);
    session->collections.record = record;
}

/* All that Lisp asked for. */
static uint64_t allocated(struct mprof__session *session) {
    struct mprof__finder *bins = &session->collections.bins;
    uint64_t bytes = 0;
    mprof__find_more(bins, &session->arena, MPROF_BIN);
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

static void note(struct mprof__session *session, uint64_t ns, uint64_t before,
                 uint64_t after) {
    struct mprof_collections *record = session->collections.record;
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
        .time =
            mprof__arena_time(&session->arena, mprof__clock(CLOCK_MONOTONIC)),
        .allocated = allocated(session),
        .before = before,
        .after = after,
        .collections = record->collections,
        .ns = record->ns};
    mprof__store_release(&record->count, record->count + 1);
}

void mprof__collected(uint64_t ns, uint64_t before, uint64_t after) {
    /* Before the first recording nobody can enter. */
    if (mprof__current() == NULL)
        return;
    struct mprof__self *me = mprof__enter();
    struct mprof__session *session = mprof__current();
    if (me == NULL)
        return;
    if (session != NULL && session->collections.record != NULL &&
        mprof__guard(me))
        note(session, ns, before, after);
    mprof__leave(me);
}

void mprof__collections_end(struct mprof__collections *collections) {
    mprof__finder_end(&collections->bins);
}
