/* diff.c - what two profiles have, side by side: by function, chain, type or
 * line.
 */
#include "report/tables/diff.h"

#include "monitor/format/paths.h"
#include "report/base/dictionary.h"
#include "report/graph/same_name.h"
#include "report/graph/graph.h"
#include "report/graph/samples.h"

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

/* Chains */

static void add(struct report__diff_row *row, enum report__joined_side side,
                const struct mprof_count *count) {
    row->numbers[MPROF_DIFF_BYTES].numbers[side] += count->bytes;
    row->numbers[MPROF_DIFF_ALLOCS].numbers[side] += count->allocs;
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
    struct report__paths *paths = &m->out->paths;
    struct chains c = {.row_of = NULL};
    struct report__at at;

    *paths = report__paths_build(&context);
    c.row_of = report__alloc(m->pool, paths->count, sizeof *c.row_of);
    for (uint32_t i = 0; report__next_at(paths, &i, &at);) {
        const enum report__joined_side side =
            report__side_of(m->joined, at.thread);
        struct report__diff_row *row = chain_row(m, &c, at.path);
        add(row, side, &at.allocated);
        row->numbers[MPROF_DIFF_KEPT].numbers[side] +=
            report__count_left(at.allocated, &at.lived->freed).bytes;
        row->numbers[MPROF_DIFF_PEAK].numbers[side] += at.lived->at_peak.bytes;
    }
    add_up(m->out);
}

/* By line */

struct lines {
    struct making *m;
    struct report__dictionary keys;
};

/* The innermost function of SAMPLE, and where it calls. */
static void add_line(void *data, const struct report__sample *sample) {
    struct lines *l = data;
    struct making *m = l->m;
    const struct report__frame *frame = sample->frames;
    const struct report__functions *names = m->joined->names;
    const struct report__pair place = report__frame_place(names, frame->place);
    const char *name = names->list[frame->function].name;
    const enum report__joined_side side =
        report__side_of(m->joined, sample->thread);

    /* Where a function of Lisp was defined does not make it another one. */
    if (place.a > 0 && names->list[frame->function].kind == MPROF_C)
        name = report__format(
            m->pool, "%s:%" PRIu32 "  %s",
            mprof__base_name(names->inlining->places.files[place.a - 1]),
            place.b, name);
    const char *key =
        report__format(m->pool, "%" PRIu32 ":%s", frame->function, name);
    const uint32_t i = report__intern(m->pool, &l->keys, key, m->out->count);
    if (i == m->out->count)
        add_row(m, (struct report__diff_row){.name = name,
                                             .function = frame->function});
    struct report__diff_row *row = &m->out->rows[i];
    add(row, side,
        &(struct mprof_count){sample->numbers[MPROF_NUMBER_ALLOCS],
                              sample->numbers[MPROF_NUMBER_BYTES]});
    row->numbers[MPROF_DIFF_KEPT].numbers[side] +=
        sample->numbers[MPROF_NUMBER_KEPT_BYTES];
    row->numbers[MPROF_DIFF_PEAK].numbers[side] +=
        sample->numbers[MPROF_NUMBER_PEAK_BYTES];
}

static void by_line(struct making *m) {
    struct lines l = {.m = m};
    const struct report__sampling how = {.heap = m->options->heap,
                                         .all_frames = m->options->all_frames,
                                         .depth = 1};

    report__each_sample(
        report__samples_open(m->pool, m->part, m->joined->names, &how),
        add_line, &l);
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
