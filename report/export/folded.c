/* folded.c - folded stacks, as flamegraph.pl and many others take them. */
#include <inttypes.h>

#include "report/export/export.h"

struct folded {
    FILE *out;
    const char **names; /* by function */
    enum report__number metric;
};

/* A semicolon ends a name. */
static void print_name(FILE *out, const char *name) {
    for (; *name != '\0'; name++)
        putc(*name == ';' ? ':' : *name, out);
}

static void print(void *data, const struct report__sample *s) {
    const struct folded *f = data;
    uint64_t number = s->numbers[f->metric];

    if (number == 0)
        return;
    for (uint32_t i = s->depth; i-- > 0;) {
        print_name(f->out, f->names[s->frames[i].function]);
        putc(i > 0 ? ';' : ' ', f->out);
    }
    fprintf(f->out, "%" PRIu64 "\n", number);
}

void report__export_folded(const struct report__export *e) {
    struct folded f = {.out = e->out,
                       .names = report__clean_names(e->pool, e->names, false),
                       .metric = e->options->metric};
    report__each_sample(e->samples, print, &f);
}
