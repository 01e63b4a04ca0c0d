/* recording_lock.c - see recording_lock.h. */
#include "monitor/record/recording_lock.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "monitor/base/atomic.h"
#include "monitor/base/objects.h"
#include "monitor/base/sampled.h"
#include "monitor/base/self.h"
#include "monitor/include/mprof.h"
#include "monitor/names/adapter.h"
#include "monitor/names/symbols.h"
#include "monitor/record/session.h"
#include "monitor/record/thread.h"

struct mprof__now mprof__now = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* How the thread was that has the lock. */
static struct before {
    sigset_t signals;
    int cancel_state;
} before;

/* Signals wait: a handler that allocates would find the locks taken.  Not
 * those by which the collector halts threads: it would wait for this thread,
 * while this one may wait for a thread that the collector has halted. */
struct mprof__session *mprof__recording_lock(void) {
    static const int not_blocked[] = {SIGPWR, SIGXCPU, SIGSEGV, SIGBUS,
                                      SIGFPE, SIGILL,  SIGTRAP, SIGABRT};
    struct before ours;
    sigset_t all;
    sigfillset(&all);
    for (size_t i = 0; i < sizeof not_blocked / sizeof not_blocked[0]; i++)
        sigdelset(&all, not_blocked[i]);
    pthread_sigmask(SIG_BLOCK, &all, &ours.signals);
    /* Who is cancelled in here would keep the lock. */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &ours.cancel_state);
    pthread_mutex_lock(&mprof__now.lock);
    before = ours;
    return mprof__now.session;
}

static char unseen[400]; /* what mprof cannot observe; with the lock */

struct mprof__session *mprof__recording_lock_looking(void) {
    char now[sizeof unseen] = "";
    if (mprof__adapter.unseen != NULL)
        mprof__adapter.unseen(now, sizeof now);
    mprof__recording_lock();
    memcpy(unseen, now, sizeof now);
    return mprof__now.session;
}

int mprof__recording_unlock(int error) {
    int e = errno;
    struct before ours = before;
    pthread_mutex_unlock(&mprof__now.lock);
    pthread_setcancelstate(ours.cancel_state, NULL);
    pthread_sigmask(SIG_SETMASK, &ours.signals, NULL);
    errno = e;
    return error;
}

bool mprof__is_lost(void) {
    return mprof__load_acquire(&mprof__now.session->arena.cut);
}

bool mprof__records(void) {
    return mprof__now.running && mprof__now.owner == getpid() &&
           !mprof__is_lost();
}

void mprof__improve_names(bool halted) {
    struct mprof__self *me = mprof__is_lost() ? NULL : mprof__enter();
    if (me != NULL && mprof__guard(me)) {
        mprof__adapter.rename(&mprof__now.session->names);
        mprof__threads_end(mprof__now.session);
        if (halted)
            mprof__symbols_copy(&mprof__now.session->names);
    }
    mprof__leave(me);
}

/* The tables are to say what they lack. */
void mprof__note_unseen(void) {
    struct mprof__arena *arena = &mprof__now.session->arena;
    struct mprof_header *header = mprof__arena_header(arena);
    const struct mprof_string *noted = mprof__arena_at(arena, header->unseen);
    size_t length = strlen(unseen);
    if (length == 0 || !(mprof__now.session->heaps & MPROF_HEAP_MALLOC) ||
        (header->unseen != 0 && noted->length == length &&
         memcmp(noted->text, unseen, length) == 0))
        return;
    mprof__lock(&mprof__now.session->arena.lock);
    mprof_ref ref = mprof__arena_string(arena, unseen, length);
    if (ref != 0)
        mprof__store_release(&header->unseen, ref);
    mprof__unlock(&mprof__now.session->arena.lock);
}

void mprof__refresh(void) {
    if (!mprof__now.running)
        return;
    mprof__arena_clock(&mprof__now.session->arena);
    mprof__note_unseen();
    mprof__improve_names(false);
}

void mprof__forget_objects(void) {
    mprof__objects_clear();
    mprof__sampled_clear();
}
