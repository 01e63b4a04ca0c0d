/* alive.c - a profile of what is alive of the Lisp heap, in place of all that
 * was allocated there. */
#include "report/data/alive.h"

static bool is_lisp(const struct report__profile *p, uint32_t thread) {
    return p->threads[thread].heap == MPROF_LISP_HEAP;
}

/* Keep the live part of COUNTER, by ends of chains, which include spills. */
static void keep_alive(struct report__counter *counter) {
    if (counter->is_spill)
        counter->allocated = (struct mprof_count){0, 0};
    else
        counter->allocated = report__present(counter);
    if (counter->lived != NULL)
        counter->lived->freed = counter->lived->elsewhere =
            (struct mprof_count){0, 0};
}

static void add(struct report__profile *p,
                const struct report__counter *counter) {
    if (counter->bin == MPROF_NONE)
        return;
    struct report__bin *bin = &p->bins[counter->bin];
    report__add_count(counter->is_storage ? &bin->storage : &bin->objects,
                      &counter->allocated);
}

void report__keep_alive(struct report__profile *p) {
    uint32_t totals = 0;

    for (uint32_t i = 0; i < p->bin_count; i++)
        p->bins[i].objects = p->bins[i].storage = (struct mprof_count){0, 0};
    for (uint32_t i = 0; i < p->counter_count; i++) {
        struct report__counter *counter = &p->counters[i];
        if (counter->heap != MPROF_LISP_HEAP)
            continue;
        keep_alive(counter);
        add(p, counter);
    }
    for (uint32_t i = 0; i < p->total_count; i++)
        if (!is_lisp(p, p->totals[i].thread))
            p->totals[totals++] = p->totals[i];
    p->total_count = totals;
    for (uint32_t i = 0; i < p->thread_count; i++)
        if (is_lisp(p, i)) {
            p->threads[i].folded_allocs = p->threads[i].folded_bytes = 0;
            p->threads[i].cut_allocs = 0;
        }
    p->alive = false;
    p->is_alive = true;
}
