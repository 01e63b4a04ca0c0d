/* environment.h - what variables of the environment mean, and how they are left
 * to others.  Nothing here allocates. */
#ifndef MONITOR_MALLOC_ENVIRONMENT_H
#define MONITOR_MALLOC_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Into NAME, of SIZE bytes, the PATTERN, with %n and %p for this program and
 * process; *BY_PID becomes true if there is a %p.  False: it is too long. */
bool mprof__expand(const char *pattern, char *name, size_t size, bool *by_pid);

/* "PID:NANOSECONDS", from `mprof run`: which process it was, and since when.
 * False: that is not what TEXT says, and nothing is changed. */
bool mprof__read_run(const char *text, pid_t *pid, uint64_t *since);

/* Remove LIBRARY, if it is the first in LD_PRELOAD, and our own variables from
 * VARIABLES, which NULL ends, in place.  Without START some stay, for a
 * recording that starts later. */
void mprof__leave_environment(char **variables, const char *library,
                              bool start);

/* VARIABLES without LIBRARY in PRELOAD, which is one of them: in COPY, of as
 * many, and TEXT, of as many bytes as that has. */
char *const *mprof__without_library(const char *preload, const char *library,
                                    char *const *variables, char **copy,
                                    char *text);

#endif
