/* chance.h - numbers that are the same in each run. */
#ifndef TESTS_PROGRAMS_CHANCE_H
#define TESTS_PROGRAMS_CHANCE_H

#include <stdint.h>

/* One below N, which is not large. */
static uint32_t next(uint32_t n) {
    static uint32_t seed = 1988;
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % n;
}

#endif
