/* kept_by.c - what keeps live objects alive: steps from a root inwards, with
 * all bytes that would be free without each, and the chains that allocated
 * them. */

#include "report/tables/paths.h"

/* A step, or, below one, what a chain allocated of its objects. */
struct branch {
    uint32_t keeper; /* or MPROF_NONE */
    uint32_t path;   /* its chain */
    struct mprof_count all;
};

struct kept_by {
    FILE *out;
    struct report__pool *pool;
    const struct report__context *context;
    const struct report__profile *part;
    struct report__paths paths;
    struct mprof_count *all, total; /* all: by keeper */
    struct mprof_count strange;     /* not recorded, and in no row */
    /* By keeper: which one it is united with, or itself; and what keeps it. */
    uint32_t *united, *outer;
    /* By keeper, and MPROF_NONE first: where its steps and holdings begin in
     * the lists, which have them one after the other. */
    uint32_t *first_step, *steps, *first_holding, *holdings;
    int bytes_width, objects_width;
    uint32_t depth;         /* functions of a chain */
    struct report__cut cut; /* which lines are printed */
    bool is_list;           /* they are not, but become */
    struct report__kept_row *rows;
    uint32_t row_count;
    size_t row_room;
};

static bool is_of_heap(const struct kept_by *k, uint32_t keeper) {
    return k->part->keepers[keeper].heap == k->context->heap;
}

/* Where the path of HOLDING ends; MPROF_NONE: it is not of this heap. */
static uint32_t path_of(const struct kept_by *k, uint32_t holding) {
    return k->paths.of_counter[k->part->holdings[holding].counter];
}

/* Unite steps of C that have equal innermost functions and sizes: steps in one
 * step, and a step with one further out, as in a recursion.  The monitor has
 * one for each chain. */
static void unite(struct kept_by *k) {
    const struct report__profile *p = k->part;
    struct report__ends ends = {0};
    struct report__pairs kinds = {0}, pairs = {0};
    uint32_t *end = report__alloc(k->pool, p->keeper_count, sizeof *end);
    uint32_t *first = report__alloc(k->pool, p->keeper_count, sizeof *first);

    k->united = report__alloc(k->pool, p->keeper_count, sizeof *k->united);
    k->outer = report__alloc(k->pool, p->keeper_count, sizeof *k->outer);
    for (uint32_t i = 0; i < p->keeper_count; i++) {
        const uint32_t counter = p->keepers[i].counter;
        const uint32_t path =
            counter == MPROF_NONE ? MPROF_NONE : k->paths.of_counter[counter];
        uint32_t outer = p->keepers[i].outer;
        outer = outer == MPROF_NONE ? MPROF_NONE : k->united[outer];
        k->united[i] = i;
        k->outer[i] = outer;
        if (path == MPROF_NONE)
            continue;
        end[i] =
            1 + report__pair_number(
                    k->pool, &kinds,
                    report__path_end(k->pool, &ends, &k->paths, path, k->depth),
                    p->keepers[i].each);
        const uint32_t number =
            report__pair_number(k->pool, &pairs, outer + 1, end[i]);
        if (first[number] == 0)
            first[number] = i + 1;
        k->united[i] = first[number] - 1;
        for (; outer != MPROF_NONE && end[outer] != 0; outer = k->outer[outer])
            if (end[outer] == end[i])
                k->united[i] = outer;
    }
}

/* A list of COUNT numbers in the order of their owners, and where each one's
 * begin. */
static uint32_t *group(struct report__pool *pool, const uint32_t *owner,
                       uint32_t count, uint32_t owners, uint32_t **first) {
    uint32_t *list = report__alloc(pool, count, sizeof *list);

    *first = report__alloc(pool, (size_t)owners + 1, sizeof **first);
    for (uint32_t i = 0; i < count; i++)
        (*first)[owner[i]]++;
    for (uint32_t i = 0; i < owners; i++)
        (*first)[i + 1] += (*first)[i];
    for (uint32_t i = count; i-- > 0;)
        list[--(*first)[owner[i]]] = i;
    return list;
}

static void find_branches(struct kept_by *k) {
    const struct report__profile *p = k->part;
    const uint32_t n = p->keeper_count;
    uint32_t *owner = report__alloc(k->pool, n, sizeof *owner);

    for (uint32_t i = 0; i < n; i++)
        owner[i] = k->outer[i] + 1;
    k->steps = group(k->pool, owner, n, n + 1, &k->first_step);
    owner = report__alloc(k->pool, p->holding_count, sizeof *owner);
    for (uint32_t i = 0; i < p->holding_count; i++)
        owner[i] = k->united[p->holdings[i].keeper] + 1;
    k->holdings =
        group(k->pool, owner, p->holding_count, n + 1, &k->first_holding);
}

