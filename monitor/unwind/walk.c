/* walk.c - the walk, one rule a frame.
 *
 * Where the walk comes to a frame in the very state in which the walk before
 * came to it, it would go on as that one did as long as it reads the same: a
 * walk depends on nothing but the state of a frame and the words that it reads.
 * So from there on the words are compared with what was read then, a return
 * address and perhaps a frame pointer for each frame, and no rule is looked up.
 * Where such a word is a mark (see marks.h), the comparison ends.
 */
#include "monitor/unwind/walk.h"

#include <string.h>

#include "monitor/base/table.h"

enum { FIRST_ROOM = 16, WORD_BYTES = sizeof(uintptr_t) };

/* The first memory of a chain, one page: there may be thousands of threads that
 * do little. */
struct mprof__first {
    struct mprof__frame frames[FIRST_ROOM], fresh[FIRST_ROOM];
    struct mprof__known_site sites[MPROF__FIRST_SITES];
};
_Static_assert(sizeof(struct mprof__first) <= 4096, "more than a page");

/* Compared with frames that always or never change. */
static const uintptr_t constant = 1;

/* In place of the slot of a return address that is in a register; always 0. */
static uintptr_t nowhere;

static bool map_first(struct mprof__chain *chain) {
    struct mprof__first *first = mprof__map(sizeof *first);
    if (first == NULL)
        return false;
    chain->first = first;
    chain->frames = first->frames;
    chain->fresh = first->fresh;
    chain->room = chain->fresh_room = FIRST_ROOM;
    chain->known.sites = first->sites;
    chain->known.mask = MPROF__FIRST_SITES - 1;
    return true;
}

/* Let the SIZE bytes large elements of *PLACE, *ROOM of them, be NEEDED at
 * least. */
static bool more_room(void *array, size_t *room, size_t needed, size_t size) {
    void **elements = array;
    size_t more = 2 * *room;
    while (more < needed)
        more *= 2;
    void *larger = mprof__map(more * size);
    if (larger == NULL)
        return false;
    memcpy(larger, *elements, *room * size);
    if (*room > FIRST_ROOM)
        mprof__unmap(*elements, *room * size);
    *elements = larger;
    *room = more;
    return true;
}

void mprof__chain_free(struct mprof__chain *chain) {
    if (chain->room > FIRST_ROOM)
        mprof__unmap(chain->frames, chain->room * sizeof *chain->frames);
    if (chain->fresh_room > FIRST_ROOM)
        mprof__unmap(chain->fresh, chain->fresh_room * sizeof *chain->fresh);
    mprof__known_free(&chain->known);
    mprof__unmap(chain->first, sizeof *chain->first);
    memset(chain, 0, sizeof *chain);
}

struct registers {
    uintptr_t pc, sp, bp;
    uintptr_t lr; /* where the architecture has one, in an exact frame */
    bool exact;   /* pc is where a signal struck */
};

/* Find the real return address of F, whose word is a mark. */
static bool see_through(struct mprof__chain *chain, struct mprof__frame *f,
                        uintptr_t *word) {
    int number = mprof__marks_find(chain->marks, *word, f->high);
    *word = mprof__marked_address(*word);
    if (number >= 0) {
        struct mprof__mark *mark = &chain->marks->mark[number];
        f->marked = true;
        f->mark = (uint32_t)number;
        f->serial = mark->serial;
        /* A function that ended by jumping to another leaves it the mark. */
        mark->ra_slot = f->ra_slot;
    } else {
        chain->astray = true;
    }
    return *word != 0;
}

/* Behind a large frame nothing is known to be there. */
static inline void cross(struct mprof__chain *chain,
                         const struct mprof__frame *f) {
    if (__builtin_expect(mprof__is_large(f->low, f->high), 0))
        chain->reach = (struct mprof__reach){0, 0};
}

/* Is ADDRESS in the frame F, or in the red zone below it? */
static inline bool is_within(const struct mprof__frame *f, uintptr_t address) {
    enum { RED_ZONE = 128 };
    return address + RED_ZONE - f->low < f->high + RED_ZONE - f->low;
}

/* Go to the caller of F by the rule.  False: SP would not grow, which no table
 * may say. */
