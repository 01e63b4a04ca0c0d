/* sampling.h - choose the allocations that a sampling recording records, and
 * how many allocations each of them represents.
 *
 * Along the bytes that a thread allocates lie points, at random and independent
 * of each other, one in so many bytes on average: a Poisson process.  An object
 * is recorded when there is a point in it.  So it is with the probability
 *
 *     p = 1 - exp(-bytes * rate)
 *
 * and represents 1/p objects of its size: the estimator of Horvitz and Thompson
 * (1952), of which the mean is the truth, for any set of objects.  1/p is
 * rounded up or down at random, so that its mean stays what it is.  Objects
 * that are much larger than the distance of two points count exactly.  The
 * standard error of a sum of B bytes is no more than the square root of B /
 * rate.
 *
 * The distances are exponential, drawn by J. von Neumann's method ("Various
 * techniques used in connection with random digits", 1951), which compares
 * random numbers and does nothing else.  No floating point: its flags, and
 * traps, are the program's.
 */
#ifndef MONITOR_HEAP_SAMPLING_H
#define MONITOR_HEAP_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/base/atomic.h"
#include "monitor/base/self.h"
#include "monitor/format/format.h"

/* The state of this thread.  `left` is 2^32 times the distance to the next
 * point in units of the mean distance, so it is valid for any rate. */
struct mprof__sampler {
    int64_t left;
    uint64_t random; /* state of the generator; 0: none yet */
};
extern MPROF__FAST_TLS struct mprof__sampler mprof__sampler;

/* Points in 2^32 bytes, on average; atomic. */
extern uint64_t mprof__sampling_rate;

/* One point in BYTES from now on. */
void mprof__sampling_set(uint32_t bytes);

/* More are recorded whatever comes. */
#define MPROF__SAMPLED_HUGE ((uint64_t)1 << 31)

/* An object of BYTES was allocated: is there, perhaps, a point in it? */
static inline bool mprof__sampled(uint64_t bytes) {
    uint64_t rate = mprof__load_relaxed(&mprof__sampling_rate);
    if (__builtin_expect(bytes >= MPROF__SAMPLED_HUGE, 0))
        return true;
    /* One of no bytes is as likely as one of a byte. */
    mprof__sampler.left -= (int64_t)((bytes + (bytes == 0)) * rate);
    return __builtin_expect(mprof__sampler.left < 0, 0);
}

/* If mprof__sampled() returned true: return true if there is a point, and store
 * in *STANDS_FOR the allocations and bytes that the object represents. */
bool mprof__sample(uint64_t bytes, struct mprof_count *stands_for);

/* In the child of a fork, which is not to draw what its parent draws. */
void mprof__sampling_forked(void);

/* For tests: an exponential variate times 2^32, and exp(-x / 2^32) times 2^63
 * for an X of at least 1. */
uint64_t mprof__exponential(uint64_t *random);
uint64_t mprof__exp_minus(uint64_t x);

#endif
