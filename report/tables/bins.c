/* bins.c - the allocation bin table of Lisp: which types were allocated. */
#include "report/tables/tables.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const class_names[MPROF_CLASSES] = {
    "conses", "floats", "structures and vectors", "other"};

struct group {
    const struct report__bin *bins;
    uint32_t count;
    struct report__bin sum;
};

struct layout {
    FILE *out;
    const struct report__choice *choice;
    int type_width, allocs_width, objects_width, bytes_width;
    bool alive; /* is known: */
    int alive_width, living_width;
    uint64_t total, living; /* bytes, and of these alive */
    uint32_t left, more;    /* rows below the limit, and too many */
    uint64_t left_bytes;
    /* Rows of less bytes are too many, and all but so many of as many. */
    uint64_t least;
    uint32_t equal;
};

static uint64_t bytes(const struct report__bin *bin) {
    return bin->objects.bytes + bin->storage.bytes;
}

/* A type without a class of Lisp comes first. */
static int compare_text(const char *a, const char *b) {
    return strcmp(a ? a : "", b ? b : "");
}

static int compare_keys(const void *a, const void *b) {
    const struct report__bin *x = a, *y = b;
    if (x->class_ != y->class_)
        return x->class_ < y->class_ ? -1 : 1;
    int types = strcmp(x->type, y->type);
    return types ? types : compare_text(x->name, y->name);
}

static int compare_names(const void *a, const void *b) {
    const struct report__bin *x = a, *y = b;
    if (bytes(x) != bytes(y))
        return bytes(x) > bytes(y) ? -1 : 1;
    return compare_text(x->name, y->name);
}

static int compare_groups(const void *a, const void *b) {
    const struct report__bin *x = &((const struct group *)a)->sum;
    const struct report__bin *y = &((const struct group *)b)->sum;
    if (x->class_ != y->class_)
        return x->class_ < y->class_ ? -1 : 1;
    if (bytes(x) != bytes(y))
        return bytes(x) > bytes(y) ? -1 : 1;
    return strcmp(x->type, y->type);
}

static uint64_t allocs(const struct report__bin *bin) {
    return bin->objects.allocs + bin->storage.allocs;
}

static void add_bin(struct report__bin *sum, const struct report__bin *bin) {
    report__add_count(&sum->objects, &bin->objects);
    report__add_count(&sum->storage, &bin->storage);
    report__add_count(&sum->dead, &bin->dead);
}

static struct mprof_count living(const struct report__bin *bin) {
    return report__count_left((struct mprof_count){allocs(bin), bytes(bin)},
                              &bin->dead);
}

/* What was found dead, by bin; what the WANTED thread, or all, have without a
 * bin, as there was no room to tell its type, comes last. */
static struct mprof_count *find_dead(struct report__pool *pool,
                                     const struct report__profile *profile,
                                     uint32_t wanted) {
    struct mprof_count *dead =
        report__alloc(pool, profile->bin_count + 1, sizeof *dead);

    for (uint32_t i = 0; profile->alive && i < profile->counter_count; i++) {
        const struct report__counter *counter = &profile->counters[i];
        if (counter->heap == MPROF_LISP_HEAP &&
            (wanted == MPROF_ALL_THREADS ||
             wanted == profile->nodes[counter->node].thread))
            report__add_count(
                &dead[counter->bin != MPROF_NONE ? counter->bin
                                                 : profile->bin_count],
                &report__lived(counter)->freed);
    }
    return dead;
}

/* report__bins_collect(), and what was found dead of types that are not known.
 */
