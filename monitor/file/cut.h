/* cut.h - a data file that another process cuts while it is mapped.
 *
 * A thread that touches mapped memory beyond the end of a file gets SIGBUS.
 * Our handler replaces such an arena by anonymous memory, and its recording
 * ends.  Any other SIGBUS is passed on to the program's handler.
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

/* Watch SIZE bytes at BASE, where another file is mapped.  *CUT becomes true
 * when it was cut: then writes go nowhere, and reads may return zeros.  False:
 * too many files are watched. */
bool mprof__cut_watch_region(char *base, size_t size, bool *cut);
void mprof__cut_unwatch_region(const char *base);

/* The file of ARENA is shorter than it must be: end the recording.  Any thread,
 * any time. */
void mprof__cut_found(struct mprof__arena *arena);

/* Return the error code of mprof.h's functions for a cut file, and set errno.
 */
int mprof__cut_error(void);

/* Do the program's sigaction() of SIGBUS, as if we had no handler. */
int mprof__cut_sigaction(const struct sigaction *action, struct sigaction *old);

#endif
