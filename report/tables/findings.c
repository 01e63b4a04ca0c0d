/* findings.c - see findings.h.
 *
 * An allocation belongs to the innermost function of the program itself on its
 * chain, its spot, with what a library allocated for that.
 */
#include "report/tables/findings.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/pairs.h"
#include "report/graph/lisp_types.h"
#include "report/graph/own.h"

/* What is counted. */
enum measure { ALLOCATED, KEPT, PEAK };

struct finder {
    struct report__context c;
    struct report__pool *pool;
    bool is_lisp;
    struct report__paths paths;
    const enum report__origin *origins;
    /* By path: the innermost path of a function of the program's own at or
     * outside of it, MPROF_NONE: there is none; and the one just inside of
     * that, a library's function, or MPROF_NONE. */
    uint32_t *own, *called;
    /* By path, a number of its chain of own functions, from 1 on; 0: it has
     * none yet. */
    uint32_t *chain;
    struct report__pairs chains, causes;
    struct report__findings *out;
};

struct report__amount report__amount(uint64_t bytes) {
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB", "PB"};
    struct report__amount a;
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

struct report__share report__share(uint64_t part, uint64_t whole) {
    struct report__share s;
    const double percent = 100 * (double)part / (double)(whole > 0 ? whole : 1);

    if (part > 0 && percent < 1)
        snprintf(s.text, sizeof s.text, "less than 1%%");
    else
        snprintf(s.text, sizeof s.text, "%.0f%%",
                 part < whole && percent > 99 ? 99 : percent);
    return s;
}

/*
 * Chains
 */

static const struct report__label *label_of(const struct finder *f,
                                            uint32_t path) {
    return &f->paths.labels[f->paths.list[path].label];
}

static bool is_own(const struct finder *f, uint32_t path) {
    const struct report__label *label = label_of(f, path);

    return report__is_own(f->origins[label->function], f->is_lisp) ||
           (f->is_lisp && report__is_load(label->text));
}

static void find_own(struct finder *f) {
    const uint32_t count = f->paths.count;

    f->own = report__alloc(f->pool, count, sizeof *f->own);
    f->called = report__alloc(f->pool, count, sizeof *f->called);
    f->chain = report__alloc(f->pool, count, sizeof *f->chain);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t caller = f->paths.list[i].caller;
        f->called[i] = MPROF_NONE;
        f->own[i] = is_own(f, i)           ? i
                    : caller == MPROF_NONE ? MPROF_NONE
                                           : f->own[caller];
        if (f->own[i] != i && f->own[i] != MPROF_NONE)
            f->called[i] = f->own[i] == caller ? i : f->called[caller];
    }
}

/* The function that what was allocated at PATH belongs to. */
static uint32_t spot_of(const struct finder *f, uint32_t path) {
    return f->own[path] == MPROF_NONE ? path : f->own[path];
}

/* The next function of the program's own outside of PATH, or MPROF_NONE. */
static uint32_t own_caller(const struct finder *f, uint32_t path) {
    const uint32_t caller = f->paths.list[path].caller;

    return caller == MPROF_NONE ? MPROF_NONE : f->own[caller];
}

static struct mprof_count measured(const struct finder *f,
                                   const struct report__counter *counter,
                                   enum measure measure) {
    const struct report__lived *lived = report__lived(counter);
    struct mprof_count count = counter->allocated;

    if (f->c.by_ends)
        report__add_count(&count, &lived->elsewhere);
    return measure == KEPT   ? report__count_left(count, &lived->freed)
           : measure == PEAK ? lived->at_peak
                             : count;
}

/* Whether the C or C++ library keeps it until the program ends. */
static bool is_held(const struct finder *f, uint32_t path) {
    const enum mprof__held held =
        f->c.names->list[label_of(f, path)->function].held;

    return held == MPROF__STREAM_BUFFERS ||
           (held == MPROF__EXCEPTION_POOL && f->own[path] == MPROF_NONE);
}

/*
 * Sentences
 */

