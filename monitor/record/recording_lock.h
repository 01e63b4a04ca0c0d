/* recording_lock.h - the only recording, and its lock: for recording.c, which
 * starts and stops it, asked.c, which reads it, and fork.c.
 */
#ifndef MONITOR_RECORD_RECORDING_LOCK_H
#define MONITOR_RECORD_RECORDING_LOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

struct mprof__session;

/* All but the lock is guarded by it.  Lock order: this, then an arena's. */
extern struct mprof__now {
    pthread_mutex_t lock;
    struct mprof__session *session; /* the last one, running or not; or NULL */
    bool running;                   /* it was begun and not ended */
    pid_t owner; /* process whose session it is; 0: none was started yet */
} mprof__now;

/* Lock the recording.  Returns the last one, running or not, or NULL. */
struct mprof__session *mprof__recording_lock(void);

/* Lock the recording when it begins, ends or is copied: first ask the adapter
 * which allocations it cannot observe.  That may take the loader's lock, whose
 * owner may wait for this one. */
struct mprof__session *mprof__recording_lock_looking(void);

/* Unlock the recording.  Returns ERROR; errno stays. */
int mprof__recording_unlock(int error);

/* With the lock: return true if this process began it and can still record. */
bool mprof__records(void);

/* With the lock, and a session: if it runs, bring its data file up to date with
 * the clock and with names. */
void mprof__refresh(void);

/* With the lock, and a session: look again for names that were unknown when a
 * function was first seen.  When the recording is HALTED, functions of C get
 * names as well. */
void mprof__improve_names(bool halted);

/* With the lock, and a session: return true if another process has cut its
 * data file: the recording cannot go on. */
bool mprof__is_lost(void);

/* With the lock, and a session: note in its data file which allocations the
 * adapter cannot observe. */
void mprof__note_unseen(void);

/* With the lock: no object is remembered any more. */
void mprof__forget_objects(void);

#endif
