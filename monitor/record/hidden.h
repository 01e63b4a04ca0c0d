/* hidden.h - functions that the tables leave out. */
#ifndef MONITOR_RECORD_HIDDEN_H
#define MONITOR_RECORD_HIDDEN_H

#include <stdbool.h>

#include "monitor/format/format.h"

struct mprof__thread;

/* Is FUNCTION plumbing?  THREAD remembers it.  Of C functions only those in the
 * libraries of the runtimes are looked at, by the symbols of these. */
bool mprof__is_hidden(struct mprof__thread *thread, mprof_ref function);

#endif
