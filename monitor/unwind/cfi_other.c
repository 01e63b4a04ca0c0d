/* cfi_other.c - the function and the module of an address, but no rule: the C
 * compiler's library has its own; see walk_other.c. */
#include "monitor/unwind/cfi.h"

#include "monitor/unwind/eh_frame.h"

bool mprof__cfi_find(uintptr_t pc, struct mprof__unwind *unwind) {
    struct mprof__fde fde;
    if (!mprof__eh_find(pc, unwind, &fde))
        return false;
    unwind->rule.signal = fde.signal;
    return true;
}
