/* pairs.c - see pairs.h. */
#include "report/base/pairs.h"

#include "report/base/secret.h"

/* The slot of A and B, or a free one.  Of any two pairs the hashes, 32 bits,
 * are independent of each other (multiply-shift; Dietzfelbinger, 1996). */
static uint32_t *probe(const struct report__pairs *p, uint32_t a, uint32_t b) {
    uint64_t hash = a * p->secret[0] + b * p->secret[1];
    uint32_t i = (uint32_t)(hash >> 32) & (p->size - 1);

    while (p->slots[i] != 0 &&
           (p->list[p->slots[i] - 1].a != a || p->list[p->slots[i] - 1].b != b))
        i = (i + 1) & (p->size - 1);
    return &p->slots[i];
}

static void enlarge(struct report__pool *pool, struct report__pairs *p) {
    report__drop(pool, p->slots);
    p->secret[0] = report__secret(0);
    p->secret[1] = report__secret(1);
    p->size = p->size ? p->size * 2 : 256;
    p->slots = report__alloc(pool, p->size, sizeof *p->slots);
    for (uint32_t i = 0; i < p->count; i++)
        *probe(p, p->list[i].a, p->list[i].b) = i + 1;
}

uint32_t report__pair_number(struct report__pool *pool,
                             struct report__pairs *pairs, uint32_t a,
                             uint32_t b) {
    if (pairs->count >= pairs->size / 2)
        enlarge(pool, pairs);
    uint32_t *slot = probe(pairs, a, b);
    if (*slot != 0)
        return *slot - 1;
    pairs->list = report__grow(pool, pairs->list, pairs->count,
                               &pairs->capacity, sizeof *pairs->list);
    pairs->list[pairs->count] = (struct report__pair){a, b};
    *slot = ++pairs->count;
    return pairs->count - 1;
}
