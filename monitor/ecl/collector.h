/* collector.h - the Boehm collector: its heap in use, and its collections. */
#ifndef MONITOR_ECL_COLLECTOR_H
#define MONITOR_ECL_COLLECTOR_H

#include <stdbool.h>
#include <stdint.h>

/* Watch collections from now on; once is enough. */
void mprof__collector_watch(void);

/* Return true if it reports live objects; and run a collection, if so. */
bool mprof__collector_reports_live(void);
void mprof__collector_collect(void);

/* Call FUNCTION while it neither collects nor reports a collection. */
void mprof__collector_exclude(void *(*function)(void *data), void *data);

#endif
