/* sites.h - what is known of return addresses. */
#ifndef MONITOR_RECORD_SITES_H
#define MONITOR_RECORD_SITES_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/unwind/walk.h"

/* What is known of return address PC in the struct mprof__session SESSION;
 * never NULL.  EXACT: PC is no return address but the place where a signal
 * interrupted. */
const struct mprof__site *mprof__site_of(void *session, uintptr_t pc,
                                         bool exact);

/* The module at START..END is about to go: forget its return addresses.
 * Called between enter and leave. */
void mprof__module_unloads(uintptr_t start, uintptr_t end);

#endif
