/* leaks.c - the memory leak table: by which paths memory was kept. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* qsort_r */
#endif
#include "report/tables/tables.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/tables/paths.h"

/* All paths that end in the same frames, as many as are shown. */
struct row {
    uint32_t path; /* one of them */
    struct mprof_count allocated, freed, kept;
};

struct leaks {
    struct report__paths paths;
    uint32_t depth; /* frames shown at most; UINT32_MAX: all */
    struct row *rows;
    uint32_t count;
    size_t capacity;
    uint32_t *slots; /* rows by hash, plus 1; at most half full */
    uint32_t slot_count;
    uint32_t *row_of; /* by path: its row plus 1 */
};

struct layout {
    FILE *out;
    const struct report__functions *names;
    int kept_width, allocs_width, bytes_width, frees_width, freed_width;
    bool frees;       /* whether there are columns for them */
    struct row total; /* of all rows, shown or not */
    uint64_t lacking; /* bytes kept by rows with fewer callers than asked for */
    bool merged;      /* a label was printed that needs explaining */
    uint32_t *labels; /* room for the longest path */
};

static const struct report__path *path_at(const struct leaks *l,
                                          uint32_t path) {
    return &l->paths.list[path];
}

static bool is_cut(const struct leaks *l, uint32_t path) {
    return path_at(l, path)->depth > l->depth;
}

static uint32_t shown_frames(const struct leaks *l, uint32_t path) {
    return is_cut(l, path) ? l->depth : path_at(l, path)->depth;
}

static uint32_t hash_path(const struct leaks *l, uint32_t path) {
    uint32_t hash = is_cut(l, path);
    if (l->depth == UINT32_MAX)
        return path * 0x9e3779b1u;
    for (uint32_t n = shown_frames(l, path); n > 0; n--) {
        hash = (hash ^ path_at(l, path)->label) * 0x9e3779b1u;
        hash ^= hash >> 15;
        path = path_at(l, path)->caller;
    }
    return hash;
}

static bool same_frames(const struct leaks *l, uint32_t a, uint32_t b) {
    if (is_cut(l, a) != is_cut(l, b) ||
        shown_frames(l, a) != shown_frames(l, b))
        return false;
    for (uint32_t n = shown_frames(l, a); n > 0 && a != b; n--) {
        if (path_at(l, a)->label != path_at(l, b)->label)
            return false;
        a = path_at(l, a)->caller;
        b = path_at(l, b)->caller;
    }
    return true;
}

static void enlarge(struct leaks *l, struct report__pool *pool) {
    l->slot_count = l->slot_count ? l->slot_count * 2 : 1024;
    l->slots = report__alloc(pool, l->slot_count, sizeof *l->slots);
    for (uint32_t i = 0; i < l->count; i++) {
        uint32_t at = hash_path(l, l->rows[i].path) & (l->slot_count - 1);
        while (l->slots[at])
            at = (at + 1) & (l->slot_count - 1);
        l->slots[at] = i + 1;
    }
}

static struct row *row_of(struct leaks *l, struct report__pool *pool,
                          uint32_t path) {
    if (l->row_of[path])
        return &l->rows[l->row_of[path] - 1];
    if (l->count * 2 >= l->slot_count)
        enlarge(l, pool);
    uint32_t at = hash_path(l, path) & (l->slot_count - 1);
    while (l->slots[at] &&
           !same_frames(l, l->rows[l->slots[at] - 1].path, path))
        at = (at + 1) & (l->slot_count - 1);
    if (!l->slots[at]) {
        l->rows = report__grow(pool, l->rows, l->count, &l->capacity,
                               sizeof *l->rows);
        l->rows[l->count] = (struct row){.path = path};
        l->slots[at] = ++l->count;
    }
    l->row_of[path] = l->slots[at];
    return &l->rows[l->slots[at] - 1];
}

static void add_count(struct mprof_count *sum, const struct mprof_count *n) {
    sum->allocs += n->allocs;
    sum->bytes += n->bytes;
}

/* While the program runs, frees may be seen before what they free. */
static struct mprof_count difference(const struct mprof_count *a,
                                     const struct mprof_count *b) {
    return (struct mprof_count){a->allocs > b->allocs ? a->allocs - b->allocs
                                                      : 0,
                                a->bytes > b->bytes ? a->bytes - b->bytes : 0};
}

/* The rows where something was kept. */
static void make_rows(struct leaks *l, struct report__pool *pool,
                      const struct report__profile *profile) {
    uint32_t kept = 0;

    l->row_of = report__alloc(pool, l->paths.count, sizeof *l->row_of);
    for (uint32_t i = 0; i < profile->counter_count; i++) {
        const struct report__counter *counter = &profile->counters[i];
        if (l->paths.of_counter[i] == MPROF_NONE)
            continue;
        struct row *row = row_of(l, pool, l->paths.of_counter[i]);
        add_count(&row->allocated, &counter->allocated);
        add_count(&row->allocated, &counter->elsewhere);
        add_count(&row->freed, &counter->freed);
    }
    for (uint32_t i = 0; i < l->count; i++) {
        struct row *row = &l->rows[i];
        row->kept = difference(&row->allocated, &row->freed);
        if (row->kept.allocs > 0 || row->kept.bytes > 0)
            l->rows[kept++] = *row;
    }
    l->count = kept;
}

