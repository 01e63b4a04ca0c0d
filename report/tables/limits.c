/* limits.c - see limits.h.
 *
 * A limit names a function as a reader of the tables knows it.  Several
 * functions may read alike, static ones of different files; these are one here,
 * so that a chain through two of them counts once.
 */
#include "report/tables/limits.h"

const char *const report__limited_names[MPROF_LIMITED] = {
    [MPROF_LIMIT_BYTES] = "bytes",
    [MPROF_LIMIT_ALLOCS] = "allocs",
    [MPROF_LIMIT_KEPT] = "kept",
    [MPROF_LIMIT_PEAK] = "peak",
    [MPROF_LIMIT_SELF_BYTES] = "self-bytes",
    [MPROF_LIMIT_SELF_ALLOCS] = "self-allocs",
    [MPROF_LIMIT_SELF_KEPT] = "self-kept",
    [MPROF_LIMIT_SELF_PEAK] = "self-peak"};

struct judge {
    struct report__pool *pool;
    const struct report__recorded *before; /* or NULL */
    struct report__recorded now; /* functions that read alike are one */
    enum mprof_heap heap;
    bool all_frames;
    struct report__totals totals;
    const struct report__graph *graph;  /* NULL: not needed so far */
    struct report__through *through;    /* by heap */
    struct report__dictionary limited;  /* names: their first limit */
    uint32_t *function;                 /* by first limit; or MPROF_NONE */
    const struct report__limit *limits; /* count of them */
    uint32_t count;
    struct report__verdicts out;
};

static bool is_plumbing(const struct judge *j,
                        const struct report__shown *shown) {
    return shown != &j->now.names->list[MPROF_TOP_LEVEL] &&
           !report__is_shown(shown, j->heap, j->all_frames);
}

/* The function of each limit, and one function in place of all that read like
 * it. */
static void find_functions(struct judge *j) {
    const struct report__functions *names = j->now.names;
    uint32_t records = j->now.profile->function_count;
    struct report__functions *merged = report__alloc(j->pool, 1, sizeof *names);
    uint32_t *becomes = report__alloc(j->pool, names->count, sizeof *becomes);

    j->function = report__alloc(j->pool, j->count, sizeof *j->function);
    memset(j->function, 0xff, j->count * sizeof *j->function);
    for (uint32_t i = 0; i < j->count; i++)
        if (j->limits[i].function)
            report__intern(j->pool, &j->limited, j->limits[i].function, i);
    for (uint32_t f = 0; f < names->count; f++) {
        const struct report__shown *shown = &names->list[f];
        const char *const texts[] = {shown->name, shown->full};
        uint32_t limit = MPROF_NONE;
        becomes[f] = f;
        for (int i = 0; i < 2 && limit == MPROF_NONE; i++)
            if (texts[i] && !is_plumbing(j, shown))
                limit = report__intern(j->pool, &j->limited,
                                       report__printed_name(j->pool, texts[i]),
                                       MPROF_NONE);
        if (limit != MPROF_NONE && j->function[limit] == MPROF_NONE)
            j->function[limit] = f;
        else if (limit != MPROF_NONE)
            becomes[f] = j->function[limit];
    }
    *merged = *names;
    merged->shown = report__alloc(j->pool, records, sizeof *merged->shown);
    for (uint32_t i = 0; i < records; i++)
        merged->shown[i] = becomes[names->shown[i]];
    j->now.names = merged;
}

static uint32_t function_of(struct judge *j, const struct report__limit *l) {
    uint32_t first =
        report__intern(j->pool, &j->limited, l->function, MPROF_NONE);
    return first == MPROF_NONE ? MPROF_NONE : j->function[first];
}

static struct report__through *through(struct judge *j) {
    if (!j->through)
        j->through =
            report__through_make(j->pool, &j->now, j->heap, j->all_frames);
    return j->through;
}

