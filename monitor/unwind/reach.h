/* reach.h - may a word of the stack be read?
 *
 * Damaged unwind tables lead anywhere.  So where a walk by rules comes to pages
 * that it has not read before, the kernel is asked.  The known pages are
 * adjacent, like a stack's, so that happens once a page.
 */
#ifndef MONITOR_UNWIND_REACH_H
#define MONITOR_UNWIND_REACH_H

#include <stdbool.h>
#include <stdint.h>

/* Pages that can be read, from `low` to `high`. */
struct mprof__reach {
    uintptr_t low, high;
};

bool mprof__reach_further(struct mprof__reach *reach, uintptr_t address);

/* Can the word at ADDRESS be read? */
static inline bool mprof__reaches(struct mprof__reach *reach,
                                  uintptr_t address) {
    if (__builtin_expect(address % sizeof(uintptr_t) != 0, 0))
        return false;
    return __builtin_expect(address - reach->low < reach->high - reach->low,
                            1) ||
           mprof__reach_further(reach, address);
}

/* Can the word at ADDRESS be written?  ASKED are pages that can be. */
bool mprof__reaches_to_write(struct mprof__reach *asked, uintptr_t address);

#endif