/* By what is printed, from the outermost frame on. */
static int compare_frames(const struct leaks *l, uint32_t a, uint32_t b) {
    uint32_t m = shown_frames(l, a), n = shown_frames(l, b);
    uint32_t both = m < n ? m : n;
    int order = 0;

    if (is_cut(l, a) != is_cut(l, b))
        return is_cut(l, a) ? -1 : 1;
    for (uint32_t i = both; i < m; i++)
        a = path_at(l, a)->caller;
    for (uint32_t i = both; i < n; i++)
        b = path_at(l, b)->caller;
    for (; both > 0 && a != b; both--) {
        uint32_t x = path_at(l, a)->label, y = path_at(l, b)->label;
        int texts =
            x == y ? 0
                   : strcmp(l->paths.labels[x].text, l->paths.labels[y].text);
        if (texts)
            order = texts;
        a = path_at(l, a)->caller;
        b = path_at(l, b)->caller;
    }
    return order ? order : (m > n) - (m < n);
}

static int compare_rows(const void *a, const void *b, void *leaks) {
    const struct row *x = a, *y = b;
    if (x->kept.bytes != y->kept.bytes)
        return x->kept.bytes > y->kept.bytes ? -1 : 1;
    if (x->kept.allocs != y->kept.allocs)
        return x->kept.allocs > y->kept.allocs ? -1 : 1;
    int order = compare_frames(leaks, x->path, y->path);
    return order ? order : (x->path > y->path) - (x->path < y->path);
}

static int larger(int a, int b) {
    return a > b ? a : b;
}

static enum mprof_function_kind kind_of(const struct leaks *l,
                                        const struct report__functions *names,
                                        uint32_t path) {
    uint32_t label = path_at(l, path)->label;
    return names->list[l->paths.labels[label].function].kind;
}

/* Did the chain have more callers, which are lost? */
static bool lacks_callers(const struct leaks *l,
                          const struct report__functions *names,
                          uint32_t path) {
    if (is_cut(l, path))
        return false;
    while (path_at(l, path)->caller != MPROF_NONE)
        path = path_at(l, path)->caller;
    return kind_of(l, names, path) == MPROF_FOLDED;
}

static struct layout make_layout(FILE *out, const struct leaks *l,
                                 const struct report__functions *names,
                                 struct report__pool *pool) {
    struct layout layout = {.out = out, .names = names};
    struct row *total = &layout.total;
    uint32_t longest = 0;

    for (uint32_t i = 0; i < l->count; i++) {
        const struct row *row = &l->rows[i];
        add_count(&total->allocated, &row->allocated);
        add_count(&total->freed, &row->freed);
        add_count(&total->kept, &row->kept);
        if (lacks_callers(l, names, row->path))
            layout.lacking += row->kept.bytes;
        if (shown_frames(l, row->path) > longest)
            longest = shown_frames(l, row->path);
    }
    layout.frees = total->freed.allocs > 0;
    layout.kept_width = larger(10, report__digits(total->kept.bytes));
    layout.allocs_width = larger(8, report__digits(total->allocated.allocs));
    layout.bytes_width = larger(10, report__digits(total->allocated.bytes));
    layout.frees_width = larger(8, report__digits(total->freed.allocs));
    layout.freed_width = larger(10, report__digits(total->freed.bytes));
    layout.labels = report__alloc(pool, longest, sizeof *layout.labels);
    return layout;
}

static void print_heading(const struct layout *l) {
    int width = fprintf(l->out, "%*s (%%)   %*s %*s (%%)  ", l->kept_width,
                        "kept bytes", l->allocs_width, "allocs", l->bytes_width,
                        "bytes");
    if (l->frees)
        width += fprintf(l->out, " %*s %*s (%%)  ", l->frees_width, "frees",
                         l->freed_width, "bytes");
    fputs(" path\n", l->out);
    report__rule(l->out, '-', width + 32);
    putc('\n', l->out);
}

/* PART in parentheses as a percentage of WHOLE, or blanks in its place. */
static struct report__fraction share(uint64_t part, uint64_t whole,
                                     bool wanted) {
    return wanted ? report__fraction(part, whole)
                  : (struct report__fraction){"     "};
}

