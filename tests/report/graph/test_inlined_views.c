/* test_inlined_views.c - the trees with made-up inlining: random ones against
 * the same trees without it, and against a naive reducer, which writes down the
 * chain of every counter. */
#include "tests/support/check.h"

#include <stdlib.h>
#include <string.h>

#include "report/graph/inlining.h"
#include "report/graph/graph.h"
#include "tests/support/world.h"

/* Nothing is inlined yet.  world_function() may still be called, world_node()
 * and world_site() not any more. */
static struct report__inlining *fake_inlining(struct world *w) {
    struct report__inlining *fake = report__alloc(&w->pool, 1, sizeof *fake);

    fake->frames = report__alloc(&w->pool, ROOM, sizeof *fake->frames);
    fake->of_site = report__alloc(&w->pool, ROOM, sizeof(uint32_t));
    memset(fake->of_site, 0xff, ROOM * sizeof(uint32_t));
    w->names.inlining = fake;
    return fake;
}

/* A function that was only inlined. */
static uint32_t add_inlined(struct world *w, const char *name) {
    w->names.list[w->names.count] = (struct report__shown){.name = name};
    return w->names.count++;
}

static void bytes_equal(struct world *w, bool all_frames, const char *name,
                        uint64_t self, uint64_t total) {
    const struct report__graph *g =
        report__graph_build(&w->pool, &w->profile, &w->names, MPROF_C_HEAP,
                            MPROF_ALL_THREADS, all_frames);
    for (uint32_t v = 0; v < w->names.count; v++)
        if (w->names.list[v].name && strcmp(w->names.list[v].name, name) == 0) {
            assert_int_equal(report__bytes(&g->vertices[v].self), self);
            assert_int_equal(report__bytes(&g->vertices[v].total), total);
        }
}

static void plumbing_and_parts_stay_where_they_are(void **state) {
    struct world w;
    (void)state;

    world_start(&w);
    uint32_t f_ = world_function(&w, "f");
    uint32_t f = world_node(&w, world_thread(&w, MPROF_C_HEAP), f_);
    uint32_t new_ = world_node(&w, f, world_plumbing(&w, "operator new"));
    uint32_t handler = world_node(&w, new_, world_function(&w, "handler"));
    uint32_t part = world_node(&w, f, world_part(&w, f_, "f.part.0"));
    uint32_t of_f = world_site(&w, f, 1), below = world_site(&w, new_, 1);
    uint32_t of_part = world_site(&w, part, 1);
    struct report__inlining *fake = fake_inlining(&w);
    fake->frames[0] =
        (struct report__inlined_frame){MPROF_NONE, add_inlined(&w, "g"), 0};
    fake->frames[1] =
        (struct report__inlined_frame){MPROF_NONE, add_inlined(&w, "h"), 0};
    fake->of_site[of_f] = fake->of_site[of_part] = 0;
    fake->of_site[below] = 1;
    world_counter_at(&w, new_, below, 1, 10, 0, 0);
    world_counter(&w, handler, 1, 20, 0, 0);
    world_counter(&w, part, 1, 40, 0, 0);
    world_counter_at(&w, part, of_part, 1, 80, 0, 0);
    bytes_equal(&w, false, "f", 40, 150);
    bytes_equal(&w, false, "operator new", 0, 0);
    bytes_equal(&w, false, "handler", 20, 20);
    bytes_equal(&w, false, "g", 90, 110);
    bytes_equal(&w, false, "h", 0, 0);
    bytes_equal(&w, true, "f", 40, 150);
    bytes_equal(&w, true, "operator new", 0, 30);
    bytes_equal(&w, true, "g", 80, 110);
    bytes_equal(&w, true, "h", 10, 30);
    world_stop(&w);
}

/* Random trees */

enum { REAL = 8, INLINED = 5, NODES = 60, MOST_CHAIN = 512 };

struct sums {
    struct report__counts own[REAL + INLINED + 2], freed[REAL + INLINED + 2];
    uint64_t total[REAL + INLINED + 2];
};

