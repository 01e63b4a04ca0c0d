/* recording.c - see recording.h. */
#define _GNU_SOURCE
#include "monitor/record/recording.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "monitor/base/atomic.h"
#include "monitor/base/invariant.h"
#include "monitor/format/process.h"
#include "monitor/base/objects.h"
#include "monitor/base/sampled.h"
#include "monitor/base/self.h"
#include "monitor/include/mprof.h"
#include "monitor/names/adapter.h"
#include "monitor/heap/alive.h"
#include "monitor/heap/sampling.h"
#include "monitor/record/keepers.h"
#include "monitor/record/session.h"
#include "monitor/names/symbols.h"
#include "monitor/walk/deepest.h"
#include "monitor/record/recording_lock.h"
#include "monitor/record/messages.h"
#include "monitor/record/wishes.h"
#include "monitor/record/thread.h"
#include "monitor/unwind/generation.h"
#include "monitor/unwind/marks.h"

static void initialize(void) {
    if (mprof__wishes.limit == 0)
        mprof__wishes.limit = mprof__default_limit();
    mprof__threads_initialize();
    mprof__marks_initialize();
    mprof__stack_initialize();
    mprof__now.owner = getpid();
}

static void begin(struct mprof__session *session) {
    uint64_t now = mprof__clock(CLOCK_MONOTONIC);
    session->arena.started = now;
    session->late |= !mprof__wishes.early;
    mprof__wishes.early = false;
    mprof__arena_header(&session->arena)->scan = 0;
    memset(mprof__arena_header(&session->arena)->look, 0,
           sizeof mprof__arena_header(&session->arena)->look);
    if (session->arena.before == 0) {
        struct mprof_header *header = mprof__arena_header(&session->arena);
        header->begun = now;
        header->start_time = mprof__clock(CLOCK_REALTIME);
    }
    mprof__log_run(&session->log, true, now);
    mprof__set_current(session, session->id, session);
    mprof__adapter.attach(session->heaps);
    mprof__now.running = true;
}

static void check_trees(const struct mprof__session *session) {
    struct mprof__thread *thread = session->threads;
    for (; thread != NULL; thread = thread->next)
        mprof__tree_check(&thread->trees);
}

/* Stop.  Frees of recorded objects are still counted: while `open`, and
 * afterwards when mprof__reopen() allows it. */
static void halt(struct mprof__session *session) {
    mprof__adapter.detach();
    mprof__set_current(NULL, 0, mprof__is_lost() ? NULL : session);
    mprof__store_release(&session->open, false);
    session->pinned |= !mprof__threads_wait();
    mprof__marks_restore();
    mprof__now.running = false;
    if (MPROF__CHECKS && !session->pinned && !mprof__is_lost())
        check_trees(session);
    uint64_t now = mprof__clock(CLOCK_MONOTONIC);
    mprof__arena_clock_at(&session->arena, now);
    mprof__log_run(&session->log, false, now);
    mprof__arena_header(&session->arena)->memory +=
        mprof__objects_memory() + mprof__sampled_memory();
    session->arena.before = mprof__arena_header(&session->arena)->duration;
}

static bool same_file(const struct mprof__session *session, const char *file) {
    if (file == NULL)
        return !session->named;
    return session->named && strcmp(file, session->path) == 0;
}

/* Complete the data file of SESSION, which is halted. */
static int complete(struct mprof__session *session) {
    mprof__log_settle(&session->log);
    if (session->pinned)
        return 0; /* Who is still inside may write: it stays an open file. */
    return mprof__arena_complete(&session->arena);
}

static void discard(void) {
    struct mprof__session *session = mprof__now.session;
    /* Who gave up may have left tables half changed. */
    session->pinned |= mprof__is_lost();
    mprof__set_current(NULL, 0, NULL);
    session->pinned |= !mprof__threads_wait();
    mprof__forget_objects();
    if (session->open)
        complete(session); /* objects were freed since the stop */
    /* Objects that a thread may still use stay. */
    if (!session->pinned)
        mprof__adapter.forget();
    if (mprof__is_lost())
        mprof__arena_leave_file(&session->arena);
    mprof__log_retire(&session->log);
    mprof__session_free(session);
    mprof__now.session = NULL;
}

