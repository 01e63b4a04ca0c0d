/* freeze.h - the other threads of the process, stopped for a while.
 *
 * No thread can stop its fellows: a process that shares this one's memory does,
 * as a debugger would.  Afterwards the threads go on, and system calls that
 * were waiting are restarted.
 */
#ifndef MONITOR_SCAN_FREEZE_H
#define MONITOR_SCAN_FREEZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct mprof__frozen {
    pid_t tid;
    int signal;           /* that it had just got, or 0 */
    uintptr_t stack;      /* its stack pointer */
    uintptr_t local;      /* its thread pointer */
    uintptr_t words[112]; /* contents of its registers, then zeros */
};

struct mprof__freezer {
    pid_t process, self; /* self is not stopped */
    pid_t helper;        /* 0: there is no thread to stop */
    int state;           /* atomic; see freeze.c */
    int error;
    struct mprof__frozen *threads;
    uint32_t count, room;
    char *memory;
    size_t bytes;
};

/* Stop all threads but this one.  One that is busy (base/self.h) when it is
 * stopped, and not others meanwhile, runs on for a moment.  0, or an errno:
 * then all go on.  Until they are thawed this thread must not take a lock, nor
 * allocate: who holds the lock may be frozen.  Signals are blocked. */
int mprof__freeze(struct mprof__freezer *freezer);

/* After 0: let them go on.  freezer->threads is no more. */
void mprof__thaw(struct mprof__freezer *freezer);

#endif
