/* dictionary.h - numbers by text. */
#ifndef REPORT_BASE_DICTIONARY_H
#define REPORT_BASE_DICTIONARY_H

#include <stdint.h>

#include "report/base/pool.h"

struct report__slot;

/* Empty when it is all zeros.  It lives in the pool it is given, which must
 * always be the same, and so do its keys, which report__intern() does not copy.
 */
struct report__dictionary {
    struct report__slot *slots;
    size_t size, used;
    uint64_t secret;
};

/* The number of KEY, which becomes VALUE if KEY is new. */
uint32_t report__intern(struct report__pool *pool,
                        struct report__dictionary *dictionary, const char *key,
                        uint32_t value);

/* The same, but KEY is copied if it is new; *STORED is what was copied then. */
uint32_t report__intern_copy(struct report__pool *pool,
                             struct report__dictionary *dictionary,
                             const char *key, uint32_t value,
                             const char **stored);

#endif
