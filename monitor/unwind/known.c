/* known.c - see known.h. */
#include "monitor/unwind/known.h"

#include <errno.h>
#include <string.h>

#include "monitor/base/table.h"
#include "monitor/unwind/generation.h"

enum { MOST_SITES = 8192, GROWTH = 4, WORD = sizeof(uintptr_t) };

static size_t bytes_of(const struct mprof__known *known) {
    return (known->mask + (size_t)1) * sizeof *known->sites;
}

/* Have more slots once many have been filled again and again; if there is
 * memory. */
static void enough_sites(struct mprof__known *known) {
    if (__builtin_expect(known->fills <= known->mask, 1))
        return;
    struct mprof__known_site *old = known->sites;
    size_t old_bytes = bytes_of(known);
    size_t n = (known->mask + (size_t)1) * GROWTH;
    known->fills = 0;
    struct mprof__known_site *sites =
        n > MOST_SITES ? NULL : mprof__map(n * sizeof *sites);
    if (sites == NULL)
        return;
    bool owned = known->mask >= MPROF__FIRST_SITES;
    /* Should a jump leave this in the middle, there are fewer. */
    known->mask = 0;
    mprof__order_for_handlers();
    known->sites = sites;
    mprof__order_for_handlers();
    known->mask = (uint32_t)n - 1;
    if (owned)
        mprof__unmap(old, old_bytes);
}

void mprof__known_prepare(struct mprof__known *known, uint32_t generation) {
    enough_sites(known);
    if (generation != 0 && known->generation == generation)
        return;
    memset(known->sites, 0, bytes_of(known));
    known->fills = 0;
    known->generation = generation;
}

void mprof__known_free(struct mprof__known *known) {
    if (known->mask >= MPROF__FIRST_SITES)
        mprof__unmap(known->sites, bytes_of(known));
}

/* Is OFFSET words from the CFA in a frame of WORDS? */
static bool is_in_frame(int32_t words, int16_t offset) {
    return offset < 0 && words + offset >= 0;
}

/* Is KNOWN, BY_SP, as MPROF__PLAINLY says? */
static bool is_plain(const struct mprof__known_site *known) {
    int32_t words = known->cfa / WORD;
    return known->ref != 0 && !known->interprets &&
           mprof__are_words(known->cfa, (int16_t)words) && words > 0 &&
           is_in_frame(words, known->ra) &&
           (!known->bp_saved || is_in_frame(words, known->bp));
}

static struct mprof__shape shape_of(const struct mprof__known_site *known) {
    uint32_t words = (uint32_t)known->cfa / WORD;
    return (struct mprof__shape){
        .size = (uint16_t)words,
        .ra_at = (uint16_t)(words + (uint32_t)known->ra),
        .bp_at = known->bp_saved ? (uint16_t)(words + (uint32_t)known->bp)
                                 : MPROF__NOT_SAVED};
}

/* Write down for KNOWN what the rule of its site says in simple cases. */
static void simplify(struct mprof__known_site *known) {
    const struct mprof__site *site = known->site;
    const struct mprof__rule *rule = &site->unwind.rule;
    known->ref = site->ref;
    known->interprets = site->interpreter;
    known->bp_saved = rule->bp_saved;
    known->cfa = rule->cfa_offset;
    known->ra = (int16_t)(rule->ra_offset / WORD);
    known->bp = (int16_t)(rule->bp_offset / WORD);
    if (!site->has_rule || rule->outermost || rule->signal || rule->cfa_deref ||
        rule->ra_in_lr || rule->ra_signed || rule->ra_base != MPROF__CFA ||
        !mprof__are_words(rule->ra_offset, known->ra) ||
        (rule->bp_saved && (rule->bp_base != MPROF__CFA ||
                            !mprof__are_words(rule->bp_offset, known->bp))))
        known->way = MPROF__BY_RULE;
    else
        known->way = rule->cfa_base == MPROF__BP ? MPROF__BY_BP
                     : is_plain(known)           ? MPROF__PLAINLY
                                                 : MPROF__BY_SP;
    if (known->way == MPROF__PLAINLY)
        known->shape = shape_of(known);
}

/* A return address may lie behind the last instruction of its function; the
 * address where a signal struck is exact. */
void mprof__known_look_up(struct mprof__known *known, uintptr_t pc, bool exact,
                          struct mprof__known_site *slot) {
    known->fills++;
    /* Should a jump leave what follows, nothing is known here. */
    slot->pc = 0;
    slot->site = known->site_of(known->context, pc, exact);
    simplify(slot);
    if (exact)
        slot->way = MPROF__BY_RULE;
    /* Nothing holds for long while a library is being closed. */
    else if (known->generation != 0 &&
             mprof__code_generation() == known->generation)
        slot->pc = pc;
}

const struct mprof__known_site *
mprof__known_find_out(struct mprof__known *known, uintptr_t pc) {
    if (pc == 0)
        return NULL;
    int saved = errno;
    enough_sites(known);
    struct mprof__known_site *slot = mprof__known_slot(known, pc);
    mprof__known_look_up(known, pc, false, slot);
    errno = saved;
    return slot->pc == pc ? slot : NULL;
}
