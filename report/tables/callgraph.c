/* callgraph.c - the allocation call graph table. */
#include "report/tables/callgraph.h"

/* A group of rows: a function, or a cycle as a whole. */
struct group {
    bool is_cycle;
    uint32_t id;          /* of the vertex or the cycle */
    uint64_t main, bytes; /* main: the key for sorting */
    uint32_t depth;
    const char *name; /* of the function; "" for a cycle */
};

static const char *name_of(const struct report__printer *p, uint32_t function) {
    return p->graph->functions->list[function].name;
}

/* With equal numbers, callers come before their callees. */
static int compare_groups(const void *a, const void *b) {
    const struct group *x = a, *y = b;

    return report__down(x->main, y->main) ?: report__down(x->bytes, y->bytes)
               ?: report__up(x->depth, y->depth) ?: y->is_cycle - x->is_cycle
               ?: strcmp(x->name, y->name) ?: report__up(x->id, y->id);
}

static int compare_lines(const void *a, const void *b, void *p) {
    const struct report__line *x = a, *y = b;

    return x->inside - y->inside
               ?: report__down(report__bytes(&x->counts),
                               report__bytes(&y->counts))
               ?: strcmp(name_of(p, x->function), name_of(p, y->function))
               ?: report__up(x->function, y->function);
}

static int compare_functions(const void *a, const void *b) {
    const struct report__line *x = a, *y = b;

    return report__up(x->function, y->function);
}

void report__graph_rule(const struct report__printer *p) {
    report__rule(p->out, '-', p->index_width + p->bytes_width + 15);
    if (p->alive_width > 0)
        report__rule(p->out, '-', p->alive_width + 3);
    for (int field = 0; field < 2 && !p->narrow; field++) {
        for (int i = 0; i < MPROF_CLASSES; i++)
            fprintf(p->out, "%c%s", report__class_letters[p->graph->heap][i],
                    i < MPROF_CLASSES - 1 ? "--" : "");
        if (field == 0)
            fputs("----", p->out);
    }
    report__underline(p->out, p->called_width + p->of_width + 26);
}

static void print_heading(const struct report__printer *p) {
    static const char *const columns[3][5] = {
        {"index", "self +", "self   (%)", "/ances      | /ances     ",
         "called/total"},
        {"", " desc ", "", " size-func  |  frac      ", "called/recur"},
        {"", "", "", "\\desc       | \\desc      ", "called/total"}};
    static const char *const names[3] = {"ancestors", "name [index]",
                                         "descendents"};
    for (int i = 0; i < 3; i++) {
        fprintf(p->out, "%-*s%-6s%*s | ", p->index_width, columns[i][0],
                columns[i][1], p->bytes_width + 6, columns[i][2]);
        if (p->alive_width > 0)
            fprintf(p->out, "%*s | ", p->alive_width, i == 0 ? "alive" : "");
        if (!p->narrow)
            fprintf(p->out, "%s | ", columns[i][3]);
        report__rule(p->out, ' ', p->called_width - 6);
        fprintf(p->out, "%-*s  %s%s\n", 7 + p->of_width, columns[i][4],
                i == 1 ? "" : "    ", names[i]);
    }
    report__graph_rule(p);
}

/* Print a row up to its calls: FRACTION and ALIVE come behind the bytes of
 * COUNTS, which may be NULL: blank; and FRAC behind their classes. */
static void print_cells(const struct report__printer *p, uint32_t index,
                        const char *percent,
                        const struct report__counts *counts,
                        const char *fraction, uint64_t alive,
                        const char *frac) {
    const uint64_t bytes = counts ? report__bytes(counts) : 0;
    char text[16] = "";

    if (index != MPROF_NONE)
        snprintf(text, sizeof text, "[%" PRIu32 "]", index);
    fprintf(p->out, "%-*s", p->index_width, text);
    fprintf(p->out, "%5s %*s %5s | ", percent, p->bytes_width,
            counts ? report__plain(bytes).text : "", fraction);
    if (p->alive_width > 0)
        fprintf(p->out, "%*s | ", p->alive_width,
                counts ? report__plain(alive).text : "");
    if (!p->narrow)
        fprintf(p->out, "%11s | %11s |%s",
                counts ? report__breakdown(counts, bytes).text : "",
                frac ? frac : "", frac ? " " : "");
}

