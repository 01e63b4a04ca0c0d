/* dictionary.h - numbers by text. */
#ifndef REPORT_BASE_DICTIONARY_H
#define REPORT_BASE_DICTIONARY_H

#include <stdint.h>

#include "report/base/pool.h"

struct report__slot;

/* Empty when it is all zeros.  It lives in the pool it is given, which must
 * always be the same, and so do its keys, which are not copied. */
struct report__dictionary {
    struct report__slot *slots;
    size_t size, used;
};

/* The number of KEY, which becomes VALUE if KEY is new. */
uint32_t report__intern(struct report__pool *pool,
                        struct report__dictionary *dictionary, const char *key,
                        uint32_t value);

#endif
