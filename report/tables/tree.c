/* tree.c - the calling context tree: chains as they branch, from the outermost
 * functions down, or from what allocates out to its callers.
 *
 * A branch is a set of paths with a number each: of those of one function that
 * stand below one another in the same way.  From the top it is one path, with
 * all that was allocated below it; inverted it is what is left of the paths
 * that end alike, with what each of them allocated itself.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* qsort_r */
#endif
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/tables/paths.h"

enum { LEVELS = 1000 }; /* inverted, at most */

struct amount {
    uint64_t bytes, allocs;
};

/* A path of a branch, MPROF_NONE where it ends. */
struct entry {
    uint32_t path, label;
    struct amount amount;
};

struct branch {
    uint32_t first, count; /* its entries, or of the top its path */
    uint32_t label;
    struct amount amount;
};

struct tree {
    FILE *out;
    struct report__pool *pool;
    const struct report__context *context;
    struct report__paths paths;
    struct amount *own, total; /* own: by path */
    struct amount *all;        /* from the top: with what is below */
    uint32_t *below, *first;   /* paths by caller; where each one's begin */
    int bytes_width, allocs_width;
    uint32_t lines;      /* that are printed; then the branches that are not: */
    uint32_t left, more; /* below the limit, or too many */
    uint64_t left_bytes;
    uint32_t most; /* of lines */
};

static void add(struct amount *sum, const struct amount *amount) {
    sum->bytes += amount->bytes;
    sum->allocs += amount->allocs;
}

static void add_count(struct amount *sum, const struct mprof_count *count) {
    sum->bytes += count->bytes;
    sum->allocs += count->allocs;
}

static void find_own(struct tree *t, const struct report__profile *profile) {
    t->own = report__alloc(t->pool, t->paths.count, sizeof *t->own);
    for (uint32_t i = 0; i < profile->counter_count; i++)
        if (t->paths.of_counter[i] != MPROF_NONE) {
            struct amount *own = &t->own[t->paths.of_counter[i]];
            const struct report__counter *counter = &profile->counters[i];
            add_count(own, &counter->allocated);
            add_count(own, &report__lived(counter)->elsewhere);
        }
    for (uint32_t i = 0; i < profile->total_count; i++)
        if (t->paths.of_total[i] != MPROF_NONE)
            add_count(&t->own[t->paths.of_total[i]], &profile->totals[i].count);
    for (uint32_t i = 0; i < t->paths.count; i++)
        add(&t->total, &t->own[i]);
}

static uint64_t main_of(const struct tree *t, const struct amount *amount) {
    return t->context->choice.sort == MPROF_SORT_ALLOCS ? amount->allocs
                                                        : amount->bytes;
}

static int compare_amounts(const struct tree *t, const struct amount *a,
                           const struct amount *b) {
    uint64_t x = main_of(t, a), y = main_of(t, b);
    if (x == y)
        return (a->allocs < b->allocs) - (a->allocs > b->allocs);
    return x < y ? 1 : -1;
}

static int compare_branches(const void *a, const void *b, void *tree) {
    const struct branch *x = a, *y = b;
    const struct tree *t = tree;
    int amounts = compare_amounts(t, &x->amount, &y->amount);
    if (amounts != 0)
        return amounts;
    int names =
        strcmp(t->paths.labels[x->label].text, t->paths.labels[y->label].text);
    return names ? names : (x->label > y->label) - (x->label < y->label);
}

/* Whether BRANCH is printed. */
static bool is_shown(struct tree *t, const struct branch *branch) {
    bool is_below =
        report__below(main_of(t, &branch->amount), main_of(t, &t->total),
                      t->context->choice.verbosity);
    if (!is_below && (t->most == 0 || t->lines < t->most))
        return true;
    t->left += is_below;
    t->more += !is_below;
    t->left_bytes += branch->amount.bytes;
    return false;
}

static void print_line(struct tree *t, const struct branch *branch,
                       uint32_t level) {
    fprintf(t->out, "%*" PRIu64 " %s %*" PRIu64 " %s  ", t->bytes_width,
            branch->amount.bytes,
            report__fraction(branch->amount.bytes, t->total.bytes).text,
            t->allocs_width, branch->amount.allocs,
            report__fraction(branch->amount.allocs, t->total.allocs).text);
    report__rule(t->out, ' ', (int)level);
    report__print_name(t->out, t->paths.labels[branch->label].text);
}

