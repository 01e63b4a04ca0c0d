/* sites.h - what is known of return addresses. */
#ifndef MONITOR_NAMES_SITES_H
#define MONITOR_NAMES_SITES_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/unwind/walk.h"

/* Return the site of return address PC in the struct mprof__names NAMES; never
 * NULL.  EXACT: PC is no return address but the place where a signal
 * interrupted. */
const struct mprof__site *mprof__site_of(void *names, uintptr_t pc, bool exact);

/* The module at START..END is about to go: forget its return addresses.
 * Takes the arena's lock. */
struct mprof__names;
void mprof__names_unload(struct mprof__names *names, uintptr_t start,
                         uintptr_t end);

#endif
