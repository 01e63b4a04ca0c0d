/* walk.c - the walk, one rule a frame.
 *
 * Where the walk comes to a frame in the very state in which the walk before
 * came to it, it would go on as that one did as long as it reads the same: a
 * walk depends on nothing but the state of a frame and the words that it reads.
 * So from there on the words are compared with what was read then, a return
 * address and perhaps a frame pointer for each frame, and no rule is looked up.
 */
#include "walk.h"

#include <string.h>

#include "session.h"
#include "table.h"

enum { FIRST_ROOM = 512 };

static bool more_room(struct mprof__frame **frames, size_t *room,
                      size_t needed) {
    size_t more = *room == 0 ? FIRST_ROOM : *room;
    while (more < needed)
        more *= 2;
    struct mprof__frame *larger = mprof__map(more * sizeof *larger);
    if (larger == NULL)
        return false;
    if (*frames != NULL)
        memcpy(larger, *frames, *room * sizeof *larger);
    mprof__unmap(*frames, *room * sizeof *larger);
    *frames = larger;
    *room = more;
    return true;
}

void mprof__chain_free(struct mprof__chain *chain) {
    mprof__unmap(chain->frames, chain->room * sizeof *chain->frames);
    mprof__unmap(chain->fresh, chain->fresh_room * sizeof *chain->fresh);
    memset(chain, 0, sizeof *chain);
}

static inline uintptr_t word_at(uintptr_t address) {
    uintptr_t word;
    memcpy(&word, (const void *)address, sizeof word);
    return word;
}

struct registers {
    uintptr_t pc, sp, bp;
    bool exact; /* pc is where a signal struck */
};

/* Go to the caller of F.  False: SP would not grow, which no table may say. */
static bool step(struct mprof__frame *f, struct registers *r) {
    const struct mprof__rule *rule = &f->site->unwind.rule;
    uintptr_t base[3] = {[MPROF__SP] = r->sp, [MPROF__BP] = r->bp};
    uintptr_t cfa =
        base[rule->cfa_base] + (uintptr_t)(intptr_t)rule->cfa_offset;
    if (rule->cfa_deref)
        cfa = word_at(cfa);
    /* Signal frames may lead to another stack. */
    if (!rule->signal && cfa <= r->sp)
        return false;
    base[MPROF__CFA] = cfa;
    uintptr_t ra_at =
        base[rule->ra_base] + (uintptr_t)(intptr_t)rule->ra_offset;
    r->pc = word_at(ra_at);
    if (rule->bp_saved) {
        f->bp_at = base[rule->bp_base] + (uintptr_t)(intptr_t)rule->bp_offset;
        r->bp = word_at(f->bp_at);
    }
    r->sp = cfa;
    r->exact = rule->signal;
    f->high = cfa;
    f->firm =
        !rule->cfa_deref && !rule->signal && ra_at == cfa - sizeof(uintptr_t);
    return true;
}

/* Add a frame to those of this walk.  False: no memory. */
static bool push(struct mprof__chain *chain, const struct mprof__frame *f) {
    if (chain->fresh_count == chain->fresh_room &&
        !more_room(&chain->fresh, &chain->fresh_room, chain->fresh_count + 1))
        return false;
    chain->fresh[chain->fresh_count++] = *f;
    return true;
}

/* Of the old frames below number N, which is walked again, how many are
 * inside of one that leads elsewhere now?  That one is at the returned number
 * less 1; 0: all lead where they led. */
static inline size_t unchanged(const struct mprof__chain *chain, size_t n) {
    while (n > 0) {
        const struct mprof__frame *f = &chain->frames[n - 1];
        uintptr_t pc = n > 1 ? f[-1].pc : chain->end;
        if (f->last)
            return 0;
        if (!f->firm || word_at(f->high - sizeof(uintptr_t)) != pc)
            return n;
        if (f->bp_at != 0 && n > 1 && word_at(f->bp_at) != f[-1].bp)
            return n;
        n--;
    }
    return 0;
}

