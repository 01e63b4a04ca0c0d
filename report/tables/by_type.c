/* by_type.c - the table of Lisp's types, and of the functions that allocated
 * most of each. */
#define _GNU_SOURCE /* qsort_r */
#include "report/tables/tables.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/graph/lisp_types.h"
#include "report/graph/view.h"

/* Functions of a type that are shown unless it is told. */
enum { FEW = 10 };

/* What a function allocated of a type; or all that is of the type. */
struct row {
    uint32_t type; /* or MPROF_NONE: not known */
    uint32_t function;
    uint64_t allocs, objects, bytes;
};

/* The rows of a type, in their order. */
struct group {
    struct row sum;
    struct row *rows;
    uint32_t count;
};

struct table {
    FILE *out;
    const struct report__choice *choice;
    const struct report__functions *names;
    struct report__lisp_types types;
    struct row *rows, total;
    struct group *groups;
    uint32_t row_count, group_count, thread;
    int bytes_width, allocs_width, objects_width;
};

static void add(struct row *sum, const struct row *row) {
    sum->allocs += row->allocs;
    sum->objects += row->objects;
    sum->bytes += row->bytes;
}

/* COUNT of BIN by FUNCTION. */
static void take(struct table *t, uint32_t bin, bool is_storage,
                 uint32_t function, const struct mprof_count *count) {
    uint32_t type = bin == MPROF_NONE ? MPROF_NONE : t->types.of_bin[bin];

    if (count->allocs > 0 || count->bytes > 0)
        t->rows[t->row_count++] =
            (struct row){type, function, count->allocs,
                         is_storage ? 0 : count->allocs, count->bytes};
}

static bool is_wanted(const struct table *t,
                      const struct report__profile *profile, uint32_t thread) {
    return profile->threads[thread].heap == MPROF_LISP_HEAP &&
           (t->thread == MPROF_ALL_THREADS || t->thread == thread);
}

/* A row for each counter and each total of a function. */
static void take_all(struct table *t, const struct report__profile *p,
                     bool all_frames, struct report__pool *pool) {
    unsigned shown = all_frames ? MPROF_ALL_FRAMES : MPROF_SHOWN_FRAMES;
    struct report__view view =
        report__make_view(pool, p, t->names, MPROF_LISP_HEAP, t->thread,
                          all_frames, t->names->inlining);

    t->rows = report__alloc(pool, (size_t)p->counter_count + p->total_count,
                            sizeof *t->rows);
    for (uint32_t i = 0; i < p->counter_count; i++) {
        const struct report__counter *c = &p->counters[i];
        uint32_t vnode = view.of_node[c->node];
        if (is_wanted(t, p, p->nodes[c->node].thread))
            take(t, c->bin, c->is_storage,
                 vnode == MPROF_NONE ? MPROF_TOP_LEVEL
                                     : view.list[vnode].function,
                 &c->allocated);
    }
    for (uint32_t i = 0; i < p->total_count; i++) {
        const struct report__total *total = &p->totals[i];
        if (total->kind == MPROF_SELF && total->views & shown &&
            is_wanted(t, p, total->thread))
            take(t, total->bin, total->is_storage,
                 total->function == MPROF_TOP_FUNCTION
                     ? MPROF_TOP_LEVEL
                     : t->names->shown[total->function],
                 &total->count);
    }
}

static int compare_keys(const void *a, const void *b) {
    const struct row *x = a, *y = b;
    if (x->type != y->type)
        return x->type < y->type ? -1 : 1;
    return (x->function > y->function) - (x->function < y->function);
}

static uint64_t measure(const struct row *row, const struct table *t) {
    return t->choice->sort == MPROF_SORT_ALLOCS ? row->allocs : row->bytes;
}

static int compare_rows(const void *a, const void *b, void *table) {
    const struct row *x = a, *y = b;
    const struct table *t = table;
    uint64_t m = measure(x, t), n = measure(y, t);
    if (m != n)
        return m > n ? -1 : 1;
    int names = strcmp(t->names->list[x->function].name,
                       t->names->list[y->function].name);
    return names ? names : compare_keys(x, y);
}

static int compare_groups(const void *a, const void *b, void *table) {
    const struct row *x = &((const struct group *)a)->sum;
    const struct row *y = &((const struct group *)b)->sum;
    uint64_t m = measure(x, table), n = measure(y, table);
    if (m != n)
        return m > n ? -1 : 1;
    return (x->type > y->type) - (x->type < y->type);
}

