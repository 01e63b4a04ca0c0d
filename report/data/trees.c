/* trees.c - the last pass of the reader: what is in the blocks.
 *
 * Nodes, the counters that they lead to, the call sites of both, and what other
 * threads have freed.
 */
#include "report/data/reader.h"

#include <stdlib.h>
#include <string.h>

#include "report/base/search.h"

/* A call site of a node; see report__first_above(). */
struct call {
    uint64_t key; /* node and site */
    uint32_t edge;
};

struct report__trees {
    uint32_t *own_edge; /* by node: the edge of its call, or MPROF_NONE */
    struct call *calls; /* other edges, sorted */
    uint32_t call_count;
    uint32_t *counter; /* by thing: 1 + index of what was made of it, or 0 */
};

static uint64_t key_of(uint32_t node, uint32_t site) {
    return (uint64_t)node << 32 | site;
}

static uint32_t add_edge(struct report__reader *r, uint32_t node,
                         uint32_t site) {
    struct report__profile *p = r->profile;
    p->edges[p->edge_count] =
        (struct report__edge){.node = node,
                              .module = r->sites[site].module,
                              .return_address = r->sites[site].return_address};
    return p->edge_count++;
}

/* The function that a node's CALL means, and its *SITE, or MPROF_NONE. */
static bool read_call(struct report__reader *r, uint64_t owner, mprof_ref call,
                      uint32_t *function, uint32_t *site) {
    const unsigned field = MPROF_FIELD(node, call);
    *site = MPROF_NONE;
    if (report__is_record(r, MPROF_FUNCTION, call))
        return report__follow(r, owner, field, call, MPROF_FUNCTION,
                              MPROF_LATER, function);
    *function = MPROF_NONE;
    if (!report__follow(r, owner, field, call, MPROF_SITE, MPROF_LATER, site))
        return false;
    if (*site != MPROF_NONE)
        *function = r->sites[*site].function;
    return true;
}

static bool read_node(struct report__reader *r, uint64_t at, uint32_t index,
                      uint32_t thread) {
    struct report__profile *p = r->profile;
    struct report__node *out = &p->nodes[index];
    struct mprof_node in;
    uint32_t site;

    memcpy(&in, r->data + at, sizeof in);
    *out = (struct report__node){.thread = thread, .function = MPROF_NONE};
    r->trees->own_edge[index] = MPROF_NONE;
    if (!report__follow_thing(r, at, MPROF_FIELD(node, parent), in.parent,
                              MPROF_NODES, MPROF_OPTIONAL, &out->parent))
        return false;
    if (in.parent != 0 && out->parent >= index)
        return report__damaged(r, at + MPROF_FIELD(node, parent),
                               "a ref leads forwards");
    if (in.parent && p->nodes[out->parent].thread != thread)
        return report__damaged(r, at + MPROF_FIELD(node, parent),
                               "a node is in another thread than its parent");
    if (in.parent == 0)
        return in.call == 0
                   ? true
                   : report__damaged(r, at + MPROF_FIELD(node, call),
                                     "the root of a thread has a function");
    if (!read_call(r, at, in.call, &out->function, &site))
        return false;
    /* Made while the file was read: for now it is its caller. */
    if (out->function == MPROF_NONE)
        *out = p->nodes[out->parent];
    else if (site != MPROF_NONE)
        r->trees->own_edge[index] = add_edge(r, index, site);
    return true;
}

static bool read_edge(struct report__reader *r, uint64_t at, uint32_t index,
                      uint32_t thread) {
    struct report__trees *t = r->trees;
    struct mprof_edge in;
    uint32_t node, site;

    (void)index;
    memcpy(&in, r->data + at, sizeof in);
    if (!report__follow_thing(r, at, MPROF_FIELD(edge, node), in.node,
                              MPROF_NODES, 0, &node) ||
        !report__follow(r, at, MPROF_FIELD(edge, site), in.site, MPROF_SITE,
                        MPROF_LATER, &site))
        return false;
    if (node == MPROF_NONE || site == MPROF_NONE)
        return true;
    if (r->profile->nodes[node].thread != thread)
        return report__damaged(r, at + MPROF_FIELD(edge, node),
                               "a call site of another thread's node");
    if (r->profile->nodes[node].function != r->sites[site].function)
        return r->profile->open
                   ? true
                   : report__damaged(r, at + MPROF_FIELD(edge, site),
                                     "a call site of another function");
    t->calls[t->call_count++] = (struct call){.key = key_of(node, site),
                                              .edge = add_edge(r, node, site)};
    return true;
}

