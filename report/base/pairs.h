/* pairs.h - numbers by pairs of numbers. */
#ifndef REPORT_BASE_PAIRS_H
#define REPORT_BASE_PAIRS_H

#include <stdint.h>

#include "report/base/pool.h"

struct report__pair {
    uint32_t a, b;
};

/* Empty when it is all zeros.  It lives in the pool it is given, which must
 * always be the same. */
struct report__pairs {
    struct report__pair *list; /* in the order in which they came */
    uint32_t count;
    size_t capacity;
    uint32_t *slots; /* numbers plus 1 by hash; at most half full */
    uint32_t size;
    uint64_t secret[2];
};

/* The index in PAIRS->list of A and B, which are put there if they are new. */
uint32_t report__pair_number(struct report__pool *pool,
                             struct report__pairs *pairs, uint32_t a,
                             uint32_t b);

#endif
