/* dictionary.h - numbers by text. */
#ifndef MPROF_DICTIONARY_H
#define MPROF_DICTIONARY_H

#include <stdint.h>

#include "report/base/pool.h"

struct mprof__entry;

/* Empty when it is all zeros.  It lives in the pool it is given, which must
 * always be the same, and so do its keys, which are not copied. */
struct mprof__dictionary {
    struct mprof__entry *entries;
    size_t size, used;
};

/* The number of KEY, which becomes VALUE if KEY is new. */
uint32_t mprof__intern(struct mprof__pool *pool,
                       struct mprof__dictionary *dictionary, const char *key,
                       uint32_t value);

#endif
