/* trees.c - the last pass of the reader: the blocks.
 *
 * Nodes and their call sites are read here; counters in counted.c and, where a
 * tree was full, in spills.c.
 */
#include "report/data/trees.h"

#include <string.h>

/* The function that a node's CALL means, and its *SITE, or MPROF_NONE. */
static bool find_call(struct report__reader *r, uint64_t owner, mprof_ref call,
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
        *function = r->profile->sites[*site].function;
    return true;
}

/* The same, of which there are many times as many as calls. */
static bool read_call(struct report__reader *r, uint64_t owner, mprof_ref call,
                      uint32_t *function, uint32_t *site) {
    struct report__known_call *known =
        &r->trees->known[call % MPROF_KNOWN_CALLS];
    if (known->call != call || call == 0) {
        if (!find_call(r, owner, call, function, site))
            return false;
        *known = (struct report__known_call){call, *function, *site};
    }
    *function = known->function;
    *site = known->site;
    return true;
}

/* Return the node of TYPE, the profile's INDEX, as it is in the file. */
static struct mprof_node node_at(struct report__reader *r, uint64_t at,
                                 uint32_t type, uint32_t index) {
    const struct report__node *node = &r->profile->nodes[index];
    struct mprof_node in = {.parent = node->parent,
                            .call = node->function,
                            .counter = node->thread};
    if (type != MPROF_NODES)
        report__take(r, at, &in, sizeof in);
    return in;
}

/* Read a thing of TYPE, a node: nodes of spills come after the others. */
static bool read_node_of(struct report__reader *r, uint64_t at, uint32_t type,
                         uint32_t index, uint32_t thread) {
    struct report__profile *p = r->profile;
    uint32_t first = type == MPROF_NODES ? 0 : r->things[MPROF_NODES];
    index += first;
    struct report__node *out = &p->nodes[index];
    struct mprof_node in = node_at(r, at, type, index);
    uint32_t thread_or_counter = thread;

    /* The ref of its first counter, until counters are read. */
    if (type == MPROF_NODES)
        thread_or_counter = in.counter;
    *out = (struct report__node){.thread = thread_or_counter,
                                 .function = MPROF_NONE,
                                 .site = MPROF_NONE};
    if (!report__follow_thing(r, REF(parent), type, MPROF_OPTIONAL,
                              &out->parent))
        return false;
    if (out->parent != MPROF_NONE)
        out->parent += first;
    if (in.parent != 0 && out->parent >= index)
        return report__damaged(r, AT(parent), "a ref leads forwards");
    if (in.parent != 0 && r->found != thread)
        return report__damaged(r, AT(parent),
                               "a node is in another thread than its parent");
    if (in.parent == 0)
        return in.call == 0
                   ? true
                   : report__damaged(r, AT(call),
                                     "the root of a thread has a function");
    if (!read_call(r, at, in.call, &out->function, &out->site))
        return false;
    /* Made while the file was read: for now it is its caller. */
    if (out->function == MPROF_NONE) {
        *out = p->nodes[out->parent];
        out->thread = thread_or_counter;
    } else if (type != MPROF_NODES || report__calls_more(r, index)) {
        out->site = MPROF_NONE;
    }
    return true;
}

static bool read_node(struct report__reader *r, uint64_t at, uint32_t index,
                      uint32_t thread) {
    return read_node_of(r, at, MPROF_NODES, index, thread);
}

static bool read_spill_node(struct report__reader *r, uint64_t at,
                            uint32_t index, uint32_t thread) {
    return read_node_of(r, at, MPROF_SPILL_NODES, index, thread);
}

/* In old files a node with edges has several call sites.  How often each of
 * them called is not known: so the node has none. */
static bool read_edge(struct report__reader *r, uint64_t at, uint32_t index,
                      uint32_t thread) {
    struct mprof_edge in;
    uint32_t node;

    (void)index;
    report__take(r, at, &in, sizeof in);
    if (!report__follow_thing(r, REF(node), MPROF_NODES, 0, &node))
        return false;
    if (node == MPROF_NONE)
        return true;
    if (r->found != thread)
        return report__damaged(r, AT(node),
                               "a call site of another thread's node");
    r->trees->calls_more[node] = true;
    return true;
}

static void prepare(struct report__reader *r) {
    struct report__profile *p = r->profile;
    struct report__trees *t = r->trees;
    size_t nodes = r->things[MPROF_NODES];
    size_t counters = r->things[MPROF_COUNTERS];
    size_t spilled = r->things[MPROF_SPILL_COUNTERS];

    nodes += r->things[MPROF_SPILL_NODES];
    p->nodes = r->nodes;
    p->counters =
        report__alloc(r->pool, counters + spilled, sizeof *p->counters);
    p->totals =
        report__alloc(r->pool, r->things[MPROF_TOTALS], sizeof *p->totals);
    if (r->things[MPROF_EDGES] > 0)
        t->calls_more = report__alloc(r->pool, nodes, sizeof *t->calls_more);
    t->counter = report__alloc(r->pool, counters, sizeof *t->counter);
    t->is_seen = report__alloc(r->pool, spilled, sizeof *t->is_seen);
    p->node_count = (uint32_t)nodes;
}

static bool count_things(struct report__reader *r) {
    static const uint32_t types[] = {MPROF_NODES,          MPROF_EDGES,
                                     MPROF_COUNTERS,       MPROF_SPILL_NODES,
                                     MPROF_SPILL_COUNTERS, MPROF_TOTALS};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!report__count_things(r, types[i]))
            return false;
    return true;
}

bool report__read_trees(struct report__reader *r) {
    struct report__trees trees = {.calls_more = NULL};

    r->trees = &trees;
    if (!count_things(r))
        return false;
    prepare(r);
    if (!report__each_thing(r, MPROF_EDGES, read_edge) ||
        !report__each_thing(r, MPROF_NODES, read_node) ||
        !report__each_thing(r, MPROF_SPILL_NODES, read_spill_node) ||
        !report__each_thing(r, MPROF_NODES, report__read_counters) ||
        !report__each_thing(r, MPROF_SPILL_NODES,
                            report__read_spill_counters) ||
        !report__each_thing(r, MPROF_TOTALS, report__read_total) ||
        !report__read_frees(r) || !report__read_lost(r) ||
        !report__read_keepers(r))
        return false;
    report__drop(r->pool, trees.calls_more);
    report__drop(r->pool, trees.counter);
    report__drop(r->pool, trees.is_seen);
    return true;
}
