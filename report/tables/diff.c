/* diff.c - what two profiles have, side by side: by function, chain, type or
 * line.
 */
#include "report/tables/diff.h"

#include <inttypes.h>
#include <string.h>

#include "report/base/dictionary.h"
#include "report/graph/inlining.h"
#include "report/graph/same_name.h"
#include "report/graph/view.h"

struct making {
    struct report__pool *pool;
    const struct report__joined *joined;
    const struct report__profile *part;
    const struct report__diff_options *options;
    struct report__diff *out;
};

static struct report__diff_row *add_row(struct making *m,
                                        struct report__diff_row row) {
    struct report__diff *d = m->out;

    d->rows =
        report__grow(m->pool, d->rows, d->count, &d->capacity, sizeof *d->rows);
    d->rows[d->count] = row;
    return &d->rows[d->count++];
}

/* By function */

static void take_vertex(struct report__diff_row *row,
                        enum report__joined_side side,
                        const struct report__vertex *v) {
    struct report__counts kept;

    report__subtract(&kept, &v->self, &v->freed);
    row->numbers[MPROF_DIFF_BYTES].numbers[side] = report__bytes(&v->total);
    row->numbers[MPROF_DIFF_ALLOCS].numbers[side] = report__allocs(&v->total);
    row->numbers[MPROF_DIFF_SELF].numbers[side] = report__bytes(&v->self);
    row->numbers[MPROF_DIFF_KEPT].numbers[side] = report__bytes(&kept);
    row->numbers[MPROF_DIFF_PEAK].numbers[side] = v->at_peak;
    if (v->depth < row->depth)
        row->depth = v->depth;
}

static void take_graph(struct report__diff_row *total,
                       enum report__joined_side side,
                       const struct report__graph *graph) {
    struct report__counts kept;

    report__subtract(&kept, &graph->total, &graph->freed);
    total->numbers[MPROF_DIFF_BYTES].numbers[side] =
        report__bytes(&graph->total);
    total->numbers[MPROF_DIFF_ALLOCS].numbers[side] =
        report__allocs(&graph->total);
    total->numbers[MPROF_DIFF_SELF].numbers[side] =
        report__bytes(&graph->total);
    total->numbers[MPROF_DIFF_KEPT].numbers[side] = report__bytes(&kept);
    total->numbers[MPROF_DIFF_PEAK].numbers[side] = graph->at_peak;
}

static void by_function(struct making *m) {
    const struct report__functions *names = m->joined->names;

    for (uint32_t f = 0; f < names->count; f++)
        add_row(m, (struct report__diff_row){.name = names->list[f].name,
                                             .function = f,
                                             .depth = MPROF_NONE});
    for (int side = 0; side < MPROF_SIDES; side++) {
        const struct report__graph *graph = report__graph_build(
            m->pool,
            report__one_side(m->pool, m->joined, m->part,
                             (enum report__joined_side)side),
            names, m->options->heap, MPROF_ALL_THREADS, m->options->all_frames);
        for (uint32_t f = 0; f < names->count; f++)
            take_vertex(&m->out->rows[f], (enum report__joined_side)side,
                        &graph->vertices[f]);
        take_graph(&m->out->total, (enum report__joined_side)side, graph);
    }
}

/* What chains have */

static uint64_t *number_of(struct report__diff_row *row,
                           enum report__diff_number number,
                           enum report__joined_side side) {
    return &row->numbers[number].numbers[side];
}

static void add_counter(struct making *m, struct report__diff_row *row,
                        const struct report__counter *c) {
    const enum report__joined_side side =
        report__side_of(m->joined, m->part->nodes[c->node].thread);
    const struct report__lived *lived = report__lived(c);
    const uint64_t bytes = c->allocated.bytes + lived->elsewhere.bytes;

    *number_of(row, MPROF_DIFF_BYTES, side) += bytes;
    *number_of(row, MPROF_DIFF_ALLOCS, side) +=
        c->allocated.allocs + lived->elsewhere.allocs;
    *number_of(row, MPROF_DIFF_KEPT, side) +=
        report__left(bytes, lived->freed.bytes);
    *number_of(row, MPROF_DIFF_PEAK, side) += lived->at_peak.bytes;
}

