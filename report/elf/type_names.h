/* type_names.h - the names of types and their sizes, each once. */
#ifndef REPORT_ELF_TYPE_NAMES_H
#define REPORT_ELF_TYPE_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "report/base/pool.h"

/* Best first; see types.h. */
enum report__type_rank {
    MPROF__OWN_STRUCTURE,
    MPROF__OWN_ARRAY,
    MPROF__OWN_SCALAR,
    MPROF__SYSTEM_TYPE,
    MPROF__STANDARD_TYPE,
    MPROF__LIBRARY_STRUCTURE,
    MPROF__LIBRARY_ARRAY,
    MPROF__SYSTEM_LIBRARY_TYPE,
    MPROF__LIBRARY_STANDARD_TYPE
};

struct report__type_name {
    const char *name; /* NULL: free slot */
    size_t length;
    uint32_t size, hash;
    enum report__type_rank rank; /* the best that was seen */
};

/* A hash table, open addressing; `slots` is a power of 2. */
struct report__type_names {
    struct report__pool *pool;
    struct report__type_name *table;
    size_t slots, count;
};

/* None yet; table and names will be in POOL. */
void report__type_names_begin(struct report__type_names *names,
                              struct report__pool *pool);

/* Take note of a type; NAME of LENGTH bytes is only valid during the call. */
void report__add_type(struct report__type_names *names, const char *name,
                      size_t length, uint32_t size,
                      enum report__type_rank rank);

/* Turn the table into a list of `count` by size, of one size the best first;
 * nothing can be added then. */
void report__type_names_sort(struct report__type_names *names);

#endif
