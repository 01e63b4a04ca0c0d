/* parts.h - functions that the compiler made of others, and plumbing: found by
 * the symbols of a module. */
#ifndef MONITOR_NAMES_PARTS_H
#define MONITOR_NAMES_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/format/format.h"

struct mprof__names;

struct mprof__part {
    uint64_t
        whole; /* ELF address of what it is a part or copy of, or its own */
    bool fragment;
    bool hidden; /* by its name, in a module that is not known for plumbing */
};

/* Store in *PART what is known of the function at the ELF ADDRESS of MODULE,
 * whose file is PATH; false: nothing.  The first call for a module reads all of
 * its symbols, under the arena's lock. */
bool mprof__part_at(struct mprof__names *names, mprof_ref module,
                    const char *path, uint64_t address,
                    struct mprof__part *part);

#endif