static struct report__sentence *new_sentence(struct finder *f) {
    struct report__findings *out = f->out;

    out->sentences =
        report__grow(f->pool, out->sentences, out->sentence_count,
                     &out->sentence_capacity, sizeof *out->sentences);
    out->sentences[out->sentence_count] =
        (struct report__sentence){.pieces = NULL};
    return &out->sentences[out->sentence_count++];
}

static void say(struct finder *f, struct report__sentence *s, const char *text,
                uint32_t function) {
    s->pieces = report__grow(f->pool, s->pieces, s->count, &s->capacity,
                             sizeof *s->pieces);
    s->pieces[s->count++] = (struct report__piece){text, function};
}

#define WORDS(f, s, ...)                                                       \
    say(f, s, report__format((f)->pool, __VA_ARGS__), MPROF_NONE)

static void say_label(struct finder *f, struct report__sentence *s,
                      uint32_t label) {
    say(f, s, f->paths.labels[label].text, f->paths.labels[label].function);
}

/* Whether LABEL has a line of the source. */
static bool has_line(const struct finder *f, uint32_t label) {
    const struct report__label *l = &f->paths.labels[label];

    return strcmp(l->text, f->c.names->list[l->function].name) != 0;
}

/*
 * Where memory is kept
 */

/* A counter while it is looked for where what was kept comes from: its current
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
static uint32_t sum_by_label(const struct finder *f, const struct kept *list,
                             uint32_t count, struct sums *sums,
                             uint32_t *different) {
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

/* Keep those of LIST whose function is LABEL, and go on to their callers. */
static uint32_t go_out(const struct finder *f, struct kept *list,
                       uint32_t count, uint32_t label) {
    uint32_t left = 0;

    for (uint32_t i = 0; i < count; i++)
        if (list[i].path != MPROF_NONE &&
            f->paths.list[list[i].path].label == label)
            list[left++] = (struct kept){own_caller(f, list[i].path),
                                         list[i].allocated, list[i].kept};
    return left;
}

/* The function, with its line, that most of what was kept comes from: the
 * innermost one; or, if that is also called from where little is kept, the
 * outermost caller that tells these calls apart.  *KEPT becomes what is kept
 * there. */
static uint32_t find_origin(struct finder *f, struct kept *list, uint32_t count,
                            uint64_t *kept) {
    enum { MOST_LEVELS = 8 };
    struct sums sums = {
        report__alloc(f->pool, f->paths.label_count, sizeof(uint64_t)),
        report__alloc(f->pool, f->paths.label_count, sizeof(uint64_t))};
    uint32_t different;
    uint32_t label = sum_by_label(f, list, count, &sums, &different);
    uint32_t found = label;

    if (label == MPROF_NONE)
        return MPROF_NONE;
    *kept = sums.kept[label];
    uint64_t all_kept = *kept, all = sums.allocated[label];
    for (int level = 0; level < MOST_LEVELS; level++) {
        count = go_out(f, list, count, label);
        label = sum_by_label(f, list, count, &sums, &different);
        if (label == MPROF_NONE || sums.kept[label] < all_kept / 2)
            break;
        /* It tells them apart if it has much of what is kept, and less of what
         * was allocated. */
        if (different > 1 &&
            (double)sums.allocated[label] / (double)all <
                0.8 * (double)sums.kept[label] / (double)all_kept) {
            found = label;
            *kept = sums.kept[label];
        }
        all_kept = sums.kept[label];
        all = sums.allocated[label];
    }
    return found;
}

