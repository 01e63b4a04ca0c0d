/* found_rows.c - the rows of the summary; see findings.h. */

#include "report/graph/lisp_types.h"
#include "report/tables/finder.h"

struct report__found_group *report__add_group(struct report__finder *f,
                                              struct report__grouping *g,
                                              struct report__pair key,
                                              uint32_t path) {
    const uint32_t i = report__pair_number(f->pool, &g->keys, key.a, key.b);

    if (i == g->count)
        REPORT__PUSH(f->pool, g->list, g->count, g->capacity,
                     (struct report__found_group){.path = path, .order = i});
    return &g->list[i];
}

static int compare_groups(const void *a, const void *b, void *data) {
    const struct report__found_group *x = a, *y = b;

    (void)data;
    return report__down(x->count.bytes, y->count.bytes)
               ?: report__up(x->order, y->order);
}

void report__sort_groups(struct report__grouping *g) {
    report__sort(g->list, g->count, sizeof *g->list, compare_groups, NULL);
}

/* Rows */

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

/* The chain of own functions from PATH, one of these, out, with the line where
 * it calls. */
static uint32_t caller_number(struct report__finder *f, uint32_t path) {
    const uint32_t outer = report__own_caller(f, path);

    return report__pair_number(f->pool, &f->causes,
                               outer == MPROF_NONE ? 0 : f->chain[outer],
                               f->paths.list[path].label);
}

/* The label of the function that a row of PATH names, if it is not of a chain.
 */
static const struct report__label *named(struct report__finder *f,
                                         uint32_t path) {
    return report__path_label(f, f->is_lisp ? path : report__spot(f, path));
}

/* Return the key of PATH in TABLE: its function; or its chain, by the lines of
 * the two innermost functions. */
static struct report__pair row_key(struct report__finder *f,
                                   enum report__finding_table table,
                                   uint32_t path) {
    const struct report__pair cause = report__cause(f, path);
    const uint32_t caller = report__own_caller(f, report__spot(f, path));

    if (table != MPROF_FOUND_KEPT)
        return (struct report__pair){named(f, path)->function, 0};
    return (struct report__pair){
        report__pair_number(f->pool, &f->causes, cause.a, cause.b),
        caller == MPROF_NONE ? 0 : caller_number(f, caller)};
}

static void name_row(struct report__finder *f, enum report__finding_table table,
                     const struct report__found_group *group,
                     struct report__finding *row) {
    const struct report__label *label = named(f, group->path);

    row->name_count = 1;
    row->names = report__alloc(f->pool, 1, sizeof *row->names);
    if (table == MPROF_FOUND_KEPT)
        row->names = chain_of(f, group->path, &row->name_count);
    else
        row->names[0] = group->is_mixed || f->is_lisp
                            ? f->c.names->list[label->function].name
                            : label->text;
}

/* The largest rows of TABLE, of what MEASURE says. */
static void fill(struct report__finder *f, enum report__finding_table table,
                 enum report__measured measure) {
    struct report__found_table *out = &f->out->tables[table];
    struct report__at at;
    struct report__grouping g = {.list = NULL};

    for (uint32_t i = 0; report__next_at(&f->paths, &i, &at);) {
        const uint32_t path = at.path;
        if (!at.counter && measure != MPROF_ALL_ALLOCATED)
            continue;
        const struct mprof_count count = report__measured(&at, measure);
        if (count.bytes == 0)
            continue;
        if (table == MPROF_FOUND_KEPT && !f->is_lisp &&
            report__is_held(f, path)) {
            report__add_count(&f->out->held, &count);
            continue;
        }
        struct report__found_group *group =
            report__add_group(f, &g, row_key(f, table, path), path);
        report__add_count(&group->count, &count);
        group->is_mixed |= named(f, path) != named(f, group->path);
        out->bytes += count.bytes;
    }
    report__sort_groups(&g);
    out->count = g.count < MPROF_MOST_FOUND ? g.count : MPROF_MOST_FOUND;
    out->rows = report__alloc(f->pool, out->count, sizeof *out->rows);
    for (uint32_t i = 0; i < out->count; i++) {
        out->rows[i].count = g.list[i].count;
        name_row(f, table, &g.list[i], &out->rows[i]);
    }
}

/* Return true if FUNCTION only calls another one, which has no other caller and
 * causes nearly all: then its row would say nothing new. */
static bool passes_on(const struct report__finder *f,
                      const struct report__graph *graph, uint32_t function) {
    const struct report__vertex *v = &graph->vertices[function];
    const uint64_t all = report__bytes(&v->total);

    for (uint32_t i = 0; i < v->call_count; i++) {
        const struct report__arc *arc = &graph->arcs[v->first_call + i];
        if (arc->callee != function &&
            report__bytes(&arc->counts) >= all - all / 50 &&
            all >=
                report__bytes(&graph->vertices[arc->callee].total) / 50 * 49 &&
            report__is_own(f->origins[arc->callee], f->is_lisp))
            return true;
    }
    return false;
}

static int compare_found(const void *a, const void *b) {
    const struct report__finding *x = a, *y = b;

    return report__down(x->count.bytes, y->count.bytes)
               ?: strcmp(x->names[0], y->names[0]);
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
    f->out->tables[MPROF_FOUND_CAUSED] = (struct report__found_table){
        rows, count < MPROF_MOST_FOUND ? count : MPROF_MOST_FOUND,
        report__bytes(&graph->total)};
}

/* Types by bytes, as the bins have them. */
static void fill_types(struct report__finder *f) {
    const struct report__lisp_types types =
        report__lisp_types(f->pool, f->c.part);
    struct report__found_table *out = &f->out->tables[MPROF_FOUND_TYPES];

    out->count =
        types.count < MPROF_MOST_FOUND ? types.count : MPROF_MOST_FOUND;
    out->rows = report__alloc(f->pool, out->count, sizeof *out->rows);
    for (uint32_t i = 0; i < types.count; i++)
        out->bytes += types.list[i].bytes;
    for (uint32_t i = 0; i < out->count; i++) {
        struct report__finding *row = &out->rows[i];
        row->names = report__alloc(f->pool, 1, sizeof *row->names);
        row->names[0] = report__lisp_type_name(&types.list[i]);
        row->name_count = 1;
        row->count.bytes = types.list[i].bytes;
    }
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
