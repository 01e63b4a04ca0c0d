/* search.h - order, and in lists that are sorted by an address. */
#ifndef REPORT_BASE_SEARCH_H
#define REPORT_BASE_SEARCH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* To compare by numbers: the smaller one first, or the larger one. */
static inline int report__up(uint64_t a, uint64_t b) {
    return (a > b) - (a < b);
}
static inline int report__down(uint64_t a, uint64_t b) {
    return report__up(b, a);
}

/* Index of the first element above ADDRESS in LIST, which has COUNT of SIZE
 * bytes each that begin with their address and is sorted by these; COUNT: none
 * is. */
static inline size_t report__first_above(const void *list, size_t count,
                                         size_t size, uint64_t address) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        uint64_t found;
        memcpy(&found, (const char *)list + middle * size, sizeof found);
        if (found > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

#endif
