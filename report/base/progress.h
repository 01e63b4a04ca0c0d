/* progress.h - how far long work is, for who waits. */
#ifndef REPORT_BASE_PROGRESS_H
#define REPORT_BASE_PROGRESS_H

#include <stdint.h>
#include <stdio.h>

/* The stream for progress; NULL, as at first: none.  For one thread. */
extern FILE *report__progress_stream;

/* Twice a second in place on a terminal, in a log a line in ten seconds: that
 * DONE of ALL are; of 0, that so many million are. */
void report__tell_progress(const char *what, uint64_t done, uint64_t all);

/* In a loop that may be long, each time it went on; the last time DONE is ALL,
 * and nothing stays on the terminal. */
static inline void report__progress(const char *what, uint64_t done,
                                    uint64_t all) {
    static uint32_t calls;

    if (report__progress_stream && (++calls % (1 << 14) == 0 || done == all))
        report__tell_progress(what, done, all);
}

#endif
