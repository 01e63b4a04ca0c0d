/* dictionary.h - numbers by text, and by pairs of numbers.
 *
 * Names and numbers of a data file are found by their hashes.  The author of a
 * file must not be able to predict these: if many were equal, each lookup would
 * visit all names.  So each process has secret numbers.
 *
 * Both are empty when all zeros.  They live in the pool they are given, which
 * must always be the same.
 */
#ifndef REPORT_BASE_DICTIONARY_H
#define REPORT_BASE_DICTIONARY_H

#include "report/base/pool.h"

struct report__dictionary {
    struct report__slot *slots;
    size_t size, used;
    uint64_t secret;
};

/* The number of KEY, which becomes VALUE if KEY is new.  With STORED it is
 * copied then, and *STORED is the copy; else it must last. */
uint32_t report__intern_copy(struct report__pool *pool,
                             struct report__dictionary *dictionary,
                             const char *key, uint32_t value,
                             const char **stored);

static inline uint32_t report__intern(struct report__pool *pool,
                                      struct report__dictionary *dictionary,
                                      const char *key, uint32_t value) {
    return report__intern_copy(pool, dictionary, key, value, NULL);
}

struct report__pair {
    uint32_t a, b;
};

struct report__pairs {
    struct report__pair *list; /* in the order in which they came */
    uint32_t count;
    size_t capacity;
    uint32_t *slots; /* numbers plus 1 by hash; at most half full */
    uint32_t size;
    uint64_t secret[2];
};

/* The index in PAIRS->list of A and B, which are put there if they are new. */
uint32_t report__pair_number(struct report__pool *pool,
                             struct report__pairs *pairs, uint32_t a,
                             uint32_t b);

#endif