static int compare_calls(const void *a, const void *b) {
    const struct call *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->edge > y->edge) - (x->edge < y->edge);
}

/* The edge of NODE at SITE, which is one of its function's. */
static uint32_t edge_at(struct report__reader *r, uint32_t node,
                        uint32_t site) {
    struct report__trees *t = r->trees;
    const struct report__site *s = &r->sites[site];
    uint32_t own = t->own_edge[node];

    if (own != MPROF_NONE && r->profile->edges[own].module == s->module &&
        r->profile->edges[own].return_address == s->return_address)
        return own;
    size_t above = report__first_above(t->calls, t->call_count,
                                       sizeof *t->calls, key_of(node, site));
    if (above > 0 && t->calls[above - 1].key == key_of(node, site))
        return t->calls[above - 1].edge;
    /* There was no room to tell. */
    return add_edge(r, node, site);
}

/* The counter at byte AT belongs to NODE. */
static bool read_counter(struct report__reader *r, uint64_t at, uint32_t node,
                         struct report__counter *out, mprof_ref *next) {
    const struct report__profile *p = r->profile;
    struct mprof_c_counter in = {.thread = 0};
    uint32_t thread, site;
    bool c = p->threads[p->nodes[node].thread].heap == MPROF_C_HEAP;

    memcpy(&in, r->data + at, c ? sizeof in : sizeof in.counter);
    *next = in.counter.next;
    if (in.counter.class_ >= MPROF_CLASSES)
        return report__damaged(r, at + MPROF_FIELD(counter, class_),
                               "no such class");
    *out = (struct report__counter){.node = node,
                                    .edge = MPROF_NONE,
                                    .class_ = in.counter.class_,
                                    .allocated = in.counter.allocated,
                                    .freed = in.freed};
    if (!c)
        return true;
    if (!report__follow(r, at, MPROF_FIELD(c_counter, thread), in.thread,
                        MPROF_THREAD, 0, &thread) ||
        !report__follow(r, at, MPROF_FIELD(c_counter, site), in.site,
                        MPROF_SITE, MPROF_OPTIONAL | MPROF_LATER, &site))
        return false;
    if (thread != p->nodes[node].thread)
        return report__damaged(r, at + MPROF_FIELD(c_counter, thread),
                               "a counter of another thread's node");
    if (site == MPROF_NONE)
        return true;
    if (p->nodes[node].function == r->sites[site].function)
        out->edge = edge_at(r, node, site);
    else if (!p->open)
        return report__damaged(r, at + MPROF_FIELD(c_counter, site),
                               "a call site of another function");
    return true;
}

/* All counters of node INDEX, which is at byte AT, oldest first. */
static bool read_counters(struct report__reader *r, uint64_t at, uint32_t index,
                          uint32_t thread) {
    struct report__profile *p = r->profile;
    struct mprof_node in;
    struct report__counter out;
    unsigned field = MPROF_FIELD(node, counter);

    memcpy(&in, r->data + at, sizeof in);
    mprof_ref ref = in.counter;
    for (;;) {
        uint32_t thing;
        if (!report__follow_thing(r, at, field, ref, MPROF_COUNTERS,
                                  MPROF_OPTIONAL, &thing))
            return false;
        if (thing == MPROF_NONE)
            return true;
        if (r->trees->counter[thing] != 0)
            return report__damaged(r, at + field,
                                   "a counter belongs to two nodes");
        if (report__thing_thread(r, MPROF_COUNTERS, ref) != thread)
            return report__damaged(r, at + field,
                                   "a counter of another thread's node");
        at = (uint64_t)ref * 8;
        field = MPROF_FIELD(counter, next);
        if (!read_counter(r, at, index, &out, &ref))
            return false;
        p->counters[p->counter_count++] = out;
        r->trees->counter[thing] = p->counter_count;
    }
}