/* Rows of one function and type become one, and those of one type a group. */
static void make_groups(struct table *t, struct report__pool *pool) {
    uint32_t merged = 0;

    if (t->row_count == 0)
        return;
    qsort(t->rows, t->row_count, sizeof *t->rows, compare_keys);
    for (uint32_t i = 1; i < t->row_count; i++)
        if (compare_keys(&t->rows[merged], &t->rows[i]) == 0)
            add(&t->rows[merged], &t->rows[i]);
        else
            t->rows[++merged] = t->rows[i];
    t->row_count = merged + 1;
    t->groups =
        report__alloc(pool, (size_t)t->types.count + 1, sizeof *t->groups);
    for (uint32_t i = 0; i < t->row_count; i++) {
        struct row *row = &t->rows[i];
        if (i == 0 || row[-1].type != row->type)
            t->groups[t->group_count++] =
                (struct group){.sum.type = row->type, .rows = row};
        struct group *group = &t->groups[t->group_count - 1];
        add(&group->sum, row);
        add(&t->total, row);
        group->count++;
    }
    for (uint32_t i = 0; i < t->group_count; i++)
        qsort_r(t->groups[i].rows, t->groups[i].count, sizeof *t->rows,
                compare_rows, t);
    qsort_r(t->groups, t->group_count, sizeof *t->groups, compare_groups, t);
}

static void print_numbers(const struct table *t, const char *percent,
                          const struct row *row) {
    fprintf(t->out, "%s %*" PRIu64 " %*" PRIu64 " %*" PRIu64 "  ", percent,
            t->bytes_width, row->bytes, t->allocs_width, row->allocs,
            t->objects_width, row->objects);
}

static void print_type(const struct table *t, const struct group *group) {
    char percent[16];

    snprintf(percent, sizeof percent, "%5s   ",
             report__tenths(group->sum.bytes, t->total.bytes).text);
    print_numbers(t, percent, &group->sum);
    if (group->sum.type == MPROF_NONE) {
        fputs("<not known>\n", t->out);
        return;
    }
    const struct report__lisp_type *type = &t->types.list[group->sum.type];
    report__print_name(t->out, report__lisp_type_name(type));
    if (type->name) {
        fputs(" (", t->out);
        report__print_name(t->out, type->type);
        putc(')', t->out);
    }
    putc('\n', t->out);
}

static void print_group(const struct table *t, const struct group *group) {
    uint32_t most = t->choice->rows > 0 ? t->choice->rows : FEW, shown = 0;
    struct row rest = {0};
    char percent[16];

    if (t->choice->rows == 0 && t->choice->verbosity == MPROF_VERBOSE)
        most = group->count;
    print_type(t, group);
    for (uint32_t i = 0; i < group->count; i++) {
        const struct row *row = &group->rows[i];
        if (shown == most ||
            report__below(row->bytes, group->sum.bytes, t->choice->verbosity)) {
            add(&rest, row);
            continue;
        }
        shown++;
        snprintf(percent, sizeof percent, "  %5s%%",
                 report__tenths(row->bytes, group->sum.bytes).text);
        print_numbers(t, percent, row);
        fputs("    ", t->out);
        report__print_name(t->out, t->names->list[row->function].name);
        putc('\n', t->out);
    }
    if (shown == group->count)
        return;
    snprintf(percent, sizeof percent, "  %5s%%",
             report__tenths(rest.bytes, group->sum.bytes).text);
    print_numbers(t, percent, &rest);
    fprintf(t->out, "    %s more function%s\n",
            report__grouped(group->count - shown).text,
            group->count - shown == 1 ? "" : "s");
}

static void print_heading(const struct table *t) {
    int width = fprintf(t->out, "%% mem    %*s %*s %*s  type\n", t->bytes_width,
                        "bytes", t->allocs_width, "allocs", t->objects_width,
                        "objects");
    fprintf(t->out, "  %% type %*s      function\n",
            t->bytes_width + t->allocs_width + t->objects_width + 2, "");
    report__rule(t->out, '-', width + 9);
    putc('\n', t->out);
}

void report__print_by_type(struct report__context *c) {
    struct table t = {.out = c->out,
                      .choice = &c->choice,
                      .names = c->names,
                      .types = report__lisp_types(c->pool, c->part),
                      .thread = c->thread};
    uint64_t left_bytes = 0;
    uint32_t left = 0;

    take_all(&t, c->part, c->all_frames, c->pool);
    make_groups(&t, c->pool);
    t.bytes_width = report__larger(10, report__digits(t.total.bytes));
    t.allocs_width = report__larger(9, report__digits(t.total.allocs));
    t.objects_width = report__larger(9, report__digits(t.total.objects));
    fputs("Types by function\n\n", c->out);
    print_heading(&t);
    for (uint32_t i = 0; i < t.group_count; i++) {
        const struct row *sum = &t.groups[i].sum;
        if (report__below(sum->bytes, t.total.bytes, c->choice.verbosity)) {
            left++;
            left_bytes += sum->bytes;
            continue;
        }
        print_group(&t, &t.groups[i]);
    }
    print_numbers(&t, "        ", &t.total);
    fputs("<TOTAL>\n", c->out);
    report__print_left(c->out, &c->choice, "type", left, 0, left_bytes,
                       "bytes");
    fputs("For which callers they did, --type=TYPE tells with --table=graph, "
          "paths or tree.\n",
          c->out);
}
