/* found_kept.c - sentences about what keeps live objects, and about equal
 * contents. */
#include "report/tables/finder.h"

/* Say which function of the program has the most bytes of equal contents, if
 * these are much of all live bytes. */
static void say_equal(struct report__finder *f) {
    const struct report__profile *p = f->c.part;
    uint64_t *bytes = report__alloc(f->pool, f->paths.count, sizeof *bytes);
    uint64_t equal = 0, live = 0;
    uint32_t best = MPROF_NONE;
    struct report__at at;

    for (uint32_t i = 0; report__next_at(&f->paths, &i, &at);)
        live += report__measured(&at, MPROF_ALL_KEPT).bytes;
    for (uint32_t i = 0; i < p->equal_count; i++) {
        const uint32_t path = f->paths.of_counter[p->equals[i].counter];
        if (path == MPROF_NONE)
            continue;
        const uint32_t spot = report__spot(f, path);
        bytes[spot] += p->equals[i].equal.bytes;
        equal += p->equals[i].equal.bytes;
        if (best == MPROF_NONE || bytes[spot] > bytes[best])
            best = spot;
    }
    if (best == MPROF_NONE || equal < live / REPORT__MUCH)
        return;
    struct report__sentence *s = report__new_sentence(f);
    REPORT__WORDS(
        f, s,
        "%s of the live bytes are strings or vectors of numbers that are "
        "equal to another one (--table=equal), %s of them by ",
        report__share(equal, live).text,
        report__is_most(bytes[best], equal) ? "most" : "the largest part");
    report__say_label(f, s, f->paths.list[best].label);
    REPORT__WORDS(f, s, ".");
}

/* The profile, but of blocks that keepers have only those that no library keeps
 * for itself. */
static const struct report__profile *
without_held(const struct report__finder *f) {
    const struct report__profile *p = f->c.part;
    struct report__profile *part = report__alloc(f->pool, 1, sizeof *part);

    *part = *p;
    part->holding_count = 0;
    part->holdings =
        report__alloc(f->pool, p->holding_count, sizeof *part->holdings);
    for (uint32_t i = 0; i < p->holding_count; i++) {
        const uint32_t path = f->paths.of_counter[p->holdings[i].counter];
        if (path != MPROF_NONE && !report__is_held(f, path))
            part->holdings[part->holding_count++] = p->holdings[i];
    }
    return part;
}

/* Say which root alone keeps most of WHAT is left, if it has much. */
static void say_keeper(struct report__finder *f, const char *what) {
    const struct report__profile *p = without_held(f);
    const uint64_t *kept = report__kept_bytes(f->pool, p, f->c.heap);
    uint64_t all = 0;
    uint32_t best = MPROF_NONE;

    for (uint32_t i = 0; i < p->keeper_count; i++) {
        const struct report__keeper *keeper = &p->keepers[i];
        if (keeper->outer != MPROF_NONE)
            continue;
        all += kept[i];
        if (keeper->kind == MPROF_KEEPER_ROOT && keeper->label &&
            (best == MPROF_NONE || kept[i] > kept[best]))
            best = i;
    }
    if (best == MPROF_NONE || kept[best] == 0 ||
        kept[best] < all / REPORT__MUCH)
        return;
    REPORT__WORDS(f, report__new_sentence(f),
                  "%s%s are kept by %s (--table=kept-by).",
                  report__share(kept[best], all).text, what,
                  report__keeper_label(f->pool, p->keepers[best].label));
}

void report__find_kept(struct report__finder *f) {
    if (f->c.part->looked >> f->c.heap & 1)
        say_keeper(f,
                   f->is_lisp ? " of the live bytes" : " of the unfreed bytes");
    if (f->c.part->equal_count > 0)
        say_equal(f);
}
