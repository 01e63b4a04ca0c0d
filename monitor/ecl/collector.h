/* collector.h - the Boehm collector: its heap in use, and its collections. */
#ifndef MONITOR_ECL_COLLECTOR_H
#define MONITOR_ECL_COLLECTOR_H

#include <stdbool.h>
#include <stdint.h>

/* Watch collections from now on; once is enough. */
void mprof__collector_watch(void);

/* Bytes of the heap in blocks that are in use, with what was not found to be
 * garbage yet; and the most that these were, as far as was seen: before each
 * collection since the first of these calls, and when it is asked. */
uint64_t mprof__collector_heap(uint64_t *peak);

/* Return true if it reports live objects; and run a collection, if so. */
bool mprof__collector_tells(void);
void mprof__collector_collect(void);

/* Call FUNCTION while it neither collects nor reports a collection. */
void mprof__collector_exclude(void *(*function)(void *data), void *data);

#endif
