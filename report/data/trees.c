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
    /* For call sites of the C heap; NULL where that was not recorded. */
    uint32_t *own_edge; /* by node: the edge of its call, or MPROF_NONE */
    struct call *calls; /* other edges, sorted */
    uint32_t call_count;
    uint32_t *counter; /* by thing: 1 + index of what was made of it, or 0; or
                        * NOT_KNOWN: it belongs to a node, and its bin is
                        * missing */
    bool *is_seen;     /* by thing in SPILL_COUNTERS: it has its node */
};

#define NOT_KNOWN UINT32_MAX

static uint64_t key_of(uint32_t node, uint32_t site) {
    return (uint64_t)node << 32 | site;
}

static uint32_t add_edge(struct report__reader *r, uint32_t node,
                         uint32_t site) {
    struct report__profile *p = r->profile;
    p->edges[p->edge_count] = (struct report__edge){.node = node, .site = site};
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
        *function = r->profile->sites[*site].function;
    return true;
}

/* Things of TYPE that are nodes: those of spills come after the others. */
static bool read_node_of(struct report__reader *r, uint64_t at, uint32_t type,
                         uint32_t index, uint32_t thread) {
    struct report__profile *p = r->profile;
    uint32_t first = type == MPROF_NODES ? 0 : r->things[MPROF_NODES];
    index += first;
    struct report__node *out = &p->nodes[index];
    struct mprof_node in;
    uint32_t site;

    memcpy(&in, r->data + at, sizeof in);
    *out = (struct report__node){.thread = thread, .function = MPROF_NONE};
    if (r->trees->own_edge != NULL)
        r->trees->own_edge[index] = MPROF_NONE;
    if (!report__follow_thing(r, at, MPROF_FIELD(node, parent), in.parent, type,
                              MPROF_OPTIONAL, &out->parent))
        return false;
    if (out->parent != MPROF_NONE)
        out->parent += first;
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
    else if (site != MPROF_NONE && type == MPROF_NODES) {
        uint32_t edge = add_edge(r, index, site);
        if (r->trees->own_edge != NULL)
            r->trees->own_edge[index] = edge;
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
    if (r->profile->nodes[node].function != r->profile->sites[site].function)
        return r->profile->open
                   ? true
                   : report__damaged(r, at + MPROF_FIELD(edge, site),
                                     "a call site of another function");
    uint32_t edge = add_edge(r, node, site);
    if (t->calls != NULL)
        t->calls[t->call_count++] =
            (struct call){.key = key_of(node, site), .edge = edge};
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
    const struct report__site *s = &r->profile->sites[site];
    uint32_t own = t->own_edge[node];

    if (own != MPROF_NONE) {
        const struct report__site *other = report__site_of(r->profile, own);
        if (other->module == s->module &&
            other->return_address == s->return_address)
            return own;
    }
    size_t above = report__first_above(t->calls, t->call_count,
                                       sizeof *t->calls, key_of(node, site));
    if (above > 0 && t->calls[above - 1].key == key_of(node, site))
        return t->calls[above - 1].edge;
    /* There was no room to tell. */
    return add_edge(r, node, site);
}

static unsigned __int128 sum_of(const uint64_t half[2]) {
    __int128 low = (int64_t)half[0];
    return ((unsigned __int128)half[1] << 64) + (unsigned __int128)low;
}

/* What a counter or total counts. */
struct what {
    uint32_t class_, bin;
    bool is_storage;
};

/* What KEY means, in the FIELD of the thing at byte AT, of THREAD.  *KNOWN is
 * false where its bin is missing, in a file that is open. */
static bool read_key(struct report__reader *r, uint64_t at, unsigned field,
                     uint32_t key, uint32_t thread, struct what *what,
                     bool *known) {
    const struct report__profile *p = r->profile;
    bool typed = r->header.version > MPROF_UNTYPED_VERSION &&
                 p->threads[thread].heap == MPROF_LISP_HEAP;

    *known = true;
    *what = (struct what){.class_ = key, .bin = MPROF_NONE};
    if (!mprof_key_has_type(key))
        return true;
    if (!typed)
        return report__damaged(r, at + field, "no such class");
    if (!report__follow(r, at, field, mprof_key_bin(key), MPROF_BIN,
                        MPROF_LATER, &what->bin))
        return false;
    *known = what->bin != MPROF_NONE;
    if (!*known)
        return true;
    if (p->bins[what->bin].thread != thread)
        return report__damaged(r, at + field, "a type of another thread's");
    what->class_ = p->bins[what->bin].class_;
    what->is_storage = key & MPROF_STORAGE;
    return true;
}

static struct report__counter counter_of(uint32_t node, const struct what *what,
                                         struct mprof_count allocated) {
    return (struct report__counter){.node = node,
                                    .edge = MPROF_NONE,
                                    .bin = what->bin,
                                    .class_ = (uint8_t)what->class_,
                                    .is_storage = what->is_storage,
                                    .allocated = allocated};
}

/* The counter at byte AT belongs to NODE. */
static bool read_counter(struct report__reader *r, uint64_t at, uint32_t node,
                         struct report__counter *out, mprof_ref *next,
                         bool *known) {
    const struct report__profile *p = r->profile;
    struct report__lives in = {.thread = 0};
    struct mprof_counter counter;
    const struct mprof_c_numbers *n = &in.number;
    uint32_t thread, site;
    struct what what;
    const struct report__thread *of = &p->threads[p->nodes[node].thread];
    bool lives = mprof_knows_lives(of->heap, of->flags);

    memcpy(&counter, r->data + at, sizeof counter);
    if (lives ? !report__read_lives(r, at, of->heap, &in)
              : !report__read_lisp_counter(r, at, &in.number.allocated))
        return false;
    *next = counter.next;
    if (!read_key(r, at, MPROF_FIELD(counter, key), counter.key,
                  p->nodes[node].thread, &what, known))
        return false;
    *out = counter_of(node, &what, n->allocated);
    if (!lives)
        return true;
    struct report__lived *lived = report__alloc(r->pool, 1, sizeof *lived);
    out->lived = lived;
    lived->freed = n->freed;
    if (of->heap == MPROF_LISP_HEAP) {
        lived->lifetime = n->lifetime[0] >> 63 ? 0 : n->lifetime[0];
        return true;
    }
    lived->temporary = n->temporary;
    lived->lifetime = sum_of(n->lifetime);
    lived->at_peak = n->at_peak;
    if (n->stamp != p->counted_peak)
        lived->at_peak = (struct mprof_count){
            n->allocated.allocs + n->spilled.allocs - n->freed.allocs,
            n->allocated.bytes + n->spilled.bytes - n->freed.bytes};
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
    if (p->nodes[node].function == p->sites[site].function)
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
        bool known;
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
        if (!read_counter(r, at, index, &out, &ref, &known))
            return false;
        r->trees->counter[thing] = NOT_KNOWN;
        if (!known)
            continue;
        p->counters[p->counter_count++] = out;
        r->trees->counter[thing] = p->counter_count;
    }
}

