/* folded.c - folded stacks, as flamegraph.pl and many others take them. */
#include <inttypes.h>
#include <string.h>

#include "report/export/export.h"

struct folded {
    FILE *out;
    const char **names; /* by function */
    enum report__number metric;
};

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

static void print(void *data, const struct report__sample *s) {
    const struct folded *f = data;
    uint64_t number = s->numbers[f->metric];

    if (number == 0)
        return;
    for (uint32_t i = s->depth; i-- > 0;) {
        fputs(f->names[s->frames[i].function], f->out);
        putc(i > 0 ? ';' : ' ', f->out);
    }
    fprintf(f->out, "%" PRIu64 "\n", number);
}

void report__export_folded(const struct report__export *e) {
    struct folded f = {.out = e->out,
                       .names = report__clean_names(e->pool, e->names, false),
                       .metric = e->options->metric};
    for (uint32_t i = 0; i < e->names->count; i++)
        f.names[i] = without_semicolons(e->pool, f.names[i]);
    report__each_sample(e->samples, print, &f);
}
