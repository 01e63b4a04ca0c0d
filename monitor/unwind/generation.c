/* generation.c - see generation.h. */
#include "monitor/unwind/generation.h"

#include "monitor/base/atomic.h"

/* While a library is being closed each look is for this moment only: within
 * dlclose(), when it is done, another may be mapped where it was. */
uint64_t mprof__generation = 1; /* atomic */
#define CLOSING ((uint64_t)1 << 32)

static __thread uint32_t own_closings
    __attribute__((tls_model("initial-exec")));

void mprof__modules_forked(void) {
    /* The other threads are not here. */
    mprof__generation = mprof__this_generation() + own_closings * CLOSING;
}

void mprof__modules_close(void) {
    own_closings++;
    mprof__add_ordered(&mprof__generation, CLOSING + 1);
}

void mprof__modules_closed(void) {
    mprof__sub_ordered(&mprof__generation, CLOSING - 1);
    own_closings--;
}

void mprof__modules_changed(void) {
    mprof__add_ordered(&mprof__generation, 1);
}

uint32_t mprof__holds_for(uint32_t before) {
    uint64_t now = mprof__load_ordered(&mprof__generation);
    return now < CLOSING ? before : 0;
}