/* What was read of the THING, a counter; NULL: it belongs to no node, or its
 * bin is missing. */
static struct report__counter *known_counter(const struct report__reader *r,
                                             uint32_t thing) {
    uint32_t counter = r->trees->counter[thing];
    return counter == 0 || counter == NOT_KNOWN
               ? NULL
               : &r->profile->counters[counter - 1];
}

/* The counter at REF, of a record's FIELD; *COUNTER is NULL where there is none
 * yet, in a file that is open. */
static bool follow_counter(struct report__reader *r, uint64_t at,
                           unsigned field, mprof_ref ref,
                           struct report__counter **counter) {
    uint32_t thing;

    *counter = NULL;
    if (!report__follow_thing(r, at, field, ref, MPROF_COUNTERS, 0, &thing))
        return false;
    if (thing != MPROF_NONE)
        *counter = known_counter(r, thing);
    if (*counter == NULL && !r->profile->open)
        return report__damaged(r, at + field, "a counter of no node");
    return true;
}

static bool is_c(const struct report__reader *r,
                 const struct report__counter *counter) {
    uint32_t thread = r->profile->nodes[counter->node].thread;
    return r->profile->threads[thread].heap == MPROF_C_HEAP;
}

static bool read_freed(struct report__reader *r, uint64_t at) {
    struct mprof_freed in;
    struct report__counter *out;
    uint32_t thread;

    memcpy(&in, r->data + at, sizeof in);
    if (!report__follow(r, at, MPROF_FIELD(freed, thread), in.thread,
                        MPROF_THREAD, 0, &thread) ||
        !follow_counter(r, at, MPROF_FIELD(freed, counter), in.counter, &out))
        return false;
    if (out == NULL)
        return true;
    if (r->profile->threads[thread].heap != MPROF_C_HEAP || !is_c(r, out))
        return report__damaged(r, at + MPROF_FIELD(freed, freed),
                               "Lisp frees nothing");
    report__add_count(&out->lived->freed, &in.freed);
    out->lived->lifetime += sum_of(in.lifetime);
    const struct mprof_count *before =
        in.stamp == r->profile->counted_peak ? &in.at_peak : &in.freed;
    out->lived->at_peak.allocs -= before->allocs;
    out->lived->at_peak.bytes -= before->bytes;
    return true;
}