static void random_counters(struct world *w, uint32_t node) {
    uint32_t sites[3];
    int count = rand() % 4;

    for (int i = 0; i < 3; i++)
        sites[i] =
            rand() % 3 ? world_site(w, node, (uint64_t)rand() % 9) : MPROF_NONE;
    for (int i = 0; i < count; i++) {
        uint32_t number = w->profile.counter_count;
        world_counter_at(w, node, sites[rand() % 3], 1 + (uint64_t)rand() % 3,
                         (uint64_t)rand() % 100, (uint64_t)rand() % 2,
                         (uint64_t)rand() % 20);
        w->profile.counters[number].class_ = (uint8_t)(rand() % MPROF_CLASSES);
    }
}

static void random_world(struct world *w, enum mprof_heap heap) {
    uint32_t functions[REAL], first = w->profile.node_count;

    for (int i = 0; i < REAL; i++)
        functions[i] = i < 4   ? world_function(w, "f")
                       : i < 6 ? world_part(w, functions[i - 4], "f.part.0")
                               : world_plumbing(w, "p");
    for (int t = 0; t < 2; t++) {
        int count = 1 + rand() % NODES;
        first = world_thread(w, heap);
        for (int i = 1; i < count; i++)
            random_counters(
                w, world_node(w, first + (uint32_t)(rand() % i),
                              functions[rand() % (2 + rand() % (REAL - 1))]));
    }
}

static uint32_t random_frame(const struct report__inlining *fake) {
    return rand() % 2 ? (uint32_t)rand() % fake->count : MPROF_NONE;
}

static struct report__inlining *random_inlining(struct world *w) {
    struct report__inlining *fake = fake_inlining(w);
    uint32_t functions[INLINED];

    for (int i = 0; i < INLINED; i++)
        functions[i] = add_inlined(w, "i");
    for (fake->count = 0; fake->count < 12; fake->count++)
        fake->frames[fake->count] = (struct report__inlined_frame){
            fake->count ? random_frame(fake) : MPROF_NONE,
            functions[rand() % INLINED], 0};
    for (uint32_t i = 0; i < ROOM; i++)
        fake->of_site[i] = random_frame(fake);
    return fake;
}

/* The functions of one chain, outermost first. */
struct chain {
    uint32_t functions[MOST_CHAIN];
    bool inlined[MOST_CHAIN];
    int count;
    bool shown; /* the last frame is */
};

static void append(struct chain *chain, uint32_t function, bool inlined) {
    assert_true(chain->count < MOST_CHAIN);
    chain->functions[chain->count] = function;
    chain->inlined[chain->count++] = inlined;
}

static void append_inlined(struct chain *chain,
                           const struct report__inlining *inlining,
                           uint32_t frame) {
    if (!inlining || !chain->shown || frame == MPROF_NONE)
        return;
    append_inlined(chain, inlining, inlining->frames[frame].outer);
    append(chain, inlining->frames[frame].function, true);
}

static void chain_of(const struct world *w, uint32_t node, bool all_frames,
                     struct chain *chain) {
    const struct report__node *n = &w->profile.nodes[node];

    if (n->parent == MPROF_NONE) {
        chain->count = 0;
        chain->shown = false;
        return;
    }
    chain_of(w, n->parent, all_frames, chain);
    if (w->names.inlining)
        append_inlined(chain, w->names.inlining,
                       report__frame_at(w->names.inlining,
                                        w->profile.nodes[n->parent].site));
    uint32_t shown = w->names.shown[n->function];
    int whole = chain->count;
    while (whole > 0 && chain->inlined[whole - 1])
        whole--;
    chain->shown = true;
    if (w->names.fragment[n->function] && whole > 0 &&
        chain->functions[whole - 1] == shown)
        chain->count = whole;
    else if (all_frames || !w->names.list[shown].plumbing)
        append(chain, shown, false);
    else
        chain->shown = false;
}

/* What each counter's chain says. */
static void naive_sums(const struct world *w, bool all_frames,
                       struct sums *sums) {
    static struct chain chain;

    memset(sums, 0, sizeof *sums);
    for (uint32_t i = 0; i < w->profile.counter_count; i++) {
        const struct report__counter *c = &w->profile.counters[i];
        bool seen[REAL + INLINED + 2] = {false};
        struct report__counts own = {{{0, 0}}}, freed = {{{0, 0}}};
        own.by_class[c->class_] = c->allocated;
        freed.by_class[c->class_] = report__lived(c)->freed;
        chain_of(w, c->node, all_frames, &chain);
        if (w->names.inlining)
            append_inlined(&chain, w->names.inlining,
                           report__frame_at(w->names.inlining, c->site));
        if (chain.count == 0)
            append(&chain, MPROF_TOP_LEVEL, false);
        report__add(&sums->own[chain.functions[chain.count - 1]], &own);
        report__add(&sums->freed[chain.functions[chain.count - 1]], &freed);
        for (int k = 0; k < chain.count; k++) {
            if (!seen[chain.functions[k]])
                sums->total[chain.functions[k]] += c->allocated.bytes;
            seen[chain.functions[k]] = true;
        }
    }
}