static void sum_up(struct kept_by *k) {
    const struct report__profile *p = k->part;

    k->all = report__alloc(k->pool, p->keeper_count, sizeof *k->all);
    for (uint32_t i = 0; i < p->holding_count; i++)
        if (path_of(k, i) != MPROF_NONE)
            report__add_count(&k->all[k->united[p->holdings[i].keeper]],
                              &p->holdings[i].count);
    for (uint32_t i = p->keeper_count; i-- > 0;) {
        if (!is_of_heap(k, i))
            continue;
        report__add_count(&k->strange, &p->keepers[i].strange);
        report__add_count(k->outer[i] == MPROF_NONE ? &k->total
                                                    : &k->all[k->outer[i]],
                          &k->all[i]);
    }
}

static int compare_branches(const void *a, const void *b, void *data) {
    const struct branch *x = a, *y = b;

    (void)data;
    return report__down(x->all.bytes, y->all.bytes)
               ?: report__down(x->all.allocs, y->all.allocs)
               ?: report__up(x->keeper, y->keeper)
               ?: report__up(x->path, y->path);
}

/* Add to LIST, of COUNT, what chains allocated of the objects of KEEPER. */
static uint32_t add_chains(struct kept_by *k, uint32_t keeper,
                           struct branch *list, uint32_t count) {
    struct report__ends ends = {0};
    const uint32_t from = count;

    /* Its name is the chain. */
    if (k->part->keepers[keeper].counter != MPROF_NONE)
        return count;
    for (uint32_t i = k->first_holding[keeper + 1];
         i < k->first_holding[keeper + 2]; i++) {
        const uint32_t path = path_of(k, k->holdings[i]);
        if (path == MPROF_NONE)
            continue;
        const uint32_t n =
            from + report__path_end(k->pool, &ends, &k->paths, path, k->depth);
        if (n == count)
            list[count++] = (struct branch){MPROF_NONE, path, {0, 0}};
        report__add_count(&list[n].all,
                          &k->part->holdings[k->holdings[i]].count);
    }
    return count;
}

/* The branches below KEEPER, sorted; MPROF_NONE: the roots. */
static uint32_t branches(struct kept_by *k, uint32_t keeper,
                         struct branch **list) {
    const uint32_t from = k->first_step[keeper + 1],
                   to = k->first_step[keeper + 2];
    uint32_t room = to - from, count = 0;

    if (keeper != MPROF_NONE)
        room += k->first_holding[keeper + 2] - k->first_holding[keeper + 1];
    *list = report__alloc(k->pool, room, sizeof **list);
    for (uint32_t i = from; i < to; i++)
        if (k->all[k->steps[i]].allocs > 0)
            (*list)[count++] =
                (struct branch){k->steps[i], MPROF_NONE, k->all[k->steps[i]]};
    if (keeper != MPROF_NONE)
        count = add_chains(k, keeper, *list, count);
    report__sort(*list, count, sizeof **list, compare_branches, NULL);
    return count;
}

/* Go on to the only branch within BRANCH, which is printed in the same line;
 * false: there is none. */
static bool goes_on(struct kept_by *k, struct branch *branch) {
    struct branch *inner;

    if (branch->keeper == MPROF_NONE ||
        branches(k, branch->keeper, &inner) != 1)
        return false;
    *branch = *inner;
    return true;
}

/* Add the bytes of all lines within KEEPER to VALUES, of which there are COUNT.
 */
static uint32_t find_values(struct kept_by *k, uint32_t keeper,
                            uint64_t *values, uint32_t count) {
    struct branch *list;
    const uint32_t n = branches(k, keeper, &list);

    for (uint32_t i = 0; i < n; i++) {
        values[count++] = list[i].all.bytes;
        while (goes_on(k, &list[i]))
            ;
        if (list[i].keeper != MPROF_NONE)
            count = find_values(k, list[i].keeper, values, count);
    }
    return count;
}

/* The largest ones: a step has no less than what is within it. */
static void choose_lines(struct kept_by *k) {
    uint64_t *values = report__alloc(
        k->pool, (size_t)k->part->keeper_count + k->part->holding_count + 1,
        sizeof *values);

    report__cut(&k->cut, values, find_values(k, MPROF_NONE, values, 0),
                k->context->choice.rows);
}

