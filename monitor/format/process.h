/* process.h - clocks, and whether a process is still the one that it was. */
#ifndef MONITOR_FORMAT_PROCESS_H
#define MONITOR_FORMAT_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* What CLOCK says, in ns. */
uint64_t mprof__clock(clockid_t clock);

/* Now, in ns since the machine was booted: unlike the time of day, nobody sets
 * this clock. */
uint64_t mprof__process_clock(void);

/* Was the machine booted since TIME, ns since 1970? */
bool mprof__process_booted_since(uint64_t time);

/* When process PID was forked, ns since the boot, as exact as the kernel tells:
 * 10 ms.  0: not known.  Allocates nothing. */
uint64_t mprof__process_start(uint32_t pid);

/* The pipe that the descriptor FD is, the same number at its two ends; 0: it is
 * none. */
uint64_t mprof__process_pipe(int fd);

/* Does the process PID run that ran at TIME?  Not another of the same number.
 * TIME is in ns since 1970; a second's difference of clocks is overlooked. */
bool mprof__process_runs(uint32_t pid, uint64_t time);

#endif