/* The old frame below number *N in the state R, if there is one: its number is
 * *N - 1 then. */
static inline bool meets(const struct mprof__chain *chain, size_t *n,
                         const struct registers *r) {
    while (*n > 0 && chain->frames[*n - 1].low < r->sp)
        --*n;
    if (*n == 0)
        return false;
    const struct mprof__frame *f = &chain->frames[*n - 1];
    return f->low == r->sp && f->pc == r->pc && f->bp == r->bp && !r->exact &&
           !f->exact;
}

/* The old frames from number FROM down to TO are as they were, but the last of
 * them leads elsewhere: they become frames of this walk.  False: no memory. */
static bool take_again(struct mprof__chain *chain, size_t from, size_t to,
                       struct registers *r) {
    for (size_t i = from + 1; i-- > to;)
        if (!push(chain, &chain->frames[i]))
            return false;
    const struct mprof__frame *f = &chain->frames[to];
    *r = (struct registers){.pc = f->pc, .sp = f->low, .bp = f->bp};
    return true;
}

static bool push_new(struct mprof__session *session, struct mprof__chain *chain,
                     const struct registers *r) {
    /* A return address may lie behind the last instruction of its function;
     * the address where a signal struck is exact. */
    const struct mprof__site *site =
        mprof__session_site(session, r->pc, r->exact);
    struct mprof__frame f = {.site = site,
                             .pc = r->pc,
                             .low = r->sp,
                             .high = r->sp,
                             .bp = r->bp,
                             .exact = r->exact,
                             .interprets = site->interpreter,
                             .last =
                                 site->known && site->unwind.rule.outermost};
    return push(chain, &f);
}

/* Put the new frames behind those that are kept. */
static void assemble(struct mprof__chain *chain) {
    size_t count = chain->kept + chain->fresh_count;
    if (count > chain->room &&
        !more_room(&chain->frames, &chain->room, count)) {
        /* The innermost have to do. */
        chain->cut = true;
        chain->kept = 0;
        count =
            chain->fresh_count < chain->room ? chain->fresh_count : chain->room;
    }
    for (size_t i = chain->kept; i < count; i++)
        chain->frames[i] = chain->fresh[count - 1 - i];
    chain->count = count;
}

/* Walk to the outermost frame, or to one from which on all is as it was. */
static void walk(struct mprof__session *session, struct mprof__chain *chain,
                 struct registers *r) {
    size_t old = chain->kept;
    chain->kept = 0;
    while (r->pc != 0) {
        if (meets(chain, &old, r)) {
            size_t n = unchanged(chain, old);
            if (n == 0) {
                chain->kept = old;
                return;
            }
            chain->cut = !take_again(chain, old - 1, n - 1, r);
            old = n - 1;
        } else {
            chain->cut = !push_new(session, chain, r);
        }
        if (chain->cut)
            return;
        struct mprof__frame *f = &chain->fresh[chain->fresh_count - 1];
        if (!f->site->known) {
            if (f->site->beyond)
                chain->fresh_count--;
            else
                chain->cut = true;
            break;
        }
        if (f->last)
            break;
        if (!step(f, r)) {
            chain->cut = true;
            return;
        }
    }
    chain->end = r->pc;
}

void mprof__walk(struct mprof__session *session, struct mprof__chain *chain,
                 const void *frame) {
    const uintptr_t *words = frame;
    struct registers r = {
        .bp = words[0], .pc = words[1], .sp = (uintptr_t)(words + 2)};
    uint32_t generation = mprof__code_generation();
    bool keeps = generation != 0 && chain->generation == generation;
    chain->kept = keeps ? chain->count : 0;
    chain->fresh_count = 0;
    chain->cut = false;
    /* Should a jump leave what follows, nothing of it may be kept. */
    chain->generation = 0;
    walk(session, chain, &r);
    assemble(chain);
    if (!chain->cut && mprof__code_generation() == generation)
        chain->generation = generation;
}
