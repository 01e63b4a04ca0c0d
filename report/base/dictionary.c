/* dictionary.c - numbers by text; open addressing, at most half full. */
#include "report/base/dictionary.h"

#include <string.h>

struct report__entry {
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

static struct report__entry *probe(const struct report__dictionary *d,
                                   const char *key, uint32_t hash) {
    size_t i = hash & (d->size - 1);
    while (d->entries[i].key &&
           (d->entries[i].hash != hash || strcmp(d->entries[i].key, key) != 0))
        i = (i + 1) & (d->size - 1);
    return &d->entries[i];
}

static void enlarge(struct report__pool *pool, struct report__dictionary *d) {
    struct report__dictionary larger = {NULL, d->size ? d->size * 2 : 256,
                                        d->used};
    larger.entries = report__alloc(pool, larger.size, sizeof *larger.entries);
    for (size_t i = 0; i < d->size; i++)
        if (d->entries[i].key)
            *probe(&larger, d->entries[i].key, d->entries[i].hash) =
                d->entries[i];
    *d = larger;
}

uint32_t report__intern(struct report__pool *pool,
                        struct report__dictionary *dictionary, const char *key,
                        uint32_t value) {
    uint32_t hash = hash_text(key);

    if (dictionary->used * 2 >= dictionary->size)
        enlarge(pool, dictionary);
    struct report__entry *entry = probe(dictionary, key, hash);
    if (!entry->key) {
        *entry = (struct report__entry){key, hash, value};
        dictionary->used++;
    }
    return entry->value;
}
