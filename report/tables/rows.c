/* rows.c - see rows.h. */
#include "report/tables/rows.h"

#include "report/graph/groups.h"

static const struct report__path *path_at(const struct report__rows *l,
                                          uint32_t path) {
    return &l->paths.list[path];
}

/* Count the frames to show: as many as are asked for; in Lisp as many more as
 * lead to the first function of the program. */
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

static struct report__row *row_of(struct report__rows *l,
                                  struct report__pool *pool, uint32_t path) {
    if (l->row_of[path] == 0) {
        const uint32_t i = report__path_end(pool, &l->ends, &l->paths, path,
                                            shown_frames(l, path));
        if (i == l->count)
            REPORT__PUSH(pool, l->list, l->count, l->capacity,
                         (struct report__row){.path = path});
        l->row_of[path] = i + 1;
    }
    return &l->list[l->row_of[path] - 1];
}

/* Set the keys for sorting ROW. */
static void measure(struct report__row *row, enum report__measure by,
                    enum report__sort sort) {
    static const struct {
        size_t main, second;
    } of[] = {
        [MPROF_BY_KEPT] = {REPORT__OF(kept.bytes), REPORT__OF(kept.allocs)},
        [MPROF_BY_ALIVE] = {REPORT__OF(kept.bytes), REPORT__OF(kept.allocs)},
        [MPROF_BY_LOST] = {REPORT__OF(lost.bytes), REPORT__OF(lost.objects)},
        [MPROF_BY_PEAK] = {REPORT__OF(at_peak.bytes),
                           REPORT__OF(at_peak.allocs)},
        [MPROF_BY_EQUAL] = {REPORT__OF(equal.bytes), REPORT__OF(equal.allocs)},
        [MPROF_BY_TEMPORARY] = {REPORT__OF(temporary),
                                REPORT__OF(allocated.bytes)},
        [MPROF_BY_SORT] = {REPORT__OF(allocated.bytes),
                           REPORT__OF(allocated.allocs)}};

    if (by == MPROF_BY_SORT && sort == MPROF_SORT_KEPT)
        by = MPROF_BY_KEPT;
    if (by == MPROF_BY_SORT && sort == MPROF_SORT_PEAK)
        by = MPROF_BY_PEAK;
    const bool is_swapped = by == MPROF_BY_SORT && sort == MPROF_SORT_ALLOCS;
    row->kept = report__count_left(row->allocated, &row->freed);
    row->indirect = row->lost.objects - row->lost.roots;
    row->main =
        report__row_number(row, is_swapped ? of[by].second : of[by].main);
    row->second =
        report__row_number(row, is_swapped ? of[by].main : of[by].second);
}

static bool is_nothing(const struct report__row *row, enum report__measure by) {
    return row->main == 0 && (by == MPROF_BY_TEMPORARY || row->second == 0);
}

static void add(struct report__row *row, const struct report__at *at) {
    report__add_count(&row->allocated, &at->allocated);
    report__add_count(&row->freed, &at->lived->freed);
    report__add_count(&row->at_peak, &at->lived->at_peak);
    report__add_lost(&row->lost, &at->lived->lost);
    row->temporary += at->lived->temporary;
    row->lifetime += at->lived->lifetime;
}

static void add_equal(struct report__rows *l, struct report__pool *pool,
                      const struct report__equal *equal) {
    const uint32_t path = l->paths.of_counter[equal->counter];

    if (path == MPROF_NONE)
        return;
    struct report__row *row = row_of(l, pool, path);
    report__add_count(&row->compared, &equal->compared);
    report__add_count(&row->equal, &equal->equal);
}

