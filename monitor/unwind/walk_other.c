/* walk_other.c - the walk on an architecture that mprof does not know: by the
 * unwinder of the C compiler, each time through the whole stack.
 */
#include "monitor/unwind/walk.h"

#include <string.h>
#include <unwind.h>

#include "monitor/base/table.h"

enum { FIRST_ROOM = 512 };

static bool more_room(struct mprof__chain *chain) {
    size_t more = chain->room == 0 ? FIRST_ROOM : chain->room * 2;
    struct mprof__frame *larger = mprof__map(more * sizeof *larger);
    if (larger == NULL)
        return false;
    if (chain->frames != NULL)
        memcpy(larger, chain->frames, chain->room * sizeof *larger);
    mprof__unmap(chain->frames, chain->room * sizeof *larger);
    chain->frames = larger;
    chain->room = more;
    return true;
}

void mprof__chain_free(struct mprof__chain *chain) {
    mprof__unmap(chain->frames, chain->room * sizeof *chain->frames);
    memset(chain, 0, sizeof *chain);
}

struct walk {
    struct mprof__chain *chain;
    uintptr_t sp; /* stack pointer of the first frame */
    bool begun;
};

/* The outermost frame so far ends at SP. */
static void end_frame(struct mprof__chain *chain, uintptr_t sp) {
    struct mprof__frame *f = &chain->frames[chain->count - 1];
    f->high = sp;
    if (mprof__is_large(f->low, f->high))
        chain->large_at = 1;
}

/* Add a frame.  Frames come innermost first, after the monitor's own. */
static _Unwind_Reason_Code add_frame(struct _Unwind_Context *context,
                                     void *data) {
    struct walk *walk = data;
    struct mprof__chain *chain = walk->chain;
    int exact = 0;
    uintptr_t pc = _Unwind_GetIPInfo(context, &exact);
    uintptr_t sp = _Unwind_GetCFA(context);
    walk->begun = walk->begun || sp == walk->sp;
    if (exact != 0)
        chain->exact_at = 1;
    if (!walk->begun)
        return _URC_NO_REASON;
    if (pc == 0)
        return _URC_END_OF_STACK;
    if (chain->count == chain->room && !more_room(chain)) {
        chain->cut = true;
        return _URC_END_OF_STACK;
    }
    if (chain->count > 0)
        end_frame(chain, sp);
    const struct mprof__site *site =
        chain->known.site_of(chain->known.context, pc, exact != 0);
    chain->interprets |= site->interpreter;
    chain->frames[chain->count++] =
        (struct mprof__frame){.site = site,
                              .pc = pc,
                              .low = sp,
                              .high = sp,
                              .exact = exact != 0,
                              .interprets = site->interpreter};
    return _URC_NO_REASON;
}

static void turn_round(struct mprof__chain *chain) {
    for (size_t i = 0, j = chain->count; i + 1 < j; i++) {
        struct mprof__frame f = chain->frames[i];
        chain->frames[i] = chain->frames[--j];
        chain->frames[j] = f;
    }
}

/* Without a rule, the chain is cut there; the loader does not count. */
static void look_at_outermost(struct mprof__chain *chain) {
    if (chain->count == 0 || chain->frames[0].site->has_rule)
        return;
    if (!chain->frames[0].site->beyond) {
        chain->cut = true;
        return;
    }
    chain->count--;
    memmove(chain->frames, chain->frames + 1,
            chain->count * sizeof *chain->frames);
}

void mprof__walk(struct mprof__chain *chain, const void *frame) {
    uintptr_t pc, bp;
    struct walk walk = {.chain = chain};
    mprof__caller(frame, &pc, &walk.sp, &bp);
    chain->count = chain->reused = chain->unreturned = 0;
    chain->exact_at = chain->large_at = 0;
    chain->generation = 0; /* no walk builds upon another */
    chain->cut = chain->interprets = false;
    chain->innermost = NULL;
    _Unwind_Backtrace(add_frame, &walk);
    turn_round(chain);
    look_at_outermost(chain);
    if (chain->count == 0)
        return;
    chain->innermost = &chain->frames[chain->count - 1];
    chain->frames[0].last = !chain->cut;
}

/* Nothing is reused. */
void mprof__walk_done(struct mprof__chain *chain) {
    (void)chain;
}
