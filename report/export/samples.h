/* samples.h - what was allocated, by whole chains: what the exports write. */
#ifndef REPORT_EXPORT_SAMPLES_H
#define REPORT_EXPORT_SAMPLES_H

#include "report/graph/functions.h"

/* Of one chain, in one class and thread.  Chains that read alike may come
 * several times. */
struct report__sample {
    const uint32_t *functions; /* of names->list, innermost first */
    uint32_t depth;            /* of them, 1 at least */
    bool is_deeper;            /* there were more, further out */
    bool is_summed; /* its callers are not known: the tree was full */
    uint32_t thread, class_;
    struct mprof_count allocated;
    /* C only */
    struct mprof_count kept, at_peak;
    uint64_t temporary;
};

struct report__sampling {
    enum mprof_heap heap;
    bool all_frames;
    uint32_t depth; /* innermost functions of a chain; 0: all */
};

/* Call TAKE for each; a sample is valid during the call.  All together have
 * what the tables have. */
void report__each_sample(
    struct report__pool *pool, const struct report__profile *profile,
    const struct report__functions *names, const struct report__sampling *how,
    void (*take)(void *data, const struct report__sample *sample), void *data);

#endif
