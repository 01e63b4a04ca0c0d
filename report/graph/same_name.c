/* same_name.c - see same_name.h. */
#include "monitor/format/paths.h"
#include "report/base/utf8.h"
#include "report/graph/same_name.h"

#include <stdbool.h>
#include <string.h>

static const char digits[] = "0123456789";

/* Return how much of SYMBOL, LENGTH bytes, is not a generated number.  FIRST is
 * where it begins behind its package.  Symbols without a package, like #:G1,
 * may have any name, and others are G with a number. */
static size_t given_length(const char *symbol, size_t length) {
    size_t first = length, end = length;
    bool is_uninterned;

    while (first > 0 && symbol[first - 1] != ':')
        first--;
    while (end > first && strchr(digits, symbol[end - 1]))
        end--;
    is_uninterned = first >= 2 && memcmp(symbol, "#:", 2) == 0;
    if (end == first ||
        (!is_uninterned &&
         (end - first != 1 || strchr("gG", symbol[first]) == NULL)))
        return length;
    return end;
}

const char *report__same_name(struct report__pool *pool, const char *name) {
    static const char lambda[] = "(LAMBDA #", ends[] = " ()'\"`,;|";
    char *same, *to;

    if (strpbrk(name, digits) == NULL)
        return name;
    same = to = report__copy(pool, name, strlen(name));
    if (strncmp(name, lambda, sizeof lambda - 1) == 0 &&
        strchr(digits, name[sizeof lambda - 1])) {
        to += sizeof lambda - 1 - strlen(" #");
        name += sizeof lambda - 1;
        name += strspn(name, digits);
    }
    while (*name != '\0') {
        size_t length = strcspn(name, ends), given = given_length(name, length);
        memmove(to, name, given);
        to += given;
        name += length;
        if (*name != '\0')
            *to++ = *name++;
    }
    *to = '\0';
    return same;
}

const char *report__same_file(struct report__pool *pool, const char *path) {
    const char *base = mprof__base_name(path);
    const char *version = strstr(base, ".so.");

    if (strncmp(base, "ecl", 3) == 0 && strspn(base + 3, digits) >= 3 &&
        strlen(base) == strlen("ecl000XXXXXX.fas"))
        return "ecl.fas";
    return version == NULL
               ? base
               : report__copy(pool, base, (size_t)(version - base) + 3);
}
