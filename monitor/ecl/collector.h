/* collector.h - the Boehm collector: its heap in use, and its collections. */
#ifndef MONITOR_ECL_COLLECTOR_H
#define MONITOR_ECL_COLLECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Watch collections from now on; once is enough. */
void mprof__collector_watch(void);

/* Return true if it reports live objects; and run a collection, if so. */
bool mprof__collector_reports_live(void);
void mprof__collector_collect(void);

/* Stop all other threads, which the collector knows, and let them go on. False:
 * this collector cannot.  Between the two no function of it is called but those
 * below, and nothing allocates. */
bool mprof__collector_stop_world(void);
void mprof__collector_start_world(void);

/* Call VISIT for each object that the last collection marked. */
void mprof__collector_each(void (*visit)(void *object, size_t bytes,
                                         void *data),
                           void *data);

/* The object that ADDRESS is in, or NULL. */
void *mprof__collector_base(uintptr_t address);

/* How OBJECT was allocated. */
enum mprof__collected {
    MPROF__NO_POINTERS,
    MPROF__POINTERS,
    MPROF__UNCOLLECTED, /* it stays until it is freed */
    MPROF__UNCOLLECTED_NO_POINTERS
};
enum mprof__collected mprof__collector_kind(const void *object);

/* An address in the collector's code. */
uintptr_t mprof__collector_code(void);

/* Call FUNCTION while it neither collects nor reports a collection. */
void mprof__collector_exclude(void *(*function)(void *data), void *data);

#endif
