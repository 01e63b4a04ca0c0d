/* spills.c - what was counted when a tree was full: in small trees, and in
 * totals.
 */
#include "report/data/trees.h"

#include <string.h>

bool report__read_spill_counters(struct report__reader *r, uint64_t at,
                                 uint32_t index, uint32_t thread) {
    struct report__profile *p = r->profile;
    struct mprof_node node;
    unsigned field = MPROF_FIELD(node, counter);
    const struct report__thread *of = &p->threads[thread];
    bool lives = mprof_knows_lives(of->heap, of->flags);
    struct report__what what;
    bool known;

    report__take(r, at, &node, sizeof node);
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
        if (r->trees->is_seen[thing] || r->found != thread)
            return report__damaged(r, at + field,
                                   "a counter belongs to two nodes");
        r->trees->is_seen[thing] = true;
        at = (uint64_t)ref * 8;
        field = MPROF_FIELD(counter, next);
        report__take(r, at, &in, lives ? sizeof in : sizeof in.counter);
        if (!lives && !report__read_lisp_counter(r, at, &in.allocated))
            return false;
        ref = in.counter.next;
        if (!report__read_key(r, at, MPROF_FIELD(counter, key), in.counter.key,
                              thread, &what, &known))
            return false;
        if (!known)
            continue;
        struct report__counter *out = &p->counters[p->counter_count++];
        *out = report__counter_of(r->things[MPROF_NODES] + index, &what,
                                  in.allocated);
        out->is_spill = true;
        /* In a copy of a running recording it may be missing. */
        if (in.short_ != 0 &&
            !report__add_elsewhere(r, REF(short_), thread, &in.allocated))
            return false;
    }
    return true;
}

/* Read a total's function; in an open file it may be missing. */
static bool read_function(struct report__reader *r, uint64_t at, unsigned field,
                          mprof_ref ref, uint32_t *function) {
    if (ref == MPROF_TOP) {
        *function = MPROF_TOP_FUNCTION;
        return true;
    }
    return report__follow(r, at, field, ref, MPROF_FUNCTION, MPROF_LATER,
                          function);
}

bool report__read_total(struct report__reader *r, uint64_t at, uint32_t index,
                        uint32_t thread) {
    struct report__profile *p = r->profile;
    struct mprof_total in;
    struct report__total *out = &p->totals[p->total_count];
    struct report__what what = {.bin = MPROF_NONE};
    bool known = true;

    (void)index;
    report__take(r, at, &in, sizeof in);
    if (in.kind >= MPROF_TOTAL_KINDS || in.class_ >= MPROF_CLASSES ||
        in.views == 0 || in.views > (MPROF_SHOWN_FRAMES | MPROF_ALL_FRAMES))
        return report__damaged(r, AT(kind), "no such total");
    if (in.kind == MPROF_SELF && in.caller != 0 &&
        !report__read_key(r, REF(caller), thread, &what, &known))
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
        return report__add_elsewhere(r, REF(function), thread, &out->count);
    if (in.kind == MPROF_ARC && in.caller != 0 &&
        !read_function(r, REF(caller), &out->caller))
        return false;
    if (!read_function(r, REF(function), &out->function))
        return false;
    /* A total that was never valid: the program was killed when it was made. */
    if (out->function != MPROF_NONE &&
        (out->count.allocs != 0 || out->count.bytes != 0))
        p->total_count++;
    return true;
}