static void add_total(struct making *m, struct report__diff_row *row,
                      const struct report__total *total) {
    const enum report__joined_side side =
        report__side_of(m->joined, total->thread);

    *number_of(row, MPROF_DIFF_BYTES, side) += total->count.bytes;
    *number_of(row, MPROF_DIFF_ALLOCS, side) += total->count.allocs;
}

static void add_up(struct report__diff *d) {
    for (uint32_t i = 0; i < d->count; i++)
        for (int n = 0; n < MPROF_DIFF_NUMBERS; n++)
            for (int side = 0; side < MPROF_SIDES; side++)
                d->total.numbers[n].numbers[side] +=
                    d->rows[i].numbers[n].numbers[side];
}

/* By chain */

struct chains {
    struct report__pairs ends; /* an end of a chain plus 1, and its caller */
    uint32_t *row_of_end;      /* plus 1 */
    size_t capacity;
    uint32_t *row_of; /* by path, plus 1 */
};

/* The number of the innermost functions of PATH. */
static uint32_t end_of(struct making *m, struct chains *c, uint32_t path) {
    const struct report__path *list = m->out->paths.list;
    uint32_t end = 0;

    for (uint32_t n = m->options->depth; n > 0 && path != MPROF_NONE; n--) {
        end = 1 +
              report__pair_number(m->pool, &c->ends, end, list[path].label + 1);
        path = list[path].caller;
    }
    return report__pair_number(m->pool, &c->ends, end,
                               path == MPROF_NONE ? 0 : MPROF_NONE);
}

/* Complete chains are paths of one number each. */
static uint32_t *slot_of(struct making *m, struct chains *c, uint32_t path) {
    if (m->options->depth == 0)
        return &c->row_of[path];
    uint32_t end = end_of(m, c, path);
    while (c->capacity <= end)
        c->row_of_end = report__grow(m->pool, c->row_of_end, c->capacity,
                                     &c->capacity, sizeof *c->row_of_end);
    return &c->row_of_end[end];
}

static struct report__diff_row *chain_row(struct making *m, struct chains *c,
                                          uint32_t path) {
    const struct report__paths *paths = &m->out->paths;

    if (c->row_of[path] == 0) {
        uint32_t *slot = slot_of(m, c, path);
        if (*slot == 0) {
            add_row(m,
                    (struct report__diff_row){
                        .path = path,
                        .function =
                            paths->labels[paths->list[path].label].function});
            *slot = m->out->count;
        }
        c->row_of[path] = *slot;
    }
    return &m->out->rows[c->row_of[path] - 1];
}

static void by_chain(struct making *m) {
    const struct report__context context = {.pool = m->pool,
                                            .part = m->part,
                                            .names = m->joined->names,
                                            .heap = m->options->heap,
                                            .thread = MPROF_ALL_THREADS,
                                            .all_frames =
                                                m->options->all_frames};
    const struct report__profile *p = m->part;
    struct report__paths *paths = &m->out->paths;
    struct chains c = {.capacity = 0};

    *paths = report__paths_build(&context);
    c.row_of = report__alloc(m->pool, paths->count, sizeof *c.row_of);
    for (uint32_t i = 0; i < p->counter_count; i++)
        if (paths->of_counter[i] != MPROF_NONE)
            add_counter(m, chain_row(m, &c, paths->of_counter[i]),
                        &p->counters[i]);
    for (uint32_t i = 0; i < p->total_count; i++)
        if (paths->of_total[i] != MPROF_NONE)
            add_total(m, chain_row(m, &c, paths->of_total[i]), &p->totals[i]);
    add_up(m->out);
}

/* By line */

struct lines {
    struct report__view view;
    struct report__dictionary keys;
};

