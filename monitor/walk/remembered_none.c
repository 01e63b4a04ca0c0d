/* remembered_none.c - nothing is remembered on an architecture that mprof does
 * not know: every chain is walked by rules; see remembered.h. */
#include "monitor/walk/remembered.h"

void mprof__memo_free(struct mprof__memo *memo) {
    (void)memo;
}

struct mprof__cell *mprof__remembered_slowly(struct mprof__memo *memo,
                                             const void *frame,
                                             struct mprof__trail trail) {
    (void)memo, (void)frame, (void)trail;
    return NULL;
}
