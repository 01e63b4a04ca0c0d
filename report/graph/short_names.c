/* short_names.c - short names of C++ functions, where they are enough. */
#include <string.h>

#include "report/base/dictionary.h"
#include "report/elf/cxx_names.h"
#include "report/graph/functions.h"

/* The name of FUNCTION without the mark of those that were inlined. */
static const char *plain_name(struct report__pool *pool,
                              const struct report__shown *function) {
    const char *name = function->full ? function->full : function->name;
    const size_t length = strlen(name);

    return function->is_inlined
               ? report__copy(pool, name, length - strlen(MPROF_INLINED))
               : name;
}

void report__shorten_names(struct report__pool *pool,
                           struct report__functions *names) {
    struct report__dictionary taken = {0};
    const char **full = report__alloc(pool, names->count, sizeof *full);
    const char **brief = report__alloc(pool, names->count, sizeof *brief);
    uint32_t *first = report__alloc(pool, names->count, sizeof *first);
    bool *several = report__alloc(pool, names->count, sizeof *several);

    for (uint32_t i = 0; i < names->count; i++) {
        if (!names->list[i].is_cxx)
            continue;
        full[i] = plain_name(pool, &names->list[i]);
        brief[i] = report__shorten_cxx(pool, full[i], false);
        first[i] = report__intern(pool, &taken, brief[i], i);
        several[first[i]] |= strcmp(full[first[i]], full[i]) != 0;
    }
    for (uint32_t i = 0; i < names->count; i++) {
        struct report__shown *function = &names->list[i];
        if (!function->is_cxx)
            continue;
        if (!function->full)
            function->full = function->name;
        function->name = report__format(
            pool, "%s%s",
            several[first[i]] ? report__shorten_cxx(pool, full[i], true)
                              : brief[i],
            function->is_inlined ? MPROF_INLINED : "");
    }
    names->are_short = true;
}