static bool read_lost(struct report__reader *r, uint64_t at) {
    struct mprof_lost in;
    struct report__counter *out;

    memcpy(&in, r->data + at, sizeof in);
    if (!follow_counter(r, at, MPROF_FIELD(lost, counter), in.counter, &out))
        return false;
    if (out == NULL)
        return true;
    if (!is_c(r, out))
        return report__damaged(r, at + MPROF_FIELD(lost, count),
                               "Lisp loses nothing");
    /* What an earlier scan found may be freed by now. */
    if (in.scan == r->profile->scan)
        report__add_lost(&out->lived->lost, &in.count);
    return true;
}

/* While the program runs, a free may be in the file before the allocation. */
static bool check_frees(struct report__reader *r, uint64_t at, uint32_t index,
                        uint32_t thread) {
    (void)thread;
    const struct report__counter *counter = known_counter(r, index);
    if (counter == NULL || counter->lived == NULL)
        return true;
    struct mprof_count *freed = &counter->lived->freed;
    struct mprof_count own = counter->allocated;
    report__add_count(&own, &counter->lived->elsewhere);
    if (freed->allocs <= own.allocs && freed->bytes <= own.bytes)
        return true;
    if (!r->profile->open)
        return report__damaged(r, at, "more is freed than was allocated");
    if (freed->allocs > own.allocs)
        freed->allocs = own.allocs;
    if (freed->bytes > own.bytes)
        freed->bytes = own.bytes;
    return true;
}

/* The counter of a short chain at REF has COUNT elsewhere. */
static bool add_elsewhere(struct report__reader *r, uint64_t at, unsigned field,
                          mprof_ref ref, uint32_t thread,
                          const struct mprof_count *count) {
    struct report__counter *out;

    if (!follow_counter(r, at, field, ref, &out))
        return false;
    if (out == NULL)
        return true;
    if (out->lived == NULL ||
        report__thing_thread(r, MPROF_COUNTERS, ref) != thread)
        return report__damaged(r, at + field,
                               "a counter of another thread's node");
    report__add_count(&out->lived->elsewhere, count);
    return true;
}

/* The counters of a spill's node INDEX. */
static bool read_spill_counters(struct report__reader *r, uint64_t at,
                                uint32_t index, uint32_t thread) {
    struct report__profile *p = r->profile;
    struct mprof_node node;
    unsigned field = MPROF_FIELD(node, counter);
    const struct report__thread *of = &p->threads[thread];
    bool lives = mprof_knows_lives(of->heap, of->flags);
    struct what what;
    bool known;

    memcpy(&node, r->data + at, sizeof node);
    for (mprof_ref ref = node.counter; ref != 0;) {
        struct mprof_spill_counter in = {.short_ = 0};
        uint32_t thing;
        if (!report__follow_thing(r, at, field, ref, MPROF_SPILL_COUNTERS, 0,
                                  &thing))
            return false;
        if (thing == MPROF_NONE)
            return true;
        /* A thread may have gone on while the file was read. */
        if (r->trees->is_seen[thing] && p->open)
            return true;
        if (r->trees->is_seen[thing] ||
            report__thing_thread(r, MPROF_SPILL_COUNTERS, ref) != thread)
            return report__damaged(r, at + field,
                                   "a counter belongs to two nodes");
        r->trees->is_seen[thing] = true;
        at = (uint64_t)ref * 8;
        field = MPROF_FIELD(counter, next);
        memcpy(&in, r->data + at, lives ? sizeof in : sizeof in.counter);
        if (!lives && !report__read_lisp_counter(r, at, &in.allocated))
            return false;
        ref = in.counter.next;
        if (!read_key(r, at, MPROF_FIELD(counter, key), in.counter.key, thread,
                      &what, &known))
            return false;
        if (!known)
            continue;
        struct report__counter *out = &p->counters[p->counter_count++];
        *out = counter_of(r->things[MPROF_NODES] + index, &what, in.allocated);
        out->is_spill = true;
        /* In a copy of a running recording it may be missing. */
        if (in.short_ != 0 &&
            !add_elsewhere(r, at, MPROF_FIELD(spill_counter, short_), in.short_,
                           thread, &in.allocated))
            return false;
    }
    return true;
}

/* A function that is told in a total; in an open file it may be missing. */
static bool read_function(struct report__reader *r, uint64_t at, unsigned field,
                          mprof_ref ref, uint32_t *function) {
    if (ref == MPROF_TOP) {
        *function = MPROF_TOP_FUNCTION;
        return true;
    }
    return report__follow(r, at, field, ref, MPROF_FUNCTION, MPROF_LATER,
                          function);
}

