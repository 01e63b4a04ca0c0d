/* chains.c - see chains.h. */
#include "report/export/chains.h"

uint32_t report__chain_of(struct report__chains *c,
                          const struct report__sample *sample) {
    uint32_t chain = MPROF_NONE;

    for (uint32_t i = sample->depth; i-- > 0;) {
        const struct report__frame *f = &sample->frames[i];
        uint32_t frame = report__pair_number(c->pool, &c->frames, f->function,
                                             c->by_place ? f->place : 0);
        chain = report__pair_number(c->pool, &c->list, chain + 1, frame);
    }
    return chain;
}

static struct report__sum *sum_of(struct report__chains *c, uint32_t chain) {
    while (c->sum_of_capacity <= chain)
        c->sum_of = report__grow(c->pool, c->sum_of, c->sum_of_capacity,
                                 &c->sum_of_capacity, sizeof *c->sum_of);
    if (c->sum_of[chain] == 0) {
        c->sums = report__grow(c->pool, c->sums, c->sum_count, &c->sum_capacity,
                               sizeof *c->sums);
        c->sums[c->sum_count].chain = chain;
        c->sum_of[chain] = ++c->sum_count;
    }
    return &c->sums[c->sum_of[chain] - 1];
}

static void add(void *data, const struct report__sample *sample) {
    struct report__chains *c = data;
    struct report__sum *sum = sum_of(c, report__chain_of(c, sample));

    for (int i = 0; i < MPROF_NUMBERS; i++)
        sum->numbers[i] += sample->numbers[i];
    sum->lifetime += sample->lifetime;
    if (sample->depth > c->depth)
        c->depth = sample->depth;
}

struct report__chains *report__no_chains(const struct report__export *e,
                                         bool by_place) {
    struct report__chains *c = report__alloc(e->pool, 1, sizeof *c);

    c->pool = e->pool;
    c->by_place = by_place;
    return c;
}

struct report__chains *report__make_chains(const struct report__export *e,
                                           bool by_place) {
    struct report__chains *c = report__no_chains(e, by_place);

    report__each_sample(e->samples, add, c);
    return c;
}

uint32_t report__chain_frames(const struct report__chains *chains,
                              uint32_t chain, uint32_t *room) {
    uint32_t count = 0;

    while (chain != MPROF_NONE) {
        room[count++] = chains->list.list[chain].b;
        chain = chains->list.list[chain].a - 1;
    }
    return count;
}