struct call {
    uint32_t function, place; /* place: or 0 */
};

/* The function that is shown for what COUNTER has, and where it calls: that of
 * the innermost frame which is shown, as in chains. */
static struct call call_of(const struct making *m, const struct lines *l,
                           const struct report__counter *counter) {
    const struct report__inlining *inlining = m->joined->names->inlining;
    uint32_t node = counter->node, frame = MPROF_NONE, place = 0;

    if (counter->edge != MPROF_NONE && inlining != NULL) {
        frame = inlining->of_edge[counter->edge];
        place = inlining->edge_place[counter->edge];
    }
    while (node != MPROF_NONE) {
        uint32_t parent = m->part->nodes[node].parent;
        uint32_t vnode = l->view.of_node[node];
        if (vnode != MPROF_NONE && l->view.is_shown[node])
            return (struct call){frame != MPROF_NONE
                                     ? inlining->frames[frame].function
                                     : l->view.list[vnode].function,
                                 place};
        if (vnode != MPROF_NONE &&
            (parent == MPROF_NONE || l->view.of_node[parent] == MPROF_NONE))
            return (struct call){l->view.list[vnode].function, 0};
        if (inlining != NULL) {
            frame = inlining->of_caller[node];
            place = inlining->caller_place[node];
        }
        node = parent;
    }
    return (struct call){MPROF_TOP_LEVEL, 0};
}

static struct report__diff_row *line_row(struct making *m, struct lines *l,
                                         struct call call) {
    const struct report__functions *names = m->joined->names;
    const char *name = names->list[call.function].name, *file = "";
    uint32_t line = 0;

    /* Where a function of Lisp was defined does not make it another one. */
    if (call.place > 0 && names->list[call.function].kind == MPROF_C) {
        const struct report__places *places = &names->inlining->places;
        const char *path =
            places->files[report__place_file(places, call.place) - 1];
        const char *slash = strrchr(path, '/');
        file = slash ? slash + 1 : path;
        line = report__place_line(places, call.place);
        name = report__format(m->pool, "%s:%" PRIu32 "  %s", file, line, name);
    }
    const char *key = report__format(m->pool, "%" PRIu32 ":%" PRIu32 ":%s",
                                     call.function, line, file);
    uint32_t row = report__intern(m->pool, &l->keys, key, m->out->count);
    if (row == m->out->count)
        add_row(m, (struct report__diff_row){
                       .name = name, .function = call.function, .line = line});
    return &m->out->rows[row];
}

static bool is_wanted(const struct making *m,
                      const struct report__counter *counter) {
    return counter->heap == m->options->heap &&
           (!counter->is_spill || m->options->heap == MPROF_LISP_HEAP);
}

static void by_line(struct making *m) {
    const struct report__functions *names = m->joined->names;
    const struct report__profile *p = m->part;
    const unsigned view =
        m->options->all_frames ? MPROF_ALL_FRAMES : MPROF_SHOWN_FRAMES;
    struct lines l = {.view = report__make_view(
                          m->pool, p, names, m->options->heap, MPROF_NONE,
                          m->options->all_frames, names->inlining)};

    for (uint32_t i = 0; i < p->counter_count; i++)
        if (is_wanted(m, &p->counters[i]))
            add_counter(m, line_row(m, &l, call_of(m, &l, &p->counters[i])),
                        &p->counters[i]);
    for (uint32_t i = 0; i < p->total_count; i++) {
        const struct report__total *total = &p->totals[i];
        if (m->options->heap != MPROF_LISP_HEAP ||
            p->threads[total->thread].heap != MPROF_LISP_HEAP ||
            total->kind != MPROF_SELF || !(total->views & view))
            continue;
        uint32_t function = total->function == MPROF_TOP_FUNCTION
                                ? MPROF_TOP_LEVEL
                                : names->shown[total->function];
        add_total(m, line_row(m, &l, (struct call){function, 0}), total);
    }
    add_up(m->out);
}

/* By type */

