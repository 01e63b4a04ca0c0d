/* findings.c - see findings.h: sentences. */
#include "report/tables/findings.h"

#include "report/graph/lisp_types.h"
#include "report/tables/finder.h"

struct report__text report__amount(uint64_t bytes) {
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB", "PB"};
    struct report__text a;
    double value = (double)bytes;
    size_t unit = 0;

    while (value >= 999.5 && unit + 1 < sizeof units / sizeof *units) {
        value /= 1000;
        unit++;
    }
    snprintf(a.text, sizeof a.text, "%.*f %s",
             unit == 0 || value >= 99.95 ? 0
             : value >= 9.995            ? 1
                                         : 2,
             value, bytes == 1 ? "byte" : units[unit]);
    return a;
}

struct report__text report__share(uint64_t part, uint64_t whole) {
    struct report__text s;
    const double percent = 100 * (double)part / (double)(whole > 0 ? whole : 1);

    if (part > 0 && percent < 1)
        snprintf(s.text, sizeof s.text, "less than 1%%");
    else
        snprintf(s.text, sizeof s.text, "%.0f%%",
                 part < whole && percent > 99 ? 99 : percent);
    return s;
}

static bool is_own(const struct report__finder *f, uint32_t path) {
    const struct report__label *label = report__path_label(f, path);

    return report__is_own(f->origins[label->function], f->is_lisp) ||
           (f->is_lisp && report__is_load(label->text));
}

static void find_own(struct report__finder *f) {
    const uint32_t count = f->paths.count;

    f->own = report__alloc(f->pool, count, sizeof *f->own);
    f->called = report__alloc(f->pool, count, sizeof *f->called);
    f->chain = report__alloc(f->pool, count, sizeof *f->chain);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t caller = f->paths.list[i].caller;
        const uint32_t outer = caller == MPROF_NONE ? caller : f->own[caller];
        f->called[i] = MPROF_NONE;
        f->own[i] = is_own(f, i) ? i : outer;
        if (f->own[i] == i)
            f->chain[i] = 1 + report__pair_number(
                                  f->pool, &f->chains,
                                  outer == MPROF_NONE ? 0 : f->chain[outer],
                                  report__path_label(f, i)->function);
        else if (outer != MPROF_NONE)
            f->called[i] = outer == caller ? i : f->called[caller];
    }
}

/* Sentences */

struct report__sentence *report__new_sentence(struct report__finder *f) {
    struct report__findings *out = f->out;

    REPORT__PUSH(f->pool, out->sentences, out->sentence_count,
                 out->sentence_capacity, (struct report__sentence){.count = 0});
    return &out->sentences[out->sentence_count - 1];
}

void report__add_piece(struct report__finder *f, struct report__sentence *s,
                       const char *text, uint32_t function) {
    REPORT__PUSH(f->pool, s->pieces, s->count, s->capacity,
                 (struct report__piece){text, function});
}

void report__say_label(struct report__finder *f, struct report__sentence *s,
                       uint32_t label) {
    report__add_piece(f, s, f->paths.labels[label].text,
                      f->paths.labels[label].function);
}

/* Whether LABEL has a line of the source. */
static bool has_line(const struct report__finder *f, uint32_t label) {
    const struct report__label *l = &f->paths.labels[label];

    return strcmp(l->text, f->c.names->list[l->function].name) != 0;
}

/* Where memory is kept */

/* A counter during the search for the origin of kept bytes: its current
 * function, further out each time. */
struct kept {
    uint32_t path;
    uint64_t allocated, kept; /* bytes */
};

/* By label, sums of some of these. */
struct sums {
    uint64_t *allocated, *kept;
};

/* The label of LIST where most was kept; *DIFFERENT: how many labels there
 * are. */
static uint32_t sum_by_label(const struct report__finder *f,
                             const struct kept *list, uint32_t count,
                             struct sums *sums, uint32_t *different) {
    uint32_t best = MPROF_NONE;

    *different = 0;
    for (uint32_t i = 0; i < count; i++)
        if (list[i].path != MPROF_NONE) {
            const uint32_t label = f->paths.list[list[i].path].label;
            sums->allocated[label] = sums->kept[label] = 0;
        }
    for (uint32_t i = 0; i < count; i++) {
        if (list[i].path == MPROF_NONE)
            continue;
        const uint32_t label = f->paths.list[list[i].path].label;
        *different += sums->allocated[label] == 0;
        sums->allocated[label] += list[i].allocated;
        sums->kept[label] += list[i].kept;
        if (best == MPROF_NONE || sums->kept[label] > sums->kept[best])
            best = label;
    }
    return best;
}

