/* replay.h - record once more what a data file has, with another limit. */
#ifndef MPROF_TESTS_REPLAY_H
#define MPROF_TESTS_REPLAY_H

#include <stdint.h>

/* Record the allocations of the data file FROM, chain by chain, into the new
 * one TO with room for LIMIT bytes; what was freed of them is freed.  Returns
 * the number of times that spills were emptied.  FROM has neither spills nor
 * totals, and types and sizes are left out. */
uint64_t replay(const char *from, const char *to, uint64_t limit);

/* The tables of DATA but for the lines above them, as `mprof` prints them with
 * OPTIONS, which end in newlines; to be freed. */
char *replay_tables(const char *data, const char *options);

#endif
