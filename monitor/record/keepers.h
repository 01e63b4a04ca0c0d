/* keepers.h - what keeps live objects alive, in the data file. */
#ifndef MONITOR_RECORD_KEEPERS_H
#define MONITOR_RECORD_KEEPERS_H

#include "monitor/heap/alive.h"

/* Collect garbage, and find what keeps the objects alive that were allocated in
 * EPOCHS, if the recording follows live objects.  Outside of the hook and of
 * all locks; finalizers that run meanwhile may call any of our functions.  0,
 * or an error of mprof.h. */
int mprof__look_for_keepers(const struct mprof__epochs *epochs);

/* Scan the C heap of SESSION, which runs, for what is lost; and find what keeps
 * the rest, if that is wanted.  With the lock of the recording. */
struct mprof__session;
void mprof__scan_for_keepers(struct mprof__session *session);

#endif
