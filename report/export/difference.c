/* difference.c - the samples of NEW minus the samples of OLD. */
#include <string.h>

#include "report/export/chains.h"

/* The numbers of a chain in one class. */
struct both {
    uint64_t numbers[MPROF_SIDES][MPROF_NUMBERS];
};

struct differing {
    const struct report__export *e;
    struct report__chains *chains;
    struct report__pairs list; /* chains and classes */
    struct both *both;         /* by index in list */
    size_t capacity;
};

static void add(void *data, const struct report__sample *sample) {
    struct differing *d = data;
    const enum report__joined_side side =
        report__side_of(d->e->difference->joined, sample->thread);
    uint32_t i = report__pair_number(d->e->pool, &d->list,
                                     report__chain_of(d->chains, sample),
                                     sample->class_);

    while (d->capacity <= i)
        d->both = report__grow(d->e->pool, d->both, d->capacity, &d->capacity,
                               sizeof *d->both);
    for (int k = 0; k < MPROF_NUMBERS; k++)
        d->both[i].numbers[side][k] += sample->numbers[k];
    if (sample->depth > d->chains->depth)
        d->chains->depth = sample->depth;
}

/* The frames of CHAIN, innermost first. */
static void find_frames(const struct differing *d, uint32_t chain,
                        uint32_t *room, struct report__frame *frames,
                        struct report__sample *sample) {
    sample->depth = report__chain_frames(d->chains, chain, room);
    for (uint32_t k = 0; k < sample->depth; k++)
        frames[k] = (struct report__frame){d->chains->frames.list[room[k]].a,
                                           d->chains->frames.list[room[k]].b};
    sample->frames = frames;
}

void report__each_difference(const struct report__export *e,
                             void (*take)(void *data,
                                          const struct report__sample *sample),
                             void *data) {
    struct differing d = {.e = e, .chains = report__no_chains(e, true)};

    report__each_sample(e->samples, add, &d);
    uint32_t *room = report__alloc(e->pool, d.chains->depth, sizeof *room);
    struct report__frame *frames =
        report__alloc(e->pool, d.chains->depth, sizeof *frames);
    for (uint32_t i = 0; i < d.list.count; i++) {
        struct report__sample sample = {.thread = MPROF_NONE,
                                        .bin = MPROF_NONE,
                                        .class_ = d.list.list[i].b};
        bool any = false;
        for (int k = 0; k < MPROF_NUMBERS; k++) {
            sample.numbers[k] = d.both[i].numbers[MPROF_NEW][k] -
                                report__scaled(d.both[i].numbers[MPROF_OLD][k],
                                               &e->difference->factor);
            any |= sample.numbers[k] != 0;
        }
        if (!any)
            continue;
        find_frames(&d, d.list.list[i].a, room, frames, &sample);
        take(data, &sample);
    }
}
