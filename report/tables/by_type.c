/* by_type.c - the table of Lisp's types, and of the functions that allocated
 * most of each. */
#include "report/tables/tables.h"

#include "report/graph/lisp_types.h"
#include "report/graph/samples.h"

/* Functions of a type that are shown by default. */
enum { FEW = 10 };

/* Allocations of a type by a function, or by all. */
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
    const struct report__context *c;
    FILE *out;
    struct report__lisp_types types;
    struct row *rows, total;
    struct group *groups;
    uint32_t row_count, group_count;
    size_t capacity; /* of rows */
    int bytes_width, allocs_width, objects_width;
};

static void add(struct row *sum, const struct row *row) {
    sum->allocs += row->allocs;
    sum->objects += row->objects;
    sum->bytes += row->bytes;
}

/* A row for each sample, of its innermost function. */
static void take(void *data, const struct report__sample *sample) {
    struct table *t = data;
    const uint64_t allocs = sample->numbers[MPROF_NUMBER_ALLOCS];
    const struct row row = {
        sample->bin == MPROF_NONE ? MPROF_NONE : t->types.of_bin[sample->bin],
        sample->frames->function, allocs, sample->is_storage ? 0 : allocs,
        sample->numbers[MPROF_NUMBER_BYTES]};

    if (t->c->thread == MPROF_ALL_THREADS || t->c->thread == sample->thread)
        REPORT__PUSH(t->c->pool, t->rows, t->row_count, t->capacity, row);
}

static int compare_keys(const void *a, const void *b, void *table) {
    const struct row *x = a, *y = b;

    (void)table;
    return report__up(x->type, y->type) ?: report__up(x->function, y->function);
}

static uint64_t measure(const struct row *row, const struct table *t) {
    return t->c->choice.sort == MPROF_SORT_ALLOCS ? row->allocs : row->bytes;
}

static int compare_rows(const void *a, const void *b, void *table) {
    const struct row *x = a, *y = b;
    const struct report__shown *list = ((struct table *)table)->c->names->list;

    return report__down(measure(x, table), measure(y, table))
               ?: strcmp(list[x->function].name, list[y->function].name)
               ?: compare_keys(x, y, table);
}

static int compare_groups(const void *a, const void *b, void *table) {
    const struct row *x = &((const struct group *)a)->sum;
    const struct row *y = &((const struct group *)b)->sum;

    return report__down(measure(x, table), measure(y, table))
               ?: report__up(x->type, y->type);
}

/* Unite rows of one function and type, and make a group of each type. */
static void make_groups(struct table *t) {
    uint32_t merged = 0;

    if (t->row_count == 0)
        return;
    report__sort(t->rows, t->row_count, sizeof *t->rows, compare_keys, t);
    for (uint32_t i = 1; i < t->row_count; i++)
        if (compare_keys(&t->rows[merged], &t->rows[i], t) == 0)
            add(&t->rows[merged], &t->rows[i]);
        else
            t->rows[++merged] = t->rows[i];
    t->row_count = merged + 1;
    t->groups = report__alloc(t->c->pool, (size_t)t->types.count + 1,
                              sizeof *t->groups);
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
        report__sort(t->groups[i].rows, t->groups[i].count, sizeof *t->rows,
                     compare_rows, t);
    report__sort(t->groups, t->group_count, sizeof *t->groups, compare_groups,
                 t);
}

/* ROW, with its part of WHOLE in percent as FORMAT says; NULL: without. */
static void print_numbers(const struct table *t, const char *before,
                          const char *percent, const char *behind,
                          const struct row *row) {
    fprintf(t->out, "%s%5s%s %*" PRIu64 " %*" PRIu64 " %*" PRIu64 "  ", before,
            percent, behind, t->bytes_width, row->bytes, t->allocs_width,
            row->allocs, t->objects_width, row->objects);
}

static void print_type(const struct table *t, const struct group *group) {
    print_numbers(t, "", report__tenths(group->sum.bytes, t->total.bytes).text,
                  "   ", &group->sum);
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

static void print_function(const struct table *t, const struct row *row,
                           uint64_t whole) {
    print_numbers(t, "  ", report__tenths(row->bytes, whole).text, "%", row);
    fputs("    ", t->out);
}

static void print_group(const struct table *t, const struct group *group) {
    const struct report__choice *choice = &t->c->choice;
    uint32_t most = choice->rows > 0                     ? choice->rows
                    : choice->verbosity == MPROF_VERBOSE ? group->count
                                                         : FEW;
    uint32_t shown = 0;
    struct row rest = {0};

    print_type(t, group);
    for (uint32_t i = 0; i < group->count; i++) {
        const struct row *row = &group->rows[i];
        if (shown == most ||
            report__below(row->bytes, group->sum.bytes, choice->verbosity)) {
            add(&rest, row);
            continue;
        }
        shown++;
        print_function(t, row, group->sum.bytes);
        report__print_name(t->out, t->c->names->list[row->function].name);
        putc('\n', t->out);
    }
    if (shown == group->count)
        return;
    print_function(t, &rest, group->sum.bytes);
    SAY(t->out, "# more function~\n", group->count - shown);
}

static void print_heading(const struct table *t) {
    int width = fprintf(t->out, "%% mem    %*s %*s %*s  type\n", t->bytes_width,
                        "bytes", t->allocs_width, "allocs", t->objects_width,
                        "objects");
    fprintf(t->out, "  %% type %*s      function\n",
            t->bytes_width + t->allocs_width + t->objects_width + 2, "");
    report__underline(t->out, width + 9);
}

void report__print_by_type(struct report__context *c) {
    struct table t = {
        .c = c, .out = c->out, .types = report__lisp_types(c->pool, c->part)};
    const struct report__sampling how = {
        .heap = MPROF_LISP_HEAP, .all_frames = c->all_frames, .depth = 1};
    struct report__left left = {0};

    report__each_sample(report__samples_open(c->pool, c->part, c->names, &how),
                        take, &t);
    make_groups(&t);
    t.bytes_width = report__width(10, t.total.bytes);
    t.allocs_width = report__width(9, t.total.allocs);
    t.objects_width = report__width(9, t.total.objects);
    fputs("Types by function\n\n", c->out);
    print_heading(&t);
    for (uint32_t i = 0; i < t.group_count; i++) {
        const uint64_t bytes = t.groups[i].sum.bytes;
        if (report__below(bytes, t.total.bytes, c->choice.verbosity)) {
            left.small++;
            left.sum += bytes;
        } else {
            print_group(&t, &t.groups[i]);
        }
    }
    print_numbers(&t, "", "", "   ", &t.total);
    fputs("<TOTAL>\n", c->out);
    report__print_left(c->out, &c->choice, "type", &left, "bytes");
    fputs(
        "--type=TYPE with --table=graph, paths or tree shows their callers.\n",
        c->out);
}