static uint32_t collect(struct report__pool *pool,
                        const struct report__profile *profile, uint32_t thread,
                        struct report__bin **bins,
                        struct mprof_count *untyped) {
    uint32_t count = 0, merged = 0;
    struct report__bin *list =
        report__alloc(pool, profile->bin_count, sizeof *list);
    const struct mprof_count *dead = find_dead(pool, profile, thread);

    for (uint32_t i = 0; i < profile->bin_count; i++) {
        if (thread != MPROF_ALL_THREADS && profile->bins[i].thread != thread)
            continue;
        list[count] = profile->bins[i];
        list[count++].dead = dead[i];
    }
    qsort(list, count, sizeof *list, compare_keys);
    for (uint32_t i = 0; i < count; i++) {
        if (merged > 0 && compare_keys(&list[merged - 1], &list[i]) == 0)
            add_bin(&list[merged - 1], &list[i]);
        else if (allocs(&list[i]) > 0 || bytes(&list[i]) > 0)
            list[merged++] = list[i];
    }
    *bins = list;
    *untyped = dead[profile->bin_count];
    return merged;
}

uint32_t report__bins_collect(struct report__pool *pool,
                              const struct report__profile *profile,
                              uint32_t thread, struct report__bin **bins) {
    struct mprof_count untyped;
    return collect(pool, profile, thread, bins, &untyped);
}

static uint32_t make_groups(struct report__pool *pool, struct report__bin *bins,
                            uint32_t count, struct group **groups) {
    uint32_t n = 0;
    struct group *list = report__alloc(pool, count, sizeof *list);

    for (uint32_t i = 0, end; i < count; i = end) {
        struct group *group = &list[n++];
        group->sum = (struct report__bin){.class_ = bins[i].class_,
                                          .type = bins[i].type};
        for (end = i; end < count && bins[end].class_ == bins[i].class_ &&
                      strcmp(bins[end].type, bins[i].type) == 0;
             end++)
            add_bin(&group->sum, &bins[end]);
        group->bins = &bins[i];
        group->count = end - i;
        qsort(&bins[i], group->count, sizeof *bins, compare_names);
    }
    qsort(list, n, sizeof *list, compare_groups);
    *groups = list;
    return n;
}

static void print_numbers(const struct layout *l,
                          const struct report__bin *bin) {
    fprintf(l->out, " %*" PRIu64 " %*" PRIu64 " %*" PRIu64 " (%s)",
            l->allocs_width, allocs(bin), l->objects_width, bin->objects.allocs,
            l->bytes_width, bytes(bin),
            report__percent(bytes(bin), l->total).text);
    if (!l->alive)
        return;
    const struct mprof_count alive = living(bin);
    fprintf(l->out, " %*" PRIu64 " %*" PRIu64 " (%s)", l->alive_width,
            alive.allocs, l->living_width, alive.bytes,
            report__percent(alive.bytes, l->living).text);
}

static void print_row(const struct layout *l, const char *type,
                      const struct report__bin *bin, const char *name) {
    fputs("     ", l->out);
    report__print_name(l->out, type);
    report__rule(l->out, ' ', l->type_width - (int)strlen(type));
    print_numbers(l, bin);
    if (name) {
        fputs("  ", l->out);
        report__print_name(l->out, name);
    }
    putc('\n', l->out);
}

/* Types are indented below the name of their class. */
static void print_class(const struct layout *l, enum mprof_class c,
                        const struct report__bin *sum) {
    fprintf(l->out, "%c  %-*s", report__class_letters[MPROF_LISP_HEAP][c],
            l->type_width + 2, class_names[c]);
    print_numbers(l, sum);
    putc('\n', l->out);
}

static bool is_small(const struct layout *l, const struct report__bin *bin) {
    return report__below(bytes(bin), l->total, l->choice->verbosity);
}

/* A class has no more bytes than its type, which comes first: where it is shown
 * that is, too. */
static bool leave_out(struct layout *l, const struct report__bin *bin) {
    const uint64_t all = bytes(bin);

    if (is_small(l, bin))
        l->left++;
    else if (all < l->least || (all == l->least && l->equal == 0))
        l->more++;
    else {
        l->equal -= all == l->least;
        return false;
    }
    l->left_bytes += all;
    return true;
}