static bool read_freed(struct report__reader *r, uint64_t at) {
    struct mprof_freed in;
    uint32_t thread, thing;

    memcpy(&in, r->data + at, sizeof in);
    if (!report__follow(r, at, MPROF_FIELD(freed, thread), in.thread,
                        MPROF_THREAD, 0, &thread) ||
        !report__follow_thing(r, at, MPROF_FIELD(freed, counter), in.counter,
                              MPROF_COUNTERS, 0, &thing))
        return false;
    if (thing == MPROF_NONE || r->trees->counter[thing] == 0)
        return r->profile->open
                   ? true
                   : report__damaged(r, at + MPROF_FIELD(freed, counter),
                                     "a counter of no node");
    struct report__counter *out =
        &r->profile->counters[r->trees->counter[thing] - 1];
    uint32_t owner = r->profile->nodes[out->node].thread;
    if (r->profile->threads[thread].heap != MPROF_C_HEAP ||
        r->profile->threads[owner].heap != MPROF_C_HEAP)
        return report__damaged(r, at + MPROF_FIELD(freed, freed),
                               "Lisp frees nothing");
    out->freed.allocs += in.freed.allocs;
    out->freed.bytes += in.freed.bytes;
    return true;
}

/* While the program runs, a free may be in the file before the allocation. */
static bool check_frees(struct report__reader *r, uint64_t at, uint32_t index,
                        uint32_t thread) {
    (void)thread;
    if (r->trees->counter[index] == 0)
        return true;
    struct report__counter *counter =
        &r->profile->counters[r->trees->counter[index] - 1];
    struct mprof_count *freed = &counter->freed;
    const struct mprof_count *own = &counter->allocated;
    if (freed->allocs <= own->allocs && freed->bytes <= own->bytes)
        return true;
    if (!r->profile->open)
        return report__damaged(r, at, "more is freed than was allocated");
    if (freed->allocs > own->allocs)
        freed->allocs = own->allocs;
    if (freed->bytes > own->bytes)
        freed->bytes = own->bytes;
    return true;
}

static void prepare(struct report__reader *r) {
    struct report__profile *p = r->profile;
    struct report__trees *t = r->trees;
    size_t nodes = r->things[MPROF_NODES], edges = r->things[MPROF_EDGES];
    size_t counters = r->things[MPROF_COUNTERS];

    p->nodes = report__alloc(r->pool, nodes, sizeof *p->nodes);
    p->edges =
        report__alloc(r->pool, nodes + edges + counters, sizeof *p->edges);
    p->counters = report__alloc(r->pool, counters, sizeof *p->counters);
    t->own_edge = report__alloc(r->pool, nodes, sizeof *t->own_edge);
    t->calls = report__alloc(r->pool, edges, sizeof *t->calls);
    t->counter = report__alloc(r->pool, counters, sizeof *t->counter);
    p->node_count = (uint32_t)nodes;
}

bool report__read_trees(struct report__reader *r) {
    struct report__trees trees = {.call_count = 0};

    r->trees = &trees;
    if (!report__count_things(r, MPROF_NODES) ||
        !report__count_things(r, MPROF_EDGES) ||
        !report__count_things(r, MPROF_COUNTERS))
        return false;
    prepare(r);
    if (!report__each_thing(r, MPROF_NODES, read_node) ||
        !report__each_thing(r, MPROF_EDGES, read_edge))
        return false;
    if (trees.call_count > 0)
        qsort(trees.calls, trees.call_count, sizeof *trees.calls,
              compare_calls);
    if (!report__each_thing(r, MPROF_NODES, read_counters))
        return false;
    for (uint32_t i = 0; i < r->count[MPROF_FREED]; i++)
        if (!read_freed(r, (uint64_t)r->refs[MPROF_FREED][i] * 8))
            return false;
    if (!report__each_thing(r, MPROF_COUNTERS, check_frees))
        return false;
    report__drop(r->pool, trees.own_edge);
    report__drop(r->pool, trees.calls);
    report__drop(r->pool, trees.counter);
    return true;
}