static void print_numbers(const struct layout *l, const struct row *row) {
    const struct row *total = &l->total;
    bool part = row != total;

    fprintf(l->out, "%*" PRIu64 " %s %*" PRIu64 " %*" PRIu64 " %s",
            l->kept_width, row->kept.bytes,
            share(row->kept.bytes, total->kept.bytes, part).text,
            l->allocs_width, row->allocated.allocs, l->bytes_width,
            row->allocated.bytes,
            share(row->allocated.bytes, total->allocated.bytes, part).text);
    if (l->frees && row->freed.allocs > 0)
        fprintf(l->out, " %*" PRIu64 " %*" PRIu64 " %s", l->frees_width,
                row->freed.allocs, l->freed_width, row->freed.bytes,
                share(row->freed.bytes, total->freed.bytes, part).text);
    else if (l->frees)
        report__rule(l->out, ' ', l->frees_width + l->freed_width + 8);
    fputs("  ", l->out);
}

static void print_path(struct layout *l, const struct leaks *leaks,
                       uint32_t path) {
    uint32_t count = shown_frames(leaks, path), first = 0;
    bool cut = is_cut(leaks, path);
    enum mprof_function_kind outermost = MPROF_C;

    for (uint32_t i = count; i-- > 0; path = path_at(leaks, path)->caller) {
        l->labels[i] = path_at(leaks, path)->label;
        outermost = kind_of(leaks, l->names, path);
    }
    /* Where the walk was cut there were callers, too. */
    cut |= outermost == MPROF_UNKNOWN || outermost == MPROF_FOLDED;
    first = outermost == MPROF_FOLDED;
    fputs(cut ? "..." : "||", l->out);
    for (uint32_t i = first; i < count; i++) {
        const struct report__label *label = &leaks->paths.labels[l->labels[i]];
        fputs(" > ", l->out);
        report__print_name(l->out, label->text);
        l->merged |= label->merged;
    }
    putc('\n', l->out);
}

static void print_notes(const struct layout *l,
                        const struct report__profile *profile) {
    if (l->merged)
        fputs("a+n,m: calls from several places in a, recorded together\n",
              l->out);
    if (l->lacking > 0)
        fprintf(l->out,
                "of %s of the bytes kept fewer callers are known, as the tree "
                "of chains was full (see above)\n",
                report__grouped(l->lacking).text);
    if (profile->untracked_allocs > 0)
        fprintf(l->out,
                "what became of %s allocation%s (%s bytes) is not known: the "
                "table may list objects that were freed\n",
                report__grouped(profile->untracked_allocs).text,
                profile->untracked_allocs == 1 ? "" : "s",
                report__grouped(profile->untracked_bytes).text);
    if (profile->unplaced_frees > 0)
        fprintf(l->out,
                "%s free%s (%s bytes) could not be counted with what %s: the "
                "table may list objects that were freed\n",
                report__grouped(profile->unplaced_frees).text,
                profile->unplaced_frees == 1 ? "" : "s",
                report__grouped(profile->unplaced_freed_bytes).text,
                profile->unplaced_frees == 1 ? "it freed" : "they freed");
}

/* Rows below the limit, which are left out. */
static uint32_t drop_small(struct leaks *l, const struct layout *layout,
                           enum report__verbosity verbosity, uint64_t *bytes) {
    uint32_t count = 0, left;

    for (uint32_t i = 0; i < l->count; i++) {
        if (report__below(l->rows[i].kept.bytes, layout->total.kept.bytes,
                          verbosity))
            *bytes += l->rows[i].kept.bytes;
        else
            l->rows[count++] = l->rows[i];
    }
    left = l->count - count;
    l->count = count;
    return left;
}

void report__print_leaks(FILE *out, const struct report__profile *profile,
                         const struct report__functions *names, uint32_t thread,
                         const struct report__leak_options *options,
                         struct report__pool *pool) {
    struct leaks l = {.depth = options->depth ? options->depth : UINT32_MAX};
    uint64_t left_bytes = 0;

    l.paths = report__paths_build(pool, profile, names, thread, options);
    make_rows(&l, pool, profile);
    struct layout layout = make_layout(out, &l, names, pool);
    bool kept = l.count > 0;
    uint32_t left = drop_small(&l, &layout, options->verbosity, &left_bytes);
    if (l.count > 0)
        qsort_r(l.rows, l.count, sizeof *l.rows, compare_rows, &l);

    fputs("Memory leaks\n\n", out);
    if (kept) {
        print_heading(&layout);
        for (uint32_t i = 0; i < l.count; i++) {
            print_numbers(&layout, &l.rows[i]);
            print_path(&layout, &l, l.rows[i].path);
        }
        print_numbers(&layout, &layout.total);
        fputs("<TOTAL>\n", out);
    } else {
        fputs("Nothing was kept: every recorded object was freed.\n", out);
    }
    if (left > 0)
        fprintf(out,
                "%s path%s below %s left out: %s bytes in all"
                " (--verbose shows them)\n",
                report__grouped(left).text, left == 1 ? "" : "s",
                report__limit(options->verbosity),
                report__grouped(left_bytes).text);
    print_notes(&layout, profile);
}
