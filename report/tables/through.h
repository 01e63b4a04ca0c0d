/* through.h - what chains have that go through a function. */
#ifndef REPORT_TABLES_THROUGH_H
#define REPORT_TABLES_THROUGH_H

#include "report/base/dictionary.h"
#include "report/tables/limits.h"
#include "report/tables/paths.h"

struct report__through_sum {
    struct mprof_count allocated;
    uint64_t freed, at_peak;
};

/* The chains of one heap; in a pool. */
struct report__through {
    const struct report__functions *names;
    struct report__paths paths;
    struct report__through_sum *sums; /* by path, which is its chain */
    bool *on;                         /* room, by path */
};

struct report__through *
report__through_make(struct report__pool *pool,
                     const struct report__recorded *side, enum mprof_heap heap,
                     bool all_frames);

/* Of what is limited, all chains together that go through FUNCTION of names, or
 * end there: as LIMITED says. */
uint64_t report__through_number(struct report__through *through,
                                uint32_t function,
                                enum report__limited limited);

/* The chain that has most of that; with BEFORE, which may be NULL, the chain
 * that grew most since, matched by the names in it.  FUNCTION may be MPROF_NONE
 * for any.  In POOL. */
struct report__worst report__through_worst(struct report__pool *pool,
                                           struct report__through *through,
                                           const struct report__through *before,
                                           uint32_t function,
                                           enum report__limited limited);

#endif
