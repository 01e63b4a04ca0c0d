/* find4.h - where the processor has nothing better to compare four numbers by.
 */
#ifndef MONITOR_UNWIND_FIND4_H
#define MONITOR_UNWIND_FIND4_H

#include <stdint.h>

/* The first of four numbers that is NUMBER; 4: none. */
static inline unsigned mprof__find4(const uint32_t *four, uint32_t number) {
    unsigned i = 0;
    while (i < 4 && four[i] != number)
        i++;
    return i;
}

#endif