static void say_kept(struct finder *f) {
    const struct report__profile *p = f->c.part;
    struct kept *list = report__alloc(f->pool, p->counter_count, sizeof *list);
    uint64_t all = 0, kept = 0, held = 0;
    uint32_t count = 0;

    for (uint32_t i = 0; i < p->counter_count; i++) {
        const uint32_t path = f->paths.of_counter[i];
        if (path == MPROF_NONE)
            continue;
        const uint64_t left = measured(f, &p->counters[i], KEPT).bytes;
        if (!f->is_lisp && is_held(f, path)) {
            held += left;
            continue;
        }
        list[count++] =
            (struct kept){spot_of(f, path),
                          measured(f, &p->counters[i], ALLOCATED).bytes, left};
        all += left;
    }
    if (all == 0 && !f->is_lisp)
        WORDS(f, new_sentence(f), "%s",
              held > 0 ? "The program freed all that it allocated; what is "
                         "left is the C library's."
                       : "Everything was freed.");
    const uint32_t label =
        all > 0 ? find_origin(f, list, count, &kept) : MPROF_NONE;
    if (label == MPROF_NONE || kept == 0)
        return;
    struct report__sentence *s = new_sentence(f);
    WORDS(f, s, "%s of the %s bytes come from one %s: ",
          report__share(kept, all).text, f->is_lisp ? "live" : "unfreed",
          has_line(f, label) ? "line" : "function");
    say_label(f, s, label);
    WORDS(f, s, ".");
}

/*
 * What allocates
 */

/* Sums by a key, two numbers. */
struct key {
    uint32_t a, b;
};
struct group {
    uint32_t path; /* one of them */
    struct mprof_count count;
    uint32_t order; /* of the first one */
};
struct grouping {
    struct report__pairs keys;
    struct group *list;
    uint32_t count;
    size_t capacity;
};

static struct group *group_of(struct finder *f, struct grouping *g,
                              struct key key, uint32_t path) {
    const uint32_t i = report__pair_number(f->pool, &g->keys, key.a, key.b);

    if (i == g->count) {
        g->list = report__grow(f->pool, g->list, g->count, &g->capacity,
                               sizeof *g->list);
        g->list[g->count] = (struct group){.path = path, .order = g->count};
        g->count++;
    }
    return &g->list[i];
}

