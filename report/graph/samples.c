/* samples.c - see samples.h.
 *
 * In the C heap each counter of the tree includes chains with its ending that
 * are counted elsewhere: the counters in spills have these a second time.  In
 * the Lisp heap spills have whole chains, and sums are only known by function.
 */
#include "report/graph/samples.h"

#include "report/base/progress.h"
#include "report/graph/inlining.h"
#include "report/graph/graph.h"

struct report__samples {
    const struct report__profile *profile;
    const struct report__functions *names;
    const struct report__sampling *how;
    struct report__view view;
    struct report__pool *pool;
    struct report__frame *room; /* for the innermost frames of a chain */
    size_t capacity;
    uint32_t most; /* of them */
    void (*take)(void *data, const struct report__sample *sample);
    void *data;
};

/* False: it is one too many, which is said in its place. */
static bool add_frame(struct report__samples *w, struct report__sample *sample,
                      uint32_t function, uint32_t place) {
    bool fits = sample->depth < w->most;

    if (!fits)
        function = report__deeper(w->names);
    REPORT__PUSH(w->pool, w->room, sample->depth, w->capacity,
                 (struct report__frame){function, fits ? place : 0});
    return fits;
}

/* The functions from SPOT out to the one of view node VNODE; false: they are
 * too many. */
static bool add_frames(struct report__samples *w, struct report__sample *sample,
                       uint32_t vnode, struct report__within spot) {
    const struct report__inlining *inlining = w->names->inlining;

    while (spot.frame != MPROF_NONE) {
        const struct report__inlined_frame *f = &inlining->frames[spot.frame];
        if (report__is_shown(&w->names->list[f->function], w->how->heap,
                             w->how->all_frames) &&
            !add_frame(w, sample, f->function, spot.place))
            return false;
        spot = (struct report__within){f->outer, f->call};
    }
    return add_frame(w, sample, w->view.list[vnode].function, spot.place);
}

/* From NODE outwards, as view.c puts them: several nodes may be of one view
 * node, and the innermost one that is shown itself has its place. */
static void find_chain(struct report__samples *w, uint32_t node, uint32_t site,
                       struct report__sample *sample) {
    const struct report__inlining *inlining = w->names->inlining;
    const uint32_t *of_node = w->view.of_node;
    const struct report__node *nodes = w->profile->nodes;
    const struct report__within nowhere = {MPROF_NONE, 0};
    uint32_t last = MPROF_NONE;

    while (node != MPROF_NONE) {
        uint32_t parent = nodes[node].parent, vnode = of_node[node];
        struct report__within spot =
            inlining ? report__within(inlining, nodes[node].function, site)
                     : nowhere;
        bool is_top = parent == MPROF_NONE || of_node[parent] == MPROF_NONE;
        if (vnode != MPROF_NONE && vnode != last &&
            (w->view.is_shown[node] || is_top)) {
            if (!add_frames(w, sample, vnode,
                            w->view.is_shown[node] ? spot : nowhere))
                return;
            last = vnode;
        }
        node = parent;
        site = node == MPROF_NONE ? MPROF_NONE : nodes[node].site;
    }
    if (sample->depth == 0)
        add_frame(w, sample, MPROF_TOP_LEVEL, 0);
}

static void take_counter(struct report__samples *w,
                         const struct report__counter *counter) {
    const struct report__lived *lived = report__lived(counter);
    struct mprof_count allocated = counter->allocated;
    struct report__sample sample = {.thread =
                                        w->profile->nodes[counter->node].thread,
                                    .class_ = counter->class_,
                                    .bin = counter->bin,
                                    .is_storage = counter->is_storage};

    if (w->how->heap == MPROF_C_HEAP && counter->is_spill)
        return;
    if (w->how->heap == MPROF_C_HEAP) {
        report__add_count(&allocated, &lived->elsewhere);
        sample.numbers[MPROF_NUMBER_KEPT_ALLOCS] =
            report__left(allocated.allocs, lived->freed.allocs);
        sample.numbers[MPROF_NUMBER_KEPT_BYTES] =
            report__left(allocated.bytes, lived->freed.bytes);
        sample.numbers[MPROF_NUMBER_PEAK_ALLOCS] = lived->at_peak.allocs;
        sample.numbers[MPROF_NUMBER_PEAK_BYTES] = lived->at_peak.bytes;
        sample.numbers[MPROF_NUMBER_TEMPORARY] = lived->temporary;
        sample.lifetime = lived->lifetime;
    }
    if (w->how->alive && !counter->is_spill) {
        const struct mprof_count alive = report__present(counter);
        sample.numbers[MPROF_NUMBER_KEPT_ALLOCS] = alive.allocs;
        sample.numbers[MPROF_NUMBER_KEPT_BYTES] = alive.bytes;
    }
    if (allocated.allocs == 0 && allocated.bytes == 0 &&
        sample.numbers[MPROF_NUMBER_KEPT_ALLOCS] == 0)
        return;
    sample.numbers[MPROF_NUMBER_ALLOCS] = allocated.allocs;
    sample.numbers[MPROF_NUMBER_BYTES] = allocated.bytes;
    find_chain(w, counter->node, counter->site, &sample);
    sample.frames = w->room;
    w->take(w->data, &sample);
}

static void take_total(struct report__samples *w,
                       const struct report__total *total) {
    struct report__sample sample = {
        .thread = total->thread,
        .class_ = total->class_,
        .bin = total->bin,
        .is_storage = total->is_storage,
        .numbers = {[MPROF_NUMBER_ALLOCS] = total->count.allocs,
                    [MPROF_NUMBER_BYTES] = total->count.bytes}};

    if (!report__is_shown_self(total, w->how->all_frames))
        return;
    REPORT__PUSH(
        w->pool, w->room, sample.depth, w->capacity,
        (struct report__frame){report__shown_of(w->names, total->function), 0});
    REPORT__PUSH(w->pool, w->room, sample.depth, w->capacity,
                 (struct report__frame){report__summed(w->names), 0});
    sample.frames = w->room;
    w->take(w->data, &sample);
}

struct report__samples *report__samples_open(
    struct report__pool *pool, const struct report__profile *profile,
    const struct report__functions *names, const struct report__sampling *how) {
    struct report__samples *w = report__alloc(pool, 1, sizeof *w);

    w->profile = profile;
    w->names = names;
    w->how = how;
    w->view = report__make_view(pool, profile, names, how->heap, MPROF_NONE,
                                how->all_frames, names->inlining);
    w->pool = pool;
    w->most = how->depth ? how->depth : UINT32_MAX;
    return w;
}

static bool is_wanted(const struct report__samples *w, uint32_t thread) {
    const struct report__thread *of = &w->profile->threads[thread];

    return of->heap == w->how->heap &&
           (w->how->tid == 0 || of->tid == w->how->tid);
}

void report__each_sample(struct report__samples *w,
                         void (*take)(void *data,
                                      const struct report__sample *sample),
                         void *data) {
    const struct report__profile *profile = w->profile;
    enum mprof_heap heap = w->how->heap;

    w->take = take;
    w->data = data;
    for (uint32_t i = 0; i < profile->counter_count; i++) {
        if (is_wanted(w, profile->nodes[profile->counters[i].node].thread))
            take_counter(w, &profile->counters[i]);
        report__progress("following chains", i + 1, profile->counter_count);
    }
    for (uint32_t i = 0; heap == MPROF_LISP_HEAP && i < profile->total_count;
         i++)
        if (is_wanted(w, profile->totals[i].thread))
            take_total(w, &profile->totals[i]);
}