/* What the view node has itself, and what was freed of that. */
static void own_of(const struct world *w, const struct report__view *view,
                   uint32_t vnode, struct report__counts *own,
                   struct report__counts *freed) {
    memset(own, 0, sizeof *own);
    memset(freed, 0, sizeof *freed);
    for (uint32_t i = view->list[vnode].counter; i != MPROF_NONE;
         i = view->next_counter[i]) {
        const struct report__counter *c = &w->profile.counters[i];
        report__add_count(&own->by_class[c->class_], &c->allocated);
        report__add_count(&freed->by_class[c->class_],
                          &report__lived(c)->freed);
    }
}

/* What the real functions allocated, with what was inlined into them. */
static void sums_of_view(struct world *w, bool all_frames,
                         const struct report__inlining *inlining,
                         struct sums *sums) {
    struct report__view view = report__make_view(
        &w->pool, &w->profile, &w->names, w->profile.threads[0].heap,
        MPROF_ALL_THREADS, all_frames, inlining);

    memset(sums, 0, sizeof *sums);
    for (uint32_t i = 0; i < view.count; i++) {
        uint32_t whole = i, outer = i;
        struct report__counts own, freed;
        own_of(w, &view, i, &own, &freed);
        while (view.list[whole].is_inlined)
            whole = view.list[whole].parent;
        report__add(&sums->own[view.list[whole].function], &own);
        report__add(&sums->freed[view.list[whole].function], &freed);
        for (; outer != MPROF_NONE; outer = view.list[outer].parent)
            if (!view.list[outer].is_inlined)
                sums->total[view.list[outer].function] += report__bytes(&own);
    }
}

static void check_random(struct world *w, bool all_frames) {
    static struct sums sums[2];
    struct report__graph *plain, *g;

    w->names.inlining = NULL;
    plain = report__graph_build(&w->pool, &w->profile, &w->names,
                                w->profile.threads[0].heap, MPROF_ALL_THREADS,
                                all_frames);
    uint32_t real = w->names.count;
    const struct report__inlining *fake = random_inlining(w);
    g = report__graph_build(&w->pool, &w->profile, &w->names,
                            w->profile.threads[0].heap, MPROF_ALL_THREADS,
                            all_frames);

    assert_memory_equal(&g->total, &plain->total, sizeof g->total);
    assert_memory_equal(&g->freed, &plain->freed, sizeof g->freed);
    for (uint32_t v = 0; v < real; v++) {
        assert_memory_equal(&g->vertices[v].total, &plain->vertices[v].total,
                            sizeof g->vertices[v].total);
        assert_int_equal(g->vertices[v].called, plain->vertices[v].called);
        assert_int_equal(g->vertices[v].recur, plain->vertices[v].recur);
    }
    sums_of_view(w, all_frames, NULL, &sums[0]);
    sums_of_view(w, all_frames, fake, &sums[1]);
    assert_memory_equal(&sums[0], &sums[1], sizeof sums[0]);
    naive_sums(w, all_frames, &sums[0]);
    for (uint32_t v = 0; v < w->names.count; v++) {
        const struct report__vertex *x = &g->vertices[v];
        assert_memory_equal(&x->self, &sums[0].own[v], sizeof x->self);
        assert_memory_equal(&x->freed, &sums[0].freed[v], sizeof x->freed);
        assert_int_equal(report__bytes(&x->total), sums[0].total[v]);
    }
}

static void totals_do_not_depend_on_inlining(void **state) {
    (void)state;

    for (unsigned seed = 1; seed <= 2000; seed++) {
        struct world w;
        srand(seed);
        world_start(&w);
        random_world(&w, seed % 2 ? MPROF_C_HEAP : MPROF_LISP_HEAP);
        check_random(&w, seed % 3 == 0);
        world_stop(&w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plumbing_and_parts_stay_where_they_are),
        cmocka_unit_test(totals_do_not_depend_on_inlining),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