static const struct report__vertex *vertex_of(struct judge *j, uint32_t f) {
    if (!j->graph)
        j->graph =
            report__graph_build(j->pool, j->now.profile, j->now.names, j->heap,
                                MPROF_ALL_THREADS, j->all_frames);
    return &j->graph->vertices[f];
}

static uint64_t of_heap(const struct judge *j, enum report__limited what) {
    const struct report__totals *t = &j->totals;
    const uint64_t numbers[] = {
        [MPROF_LIMIT_BYTES] = t->allocated.bytes,
        [MPROF_LIMIT_ALLOCS] = t->allocated.allocs,
        [MPROF_LIMIT_KEPT] = report__left(t->allocated.bytes, t->freed.bytes),
        [MPROF_LIMIT_PEAK] = j->now.profile->at_peak.bytes};

    return numbers[what];
}

static uint64_t of_function(struct judge *j, uint32_t f,
                            enum report__limited what) {
    const struct report__vertex *v = vertex_of(j, f);
    struct report__counts kept;

    report__subtract(&kept, &v->self, &v->freed);
    const uint64_t numbers[] = {
        [MPROF_LIMIT_BYTES] = report__bytes(&v->total),
        [MPROF_LIMIT_ALLOCS] = report__allocs(&v->total),
        [MPROF_LIMIT_SELF_BYTES] = report__bytes(&v->self),
        [MPROF_LIMIT_SELF_ALLOCS] = report__allocs(&v->self),
        [MPROF_LIMIT_SELF_KEPT] = report__bytes(&kept),
        [MPROF_LIMIT_SELF_PEAK] = v->at_peak};

    return what == MPROF_LIMIT_KEPT || what == MPROF_LIMIT_PEAK
               ? report__through_number(through(j), f, what)
               : numbers[what];
}

void report__add_note(struct report__pool *pool, struct report__verdicts *v,
                      const char *note) {
    REPORT__PUSH(pool, v->notes, v->note_count, v->note_capacity, note);
}

#define note(j, ...)                                                           \
    report__add_note((j)->pool, &(j)->out,                                     \
                     report__format((j)->pool, __VA_ARGS__))

/* No function with LIMIT's name allocated: suggest another name.  A limit of 0
 * is kept then.  One above 0 is not: the function allocated when the limit was
 * written, and may have another name now. */
static void note_absence(struct judge *j, const struct report__limit *limit) {
    const struct report__functions *names = j->now.names;
    const char *place = report__limit_place(j->pool, limit);
    const char *where = place ? report__format(j->pool, "%s: ", place) : "";
    uint32_t like = MPROF_NONE;
    uint64_t most = 0;

    for (uint32_t f = 0; f < names->count; f++) {
        const char *name = names->list[f].name;
        if (is_plumbing(j, &names->list[f])) {
            if (strcmp(name, limit->function) != 0)
                continue;
            note(j,
                 "%s%s belongs to the system: its bytes are charged to its "
                 "callers, unless with --all-frames",
                 where, limit->function);
            return;
        }
        uint64_t bytes = report__bytes(&vertex_of(j, f)->total);
        if (bytes > most && strstr(name, limit->function)) {
            most = bytes;
            like = f;
        }
    }
    if (like == MPROF_NONE)
        note(j,
             "%sno function %s allocated; if it was inlined, limit its caller",
             where, limit->function);
    else
        note(j, "%sno function %s allocated; did you mean %s?", where,
             limit->function, names->list[like].name);
}

static void judge_one(struct judge *j, uint32_t i) {
    const struct report__limit *limit = &j->limits[i];
    struct report__verdict *verdict = &j->out.list[i];

    verdict->limit = limit;
    if (!limit->function) {
        verdict->is = of_heap(j, limit->what);
    } else {
        const uint32_t function = function_of(j, limit);
        if (function != MPROF_NONE)
            verdict->is = of_function(j, function, limit->what);
        if (function == MPROF_NONE ||
            vertex_of(j, function)->depth == MPROF_NONE) {
            note_absence(j, limit);
            verdict->is_absent = limit->most > 0;
        }
    }
    verdict->is_exceeded = verdict->is > limit->most;
    j->out.exceeded += verdict->is_exceeded;
    j->out.absent += verdict->is_absent;
}