static bool read_total(struct report__reader *r, uint64_t at, uint32_t index,
                       uint32_t thread) {
    struct report__profile *p = r->profile;
    struct mprof_total in;
    struct report__total *out = &p->totals[p->total_count];
    struct what what = {.bin = MPROF_NONE};
    bool known = true;

    (void)index;
    memcpy(&in, r->data + at, sizeof in);
    if (in.kind >= MPROF_TOTAL_KINDS || in.class_ >= MPROF_CLASSES ||
        in.views == 0 || in.views > (MPROF_SHOWN_FRAMES | MPROF_ALL_FRAMES))
        return report__damaged(r, at + MPROF_FIELD(total, kind),
                               "no such total");
    if (in.kind == MPROF_SELF && in.caller != 0 &&
        !read_key(r, at, MPROF_FIELD(total, caller), in.caller, thread, &what,
                  &known))
        return false;
    *out = (struct report__total){
        .thread = thread,
        .kind = in.kind,
        .views = in.views,
        .class_ = what.bin == MPROF_NONE ? in.class_ : what.class_,
        .bin = what.bin,
        .is_storage = what.is_storage,
        .caller = MPROF_NONE,
        .depth = {in.depth[0], in.depth[1]},
        .count = in.counts[p->threads[thread].true_counts]};
    if (in.kind == MPROF_SHORT)
        return add_elsewhere(r, at, MPROF_FIELD(total, function), in.function,
                             thread, &out->count);
    if (in.kind == MPROF_ARC && in.caller != 0 &&
        !read_function(r, at, MPROF_FIELD(total, caller), in.caller,
                       &out->caller))
        return false;
    if (!read_function(r, at, MPROF_FIELD(total, function), in.function,
                       &out->function))
        return false;
    /* What was never true: it was made when the program was killed. */
    if (out->function != MPROF_NONE &&
        (out->count.allocs != 0 || out->count.bytes != 0))
        p->total_count++;
    return true;
}

static void prepare(struct report__reader *r) {
    struct report__profile *p = r->profile;
    struct report__trees *t = r->trees;
    size_t nodes = r->things[MPROF_NODES], edges = r->things[MPROF_EDGES];
    size_t counters = r->things[MPROF_COUNTERS];
    size_t spilled = r->things[MPROF_SPILL_COUNTERS];

    p->edges =
        report__alloc(r->pool, nodes + edges + counters, sizeof *p->edges);
    nodes += r->things[MPROF_SPILL_NODES];
    p->nodes = report__alloc(r->pool, nodes, sizeof *p->nodes);
    p->counters =
        report__alloc(r->pool, counters + spilled, sizeof *p->counters);
    p->totals =
        report__alloc(r->pool, r->things[MPROF_TOTALS], sizeof *p->totals);
    if (report__has_heap(p, MPROF_C_HEAP)) {
        t->own_edge = report__alloc(r->pool, nodes, sizeof *t->own_edge);
        t->calls = report__alloc(r->pool, edges, sizeof *t->calls);
    }
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

static bool read_all_frees(struct report__reader *r) {
    for (uint32_t i = 0; i < r->count[MPROF_FREED]; i++)
        if (!read_freed(r, (uint64_t)r->refs[MPROF_FREED][i] * 8))
            return false;
    return report__each_thing(r, MPROF_COUNTERS, check_frees);
}

static bool read_all_lost(struct report__reader *r) {
    for (uint32_t i = 0; i < r->count[MPROF_LOST]; i++)
        if (!read_lost(r, (uint64_t)r->refs[MPROF_LOST][i] * 8))
            return false;
    return true;
}

bool report__read_trees(struct report__reader *r) {
    struct report__trees trees = {.call_count = 0};

    r->trees = &trees;
    if (!count_things(r))
        return false;
    prepare(r);
    if (!report__each_thing(r, MPROF_NODES, read_node) ||
        !report__each_thing(r, MPROF_SPILL_NODES, read_spill_node) ||
        !report__each_thing(r, MPROF_EDGES, read_edge))
        return false;
    if (trees.call_count > 0)
        qsort(trees.calls, trees.call_count, sizeof *trees.calls,
              compare_calls);
    if (!report__each_thing(r, MPROF_NODES, read_counters) ||
        !report__each_thing(r, MPROF_SPILL_NODES, read_spill_counters) ||
        !report__each_thing(r, MPROF_TOTALS, read_total) ||
        !read_all_frees(r) || !read_all_lost(r))
        return false;
    report__drop(r->pool, trees.own_edge);
    report__drop(r->pool, trees.calls);
    report__drop(r->pool, trees.counter);
    report__drop(r->pool, trees.is_seen);
    return true;
}
