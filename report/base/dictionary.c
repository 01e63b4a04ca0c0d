/* dictionary.c - numbers by text; open addressing, at most half full. */
#include "report/base/dictionary.h"

#include <stdbool.h>
#include <string.h>

struct report__slot {
    const char *key; /* NULL: free */
    uint32_t hash;
    uint32_t value;
};

static uint32_t hash_text(const char *text) {
    uint32_t hash = 2166136261u;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return hash;
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
                                        d->used};
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
    uint32_t hash = hash_text(key);

    if (d->used * 2 >= d->size)
        enlarge(pool, d);
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