/* Return what the runtime keeps of the blocks kept through PATH: such rows come
 * last, and no row is small beside them. */
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
static void fill(struct report__rows *l, const struct report__context *c,
                 enum report__measure by) {
    struct report__pool *pool = c->pool;
    struct report__at at;
    uint32_t some = 0;

    l->row_of = report__alloc(pool, l->paths.count, sizeof *l->row_of);
    for (uint32_t i = 0; report__next_at(&l->paths, &i, &at);)
        add(row_of(l, pool, at.path), &at);
    for (uint32_t i = 0; by == MPROF_BY_EQUAL && i < c->part->equal_count; i++)
        add_equal(l, pool, &c->part->equals[i]);
    for (uint32_t i = 0; i < l->count; i++) {
        measure(&l->list[i], by, c->choice.sort);
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

    return (x->held != MPROF__NOT_HELD) - (y->held != MPROF__NOT_HELD)
               ?: report__down(x->main, y->main)
               ?: report__down(x->second, y->second)
               ?: compare_frames(rows, x->path, y->path)
               ?: report__up(x->path, y->path);
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
        report__add_count(&total->compared, &row->compared);
        report__add_count(&total->equal, &row->equal);
        total->indirect += row->indirect;
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
            l->left.sum += l->list[i].main;
        else
            l->list[count++] = l->list[i];
    }
    l->left.small = l->count - count;
    l->count = count;
}

/* Leave out those behind the first MOST. */
static void drop_more(struct report__rows *l, uint32_t most) {
    if (most == 0 || l->count <= most)
        return;
    for (uint32_t i = most; i < l->count; i++)
        l->left.sum += l->list[i].main;
    l->left.more = l->count - most;
    l->count = most;
}

struct report__rows report__rows_make(const struct report__context *c,
                                      enum report__measure by) {
    struct report__rows l = {.names = c->names,
                             .depth = c->depth ? c->depth : UINT32_MAX,
                             .path_width = c->path_width};

    const bool is_of_lisp = by == MPROF_BY_ALIVE || by == MPROF_BY_EQUAL;
    struct report__context of = *c;
    if (by != MPROF_BY_SORT)
        of.heap = is_of_lisp ? MPROF_LISP_HEAP : MPROF_C_HEAP;
    of.by_ends = is_of_lisp || of.heap == MPROF_C_HEAP;
    l.by_ends = of.by_ends;
    l.sampling = report__sampling(c->part, of.heap);
    l.paths = report__paths_build(&of);
    l.frames = report__alloc(c->pool, l.paths.count, sizeof *l.frames);
    fill(&l, c, by);
    add_up(&l, c->pool);
    l.is_lisp = of.heap == MPROF_LISP_HEAP;
    if (c->path_width > 0)
        l.origins = report__origins(c->pool, c->part, c->names);
    drop_small(&l, c->choice.verbosity);
    report__sort(l.list, l.count, sizeof *l.list, compare_rows, &l);
    drop_more(&l, c->choice.rows);
    return l;
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
                             uint32_t count, const char **parts) {
    uint32_t n = 0;
    bool any_own = false;

    for (uint32_t i = first; i < count; i++)
        any_own |= is_own(l, l->room[i]);
    for (uint32_t i = first; i < count; i++) {
        if (!any_own || is_own(l, l->room[i]) ||
            (i > first && is_own(l, l->room[i - 1])))
            parts[n++] = l->paths.labels[l->room[i]].text;
        else if (n > 0 && parts[n - 1])
            parts[n++] = NULL;
    }
    return n;
}

/* From which one of the COUNT PARTS on they fit; at least the innermost one
 * does. */
static uint32_t first_that_fits(const struct report__rows *l,
                                const char *const *parts, uint32_t count) {
    enum { START = 3, SEPARATOR = 3, SHORTEST = 14 };
    uint32_t columns = START;

    for (uint32_t i = count; l->path_width > 0 && i-- > 0;) {
        const uint32_t width = parts[i] ? report__columns(parts[i]) : START;
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
        if (l->parts[i])
            report__print_name(out, l->parts[i]);
        else
            fputs("...", out);
    }
    putc('\n', out);
}

void report__print_row_notes(FILE *out, const struct report__rows *l,
                             const struct report__choice *choice,
                             const char *what) {
    report__print_left(out, choice, "path", &l->left, what);
    if (l->lacking > 0)
        fprintf(out,
                "of %s of the %s fewer callers are known, as the tree of "
                "chains was full (see above)\n",
                report__grouped(l->lacking).text, what);
}
