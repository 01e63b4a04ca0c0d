/* c_timed.c - the same as c_record.c, for recordings that are timed: each event
 * holds the log, which has an order of all; see log.h.
 */
#include <errno.h>

#include "monitor/record/c_record.h"
#include "monitor/record/heap_events.h"
#include "monitor/log/log.h"
#include "monitor/record/thread.h"

/* Return the thread id of ME for the log; 0: nothing of it was counted. */
static uint32_t tid_of(const struct mprof__self *me,
                       struct mprof__session *session) {
    const struct mprof__thread *thread =
        mprof__thread_here(me, session, MPROF_C_HEAP);
    return thread == NULL ? 0 : thread->record->tid;
}

void mprof__c_allocated_timed(const void *object, uint64_t bytes,
                              uint64_t count, const void *frame) {
    int saved = errno;
    struct mprof__self *me = mprof__enter_slowly(mprof__stack());
    struct mprof__session *session = mprof__current();
    if (me == NULL || session == NULL) {
        mprof__c_count(me, object, bytes, frame);
    } else if (mprof__guard(me)) {
        mprof__log_enter(&session->log);
        struct mprof__log_entry entry = {
            .type = count > 0 ? MPROF_LOG_CALLOC : MPROF_LOG_MALLOC,
            .fresh = object,
            .bytes = bytes,
            .count = count,
            .is_fresh = mprof__c_count(me, object, bytes, frame),
            .tid = tid_of(me, session)};
        mprof__log_write(&session->log, &entry);
        mprof__log_leave(&session->log);
    }
    mprof__leave(me);
    errno = saved;
}

/* OLD, which is WHAT or was not recorded: NULL, is freed, and if there is a
 * FRESH that has its place, of BYTES. */
static void replace(struct mprof__self *me, struct mprof__session *session,
                    const struct mprof__object *what,
                    struct mprof__log_entry *entry, const void *frame) {
    if (what != NULL) {
        entry->is_old = mprof__c_drop(me, session, what);
        entry->old_bytes = what->bytes;
    }
    if (entry->fresh != NULL && mprof__current() == session)
        entry->is_fresh = mprof__c_count(me, entry->fresh, entry->bytes, frame);
    entry->tid = tid_of(me, session);
    mprof__log_write(&session->log, entry);
}

void mprof__c_release_timed(const void *object) {
    int saved = errno;
    struct mprof__self *me;
    struct mprof__object what;
    struct mprof__session *session = mprof__c_enter_open(&me, mprof__stack());
    if (me == NULL) {
        if (mprof__c_forget(session, object, &what))
            mprof__c_drop(me, session, &what);
    } else if (session != NULL && mprof__guard(me)) {
        mprof__log_enter(&session->log);
        struct mprof__log_entry entry = {.type = MPROF_LOG_FREE, .old = object};
        if (mprof__c_forget(session, object, &what))
            replace(me, session, &what, &entry, NULL);
        mprof__log_leave(&session->log);
    }
    mprof__leave(me);
    errno = saved;
}

bool mprof__c_resizing_timed(const void *object, struct mprof__object *what,
                             const void *frame) {
    struct mprof__self *me;
    struct mprof__session *session = mprof__c_enter_open(&me, mprof__stack());
    bool found = false;
    if (me == NULL)
        return mprof__c_forget(session, object, what);
    if (session != NULL && mprof__guard(me)) {
        mprof__log_enter(&session->log);
        found = mprof__c_forget(session, object, what);
        /* A handler that interrupts the allocator is deeper in the stack. */
        me->stack = mprof__frame_position(frame);
        me->resizes = session;
        me->guarded = false;
    } else {
        mprof__leave(me);
    }
    return found;
}

/* The end of it, by a thread that did not stay inside: it was there before, or
 * nothing is recorded. */
static void end_outside(const struct mprof__resized *r, const void *frame) {
    struct mprof__self *me;
    struct mprof__session *session = mprof__c_enter_open(&me, mprof__stack());
    if (me == NULL || mprof__guard(me)) {
        if (r->kept && r->what != NULL && session != NULL &&
            session->id == r->what->session)
            mprof__objects_put(r->old, *r->what);
        else if (r->what != NULL)
            mprof__c_drop(me, session, r->what);
        if (r->fresh != NULL)
            mprof__c_count(me, r->fresh, r->bytes, frame);
    }
    mprof__leave(me);
}

void mprof__c_resized_timed(const struct mprof__resized *r, const void *frame) {
    struct mprof__self *me = mprof__self;
    struct mprof__session *session = me == NULL ? NULL : me->resizes;
    if (session == NULL) {
        end_outside(r, frame);
        return;
    }
    me->resizes = NULL;
    if (mprof__guard(me)) {
        struct mprof__log_entry entry = {.type = MPROF_LOG_REALLOC,
                                         .old = r->old,
                                         .fresh = r->fresh,
                                         .bytes = r->bytes};
        if (!r->kept)
            replace(me, session, r->what, &entry, frame);
        else if (r->what != NULL)
            mprof__objects_put(r->old, *r->what);
        mprof__log_leave(&session->log);
    }
    mprof__leave(me);
}