/* A branch that has all of what the one before it has stands beside it. */
static bool goes_on(const struct branch *from, const struct branch *kids,
                    uint32_t count) {
    return count == 1 && kids->amount.bytes == from->amount.bytes &&
           kids->amount.allocs == from->amount.allocs;
}

/* From the top */

static int compare_callers(const void *a, const void *b, void *tree) {
    const struct tree *t = tree;
    uint32_t x = t->paths.list[*(const uint32_t *)a].caller + 1;
    uint32_t y = t->paths.list[*(const uint32_t *)b].caller + 1;
    return (x > y) - (x < y);
}

static void find_below(struct tree *t) {
    const uint32_t count = t->paths.count;

    t->all = report__alloc(t->pool, count, sizeof *t->all);
    t->below = report__alloc(t->pool, count, sizeof *t->below);
    t->first = report__alloc(t->pool, (size_t)count + 2, sizeof *t->first);
    for (uint32_t i = count; i-- > 0;) {
        uint32_t caller = t->paths.list[i].caller;
        add(&t->all[i], &t->own[i]);
        if (caller != MPROF_NONE)
            add(&t->all[caller], &t->all[i]);
        t->below[i] = i;
        t->first[caller + 2]++;
    }
    for (uint32_t i = 0; i <= count; i++)
        t->first[i + 1] += t->first[i];
    if (count > 0)
        qsort_r(t->below, count, sizeof *t->below, compare_callers, t);
}

/* The branches below PATH, or all outermost ones, sorted. */
static uint32_t callees(struct tree *t, uint32_t path, struct branch **list) {
    uint32_t at = t->first[path + 1], count = t->first[path + 2] - at;
    uint32_t some = 0;

    *list = report__alloc(t->pool, count, sizeof **list);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t kid = t->below[at + i];
        if (t->all[kid].allocs > 0)
            (*list)[some++] = (struct branch){.first = kid,
                                              .label = t->paths.list[kid].label,
                                              .amount = t->all[kid]};
    }
    if (some > 0)
        qsort_r(*list, some, sizeof **list, compare_branches, t);
    return some;
}

/* Branches of one level that are still to be printed. */
struct level {
    struct branch *list;
    uint32_t count, at;
};

static void print_top(struct tree *t) {
    struct level *levels = NULL;
    size_t room = 0;
    uint32_t depth = 0;

    find_below(t);
    levels = report__grow(t->pool, levels, depth, &room, sizeof *levels);
    levels[0] = (struct level){.at = 0};
    levels[0].count = callees(t, MPROF_NONE, &levels[0].list);
    for (;;) {
        struct level *level = &levels[depth];
        if (level->at == level->count) {
            if (depth-- == 0)
                break;
            continue;
        }
        struct branch branch = level->list[level->at++];
        if (!is_shown(t, &branch))
            continue;
        struct branch *kids;
        uint32_t count;
        t->lines++;
        print_line(t, &branch, depth);
        while (count = callees(t, branch.first, &kids),
               goes_on(&branch, kids, count)) {
            branch = *kids;
            fputs(" > ", t->out);
            report__print_name(t->out, t->paths.labels[branch.label].text);
        }
        putc('\n', t->out);
        levels = report__grow(t->pool, levels, ++depth, &room, sizeof *levels);
        levels[depth] = (struct level){.list = kids, .count = count};
    }
}

/* Inverted */

static int compare_entries(const void *a, const void *b) {
    const struct entry *x = a, *y = b;
    if (x->label != y->label)
        return x->label < y->label ? -1 : 1;
    return (x->path > y->path) - (x->path < y->path);
}

/* Sort the COUNT ENTRIES by label, put those of one path together, and make a
 * branch of each label. */
