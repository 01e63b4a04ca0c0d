/* look.c - set marks for walks by rules; see marks.h.
 *
 * Only in a long stretch of the stack that has none: where frames stay, the
 * walk by cells sets the others, see walk/revise.c.
 */
#include "monitor/base/atomic.h"
#include "monitor/base/self.h"
#include "monitor/unwind/walk.h"

static bool refuse(struct mprof__chain *chain, enum mprof_unmarked reason) {
    mprof__bump(&chain->record->unmarked[reason], 1);
    return false;
}

/* This thread's marks, for all its chains, the first of which begins at stack
 * pointer BASE; NULL: it cannot have any, for REASON if that changed. */
static struct mprof__marks *own_marks(uintptr_t base,
                                      enum mprof_unmarked *reason) {
    struct mprof__self *me = mprof__self;
    if (me->marks == NULL && !me->shared)
        me->marks = mprof__marks_take(base, reason);
    return me->marks;
}

struct mprof__marks *mprof__walk_marks(struct mprof__chain *chain,
                                       const struct mprof__site *site,
                                       uintptr_t pc, uintptr_t base) {
    enum mprof_unmarked reason = MPROF_MARKS_OFF;
    bool off = mprof__load_relaxed(&mprof__marks_off);
    if (off && chain->marks != NULL)
        mprof__marks_lift(chain->marks);
    if (off || mprof__unwinds())
        reason = MPROF_MARKS_OFF;
    else if (chain->refused != 0)
        reason = chain->refused - 1;
    else if (!mprof__marks_begins(&site->unwind, pc))
        reason = MPROF_FOREIGN_STACK;
    else if (chain->marks == NULL &&
             (chain->marks = own_marks(base, &reason)) == NULL)
        chain->refused = (uint8_t)(reason + 1);
    else if (chain->marks->base != base)
        reason = MPROF_FOREIGN_STACK;
    else
        return chain->marks;
    refuse(chain, reason);
    return NULL;
}

void mprof__walk_astray(struct mprof__chain *chain) {
    /* Where a signal struck, the rules may lead to a word that is no return
     * address any more. */
    if (chain->in_barrier || chain->exact_at != 0 ||
        mprof__load_relaxed(&mprof__marks_off))
        return;
    mprof__store_release(&mprof__marks_off, true);
    if (chain->marks != NULL)
        mprof__marks_lift(chain->marks);
}

/* Can frames of this chain be marked? */
static bool is_possible(struct mprof__chain *chain) {
    if (chain->cut)
        return refuse(chain, MPROF_NO_RULE);
    if (chain->in_barrier)
        return false;
    const struct mprof__frame *first = &chain->frames[0];
    if (!first->last)
        return refuse(chain, MPROF_FOREIGN_STACK);
    return mprof__walk_marks(chain, first->site, first->pc, first->low) != NULL;
}

/* Frames from this one inwards may be on another stack: not where a signal
 * handler runs next to what it interrupted. */
static bool leaves_stack(const struct mprof__frame *f) {
    const struct mprof__rule *rule = &f->site->unwind.rule;
    return (rule->signal ? f->high <= f->low : rule->cfa_deref) ||
           f->high - f->low > MPROF__LARGE_FRAME;
}

/* How many of the frames may be marked? */
static size_t count_possible(const struct mprof__chain *chain) {
    size_t n = chain->unreturned;
    while (n < chain->reused && !leaves_stack(&chain->frames[n]))
        n++;
    return n;
}

/* Return the number of the innermost frame that has a mark, from 1; or the last
 * frame's when there is no space for more.  Drop marks further in: their frames
 * have returned, as the walk did not meet them. */
static size_t drop_others(const struct mprof__chain *chain) {
    size_t n = chain->count;
    uint32_t count = 0;
    while (n > 0 && !chain->frames[n - 1].marked)
        n--;
    if (n > 0)
        count = chain->frames[n - 1].mark + 1u;
    mprof__marks_drop(chain->marks, count);
    if (count < MPROF__MOST_MARKS)
        return n;
    /* The next walk finds out which ones are left. */
    mprof__marks_thin(chain->marks);
    return chain->count;
}

/* Mark frame number N, from 1, which has not changed; those further in have no
 * marks. */
static bool mark(struct mprof__chain *chain, size_t n) {
    struct mprof__frame *f = &chain->frames[n - 1];
    if (n < 2 || f->marked || !f->checkable || f->check == MPROF__DEREF ||
        f->exact || f->last)
        return false;
    const struct mprof__site *caller = f[-1].site;
    if (f[-1].exact || !caller->has_rule || caller->unwind.rule.signal)
        return false;
    if (f->site->unwind.rule.ra_signed)
        return refuse(chain, MPROF_SHADOW_STACK);
    /* Damaged tables may take anything for a return address. */
    if (!mprof__follows_call(f->ra))
        return false;
    int number = mprof__marks_set(chain->marks, f->ra_slot, f->high);
    if (number < 0)
        return false;
    f->ra = chain->marks->mark[number].word;
    f->check = MPROF__MARK;
    f->marked = true;
    f->mark = (uint32_t)number;
    f->serial = chain->marks->mark[number].serial;
    if (!f[-1].folded)
        mprof__walk_set_outer(chain, f->mark, f[-1].node);
    mprof__bump(&chain->record->marks, 1);
    return true;
}

static void mark_stretch(struct mprof__chain *chain) {
    size_t possible = count_possible(chain),
           end = chain->reused - MPROF__MARKS_CLEARANCE;
    if (end > possible) {
        end = possible;
        refuse(chain, MPROF_FOREIGN_STACK);
    }
    size_t from = drop_others(chain);
    /* Frames further out than an interrupted frame depend on the rule for that
     * very instruction, which is not always right; frames that a handler called
     * do not. */
    if (chain->exact_at != 0 && from <= chain->exact_at)
        from = chain->exact_at + 1;
    for (size_t n = from + MPROF__MARKS_SPACE; n <= end;)
        n += mark(chain, n) ? MPROF__MARKS_SPACE : 1;
}

void mprof__walk_look(struct mprof__chain *chain) {
    size_t words =
        (chain->cut ? chain->count : chain->reused) - chain->unreturned;
    if (mprof__stretch_is_long(words) && is_possible(chain))
        mark_stretch(chain);
}
