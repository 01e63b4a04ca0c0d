/* deepest.c - see deepest.h. */
#include "monitor/walk/deepest.h"

#include <sys/resource.h>

#include "monitor/base/atomic.h"
#include "monitor/tree/trees.h"

/* That the system lets a stack have, or what is deep where there is no limit:
 * where a large frame leads further than that is another stack.  Written once,
 * by mprof__stack_initialize(). */
static uint64_t most = 64 << 20;

void mprof__stack_initialize(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        most = limit.rlim_cur;
}

/* The stack from BASE to SP is deeper than ever. */
static void note(struct mprof__memo *memo, uintptr_t base, uintptr_t sp) {
    struct mprof_thread *record = memo->trees->record;
    memo->deepest = ~sp;
    /* The thread before, which counted here, may have been deeper. */
    if (base - sp > mprof__load_relaxed(&record->stack))
        mprof__store_relaxed(&record->stack, base - sp);
}

/* Does a thread begin where FRAME has no caller? */
static bool begins(const struct mprof__site *site, uintptr_t pc) {
    return !MPROF__HAS_MARKS || mprof__marks_begins(&site->unwind, pc);
}

void mprof__stack_by_rules(struct mprof__memo *memo) {
    const struct mprof__chain *chain = memo->trees->chain;
    if (chain->cut || chain->exact_at != 0)
        return;
    const struct mprof__frame *first = &chain->frames[0];
    uintptr_t sp = chain->innermost->low;
    if (first->last && sp < first->low && begins(first->site, first->pc) &&
        (chain->large_at == 0 || first->low - sp <= most))
        note(memo, first->low, sp);
}

void mprof__stack_by_cells(struct mprof__memo *memo,
                           const struct mprof__cell *outermost, uintptr_t sp) {
    uintptr_t base = 0;
    if (outermost->shape.flags & MPROF__CELL_MARK)
        base = memo->trees->chain->marks->base;
    else if (begins(mprof__cell_more(memo, outermost)->site, outermost->pc))
        base = outermost->low;
    if (sp < base)
        note(memo, base, sp);
}