static bool step(struct mprof__chain *chain, struct mprof__frame *f,
                 struct registers *r) {
    const struct mprof__rule *rule = &f->site->unwind.rule;
    uintptr_t base[3] = {[MPROF__SP] = r->sp, [MPROF__BP] = r->bp};
    uintptr_t cfa =
        base[rule->cfa_base] + (uintptr_t)(intptr_t)rule->cfa_offset;
    if (rule->cfa_deref && !mprof__reaches(&chain->reach, cfa))
        return false;
    if (rule->cfa_deref)
        cfa = mprof__word_at(cfa);
    /* Signal frames may lead to another stack. */
    if (!rule->signal && cfa <= r->sp && !(rule->ra_in_lr && cfa == r->sp))
        return false;
    base[MPROF__CFA] = cfa;
    f->high = cfa;
    cross(chain, f);
    f->checkable = !rule->ra_in_lr && (!rule->signal || rule->cfa_deref);
    /* Only what a signal struck has not called anything since. */
    if (rule->ra_in_lr && !r->exact)
        return false;
    f->uses_bp = rule->cfa_base == MPROF__BP || rule->ra_base == MPROF__BP ||
                 (rule->bp_saved && rule->bp_base == MPROF__BP);
    f->ra_slot = base[rule->ra_base] + (uintptr_t)(intptr_t)rule->ra_offset;
    if (!rule->ra_in_lr && !mprof__reaches(&chain->reach, f->ra_slot))
        return false;
    uintptr_t word = rule->ra_in_lr ? r->lr : mprof__word_at(f->ra_slot);
    if (rule->ra_in_lr)
        f->ra_slot = (uintptr_t)&nowhere;
    f->ra = word;
    if (MPROF__HAS_MARKS && !rule->signal && mprof__is_mark(word) &&
        !see_through(chain, f, &word))
        return false;
    r->pc = rule->ra_signed ? MPROF__STRIP(word) : word;
    if (rule->lr_offset != 0)
        r->lr = mprof__word_at(r->sp + (uintptr_t)(intptr_t)rule->lr_offset);
    if (rule->bp_saved) {
        f->bp_at = base[rule->bp_base] + (uintptr_t)(intptr_t)rule->bp_offset;
        if ((!rule->signal && !is_within(f, f->bp_at)) ||
            !mprof__reaches(&chain->reach, f->bp_at))
            return false;
        r->bp = mprof__word_at(f->bp_at);
    }
    r->sp = cfa;
    r->exact = rule->signal;
    return true;
}

/* Room for a frame of this walk; NULL: no memory. */
static inline struct mprof__frame *fresh_frame(struct mprof__chain *chain) {
    if (__builtin_expect(chain->fresh_count == chain->fresh_room, 0) &&
        !more_room(&chain->fresh, &chain->fresh_room, chain->fresh_count + 1,
                   sizeof *chain->fresh))
        return NULL;
    return &chain->fresh[chain->fresh_count++];
}

/* Is what F is compared with still there, on whatever stack it is? */
static bool can_be_read(struct mprof__chain *chain,
                        const struct mprof__frame *f) {
    return mprof__reaches(&chain->reach, f->ra_slot) &&
           (f->bp_at == 0 || mprof__reaches(&chain->reach, f->bp_at));
}

/* Is F's caller's frame still where its rule says by a word? */
static bool leads_there(struct mprof__chain *chain,
                        const struct mprof__frame *f) {
    const struct mprof__rule *rule = &f->site->unwind.rule;
    uintptr_t at = (rule->cfa_base == MPROF__BP ? f->bp : f->low) +
                   (uintptr_t)(intptr_t)rule->cfa_offset;
    return mprof__reaches(&chain->reach, at) && mprof__word_at(at) == f->high;
}

/* Search the old frames below number N, which is walked again, for the
 * innermost one that leads elsewhere now.  It is at the returned number less 1;
 * 0: all lead where they led, and `unreturned` is set. */
static size_t unchanged(struct mprof__chain *chain, size_t n) {
    const bool asks = chain->large_at != 0;
    for (; n > 0; n--) {
        const struct mprof__frame *f = &chain->frames[n - 1];
        if (__builtin_expect(asks, 0) && !can_be_read(chain, f))
            return n;
        if (mprof__word_at(f->ra_slot) != f->ra)
            return n;
        if (__builtin_expect(f->check == MPROF__WORD, 1))
            continue;
        if (f->check == MPROF__MARK) {
            if (!mprof__marks_has(chain->marks, f->mark, f->serial))
                return n;
            chain->unreturned = n;
            return 0;
        }
        if (f->check == MPROF__END)
            break;
        if (f->check == MPROF__DEREF && !leads_there(chain, f))
            return n;
        chain->interprets |= f->interprets;
        if (f->bp_at != 0 && f[-1].needs_bp &&
            mprof__word_at(f->bp_at) != f[-1].bp)
            return n;
    }
    chain->unreturned = 0;
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
    return f->low == r->sp && f->pc == r->pc &&
           (!f->needs_bp || f->bp == r->bp) && !r->exact && !f->exact;
}

