/* progress.c - see progress.h. */
#include "report/base/progress.h"

#include <inttypes.h>
#include <stdbool.h>
#include <unistd.h>

#include "monitor/format/process.h"

FILE *report__progress_stream;

void report__tell_progress(const char *what, uint64_t done, uint64_t all) {
    static uint64_t printed; /* ns */
    static bool is_there;
    FILE *out = report__progress_stream;
    const bool in_place = isatty(fileno(out)), is_end = done == all;
    const uint64_t second = 1000000000, now = mprof__clock(CLOCK_MONOTONIC);

    printed = printed ?: now;
    if (is_end && is_there)
        fputs("\r\033[K", out);
    if (!is_end && now - printed >= (in_place ? second / 2 : 10 * second)) {
        printed = now;
        fprintf(out, in_place ? "\rmprof: " : "mprof: ");
        if (all > 0)
            fprintf(out, "%s: %" PRIu64 "%%", what, done * 100 / all);
        else
            fprintf(out, "%" PRIu64 " million %s", done / 1000000, what);
        fputs(in_place ? "\033[K" : "\n", out);
    }
    is_there = in_place && !is_end && (is_there || printed == now);
    fflush(out);
}