static bool is_shown(struct kept_by *k, const struct branch *branch,
                     uint32_t level) {
    const uint64_t bytes = branch->all.bytes;
    const uint64_t sum = k->cut.left.sum;
    const bool is_out = report__leave_out(
        &k->cut, bytes,
        report__below(bytes, k->total.bytes, k->context->choice.verbosity));

    /* Its bytes are in the root that it is within. */
    if (level > 0)
        k->cut.left.sum = sum;
    return !is_out;
}

/* The innermost functions of PATH. */
static void print_chain(const struct kept_by *k, uint32_t path) {
    const char *before = "by ";

    for (uint32_t n = 0; path != MPROF_NONE && n < k->depth; n++) {
        const struct report__path *at = &k->paths.list[path];
        fputs(before, k->out);
        report__print_name(k->out, k->paths.labels[at->label].text);
        before = " < ";
        path = at->caller;
    }
    if (path != MPROF_NONE)
        fputs(" < ...", k->out);
}

/* Blocks of EACH bytes, with their type if only one has this size. */
static void print_blocks(const struct kept_by *k, uint32_t each) {
    uint32_t count = 0;
    const char *const *names =
        k->context->own_types != NULL && each > 0
            ? report__types_of_size(k->context->own_types, each, &count)
            : NULL;

    if (each > 0)
        fprintf(k->out, "%" PRIu32 "-byte ", each);
    fputs("blocks ", k->out);
    if (count != 1)
        return;
    putc('(', k->out);
    report__print_name(k->out, names[0]);
    fputs("?) ", k->out);
}

static void print_keeper(const struct kept_by *k, uint32_t keeper) {
    const struct report__keeper *of = &k->part->keepers[keeper];

    if (of->label) {
        report__print_name(k->out, report__keeper_label(k->pool, of->label));
        return;
    }
    const uint32_t path = of->counter == MPROF_NONE
                              ? MPROF_NONE
                              : k->paths.of_counter[of->counter];
    print_blocks(k, of->each);
    if (path == MPROF_NONE)
        fputs("that were not recorded", k->out);
    else
        print_chain(k, path);
}

static void print_numbers(const struct kept_by *k, const struct branch *branch,
                          uint32_t level) {
    fprintf(k->out, "%*" PRIu64 " %s %*" PRIu64 "  ", k->bytes_width,
            branch->all.bytes,
            report__fraction(branch->all.bytes, k->total.bytes).text,
            k->objects_width, branch->all.allocs);
    report__rule(k->out, ' ', (int)level * 2);
}

/* Print a step or chain, and those within BRANCH that have all its objects.
 * BRANCH becomes the last of these. */
static void print_text(struct kept_by *k, struct branch *branch) {
    const char *before = "";

    do {
        fputs(branch->keeper == MPROF_NONE && *before != '\0' ? "  " : before,
              k->out);
        if (branch->keeper != MPROF_NONE)
            print_keeper(k, branch->keeper);
        else
            print_chain(k, branch->path);
        before = " > ";
    } while (goes_on(k, branch));
}

/* The function that allocated the objects of BRANCH; MPROF_NONE: several may
 * have. */
static uint32_t maker_of(const struct kept_by *k, const struct branch *branch) {
    const uint32_t counter = branch->keeper == MPROF_NONE
                                 ? MPROF_NONE
                                 : k->part->keepers[branch->keeper].counter;
    const uint32_t path =
        counter == MPROF_NONE ? branch->path : k->paths.of_counter[counter];

    return path == MPROF_NONE
               ? MPROF_NONE
               : k->paths.labels[k->paths.list[path].label].function;
}

/* The same as a row of a list. */
static void add_row(struct kept_by *k, struct branch *branch, uint32_t level) {
    struct report__memory text;
    const struct mprof_count all = branch->all;

    k->out = report__memory_open(&text, k->pool);
    print_text(k, branch);
    REPORT__PUSH(k->pool, k->rows, k->row_count, k->row_room,
                 (struct report__kept_row){level, report__memory_close(&text),
                                           all, maker_of(k, branch)});
}

/* The rows from FIRST on are one and those within it, of which the first one is
 * the largest: that one's function is good enough. */
static void take_function(struct kept_by *k, uint32_t first) {
    if (k->is_list && first + 1 < k->row_count &&
        k->rows[first].function == MPROF_NONE)
        k->rows[first].function = k->rows[first + 1].function;
}

static void print_branches(struct kept_by *k, uint32_t keeper, uint32_t level) {
    struct branch *list;
    const uint32_t count = branches(k, keeper, &list);

    for (uint32_t i = 0; i < count; i++) {
        struct branch branch = list[i];
        const uint32_t row = k->row_count;
        if (!is_shown(k, &branch, level))
            continue;
        if (k->is_list) {
            add_row(k, &branch, level);
        } else {
            print_numbers(k, &branch, level);
            print_text(k, &branch);
            putc('\n', k->out);
        }
        if (branch.keeper != MPROF_NONE)
            print_branches(k, branch.keeper, level + 1);
        take_function(k, row);
    }
}