/* Keep the elements of LIST whose function is LABEL; go on to their callers. */
static uint32_t go_out(const struct report__finder *f, struct kept *list,
                       uint32_t count, uint32_t label) {
    uint32_t left = 0;

    for (uint32_t i = 0; i < count; i++)
        if (list[i].path != MPROF_NONE &&
            f->paths.list[list[i].path].label == label)
            list[left++] = (struct kept){report__own_caller(f, list[i].path),
                                         list[i].allocated, list[i].kept};
    return left;
}

/* Who has most of these calls. */
struct caller {
    uint32_t label; /* MPROF_NONE: there is none */
    bool is_only;   /* it has all of them */
};

/* Return the function, with its line, that most kept bytes come from: the
 * innermost one; or, if that has also calls that keep little, the outermost
 * caller that separates these calls.  *KEPT becomes its kept bytes, and *CALLER
 * the caller of most of these. */
static uint32_t find_origin(struct report__finder *f, struct kept *list,
                            uint32_t count, uint64_t *kept,
                            struct caller *caller) {
    enum { MOST_LEVELS = 8 };
    struct sums sums = {
        report__alloc(f->pool, f->paths.label_count, sizeof(uint64_t)),
        report__alloc(f->pool, f->paths.label_count, sizeof(uint64_t))};
    uint32_t different;
    uint32_t label = sum_by_label(f, list, count, &sums, &different);
    uint32_t found = label;

    *caller = (struct caller){MPROF_NONE, false};
    if (label == MPROF_NONE)
        return MPROF_NONE;
    *kept = sums.kept[label];
    uint64_t all_kept = *kept, all = sums.allocated[label];
    for (int level = 0; level < MOST_LEVELS; level++) {
        const bool is_next = label == found;
        count = go_out(f, list, count, label);
        label = sum_by_label(f, list, count, &sums, &different);
        if (label == MPROF_NONE || sums.kept[label] < all_kept / 2)
            break;
        if (is_next && report__is_most(sums.kept[label], all_kept))
            *caller = (struct caller){label, sums.kept[label] == all_kept};
        /* It separates them if it has much of the kept bytes, and a smaller
         * part of the allocated ones. */
        if (different > 1 &&
            (double)sums.allocated[label] / (double)all <
                0.8 * (double)sums.kept[label] / (double)all_kept) {
            found = label;
            *kept = sums.kept[label];
            caller->label = MPROF_NONE;
        }
        all_kept = sums.kept[label];
        all = sums.allocated[label];
    }
    return found;
}

/* The innermost function by way of which most of ALL that LIST keeps comes, but
 * none that is outermost; MPROF_NONE: there is none.  *THROUGH: how much. */
static uint32_t find_way(struct report__finder *f, const struct kept *list,
                         uint32_t count, uint64_t all, uint64_t *through) {
    const uint32_t functions = f->c.names->count;
    uint64_t *sums = report__alloc(f->pool, functions, sizeof *sums);
    uint32_t *seen = report__alloc(f->pool, functions, sizeof *seen);
    bool *outermost = report__alloc(f->pool, functions, sizeof *outermost);
    uint32_t best = MPROF_NONE;

    for (uint32_t i = 0; i < count; i++)
        for (uint32_t at = list[i].kept > 0 ? list[i].path : MPROF_NONE;
             at != MPROF_NONE; at = report__own_caller(f, at)) {
            const uint32_t function = report__path_label(f, at)->function;
            outermost[function] |= report__own_caller(f, at) == MPROF_NONE;
            if (seen[function] != i + 1)
                sums[function] += list[i].kept;
            seen[function] = i + 1;
        }
    for (uint32_t i = 0; i < functions; i++)
        if (!outermost[i] && report__is_most(sums[i], all) && sums[i] > 0 &&
            (best == MPROF_NONE || sums[i] < sums[best]))
            best = i;
    *through = best == MPROF_NONE ? 0 : sums[best];
    return best;
}

