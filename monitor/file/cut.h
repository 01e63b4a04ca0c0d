/* cut.h - a data file that somebody cuts while it is mapped.
 *
 * Whoever touches memory of a file beyond its end gets SIGBUS.  A handler gives
 * such an arena memory that is nobody's file, and its recording is over; what
 * else the signal is for goes where the program has it go.
 */
#ifndef MONITOR_FILE_CUT_H
#define MONITOR_FILE_CUT_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

struct mprof__arena;

/* From here on ARENA may be touched, and no more.  Under the lock of the
 * recording; while one is watched, the handler is there. */
void mprof__cut_watch(struct mprof__arena *arena);
void mprof__cut_unwatch(struct mprof__arena *arena);

/* The same of SIZE bytes at BASE, where another file is mapped: *CUT tells that
 * it was cut: what is written there goes nowhere, and what is read may be
 * zeros. False: there are too many. */
bool mprof__cut_watch_region(char *base, size_t size, bool *cut);
void mprof__cut_unwatch_region(const char *base);

/* The file of ARENA is shorter than it must be: end the recording.  Any thread,
 * any time. */
void mprof__cut_found(struct mprof__arena *arena);

/* What a function of mprof.h returns then, with errno. */
int mprof__cut_error(void);

/* sigaction() of SIGBUS as if nobody watched: for the program. */
int mprof__cut_sigaction(const struct sigaction *action, struct sigaction *old);

#endif
