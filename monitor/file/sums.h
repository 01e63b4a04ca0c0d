/* sums.h - records of a data file of one type, all that there are so far, for
 * who adds up what is in them again and again. */
#ifndef MONITOR_FILE_SUMS_H
#define MONITOR_FILE_SUMS_H

#include <stdint.h>

struct mprof__arena;
struct mprof_record;

/* For one thread at a time. */
struct mprof__finder {
    uint64_t scanned; /* bytes of the data file that were searched */
    struct mprof__found {
        struct mprof__found *older;
        uint32_t count;
        const struct mprof_record *list[508];
    } * found;
};

/* Add the records of TYPE that were published since the last call. */
void mprof__find_more(struct mprof__finder *finder,
                      const struct mprof__arena *arena, uint32_t type);

void mprof__finder_end(struct mprof__finder *finder);

#endif