/* The old frames from index FROM, in the state R, to the one inside of index TO
 * are as they were: they become frames of this walk, which goes on at TO.  What
 * does not matter for where they lead, their frame pointers, may be another.
 * False: no memory. */
static bool take_again(struct mprof__chain *chain, size_t from, size_t to,
                       struct registers *r) {
    for (size_t i = from; i > to; i--) {
        const struct mprof__frame *f = &chain->frames[i];
        struct mprof__frame *again = fresh_frame(chain);
        if (again == NULL)
            return false;
        *again = *f;
        again->bp = r->bp;
        again->last = again->marked = false;
        if (f->bp_at != 0)
            r->bp = mprof__word_at(f->bp_at);
    }
    r->pc = chain->frames[to].pc;
    r->sp = chain->frames[to].low;
    r->exact = chain->frames[to].exact;
    return true;
}

/* The frame in the state R becomes one of this walk.  NULL: no memory. */
static inline struct mprof__frame *
push_new(struct mprof__chain *chain, const struct registers *r,
         const struct mprof__known_site **known) {
    struct mprof__known_site *slot = mprof__known_slot(&chain->known, r->pc);
    *known = slot;
    if (__builtin_expect(slot->pc != r->pc || r->exact, 0))
        mprof__known_look_up(&chain->known, r->pc, r->exact, slot);
    struct mprof__frame *f = fresh_frame(chain);
    if (f == NULL)
        return NULL;
    f->pc = r->pc;
    f->low = f->high = r->sp;
    f->bp = r->bp;
    f->bp_at = 0;
    f->site = slot->site;
    f->exact = r->exact;
    f->interprets = slot->interprets;
    f->last = f->checkable = f->marked = f->uses_bp = false;
    return f;
}

/* The simple ways to the caller of F; false: as for step(). */
static inline bool step_simply(struct mprof__chain *chain,
                               struct mprof__frame *f, struct registers *r,
                               const struct mprof__known_site *known) {
    bool plain = known->way == MPROF__PLAINLY,
         by_bp = known->way == MPROF__BY_BP;
    uintptr_t cfa =
        plain ? r->sp + known->shape.size * WORD_BYTES
              : (by_bp ? r->bp : r->sp) + (uintptr_t)(intptr_t)known->cfa;
    if (__builtin_expect(cfa <= r->sp, 0))
        return false;
    f->high = cfa;
    if (by_bp)
        cross(chain, f);
    f->checkable = true;
    f->uses_bp = by_bp;
    f->ra_slot = plain ? r->sp + known->shape.ra_at * WORD_BYTES
                       : mprof__words_from(cfa, known->ra);
    if (!mprof__reaches(&chain->reach, f->ra_slot))
        return false;
    uintptr_t word = mprof__word_at(f->ra_slot);
    f->ra = word;
    if (MPROF__HAS_MARKS && __builtin_expect(mprof__is_mark(word), 0) &&
        !see_through(chain, f, &word))
        return false;
    if (known->bp_saved) {
        f->bp_at = plain ? r->sp + known->shape.bp_at * WORD_BYTES
                         : mprof__words_from(cfa, known->bp);
        if (!is_within(f, f->bp_at) || !mprof__reaches(&chain->reach, f->bp_at))
            return false;
        r->bp = mprof__word_at(f->bp_at);
    }
    r->pc = word;
    r->sp = cfa;
    r->exact = false;
    return true;
}

/* Set what has to be compared to know that F still leads to OUTER; NULL: to no
 * frame. */
static inline void prepare_check(struct mprof__frame *f,
                                 const struct mprof__frame *outer) {
    bool passes_bp = outer != NULL && outer->needs_bp;
    bool derefs = f->checkable && f->site->unwind.rule.cfa_deref;
    /* A register's value when a signal struck is read with the handler's frame.
     */
    if (__builtin_expect(derefs && outer != NULL && outer->exact, 0) &&
        !outer->checkable && !outer->last)
        f->checkable = derefs = false;
    f->needs_bp = f->uses_bp || (f->bp_at == 0 && passes_bp);
    if (__builtin_expect(!f->checkable, 0)) {
        f->ra_slot = (uintptr_t)&constant;
        f->ra = constant + !f->last;
    }
    if (__builtin_expect(outer == NULL, 0))
        f->check = MPROF__END;
    else if (f->marked && f->checkable)
        f->check = MPROF__MARK;
    else if (__builtin_expect(derefs, 0))
        f->check = MPROF__DEREF;
    else if (f->interprets)
        f->check = MPROF__ASK;
    else if (f->bp_at != 0 && passes_bp)
        f->check = MPROF__WORDS;
    else
        f->check = MPROF__WORD;
}