static void print_called(const struct report__printer *p, uint64_t called,
                         char slash, uint64_t of) {
    fprintf(p->out, "%*" PRIu64, p->called_width, called);
    if (slash)
        fprintf(p->out, "/%-*" PRIu64, p->of_width, of);
    else
        report__rule(p->out, ' ', p->of_width + 1);
    fputs("  ", p->out);
}

void report__graph_function(const struct report__printer *p,
                            uint32_t function) {
    uint32_t cycle = p->graph->vertices[function].cycle;
    report__print_name(p->out, name_of(p, function));
    if (cycle != MPROF_NONE)
        fprintf(p->out, " <cycle %" PRIu32 ">", cycle + 1);
    if (p->index_of[function] != MPROF_NONE)
        fprintf(p->out, " [%" PRIu32 "]", p->index_of[function]);
}

void report__graph_exact(const struct report__printer *p, uint32_t function) {
    const struct report__vertex *v = &p->graph->vertices[function];
    if (!p->narrow && (v->cycle != MPROF_NONE || v->recur > 0))
        fprintf(p->out, " (total %" PRIu64 ")", report__bytes(&v->total));
}

uint64_t report__graph_alive(const struct report__printer *p,
                             uint32_t function) {
    const struct report__vertex *v = &p->graph->vertices[function];
    return report__bytes(&v->self) - report__bytes(&v->freed);
}

void report__graph_row(const struct report__printer *p,
                       const struct report__counts *counts, uint64_t whole,
                       uint64_t alive, uint64_t called, char slash,
                       uint64_t of) {
    print_cells(p, MPROF_NONE, "", counts,
                report__fraction(report__bytes(counts), whole).text, alive,
                report__breakdown(counts, whole).text);
    print_called(p, called, slash, of);
    fputs("    ", p->out);
}

void report__graph_calls(const struct report__printer *p, uint64_t called) {
    print_cells(p, MPROF_NONE, "", NULL, "", 0, "");
    print_called(p, called, 0, 0);
    fputs("    ", p->out);
}

/* One ancestor or descendent; WHOLE is what all of them together have. */
static void print_line(const struct report__printer *p,
                       const struct report__line *line, bool ancestor,
                       uint64_t whole) {
    const struct report__vertex *v = &p->graph->vertices[line->function];
    uint64_t of = ancestor ? report__allocs(&v->below) : v->called;
    uint64_t allocs = report__allocs(&line->counts);

    if (line->inside)
        report__graph_calls(p, allocs);
    else
        report__graph_row(p, &line->counts, whole, line->alive, allocs, '/',
                          of);
    report__graph_function(p, line->function);
    putc('\n', p->out);
}

void report__graph_others(const struct report__printer *p,
                          const struct report__counts *sum, uint64_t alive,
                          uint32_t count, uint64_t whole) {
    report__graph_row(p, sum, whole, alive, report__allocs(sum), 0, 0);
    fprintf(p->out, "%" PRIu32 " others\n", count);
}

static void print_all(const struct report__printer *p,
                      const struct report__counts *sum, uint64_t alive) {
    print_cells(p, MPROF_NONE, "all", sum, "", alive, NULL);
    putc('\n', p->out);
}

uint32_t report__graph_collect(struct report__printer *p,
                               const uint32_t *members, uint32_t count,
                               bool merged, bool ancestors) {
    const struct report__graph *g = p->graph;
    uint32_t n = 0, out = 0;

    for (uint32_t m = 0; m < count; m++) {
        const struct report__vertex *v = &g->vertices[members[m]];
        uint32_t arcs = ancestors ? v->caller_count : v->call_count;
        for (uint32_t i = 0; i < arcs; i++) {
            const struct report__arc *arc =
                ancestors ? &g->arcs[g->by_callee[v->first_caller + i]]
                          : &g->arcs[v->first_call + i];
            uint32_t other = ancestors ? arc->caller : arc->callee;
            bool inside =
                v->cycle != MPROF_NONE && g->vertices[other].cycle == v->cycle;
            if (other != members[m] && !(inside && merged))
                p->lines[n++] = (struct report__line){.function = other,
                                                      .inside = inside,
                                                      .counts = arc->counts,
                                                      .alive = arc->alive};
        }
    }
    if (count > 1)
        qsort(p->lines, n, sizeof *p->lines, compare_functions);
    for (uint32_t i = 0; i < n; i++)
        if (out > 0 && p->lines[out - 1].function == p->lines[i].function) {
            report__add(&p->lines[out - 1].counts, &p->lines[i].counts);
            p->lines[out - 1].alive += p->lines[i].alive;
        } else {
            p->lines[out++] = p->lines[i];
        }
    report__sort(p->lines, out, sizeof *p->lines, compare_lines, p);
    return out;
}

