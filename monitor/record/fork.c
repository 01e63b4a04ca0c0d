/* fork.c - what becomes of a recording in the child of a fork, or of a raw
 * clone(): it is the parent's.
 */
#include <pthread.h>
#include <unistd.h>

#include "monitor/base/atomic.h"
#include "monitor/base/sampled.h"
#include "monitor/base/self.h"
#include "monitor/format/process.h"
#include "monitor/heap/sampling.h"
#include "monitor/names/adapter.h"
#include "monitor/names/symbols.h"
#include "monitor/record/recording.h"
#include "monitor/record/recording_lock.h"
#include "monitor/record/session.h"
#include "monitor/record/thread.h"
#include "monitor/record/wishes.h"
#include "monitor/unwind/generation.h"

static bool in_fork;        /* a thread is in fork(); atomic */
static bool fork_is_inside; /* inside of the hook, in a signal handler; guarded
                             by the lock */

void mprof__recording_absent(void) {
    bool unknown = false;
    if (!mprof__load_acquire(&in_fork) && mprof__adapter.cloned != NULL &&
        mprof__replace(&mprof__page.sessions.is_ours, &unknown, true))
        mprof__adapter.cloned();
}

/* Nothing else may be locked here: fork() itself waits for locks of the C
 * library, whose owners may be about to allocate. */
static void before_fork(void) {
    pthread_mutex_lock(&mprof__now.lock);
    mprof__store_release(&in_fork, true);
    struct mprof__self *me = mprof__now.owner != 0 ? mprof__enter() : NULL;
    fork_is_inside = mprof__now.owner != 0 && me == NULL;
    mprof__leave(me);
}

static void after_fork_parent(void) {
    mprof__store_release(&in_fork, false);
    pthread_mutex_unlock(&mprof__now.lock);
}

/* The data file belongs to the parent.  The monitor's memory may be half
 * changed by threads that are not here; it stays, unused. */
static void after_fork_child(void) {
    if (mprof__now.owner == 0) {
        after_fork_parent();
        return;
    }
    struct mprof__session *parents = mprof__now.session;
    bool was_running = mprof__now.running;
    mprof__wishes.early = false;
    mprof__set_current(NULL, 0, NULL);
    mprof__image_forked();
    if (was_running)
        mprof__adapter.detach();
    mprof__threads_forked();
    mprof__modules_forked();
    mprof__adapter.forked();
    mprof__sampling_forked();
    mprof__sampled_forked(fork_is_inside);
    after_fork_parent();
    mprof__now.running = false;
    mprof__now.session = NULL;
    mprof__now.owner = getpid();
    /* The handler returns into the hook, which goes on with what it has. */
    if (parents == NULL || fork_is_inside)
        return;
    if (was_running && parents->named && mprof__adapter.follow != NULL)
        mprof__adapter.follow(parents->path);
    mprof__forget_objects();
    mprof__log_end(&parents->log);
    mprof__symbols_end(&parents->names);
    mprof__arena_close(&parents->arena);
}

/* Not when the first recording starts: that may be within malloc(), and that
 * within pthread_atfork() itself, which has a lock. */
static void __attribute__((constructor)) watch_forks(void) {
    pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}
