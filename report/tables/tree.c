/* tree.c - the calling context tree: chains as they branch, from the outermost
 * functions down, or from what allocates out to its callers.
 *
 * A branch is a set of paths of one function, with a number each.  From the top
 * it is one path, with all allocations below it.  Inverted it is the rest of
 * the paths that end alike, with the allocations of each path itself.
 */

#include "report/tables/paths.h"

enum { LEVELS = 1000 }; /* inverted, at most */

/* A path of a branch, MPROF_NONE where it ends. */
struct entry {
    uint32_t path, label;
    struct mprof_count amount;
};

struct branch {
    uint32_t first, count; /* its entries, or of the top its path */
    uint32_t label;
    struct mprof_count amount;
};

struct tree {
    FILE *out;
    struct report__pool *pool;
    const struct report__context *context;
    struct report__paths paths;
    struct mprof_count *own, total; /* own: by path */
    struct mprof_count *all;        /* from the top: with what is below */
    uint32_t *below, *first; /* paths by caller; where each one's begin */
    int bytes_width, allocs_width;
    uint32_t lines; /* that are printed; then the branches that are not: */
    struct report__left left;
    uint32_t most; /* of lines */
};

static void find_own(struct tree *t) {
    struct report__at at;

    t->own = report__alloc(t->pool, t->paths.count, sizeof *t->own);
    for (uint32_t i = 0; report__next_at(&t->paths, &i, &at);) {
        report__add_count(&t->own[at.path], &at.allocated);
        report__add_count(&t->total, &at.allocated);
    }
}

static uint64_t main_of(const struct tree *t,
                        const struct mprof_count *amount) {
    return t->context->choice.sort == MPROF_SORT_ALLOCS ? amount->allocs
                                                        : amount->bytes;
}

static int compare_branches(const void *a, const void *b, void *tree) {
    const struct branch *x = a, *y = b;
    const struct report__label *labels = ((struct tree *)tree)->paths.labels;

    return report__down(main_of(tree, &x->amount), main_of(tree, &y->amount))
               ?: report__down(x->amount.allocs, y->amount.allocs)
               ?: strcmp(labels[x->label].text, labels[y->label].text)
               ?: report__up(x->label, y->label);
}

/* Whether BRANCH is printed. */
static bool is_shown(struct tree *t, const struct branch *branch) {
    bool is_below =
        report__below(main_of(t, &branch->amount), main_of(t, &t->total),
                      t->context->choice.verbosity);
    if (!is_below && (t->most == 0 || t->lines < t->most))
        return true;
    t->left.small += is_below;
    t->left.more += !is_below;
    t->left.sum += branch->amount.bytes;
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

/* A branch that has all of its parent's bytes is printed beside it. */
static bool goes_on(const struct branch *from, const struct branch *kids,
                    uint32_t count) {
    return count == 1 && kids->amount.bytes == from->amount.bytes &&
           kids->amount.allocs == from->amount.allocs;
}

/* From the top */

static int compare_callers(const void *a, const void *b, void *tree) {
    const struct report__path *list = ((const struct tree *)tree)->paths.list;

    return report__up(list[*(const uint32_t *)a].caller + 1,
                      list[*(const uint32_t *)b].caller + 1);
}

static void find_below(struct tree *t) {
    const uint32_t count = t->paths.count;

    t->all = report__alloc(t->pool, count, sizeof *t->all);
    t->below = report__alloc(t->pool, count, sizeof *t->below);
    t->first = report__alloc(t->pool, (size_t)count + 2, sizeof *t->first);
    for (uint32_t i = count; i-- > 0;) {
        uint32_t caller = t->paths.list[i].caller;
        report__add_count(&t->all[i], &t->own[i]);
        if (caller != MPROF_NONE)
            report__add_count(&t->all[caller], &t->all[i]);
        t->below[i] = i;
        t->first[caller + 2]++;
    }
    for (uint32_t i = 0; i <= count; i++)
        t->first[i + 1] += t->first[i];
    report__sort(t->below, count, sizeof *t->below, compare_callers, t);
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
    report__sort(*list, some, sizeof **list, compare_branches, t);
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

static int compare_entries(const void *a, const void *b, void *tree) {
    const struct entry *x = a, *y = b;

    (void)tree;
    return report__up(x->label, y->label) ?: report__up(x->path, y->path);
}

/* Sort the COUNT ENTRIES by label, unite entries of one path, and make a branch
 * of each label. */
static uint32_t divide(struct tree *t, struct entry *entries, uint32_t count,
                       struct branch **list) {
    uint32_t n = 0, branches = 0;

    report__sort(entries, count, sizeof *entries, compare_entries, t);
    for (uint32_t i = 0; i < count; i++)
        if (n > 0 && entries[n - 1].path == entries[i].path)
            report__add_count(&entries[n - 1].amount, &entries[i].amount);
        else
            entries[n++] = entries[i];
    *list = report__alloc(t->pool, n, sizeof **list);
    for (uint32_t i = 0; i < n; i++) {
        if (branches == 0 || (*list)[branches - 1].label != entries[i].label)
            (*list)[branches++] =
                (struct branch){.first = i, .label = entries[i].label};
        (*list)[branches - 1].count++;
        report__add_count(&(*list)[branches - 1].amount, &entries[i].amount);
    }
    report__sort(*list, branches, sizeof **list, compare_branches, t);
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
    report__underline(t->out, width + 26);
}

void report__print_tree(struct report__context *c) {
    struct tree t = {
        .out = c->out, .pool = c->pool, .context = c, .most = c->choice.rows};

    t.paths = report__paths_build(c);
    find_own(&t);
    t.bytes_width = report__width(10, t.total.bytes);
    t.allocs_width = report__width(8, t.total.allocs);
    report__print_title(c->out, "Calling context tree",
                        report__sampling(c->part, c->heap));
    print_heading(&t);
    (c->inverted ? print_all_inverted : print_top)(&t);
    fprintf(c->out, "%*" PRIu64 "       %*" PRIu64 "        <TOTAL>\n",
            t.bytes_width, t.total.bytes, t.allocs_width, t.total.allocs);
    report__print_left(c->out, &c->choice, "context", &t.left, "bytes");
}
