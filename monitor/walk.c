/* walk.c - the full walk, one rule a frame. */
#include "walk.h"

#include <string.h>

#include "session.h"
#include "table.h"

enum { FIRST_ROOM = 1024 };

static bool more_room(struct mprof__chain *chain) {
    size_t room = chain->room == 0 ? FIRST_ROOM : 2 * chain->room;
    struct mprof__frame *frames = mprof__map(room * sizeof *frames);
    if (frames == NULL)
        return false;
    if (chain->count > 0)
        memcpy(frames, chain->frames, chain->count * sizeof *frames);
    mprof__unmap(chain->frames, chain->room * sizeof *frames);
    chain->frames = frames;
    chain->room = room;
    return true;
}

void mprof__chain_free(struct mprof__chain *chain) {
    mprof__unmap(chain->frames, chain->room * sizeof *chain->frames);
    memset(chain, 0, sizeof *chain);
}

static inline uintptr_t word_at(uintptr_t address) {
    uintptr_t word;
    memcpy(&word, (const void *)address, sizeof word);
    return word;
}

struct registers {
    uintptr_t pc, sp, bp;
};

/* Go to the caller.  False: SP would not grow, which no table may say. */
static bool step(const struct mprof__rule *rule, struct registers *r) {
    uintptr_t base[3] = {[MPROF__SP] = r->sp, [MPROF__BP] = r->bp};
    uintptr_t cfa =
        base[rule->cfa_base] + (uintptr_t)(intptr_t)rule->cfa_offset;
    if (rule->cfa_deref)
        cfa = word_at(cfa);
    /* Signal frames may lead to another stack. */
    if (!rule->signal && cfa <= r->sp)
        return false;
    base[MPROF__CFA] = cfa;
    r->pc = word_at(base[rule->ra_base] + (uintptr_t)(intptr_t)rule->ra_offset);
    if (rule->bp_saved)
        r->bp =
            word_at(base[rule->bp_base] + (uintptr_t)(intptr_t)rule->bp_offset);
    r->sp = cfa;
    return true;
}

void mprof__walk(struct mprof__session *session, struct mprof__chain *chain,
                 const void *frame) {
    const uintptr_t *words = frame;
    struct registers r = {
        .bp = words[0], .pc = words[1], .sp = (uintptr_t)(words + 2)};
    bool interrupted = false;
    chain->count = 0;
    chain->cut = false;
    while (r.pc != 0) {
        if (chain->count == chain->room && !more_room(chain)) {
            chain->cut = true;
            return;
        }
        struct mprof__frame *f = &chain->frames[chain->count++];
        f->pc = r.pc;
        f->low = r.sp;
        f->object = 0;
        /* A return address may lie behind the last instruction of its
         * function; the address where a signal struck is exact. */
        f->site = mprof__session_site(session, r.pc, interrupted);
        f->high = r.sp;
        if (!f->site->known) {
            if (f->site->beyond)
                chain->count--;
            else
                chain->cut = true;
            return;
        }
        const struct mprof__rule *rule = &f->site->unwind.rule;
        if (rule->outermost)
            return;
        interrupted = rule->signal;
        if (!step(rule, &r)) {
            chain->cut = true;
            return;
        }
        f->high = r.sp;
    }
}
