/* diff.c - what two profiles have, side by side: by function, chain, type or
 * line.
 */
#include "report/tables/diff.h"

#include "report/base/dictionary.h"
#include "report/graph/inlining.h"
#include "report/graph/same_name.h"
#include "report/graph/graph.h"

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

    REPORT__PUSH(m->pool, d->rows, d->count, d->capacity, row);
    return &d->rows[d->count - 1];
}

/* By function */

static void take(struct report__diff_row *row, int side,
                 const struct report__counts *total,
                 const struct report__counts *self,
                 const struct report__counts *freed, uint64_t at_peak) {
    struct report__counts kept;

    report__subtract(&kept, self, freed);
    row->numbers[MPROF_DIFF_BYTES].numbers[side] = report__bytes(total);
    row->numbers[MPROF_DIFF_ALLOCS].numbers[side] = report__allocs(total);
    row->numbers[MPROF_DIFF_SELF].numbers[side] = report__bytes(self);
    row->numbers[MPROF_DIFF_KEPT].numbers[side] = report__bytes(&kept);
    row->numbers[MPROF_DIFF_PEAK].numbers[side] = at_peak;
}

static void by_function(struct making *m) {
    const struct report__functions *names = m->joined->names;

    for (uint32_t f = 0; f < names->count; f++)
        add_row(m, (struct report__diff_row){.name = names->list[f].name,
                                             .function = f,
                                             .depth = MPROF_NONE});
    for (int side = 0; side < MPROF_SIDES; side++) {
        const struct report__graph *g = report__graph_build(
            m->pool, report__one_side(m->pool, m->joined, m->part, side), names,
            m->options->heap, MPROF_ALL_THREADS, m->options->all_frames);
        for (uint32_t f = 0; f < names->count; f++) {
            const struct report__vertex *v = &g->vertices[f];
            struct report__diff_row *row = &m->out->rows[f];
            take(row, side, &v->total, &v->self, &v->freed, v->at_peak);
            if (v->depth < row->depth)
                row->depth = v->depth;
        }
        take(&m->out->total, side, &g->total, &g->total, &g->freed, g->at_peak);
    }
}

/* What chains have */

static void add(struct report__diff_row *row, enum report__joined_side side,
                const struct mprof_count *count) {
    row->numbers[MPROF_DIFF_BYTES].numbers[side] += count->bytes;
    row->numbers[MPROF_DIFF_ALLOCS].numbers[side] += count->allocs;
}

static void add_counter(struct making *m, struct report__diff_row *row,
                        const struct report__counter *c) {
    const enum report__joined_side side =
        report__side_of(m->joined, m->part->nodes[c->node].thread);
    const struct report__lived *lived = report__lived(c);

    add(row, side, &c->allocated);
    add(row, side, &lived->elsewhere);
    row->numbers[MPROF_DIFF_KEPT].numbers[side] += report__present(c).bytes;
    row->numbers[MPROF_DIFF_PEAK].numbers[side] += lived->at_peak.bytes;
}

static void add_total(struct making *m, struct report__diff_row *row,
                      const struct report__total *total) {
    add(row, report__side_of(m->joined, total->thread), &total->count);
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
    struct report__ends ends;
    uint32_t *row_of; /* by path, plus 1 */
};

static struct report__diff_row *chain_row(struct making *m, struct chains *c,
                                          uint32_t path) {
    const struct report__paths *paths = &m->out->paths;
    const uint32_t label = paths->list[path].label, depth = m->options->depth;

    if (c->row_of[path] == 0)
        c->row_of[path] = 1 + report__path_end(m->pool, &c->ends, paths, path,
                                               depth ? depth : UINT32_MAX);
    if (c->row_of[path] > m->out->count)
        add_row(m,
                (struct report__diff_row){
                    .path = path, .function = paths->labels[label].function});
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
    struct chains c = {.row_of = NULL};

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
            places->files[report__place_at(places, call.place).a - 1];
        file = report__base_name(path);
        line = report__place_at(places, call.place).b;
        name = report__format(m->pool, "%s:%" PRIu32 "  %s", file, line, name);
    }
    const char *key = report__format(m->pool, "%" PRIu32 ":%" PRIu32 ":%s",
                                     call.function, line, file);
    uint32_t row = report__intern(m->pool, &l->keys, key, m->out->count);
    if (row == m->out->count)
        add_row(m, (struct report__diff_row){.name = name,
                                             .function = call.function});
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
            !report__is_shown_self(total, m->options->all_frames))
            continue;
        uint32_t function = report__shown_of(names, total->function);
        add_total(m, line_row(m, &l, (struct call){function, 0}), total);
    }
    add_up(m->out);
}

/* By type */

static void by_size(struct making *m) {
    for (uint32_t i = 0; i < MPROF__SIZE_BINS; i++)
        add_row(m,
                (struct report__diff_row){
                    .name = i > MPROF_LARGEST_BIN
                                ? report__format(
                                      m->pool,
                                      "more than %" PRIu32 " bytes each", i - 1)
                                : report__format(m->pool,
                                                 "%" PRIu32 " bytes each", i)});
    for (int side = 0; side < MPROF_SIDES; side++) {
        const struct report__size_bin *bins = report__sizes_collect(
            m->pool, report__one_side(m->pool, m->joined, m->part, side),
            MPROF_ALL_THREADS);
        for (uint32_t i = 0; i < MPROF__SIZE_BINS; i++) {
            add(&m->out->rows[i], side, &bins[i].allocated);
            m->out->rows[i].numbers[MPROF_DIFF_KEPT].numbers[side] =
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
        add(&m->out->rows[row], side, &bin->objects);
        add(&m->out->rows[row], side, &bin->storage);
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
