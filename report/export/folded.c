/* folded.c - folded stacks, as flamegraph.pl and many others take them. */
#include <inttypes.h>
#include <string.h>

#include "report/export/chains.h"

/* A semicolon ends a name. */
static const char *without_semicolons(struct report__pool *pool,
                                      const char *name) {
    if (strchr(name, ';') == NULL)
        return name;
    char *copy = report__copy(pool, name, strlen(name));
    for (char *c = copy; *c != '\0'; c++)
        if (*c == ';')
            *c = ':';
    return copy;
}

void report__export_folded(const struct report__export *e) {
    const char **names = report__clean_names(e->pool, e->names, false);
    struct report__chains *c = report__make_chains(e, false);
    uint32_t *room = report__alloc(e->pool, c->depth, sizeof *room);

    for (uint32_t i = 0; i < e->names->count; i++)
        names[i] = without_semicolons(e->pool, names[i]);
    for (uint32_t n = 0; n < c->sum_count; n++) {
        const struct report__sum *sum = &c->sums[n];
        const uint64_t number = sum->numbers[e->options->metric];
        if (number == 0)
            continue;
        for (uint32_t i = report__chain_frames(c, sum->chain, room); i-- > 0;) {
            fputs(names[c->frames.list[room[i]].a], e->out);
            putc(i > 0 ? ';' : ' ', e->out);
        }
        fprintf(e->out, "%" PRIu64 "\n", number);
    }
}
