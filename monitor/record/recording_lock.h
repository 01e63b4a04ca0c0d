/* recording_lock.h - the lock of the only recording, for recording.c, which
 * starts and stops it, and asked.c, which reads it.
 */
#ifndef MONITOR_RECORD_RECORDING_LOCK_H
#define MONITOR_RECORD_RECORDING_LOCK_H

#include <stdbool.h>

struct mprof__quiet;
struct mprof__session;

/* Lock the recording; this lock is taken before a session's.  Returns the last
 * recording, running or not, or NULL. */
struct mprof__session *mprof__recording_lock(struct mprof__quiet *saved);

/* Lock the recording when it begins, ends or is copied: first ask the adapter
 * which allocations it cannot observe.  That may take the loader's lock, whose
 * owner may wait for this one. */
struct mprof__session *
mprof__recording_lock_looking(struct mprof__quiet *saved);

/* Unlock the recording.  Returns ERROR; errno stays. */
int mprof__recording_unlock(const struct mprof__quiet *saved, int error);

/* With the lock: return true if a recording was begun and not ended. */
bool mprof__begun(void);

/* With the lock: return true if this process began it and can still record. */
bool mprof__records(void);

/* With the lock, and a session: if it runs, bring its data file up to date with
 * the clock and with names. */
void mprof__refresh(void);

/* Look again for names that were unknown when a function was first seen. */
void mprof__improve_names(void);

#endif
