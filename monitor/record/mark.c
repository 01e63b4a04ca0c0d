/* mark.c - moments to which the program gives a name. */
#include <string.h>
#include <time.h>

#include "monitor/include/mprof.h"
#include "monitor/base/self.h"
#include "monitor/format/process.h"
#include "monitor/record/session.h"

int mprof__session_mark(struct mprof__session *session, const char *name) {
    struct mprof__heap_now now = {0};
    struct mprof__arena *arena = &session->arena;
    uint64_t time = mprof__arena_time(arena, mprof__clock(CLOCK_MONOTONIC));
    if (session->heaps >> MPROF_C_HEAP & 1)
        mprof__live_read(&session->live, false, &now);
    mprof__lock(&session->arena.lock);
    mprof_ref text = 0;
    if (mprof__arena_has_room(arena, MPROF__FOR_CHAINS))
        text = mprof__arena_string(arena, name, strlen(name));
    struct mprof_mark *record =
        text == 0 ? NULL
                  : mprof__arena_record(arena, MPROF_MARK, sizeof *record);
    if (record != NULL) {
        record->name = text;
        record->time = time;
        record->allocated = now.total;
        record->current = now.current;
        record->objects = now.count > now.frees ? now.count - now.frees : 0;
        mprof__arena_publish(arena, record);
    }
    mprof__unlock(&session->arena.lock);
    return record == NULL ? MPROF_E_MEMORY : 0;
}
