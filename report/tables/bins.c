/* bins.c - the allocation bin table: types of Lisp, sizes of C. */
#include "report/tables/tables.h"

#include <ctype.h>

static const char *const class_names[MPROF_CLASSES] = {
    "conses", "floats", "structures and vectors", "other"};

struct group {
    const struct report__bin *bins;
    uint32_t count;
    struct report__bin sum;
};

struct layout {
    const struct report__context *c;
    FILE *out;
    int type_width, allocs_width, objects_width, bytes_width;
    bool alive; /* is known: */
    int alive_width, living_width;
    uint64_t total, living; /* bytes, and of these alive */
    struct report__cut cut;
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
    return report__up(x->class_, y->class_) ?: strcmp(x->type, y->type)
               ?: compare_text(x->name, y->name);
}

static int compare_names(const void *a, const void *b) {
    const struct report__bin *x = a, *y = b;
    return report__down(bytes(x), bytes(y)) ?: compare_text(x->name, y->name);
}

static int compare_groups(const void *a, const void *b) {
    const struct report__bin *x = &((const struct group *)a)->sum;
    const struct report__bin *y = &((const struct group *)b)->sum;
    return report__up(x->class_, y->class_) ?: report__down(bytes(x), bytes(y))
               ?: strcmp(x->type, y->type);
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

/* Return the dead objects by bin; objects of the WANTED thread, or of all,
 * whose bin is not known for want of space come last. */
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

uint32_t report__bins_collect(struct report__pool *pool,
                              const struct report__profile *profile,
                              uint32_t thread, struct report__bin **bins,
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
    return report__below(bytes(bin), l->total, l->c->choice.verbosity);
}

/* A class has no more bytes than its type, which comes first: where it is shown
 * that is, too. */
static bool leave_out(struct layout *l, const struct report__bin *bin) {
    return report__leave_out(&l->cut, bytes(bin), is_small(l, bin));
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
    report__cut(&l->cut, list, count, l->c->choice.rows);
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
    report__underline(l->out, width - 1);
}

static void print_lisp_bins(struct report__context *c) {
    struct layout l = {.c = c, .out = c->out, .type_width = 20};
    struct report__bin total = {0}, classes[MPROF_CLASSES] = {{0}};
    struct report__bin *bins;
    struct group *groups;
    struct mprof_count untyped;
    uint32_t count =
        report__bins_collect(c->pool, c->part, c->thread, &bins, &untyped);
    uint32_t n = make_groups(c->pool, bins, count, &groups);

    for (uint32_t i = 0; i < n; i++) {
        add_bin(&total, &groups[i].sum);
        add_bin(&classes[groups[i].sum.class_], &groups[i].sum);
        l.type_width =
            report__larger(l.type_width, (int)strlen(groups[i].sum.type));
    }
    const struct mprof_count alive = living(&total);
    l.total = bytes(&total);
    l.allocs_width = report__width(9, allocs(&total));
    l.objects_width = report__width(9, total.objects.allocs);
    l.bytes_width = report__width(11, l.total);
    l.alive = c->part->alive && !c->is_narrow;
    l.living = alive.bytes;
    l.alive_width = report__width(8, alive.allocs);
    l.living_width = report__width(11, l.living);
    choose(&l, groups, n, count, c->pool);

    report__print_title(c->out, "Allocation bins", c->part->sampling);
    print_heading(&l);
    for (uint32_t i = 0; i < n; i++) {
        enum mprof_class class_ = groups[i].sum.class_;
        if (i == 0 || groups[i - 1].sum.class_ != class_)
            print_class(&l, class_, &classes[class_]);
        print_group(&l, &groups[i]);
    }
    fprintf(c->out, "%-*s %*" PRIu64 " %*" PRIu64 " %*" PRIu64,
            l.type_width + 5, "<TOTAL>", l.allocs_width, allocs(&total),
            l.objects_width, total.objects.allocs, l.bytes_width, l.total);
    if (l.alive)
        fprintf(c->out, "%8s%*" PRIu64 " %*" PRIu64, "", l.alive_width,
                alive.allocs, l.living_width, l.living);
    putc('\n', c->out);
    if (untyped.allocs > 0)
        SAY(c->out,
            "of # dead objects (# bytes) the type is not known: so much less "
            "is alive\n",
            untyped.allocs, untyped.bytes);
    report__print_left(c->out, &c->choice, "row", &l.cut.left, "bytes");
}

/* C: by size */

/* Columns that the types of one size take, unless all are shown. */
#define TYPES_WIDTH 40

struct size_layout {
    const struct report__context *c;
    FILE *out;
    struct report__size_bin total;
    uint64_t kept;
    int allocs_width, bytes_width, frees_width, kept_width;
};

static uint64_t kept_bytes(const struct report__size_bin *bin) {
    return bin->allocated.bytes - bin->freed.bytes;
}

/* While the program runs, frees may be seen before what they free. */
static void clamp(struct report__size_bin *bin) {
    if (bin->freed.allocs > bin->allocated.allocs)
        bin->freed.allocs = bin->allocated.allocs;
    if (bin->freed.bytes > bin->allocated.bytes)
        bin->freed.bytes = bin->allocated.bytes;
}

struct report__size_bin *
report__sizes_collect(struct report__pool *pool,
                      const struct report__profile *profile, uint32_t thread) {
    struct report__size_bin *bins =
        report__alloc(pool, MPROF__SIZE_BINS, sizeof *bins);

    for (uint32_t i = 0; i < profile->size_count; i++) {
        const struct report__size *size = &profile->sizes[i];
        if (thread != MPROF_ALL_THREADS && size->thread != thread)
            continue;
        report__add_count(&bins[size->size].allocated, &size->allocated);
        report__add_count(&bins[size->size].freed, &size->freed);
    }
    for (uint32_t i = 0; i < MPROF__SIZE_BINS; i++)
        clamp(&bins[i]);
    return bins;
}

/* Blank for nothing, as in the paper. */
static void print_fraction(const struct size_layout *l, uint64_t part,
                           uint64_t whole) {
    fprintf(l->out, " %5s", part > 0 ? report__fraction(part, whole).text : "");
}

/* The row of BIN without the end of its line. */
static void print_size_numbers(const struct size_layout *l, const char *size,
                               const struct report__size_bin *bin,
                               bool percents) {
    uint64_t kept = kept_bytes(bin);

    fprintf(l->out, "%7s %*" PRIu64 " %*" PRIu64, size, l->allocs_width,
            bin->allocated.allocs, l->bytes_width, bin->allocated.bytes);
    print_fraction(l, percents ? bin->allocated.bytes : 0,
                   l->total.allocated.bytes);
    fprintf(l->out, " %*" PRIu64 " %*" PRIu64, l->frees_width,
            bin->freed.allocs, l->kept_width, kept);
    if (percents && kept > 0)
        print_fraction(l, kept, l->kept);
}

static void print_types(const struct size_layout *l, uint64_t size, bool kept) {
    uint32_t count, used = 0;
    const char *const *names;

    if (!l->c->types)
        return;
    names = report__types_of_size(l->c->types, size, &count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t length = (uint32_t)strlen(names[i]);
        if (i == 0)
            fputs(kept ? "  " : "        ", l->out);
        if (i > 0 && l->c->choice.verbosity != MPROF_VERBOSE &&
            used + 1 + length > TYPES_WIDTH) {
            fputs(" ...", l->out);
            return;
        }
        if (i > 0)
            putc(' ', l->out);
        report__print_name(l->out, names[i]);
        used += length + (i > 0);
    }
}

static bool is_left_out(const struct size_layout *l,
                        const struct report__size_bin *bin) {
    return report__below(bin->allocated.bytes, l->total.allocated.bytes,
                         l->c->choice.verbosity) &&
           report__below(kept_bytes(bin), l->kept, l->c->choice.verbosity);
}

static void choose_sizes(const struct size_layout *l,
                         const struct report__size_bin *bins,
                         struct report__cut *cut) {
    uint64_t list[MPROF__SIZE_BINS];
    uint32_t count = 0;

    for (uint32_t size = 0; size <= MPROF_LARGEST_BIN; size++)
        if (bins[size].allocated.allocs > 0 && !is_left_out(l, &bins[size]))
            list[count++] = bins[size].allocated.bytes;
    report__cut(cut, list, count, l->c->choice.rows);
}

/* One row a size that occurs and counts, and one for all that are larger. */
static void print_rows(const struct size_layout *l,
                       const struct report__size_bin *bins) {
    struct report__cut cut = {.least = 0};

    choose_sizes(l, bins, &cut);
    for (uint32_t size = 0; size <= MPROF_LARGEST_BIN; size++) {
        const struct report__size_bin *bin = &bins[size];
        if (bin->allocated.allocs == 0 ||
            report__leave_out(&cut, bin->allocated.bytes, is_left_out(l, bin)))
            continue;
        print_size_numbers(l, report__plain(size).text, bin, true);
        print_types(l, size, kept_bytes(bin) > 0);
        putc('\n', l->out);
    }
    print_size_numbers(l, "> 1024", &bins[MPROF_LARGEST_BIN + 1], true);
    putc('\n', l->out);
    print_size_numbers(l, "<TOTAL>", &l->total, false);
    putc('\n', l->out);
    report__print_left(l->out, &l->c->choice, "size", &cut.left, "bytes");
}

static void print_c_heading(const struct size_layout *l) {
    int width =
        fprintf(l->out, "%7s %*s %*s (%%)   %*s %*s (%%)    types\n",
                "size:", l->allocs_width, "allocs", l->bytes_width, "bytes",
                l->frees_width, "frees", l->kept_width, "kept");
    report__underline(l->out, width - 1);
}

static void print_c_bins(struct report__context *c) {
    struct size_layout l = {.c = c, .out = c->out};
    const struct report__size_bin *bins =
        report__sizes_collect(c->pool, c->part, c->thread);

    for (uint32_t i = 0; i < MPROF__SIZE_BINS; i++) {
        report__add_count(&l.total.allocated, &bins[i].allocated);
        report__add_count(&l.total.freed, &bins[i].freed);
    }
    l.kept = kept_bytes(&l.total);
    l.allocs_width = report__width(8, l.total.allocated.allocs);
    l.bytes_width = report__width(11, l.total.allocated.bytes);
    l.frees_width = report__width(8, l.total.freed.allocs);
    l.kept_width = report__width(11, l.kept);

    report__print_title(c->out, "Allocation bins", 0);
    print_c_heading(&l);
    print_rows(&l, bins);
    const char *missing = c->types ? report__types_missing(c->types) : NULL;
    if (missing) {
        putc(toupper((unsigned char)missing[0]), c->out);
        report__print_name(c->out, missing + 1);
        fputs(".\n", c->out);
    }
}

void report__print_bins(struct report__context *c) {
    (c->heap == MPROF_LISP_HEAP ? print_lisp_bins : print_c_bins)(c);
}
