/* samples.c - see samples.h.
 *
 * Of the C heap each counter of the tree has, beside its own, what chains that
 * end as its own does have elsewhere: the counters in spills say the same a
 * second time.  Of the Lisp heap these have their whole chains, and what was
 * summed up is known by function alone.
 */
#include "report/export/samples.h"

#include "report/graph/view.h"

struct walk {
    const struct report__profile *profile;
    const struct report__functions *names;
    const struct report__sampling *how;
    struct report__view view;
    uint32_t *room, most; /* for the innermost functions of a chain */
    void (*take)(void *data, const struct report__sample *sample);
    void *data;
};

static uint64_t left(uint64_t a, uint64_t b) {
    return a > b ? a - b : 0;
}

/* The depth of the deepest view node, but no more than is wanted. */
static uint32_t find_most(const struct walk *w, struct report__pool *pool) {
    uint32_t *depth = report__alloc(pool, w->view.count, sizeof *depth);
    uint32_t most = 0;

    for (uint32_t i = 0; i < w->view.count; i++) {
        uint32_t parent = w->view.list[i].parent;
        depth[i] = parent == MPROF_NONE ? 1 : depth[parent] + 1;
        if (depth[i] > most)
            most = depth[i];
    }
    report__drop(pool, depth);
    return w->how->depth > 0 && w->how->depth < most ? w->how->depth : most;
}

static void find_chain(const struct walk *w, uint32_t node,
                       struct report__sample *sample) {
    uint32_t vnode = w->view.of_node[node];

    for (; vnode != MPROF_NONE && sample->depth < w->most;
         vnode = w->view.list[vnode].parent)
        w->room[sample->depth++] = w->view.list[vnode].function;
    sample->is_deeper = vnode != MPROF_NONE;
    if (sample->depth == 0)
        w->room[sample->depth++] = MPROF_TOP_LEVEL;
}

static void take_counter(const struct walk *w,
                         const struct report__counter *counter) {
    struct report__sample sample = {.functions = w->room,
                                    .thread =
                                        w->profile->nodes[counter->node].thread,
                                    .class_ = counter->class_,
                                    .allocated = counter->allocated};
    if (w->how->heap == MPROF_C_HEAP && counter->is_spill)
        return;
    if (w->how->heap == MPROF_C_HEAP) {
        sample.allocated.allocs += counter->elsewhere.allocs;
        sample.allocated.bytes += counter->elsewhere.bytes;
        sample.kept.allocs =
            left(sample.allocated.allocs, counter->freed.allocs);
        sample.kept.bytes = left(sample.allocated.bytes, counter->freed.bytes);
        sample.at_peak = counter->at_peak;
        sample.temporary = counter->temporary;
    }
    if (sample.allocated.allocs == 0 && sample.allocated.bytes == 0)
        return;
    find_chain(w, counter->node, &sample);
    w->take(w->data, &sample);
}

static void take_total(const struct walk *w,
                       const struct report__total *total) {
    unsigned view = w->how->all_frames ? MPROF_ALL_FRAMES : MPROF_SHOWN_FRAMES;
    struct report__sample sample = {.functions = w->room,
                                    .depth = 1,
                                    .is_summed = true,
                                    .thread = total->thread,
                                    .class_ = total->class_,
                                    .allocated = total->count};
    if (total->kind != MPROF_SELF || !(total->views & view))
        return;
    w->room[0] = total->function == MPROF_TOP_FUNCTION
                     ? MPROF_TOP_LEVEL
                     : w->names->shown[total->function];
    w->take(w->data, &sample);
}

void report__each_sample(
    struct report__pool *pool, const struct report__profile *profile,
    const struct report__functions *names, const struct report__sampling *how,
    void (*take)(void *data, const struct report__sample *sample), void *data) {
    struct walk w = {.profile = profile,
                     .names = names,
                     .how = how,
                     .take = take,
                     .data = data};

    w.view = report__make_view(pool, profile, names, how->heap, MPROF_NONE,
                               how->all_frames, NULL);
    w.most = find_most(&w, pool);
    w.room = report__alloc(pool, (size_t)w.most + 1, sizeof *w.room);
    for (uint32_t i = 0; i < profile->counter_count; i++) {
        uint32_t thread = profile->nodes[profile->counters[i].node].thread;
        if (profile->threads[thread].heap == how->heap)
            take_counter(&w, &profile->counters[i]);
    }
    for (uint32_t i = 0;
         how->heap == MPROF_LISP_HEAP && i < profile->total_count; i++)
        if (profile->threads[profile->totals[i].thread].heap == how->heap)
            take_total(&w, &profile->totals[i]);
}