static int compare_groups(const void *a, const void *b) {
    const struct group *x = a, *y = b;

    if (x->count.bytes != y->count.bytes)
        return x->count.bytes > y->count.bytes ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* What a library's function allocates for one of the program's own is one
 * thing: "CL:FORMAT, called by MAKE-ROW". */
static struct key cause_key(const struct finder *f, uint32_t path) {
    const uint32_t called = f->called[path];

    return (struct key){f->paths.list[spot_of(f, path)].label,
                        called == MPROF_NONE ? MPROF_NONE
                                             : label_of(f, called)->function};
}

/* Bytes by type of what KEY causes; the three types with most, if they have a
 * tenth. */
static void say_types(struct finder *f, struct key key, uint64_t whole) {
    const struct report__profile *p = f->c.part;
    const struct report__lisp_types types = report__lisp_types(f->pool, p);
    uint64_t *sums = report__alloc(f->pool, types.count, sizeof *sums);
    struct report__sentence *s = NULL;

    for (uint32_t i = 0; i < p->counter_count; i++) {
        const uint32_t path = f->paths.of_counter[i];
        const uint32_t bin = p->counters[i].bin;
        if (path == MPROF_NONE || bin == MPROF_NONE)
            continue;
        const struct key its = cause_key(f, path);
        if (its.a == key.a && its.b == key.b)
            sums[types.of_bin[bin]] += p->counters[i].allocated.bytes;
    }
    for (int n = 0; n < 3; n++) {
        uint32_t best = 0;
        for (uint32_t i = 1; i < types.count; i++)
            best = sums[i] > sums[best] ? i : best;
        if (types.count == 0 || sums[best] < whole / 10 || sums[best] == 0)
            break;
        if (!s)
            WORDS(f, s = new_sentence(f), "Of these bytes, ");
        else
            WORDS(f, s, ", ");
        WORDS(f, s, "%s are of type %s", report__share(sums[best], whole).text,
              report__lisp_type_name(&types.list[best]));
        sums[best] = 0;
    }
    if (s)
        WORDS(f, s, ".");
}

static void say_cause(struct finder *f) {
    const struct report__profile *p = f->c.part;
    struct grouping g = {.list = NULL};
    uint64_t all = report__total(p, f->c.heap).bytes;

    for (uint32_t i = 0; i < p->counter_count; i++) {
        const uint32_t path = f->paths.of_counter[i];
        if (path == MPROF_NONE)
            continue;
        const struct mprof_count count =
            measured(f, &p->counters[i], ALLOCATED);
        report__add_count(&group_of(f, &g, cause_key(f, path), path)->count,
                          &count);
    }
    if (g.count == 0 || all == 0)
        return;
    qsort(g.list, g.count, sizeof *g.list, compare_groups);
    const uint32_t path = g.list[0].path, called = f->called[path];
    struct report__sentence *s = new_sentence(f);
    if (called != MPROF_NONE) {
        const uint32_t function = label_of(f, called)->function;
        say(f, s, f->c.names->list[function].name, function);
        WORDS(f, s, ", called by ");
    }
    say_label(f, s, f->paths.list[spot_of(f, path)].label);
    WORDS(f, s, "%s %s of all bytes.",
          called == MPROF_NONE ? " allocates" : ", causes",
          report__share(g.list[0].count.bytes, all).text);
    if (f->is_lisp)
        say_types(f, cause_key(f, path), g.list[0].count.bytes);
}

/* What of all allocations is freed by the next event of its thread. */
static void say_temporary(struct finder *f) {
    const struct report__profile *p = f->c.part;
    const uint64_t all = report__total(p, f->c.heap).allocs;
    uint64_t *sums = report__alloc(f->pool, f->paths.label_count, sizeof *sums);
    uint64_t sum = 0;
    uint32_t best = 0;

    for (uint32_t i = 0; i < p->counter_count; i++) {
        const uint32_t path = f->paths.of_counter[i];
        const uint64_t n = report__lived(&p->counters[i])->temporary;
        if (path == MPROF_NONE || n == 0)
            continue;
        const uint32_t label = f->paths.list[spot_of(f, path)].label;
        sums[label] += n;
        sum += n;
        if (sums[label] > sums[best])
            best = label;
    }
    if (sum < all / 4 || sum == 0)
        return;
    struct report__sentence *s = new_sentence(f);
    WORDS(f, s,
          "%s of the allocations are temporary: freed before anything "
          "else happens.  Most are by ",
          report__share(sum, all).text);
    say_label(f, s, best);
    WORDS(f, s, ".");
}

/*
 * Rows
 */

/* The functions of PATH, innermost first: a library's function that the
 * program's own called, then these alone, with "..." for others between. */
static const char **chain_of(struct finder *f, uint32_t path, uint32_t *count) {
    const uint32_t spot = spot_of(f, path);
    const char **names = report__alloc(
        f->pool, 2 * (size_t)f->paths.list[path].depth + 1, sizeof *names);

    *count = 0;
    if (f->called[path] != MPROF_NONE)
        names[(*count)++] =
            f->c.names->list[label_of(f, f->called[path])->function].name;
    for (uint32_t at = spot, last = MPROF_NONE; at != MPROF_NONE;
         last = at, at = own_caller(f, at)) {
        if (at != spot && f->paths.list[last].caller != at)
            names[(*count)++] = "...";
        names[(*count)++] =
            at == spot || last == spot
                ? label_of(f, at)->text
                : f->c.names->list[label_of(f, at)->function].name;
    }
    return names;
}

/* The number of the chain from PATH, of an own function, out: chains of the
 * same functions have one. */
static uint32_t chain_number(struct finder *f, uint32_t path) {
    uint32_t at = path, outer = 0, count = 0;
    uint32_t *way =
        report__alloc(f->pool, f->paths.list[path].depth, sizeof *way);

    for (; at != MPROF_NONE && f->chain[at] == 0; at = own_caller(f, at))
        way[count++] = at;
    if (at != MPROF_NONE)
        outer = f->chain[at];
    while (count > 0) {
        at = way[--count];
        outer = 1 + report__pair_number(f->pool, &f->chains, outer,
                                        label_of(f, at)->function);
        f->chain[at] = outer;
    }
    return outer;
}

/* The same with the line where PATH calls. */
static uint32_t caller_number(struct finder *f, uint32_t path) {
    const uint32_t outer = own_caller(f, path);

    return report__pair_number(f->pool, &f->causes,
                               outer == MPROF_NONE ? 0 : chain_number(f, outer),
                               f->paths.list[path].label);
}

/* What groups PATH in TABLE; chains are told apart by the lines of their two
 * innermost functions. */
static struct key row_key(struct finder *f, enum report__finding_table table,
                          uint32_t path) {
    const uint32_t spot = spot_of(f, path), caller = own_caller(f, spot);
    const struct key cause = cause_key(f, path);

    if (table == MPROF_FOUND_ALLOCATED && f->is_lisp)
        return (struct key){label_of(f, path)->function, 0};
    if (table != MPROF_FOUND_KEPT)
        return (struct key){cause.a, 0};
    if (!f->is_lisp && is_held(f, path))
        return (struct key){MPROF_NONE, MPROF_NONE};
    return (struct key){
        report__pair_number(f->pool, &f->causes, cause.a, cause.b),
        caller == MPROF_NONE ? 0 : caller_number(f, caller)};
}

static void name_row(struct finder *f, enum report__finding_table table,
                     uint32_t path, struct report__finding *row) {
    row->name_count = 1;
    row->names = report__alloc(f->pool, 1, sizeof *row->names);
    if (table == MPROF_FOUND_KEPT && !f->is_lisp && is_held(f, path))
        row->names[0] = "(kept by the C library, no leak)";
    else if (table == MPROF_FOUND_KEPT)
        row->names = chain_of(f, path, &row->name_count);
    else if (table == MPROF_FOUND_ALLOCATED && f->is_lisp)
        row->names[0] = f->c.names->list[label_of(f, path)->function].name;
    else
        row->names[0] = label_of(f, spot_of(f, path))->text;
}

/* The largest rows of TABLE, of what MEASURE says. */
static void fill(struct finder *f, enum report__finding_table table,
                 enum measure measure) {
    const struct report__profile *p = f->c.part;
    struct grouping g = {.list = NULL};
    uint64_t all = 0;

    for (uint32_t i = 0; i < p->counter_count; i++) {
        const uint32_t path = f->paths.of_counter[i];
        if (path == MPROF_NONE)
            continue;
        const struct mprof_count count = measured(f, &p->counters[i], measure);
        if (count.bytes == 0)
            continue;
        report__add_count(
            &group_of(f, &g, row_key(f, table, path), path)->count, &count);
        all += count.bytes;
    }
    for (uint32_t i = 0; i < p->total_count; i++) {
        const uint32_t path = f->paths.of_total[i];
        if (path == MPROF_NONE || measure != ALLOCATED)
            continue;
        report__add_count(
            &group_of(f, &g, row_key(f, table, path), path)->count,
            &p->totals[i].count);
        all += p->totals[i].count.bytes;
    }
    if (g.count > 0)
        qsort(g.list, g.count, sizeof *g.list, compare_groups);
    if (g.count > MPROF_MOST_FOUND)
        g.count = MPROF_MOST_FOUND;
    f->out->tables[table].rows =
        report__alloc(f->pool, g.count, sizeof *f->out->tables[table].rows);
    f->out->tables[table].count = g.count;
    f->out->tables[table].bytes = all;
    for (uint32_t i = 0; i < g.count; i++) {
        struct report__finding *row = &f->out->tables[table].rows[i];
        row->count = g.list[i].count;
        name_row(f, table, g.list[i].path, row);
    }
}

/* A function that only passes on what another one causes says nothing. */
static bool passes_on(const struct finder *f, const struct report__graph *graph,
                      uint32_t function) {
    const struct report__vertex *v = &graph->vertices[function];
    const uint64_t all = report__bytes(&v->total);

    for (uint32_t i = 0; i < v->call_count; i++) {
        const struct report__arc *arc = &graph->arcs[v->first_call + i];
        if (arc->callee != function &&
            report__bytes(&arc->counts) >= all - all / 50 &&
            (f->is_lisp || report__is_own(f->origins[arc->callee], f->is_lisp)))
            return true;
    }
    return false;
}

static int compare_found(const void *a, const void *b) {
    const struct report__finding *x = a, *y = b;

    if (x->count.bytes != y->count.bytes)
        return x->count.bytes > y->count.bytes ? -1 : 1;
    return strcmp(x->names[0], y->names[0]);
}

static void fill_caused(struct finder *f) {
    struct report__context c = f->c;
    const struct report__graph *graph = report__graph_of(&c);
    struct report__finding *rows =
        report__alloc(f->pool, graph->functions->count, sizeof *rows);
    uint32_t count = 0;

    for (uint32_t i = 0; i < graph->functions->count; i++) {
        const struct report__vertex *v = &graph->vertices[i];
        if (v->depth == MPROF_NONE || i == MPROF_TOP_LEVEL ||
            report__bytes(&v->total) == 0 || passes_on(f, graph, i) ||
            (!f->is_lisp && !report__is_own(f->origins[i], false)))
            continue;
        rows[count] = (struct report__finding){
            .names = report__alloc(f->pool, 1, sizeof *rows->names),
            .name_count = 1,
            .count = {report__allocs(&v->total), report__bytes(&v->total)}};
        rows[count++].names[0] = graph->functions->list[i].name;
    }
    if (count > 0)
        qsort(rows, count, sizeof *rows, compare_found);
    f->out->tables[MPROF_FOUND_CAUSED].rows = rows;
    f->out->tables[MPROF_FOUND_CAUSED].count =
        count < MPROF_MOST_FOUND ? count : MPROF_MOST_FOUND;
    f->out->tables[MPROF_FOUND_CAUSED].bytes = report__bytes(&graph->total);
}

/* Types by bytes, as the bins have them. */
static void fill_types(struct finder *f) {
    const struct report__lisp_types types =
        report__lisp_types(f->pool, f->c.part);
    const uint32_t count =
        types.count < MPROF_MOST_FOUND ? types.count : MPROF_MOST_FOUND;
    struct report__finding *rows = report__alloc(f->pool, count, sizeof *rows);

    for (uint32_t i = 0; i < types.count; i++)
        f->out->tables[MPROF_FOUND_TYPES].bytes += types.list[i].bytes;
    for (uint32_t i = 0; i < count; i++) {
        rows[i].names = report__alloc(f->pool, 1, sizeof *rows->names);
        rows[i].names[0] = report__lisp_type_name(&types.list[i]);
        rows[i].name_count = 1;
        rows[i].count.bytes = types.list[i].bytes;
    }
    f->out->tables[MPROF_FOUND_TYPES].rows = rows;
    f->out->tables[MPROF_FOUND_TYPES].count = count;
}

struct report__findings *report__find(const struct report__context *context) {
    const bool is_lisp = context->heap == MPROF_LISP_HEAP;
    const bool alive = is_lisp && context->part->alive;
    struct finder f = {.c = *context,
                       .pool = context->pool,
                       .is_lisp = is_lisp,
                       .out = report__alloc(context->pool, 1, sizeof *f.out)};

    f.c.thread = MPROF_ALL_THREADS;
    f.c.lines = f.c.own_lines = true;
    f.c.offsets = f.c.inlines = false;
    f.c.by_ends = !is_lisp || alive;
    f.paths = report__paths_build(&f.c);
    f.origins = report__origins(f.pool, f.c.part, f.c.names);
    find_own(&f);
    if (!is_lisp || alive) {
        say_kept(&f);
        fill(&f, MPROF_FOUND_KEPT, KEPT);
    }
    say_cause(&f);
    fill(&f, MPROF_FOUND_ALLOCATED, ALLOCATED);
    fill_caused(&f);
    if (is_lisp) {
        fill_types(&f);
    } else {
        say_temporary(&f);
        fill(&f, MPROF_FOUND_PEAK, PEAK);
    }
    return f.out;
}
