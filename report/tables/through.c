/* through.c - see limits.h. */
#include "report/tables/limits.h"

struct report__through *
report__through_make(struct report__pool *pool,
                     const struct report__recorded *side, enum mprof_heap heap,
                     bool all_frames) {
    const struct report__context context = {.pool = pool,
                                            .part = side->profile,
                                            .names = side->names,
                                            .heap = heap,
                                            .thread = MPROF_ALL_THREADS,
                                            .all_frames = all_frames};
    struct report__through *t = report__alloc(pool, 1, sizeof *t);
    struct report__at at;

    t->names = side->names;
    t->paths = report__paths_build(&context);
    t->sums = report__alloc(pool, t->paths.count, sizeof *t->sums);
    t->on = report__alloc(pool, t->paths.count, sizeof *t->on);
    for (uint32_t i = 0; report__next_at(&t->paths, &i, &at);) {
        struct report__through_sum *sum = &t->sums[at.path];
        report__add_count(&sum->allocated, &at.allocated);
        sum->freed += at.lived->freed.bytes;
        sum->at_peak += at.lived->at_peak.bytes;
    }
    return t;
}

static uint64_t number(const struct report__through_sum *sum,
                       enum report__limited limited) {
    const uint64_t numbers[] = {
        [MPROF_LIMIT_BYTES] = sum->allocated.bytes,
        [MPROF_LIMIT_ALLOCS] = sum->allocated.allocs,
        [MPROF_LIMIT_KEPT] = report__left(sum->allocated.bytes, sum->freed),
        [MPROF_LIMIT_PEAK] = sum->at_peak};

    return numbers[report__without_self(limited)];
}

/* Whether PATH is a frame of FUNCTION; callers that are lost are of none. */
static bool is_of(const struct report__through *t, uint32_t path,
                  uint32_t function) {
    const struct report__label *label =
        &t->paths.labels[t->paths.list[path].label];

    return label->function == function &&
           strcmp(label->text, t->names->list[function].name) == 0;
}

/* Mark the chains that go through FUNCTION, or end there. */
static void mark(struct report__through *t, uint32_t function, bool is_self) {
    for (uint32_t i = 0; i < t->paths.count; i++) {
        uint32_t caller = t->paths.list[i].caller;
        t->on[i] = function == MPROF_NONE || is_of(t, i, function) ||
                   (!is_self && caller != MPROF_NONE && t->on[caller]);
    }
}

uint64_t report__through_number(struct report__through *t, uint32_t function,
                                enum report__limited limited) {
    struct report__through_sum all = {0};

    mark(t, function, report__is_self(limited));
    for (uint32_t i = 0; i < t->paths.count; i++) {
        if (!t->on[i])
            continue;
        report__add_count(&all.allocated, &t->sums[i].allocated);
        all.freed += t->sums[i].freed;
        all.at_peak += t->sums[i].at_peak;
    }
    return number(&all, limited);
}

/* The numbers of both sides' chains, by the number of a chain's names. */
struct matched {
    struct report__dictionary ids; /* of "ID-of-callers NAME" */
    uint32_t count;
    uint32_t *id;     /* by path of now */
    uint64_t *before; /* by id */
};

static uint32_t *match(struct report__pool *pool, struct matched *m,
                       const struct report__paths *paths) {
    uint32_t *id = report__alloc(pool, paths->count, sizeof *id);

    for (uint32_t i = 0; i < paths->count; i++) {
        const struct report__path *path = &paths->list[i];
        uint32_t above =
            path->caller == MPROF_NONE ? MPROF_NONE : id[path->caller];
        id[i] = report__intern(pool, &m->ids,
                               report__format(pool, "%" PRIx32 " %s", above,
                                              paths->labels[path->label].text),
                               m->count);
        m->count += id[i] == m->count;
    }
    return id;
}