/* Functions without a group share a row, unless it is only one; so do those
 * behind the most that are wanted. */
void report__graph_lines(struct report__printer *p, uint32_t count,
                         bool ancestors, uint64_t whole) {
    struct report__counts sum = {0}, others = {0};
    uint64_t alive = 0, others_alive = 0;
    uint32_t outside = 0, left = 0, one = 0, shown = 0;
    const uint32_t most = p->choice->arcs ? p->choice->arcs : count;

    for (uint32_t i = 0; i < count; i++) {
        struct report__line *line = &p->lines[i];
        if (line->inside)
            continue;
        outside++;
        report__add(&sum, &line->counts);
        alive += line->alive;
        line->left = p->index_of[line->function] == MPROF_NONE || shown == most;
        shown += !line->left;
        if (line->left) {
            report__add(&others, &line->counts);
            others_alive += line->alive;
            one = i;
            left++;
        }
    }
    if (ancestors && outside > 1)
        print_all(p, &sum, alive);
    for (uint32_t i = 0; i < count; i++)
        if (p->lines[i].inside || !p->lines[i].left)
            print_line(p, &p->lines[i], ancestors, whole);
    if (left == 1)
        print_line(p, &p->lines[one], ancestors, whole);
    else if (left > 1)
        report__graph_others(p, &others, others_alive, left, whole);
    if (!ancestors && outside > 1)
        print_all(p, &sum, alive);
}

void report__graph_head(const struct report__printer *p, uint32_t index,
                        const struct report__counts *self,
                        const struct report__counts *total, uint64_t alive,
                        uint64_t called, uint64_t recur, const char *frac) {
    const uint64_t all = report__bytes(total);

    print_cells(p, index, report__tenths(all, p->total).text, self,
                report__fraction(report__bytes(self), all).text, alive, frac);
    print_called(p, called, recur ? '/' : 0, recur);
}

static void print_function_group(struct report__printer *p, uint32_t function) {
    const struct report__vertex *v = &p->graph->vertices[function];

    report__graph_lines(p, report__graph_collect(p, &function, 1, false, true),
                        true, report__bytes(&v->total));
    report__fit_mark(p->out, MPROF_FIT_STRONG);
    report__graph_head(p, p->index_of[function], &v->self, &v->total,
                       report__graph_alive(p, function), v->called, v->recur,
                       MPROF_HEAD_MARK);
    report__graph_function(p, function);
    report__graph_exact(p, function);
    report__fit_mark(p->out, MPROF_FIT_STRONG_END);
    putc('\n', p->out);
    report__graph_lines(p, report__graph_collect(p, &function, 1, false, false),
                        false, report__bytes(&v->below));
    report__graph_rule(p);
}

static uint64_t measure(const struct report__printer *p,
                        const struct report__counts *self,
                        const struct report__counts *total) {
    return p->choice->sort == MPROF_SORT_SELF     ? report__bytes(self)
           : p->choice->sort == MPROF_SORT_ALLOCS ? report__allocs(total)
                                                  : report__bytes(total);
}

/* Choose, sort and number the groups, of which there are MOST or 0: any number;
 * *LEFT functions are left out as they are small, *MORE for that number. */
static uint32_t make_groups(struct report__printer *p, struct group *groups,
                            uint32_t most, uint32_t *left, uint32_t *more,
                            bool *exact) {
    const struct report__graph *g = p->graph;
    uint32_t n = 0;

    *left = *more = 0;
    memset(p->index_of, 0xff, g->functions->count * sizeof *p->index_of);
    memset(p->index_of_cycle, 0xff, g->cycle_count * sizeof *p->index_of_cycle);

    for (uint32_t v = 0; v < g->functions->count; v++) {
        const struct report__vertex *vertex = &g->vertices[v];
        uint64_t bytes = report__bytes(&vertex->total);
        if (vertex->depth == MPROF_NONE)
            continue;
        if (report__below(bytes, p->total, p->choice->verbosity)) {
            ++*left;
            continue;
        }
        groups[n++] = (struct group){false,
                                     v,
                                     measure(p, &vertex->self, &vertex->total),
                                     bytes,
                                     vertex->depth,
                                     name_of(p, v)};
        *exact |= vertex->recur > 0 || vertex->cycle != MPROF_NONE;
    }
    for (uint32_t c = 0; c < g->cycle_count; c++) {
        const struct report__cycle *cycle = &g->cycles[c];
        uint64_t bytes = report__bytes(&cycle->total);
        if (!report__below(bytes, p->total, p->choice->verbosity))
            groups[n++] = (struct group){
                true,         c, measure(p, &cycle->self, &cycle->total), bytes,
                cycle->depth, ""};
    }
    qsort(groups, n, sizeof *groups, compare_groups);
    if (most > 0 && n > most) {
        *more = n - most;
        n = most;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (groups[i].is_cycle)
            p->index_of_cycle[groups[i].id] = i;
        else
            p->index_of[groups[i].id] = i;
    }
    return n;
}