static void by_size(struct making *m) {
    for (int side = 0; side < MPROF_SIDES; side++) {
        const struct report__size_bin *bins = report__sizes_collect(
            m->pool,
            report__one_side(m->pool, m->joined, m->part,
                             (enum report__joined_side)side),
            MPROF_ALL_THREADS);
        for (uint32_t i = 0; i < MPROF__SIZE_BINS; i++) {
            if (side == 0)
                add_row(m, (struct report__diff_row){
                               .name = report__format(
                                   m->pool,
                                   i > MPROF_LARGEST_BIN
                                       ? "more than %" PRIu32 " bytes each"
                                       : "%" PRIu32 " bytes each",
                                   i > MPROF_LARGEST_BIN ? i - 1 : i)});
            struct report__diff_row *row = &m->out->rows[i];
            *number_of(row, MPROF_DIFF_BYTES, (enum report__joined_side)side) =
                bins[i].allocated.bytes;
            *number_of(row, MPROF_DIFF_ALLOCS, (enum report__joined_side)side) =
                bins[i].allocated.allocs;
            *number_of(row, MPROF_DIFF_KEPT, (enum report__joined_side)side) =
                report__left(bins[i].allocated.bytes, bins[i].freed.bytes);
        }
    }
}

static void by_type(struct making *m) {
    struct report__dictionary keys = {0};

    for (uint32_t i = 0; i < m->part->bin_count; i++) {
        const struct report__bin *bin = &m->part->bins[i];
        const enum report__joined_side side =
            report__side_of(m->joined, bin->thread);
        const char *name =
            bin->name ? report__format(m->pool, "%s  %s", bin->type,
                                       report__same_name(m->pool, bin->name))
                      : bin->type;
        uint32_t row = report__intern(m->pool, &keys, name, m->out->count);
        if (row == m->out->count)
            add_row(m, (struct report__diff_row){.name = name});
        *number_of(&m->out->rows[row], MPROF_DIFF_BYTES, side) +=
            bin->objects.bytes + bin->storage.bytes;
        *number_of(&m->out->rows[row], MPROF_DIFF_ALLOCS, side) +=
            bin->objects.allocs + bin->storage.allocs;
    }
}

/* As if OLD had so many times what it has. */
static void scale(struct report__diff_row *row,
                  const struct report__factor *factor) {
    for (int n = 0; n < MPROF_DIFF_NUMBERS; n++) {
        uint64_t *old = &row->numbers[n].numbers[MPROF_OLD];
        *old = report__scaled(*old, factor);
    }
}

struct report__diff *
report__diff_make(struct report__pool *pool,
                  const struct report__joined *joined,
                  const struct report__profile *part,
                  const struct report__diff_options *options) {
    const bool is_c = options->heap == MPROF_C_HEAP;
    struct making m = {.pool = pool,
                       .joined = joined,
                       .part = part,
                       .options = options,
                       .out = report__alloc(pool, 1, sizeof *m.out)};

    m.out->options = options;
    m.out->numbers = 1u << MPROF_DIFF_BYTES | 1u << MPROF_DIFF_ALLOCS |
                     (is_c ? 1u << MPROF_DIFF_KEPT | 1u << MPROF_DIFF_PEAK : 0);
    switch (options->by) {
    case MPROF_DIFF_BY_FUNCTION:
        m.out->numbers |= 1u << MPROF_DIFF_SELF;
        by_function(&m);
        break;
    case MPROF_DIFF_BY_CHAIN:
        by_chain(&m);
        break;
    case MPROF_DIFF_BY_LINE:
        by_line(&m);
        break;
    case MPROF_DIFF_BY_TYPE:
        m.out->numbers &= ~(1u << MPROF_DIFF_PEAK);
        (is_c ? by_size : by_type)(&m);
        add_up(m.out);
        break;
    }
    for (uint32_t i = 0; i < m.out->count; i++)
        scale(&m.out->rows[i], &options->factor);
    scale(&m.out->total, &options->factor);
    return m.out;
}
