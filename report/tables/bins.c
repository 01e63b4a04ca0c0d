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
    enum report__verbosity verbosity;
    int type_width, allocs_width, objects_width, bytes_width;
    uint64_t total;
    uint32_t left;
    uint64_t left_bytes;
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
    sum->objects.allocs += bin->objects.allocs;
    sum->objects.bytes += bin->objects.bytes;
    sum->storage.allocs += bin->storage.allocs;
    sum->storage.bytes += bin->storage.bytes;
}

uint32_t report__bins_collect(struct report__pool *pool,
                              const struct report__profile *profile,
                              uint32_t thread, struct report__bin **bins) {
    uint32_t count = 0, merged = 0;
    struct report__bin *list =
        report__alloc(pool, profile->bin_count, sizeof *list);

    for (uint32_t i = 0; i < profile->bin_count; i++)
        if (thread == MPROF_ALL_THREADS || profile->bins[i].thread == thread)
            list[count++] = profile->bins[i];
    qsort(list, count, sizeof *list, compare_keys);
    for (uint32_t i = 0; i < count; i++) {
        if (merged > 0 && compare_keys(&list[merged - 1], &list[i]) == 0)
            add_bin(&list[merged - 1], &list[i]);
        else if (allocs(&list[i]) > 0 || bytes(&list[i]) > 0)
            list[merged++] = list[i];
    }
    *bins = list;
    return merged;
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

static bool leave_out(struct layout *l, const struct report__bin *bin) {
    if (!report__below(bytes(bin), l->total, l->verbosity))
        return false;
    l->left++;
    l->left_bytes += bytes(bin);
    return true;
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
    int width =
        fprintf(l->out, "%-*s %*s %*s %*s (%%)   types\n", l->type_width + 5,
                "class: type", l->allocs_width, "allocs", l->objects_width,
                "objects", l->bytes_width, "bytes");
    report__rule(l->out, '-', width - 1);
    putc('\n', l->out);
}

void report__print_bins(FILE *out, const struct report__profile *profile,
                        uint32_t thread, enum report__verbosity verbosity,
                        struct report__pool *pool) {
    struct layout l = {.out = out, .verbosity = verbosity, .type_width = 20};
    struct report__bin total = {0}, classes[MPROF_CLASSES] = {{0}};
    struct report__bin *bins;
    struct group *groups;
    uint32_t count = report__bins_collect(pool, profile, thread, &bins);
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

    fputs("Allocation bins\n\n", out);
    print_heading(&l);
    for (uint32_t i = 0; i < n; i++) {
        enum mprof_class c = groups[i].sum.class_;
        if (i == 0 || groups[i - 1].sum.class_ != c)
            print_class(&l, c, &classes[c]);
        print_group(&l, &groups[i]);
    }
    fprintf(out, "%-*s %*" PRIu64 " %*" PRIu64 " %*" PRIu64 "\n",
            l.type_width + 5, "<TOTAL>", l.allocs_width, allocs(&total),
            l.objects_width, total.objects.allocs, l.bytes_width,
            bytes(&total));
    if (l.left > 0)
        fprintf(out,
                "%s row%s below %s left out: %s bytes in all"
                " (--verbose shows them)\n",
                report__grouped(l.left).text, l.left == 1 ? "" : "s",
                report__limit(verbosity), report__grouped(l.left_bytes).text);
}
