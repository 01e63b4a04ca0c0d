/* ecl_count.h - counting what a thread allocates in the Lisp heap, by numbers
 * alone: see mprof_count_begin(). */
#ifndef MONITOR_ECL_ECL_COUNT_H
#define MONITOR_ECL_ECL_COUNT_H

#include <stdint.h>

#include <ecl/ecl.h>

#include "monitor/base/atomic.h"
#include "monitor/base/self.h"
#include "monitor/ecl/ecl_version.h"

/* Of this thread: all that it allocated while anybody counted; a signal handler
 * may allocate, too. */
struct mprof__ecl_counted {
    uint64_t allocs, bytes; /* atomic */
};
extern MPROF__FAST_TLS struct mprof__ecl_counted mprof__ecl_counted;

extern MPROF__NEAR uint64_t mprof__ecl_counting; /* forms that count; atomic */

static inline void mprof__ecl_count(uint64_t bytes) {
    if (__builtin_expect(mprof__load_relaxed(&mprof__ecl_counting) == 0, 1))
        return;
    mprof__add_relaxed(&mprof__ecl_counted.allocs, 1);
    mprof__add_relaxed(&mprof__ecl_counted.bytes, bytes);
}

/* Let ECL report to MONITOR; NULL: to no recording, but to a counter while
 * something is counted. */
void mprof__ecl_watch(const struct ecl_monitor *monitor);

/* For monitors: only count allocations; ignore other events. */
void mprof__ecl_ignore(cl_type type, int storage, cl_index bytes,
                       cl_object clas, void *block);
void mprof__ecl_ignore_free(void *block);
void mprof__ecl_ignore_name(cl_object name, cl_object function);
void mprof__ecl_ignore_library(cl_object block, int opened);

#endif
