/* dictionary.c - numbers by text; open addressing, at most half full. */
#include "report/base/dictionary.h"

#include <stdbool.h>
#include <string.h>

#include "report/base/secret.h"

struct report__slot {
    const char *key; /* NULL: free */
    uint32_t hash;
    uint32_t value;
};

/* TEXT as a polynomial of SECRET, modulo this prime: of two texts it is hardly
 * ever the same (Carter and Wegman, 1979). */
static uint32_t hash_text(const char *text, uint64_t secret) {
    const uint64_t prime = ((uint64_t)1 << 61) - 1;
    uint64_t hash = 1;
    for (; *text; text++) {
        unsigned __int128 sum =
            (unsigned __int128)hash * (secret & prime) + (unsigned char)*text;
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
                                        d->used, report__secret(2)};
    larger.slots = report__alloc(pool, larger.size, sizeof *larger.slots);
    for (size_t i = 0; i < d->size; i++)
        if (d->slots[i].key)
            *probe(&larger, d->slots[i].key, d->slots[i].hash) = d->slots[i];
    *d = larger;
}

static struct report__slot *slot_of(struct report__pool *pool,
                                    struct report__dictionary *d,
                                    const char *key, uint32_t value,
                                    bool copy) {
    if (d->used * 2 >= d->size)
        enlarge(pool, d);
    uint32_t hash = hash_text(key, d->secret);
    struct report__slot *slot = probe(d, key, hash);
    if (!slot->key) {
        if (copy)
            key = report__copy(pool, key, strlen(key));
        *slot = (struct report__slot){key, hash, value};
        d->used++;
    }
    return slot;
}

uint32_t report__intern(struct report__pool *pool,
                        struct report__dictionary *dictionary, const char *key,
                        uint32_t value) {
    return slot_of(pool, dictionary, key, value, false)->value;
}

uint32_t report__intern_copy(struct report__pool *pool,
                             struct report__dictionary *dictionary,
                             const char *key, uint32_t value,
                             const char **stored) {
    const struct report__slot *slot =
        slot_of(pool, dictionary, key, value, true);
    *stored = slot->key;
    return slot->value;
}
