/* cycles.c - the rows of a cycle in the call graph. */
#include "report/tables/callgraph.h"

/* For a cycle with more members, the one that holds it together is named. */
enum { MANY_MEMBERS = 20 };

/* Rows of members and of calls that are shown unless all are asked for. */
enum { MOST_ROWS = 40 };

static void print_cycle_name(const struct report__printer *p, uint32_t cycle) {
    fprintf(p->out, "<cycle %" PRIu32 " as a whole> [%" PRIu32 "]\n", cycle + 1,
            p->index_of_cycle[cycle]);
}

/* Is a row of BYTES left out when there are SHOWN already? */
static bool is_left_out(const struct report__printer *p, uint64_t bytes,
                        uint32_t shown) {
    const uint32_t most = p->choice->arcs ? p->choice->arcs : MOST_ROWS;

    return report__below(bytes, p->total, p->choice->verbosity) ||
           (shown >= most && p->choice->verbosity != MPROF_VERBOSE);
}

static void print_member(const struct report__printer *p, uint32_t member,
                         uint64_t all) {
    const struct report__vertex *v = &p->graph->vertices[member];

    report__graph_row(p, &v->self, all, report__graph_alive(p, member),
                      v->called, v->recur ? '/' : 0, v->recur);
    report__graph_function(p, member);
    report__graph_exact(p, member);
    putc('\n', p->out);
}

/* By what each allocated itself. */
static void print_members(const struct report__printer *p,
                          const struct report__cycle *c, uint64_t all) {
    struct report__counts others = {0};
    uint64_t alive = 0;
    uint32_t left = 0;

    for (uint32_t i = 0; i < c->count; i++) {
        const struct report__vertex *v = &p->graph->vertices[c->members[i]];
        if (is_left_out(p, report__bytes(&v->total), i - left)) {
            report__add(&others, &v->self);
            alive += report__graph_alive(p, c->members[i]);
            left++;
        } else {
            print_member(p, c->members[i], all);
        }
    }
    if (left > 0)
        report__graph_others(p, &others, alive, left, all);
}

static int compare_arcs(const void *a, const void *b, void *graph) {
    const struct report__arc *x = *(const struct report__arc *const *)a,
                             *y = *(const struct report__arc *const *)b;
    const struct report__shown *list =
        ((const struct report__graph *)graph)->functions->list;

    return report__down(report__bytes(&x->counts), report__bytes(&y->counts))
               ?: strcmp(list[x->caller].name, list[y->caller].name)
               ?: strcmp(list[x->callee].name, list[y->callee].name)
               ?: (x > y) - (x < y);
}

static void print_name(const struct report__printer *p, uint32_t function,
                       const char *end) {
    report__print_name(p->out, p->graph->functions->list[function].name);
    if (p->index_of[function] != MPROF_NONE)
        fprintf(p->out, " [%" PRIu32 "]", p->index_of[function]);
    fputs(end, p->out);
}

/* Calls of members by other members, by what was allocated through each: an
 * allocation counts for all of these that its chain has. */
static void print_inside(const struct report__printer *p, uint32_t id,
                         uint64_t all) {
    const struct report__graph *g = p->graph;
    const struct report__cycle *c = &g->cycles[id];
    const struct report__arc **inside =
        report__alloc(p->pool, g->arc_count, sizeof *inside);
    struct report__counts others = {0};
    uint32_t count = 0, shown = 0;

    for (uint32_t m = 0; m < c->count; m++) {
        const struct report__vertex *v = &g->vertices[c->members[m]];
        for (uint32_t i = 0; i < v->call_count; i++) {
            const struct report__arc *arc = &g->arcs[v->first_call + i];
            if (arc->callee != arc->caller &&
                g->vertices[arc->callee].cycle == id)
                inside[count++] = arc;
        }
    }
    report__sort(inside, count, sizeof *inside, compare_arcs, (void *)g);
    for (; shown < count; shown++) {
        const struct report__counts *counts = &inside[shown]->counts;
        if (is_left_out(p, report__bytes(counts), shown))
            break;
        report__graph_row(p, counts, all, inside[shown]->alive,
                          report__allocs(counts), 0, 0);
        print_name(p, inside[shown]->caller, " calls ");
        print_name(p, inside[shown]->callee, "\n");
    }
    for (uint32_t i = shown; i < count; i++)
        report__add(&others, &inside[i]->counts);
    if (shown < count) {
        report__graph_calls(p, report__allocs(&others));
        fprintf(p->out, "%" PRIu32 " other calls among them\n", count - shown);
    }
}

/* Which of very many members holds them together. */
static void print_breaker(const struct report__printer *p, uint32_t id) {
    const struct report__cycle *c = &p->graph->cycles[id];
    uint32_t largest;

    if (c->count <= MANY_MEMBERS)
        return;
    uint32_t breaker = report__cycle_breaker(p->pool, p->graph, id, &largest);
    fprintf(p->out, "%" PRIu32 " functions call each other; without ",
            c->count);
    print_name(p, breaker, "");
    if (largest > 1)
        fprintf(p->out, " no cycle of them would have more than %" PRIu32,
                largest);
    else
        fputs(" none of them would be in a cycle", p->out);
    putc('\n', p->out);
    report__graph_rule(p);
}

/* First the members with what each allocated itself, and how they call each
 * other; then the whole. */
void report__graph_cycle(struct report__printer *p, uint32_t id) {
    const struct report__cycle *c = &p->graph->cycles[id];
    uint64_t all = report__bytes(&c->total), alive = 0;
    struct report__pool mark = *p->pool;

    for (uint32_t i = 0; i < c->count; i++)
        alive += report__graph_alive(p, c->members[i]);

    report__graph_head(p, p->index_of_cycle[id], &c->self, &c->total, alive,
                       c->called, 0, report__breakdown(&c->self, all).text);
    print_cycle_name(p, id);
    print_members(p, c, all);
    report__graph_rule(p);
    print_inside(p, id, all);
    report__graph_rule(p);
    print_breaker(p, id);
    report__pool_release(p->pool, &mark);

    report__graph_lines(
        p, report__graph_collect(p, c->members, c->count, true, true), true,
        all);
    report__graph_head(p, p->index_of_cycle[id], &c->self, &c->total, alive,
                       c->called, 0, MPROF_HEAD_MARK);
    print_cycle_name(p, id);
    report__graph_lines(
        p, report__graph_collect(p, c->members, c->count, true, false), false,
        report__bytes(&c->below));
    report__graph_rule(p);
}
