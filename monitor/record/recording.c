/* recording.c - see recording.h. */
#define _GNU_SOURCE
#include "monitor/record/recording.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "monitor/base/atomic.h"
#include "monitor/base/invariant.h"
#include "monitor/format/bytes.h"
#include "monitor/format/process.h"
#include "monitor/base/objects.h"
#include "monitor/base/sampled.h"
#include "monitor/base/self.h"
#include "monitor/include/mprof.h"
#include "monitor/names/adapter.h"
#include "monitor/heap/alive.h"
#include "monitor/record/quiet.h"
#include "monitor/heap/sampling.h"
#include "monitor/scan/scan.h"
#include "monitor/record/session.h"
#include "monitor/names/symbols.h"
#include "monitor/walk/deepest.h"
#include "monitor/record/recording_lock.h"
#include "monitor/record/tell.h"
#include "monitor/record/thread.h"
#include "monitor/unwind/generation.h"
#include "monitor/unwind/marks.h"

/* Unless set: as much, or an eighth of the machine's memory. */
enum { MOST_BY_DEFAULT = 1024 * 1024 * 1024 };

/* Guards everything here.  Lock order: this, then a session's. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct mprof__session *session; /* the last one, running or not */
static bool running;
static pid_t owner;       /* process whose session it is */
static unsigned heaps;    /* of the next session; 0: the library's own */
static unsigned live;     /* ... what of its Lisp heap is alive is told */
static uint32_t sampling; /* ... only a byte in so many is looked at; 0: all */
static uint64_t limit;    /* 0: not set */
static bool warns, summary; /* at the end: what the data lack, what there was */
static bool scans;          /* ... what is lost */
static bool early;          /* the program has not begun */
static bool initialized;    /* a recording has been started */

struct mprof__session *mprof__recording_lock(struct mprof__quiet *saved) {
    mprof__be_quiet(saved);
    pthread_mutex_lock(&lock);
    return session;
}

static char unseen[400]; /* what the program allocates that nobody sees */

struct mprof__session *
mprof__recording_lock_looking(struct mprof__quiet *saved) {
    char now[sizeof unseen] = "";
    if (mprof__adapter.unseen != NULL)
        mprof__adapter.unseen(now, sizeof now);
    mprof__recording_lock(saved);
    memcpy(unseen, now, sizeof now);
    return session;
}

int mprof__recording_unlock(const struct mprof__quiet *saved, int error) {
    int e = errno;
    pthread_mutex_unlock(&lock);
    mprof__be_loud(saved);
    errno = e;
    return error;
}

static void publish(struct mprof__session *current,
                    struct mprof__session *tracked) {
    mprof__store_release(&mprof__page.sessions.current, current);
    mprof__store_release(&mprof__page.sessions.tracked, tracked);
    mprof__store_release(&mprof__page.sessions.recording,
                         current == NULL ? 0 : current->id);
    mprof__store_release(&mprof__page.sessions.known, true);
}

static bool forks;        /* a thread is in fork(); atomic */
static bool forks_inside; /* of the hook, in a signal handler; under the lock */

void mprof__recording_absent(void) {
    bool unknown = false;
    if (!mprof__load_acquire(&forks) && mprof__adapter.cloned != NULL &&
        mprof__replace(&mprof__page.sessions.known, &unknown, true))
        mprof__adapter.cloned();
}

/* Nothing else may be locked here: fork() itself waits for locks of the C
 * library, whose owners may be about to allocate. */
static void before_fork(void) {
    pthread_mutex_lock(&lock);
    mprof__store_release(&forks, true);
    struct mprof__self *me = initialized ? mprof__enter() : NULL;
    forks_inside = initialized && me == NULL;
    if (me != NULL)
        mprof__leave(me);
}

static void after_fork_parent(void) {
    mprof__store_release(&forks, false);
    pthread_mutex_unlock(&lock);
}

static void forget_objects(void) {
    mprof__objects_clear();
    mprof__sampled_clear();
}

/* The data file belongs to the parent.  What the monitor has in memory may be
 * half changed by threads that are not here; it stays, unused. */
