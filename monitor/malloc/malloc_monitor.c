/* malloc_monitor.c - who watches the allocator; see malloc_monitor.h. */
#include "monitor/malloc/malloc_monitor.h"

const struct mprof__malloc_monitor *mprof__present_monitor;

void mprof_set_malloc_monitor(const struct mprof__malloc_monitor *old,
                              const struct mprof__malloc_monitor *fresh) {
    if (old != NULL) {
        mprof__replace(&mprof__present_monitor, &old, fresh);
        return;
    }
    old = mprof__exchange(&mprof__present_monitor, fresh);
    if (old != NULL && fresh != NULL && old->replaced != fresh->replaced)
        old->replaced();
}