/* Lines of the callers, or calls, of FUNCTION, at most. */
static uint32_t lines_around(struct report__printer *p, uint32_t function,
                             bool callers) {
    const uint32_t count =
        report__graph_collect(p, &function, 1, false, callers);
    const uint32_t arcs = p->choice->arcs;

    return (count < arcs ? count : arcs + (count > arcs)) + (count > 1);
}

/* Whether COUNT groups fit on a page of the short tables. */
static bool is_short(struct report__printer *p, const struct group *groups,
                     uint32_t count) {
    enum { PAGE = 54, OF_CYCLE = 14 };
    uint32_t lines = 0;

    for (uint32_t i = 0; i < count; i++)
        lines += groups[i].is_cycle ? OF_CYCLE + 4 * p->choice->arcs
                                    : 2 + lines_around(p, groups[i].id, true) +
                                          lines_around(p, groups[i].id, false);
    return lines <= PAGE;
}

static void prepare(struct report__printer *p, struct report__pool *pool) {
    const struct report__graph *g = p->graph;
    const uint64_t allocs = report__allocs(&g->total);

    p->total = report__bytes(&g->total);
    p->index_of = report__alloc(pool, g->functions->count, sizeof *p->index_of);
    p->index_of_cycle =
        report__alloc(pool, g->cycle_count, sizeof *p->index_of_cycle);
    p->lines = report__alloc(pool, g->arc_count, sizeof *p->lines);
    p->bytes_width = report__width(10, p->total);
    p->alive_width = g->knows_alive && !p->narrow ? p->bytes_width : 0;
    p->called_width = report__width(6, allocs);
    p->of_width = report__width(5, allocs);
}

void report__print_graph(struct report__context *c) {
    const struct report__graph *graph = report__graph_of(c);
    FILE *out = c->out;
    struct report__printer p = {.out = out,
                                .pool = c->pool,
                                .graph = graph,
                                .choice = &c->choice,
                                .narrow = c->is_narrow};
    uint32_t left = 0, more = 0;
    bool exact = false;
    struct group *groups = report__alloc(
        c->pool, (size_t)graph->functions->count + graph->cycle_count,
        sizeof *groups);

    prepare(&p, c->pool);
    uint32_t most = p.choice->rows, n;
    do
        n = make_groups(&p, groups, most, &left, &more, &exact);
    while (p.choice->arcs > 0 && n > 1 && !is_short(&p, groups, n) &&
           (most = n - 1));
    exact &= !p.narrow;
    p.index_width = report__larger(7, report__digits(n) + 3);

    report__print_title(out, "Allocation call graph", graph->sampling);
    if (exact)
        fputs("(total N) after a name: bytes allocated while that function "
              "was on the chain,\neach allocation counted once.\n\n",
              out);
    if (graph->alive && !graph->knows_alive)
        fputs("Chains were summed up, so what is alive has no column here; "
              "with --alive this table is\nof that alone.\n\n",
              out);
    if (graph->doubtful > 0)
        SAY(out,
            "Up to # bytes are counted twice in totals and calls: chains "
            "were summed up before it\nwas known which functions are "
            "one.\n\n",
            graph->doubtful);
    print_heading(&p);
    for (uint32_t i = 0; i < n; i++) {
        if (groups[i].is_cycle)
            report__graph_cycle(&p, groups[i].id);
        else
            print_function_group(&p, groups[i].id);
    }
    report__print_left_out(out, p.choice, "function", left, more,
                           " with totals below %s", "");
}
