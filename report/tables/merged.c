/* merged.c - the functions whose call sites a Lisp recording does not know.
 *
 * A tree with very many chains has one node for all call sites of a function;
 * see monitor/tree/tree.h.  So has one whose chains were summed up.
 */
#include "report/tables/tables.h"

enum { FEW = 3 };

struct search {
    const struct report__context *c;
    uint32_t *innermost; /* by node: such a function at or above it, or NONE */
    uint64_t *bytes;     /* by function: of chains where it is that one */
    uint64_t sum, all;
};

static bool is_merged(const struct search *s, const struct report__node *node) {
    const struct report__profile *p = s->c->part;

    if (node->function == MPROF_NONE || node->site != MPROF_NONE ||
        p->threads[node->thread].heap != MPROF_LISP_HEAP)
        return false;
    const struct report__function *f = &p->functions[node->function];
    return mprof_is_native(f->kind) &&
           report__is_shown(
               &s->c->names->list[s->c->names->shown[node->function]],
               MPROF_LISP_HEAP, s->c->all_frames);
}

static void count(struct search *s) {
    const struct report__profile *p = s->c->part;

    for (uint32_t i = 0; i < p->node_count; i++) {
        const struct report__node *node = &p->nodes[i];
        s->innermost[i] = node->parent == MPROF_NONE
                              ? MPROF_NONE
                              : s->innermost[node->parent];
        if (is_merged(s, node))
            s->innermost[i] = s->c->names->shown[node->function];
    }
    for (uint32_t i = 0; i < p->counter_count; i++) {
        const struct report__counter *counter = &p->counters[i];
        const uint32_t function = s->innermost[counter->node];
        if (counter->heap == MPROF_LISP_HEAP)
            s->all += counter->allocated.bytes;
        if (function == MPROF_NONE)
            continue;
        s->bytes[function] += counter->allocated.bytes;
        s->sum += counter->allocated.bytes;
    }
}

/* The function with the most bytes; MPROF_NONE: none is left. */
static uint32_t next(const struct search *s) {
    uint32_t most = MPROF_NONE;

    for (uint32_t i = 0; i < s->c->names->count; i++)
        if (s->bytes[i] > (most == MPROF_NONE ? 0 : s->bytes[most]))
            most = i;
    return most;
}

void report__print_merged(const struct report__context *c) {
    struct search s = {.c = c};
    uint32_t functions = 0;

    s.innermost =
        report__alloc(c->pool, c->part->node_count, sizeof *s.innermost);
    s.bytes = report__alloc(c->pool, c->names->count, sizeof *s.bytes);
    count(&s);
    for (uint32_t i = 0; i < c->names->count; i++)
        functions += s.bytes[i] > 0;
    if (functions == 0)
        return;
    SAY(c->out,
        "The places of calls by # function~ are not known: ", functions);
    for (int n = 0; n < FEW && n < (int)functions; n++) {
        uint32_t function = next(&s);
        fputs(n > 0 ? ", " : "", c->out);
        report__print_name(c->out, c->names->list[function].name);
        s.bytes[function] = 0;
    }
    fprintf(c->out,
            "%s.\nChains with them have %.1f%% of the bytes.  Places are not "
            "distinguished where chains are\nvery many, nor in files of "
            "mprof 1.0.\n",
            functions > FEW ? ", ..." : "",
            100.0 * (double)s.sum / (double)(s.all ? s.all : 1));
}
