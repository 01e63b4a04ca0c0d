/* test_dominators.c - dominators, sizes and shortest ways in random graphs,
 * against two programs that are slower and simpler. */
#include "tests/support/check.h"

#include <stdlib.h>
#include <string.h>

#include "monitor/base/table.h"
#include "monitor/graph/graph.h"

static uint64_t state = 88172645463325252u;

static uint32_t draw(uint32_t below) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 11) % below;
}

/* What the program under test is asked: a list of edges, by node. */
struct plan {
    uint32_t certain, roots, objects, edges;
    uint32_t *from, *to; /* from node 1 on, ordered by `from` */
    uint64_t *bytes;
};

static int by_number(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* NEAR: edges lead to objects not far away, so that there are long ways. */
static void plan(struct plan *p, uint32_t objects, uint32_t edges,
                 uint32_t near) {
    p->certain = 1 + draw(3);
    p->roots = p->certain + draw(3);
    p->objects = objects;
    p->edges = edges;
    p->from = calloc(edges + 1, sizeof *p->from);
    p->to = calloc(edges + 1, sizeof *p->to);
    p->bytes = calloc(objects + p->roots + 2, sizeof *p->bytes);
    uint32_t first = p->roots + 1;
    for (uint32_t i = 0; i < edges; i++)
        p->from[i] = 1 + draw(p->roots + objects);
    qsort(p->from, edges, sizeof *p->from, by_number);
    for (uint32_t i = 0; i < edges; i++)
        p->to[i] = p->from[i] < first || near == 0
                       ? first + draw(objects)
                       : first + (p->from[i] - first + draw(near)) % objects;
    for (uint32_t i = first; i < first + objects; i++)
        p->bytes[i] = 1 + draw(1000);
}

static void forget(struct plan *p) {
    free(p->from);
    free(p->to);
    free(p->bytes);
}

static void build(struct mprof__graph *g, const struct plan *p) {
    uint32_t e = 0;
    assert_true(mprof__graph_begin(g, p->certain, p->roots, p->objects));
    for (uint32_t node = 1; node <= p->roots + p->objects; node++) {
        for (; e < p->edges && p->from[e] == node; e++)
            mprof__graph_add(g, p->to[e]);
        g->bytes[node] = p->bytes[node];
        mprof__graph_next(g);
    }
    assert_true(mprof__graph_analyse(g, true));
}

/* The edges of GRAPH as it was analysed, that is with those of the last node
 * and without those that do not count. */
typedef void edge_visitor(uint32_t from, uint32_t to, void *data);

static void each_edge(const struct mprof__graph *g, edge_visitor *visit,
                      void *data) {
    for (uint32_t i = 0; i < g->count; i++)
        for (uint32_t e = g->first[i]; e < g->first[i + 1]; e++)
            if (g->to[e] != 0)
                visit(i, g->to[e], data);
}

struct reached {
    uint32_t without; /* this node */
    bool *is_reached, grew;
};

static void spread(uint32_t from, uint32_t to, void *data) {
    struct reached *r = data;
    if (r->is_reached[from] && !r->is_reached[to] && to != r->without) {
        r->is_reached[to] = true;
        r->grew = true;
    }
}

/* What is reached from node 0 without the node WITHOUT. */
static void reach(const struct mprof__graph *g, uint32_t without,
                  bool *is_reached) {
    struct reached r = {without, is_reached, true};
    memset(is_reached, 0, g->count);
    is_reached[0] = without != 0;
    while (r.grew) {
        r.grew = false;
        each_edge(g, spread, &r);
    }
}

static bool keeps(const struct mprof__graph *g, uint32_t dominator,
                  uint32_t node) {
    while (node != 0 && node != dominator)
        node = g->dominator[node];
    return node == dominator;
}

/* By the definition: node D keeps what cannot be reached without it. */
static void check_by_definition(const struct mprof__graph *g) {
    bool *is_reached = malloc(g->count);
    for (uint32_t d = 1; d < g->count; d++) {
        reach(g, d, is_reached);
        for (uint32_t v = 1; v < g->count; v++)
            assert_int_equal(!is_reached[v], keeps(g, d, v));
    }
    free(is_reached);
}

/* Sizes, and what is in order: see graph.h. */
static void check_sums(const struct mprof__graph *g, const struct plan *p) {
    uint64_t *sum = calloc(g->count, sizeof *sum);
    bool *seen = calloc(g->count, sizeof *seen);
    for (uint32_t i = 0; i < g->count; i++) {
        uint32_t node = g->order[i];
        assert_false(seen[node]);
        assert_true(i == 0 || seen[g->dominator[node]]);
        seen[node] = true;
    }
    for (uint32_t i = g->count; i-- > 0;) {
        uint32_t node = g->order[i];
        sum[node] += node < g->count - 1 ? p->bytes[node] : 0;
        assert_int_equal(g->bytes[node], sum[node]);
        if (node != 0)
            sum[g->dominator[node]] += sum[node];
    }
    free(sum);
    free(seen);
}

/* Lengths of ways, by relaxing all edges until nothing changes. */
struct lengths {
    uint32_t *length;
    bool shorter;
};

static void relax(uint32_t from, uint32_t to, void *data) {
    struct lengths *l = data;
    if (from != 0 && l->length[from] != UINT32_MAX &&
        l->length[from] + 1 < l->length[to]) {
        l->length[to] = l->length[from] + 1;
        l->shorter = true;
    }
}

static uint32_t way_length(const struct mprof__graph *g, uint32_t node) {
    uint32_t n = 0;
    for (; node != 0; node = g->via[node])
        n++;
    return n;
}

/* Where a certain root leads, the way is the shortest from one of these. */
static void check_ways(const struct mprof__graph *g) {
    struct lengths l = {.length = malloc(g->count * sizeof *l.length),
                        .shorter = true};
    memset(l.length, 0xff, g->count * sizeof *l.length);
    for (uint32_t i = 1; i <= g->certain; i++)
        l.length[i] = 1;
    while (l.shorter) {
        l.shorter = false;
        each_edge(g, relax, &l);
    }
    for (uint32_t i = 1; i < g->count; i++) {
        if (l.length[i] != UINT32_MAX)
            assert_int_equal(way_length(g, i), l.length[i]);
        else
            assert_true(mprof__graph_root_of(g, i) > g->certain);
    }
    free(l.length);
}

struct visits {
    uint32_t *count, most;
};

static bool count_visit(uint32_t node, void *data) {
    struct visits *v = data;
    v->count[node]++;
    return --v->most > 0;
}

/* What a node leads to is found once, from there and back; node 0 by none. */
static void check_searches(const struct mprof__graph *g) {
    const uint32_t n = g->count;
    struct visits there = {.count = calloc(n, sizeof *there.count)},
                  back = {.count = calloc(n * n, sizeof *back.count)};
    bool *is_reached = malloc(n);
    uint32_t *all = back.count;
    for (uint32_t i = 1; i < n; i++) {
        back.count = all + (size_t)i * n;
        back.most = n;
        mprof__graph_search_back(g, i, count_visit, &back);
    }
    for (uint32_t i = 1; i < n; i++) {
        struct reached r = {0, is_reached, true};
        memset(is_reached, 0, n);
        is_reached[i] = true;
        while (r.grew) {
            r.grew = false;
            each_edge(g, spread, &r);
        }
        memset(there.count, 0, n * sizeof *there.count);
        there.most = n;
        mprof__graph_search(g, i, count_visit, &there);
        for (uint32_t to = 0; to < n; to++) {
            assert_int_equal(there.count[to], is_reached[to]);
            assert_int_equal(all[(size_t)to * n + i], is_reached[to]);
        }
    }
    there.most = 1;
    memset(there.count, 0, n * sizeof *there.count);
    mprof__graph_search(g, 1, count_visit, &there);
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(there.count[i], i == 1);
    free(all);
    free(there.count);
    free(is_reached);
}

static void small_graphs(void **unused) {
    (void)unused;
    for (int round = 0; round < 3000; round++) {
        struct plan p;
        struct mprof__graph g;
        uint32_t objects = 1 + draw(24);
        plan(&p, objects, draw(3 * objects), draw(2) * 5);
        build(&g, &p);
        check_by_definition(&g);
        check_sums(&g, &p);
        check_ways(&g);
        check_searches(&g);
        mprof__graph_end(&g);
        forget(&p);
    }
}

/* Cooper, Harvey and Kennedy, A Simple, Fast Dominance Algorithm, 2001, which
 * goes on until nothing changes. */
struct simple {
    const struct mprof__graph *graph;
    uint32_t *number, *node, *dominator; /* dominator: by number + 1 */
    bool changed;
};

static void number_nodes(struct simple *s, uint32_t *next, uint32_t *stack) {
    const struct mprof__graph *g = s->graph;
    uint32_t depth = 0, left = g->count;
    bool *seen = calloc(g->count, 1);
    memcpy(next, g->first, g->count * sizeof *next);
    stack[depth++] = 0;
    seen[0] = true;
    while (depth > 0) {
        uint32_t at = stack[depth - 1];
        if (next[at] == g->first[at + 1]) {
            s->number[at] = --left; /* reversed order of their ends */
            s->node[left] = at;
            depth--;
        } else {
            uint32_t to = g->to[next[at]++];
            if (!seen[to])
                stack[depth++] = to;
            seen[to] = true;
        }
    }
    free(seen);
}

static uint32_t meet(const struct simple *s, uint32_t a, uint32_t b) {
    while (a != b) {
        while (a > b)
            a = s->dominator[a] - 1;
        while (b > a)
            b = s->dominator[b] - 1;
    }
    return a;
}

static void improve(uint32_t from, uint32_t to, void *data) {
    struct simple *s = data;
    uint32_t f = s->number[from], t = s->number[to];
    if (s->dominator[f] == 0 || t == 0)
        return;
    uint32_t dominator =
        s->dominator[t] == 0 ? f : meet(s, f, s->dominator[t] - 1);
    if (s->dominator[t] != dominator + 1)
        s->changed = true;
    s->dominator[t] = dominator + 1;
}

static void check_simply(const struct mprof__graph *g) {
    struct simple s = {.graph = g, .changed = true};
    s.number = calloc(g->count, sizeof *s.number);
    s.node = calloc(g->count, sizeof *s.node);
    s.dominator = calloc(g->count, sizeof *s.dominator);
    uint32_t *next = calloc(g->count, sizeof *next),
             *stack = calloc(g->count, sizeof *stack);
    number_nodes(&s, next, stack);
    s.dominator[0] = 1;
    while (s.changed) {
        s.changed = false;
        for (uint32_t n = 0; n < g->count; n++)
            for (uint32_t e = g->first[s.node[n]]; e < g->first[s.node[n] + 1];
                 e++)
                improve(s.node[n], g->to[e], &s);
    }
    for (uint32_t i = 1; i < g->count; i++)
        assert_int_equal(g->dominator[i], s.node[s.dominator[s.number[i]] - 1]);
    free(s.number);
    free(s.node);
    free(s.dominator);
    free(next);
    free(stack);
}

static void check_large(uint32_t near) {
    struct plan p;
    struct mprof__graph g;
    plan(&p, 1000000, 1500000, near);
    build(&g, &p);
    check_simply(&g);
    check_sums(&g, &p);
    mprof__graph_end(&g);
    forget(&p);
}

static void a_million_objects(void **unused) {
    (void)unused;
    check_large(0);
    check_large(50);
}

/* A list, which no recursion may follow. */
static void a_long_list(void **unused) {
    (void)unused;
    enum { LENGTH = 1000000 };
    struct mprof__graph g;
    assert_true(mprof__graph_begin(&g, 1, 1, LENGTH));
    for (uint32_t i = 1; i <= LENGTH + 1; i++) {
        if (i <= LENGTH)
            mprof__graph_add(&g, i + 1);
        g.bytes[i] = i == 1 ? 0 : 16;
        mprof__graph_next(&g);
    }
    assert_true(mprof__graph_analyse(&g, true));
    for (uint32_t i = 1; i <= LENGTH + 1; i++) {
        assert_int_equal(g.dominator[i], i - 1);
        assert_int_equal(g.via[i], i - 1);
    }
    assert_int_equal(g.bytes[2], 16ul * LENGTH);
    mprof__graph_end(&g);
}

/* Nothing leads to the last object but itself, and that leads to the others. */
static void an_object_that_points_to_itself(void **unused) {
    (void)unused;
    struct mprof__graph g;
    assert_true(mprof__graph_begin(&g, 1, 1, 3));
    mprof__graph_next(&g);
    for (uint32_t i = 2; i <= 4; i++) {
        if (i == 4) {
            mprof__graph_add(&g, 4);
            mprof__graph_add(&g, 2);
            mprof__graph_add(&g, 3);
        }
        mprof__graph_next(&g);
    }
    assert_true(mprof__graph_analyse(&g, true));
    assert_int_equal(g.dominator[4], mprof__graph_unknown(&g));
    assert_int_equal(g.dominator[2], 4);
    assert_int_equal(g.dominator[3], 4);
    mprof__graph_end(&g);
}

static void nothing_at_all(void **unused) {
    (void)unused;
    struct mprof__graph g;
    assert_true(mprof__graph_begin(&g, 0, 0, 0));
    assert_true(mprof__graph_analyse(&g, true));
    assert_int_equal(g.dominator[1], 0);
    assert_int_equal(g.bytes[0], 0);
    mprof__graph_end(&g);
    assert_false(mprof__graph_begin(&g, 1, 1u << 31, 1u << 31));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_graphs),
        cmocka_unit_test(a_million_objects),
        cmocka_unit_test(a_long_list),
        cmocka_unit_test(nothing_at_all),
        cmocka_unit_test(an_object_that_points_to_itself),
    };
    uint64_t before = mprof__mapped;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed != 0 || mprof__mapped != before;
}
