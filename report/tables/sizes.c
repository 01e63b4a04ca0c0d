/* sizes.c - the allocation bin table of C: which sizes were allocated. */
#include "report/tables/tables.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

/* Columns that the types of one size take, unless all are shown. */
#define TYPES_WIDTH 40

struct layout {
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
static void print_fraction(const struct layout *l, uint64_t part,
                           uint64_t whole) {
    fprintf(l->out, " %5s", part > 0 ? report__fraction(part, whole).text : "");
}

/* The row of BIN without the end of its line. */
static void print_numbers(const struct layout *l, const char *size,
                          const struct report__size_bin *bin, bool percents) {
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

static void print_types(const struct layout *l, uint64_t size, bool kept) {
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

static bool is_left_out(const struct layout *l,
                        const struct report__size_bin *bin) {
    return report__below(bin->allocated.bytes, l->total.allocated.bytes,
                         l->c->choice.verbosity) &&
           report__below(kept_bytes(bin), l->kept, l->c->choice.verbosity);
}

static void choose(const struct layout *l, const struct report__size_bin *bins,
                   struct report__cut *cut) {
    uint64_t list[MPROF__SIZE_BINS];
    uint32_t count = 0;

    for (uint32_t size = 0; size <= MPROF_LARGEST_BIN; size++)
        if (bins[size].allocated.allocs > 0 && !is_left_out(l, &bins[size]))
            list[count++] = bins[size].allocated.bytes;
    report__cut(cut, list, count, l->c->choice.rows);
}

/* One row a size that occurs and counts, and one for all that are larger. */
static void print_rows(const struct layout *l,
                       const struct report__size_bin *bins) {
    struct report__cut cut = {.least = 0};

    choose(l, bins, &cut);
    for (uint32_t size = 0; size <= MPROF_LARGEST_BIN; size++) {
        const struct report__size_bin *bin = &bins[size];
        if (bin->allocated.allocs == 0 ||
            report__leave_out(&cut, bin->allocated.bytes, is_left_out(l, bin)))
            continue;
        print_numbers(l, report__plain(size).text, bin, true);
        print_types(l, size, kept_bytes(bin) > 0);
        putc('\n', l->out);
    }
    print_numbers(l, "> 1024", &bins[MPROF_LARGEST_BIN + 1], true);
    putc('\n', l->out);
    print_numbers(l, "<TOTAL>", &l->total, false);
    putc('\n', l->out);
    report__print_left(l->out, &l->c->choice, "size", &cut.left, "bytes");
}

static void print_heading(const struct layout *l) {
    int width =
        fprintf(l->out, "%7s %*s %*s (%%)   %*s %*s (%%)    types\n",
                "size:", l->allocs_width, "allocs", l->bytes_width, "bytes",
                l->frees_width, "frees", l->kept_width, "kept");
    report__underline(l->out, width - 1);
}

void report__print_sizes(struct report__context *c) {
    struct layout l = {.c = c, .out = c->out};
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
    print_heading(&l);
    print_rows(&l, bins);
    const char *missing = c->types ? report__types_missing(c->types) : NULL;
    if (missing) {
        putc(toupper((unsigned char)missing[0]), c->out);
        report__print_name(c->out, missing + 1);
        fputs(".\n", c->out);
    }
}
