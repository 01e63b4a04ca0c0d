/* asked.c - what the recording is asked while it runs, or has stopped: copies
 * of its data, numbers, scopes; see recording.h.
 */
#include <errno.h>
#include <string.h>

#include "monitor/base/atomic.h"
#include "monitor/base/objects.h"
#include "monitor/base/self.h"
#include "monitor/include/mprof.h"
#include "monitor/file/save.h"
#include "monitor/names/adapter.h"
#include "monitor/heap/alive.h"
#include "monitor/record/recording_lock.h"
#include "monitor/record/keepers.h"
#include "monitor/record/recording.h"
#include "monitor/record/scope.h"
#include "monitor/record/session.h"

static int save(struct mprof__session *session, const char *file,
                const struct mprof__epochs *epochs) {
    if (session == NULL)
        return MPROF_E_STOPPED;
    mprof__refresh();
    /* The data file of a recording that goes on is itself not replaced. */
    if (session->named && strcmp(file, session->path) == 0)
        return epochs == NULL ? 0 : MPROF_E_ARGUMENT;
    return mprof__arena_save(&session->arena, file,
                             epochs == NULL ? NULL : mprof__alive_choose,
                             epochs);
}

int mprof__recording_save(const char *file) {
    if (file == NULL)
        return MPROF_E_ARGUMENT;
    struct mprof__session *session = mprof__recording_lock_looking();
    return mprof__recording_unlock(save(session, file, NULL));
}

int mprof__recording_save_alive(const char *file, unsigned from,
                                unsigned until) {
    const struct mprof__epochs epochs = {from, until};
    if (file == NULL || from > until)
        return MPROF_E_ARGUMENT;
    struct mprof__session *session = mprof__recording_lock_looking();
    return mprof__recording_unlock(session != NULL && session->alive.mode == 0
                                       ? MPROF_E_ALIVE
                                       : save(session, file, &epochs));
}

int mprof__recording_snapshot(unsigned *number) {
    if (number == NULL)
        return MPROF_E_ARGUMENT;
    struct mprof__session *session = mprof__recording_lock();
    int error = !mprof__records()                         ? MPROF_E_STOPPED
                : session->alive.mode == 0                ? MPROF_E_ALIVE
                : session->alive.epoch + 1 >= MPROF__DEAD ? MPROF_E_MEMORY
                                                          : 0;
    if (error == 0)
        *number = ++session->alive.epoch;
    errno = 0;
    return mprof__recording_unlock(error);
}

int mprof__recording_keepers(unsigned from, unsigned until) {
    const struct mprof__epochs epochs = {from, until};
    return from > until ? MPROF_E_ARGUMENT : mprof__look_for_keepers(&epochs);
}

int mprof__recording_status(struct mprof_status *status) {
    if (status == NULL)
        return MPROF_E_ARGUMENT;
    memset(status, 0, sizeof *status);
    struct mprof__session *session = mprof__recording_lock();
    status->running = mprof__now.running;
    if (session != NULL)
        mprof__session_status(session, status);
    status->memory_bytes = mprof__load_relaxed(&mprof__mapped);
    return mprof__recording_unlock(0);
}

void mprof__recording_heap(bool reset, struct mprof__heap_now *now) {
    memset(now, 0, sizeof *now);
    struct mprof__session *session = mprof__recording_lock();
    if (session != NULL && session->heaps >> MPROF_C_HEAP & 1)
        mprof__live_read(&session->live, reset, now);
    mprof__recording_unlock(0);
}

int mprof__recording_mark(const char *name) {
    enum { LONGEST = 1024 };
    if (name == NULL || strlen(name) > LONGEST)
        return MPROF_E_ARGUMENT;
    struct mprof__session *session = mprof__recording_lock();
    return mprof__recording_unlock(mprof__records()
                                       ? mprof__session_mark(session, name)
                                       : MPROF_E_STOPPED);
}

int mprof__recording_scope_begin(struct mprof_scope *scope, unsigned wanted) {
    if (scope == NULL || wanted > (MPROF_HEAP_LISP | MPROF_HEAP_MALLOC))
        return MPROF_E_ARGUMENT;
    *scope = (struct mprof_scope){0, 0, NULL};
    struct mprof__session *session = mprof__recording_lock();
    return mprof__recording_unlock(
        mprof__records() ? mprof__scope_begin(session, scope, wanted)
                         : MPROF_E_STOPPED);
}

int mprof__recording_scope_end(struct mprof_scope *scope) {
    if (scope == NULL || scope->within == NULL)
        return MPROF_E_ARGUMENT;
    struct mprof__session *session = mprof__recording_lock();
    return mprof__recording_unlock(
        mprof__records() ? mprof__scope_end(session, scope) : MPROF_E_STOPPED);
}

static int save_scope(struct mprof__session *session,
                      const struct mprof_scope *scope, const char *file) {
    int error = mprof__scope_check(session, scope);
    if (error != 0)
        return error;
    mprof__improve_names(false);
    return mprof__arena_save(&session->arena, file, mprof__scope_edit, scope);
}

int mprof__recording_scope_save(const struct mprof_scope *scope,
                                const char *file) {
    if (scope == NULL || file == NULL)
        return MPROF_E_ARGUMENT;
    struct mprof__session *session = mprof__recording_lock();
    return mprof__recording_unlock(
        mprof__records() ? save_scope(session, scope, file) : MPROF_E_STOPPED);
}

void mprof__recording_watch(void (*function)(void *cookie, uint64_t current),
                            void *cookie) {
    mprof__recording_lock();
    if (mprof__adapter.watch != NULL)
        mprof__adapter.watch(function, cookie);
    mprof__recording_unlock(0);
}

uint64_t mprof__live_current(void) {
    struct mprof__self *me = mprof__enter();
    struct mprof__session *session = mprof__tracked();
    uint64_t live = 0;
    if (session != NULL && (me == NULL || mprof__guard(me)))
        live = mprof__live_bytes(&session->live);
    mprof__leave(me);
    return live;
}
