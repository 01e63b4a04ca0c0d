/* places.h - numbers of places in the source. */
#ifndef REPORT_GRAPH_PLACES_H
#define REPORT_GRAPH_PLACES_H

#include "report/base/dictionary.h"
#include "report/elf/place.h"

/* Empty when it is all zeros.  It lives in the pool it is given, which must
 * always be the same. */
struct report__places {
    struct report__dictionary numbers; /* of files */
    const char **files;
    uint32_t file_count;
    size_t capacity;
    struct report__pairs pairs; /* file + 1 and line; the first: unknown */
};

/* The number of PLACE; 0 if it is unknown.  Its text is copied, but must last
 * until the last number is asked for. */
uint32_t report__place_number(struct report__pool *pool,
                              struct report__places *places,
                              const struct report__place *place);

/* The number of the file of place NUMBER plus 1, or 0. */
static inline uint32_t report__place_file(const struct report__places *places,
                                          uint32_t number) {
    return number > 0 ? places->pairs.list[number].a : 0;
}

static inline uint32_t report__place_line(const struct report__places *places,
                                          uint32_t number) {
    return number > 0 ? places->pairs.list[number].b : 0;
}

#endif