static uint32_t divide(struct tree *t, struct entry *entries, uint32_t count,
                       struct branch **list) {
    uint32_t n = 0, branches = 0;

    if (count > 0)
        qsort(entries, count, sizeof *entries, compare_entries);
    for (uint32_t i = 0; i < count; i++)
        if (n > 0 && entries[n - 1].path == entries[i].path)
            add(&entries[n - 1].amount, &entries[i].amount);
        else
            entries[n++] = entries[i];
    *list = report__alloc(t->pool, n, sizeof **list);
    for (uint32_t i = 0; i < n; i++) {
        if (branches == 0 || (*list)[branches - 1].label != entries[i].label)
            (*list)[branches++] =
                (struct branch){.first = i, .label = entries[i].label};
        (*list)[branches - 1].count++;
        add(&(*list)[branches - 1].amount, &entries[i].amount);
    }
    if (branches > 0)
        qsort_r(*list, branches, sizeof **list, compare_branches, t);
    return branches;
}

/* The callers of the branch FROM among ENTRIES, in a copy. */
static uint32_t callers(struct tree *t, const struct entry *entries,
                        const struct branch *from, struct entry **copy) {
    uint32_t count = 0;

    *copy = report__alloc(t->pool, from->count, sizeof **copy);
    for (uint32_t i = 0; i < from->count; i++) {
        const struct entry *entry = &entries[from->first + i];
        uint32_t caller = t->paths.list[entry->path].caller;
        if (caller != MPROF_NONE)
            (*copy)[count++] = (struct entry){
                caller, t->paths.list[caller].label, entry->amount};
    }
    return count;
}

static void print_inverted(struct tree *t, struct entry *entries,
                           uint32_t count, uint32_t level) {
    struct branch *list;
    uint32_t branches = divide(t, entries, count, &list);

    for (uint32_t i = 0; i < branches; i++) {
        struct report__pool mark = *t->pool;
        struct branch branch = list[i], *kids;
        struct entry *of = entries, *copy;
        uint32_t n, more, depth = level;
        if (!is_shown(t, &branch))
            continue;
        t->lines++;
        print_line(t, &branch, level);
        while (n = callers(t, of, &branch, &copy),
               more = divide(t, copy, n, &kids),
               ++depth < LEVELS && goes_on(&branch, kids, more)) {
            branch = *kids;
            of = copy;
            fputs(" < ", t->out);
            report__print_name(t->out, t->paths.labels[branch.label].text);
        }
        fputs(depth < LEVELS || n == 0 ? "\n" : " < ...\n", t->out);
        if (depth < LEVELS)
            print_inverted(t, copy, n, level + 1);
        report__pool_release(t->pool, &mark);
    }
}

static void print_all_inverted(struct tree *t) {
    struct entry *entries =
        report__alloc(t->pool, t->paths.count, sizeof *entries);
    uint32_t count = 0;

    for (uint32_t i = 0; i < t->paths.count; i++)
        if (t->own[i].allocs > 0)
            entries[count++] =
                (struct entry){i, t->paths.list[i].label, t->own[i]};
    print_inverted(t, entries, count, 0);
}

static void print_heading(const struct tree *t) {
    int width = fprintf(t->out, "%*s (%%)   %*s (%%)    %s\n", t->bytes_width,
                        "bytes", t->allocs_width, "allocs",
                        t->context->inverted ? "allocator < callers"
                                             : "caller > called");
    report__rule(t->out, '-', width + 26);
    putc('\n', t->out);
}

void report__print_tree(struct report__context *c) {
    struct tree t = {
        .out = c->out, .pool = c->pool, .context = c, .most = c->choice.rows};

    t.paths = report__paths_build(c);
    find_own(&t, c->part);
    t.bytes_width = report__larger(10, report__digits(t.total.bytes));
    t.allocs_width = report__larger(8, report__digits(t.total.allocs));
    report__print_title(c->out, "Calling context tree",
                        report__sampling(c->part, c->heap));
    print_heading(&t);
    (c->inverted ? print_all_inverted : print_top)(&t);
    fprintf(c->out, "%*" PRIu64 "       %*" PRIu64 "        <TOTAL>\n",
            t.bytes_width, t.total.bytes, t.allocs_width, t.total.allocs);
    report__print_left(c->out, &c->choice, "context", t.left, t.more,
                       t.left_bytes, "bytes");
}
