/* counted.c - read the counters of nodes, the frees by other threads, and the
 * results of scans.
 */
#include "report/data/trees.h"

#include <string.h>

/* In trees->counter: it belongs to a node, and its bin is missing. */
#define NOT_KNOWN UINT32_MAX

static unsigned __int128 sum_of(const uint64_t half[2]) {
    __int128 low = (int64_t)half[0];
    return ((unsigned __int128)half[1] << 64) + (unsigned __int128)low;
}

bool report__read_key(struct report__reader *r, uint64_t at, unsigned field,
                      uint32_t key, uint32_t thread, struct report__what *what,
                      bool *known) {
    const struct report__profile *p = r->profile;
    enum mprof_heap heap = p->threads[thread].heap;
    bool typed =
        r->header.version > MPROF_UNTYPED_VERSION && heap == MPROF_LISP_HEAP;

    *known = true;
    *what =
        (struct report__what){.heap = heap, .class_ = key, .bin = MPROF_NONE};
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

struct report__counter report__counter_of(uint32_t node,
                                          const struct report__what *what,
                                          struct mprof_count allocated) {
    return (struct report__counter){.node = node,
                                    .site = MPROF_NONE,
                                    .bin = what->bin,
                                    .heap = (uint8_t)what->heap,
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
    struct report__what what;
    const struct report__thread *of = &p->threads[p->nodes[node].thread];
    bool lives = mprof_knows_lives(of->heap, of->flags);

    report__take(r, at, &counter, sizeof counter);
    if (lives ? !report__read_lives(r, at, of->heap, &in)
              : !report__read_lisp_counter(r, at, &in.number.allocated))
        return false;
    *next = counter.next;
    if (!report__read_key(r, at, MPROF_FIELD(counter, key), counter.key,
                          p->nodes[node].thread, &what, known))
        return false;
    *out = report__counter_of(node, &what, n->allocated);
    if (of->heap == MPROF_LISP_HEAP)
        out->site = p->nodes[node].site;
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
        out->site = report__calls_more(r, node) ? MPROF_NONE : site;
    else if (!p->open)
        return report__damaged(r, at + MPROF_FIELD(c_counter, site),
                               "a call site of another function");
    return true;
}

bool report__read_counters(struct report__reader *r, uint64_t at,
                           uint32_t index, uint32_t thread) {
    struct report__profile *p = r->profile;
    struct report__counter out;
    unsigned field = MPROF_FIELD(node, counter);
    mprof_ref ref = p->nodes[index].thread;

    p->nodes[index].thread = thread;
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
        if (r->found != thread)
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

/* Return the counter that was read from THING; NULL: it belongs to no node, or
 * its bin is missing. */
static struct report__counter *known_counter(const struct report__reader *r,
                                             uint32_t thing) {
    uint32_t counter = r->trees->counter[thing];
    return counter == 0 || counter == NOT_KNOWN
               ? NULL
               : &r->profile->counters[counter - 1];
}

bool report__follow_counter(struct report__reader *r, uint64_t at,
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

static bool read_freed(struct report__reader *r, uint64_t at) {
    struct mprof_freed in;
    struct report__counter *out;
    uint32_t thread;

    report__take(r, at, &in, sizeof in);
    if (!report__follow(r, REF(thread), MPROF_THREAD, 0, &thread) ||
        !report__follow_counter(r, REF(counter), &out))
        return false;
    if (out == NULL)
        return true;
    if (r->profile->threads[thread].heap != MPROF_C_HEAP ||
        out->heap != MPROF_C_HEAP)
        return report__damaged(r, AT(freed), "Lisp frees nothing");
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

    report__take(r, at, &in, sizeof in);
    if (!report__follow_counter(r, REF(counter), &out))
        return false;
    if (out == NULL)
        return true;
    if (out->heap != MPROF_C_HEAP)
        return report__damaged(r, AT(count), "Lisp loses nothing");
    /* Blocks that an earlier scan found may be freed by now. */
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

bool report__add_elsewhere(struct report__reader *r, uint64_t at,
                           unsigned field, mprof_ref ref, uint32_t thread,
                           const struct mprof_count *count) {
    struct report__counter *out;

    if (!report__follow_counter(r, at, field, ref, &out))
        return false;
    if (out == NULL)
        return true;
    if (out->lived == NULL || r->found != thread)
        return report__damaged(r, at + field,
                               "a counter of another thread's node");
    report__add_count(&out->lived->elsewhere, count);
    return true;
}

bool report__read_frees(struct report__reader *r) {
    for (uint32_t i = 0; i < r->count[MPROF_FREED]; i++)
        if (!read_freed(r, (uint64_t)r->refs[MPROF_FREED][i] * 8))
            return false;
    return report__each_thing(r, MPROF_COUNTERS, check_frees);
}

bool report__read_lost(struct report__reader *r) {
    for (uint32_t i = 0; i < r->count[MPROF_LOST]; i++)
        if (!read_lost(r, (uint64_t)r->refs[MPROF_LOST][i] * 8))
            return false;
    return true;
}