/* Say where MEASURE's bytes, WHAT, come from; for the peak, if one has much. */
static void say_where(struct report__finder *f, enum report__measured measure,
                      const char *what) {
    struct kept *list =
        report__alloc(f->pool, f->c.part->counter_count, sizeof *list);
    const bool is_leak = measure == MPROF_ALL_KEPT && !f->is_lisp;
    struct report__at at;
    uint64_t all = 0, kept = 0, held = 0, through = 0;
    uint32_t count = 0;
    struct caller caller;

    for (uint32_t i = 0; report__next_at(&f->paths, &i, &at);) {
        const uint64_t left = report__measured(&at, measure).bytes;
        if (!at.counter)
            continue;
        if (is_leak && report__is_held(f, at.path)) {
            held += left;
            continue;
        }
        list[count++] =
            (struct kept){report__spot(f, at.path), at.allocated.bytes, left};
        all += left;
    }
    if (all == 0 && is_leak)
        REPORT__WORDS(
            f, report__new_sentence(f), "%s",
            held > 0 ? "The program freed all that it allocated; the C or C++ "
                       "library keeps the rest."
                     : "Everything was freed.");
    if (all == 0)
        return;
    const uint32_t way = measure == MPROF_ALL_KEPT
                             ? find_way(f, list, count, all, &through)
                             : MPROF_NONE;
    const uint32_t label = find_origin(f, list, count, &kept, &caller);
    if (kept == 0 ||
        (measure == MPROF_ALL_AT_PEAK && kept < all / REPORT__MUCH))
        return;
    struct report__sentence *s = report__new_sentence(f);
    if (way != MPROF_NONE && report__is_most(through, all) &&
        !report__is_most(kept, all)) {
        REPORT__WORDS(f, s, "%s%s come by way of ",
                      report__share(through, all).text, what);
        report__add_piece(f, s, f->c.names->list[way].name, way);
        REPORT__WORDS(f, s, "; ");
        what = "";
    }
    REPORT__WORDS(f, s,
                  "%s%s come from one %s: ", report__share(kept, all).text,
                  what, has_line(f, label) ? "line" : "function");
    report__say_label(f, s, label);
    if (caller.label != MPROF_NONE) {
        REPORT__WORDS(f, s,
                      caller.is_only ? ", called by " : ", called mostly by ");
        report__say_label(f, s, caller.label);
    }
    REPORT__WORDS(f, s, ".");
}

/* Who allocates */

/* Bytes by type of what KEY causes; the three types with most, if they have a
 * tenth. */
static void say_types(struct report__finder *f, struct report__pair key,
                      uint64_t whole) {
    const struct report__lisp_types types =
        report__lisp_types(f->pool, f->c.part);
    struct report__at at;
    uint64_t *sums = report__alloc(f->pool, types.count, sizeof *sums);
    struct report__sentence *s = NULL;

    for (uint32_t i = 0; report__next_at(&f->paths, &i, &at);) {
        const struct report__pair its = report__cause(f, at.path);
        if (at.counter && at.counter->bin != MPROF_NONE && its.a == key.a &&
            its.b == key.b)
            sums[types.of_bin[at.counter->bin]] += at.counter->allocated.bytes;
    }
    for (int n = 0; n < 3; n++) {
        uint32_t best = 0;
        for (uint32_t i = 1; i < types.count; i++)
            best = sums[i] > sums[best] ? i : best;
        if (types.count == 0 || sums[best] < whole / 10 || sums[best] == 0)
            break;
        if (!s)
            REPORT__WORDS(f, s = report__new_sentence(f), "Of these bytes, ");
        else
            REPORT__WORDS(f, s, ", ");
        REPORT__WORDS(f, s, "%s are of type %s",
                      report__share(sums[best], whole).text,
                      report__lisp_type_name(&types.list[best]));
        sums[best] = 0;
    }
    if (s)
        REPORT__WORDS(f, s, ".");
}

/* Sums of what is allocated, the largest first: by causes, or if LIBRARY by the
 * library's functions alone, whoever called them. */
static struct report__grouping find_causes(struct report__finder *f,
                                           bool library) {
    struct report__grouping g = {.list = NULL};
    struct report__at at;

    for (uint32_t i = 0; report__next_at(&f->paths, &i, &at);) {
        struct report__pair key = report__cause(f, at.path);
        if (!at.counter || (library && f->called[at.path] == MPROF_NONE))
            continue;
        if (library)
            key.a = 0;
        report__add_count(&report__add_group(f, &g, key, at.path)->count,
                          &at.allocated);
    }
    report__sort_groups(&g);
    return g;
}