/* Has a step of KIND anything? */
static bool has_kind(const struct kept_by *k, enum mprof_keeper_kind kind) {
    for (uint32_t i = 0; i < k->part->keeper_count; i++)
        if (k->part->keepers[i].kind == kind && k->all[i].allocs > 0)
            return true;
    return false;
}

static void print_notes(const struct kept_by *k) {
    fputs("each number is what would be free without this step\n", k->out);
    if (has_kind(k, MPROF_KEEPER_SHARED))
        fputs("\"and others\": several keep it, and it would be free without "
              "all of them\n",
              k->out);
    if (has_kind(k, MPROF_KEEPER_UNCERTAIN))
        fputs("words on a stack may be old: objects that only they lead to may "
              "be garbage\n",
              k->out);
    if (k->strange.allocs > 0)
        SAY(k->out,
            "# more object~ (# bytes) were there before the recording, or are "
            "mprof's\n",
            k->strange.allocs, k->strange.bytes);
}

static struct kept_by begin(const struct report__context *c) {
    enum { DEPTH = 3 };
    return (struct kept_by){.out = c->out,
                            .pool = c->pool,
                            .context = c,
                            .part = c->part,
                            .depth = c->depth ? c->depth : DEPTH};
}

static void prepare(struct kept_by *k) {
    k->paths = report__paths_build(k->context);
    unite(k);
    sum_up(k);
    find_branches(k);
    choose_lines(k);
}

/* A row for roots that have none, so that all rows have the total. */
static void add_rest(struct kept_by *k) {
    struct mprof_count rest = k->total;

    for (uint32_t i = 0; i < k->row_count; i++)
        if (k->rows[i].level == 0)
            rest = report__count_left(rest, &k->rows[i].all);
    if (rest.allocs > 0)
        REPORT__PUSH(k->pool, k->rows, k->row_count, k->row_room,
                     (struct report__kept_row){0, "others", rest, MPROF_NONE});
}

struct report__kept_row *report__kept_rows(const struct report__context *c,
                                           uint32_t *count) {
    enum { LIST_DEPTH = 8 };
    struct kept_by k = begin(c);

    k.is_list = true;
    k.depth = c->depth ? c->depth : LIST_DEPTH;
    prepare(&k);
    print_branches(&k, MPROF_NONE, 0);
    add_rest(&k);
    *count = k.row_count;
    return k.rows;
}

bool report__is_looked_at(const struct report__context *c, const char *title) {
    if (c->part->looked >> c->heap & 1)
        return true;
    report__print_title(c->out, title, report__sampling(c->part, c->heap));
    fputs(
        c->part->sampling > 0 && c->heap == MPROF_LISP_HEAP
            ? "Live objects are a sample: mprof did not look at all of them.\n"
        : c->part->open ? "That is found out when the program ends normally.\n"
        : c->heap == MPROF_LISP_HEAP && c->part->alive
            ? "mprof did not look at all live objects: with :gc nil it does "
              "not collect, or there was\nno memory for it, about 100 bytes "
              "an object.\n"
        : c->heap == MPROF_LISP_HEAP
            ? "Live objects were not recorded.  Record them with: ecl "
              "--mprof --live, or\n(mprof:start :live t).\n"
            : "The recording does not have it.  Record it with: mprof "
              "run --kept-by PROGRAM\n",
        c->out);
    return false;
}

void report__print_kept_by(struct report__context *c) {
    static const char title[] = "What keeps it alive";
    struct kept_by k = begin(c);

    if (!report__is_looked_at(c, title))
        return;
    report__print_title(c->out, title, report__sampling(c->part, c->heap));
    prepare(&k);
    k.bytes_width = report__width(10, k.total.bytes);
    k.objects_width = report__width(8, k.total.allocs);
    const int width =
        fprintf(c->out, "%*s (%%)   %*s  kept by\n", k.bytes_width, "bytes",
                k.objects_width, "objects");
    report__underline(c->out, width + 40);
    print_branches(&k, MPROF_NONE, 0);
    fprintf(c->out, "%*" PRIu64 "       %*" PRIu64 "  <TOTAL>\n", k.bytes_width,
            k.total.bytes, k.objects_width, k.total.allocs);
    report__print_left(c->out, &c->choice, "step", &k.cut.left, "bytes");
    print_notes(&k);
}
