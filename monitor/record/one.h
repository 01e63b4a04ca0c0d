/* one.h - the one recording there is, for those who start and stop it
 * (recording.c) and those who are asked about it (asked.c).
 */
#ifndef MONITOR_RECORD_ONE_H
#define MONITOR_RECORD_ONE_H

#include <stdbool.h>

struct mprof__quiet;
struct mprof__session;

/* Take a lock, which goes before a session's.  Returns the last recording,
 * running or not, or NULL. */
struct mprof__session *mprof__acquire(struct mprof__quiet *saved);
/* The same when a recording begins or ends, or is copied: it is looked what the
 * program allocates that nobody sees.  That may take the loader's lock, whose
 * owner may wait for ours. */
struct mprof__session *mprof__acquire_looking(struct mprof__quiet *saved);
/* Returns ERROR; errno stays. */
int mprof__release(const struct mprof__quiet *saved, int error);

/* With the lock: was a recording begun that nobody has ended? */
bool mprof__begun(void);
/* With the lock: and this process has begun it, and can still record it? */
bool mprof__records(void);

/* With the lock, and a session: bring its data file up to date with the clock
 * and with names, if it runs. */
void mprof__refresh(void);
/* Look again for names that were unknown when a function was first seen. */
void mprof__improve_names(void);

#endif
