/* found_rows.c - the rows of the summary; see findings.h. */
#include <stdlib.h>
#include <string.h>

#include "report/graph/lisp_types.h"
#include "report/tables/finder.h"

struct report__found_group *report__add_group(struct report__finder *f,
                                              struct report__grouping *g,
                                              struct report__found_key key,
                                              uint32_t path) {
    const uint32_t i = report__pair_number(f->pool, &g->keys, key.a, key.b);

    if (i == g->count) {
        g->list = report__grow(f->pool, g->list, g->count, &g->capacity,
                               sizeof *g->list);
        g->list[g->count] =
            (struct report__found_group){.path = path, .order = g->count};
        g->count++;
    }
    return &g->list[i];
}

static int compare_groups(const void *a, const void *b) {
    const struct report__found_group *x = a, *y = b;

    if (x->count.bytes != y->count.bytes)
        return x->count.bytes > y->count.bytes ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

void report__sort_groups(struct report__grouping *g) {
    if (g->count > 0)
        qsort(g->list, g->count, sizeof *g->list, compare_groups);
}

/*
 * Rows
 */

/* The functions of PATH, innermost first: a library's function that the
 * program's own called, then these alone, with "..." for others between. */
static const char **chain_of(struct report__finder *f, uint32_t path,
                             uint32_t *count) {
    const uint32_t spot = report__spot(f, path);
    const char **names = report__alloc(
        f->pool, 2 * (size_t)f->paths.list[path].depth + 1, sizeof *names);

    *count = 0;
    if (f->called[path] != MPROF_NONE)
        names[(*count)++] =
            f->c.names->list[report__path_label(f, f->called[path])->function]
                .name;
    for (uint32_t at = spot, last = MPROF_NONE; at != MPROF_NONE;
         last = at, at = report__own_caller(f, at)) {
        if (at != spot && f->paths.list[last].caller != at)
            names[(*count)++] = "...";
        names[(*count)++] =
            at == spot || last == spot
                ? report__path_label(f, at)->text
                : f->c.names->list[report__path_label(f, at)->function].name;
    }
    return names;
}

/* The number of the chain from PATH, of an own function, out: chains of the
 * same functions have one. */
static uint32_t chain_number(struct report__finder *f, uint32_t path) {
    uint32_t at = path, outer = 0, count = 0;
    uint32_t *way =
        report__alloc(f->pool, f->paths.list[path].depth, sizeof *way);

    for (; at != MPROF_NONE && f->chain[at] == 0;
         at = report__own_caller(f, at))
        way[count++] = at;
    if (at != MPROF_NONE)
        outer = f->chain[at];
    while (count > 0) {
        at = way[--count];
        outer = 1 + report__pair_number(f->pool, &f->chains, outer,
                                        report__path_label(f, at)->function);
        f->chain[at] = outer;
    }
    return outer;
}

/* The same with the line where PATH calls. */
static uint32_t caller_number(struct report__finder *f, uint32_t path) {
    const uint32_t outer = report__own_caller(f, path);

    return report__pair_number(f->pool, &f->causes,
                               outer == MPROF_NONE ? 0 : chain_number(f, outer),
                               f->paths.list[path].label);
}

/* What groups PATH in TABLE; chains are told apart by the lines of their two
 * innermost functions. */
static struct report__found_key row_key(struct report__finder *f,
                                        enum report__finding_table table,
                                        uint32_t path) {
    const uint32_t spot = report__spot(f, path),
                   caller = report__own_caller(f, spot);
    const struct report__found_key cause = report__cause(f, path);

    if (table == MPROF_FOUND_ALLOCATED && f->is_lisp)
        return (struct report__found_key){report__path_label(f, path)->function,
                                          0};
    if (table != MPROF_FOUND_KEPT)
        return (struct report__found_key){cause.a, 0};
    return (struct report__found_key){
        report__pair_number(f->pool, &f->causes, cause.a, cause.b),
        caller == MPROF_NONE ? 0 : caller_number(f, caller)};
}

static void name_row(struct report__finder *f, enum report__finding_table table,
                     uint32_t path, struct report__finding *row) {
    row->name_count = 1;
    row->names = report__alloc(f->pool, 1, sizeof *row->names);
    if (table == MPROF_FOUND_KEPT)
        row->names = chain_of(f, path, &row->name_count);
    else if (table == MPROF_FOUND_ALLOCATED && f->is_lisp)
        row->names[0] =
            f->c.names->list[report__path_label(f, path)->function].name;
    else
        row->names[0] = report__path_label(f, report__spot(f, path))->text;
}

/* The largest rows of TABLE, of what MEASURE says. */
static void fill(struct report__finder *f, enum report__finding_table table,
                 enum report__measured measure) {
    const struct report__profile *p = f->c.part;
    struct report__grouping g = {.list = NULL};
    uint64_t all = 0;

    for (uint32_t i = 0; i < p->counter_count; i++) {
        const uint32_t path = f->paths.of_counter[i];
        if (path == MPROF_NONE)
            continue;
        const struct mprof_count count =
            report__measured(f, &p->counters[i], measure);
        if (count.bytes == 0)
            continue;
        if (table == MPROF_FOUND_KEPT && !f->is_lisp &&
            report__is_held(f, path)) {
            report__add_count(&f->out->held, &count);
            continue;
        }
        report__add_count(
            &report__add_group(f, &g, row_key(f, table, path), path)->count,
            &count);
        all += count.bytes;
    }
    for (uint32_t i = 0; i < p->total_count; i++) {
        const uint32_t path = f->paths.of_total[i];
        if (path == MPROF_NONE || measure != MPROF_ALL_ALLOCATED)
            continue;
        report__add_count(
            &report__add_group(f, &g, row_key(f, table, path), path)->count,
            &p->totals[i].count);
        all += p->totals[i].count.bytes;
    }
    report__sort_groups(&g);
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
static bool passes_on(const struct report__finder *f,
                      const struct report__graph *graph, uint32_t function) {
    const struct report__vertex *v = &graph->vertices[function];
    const uint64_t all = report__bytes(&v->total);

    for (uint32_t i = 0; i < v->call_count; i++) {
        const struct report__arc *arc = &graph->arcs[v->first_call + i];
        if (arc->callee != function &&
            report__bytes(&arc->counts) >= all - all / 50 &&
            report__is_own(f->origins[arc->callee], f->is_lisp))
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

static void fill_caused(struct report__finder *f) {
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
static void fill_types(struct report__finder *f) {
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

void report__fill_rows(struct report__finder *f) {
    if (!f->is_lisp || f->c.part->alive)
        fill(f, MPROF_FOUND_KEPT, MPROF_ALL_KEPT);
    fill(f, MPROF_FOUND_ALLOCATED, MPROF_ALL_ALLOCATED);
    fill_caused(f);
    if (f->is_lisp)
        fill_types(f);
    else
        fill(f, MPROF_FOUND_PEAK, MPROF_ALL_AT_PEAK);
}
