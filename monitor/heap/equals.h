/* equals.h - how many live objects of each counter have contents that another
 * live object has, too.  Memory is mapped; nothing here takes a lock. */
#ifndef MONITOR_HEAP_EQUALS_H
#define MONITOR_HEAP_EQUALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/base/table.h"
#include "monitor/format/format.h"

/* The blocks of one counter whose contents were compared.  Equal blocks belong
 * to objects with equal contents, except the first such object. */
struct mprof__equal {
    mprof_ref counter;
    struct mprof_count compared, equal;
};

struct mprof__equals {
    struct mprof__equal *list;
    size_t count, room;
    struct mprof__table known; /* counter -> number in the list + 1 */
    bool failed;               /* there was no memory */
};

/* Zeroed memory is an empty list.  Add a block of BYTES that COUNTER has. */
void mprof__equals_add(struct mprof__equals *equals, mprof_ref counter,
                       uint64_t bytes, bool is_equal);
void mprof__equals_end(struct mprof__equals *equals);

#endif
