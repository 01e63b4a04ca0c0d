/* places.c - see places.h. */
#include "report/graph/places.h"

#include <string.h>

static uint32_t file_number(struct report__pool *pool, struct report__places *p,
                            const char *file) {
    uint32_t number = report__intern(pool, &p->numbers, file, p->file_count);

    if (number < p->file_count)
        return number;
    REPORT__PUSH(pool, p->files, p->file_count, p->capacity,
                 report__copy(pool, file, strlen(file)));
    return number;
}

uint32_t report__place_number(struct report__pool *pool,
                              struct report__places *places,
                              const struct report__place *place) {
    if (!place->file)
        return 0;
    report__pair_number(pool, &places->pairs, 0, 0);
    return report__pair_number(pool, &places->pairs,
                               file_number(pool, places, place->file) + 1,
                               place->line);
}
