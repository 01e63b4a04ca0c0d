/* process.h - clocks, and whether a process is still the one that it was. */
#ifndef MONITOR_FORMAT_PROCESS_H
#define MONITOR_FORMAT_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Return the time of CLOCK, in ns. */
uint64_t mprof__clock(clockid_t clock);

/* Return the ns since the machine was booted: unlike the time of day, this
 * clock is never set. */
uint64_t mprof__process_clock(void);

/* Return when process PID was forked, ns since the boot, to 10 ms.  0: not
 * known.  Allocates nothing. */
uint64_t mprof__process_start(uint32_t pid);

/* The pipe that the descriptor FD is, the same number at its two ends; 0: it is
 * none. */
uint64_t mprof__process_pipe(int fd);

/* Does this program run with more rights than who started it?  Then nothing of
 * the environment means anything, and nothing is recorded. */
bool mprof__process_is_secure(void);

/* Is there any process PID? */
bool mprof__process_exists(uint32_t pid);

/* The identity of a process, unique even between boots and containers.  Unknown
 * numbers are 0. */
struct mprof__process {
    uint64_t boot;   /* the machine's */
    uint64_t pids;   /* the namespace that `pid` is of */
    uint64_t forked; /* see mprof__process_start() */
    uint32_t pid;
};

/* This one.  Allocates nothing. */
struct mprof__process mprof__process_self(void);

/* A number that each program which is executed gets anew, and each child of a
 * fork, which has to call the second function. */
uint64_t mprof__image_id(void);
void mprof__image_forked(void);

enum mprof__fate {
    MPROF__RUNS,
    MPROF__HAS_ENDED,
    MPROF__NOT_KNOWN /* its number means nothing here */
};
enum mprof__fate mprof__process_fate(const struct mprof__process *process);

#endif