static void after_fork_child(void) {
    if (!initialized) {
        after_fork_parent();
        return;
    }
    struct mprof__session *parents = session;
    bool was_running = running;
    early = false;
    publish(NULL, NULL);
    mprof__image_forked();
    if (was_running)
        mprof__adapter.detach();
    mprof__threads_forked();
    mprof__modules_forked();
    mprof__adapter.forked();
    mprof__sampling_forked();
    mprof__sampled_forked(forks_inside);
    after_fork_parent();
    running = false;
    session = NULL;
    owner = getpid();
    /* The handler returns into the hook, which goes on with what it has. */
    if (parents == NULL || forks_inside)
        return;
    if (was_running && parents->named && mprof__adapter.follow != NULL)
        mprof__adapter.follow(parents->path);
    forget_objects();
    mprof__log_end(&parents->log);
    mprof__symbols_end(&parents->names);
    mprof__arena_close(&parents->arena);
}

/* A wrong MPROF_LIMIT is as none; who starts the program says so. */
static uint64_t default_limit(void) {
    const char *wanted = getenv("MPROF_LIMIT");
    uint64_t bytes;
    if (wanted != NULL && mprof__read_bytes(wanted, &bytes))
        return bytes < MPROF__LARGEST_LIMIT ? bytes : MPROF__LARGEST_LIMIT;
    bytes =
        (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 8;
    return bytes < MOST_BY_DEFAULT ? bytes : MOST_BY_DEFAULT;
}

static void initialize(void) {
    if (limit == 0)
        limit = default_limit();
    owner = getpid();
    mprof__threads_initialize();
    mprof__marks_initialize();
    mprof__stack_initialize();
    initialized = true;
}

/* Not when the first recording starts: that may be within malloc(), and that
 * within pthread_atfork() itself, which has a lock. */
static void __attribute__((constructor)) watch_forks(void) {
    pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}

/* Somebody has cut the data file: there is nothing to go on with. */
static bool is_lost(void) {
    return mprof__load_acquire(&session->arena.cut);
}

bool mprof__begun(void) {
    return running;
}

bool mprof__records(void) {
    return running && owner == getpid() && !is_lost();
}

/* When the recording is HALTED, functions of C get names as well. */
static void improve_names(bool halted) {
    struct mprof__self *me = is_lost() ? NULL : mprof__enter();
    if (me == NULL)
        return;
    if (mprof__guard(me)) {
        mprof__adapter.rename(&session->names);
        mprof__threads_end(session);
        if (halted)
            mprof__symbols_copy(&session->names);
    }
    mprof__leave(me);
}

void mprof__improve_names(void) {
    improve_names(false);
}

/* The tables are to say what they lack. */
static void note_unseen(void) {
    struct mprof__arena *arena = &session->arena;
    struct mprof_header *header = mprof__arena_header(arena);
    const struct mprof_string *noted = mprof__arena_at(arena, header->unseen);
    size_t length = strlen(unseen);
    if (length == 0 || !(session->heaps & MPROF_HEAP_MALLOC) ||
        (header->unseen != 0 && noted->length == length &&
         memcmp(noted->text, unseen, length) == 0))
        return;
    mprof__lock(&session->arena.lock);
    mprof_ref ref = mprof__arena_string(arena, unseen, length);
    if (ref != 0)
        mprof__store_release(&header->unseen, ref);
    mprof__unlock(&session->arena.lock);
}

void mprof__refresh(void) {
    if (!running)
        return;
    mprof__arena_clock(&session->arena);
    note_unseen();
    mprof__improve_names();
}

static void begin(void) {
    uint64_t now = mprof__clock(CLOCK_MONOTONIC);
    session->arena.started = now;
    session->late |= !early;
    early = false;
    mprof__arena_header(&session->arena)->scan = 0;
    if (session->arena.before == 0) {
        struct mprof_header *header = mprof__arena_header(&session->arena);
        header->begun = now;
        header->start_time = mprof__clock(CLOCK_REALTIME);
    }
    mprof__log_resume(&session->log, now);
    publish(session, session);
    mprof__adapter.attach(session->heaps);
    running = true;
}

static void check_trees(void) {
    struct mprof__thread *thread = session->threads;
    for (; thread != NULL; thread = thread->next)
        mprof__tree_check(&thread->trees);
}

/* Frees of what was recorded are still counted: while `open`, and after it
 * when mprof__reopen() allows it. */
static void halt(void) {
    mprof__adapter.detach();
    publish(NULL, is_lost() ? NULL : session);
    mprof__store_release(&session->open, false);
    session->pinned |= !mprof__threads_leave();
    mprof__marks_restore();
    running = false;
    if (MPROF__CHECKS && !session->pinned && !is_lost())
        check_trees();
    uint64_t now = mprof__clock(CLOCK_MONOTONIC);
    mprof__arena_clock_at(&session->arena, now);
    mprof__log_pause(&session->log, now);
    mprof__arena_header(&session->arena)->memory +=
        mprof__objects_memory() + mprof__sampled_memory();
    session->arena.before = mprof__arena_header(&session->arena)->duration;
}

static bool same_file(const char *file) {
    if (file == NULL)
        return !session->named;
    return session->named && strcmp(file, session->path) == 0;
}

/* Of a session that is halted. */
static int complete(void) {
    mprof__log_settle(&session->log);
    if (session->pinned)
        return 0; /* Who is still inside may write: it stays an open file. */
    return mprof__arena_complete(&session->arena);
}

static void discard(void) {
    /* Who gave up may have left tables half changed. */
    session->pinned |= is_lost();
    publish(NULL, NULL);
    session->pinned |= !mprof__threads_leave();
    forget_objects();
    if (session->open)
        complete(); /* objects were freed since the stop */
    /* What a thread may still use stays. */
    if (!session->pinned)
        mprof__adapter.forget();
    if (is_lost())
        mprof__arena_leave_file(&session->arena);
    mprof__log_retire(&session->log);
    mprof__session_free(session);
    session = NULL;
}

/* What died while nothing was recorded. */
static void note_dead(void) {
    struct mprof__self *me = session->alive.mode != 0 ? mprof__enter() : NULL;
    if (me == NULL)
        return;
    if (mprof__guard(me))
        mprof__alive_resume(&session->alive);
    mprof__leave(me);
    mprof__arena_header(&session->arena)->alive &=
        ~(uint32_t)MPROF_ALIVE_AT_END;
}

static int resume(void) {
    int error = mprof__arena_reopen(&session->arena);
    if (error != 0)
        return error;
    mprof__store_release(&session->open, true);
    mprof__modules_changed();
    note_dead();
    begin();
    return 0;
}

/* What is to be told of what is alive in the heaps WHICH: of C's nothing. */
static unsigned alive_in(unsigned which) {
    return which >> MPROF_LISP_HEAP & 1 ? live : MPROF_LIVE_OFF;
}

/* What is to be sampled in the heaps WHICH: not if C's is one. */
static uint32_t sampling_in(unsigned which) {
    return which == 1u << MPROF_LISP_HEAP ? sampling : 0;
}

static void tell_alive(unsigned alive, uint32_t part) {
    session->alive.sampling = part;
    mprof__arena_header(&session->arena)->sampling = session->alive.sampling;
    if (session->alive.sampling != 0)
        mprof__sampling_set(session->alive.sampling);
    session->alive.mode = alive;
    if (session->alive.mode != MPROF_LIVE_OFF)
        mprof__arena_header(&session->arena)->alive = MPROF_ALIVE_KNOWN;
}

/* Is what was recorded of what is wanted now? */
static bool is_wanted(unsigned wanted) {
    return session->heaps == wanted &&
           session->alive.mode == alive_in(wanted) &&
           session->alive.sampling == sampling_in(wanted);
}

/* AGAIN: as it was recorded before, whatever was set since. */
static int start(const char *file, bool again) {
    if (running)
        return file == NULL || same_file(file) ? 0 : MPROF_E_RUNNING;
    unsigned wanted = again        ? session->heaps
                      : heaps != 0 ? heaps
                                   : mprof__adapter.heaps;
    const unsigned alive = again ? session->alive.mode : alive_in(wanted);
    const uint32_t part = again ? session->alive.sampling : sampling_in(wanted);
    int error = mprof__adapter.check(wanted);
    if (error != 0)
        return error;
    mprof__map_again();
    if (session != NULL && !session->pinned && same_file(file) &&
        (again || is_wanted(wanted))) {
        error = resume();
        if (error == 0 || !is_lost())
            return error;
        discard();
    }
    struct mprof__session *fresh =
        mprof__session_new(file, limit, wanted, &error);
    if (fresh == NULL)
        return error;
    if (session != NULL)
        discard();
    else
        forget_objects(); /* of a parent */
    session = fresh;
    if (session->heaps & MPROF_HEAP_MALLOC)
        mprof__symbols_begin(&session->names);
    tell_alive(alive, part);
    note_unseen();
    begin();
    return 0;
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

static int refused(void) {
    errno = EPERM;
    return MPROF_E_OPEN;
}

int mprof__recording_start(const char *file) {
    struct mprof__quiet saved;
    if (mprof__process_is_secure())
        return refused();
    pthread_once(&once, initialize);
    mprof__recording_lock_looking(&saved);
    return mprof__recording_unlock(&saved, start(file, false));
}

int mprof__recording_resume(void) {
    struct mprof__quiet saved;
    char path[PATH_MAX];
    mprof__recording_lock_looking(&saved);
    if (session == NULL || owner != getpid())
        return mprof__recording_unlock(&saved, MPROF_E_STOPPED);
    bool named = session->named;
    strcpy(path, session->path);
    return mprof__recording_unlock(&saved, start(named ? path : NULL, true));
}

int mprof__recording_set_heaps(unsigned wanted) {
    struct mprof__quiet saved;
    if (wanted == 0 || wanted > (MPROF_HEAP_LISP | MPROF_HEAP_MALLOC))
        return MPROF_E_ARGUMENT;
    mprof__recording_lock(&saved);
    int error = mprof__adapter.check(wanted);
    if (error == 0)
        heaps = wanted;
    return mprof__recording_unlock(&saved, error);
}

int mprof__recording_set_live(int mode) {
    struct mprof__quiet saved;
    if (mode < MPROF_LIVE_OFF || mode > MPROF_LIVE_AS_IT_IS)
        return MPROF_E_ARGUMENT;
    if (mode != MPROF_LIVE_OFF &&
        (mprof__adapter.tells_alive == NULL || !mprof__adapter.tells_alive()))
        return MPROF_E_ALIVE;
    mprof__recording_lock(&saved);
    live = (unsigned)mode;
    return mprof__recording_unlock(&saved, 0);
}

_Static_assert(MPROF__MOST_SAMPLING == MPROF_MOST_SAMPLING,
               "one number for programs and for options");

int mprof__recording_set_sampling(unsigned bytes) {
    struct mprof__quiet saved;
    if (bytes == 1 || bytes > MPROF__MOST_SAMPLING)
        return MPROF_E_ARGUMENT;
    mprof__recording_lock(&saved);
    sampling = bytes;
    return mprof__recording_unlock(&saved, 0);
}

/* What is garbage by now is not alive.  Finalizers that run meanwhile may call
 * any of our functions. */
static void collect(void) {
    struct mprof__quiet saved;
    mprof__recording_lock(&saved);
    bool wanted = mprof__records() && session->alive.mode == MPROF_LIVE_ON;
    uint64_t before =
        wanted ? mprof__arena_header(&session->arena)->alive_collections : 0;
    mprof__recording_unlock(&saved, 0);
    if (!wanted)
        return;
    mprof__adapter.collect();
    mprof__recording_lock(&saved);
    if (mprof__records() && session->alive.mode == MPROF_LIVE_ON &&
        mprof__arena_header(&session->arena)->alive_collections != before)
        mprof__arena_header(&session->arena)->alive |= MPROF_ALIVE_AT_END;
    mprof__recording_unlock(&saved, 0);
}

static int stop(void) {
    if (session == NULL || owner != getpid())
        return 0;
    if (running) {
        note_unseen();
        if (scans && session->heaps & MPROF_HEAP_MALLOC && !is_lost())
            mprof__scan(&session->live, session->late);
        halt();
        improve_names(true);
        return complete();
    }
    if (!session->open)
        return 0;
    /* Objects were freed since the last stop. */
    mprof__store_release(&session->open, false);
    session->pinned |= !mprof__threads_leave();
    return complete();
}

/* What the disk had no room for is missing in the data file. */
static int lacks(void) {
    if (!session->named || session->arena.refused == 0 || is_lost())
        return 0;
    errno = session->arena.refused;
    return MPROF_E_WRITE;
}

int mprof__recording_stop(void) {
    struct mprof__quiet saved;
    collect();
    mprof__recording_lock_looking(&saved);
    bool runs = session != NULL && owner == getpid() && running;
    int error = stop();
    return mprof__recording_unlock(&saved,
                                   error == 0 && runs ? lacks() : error);
}

bool mprof__reopen(struct mprof__session *stopped) {
    struct mprof__quiet saved;
    mprof__recording_lock(&saved);
    bool open = mprof__tracked() == stopped && !stopped->pinned;
    if (open && !stopped->open) {
        open = mprof__arena_reopen(&stopped->arena) == 0;
        if (open)
            mprof__store_release(&stopped->open, true);
        else
            publish(NULL, NULL);
    }
    mprof__recording_unlock(&saved, 0);
    return open;
}

static int restart(const char *file) {
    int error = running && !same_file(file) ? stop() : 0;
    return error != 0 ? error : start(file, false);
}

int mprof__recording_restart(const char *file) {
    struct mprof__quiet saved;
    if (mprof__process_is_secure())
        return refused();
    pthread_once(&once, initialize);
    mprof__recording_lock_looking(&saved);
    return mprof__recording_unlock(&saved, restart(file));
}

void mprof__recording_set_autosave(int count) {
    mprof__store_relaxed(&mprof__autosave, count > 0 ? (uint64_t)count : 0);
}

static int reset(void) {
    if (session == NULL || owner != getpid())
        return 0;
    bool was_running = running;
    char path[PATH_MAX];
    bool named = session->named;
    strcpy(path, session->path);
    if (was_running)
        halt();
    mprof__log_again(&session->log);
    discard();
    return was_running ? start(named ? path : NULL, false) : 0;
}

int mprof__recording_reset(void) {
    struct mprof__quiet saved;
    mprof__recording_lock_looking(&saved);
    return mprof__recording_unlock(&saved, reset());
}

void mprof__recording_set_warnings(int on) {
    struct mprof__quiet saved;
    mprof__recording_lock(&saved);
    warns = on != 0;
    mprof__recording_unlock(&saved, 0);
}

void mprof__recording_set_summary(bool on) {
    summary = on;
}

void mprof__recording_set_scan(bool on) {
    scans = on;
}

void mprof__recording_set_early(bool is) {
    early = is;
}

/* A program that exits without a stop leaves a complete file all the same. */
static void finish(void *unused) {
    (void)unused;
    struct mprof__quiet saved;
    struct mprof__heap_now now;
    bool tells = summary && owner == getpid();
    if (tells)
        mprof__recording_heap(false, &now);
    mprof__recording_lock_looking(&saved);
    if (owner == getpid()) {
        stop();
        if (session != NULL && session->named && warns)
            mprof__tell_end(session);
        /* What is freed from here on is freed by the C library at its end. */
        publish(NULL, NULL);
        if (session != NULL)
            mprof__log_retire(&session->log);
    }
    mprof__recording_unlock(&saved, 0);
    if (owner == getpid() && mprof__adapter.ended != NULL)
        mprof__adapter.ended();
    /* This looks for a locale, and allocates. */
    if (tells)
        mprof__tell_summary(&now);
}

static bool finishes_last;

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

void mprof__recording_set_limit(uint64_t bytes) {
    struct mprof__quiet saved;
    mprof__recording_lock(&saved);
    limit = bytes == 0                     ? 1
            : bytes < MPROF__LARGEST_LIMIT ? bytes
                                           : MPROF__LARGEST_LIMIT;
    mprof__recording_unlock(&saved, 0);
}