/* Put the new frames behind those that are reused. */
static void assemble(struct mprof__chain *chain) {
    size_t count = chain->reused + chain->fresh_count;
    if (count > chain->room && !more_room(&chain->frames, &chain->room, count,
                                          sizeof *chain->frames)) {
        /* The innermost have to do. */
        chain->cut = true;
        chain->reused = chain->unreturned = 0;
        count =
            chain->fresh_count < chain->room ? chain->fresh_count : chain->room;
    }
    if (chain->exact_at > chain->reused)
        chain->exact_at = 0;
    if (chain->large_at > chain->reused)
        chain->large_at = 0;
    struct mprof__frame *f = chain->frames + chain->reused;
    const struct mprof__frame *fresh = chain->fresh + (count - chain->reused);
    for (size_t i = chain->reused; i < count; i++, f++) {
        *f = *--fresh;
        f->object = 0;
        chain->interprets |= f->interprets;
        if (__builtin_expect(f->exact, 0))
            chain->exact_at = i + 1;
        if (mprof__is_large(f->low, f->high) && chain->large_at == 0)
            chain->large_at = i + 1;
        prepare_check(f, i > 0 ? f - 1 : NULL);
    }
    chain->count = count;
    chain->innermost = count > 0 ? &chain->frames[count - 1] : NULL;
}

/* A signal struck in the barrier: the frame has returned, its caller does not
 * go on yet.  False: behind the gates, where it is not known which one. */
static bool leave_barrier(struct mprof__chain *chain, struct registers *r) {
    chain->in_barrier = true;
    r->pc = mprof__is_mark(r->pc) ? mprof__marked_address(r->pc) : 0;
    r->exact = false;
    return r->pc != 0;
}

/* Go on from F, which is not simple; pc is 0 then if it is the last one.
 * False: the walk cannot go on. */
static bool go_on(struct mprof__chain *chain, struct mprof__frame *f,
                  struct registers *r) {
    const struct mprof__site *site = f->site;
    f->last = site->has_rule && site->unwind.rule.outermost;
    if (!f->last && !site->beyond)
        return site->has_rule && step(chain, f, r);
    chain->fresh_count -= site->beyond;
    r->pc = 0;
    return true;
}

/* Walk to the outermost frame, or to one from which on all is as it was; OLD
 * frames may be.  False: the chain is cut. */
static bool walk(struct mprof__chain *chain, struct registers *r, size_t old) {
    const struct mprof__known_site *known;
    mprof__known_prepare(&chain->known, chain->walked_in);
    while (r->pc != 0) {
        if (MPROF__HAS_MARKS && __builtin_expect(r->exact, 0) &&
            mprof__in_barrier(r->pc) && !leave_barrier(chain, r))
            return false;
        if (meets(chain, &old, r)) {
            size_t n = unchanged(chain, old);
            if (n == 0) {
                chain->reused = old;
                return true;
            }
            if (!take_again(chain, old - 1, n - 1, r))
                return false;
            old = n - 1;
        }
        struct mprof__frame *f = push_new(chain, r, &known);
        if (f == NULL || !(__builtin_expect(known->way == MPROF__BY_RULE, 0)
                               ? go_on(chain, f, r)
                               : step_simply(chain, f, r, known)))
            return false;
    }
    return true;
}

void mprof__walk(struct mprof__chain *chain, const void *frame) {
    struct registers r = {0};
    mprof__caller(frame, &r.pc, &r.sp, &r.bp);
    chain->walked_in = mprof__code_generation();
    bool keeps = chain->walked_in != 0 && chain->generation == chain->walked_in;
    size_t old = keeps ? chain->count : 0;
    chain->reused = chain->unreturned = chain->fresh_count = 0;
    if (__builtin_expect(chain->large_at != 0, 0))
        chain->reach = (struct mprof__reach){0, 0};
    chain->in_barrier = chain->interprets = chain->astray = false;
    /* Should a jump leave what follows, nothing of it may be reused. */
    chain->generation = 0;
    chain->cut =
        (chain->first == NULL && !map_first(chain)) || !walk(chain, &r, old);
    assemble(chain);
    if (MPROF__HAS_MARKS && __builtin_expect(chain->astray, 0))
        mprof__walk_astray(chain);
}

void mprof__walk_done(struct mprof__chain *chain) {
    if (MPROF__HAS_MARKS)
        mprof__walk_look(chain);
    if (!chain->cut && chain->count > 0 &&
        mprof__code_generation() == chain->walked_in)
        chain->generation = chain->walked_in;
}
