/* cell.c - how large a frame is, and what it interprets; see remembered.h. */
#include "monitor/names/names.h"
#include "monitor/walk/remembered.h"
#include "monitor/tree/trees.h"

enum { WORD = sizeof(uintptr_t) };

/* C has the rule of KNOWN, its caller the stack pointer CFA, and its own frame
 * pointer is saved at BP_AT, if it is.  False: it is too large, or odd. */
static bool measure_to(struct mprof__cell *c,
                       const struct mprof__known_site *known, uintptr_t cfa,
                       uintptr_t bp_at) {
    uintptr_t size = cfa - c->low, ra_at = mprof__words_from(size, known->ra);
    if (cfa <= c->low || size % WORD != 0 || size / WORD > UINT16_MAX ||
        ra_at >= size || ra_at % WORD != 0)
        return false;
    /* Behind it may be another stack, of which each walk has to ask. */
    if (known->way != MPROF__BY_SP && mprof__is_large(c->low, cfa))
        return false;
    c->shape.size = (uint16_t)(size / WORD);
    c->shape.ra_at = (uint16_t)(ra_at / WORD);
    if (known->bp_saved) {
        bp_at -= c->low;
        if (bp_at >= size || bp_at % WORD != 0)
            return false;
        c->shape.bp_at = (uint16_t)(bp_at / WORD);
    }
    return true;
}

/* The same where the frame says itself what its caller's stack pointer is, as
 * where a function has aligned the stack. */
static bool measure_by_word(struct mprof__reach *reach, struct mprof__cell *c,
                            struct mprof__cell_more *more,
                            const struct mprof__known_site *known) {
    const struct mprof__rule *rule = &known->site->unwind.rule;
    bool by_bp = rule->cfa_base == MPROF__BP;
    if (!rule->cfa_deref || rule->signal || rule->ra_in_lr || rule->ra_signed ||
        rule->ra_base != MPROF__CFA ||
        !mprof__are_words(rule->ra_offset, known->ra) || known->interprets ||
        rule->bp_base == MPROF__SP)
        return false;
    uintptr_t at =
        (by_bp ? more->bp : c->low) + (uintptr_t)(intptr_t)rule->cfa_offset;
    if (at < c->low || at - c->low > UINT16_MAX * WORD ||
        !mprof__reaches(reach, at))
        return false;
    uintptr_t cfa = mprof__word_at(at);
    uintptr_t bp_at = (rule->bp_base == MPROF__BP ? more->bp : cfa) +
                      (uintptr_t)(intptr_t)rule->bp_offset;
    more->runs_at = (uint32_t)(at - c->low);
    more->word = more->object = cfa;
    c->shape.flags |= MPROF__CELL_ASKS | MPROF__CELL_LEAVES;
    if (by_bp || (rule->bp_saved && rule->bp_base == MPROF__BP))
        c->shape.flags |= MPROF__CELL_USES | MPROF__CELL_NEEDS;
    return measure_to(c, known, cfa, bp_at);
}

/* Apply the rule of KNOWN to C and MORE.  False: the frame cannot be cached. */
static bool measure(struct mprof__reach *reach, struct mprof__cell *c,
                    struct mprof__cell_more *more,
                    const struct mprof__known_site *known) {
    if (known->way == MPROF__BY_RULE) {
        if (!known->site->has_rule)
            return false;
        if (!known->site->unwind.rule.outermost)
            return measure_by_word(reach, c, more, known);
        c->shape.flags |= MPROF__CELL_END;
        return true;
    }
    bool by_bp = known->way == MPROF__BY_BP;
    if (by_bp)
        c->shape.flags |= MPROF__CELL_USES | MPROF__CELL_NEEDS;
    uintptr_t cfa =
        (by_bp ? more->bp : c->low) + (uintptr_t)(intptr_t)known->cfa;
    return measure_to(c, known, cfa, mprof__words_from(cfa, known->bp));
}

/* Find out which function C interprets.  False: not known, or it has no record.
 */
static bool ask(const struct mprof__memo *memo, struct mprof__cell *c,
                struct mprof__cell_more *more) {
    const uintptr_t *at =
        mprof__adapter.runs == NULL
            ? NULL
            : mprof__adapter.runs(c->low, mprof__cell_high(c));
    if (at == NULL)
        return false;
    more->runs_at = (uint32_t)((uintptr_t)at - c->low);
    more->word = *at;
    c->shape.flags |= MPROF__CELL_ASKS;
    more->object = mprof__adapter.object(more->word);
    if (more->object != 0)
        c->call = mprof__function_find(memo->trees->shows.names, more->object);
    return c->call != 0;
}

bool mprof__cell_measure(struct mprof__memo *memo, struct mprof__cell *c,
                         const struct mprof__known_site *known) {
    struct mprof__cell_more *more = mprof__cell_more(memo, c);
    struct mprof__reach *reach = &memo->trees->chain->reach;
    return measure(reach, c, more, known) &&
           mprof__cell_can_be_read(reach, c) &&
           (!known->interprets || ask(memo, c, more));
}
