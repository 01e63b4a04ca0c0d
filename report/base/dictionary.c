/* dictionary.c - see dictionary.h; open addressing, at most half full. */
#include "report/base/dictionary.h"

#include <string.h>
#include <sys/auxv.h>

/* SplitMix64 (Steele, Lea and Flood, 2014) of the kernel's random bytes. */
static uint64_t secret(unsigned which) {
    const void *random = (const void *)getauxval(AT_RANDOM);
    uint64_t words[2] = {0, 0};

    if (random)
        memcpy(words, random, sizeof words);
    uint64_t n = words[0] + (which + (uint64_t)1) * 0x9e3779b97f4a7c15u;
    n = (n ^ n >> 30) * 0xbf58476d1ce4e5b9u;
    n = (n ^ n >> 27) * 0x94d049bb133111ebu;
    return (n ^ n >> 31) ^ words[1];
}

struct report__slot {
    const char *key; /* NULL: free */
    uint32_t hash;
    uint32_t value;
};

/* TEXT as a polynomial of BY, modulo this prime: of two texts it is hardly
 * ever the same (Carter and Wegman, 1979). */
static uint32_t hash_text(const char *text, uint64_t by) {
    const uint64_t prime = ((uint64_t)1 << 61) - 1;
    uint64_t hash = 1;
    for (; *text; text++) {
        unsigned __int128 sum =
            (unsigned __int128)hash * (by & prime) + (unsigned char)*text;
        hash = (uint64_t)(sum & prime) + (uint64_t)(sum >> 61);
        hash -= hash >= prime ? prime : 0;
    }
    return (uint32_t)hash;
}

static struct report__slot *probe(const struct report__dictionary *d,
                                  const char *key, uint32_t hash) {
    size_t i = hash & (d->size - 1);
    while (d->slots[i].key &&
           (d->slots[i].hash != hash || strcmp(d->slots[i].key, key) != 0))
        i = (i + 1) & (d->size - 1);
    return &d->slots[i];
}

static void enlarge(struct report__pool *pool, struct report__dictionary *d) {
    struct report__dictionary larger = {NULL, d->size ? d->size * 2 : 256,
                                        d->used, secret(2)};
    larger.slots = report__alloc(pool, larger.size, sizeof *larger.slots);
    for (size_t i = 0; i < d->size; i++)
        if (d->slots[i].key)
            *probe(&larger, d->slots[i].key, d->slots[i].hash) = d->slots[i];
    *d = larger;
}

uint32_t report__intern_copy(struct report__pool *pool,
                             struct report__dictionary *d, const char *key,
                             uint32_t value, const char **stored) {
    if (d->used * 2 >= d->size)
        enlarge(pool, d);
    uint32_t hash = hash_text(key, d->secret);
    struct report__slot *slot = probe(d, key, hash);
    if (!slot->key) {
        if (stored)
            key = report__copy(pool, key, strlen(key));
        *slot = (struct report__slot){key, hash, value};
        d->used++;
    }
    if (stored)
        *stored = slot->key;
    return slot->value;
}

/* The slot of A and B, or a free one.  Of any two pairs the hashes, 32 bits,
 * are independent of each other (multiply-shift; Dietzfelbinger, 1996). */
static uint32_t *probe_pair(const struct report__pairs *p, uint32_t a,
                            uint32_t b) {
    uint64_t hash = a * p->secret[0] + b * p->secret[1];
    uint32_t i = (uint32_t)(hash >> 32) & (p->size - 1);

    while (p->slots[i] != 0 &&
           (p->list[p->slots[i] - 1].a != a || p->list[p->slots[i] - 1].b != b))
        i = (i + 1) & (p->size - 1);
    return &p->slots[i];
}

static void enlarge_pairs(struct report__pool *pool, struct report__pairs *p) {
    report__drop(pool, p->slots);
    p->secret[0] = secret(0);
    p->secret[1] = secret(1);
    p->size = p->size ? p->size * 2 : 256;
    p->slots = report__alloc(pool, p->size, sizeof *p->slots);
    for (uint32_t i = 0; i < p->count; i++)
        *probe_pair(p, p->list[i].a, p->list[i].b) = i + 1;
}

uint32_t report__pair_number(struct report__pool *pool,
                             struct report__pairs *pairs, uint32_t a,
                             uint32_t b) {
    if (pairs->count >= pairs->size / 2)
        enlarge_pairs(pool, pairs);
    uint32_t *slot = probe_pair(pairs, a, b);
    if (*slot != 0)
        return *slot - 1;
    pairs->list = report__grow(pool, pairs->list, pairs->count,
                               &pairs->capacity, sizeof *pairs->list);
    pairs->list[pairs->count] = (struct report__pair){a, b};
    *slot = ++pairs->count;
    return pairs->count - 1;
}
