/* rows.c - see rows.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* qsort_r */
#endif
#include "report/tables/rows.h"

#include "report/graph/own.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/graph/groups.h"

static const struct report__path *path_at(const struct report__rows *l,
                                          uint32_t path) {
    return &l->paths.list[path];
}

/* As many as are asked for; of Lisp as many more as lead to the first function
 * of the program. */
static uint32_t count_frames(const struct report__rows *l, uint32_t path) {
    enum { MOST_MORE = 12 };
    const uint32_t depth = path_at(l, path)->depth;
    bool own = false;
    uint32_t n = 0;

    if (depth <= l->depth)
        return depth;
    for (; n < depth && (n < l->depth || (!own && n < l->depth + MOST_MORE));
         n++, path = path_at(l, path)->caller) {
        const struct report__label *label =
            &l->paths.labels[path_at(l, path)->label];
        own |= label->kind == MPROF_C || !report__is_systems(label->text);
    }
    return own ? n : l->depth;
}

/* The same, counted once for a path. */
static uint32_t shown_frames(const struct report__rows *l, uint32_t path) {
    if (l->frames[path] == 0)
        l->frames[path] = count_frames(l, path);
    return l->frames[path];
}

static bool is_cut(const struct report__rows *l, uint32_t path) {
    return shown_frames(l, path) < path_at(l, path)->depth;
}

static uint32_t hash_path(const struct report__rows *l, uint32_t path) {
    uint32_t hash = 0;
    if (l->depth == UINT32_MAX)
        return path * 0x9e3779b1u;
    for (uint32_t n = shown_frames(l, path); n > 0; n--) {
        hash = (hash ^ path_at(l, path)->label) * 0x9e3779b1u;
        hash ^= hash >> 15;
        path = path_at(l, path)->caller;
    }
    return hash;
}

