/* recording_lock.c - see recording_lock.h. */
#include "monitor/record/recording_lock.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "monitor/base/atomic.h"
#include "monitor/base/objects.h"
#include "monitor/base/sampled.h"
#include "monitor/base/self.h"
#include "monitor/include/mprof.h"
#include "monitor/names/adapter.h"
#include "monitor/names/symbols.h"
#include "monitor/record/quiet.h"
#include "monitor/record/session.h"
#include "monitor/record/thread.h"

struct mprof__now mprof__now = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct mprof__session *mprof__recording_lock(struct mprof__quiet *saved) {
    mprof__be_quiet(saved);
    pthread_mutex_lock(&mprof__now.lock);
    return mprof__now.session;
}

static char unseen[400]; /* what mprof cannot observe; with the lock */

struct mprof__session *
mprof__recording_lock_looking(struct mprof__quiet *saved) {
    char now[sizeof unseen] = "";
    if (mprof__adapter.unseen != NULL)
        mprof__adapter.unseen(now, sizeof now);
    mprof__recording_lock(saved);
    memcpy(unseen, now, sizeof now);
    return mprof__now.session;
}

int mprof__recording_unlock(const struct mprof__quiet *saved, int error) {
    int e = errno;
    pthread_mutex_unlock(&mprof__now.lock);
    mprof__be_loud(saved);
    errno = e;
    return error;
}

/* Another process has cut the data file: the recording cannot go on. */
bool mprof__is_lost(void) {
    return mprof__load_acquire(&mprof__now.session->arena.cut);
}

bool mprof__begun(void) {
    return mprof__now.running;
}

bool mprof__records(void) {
    return mprof__now.running && mprof__now.owner == getpid() &&
           !mprof__is_lost();
}

/* When the recording is HALTED, functions of C get names as well. */
void mprof__improve_names(bool halted) {
    struct mprof__self *me = mprof__is_lost() ? NULL : mprof__enter();
    if (me == NULL)
        return;
    if (mprof__guard(me)) {
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
