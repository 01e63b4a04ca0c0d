/* autostart.h - a recording that begins by itself, in a file of its own.
 *
 * The environment decides:
 *     MPROF_DATA      name of the data file, "mprof.data" without it; %p is the
 *                     process, %n the name of the program, %% a percent sign
 *     MPROF_LIMIT     see mprof_set_limit(), bytes
 *     MPROF_START     "no": the program or the Lisp package starts by itself
 *     MPROF_CHILDREN  "no": children and what is executed later is not recorded
 *     MPROF_RUN       set by `mprof run`, which has printed all warnings
 *
 * A name without %p is for the first process.  A child that was forked writes
 * NAME.PID, from its fork on.  A program that is executed in a process takes
 * over that process's name; the earlier recording becomes NAME.PID.1, and so
 * on.  The file of a process that ended before this one began is replaced;
 * beside any other file this one is called NAME.PID.
 */
#ifndef MONITOR_MALLOC_AUTOSTART_H
#define MONITOR_MALLOC_AUTOSTART_H

#include <stdbool.h>
#include <stddef.h>

/* Before the C library has them: the program's arguments and environment. */
void mprof__autostart_early(int argc, char **argv, char **environment);

/* Start as the environment says.  False: it is too early to decide. */
bool mprof__autostart(void);

/* The file name of this library, as it is in LD_PRELOAD; NULL: it has none. */
const char *mprof__autostart_library(void);

/* The program is about to execute FILE, of which nothing is recorded, because
 * of WHY.  In a child of vfork(), too. */
void mprof__autostart_miss(const char *file, const char *why);

/* This process is a child that a raw clone() made. */
void mprof__autostart_cloned(void);

/* The process ends: print a line about programs that were not recorded. */
void mprof__autostart_end(void);

/* In the child of a fork: record from the next allocation on, beside FILE. */
void mprof__autostart_follow(const char *file);

#endif