static void match_sides(struct report__pool *pool, struct matched *m,
                        const struct report__through *now,
                        const struct report__through *before,
                        enum report__limited limited) {
    const uint32_t *then = match(pool, m, &before->paths);

    m->id = match(pool, m, &now->paths);
    m->before = report__alloc(pool, m->count, sizeof *m->before);
    for (uint32_t i = 0; i < before->paths.count; i++)
        m->before[then[i]] += number(&before->sums[i], limited);
}

struct found {
    uint32_t path;
    uint64_t now, before;
};

/* The marked chain that has most. */
static struct found find_most(const struct report__through *t,
                              enum report__limited limited) {
    struct found found = {MPROF_NONE, 0, 0};

    for (uint32_t i = 0; i < t->paths.count; i++) {
        uint64_t now = t->on[i] ? number(&t->sums[i], limited) : 0;
        if (now > found.now)
            found = (struct found){i, now, 0};
    }
    return found;
}

/* The one that grew most, if any did. */
static struct found find_growth(struct report__pool *pool,
                                const struct report__through *t,
                                const struct matched *m,
                                enum report__limited limited) {
    struct found found = {MPROF_NONE, 0, 0};
    uint64_t *now = report__alloc(pool, m->count, sizeof *now);

    for (uint32_t i = 0; i < t->paths.count; i++)
        now[m->id[i]] += number(&t->sums[i], limited);
    for (uint32_t i = 0; i < t->paths.count; i++) {
        uint64_t has = now[m->id[i]], had = m->before[m->id[i]];
        if (t->on[i] && has > had && has - had > found.now - found.before)
            found = (struct found){i, has, had};
    }
    return found;
}

/* A long chain is shown by its outermost and innermost frames, and the frames
 * next to the function that was searched for. */
enum { LONGEST = 16, OUTERMOST = 4, INNERMOST = 8, BESIDE = 1 };

static const char *chain_text(struct report__pool *pool,
                              const struct report__through *t, uint32_t path,
                              uint32_t function) {
    const uint32_t depth = t->paths.list[path].depth;
    uint32_t *frames = report__alloc(pool, depth, sizeof *frames);
    uint32_t wanted = MPROF_NONE, hidden = 0;

    for (uint32_t i = depth; i-- > 0; path = t->paths.list[path].caller) {
        frames[i] = path;
        if (function != MPROF_NONE && is_of(t, path, function))
            wanted = i;
    }
    const struct report__label *label =
        &t->paths.labels[t->paths.list[frames[0]].label];
    bool cut = label->kind == MPROF_UNKNOWN || label->kind == MPROF_FOLDED;
    const char *text = cut ? "..." : "||";
    for (uint32_t i = label->kind == MPROF_FOLDED; i < depth; i++) {
        bool shown = depth <= LONGEST || i < OUTERMOST ||
                     i + INNERMOST >= depth ||
                     (wanted != MPROF_NONE && i + BESIDE >= wanted &&
                      i <= wanted + BESIDE);
        hidden += !shown;
        if (!shown)
            continue;
        if (hidden > 0)
            text =
                report__format(pool, "%s > (%" PRIu32 " more)", text, hidden);
        hidden = 0;
        label = &t->paths.labels[t->paths.list[frames[i]].label];
        text = report__format(pool, "%s > %s", text, label->text);
    }
    return text;
}

struct report__worst report__through_worst(struct report__pool *pool,
                                           struct report__through *t,
                                           const struct report__through *before,
                                           uint32_t function,
                                           enum report__limited limited) {
    struct report__worst worst = {.chain = NULL};
    struct found found = {MPROF_NONE, 0, 0};
    struct matched matched = {.count = 0};

    mark(t, function, report__is_self(limited));
    if (before) {
        match_sides(pool, &matched, t, before, limited);
        found = find_growth(pool, t, &matched, limited);
        worst.grew = found.path != MPROF_NONE;
    }
    if (!worst.grew)
        found = find_most(t, limited);
    if (found.path == MPROF_NONE)
        return worst;
    worst.chain = chain_text(pool, t, found.path, function);
    worst.is = found.now;
    worst.was = found.before;
    return worst;
}
