/* folded.c - folded stacks, as flamegraph.pl and many others take them. */
#include <inttypes.h>

#include "report/export/export.h"

struct folded {
    FILE *out;
    const char **names; /* by function */
    enum report__metric metric;
};

static uint64_t number_of(const struct report__sample *s,
                          enum report__metric metric) {
    switch (metric) {
    case MPROF_METRIC_BYTES:
        return s->allocated.bytes;
    case MPROF_METRIC_ALLOCS:
        return s->allocated.allocs;
    case MPROF_METRIC_KEPT:
        return s->kept.bytes;
    case MPROF_METRIC_PEAK:
        return s->at_peak.bytes;
    case MPROF_METRIC_TEMPORARY:
        return s->temporary;
    }
    return 0;
}

/* A semicolon ends a name. */
static void print_name(FILE *out, const char *name) {
    for (; *name != '\0'; name++)
        putc(*name == ';' ? ':' : *name, out);
}

static void print(void *data, const struct report__sample *s) {
    const struct folded *f = data;
    uint64_t number = number_of(s, f->metric);

    if (number == 0)
        return;
    if (s->is_deeper || s->is_summed)
        fprintf(f->out, "%s;",
                s->is_deeper ? MPROF_EXPORT_DEEPER : MPROF_EXPORT_SUMMED);
    for (uint32_t i = s->depth; i-- > 0;) {
        print_name(f->out, f->names[s->functions[i]]);
        putc(i > 0 ? ';' : ' ', f->out);
    }
    fprintf(f->out, "%" PRIu64 "\n", number);
}

void report__export_folded(FILE *out, const struct report__profile *profile,
                           const struct report__functions *names,
                           const struct report__export_options *options,
                           struct report__pool *pool) {
    struct folded f = {.out = out,
                       .names = report__clean_names(pool, names),
                       .metric = options->metric};
    report__each_sample(pool, profile, names, &options->sampling, print, &f);
}
