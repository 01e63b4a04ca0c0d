/* lives.c - what lived in the C heap at its peak, and for how long. */
#include "report/data/reader.h"

static bool is_c(const struct report__counter *counter) {
    return counter->heap == MPROF_C_HEAP && !counter->is_spill;
}

/* In a file that was copied while the program ran, what was freed may be newer
 * than what was allocated. */
static uint64_t sensible(uint64_t n) {
    return n >> 63 ? 0 : n;
}

static uint64_t smaller(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* Blocks that were freed since the scan were not lost. */
static struct mprof_lost_count
sensible_lost(const struct mprof_lost_count *lost,
              const struct mprof_count *now) {
    uint64_t objects = smaller(lost->objects, now->allocs);
    return (struct mprof_lost_count){.objects = objects,
                                     .bytes = smaller(lost->bytes, now->bytes),
                                     .roots = smaller(lost->roots, objects)};
}

void report__settle_lives(struct report__profile *p) {
    uint64_t live = 0, allocated = 0;

    for (uint32_t i = 0; i < p->counter_count; i++) {
        const struct report__counter *counter = &p->counters[i];
        if (!is_c(counter))
            continue;
        live += report__present(counter).bytes;
        allocated += counter->allocated.bytes + counter->lived->elsewhere.bytes;
    }
    bool is_now = live > p->counted_peak;
    if (is_now)
        p->counted_peak = live;
    for (uint32_t i = 0; i < p->counter_count; i++) {
        struct report__counter *counter = &p->counters[i];
        if (!is_c(counter))
            continue;
        struct report__lived *lived = counter->lived;
        struct mprof_count now = report__present(counter),
                           *then = &lived->at_peak;
        if (is_now)
            *then = now;
        then->allocs = sensible(then->allocs);
        then->bytes = sensible(then->bytes);
        p->at_peak.allocs += then->allocs;
        p->at_peak.bytes += then->bytes;
        lived->lost = sensible_lost(&lived->lost, &now);
        /* Live objects live until the end. */
        lived->lifetime += (unsigned __int128)now.allocs * allocated;
        if (lived->lifetime >> 127)
            lived->lifetime = 0;
    }
}