/* How many bytes the rows have for which there is room. */
static void choose(struct layout *l, const struct group *groups, uint32_t n,
                   uint32_t bins, struct report__pool *pool) {
    uint64_t *list = report__alloc(pool, (size_t)n + bins, sizeof *list);
    uint32_t count = 0;

    for (uint32_t i = 0; i < n; i++) {
        if (is_small(l, &groups[i].sum))
            continue;
        list[count++] = bytes(&groups[i].sum);
        for (uint32_t k = 0; groups[i].count > 1 && k < groups[i].count; k++)
            if (!is_small(l, &groups[i].bins[k]))
                list[count++] = bytes(&groups[i].bins[k]);
    }
    l->least = report__least_of(list, count, l->choice->rows, &l->equal);
}

/* A type, and the classes of its structures or instances below it. */
static void print_group(struct layout *l, const struct group *group) {
    if (leave_out(l, &group->sum))
        return;
    print_row(l, group->sum.type, &group->sum,
              group->count == 1 ? group->bins[0].name : NULL);
    for (uint32_t i = 0; group->count > 1 && i < group->count; i++)
        if (!leave_out(l, &group->bins[i]))
            print_row(l, "", &group->bins[i],
                      group->bins[i].name ? group->bins[i].name : "-");
}

static void print_heading(const struct layout *l) {
    int width = fprintf(l->out, "%-*s %*s %*s %*s (%%)   ", l->type_width + 5,
                        "class: type", l->allocs_width, "allocs",
                        l->objects_width, "objects", l->bytes_width, "bytes");
    if (l->alive)
        width += fprintf(l->out, "%*s %*s (%%)   ", l->alive_width, "alive",
                         l->living_width, "bytes");
    width += fprintf(l->out, "types\n");
    report__rule(l->out, '-', width - 1);
    putc('\n', l->out);
}

void report__print_bins(struct report__context *context) {
    FILE *out = context->out;
    struct report__pool *pool = context->pool;
    struct layout l = {
        .out = out, .choice = &context->choice, .type_width = 20};
    struct report__bin total = {0}, classes[MPROF_CLASSES] = {{0}};
    struct report__bin *bins;
    struct group *groups;
    struct mprof_count untyped;
    uint32_t count =
        collect(pool, context->part, context->thread, &bins, &untyped);
    uint32_t n = make_groups(pool, bins, count, &groups);

    for (uint32_t i = 0; i < n; i++) {
        add_bin(&total, &groups[i].sum);
        add_bin(&classes[groups[i].sum.class_], &groups[i].sum);
        l.type_width =
            report__larger(l.type_width, (int)strlen(groups[i].sum.type));
    }
    l.total = bytes(&total);
    l.allocs_width = report__larger(9, report__digits(allocs(&total)));
    l.objects_width = report__larger(9, report__digits(total.objects.allocs));
    l.bytes_width = report__larger(11, report__digits(bytes(&total)));
    l.alive = context->part->alive;
    l.living = living(&total).bytes;
    l.alive_width = report__larger(8, report__digits(living(&total).allocs));
    l.living_width = report__larger(11, report__digits(l.living));
    choose(&l, groups, n, count, pool);

    report__print_title(out, "Allocation bins", context->part->sampling);
    print_heading(&l);
    for (uint32_t i = 0; i < n; i++) {
        enum mprof_class c = groups[i].sum.class_;
        if (i == 0 || groups[i - 1].sum.class_ != c)
            print_class(&l, c, &classes[c]);
        print_group(&l, &groups[i]);
    }
    fprintf(out, "%-*s %*" PRIu64 " %*" PRIu64 " %*" PRIu64, l.type_width + 5,
            "<TOTAL>", l.allocs_width, allocs(&total), l.objects_width,
            total.objects.allocs, l.bytes_width, bytes(&total));
    if (l.alive)
        fprintf(out, "%8s%*" PRIu64 " %*" PRIu64, "", l.alive_width,
                living(&total).allocs, l.living_width, l.living);
    putc('\n', out);
    if (untyped.allocs > 0)
        fprintf(out,
                "of %s dead objects (%s bytes) the type is not known: so much "
                "less is alive\n",
                report__grouped(untyped.allocs).text,
                report__grouped(untyped.bytes).text);
    report__print_left(out, l.choice, "row", l.left, l.more, l.left_bytes,
                       "bytes");
}