/* By how many times what is allowed there is; then by how much. */
static int compare_worst(const void *a, const void *b, void *verdicts) {
    const uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const struct report__verdict *list = verdicts;
    const uint64_t m = list[i].limit->most, n = list[k].limit->most;
    const unsigned __int128 x = (unsigned __int128)list[i].is * n,
                            y = (unsigned __int128)list[k].is * m;

    return (n == 0) - (m == 0) ?: (x < y) - (x > y)
               ?: report__down(list[i].is - m, list[k].is - n)
               ?: report__up(i, k);
}

static void find_worst(struct judge *j) {
    struct report__verdicts *out = &j->out;
    struct report__through *before = NULL;
    uint32_t count = 0;

    out->worst = report__alloc(j->pool, out->exceeded, sizeof *out->worst);
    for (uint32_t i = 0; i < out->count; i++)
        if (out->list[i].is_exceeded)
            out->worst[count++] = i;
    report__sort(out->worst, count, sizeof *out->worst, compare_worst,
                 out->list);
    if (count > MPROF_WORST)
        count = MPROF_WORST;
    if (j->before)
        before =
            report__through_make(j->pool, j->before, j->heap, j->all_frames);
    for (uint32_t i = 0; i < count; i++) {
        struct report__verdict *v = &out->list[out->worst[i]];
        v->worst = report__through_worst(
            j->pool, through(j), before,
            v->limit->function ? function_of(j, v->limit) : MPROF_NONE,
            v->limit->what);
    }
}

/* Note what is missing in the numbers; normally nothing. */
static void note_losses(struct judge *j) {
    const struct report__profile *p = j->now.profile;
    const struct report__totals *t = &j->totals;
    bool heap_alone = true, freed = false;

    for (uint32_t i = 0; i < j->count; i++) {
        const struct report__limit *l = &j->limits[i];
        heap_alone &= !l->function;
        freed |= l->function &&
                 (l->what == MPROF_LIMIT_KEPT || l->what == MPROF_LIMIT_PEAK);
    }
    if (p->open)
        note(j, "the program still runs, or ended without closing the "
                "data file: this is what it allocated until then");
    if (p->unplaced_allocs > 0)
        note(j, "%s bytes are in no number, as they are unplaced",
             report__grouped(p->unplaced_bytes).text);
    if (t->lost.allocs > 0 && !heap_alone)
        note(j,
             "the tree of chains was full: functions may have up to %s bytes "
             "more; record with a larger limit",
             report__grouped(t->lost.bytes).text);
    else if (t->folded.allocs > 0 && freed)
        note(j,
             "the tree of chains was full: of %s bytes it is not known for "
             "which functions they are kept, or lived at the peak; record with "
             "a larger limit",
             report__grouped(t->folded.bytes).text);
}

struct report__verdicts report__judge(struct report__pool *pool,
                                      const struct report__recorded *now,
                                      const struct report__recorded *before,
                                      enum mprof_heap heap, bool all_frames,
                                      const struct report__limit *limits,
                                      uint32_t count) {
    struct judge j = {.pool = pool,
                      .before = before,
                      .now = *now,
                      .heap = heap,
                      .all_frames = all_frames,
                      .totals = report__total(now->profile, heap),
                      .limits = limits,
                      .count = count};

    j.out.count = count;
    j.out.list = report__alloc(pool, count, sizeof *j.out.list);
    find_functions(&j);
    for (uint32_t i = 0; i < count; i++)
        judge_one(&j, i);
    find_worst(&j);
    note_losses(&j);
    return j.out;
}
