/* sampling.c - see sampling.h. */
#include "monitor/heap/sampling.h"

#include <pthread.h>
#include <time.h>

#include "monitor/format/process.h"

MPROF__FAST_TLS struct mprof__sampler mprof__sampler;
uint64_t mprof__sampling_rate;

#define ONE ((uint64_t)1 << 63) /* of numbers with 63 bits behind the point */

/* 2^-(i/2^8) and 2^-(i/2^16) */
static uint64_t coarse[256], fine[256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static uint64_t times(uint64_t a, uint64_t b) {
    return (uint64_t)((unsigned __int128)a * b >> 63);
}

static void fill(void) {
    static const uint64_t one_256th = 0x7fa765aca88f6452;
    static const uint64_t one_65536th = 0x7fffa74712c3cdfd;
    coarse[0] = fine[0] = ONE;
    for (int i = 1; i < 256; i++) {
        coarse[i] = times(coarse[i - 1], one_256th);
        fine[i] = times(fine[i - 1], one_65536th);
    }
}

void mprof__sampling_set(uint32_t bytes) {
    pthread_once(&once, fill);
    mprof__store_release(&mprof__sampling_rate, ((uint64_t)1 << 32) / bytes);
}

/* As 2^-(n + f): the first 16 bits of f by the tables, the others, of which r
 * is made, by 1 - r + r^2/2, where the next term would be below 2^-50. */
uint64_t mprof__exp_minus(uint64_t x) {
    static const uint64_t log2_e = 0x171547652b82fe17;   /* 60 bits */
    static const uint64_t ln_2 = 0xb17217f7d1cf79ab;     /* 64 bits */
    unsigned __int128 y = (unsigned __int128)x * log2_e; /* 92 bits */
    uint64_t n = (uint64_t)(y >> 92), f = (uint64_t)(y >> 28);
    if (n >= 63)
        return 0;
    uint64_t r = (uint64_t)((unsigned __int128)(f << 16 >> 16) * ln_2 >> 64);
    uint64_t rest =
        ONE - (r >> 1) + (uint64_t)((unsigned __int128)r * r >> 64 >> 2);
    return times(times(coarse[f >> 56], fine[f >> 48 & 255]), rest) >> n;
}

/* splitmix64, of Steele, Lea and Flood (2014). */
static uint64_t next(uint64_t *random) {
    uint64_t z = *random += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

uint64_t mprof__exponential(uint64_t *random) {
    for (uint64_t whole = 0;; whole++) {
        uint64_t first = next(random), last = first, u;
        bool odd = false;
        while ((u = next(random)) <= last) {
            last = u;
            odd = !odd;
        }
        if (!odd)
            return whole << 32 | first >> 32;
    }
}

/* NUMBER / BY, rounded so that its mean is that. */
static uint64_t divided(uint64_t number, uint64_t by, uint64_t *random) {
    uint64_t rest = number % by;
    bool up = (uint64_t)((unsigned __int128)next(random) * by >> 64) < rest;
    return number / by + up;
}

bool mprof__sample(uint64_t bytes, struct mprof_count *stands_for) {
    struct mprof__sampler *s = &mprof__sampler;
    uint64_t rate = mprof__load_relaxed(&mprof__sampling_rate);
    bool huge = bytes >= MPROF__SAMPLED_HUGE;
    if (s->random == 0) {
        s->random = mprof__clock(CLOCK_MONOTONIC) ^ (uintptr_t)s << 20;
        s->random |= 1;
        s->left += (int64_t)mprof__exponential(&s->random);
        if (s->left >= 0 && !huge)
            return false;
    }
    s->left = (int64_t)mprof__exponential(&s->random);
    uint64_t allocs = 1;
    if (!huge) {
        uint64_t p = ONE - mprof__exp_minus((bytes + (bytes == 0)) * rate);
        allocs = divided(ONE, p, &s->random);
    }
    *stands_for = (struct mprof_count){allocs, allocs * bytes};
    return true;
}

void mprof__sampling_forked(void) {
    mprof__sampler = (struct mprof__sampler){0, 0};
}