/* Count the objects that died while the recording was stopped. */
static void note_dead(struct mprof__session *session) {
    struct mprof__self *me = session->alive.mode != 0 ? mprof__enter() : NULL;
    if (me == NULL)
        return;
    if (mprof__guard(me))
        mprof__alive_resume(&session->alive);
    mprof__leave(me);
    mprof__arena_header(&session->arena)->alive &=
        ~(uint32_t)MPROF_ALIVE_AT_END;
}

static int resume(struct mprof__session *session) {
    int error = mprof__arena_reopen(&session->arena);
    if (error != 0)
        return error;
    mprof__store_release(&session->open, true);
    mprof__modules_changed();
    note_dead(session);
    begin(session);
    return 0;
}

static void record_alive(struct mprof__session *session, unsigned alive,
                         uint32_t sampling) {
    session->alive.sampling = sampling;
    mprof__arena_header(&session->arena)->sampling = session->alive.sampling;
    if (session->alive.sampling != 0)
        mprof__sampling_set(session->alive.sampling);
    session->alive.mode = alive;
    if (session->alive.mode != MPROF_LIVE_OFF)
        mprof__arena_header(&session->arena)->alive = MPROF_ALIVE_KNOWN;
}

/* AGAIN: with the options of the last recording, even if others were set since.
 */
