/* keepers.c - see keepers.h. */
#include "monitor/record/keepers.h"

#include <stddef.h>
#include <string.h>

#include "monitor/base/atomic.h"
#include "monitor/base/self.h"
#include "monitor/graph/keepers.h"
#include "monitor/heap/equals.h"
#include "monitor/include/mprof.h"
#include "monitor/names/adapter.h"
#include "monitor/record/recording_lock.h"
#include "monitor/record/session.h"
#include "monitor/record/wishes.h"
#include "monitor/scan/scan.h"

/* The KEEPER of ENTRY; 0: no room. */
static mprof_ref write_keeper(struct mprof__arena *arena,
                              const struct mprof__keepers *keepers,
                              const struct mprof__keeper *entry,
                              mprof_ref outer, uint32_t look,
                              enum mprof_heap heap) {
    const char *text = mprof__keepers_text(keepers, entry);
    mprof_ref label = 0;
    if (entry->maker == 0) {
        if (mprof__arena_has_room(arena, MPROF__FOR_COUNTERS))
            label = mprof__arena_string(arena, text, strlen(text));
        if (label == 0)
            return 0;
    }
    struct mprof_keeper *keeper = NULL;
    if (mprof__arena_has_room(arena, MPROF__FOR_COUNTERS))
        keeper = mprof__arena_record(arena, MPROF_KEEPER, sizeof *keeper);
    if (keeper == NULL)
        return 0;
    keeper->outer = outer;
    keeper->label = label;
    keeper->counter = entry->maker;
    keeper->kind = entry->kind;
    keeper->heap = (uint16_t)heap;
    keeper->look = look;
    keeper->each = entry->each <= UINT32_MAX ? (uint32_t)entry->each : 0;
    keeper->strange = entry->strange;
    mprof__arena_publish(arena, keeper);
    return mprof__arena_ref(arena, keeper);
}

static bool write_kept(struct mprof__arena *arena,
                       const struct mprof__kept *kept, mprof_ref keeper) {
    struct mprof_kept *record = NULL;
    if (mprof__arena_has_room(arena, MPROF__FOR_COUNTERS))
        record = mprof__arena_record(arena, MPROF_KEPT, sizeof *record);
    if (record == NULL)
        return false;
    record->keeper = keeper;
    record->counter = kept->counter;
    record->count = kept->count;
    mprof__arena_publish(arena, record);
    return true;
}

/* Keepers come behind those further out.  REFS has room for one of each. */
static bool write_keepers(struct mprof__arena *arena,
                          const struct mprof__keepers *keepers, uint32_t look,
                          enum mprof_heap heap, mprof_ref *refs) {
    for (size_t i = 1; i < keepers->count; i++) {
        const struct mprof__keeper *keeper = &keepers->list[i];
        if (keeper->all.allocs == 0)
            continue;
        refs[i] = write_keeper(arena, keepers, keeper, refs[keeper->outer],
                               look, heap);
        if (refs[i] == 0)
            return false;
    }
    for (size_t i = 0; i < keepers->kept_count; i++) {
        const struct mprof__kept *kept = &keepers->kept[i];
        if (!write_kept(arena, kept, refs[kept->keeper]))
            return false;
    }
    return true;
}

static bool write_equals(struct mprof__arena *arena,
                         const struct mprof__equals *equals, uint32_t look) {
    for (size_t i = 0; i < equals->count; i++) {
        const struct mprof__equal *equal = &equals->list[i];
        struct mprof_equal *record = NULL;
        if (mprof__arena_has_room(arena, MPROF__FOR_COUNTERS))
            record = mprof__arena_record(arena, MPROF_EQUAL, sizeof *record);
        if (record == NULL)
            return false;
        record->counter = equal->counter;
        record->look = look;
        record->compared = equal->compared;
        record->equal = equal->equal;
        mprof__arena_publish(arena, record);
    }
    return true;
}

/* If not all fits, the header does not lead to any. */
static int record(struct mprof__session *session,
                  const struct mprof__keepers *keepers,
                  const struct mprof__equals *equals, enum mprof_heap heap) {
    struct mprof__arena *arena = &session->arena;
    size_t bytes = keepers->count * sizeof(mprof_ref);
    mprof_ref *refs =
        keepers->failed || equals->failed ? NULL : mprof__map(bytes);
    struct mprof__self *me = refs == NULL ? NULL : mprof__enter();
    uint32_t look = ++session->looks;
    bool done = false;
    if (me != NULL && mprof__guard(me)) {
        mprof__lock(&arena->lock);
        done = write_keepers(arena, keepers, look, heap, refs) &&
               write_equals(arena, equals, look);
        mprof__unlock(&arena->lock);
        if (done)
            mprof__store_release(&mprof__arena_header(arena)->look[heap], look);
    }
    mprof__leave(me);
    mprof__unmap(refs, bytes);
    return done ? 0 : MPROF_E_MEMORY;
}

int mprof__look_for_keepers(const struct mprof__epochs *epochs) {
    const struct mprof__session *session = mprof__recording_lock();
    bool lives = mprof__records() && session->alive.mode != MPROF_LIVE_OFF &&
                 session->alive.sampling == 0;
    mprof__recording_unlock(0);
    if (!lives || mprof__adapter.keepers == NULL)
        return MPROF_E_ALIVE;
    struct mprof__keepers keepers;
    mprof__keepers_begin(&keepers);
    struct mprof__equals equals = {.count = 0};
    int error = mprof__adapter.keepers(&keepers, &equals, epochs);
    struct mprof__session *now = mprof__recording_lock();
    if (error == 0)
        error = mprof__records() && now == session
                    ? record(now, &keepers, &equals, MPROF_LISP_HEAP)
                    : MPROF_E_STOPPED;
    mprof__recording_unlock(0);
    mprof__keepers_end(&keepers);
    mprof__equals_end(&equals);
    return error;
}

void mprof__scan_for_keepers(struct mprof__session *session) {
    struct mprof__keepers keepers;
    bool wanted = mprof__wishes.keepers;
    if (wanted)
        mprof__keepers_begin(&keepers);
    mprof__scan(&session->live, session->late, ++session->scans,
                wanted ? &keepers : NULL);
    if (!wanted)
        return;
    if (keepers.count > 1)
        record(session, &keepers, &(struct mprof__equals){.count = 0},
               MPROF_C_HEAP);
    mprof__keepers_end(&keepers);
}
