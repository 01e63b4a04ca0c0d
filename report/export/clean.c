/* clean.c - names as other tools take them. */
#include <string.h>

#include "report/base/utf8.h"
#include "report/export/export.h"

enum { LONGEST = 16384 };

const char *report__clean_name(struct report__pool *pool, const char *text) {
    static const char more[] = "...";
    size_t length = strlen(text), count = 0, n;
    char *clean = report__alloc(
        pool, (length < LONGEST ? length : LONGEST) + sizeof more + 1, 1);

    for (size_t i = 0; i < length && count < LONGEST; i += n) {
        uint32_t code;
        n = report__utf8(text + i, length - i, &code);
        if (n > 0 && report__is_visible(code) && count + n <= LONGEST) {
            memcpy(clean + count, text + i, n);
            count += n;
        } else {
            clean[count++] = '?';
        }
        n += n == 0;
    }
    if (count == LONGEST)
        memcpy(clean + count, more, sizeof more);
    return *clean != '\0' ? clean : "?";
}

const char **report__clean_names(struct report__pool *pool,
                                 const struct report__functions *names) {
    const char **clean = report__alloc(pool, names->count, sizeof *clean);
    for (uint32_t i = 0; i < names->count; i++)
        clean[i] = report__clean_name(pool, names->list[i].name);
    return clean;
}