static int start(const char *file, bool again) {
    struct mprof__session *session = mprof__now.session;
    if (mprof__now.running)
        return file == NULL || same_file(session, file) ? 0 : MPROF_E_RUNNING;
    unsigned wanted =
        mprof__wishes.heaps != 0 ? mprof__wishes.heaps : mprof__adapter.heaps;
    /* Live objects are not followed in C's heap, and with it nothing is a
     * sample. */
    unsigned alive =
        wanted & MPROF_HEAP_LISP ? mprof__wishes.alive : MPROF_LIVE_OFF;
    uint32_t sampling = wanted == MPROF_HEAP_LISP ? mprof__wishes.sampling : 0;
    if (again) {
        wanted = session->heaps;
        alive = session->alive.mode;
        sampling = session->alive.sampling;
    }
    int error = mprof__adapter.check(wanted);
    if (error != 0)
        return error;
    mprof__map_again();
    if (session != NULL && !session->pinned && same_file(session, file) &&
        session->heaps == wanted && session->alive.mode == alive &&
        session->alive.sampling == sampling) {
        error = resume(session);
        if (error == 0 || !mprof__is_lost())
            return error;
        discard();
        session = NULL;
    }
    struct mprof__session *fresh =
        mprof__session_new(file, mprof__wishes.limit, wanted, &error);
    if (fresh == NULL)
        return error;
    if (session != NULL)
        discard();
    else
        mprof__forget_objects(); /* a parent's */
    mprof__now.session = session = fresh;
    if (session->heaps & MPROF_HEAP_MALLOC)
        mprof__symbols_begin(&session->names);
    record_alive(session, alive, sampling);
    mprof__note_unseen();
    begin(session);
    return 0;
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

int mprof__recording_resume(void) {
    char path[PATH_MAX];
    const struct mprof__session *session = mprof__recording_lock_looking();
    if (session == NULL || mprof__now.owner != getpid())
        return mprof__recording_unlock(MPROF_E_STOPPED);
    bool named = session->named;
    strcpy(path, session->path);
    return mprof__recording_unlock(start(named ? path : NULL, true));
}

/* Collect garbage, so that only live objects count as live.  Finalizers that
 * run meanwhile may call any of our functions. */
static void collect(void) {
    struct mprof__session *session = mprof__recording_lock();
    bool wanted = mprof__records() && session->alive.mode == MPROF_LIVE_ON;
    uint64_t before =
        wanted ? mprof__arena_header(&session->arena)->alive_collections : 0;
    mprof__recording_unlock(0);
    if (!wanted)
        return;
    /* A look at what keeps objects alive collects, too. */
    if (mprof__look_for_keepers(NULL) != 0)
        mprof__adapter.collect();
    session = mprof__recording_lock();
    if (mprof__records() && session->alive.mode == MPROF_LIVE_ON &&
        mprof__arena_header(&session->arena)->alive_collections != before)
        mprof__arena_header(&session->arena)->alive |= MPROF_ALIVE_AT_END;
    mprof__recording_unlock(0);
}

static int stop(void) {
    struct mprof__session *session = mprof__now.session;
    if (session == NULL || mprof__now.owner != getpid())
        return 0;
    if (mprof__now.running) {
        mprof__note_unseen();
        if (mprof__wishes.scans && session->heaps & MPROF_HEAP_MALLOC &&
            !mprof__is_lost())
            mprof__scan_for_keepers(session);
        halt(session);
        mprof__improve_names(true);
        return complete(session);
    }
    if (!session->open)
        return 0;
    /* Objects were freed since the last stop. */
    mprof__store_release(&session->open, false);
    session->pinned |= !mprof__threads_wait();
    return complete(session);
}

/* Return an error if data are missing because the disk was full. */
static int lacks(const struct mprof__session *session) {
    if (!session->named || session->arena.refused == 0 || mprof__is_lost())
        return 0;
    errno = session->arena.refused;
    return MPROF_E_WRITE;
}

int mprof__recording_stop(void) {
    collect();
    struct mprof__session *session = mprof__recording_lock_looking();
    bool runs = mprof__now.owner == getpid() && mprof__now.running;
    int error = stop();
    return mprof__recording_unlock(error == 0 && runs ? lacks(session) : error);
}

bool mprof__reopen(struct mprof__session *stopped) {
    mprof__recording_lock();
    bool open = mprof__tracked() == stopped && !stopped->pinned;
    if (open && !stopped->open) {
        open = mprof__arena_reopen(&stopped->arena) == 0;
        if (open)
            mprof__store_release(&stopped->open, true);
        else
            mprof__set_current(NULL, 0, NULL);
    }
    mprof__recording_unlock(0);
    return open;
}

/* ENDS_OTHER: first end a recording into another file. */
static int lock_and_start(const char *file, bool ends_other) {
    int error = 0;
    if (mprof__process_is_secure()) {
        errno = EPERM;
        return MPROF_E_OPEN;
    }
    pthread_once(&once, initialize);
    mprof__recording_lock_looking();
    if (ends_other && mprof__now.running &&
        !same_file(mprof__now.session, file))
        error = stop();
    return mprof__recording_unlock(error != 0 ? error : start(file, false));
}

int mprof__recording_start(const char *file) {
    return lock_and_start(file, false);
}

int mprof__recording_restart(const char *file) {
    return lock_and_start(file, true);
}

static int reset(void) {
    struct mprof__session *session = mprof__now.session;
    if (session == NULL || mprof__now.owner != getpid())
        return 0;
    bool was_running = mprof__now.running;
    char path[PATH_MAX];
    bool named = session->named;
    strcpy(path, session->path);
    if (was_running)
        halt(session);
    mprof__log_again(&session->log);
    discard();
    return was_running ? start(named ? path : NULL, false) : 0;
}

int mprof__recording_reset(void) {
    mprof__recording_lock_looking();
    return mprof__recording_unlock(reset());
}

/* Complete the file of a program that exits without a stop. */
static void finish(void *unused) {
    (void)unused;
    struct mprof__heap_now now;
    bool tells = mprof__wishes.summary && mprof__now.owner == getpid();
    if (tells)
        mprof__recording_heap(false, &now);
    mprof__recording_lock_looking();
    if (mprof__now.owner == getpid()) {
        stop();
        if (mprof__now.session != NULL && mprof__now.session->named &&
            mprof__wishes.warns)
            mprof__message_end(mprof__now.session);
        /* What is freed from here on is freed by the C library at its end. */
        mprof__set_current(NULL, 0, NULL);
        if (mprof__now.session != NULL)
            mprof__log_retire(&mprof__now.session->log);
    }
    mprof__recording_unlock(0);
    if (mprof__now.owner == getpid() && mprof__adapter.ended != NULL)
        mprof__adapter.ended();
    /* This looks for a locale, and allocates. */
    if (tells)
        mprof__message_summary(&now);
}

static bool finishes_last; /* set by a constructor */

extern int __cxa_atexit(void (*)(void *), void *, void *);

/* Registered before the loader registers its own, and for no library, it is
 * called when the destructors of all libraries have run. */
void mprof__finish_last(void) {
    finishes_last = __cxa_atexit(finish, NULL, NULL) == 0;
}

static void __attribute__((destructor)) at_exit(void) {
    if (!finishes_last)
        finish(NULL);
}
