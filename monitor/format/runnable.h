/* runnable.h - can a program be recorded by what is preloaded?
 *
 * Asked by `mprof run`, and by programs that it runs before they execute
 * others: perhaps in a child of vfork().  So nothing here allocates or locks.
 */
#ifndef MONITOR_FORMAT_RUNNABLE_H
#define MONITOR_FORMAT_RUNNABLE_H

#include <limits.h>
#include <stdbool.h>

/* Into FOUND the file that execvp() takes for PROGRAM.  False: there is none.
 */
bool mprof__find_program(const char *program, char found[PATH_MAX]);

/* Why nothing will be recorded of the program in FILE, perhaps a script, or
 * open as FD if that is not -1; NULL: there is no reason, or it is not known.
 * *CLASHES: it would not run with another malloc() before its own, or with the
 * C library of that. */
const char *mprof__not_recordable(const char *file, int fd, bool *clashes);

#endif