/* The library's function that was called at PATH. */
static void say_called(struct report__finder *f, struct report__sentence *s,
                       uint32_t path) {
    const uint32_t function = report__path_label(f, f->called[path])->function;

    report__add_piece(f, s, f->c.names->list[function].name, function);
}

static void say_cause(struct report__finder *f) {
    const uint64_t all = report__total(f->c.part, f->c.heap).allocated.bytes;
    const struct report__grouping causes = find_causes(f, false);
    const struct report__grouping libraries = find_causes(f, true);

    if (causes.count == 0 || all == 0)
        return;
    const struct report__found_group *most = &causes.list[0];
    struct report__sentence *s = report__new_sentence(f);
    if (most->count.bytes < all / REPORT__MUCH && libraries.count > 0 &&
        libraries.list[0].count.bytes >= all / REPORT__MUCH) {
        say_called(f, s, libraries.list[0].path);
        REPORT__WORDS(f, s,
                      ", called by many functions, causes %s of all bytes.",
                      report__share(libraries.list[0].count.bytes, all).text);
        return;
    }
    if (f->called[most->path] != MPROF_NONE) {
        say_called(f, s, most->path);
        REPORT__WORDS(f, s, ", called by ");
    }
    report__say_label(f, s, f->paths.list[report__spot(f, most->path)].label);
    REPORT__WORDS(f, s, "%s %s of all bytes.",
                  f->called[most->path] == MPROF_NONE ? " allocates"
                                                      : ", causes",
                  report__share(most->count.bytes, all).text);
    if (f->is_lisp)
        say_types(f, report__cause(f, most->path), most->count.bytes);
}

/* Say which part of all allocations the next event of the thread frees. */
static void say_temporary(struct report__finder *f) {
    const uint64_t all = report__total(f->c.part, f->c.heap).allocated.allocs;
    uint64_t *sums = report__alloc(f->pool, f->paths.label_count, sizeof *sums);
    struct report__at at;
    uint64_t sum = 0;
    uint32_t best = 0;

    for (uint32_t i = 0; report__next_at(&f->paths, &i, &at);) {
        const uint32_t label = f->paths.list[report__spot(f, at.path)].label;
        sums[label] += at.lived->temporary;
        sum += at.lived->temporary;
        if (sums[label] > sums[best])
            best = label;
    }
    if (sum < all / 4 || sum == 0)
        return;
    struct report__sentence *s = report__new_sentence(f);
    REPORT__WORDS(f, s,
                  "%s of the allocations are temporary: freed before anything "
                  "else happens.  Most are by ",
                  report__share(sum, all).text);
    report__say_label(f, s, best);
    REPORT__WORDS(f, s, ".");
}

const char *report__sentence_text(struct report__pool *pool,
                                  const struct report__sentence *sentence) {
    const char *text = "";

    for (uint32_t i = 0; i < sentence->count; i++)
        text = report__format(pool, "%s%s", text, sentence->pieces[i].text);
    return text;
}

struct report__findings *report__find(const struct report__context *context) {
    const bool is_lisp = context->heap == MPROF_LISP_HEAP;
    const bool alive = is_lisp && context->part->alive;
    struct report__finder f = {
        .c = *context,
        .pool = context->pool,
        .is_lisp = is_lisp,
        .out = report__alloc(context->pool, 1, sizeof *f.out)};

    f.c.thread = MPROF_ALL_THREADS;
    f.c.in_sentences = true;
    f.c.lines = is_lisp || context->names->inlining;
    f.c.offsets = false;
    f.c.by_ends = !is_lisp || alive;
    f.paths = report__paths_build(&f.c);
    f.origins = report__origins(f.pool, f.c.part, f.c.names);
    find_own(&f);
    if (!is_lisp || alive)
        say_where(&f, MPROF_ALL_KEPT,
                  is_lisp ? " of the live bytes" : " of the unfreed bytes");
    report__find_kept(&f);
    if (!is_lisp)
        say_where(&f, MPROF_ALL_AT_PEAK, " of the bytes at the peak");
    say_cause(&f);
    if (!is_lisp)
        say_temporary(&f);
    report__fill_rows(&f);
    return f.out;
}