static bool same_frames(const struct report__rows *l, uint32_t a, uint32_t b) {
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

static void enlarge(struct report__rows *l, struct report__pool *pool) {
    l->slot_count = l->slot_count ? l->slot_count * 2 : 1024;
    l->slots = report__alloc(pool, l->slot_count, sizeof *l->slots);
    for (uint32_t i = 0; i < l->count; i++) {
        uint32_t at = hash_path(l, l->list[i].path) & (l->slot_count - 1);
        while (l->slots[at])
            at = (at + 1) & (l->slot_count - 1);
        l->slots[at] = i + 1;
    }
}

static struct report__row *row_of(struct report__rows *l,
                                  struct report__pool *pool, uint32_t path) {
    if (l->row_of[path])
        return &l->list[l->row_of[path] - 1];
    if (l->count * 2 >= l->slot_count)
        enlarge(l, pool);
    uint32_t at = hash_path(l, path) & (l->slot_count - 1);
    while (l->slots[at] &&
           !same_frames(l, l->list[l->slots[at] - 1].path, path))
        at = (at + 1) & (l->slot_count - 1);
    if (!l->slots[at]) {
        l->list = report__grow(pool, l->list, l->count, &l->capacity,
                               sizeof *l->list);
        l->list[l->count] = (struct report__row){.path = path};
        l->slots[at] = ++l->count;
    }
    l->row_of[path] = l->slots[at];
    return &l->list[l->slots[at] - 1];
}

/* What ROW is sorted by, and then. */
static void measure(struct report__row *row, enum report__measure by,
                    enum report__sort sort) {
    row->kept = report__count_left(row->allocated, &row->freed);
    if (by == MPROF_BY_SORT)
        by = sort == MPROF_SORT_KEPT   ? MPROF_BY_KEPT
             : sort == MPROF_SORT_PEAK ? MPROF_BY_PEAK
                                       : by;
    switch (by) {
    case MPROF_BY_ALIVE:
    case MPROF_BY_KEPT:
        row->main = row->kept.bytes;
        row->second = row->kept.allocs;
        break;
    case MPROF_BY_LOST:
        row->main = row->lost.bytes;
        row->second = row->lost.objects;
        break;
    case MPROF_BY_PEAK:
        row->main = row->at_peak.bytes;
        row->second = row->at_peak.allocs;
        break;
    case MPROF_BY_TEMPORARY:
        row->main = row->temporary;
        row->second = row->allocated.bytes;
        break;
    case MPROF_BY_SORT:
        row->main = row->allocated.bytes;
        row->second = row->allocated.allocs;
        if (sort == MPROF_SORT_ALLOCS) {
            row->main = row->allocated.allocs;
            row->second = row->allocated.bytes;
        }
        break;
    }
}

static bool is_nothing(const struct report__row *row, enum report__measure by) {
    return row->main == 0 && (by == MPROF_BY_TEMPORARY || row->second == 0);
}

static void add_counter(struct report__row *row,
                        const struct report__counter *counter, bool by_ends) {
    const struct report__lived *lived = report__lived(counter);
    report__add_count(&row->allocated, &counter->allocated);
    if (by_ends)
        report__add_count(&row->allocated, &lived->elsewhere);
    report__add_count(&row->freed, &lived->freed);
    report__add_count(&row->at_peak, &lived->at_peak);
    report__add_lost(&row->lost, &lived->lost);
    row->temporary += lived->temporary;
    row->lifetime += lived->lifetime;
}

/* What the runtime keeps, of what is kept through PATH: such rows come last,
 * and no row is small beside them. */
static enum mprof__held held_by_runtime(const struct report__rows *l,
                                        uint32_t path) {
    const struct report__label *label =
        &l->paths.labels[path_at(l, path)->label];
    enum mprof__held held = l->names->list[label->function].held;
    uint32_t caller = path_at(l, path)->caller;

    while (caller != MPROF_NONE && held == MPROF__EXCEPTION_POOL) {
        label = &l->paths.labels[path_at(l, caller)->label];
        if (!l->names->list[label->function].plumbing)
            held = MPROF__NOT_HELD;
        caller = path_at(l, caller)->caller;
    }
    return held;
}

/* The rows where there is something. */
static void fill(struct report__rows *l, struct report__pool *pool,
                 const struct report__profile *profile, enum report__measure by,
                 enum report__sort sort) {
    uint32_t some = 0;

    l->row_of = report__alloc(pool, l->paths.count, sizeof *l->row_of);
    for (uint32_t i = 0; i < profile->counter_count; i++)
        if (l->paths.of_counter[i] != MPROF_NONE)
            add_counter(row_of(l, pool, l->paths.of_counter[i]),
                        &profile->counters[i], l->by_ends);
    for (uint32_t i = 0; i < profile->total_count; i++)
        if (l->paths.of_total[i] != MPROF_NONE)
            report__add_count(&row_of(l, pool, l->paths.of_total[i])->allocated,
                              &profile->totals[i].count);
    for (uint32_t i = 0; i < l->count; i++) {
        measure(&l->list[i], by, sort);
        if (by == MPROF_BY_KEPT)
            l->list[i].held = held_by_runtime(l, l->list[i].path);
        if (!is_nothing(&l->list[i], by))
            l->list[some++] = l->list[i];
    }
    l->count = some;
}

/* By what is printed, from the outermost frame on. */
static int compare_frames(const struct report__rows *l, uint32_t a,
                          uint32_t b) {
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

static int compare_rows(const void *a, const void *b, void *rows) {
    const struct report__row *x = a, *y = b;
    if ((x->held == MPROF__NOT_HELD) != (y->held == MPROF__NOT_HELD))
        return x->held == MPROF__NOT_HELD ? -1 : 1;
    if (x->main != y->main)
        return x->main > y->main ? -1 : 1;
    if (x->second != y->second)
        return x->second > y->second ? -1 : 1;
    int order = compare_frames(rows, x->path, y->path);
    return order ? order : (x->path > y->path) - (x->path < y->path);
}

static enum mprof_function_kind kind_of(const struct report__rows *l,
                                        uint32_t path) {
    return l->paths.labels[path_at(l, path)->label].kind;
}

/* Did the chain have more callers, which are lost? */
static bool lacks_callers(const struct report__rows *l, uint32_t path) {
    if (is_cut(l, path))
        return false;
    while (path_at(l, path)->caller != MPROF_NONE)
        path = path_at(l, path)->caller;
    return kind_of(l, path) == MPROF_FOLDED;
}

/* A part of a path as it is printed: a name, or NULL: functions are left out.
 */
struct report__part_of_path {
    const char *name;
    bool merged;
};

static void add_up(struct report__rows *l, struct report__pool *pool) {
    struct report__row *total = &l->total;
    uint32_t longest = 0;

    for (uint32_t i = 0; i < l->count; i++) {
        const struct report__row *row = &l->list[i];
        report__add_count(&total->allocated, &row->allocated);
        report__add_count(&total->freed, &row->freed);
        report__add_count(&total->kept, &row->kept);
        report__add_count(&total->at_peak, &row->at_peak);
        report__add_lost(&total->lost, &row->lost);
        total->temporary += row->temporary;
        total->lifetime += row->lifetime;
        total->main += row->main;
        if (row->held != MPROF__NOT_HELD)
            l->held[row->held] += row->main;
        if (lacks_callers(l, row->path))
            l->lacking += row->main;
        if (shown_frames(l, row->path) > longest)
            longest = shown_frames(l, row->path);
    }
    l->room = report__alloc(pool, longest, sizeof *l->room);
    l->parts = report__alloc(pool, longest, sizeof *l->parts);
}

/* Leave out those below the limit. */
static void drop_small(struct report__rows *l,
                       enum report__verbosity verbosity) {
    uint32_t count = 0;
    uint64_t all = l->total.main;

    for (unsigned i = 0; i < MPROF__HELD; i++)
        all -= l->held[i];
    for (uint32_t i = 0; i < l->count; i++) {
        if (report__below(l->list[i].main, all, verbosity))
            l->left_out += l->list[i].main;
        else
            l->list[count++] = l->list[i];
    }
    l->left = l->count - count;
    l->count = count;
}

/* Leave out those behind the first MOST. */
static void drop_more(struct report__rows *l, uint32_t most) {
    if (most == 0 || l->count <= most)
        return;
    for (uint32_t i = most; i < l->count; i++)
        l->left_out += l->list[i].main;
    l->more = l->count - most;
    l->count = most;
}

struct report__rows report__rows_make(const struct report__context *c,
                                      enum report__measure by) {
    struct report__rows l = {.names = c->names,
                             .depth = c->depth ? c->depth : UINT32_MAX,
                             .lines = c->lines,
                             .path_width = c->path_width};

    struct report__context of = *c;
    if (by != MPROF_BY_SORT)
        of.heap = by == MPROF_BY_ALIVE ? MPROF_LISP_HEAP : MPROF_C_HEAP;
    of.by_ends = by == MPROF_BY_ALIVE || of.heap == MPROF_C_HEAP;
    l.by_ends = of.by_ends;
    l.sampling = report__sampling(c->part, of.heap);
    l.paths = report__paths_build(&of);
    l.frames = report__alloc(c->pool, l.paths.count, sizeof *l.frames);
    fill(&l, c->pool, c->part, by, c->choice.sort);
    add_up(&l, c->pool);
    l.is_lisp = of.heap == MPROF_LISP_HEAP;
    if (c->path_width > 0)
        l.origins = report__origins(c->pool, c->part, c->names);
    drop_small(&l, c->choice.verbosity);
    if (l.count > 0)
        qsort_r(l.list, l.count, sizeof *l.list, compare_rows, &l);
    drop_more(&l, c->choice.rows);
    return l;
}

void report__print_row_part(FILE *out, int width, const struct report__rows *l,
                            const struct report__row *row, uint64_t part,
                            uint64_t whole) {
    fprintf(out, "%*" PRIu64 " %s", width, part,
            row != &l->total ? report__fraction(part, whole).text : "     ");
}

struct report__grouped report__row_lifetime(const struct report__row *row) {
    uint64_t allocs = row->allocated.allocs;
    unsigned __int128 mean = allocs ? row->lifetime / allocs : 0;
    return report__grouped(mean >> 64 ? UINT64_MAX : (uint64_t)mean);
}

static bool is_own(const struct report__rows *l, uint32_t label) {
    return !l->origins ||
           report__is_own(l->origins[l->paths.labels[label].function],
                          l->is_lisp);
}

/* The frames FIRST to COUNT in l->room as PARTS: where there is little space,
 * the program's own, and of libraries' those that these call.  Returns how
 * many there are. */
static uint32_t choose_parts(const struct report__rows *l, uint32_t first,
                             uint32_t count,
                             struct report__part_of_path *parts) {
    uint32_t n = 0;
    bool any_own = false;

    for (uint32_t i = first; i < count; i++)
        any_own |= is_own(l, l->room[i]);
    for (uint32_t i = first; i < count; i++) {
        const struct report__label *label = &l->paths.labels[l->room[i]];
        if (!any_own || is_own(l, l->room[i]) ||
            (i > first && is_own(l, l->room[i - 1])))
            parts[n++] =
                (struct report__part_of_path){label->text, label->merged};
        else if (n > 0 && parts[n - 1].name)
            parts[n++] = (struct report__part_of_path){NULL, false};
    }
    return n;
}

/* From which one of the COUNT PARTS on they fit; at least the innermost one
 * does. */
static uint32_t first_that_fits(const struct report__rows *l,
                                const struct report__part_of_path *parts,
                                uint32_t count) {
    enum { START = 3, SEPARATOR = 3, SHORTEST = 14 };
    uint32_t columns = START;

    for (uint32_t i = count; l->path_width > 0 && i-- > 0;) {
        const uint32_t width =
            parts[i].name ? report__columns(parts[i].name) : START;
        /* Long names are made shorter. */
        columns += SEPARATOR + (width < SHORTEST ? width : SHORTEST);
        if (columns > l->path_width && i + 1 < count)
            return i + 1;
    }
    return 0;
}

void report__print_row_path(FILE *out, struct report__rows *l,
                            const struct report__row *row) {
    enum mprof_function_kind outermost = MPROF_C;
    uint32_t path = row->path;

    if (row == &l->total) {
        fputs("<TOTAL>\n", out);
        return;
    }
    uint32_t count = shown_frames(l, path);
    bool cut = is_cut(l, path);
    for (uint32_t i = count; i-- > 0; path = path_at(l, path)->caller) {
        l->room[i] = path_at(l, path)->label;
        outermost = kind_of(l, path);
    }
    /* Where the walk was cut there were callers, too. */
    cut |= outermost == MPROF_UNKNOWN || outermost == MPROF_FOLDED;
    const uint32_t parts =
        choose_parts(l, outermost == MPROF_FOLDED, count, l->parts);
    const uint32_t first = first_that_fits(l, l->parts, parts);
    fputs(cut || first > 0 ? "..." : "||", out);
    for (uint32_t i = first; i < parts; i++) {
        fputs(" > ", out);
        if (l->parts[i].name)
            report__print_name(out, l->parts[i].name);
        else
            fputs("...", out);
        l->merged |= l->parts[i].merged;
    }
    putc('\n', out);
}

static void print_notes(FILE *out, const struct report__rows *l,
                        const struct report__choice *choice, const char *what) {
    report__print_left(out, choice, "path", l->left, l->more, l->left_out,
                       what);
    if (l->merged)
        fprintf(out, "a%s: calls from several places in a, recorded together\n",
                l->lines ? " (n,m)" : "+n,m");
    if (l->lacking > 0)
        fprintf(out,
                "of %s of the %s fewer callers are known, as the tree of "
                "chains was full (see above)\n",
                report__grouped(l->lacking).text, what);
}

void report__print_row_table(FILE *out, const struct report__row_table *table,
                             const void *layout, struct report__rows *l,
                             const struct report__choice *choice) {
    report__print_title(out, table->title, l->sampling);
    if (l->count + l->left + l->more > 0) {
        table->print_heading(layout);
        for (uint32_t i = 0; i < l->count; i++)
            table->print_row(layout, l, &l->list[i]);
        table->print_row(layout, l, &l->total);
    } else {
        fprintf(out, "%s\n", table->nothing);
    }
    print_notes(out, l, choice, table->what);
}
