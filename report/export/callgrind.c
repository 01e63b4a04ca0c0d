/* callgrind.c - the format of callgrind's output: the allocations of each
 * function at each of its lines, and by its calls there.
 *
 * The viewers take for what a function has with what it called either what its
 * calls have, or what the calls of it have.  For both to be right, a function
 * that is on a chain several times has a name for each, from the outermost
 * one: f, f'2, f'3, as callgrind names them; and one function has called all
 * outermost ones.  Calls are not counted; in their place allocations are.
 */
#include <inttypes.h>

#include "report/base/dictionary.h"
#include "report/export/export.h"

/* The cost of a line, or of the calls on it. */
struct cost {
    uint32_t line, callee; /* callee: a node; MPROF_NONE: the line itself */
    uint32_t next;         /* of the same node, plus 1 */
    uint64_t numbers[MPROF_NUMBERS];
};

struct callgrind {
    const struct report__export *e;
    int count; /* of numbers */
    /* Nodes: a function, and how often it stands further out.  Lines: of a
     * node. Calls: a line, and the node that is called plus 1. */
    struct report__pairs nodes, lines, calls;
    struct cost *costs; /* as calls */
    size_t cost_capacity;
    uint32_t *first; /* by node: of its costs, plus 1 */
    size_t first_capacity;
    const uint32_t *files; /* by function */
    /* By function: the last sample, and how often it stood there. */
    uint64_t *seen;
    uint32_t *times;
    uint64_t sample;
    uint64_t totals[MPROF_NUMBERS];
    /* Names that were written: later they are numbers. */
    bool *has_name, *has_file, *has_module;
    const char **clean, **file_names;
};

static const struct {
    const char *name, *text;
} events[MPROF_NUMBERS] = {
    [MPROF_NUMBER_ALLOCS] = {"Allocs", "allocations"},
    [MPROF_NUMBER_BYTES] = {"Bytes", "bytes allocated"},
    [MPROF_NUMBER_KEPT_ALLOCS] = {"KeptAllocs", "allocations that were kept"},
    [MPROF_NUMBER_KEPT_BYTES] = {"Kept", "bytes kept"},
    [MPROF_NUMBER_PEAK_ALLOCS] = {"PeakAllocs",
                                  "allocations that lived at the peak"},
    [MPROF_NUMBER_PEAK_BYTES] = {"Peak", "bytes that lived at the peak"},
    [MPROF_NUMBER_TEMPORARY] = {"Temporary", "temporary allocations"}};

/* In the order in which they are written: bytes first, as viewers sort. */
static const enum report__number order[] = {
    MPROF_NUMBER_BYTES,       MPROF_NUMBER_ALLOCS,     MPROF_NUMBER_KEPT_BYTES,
    MPROF_NUMBER_KEPT_ALLOCS, MPROF_NUMBER_PEAK_BYTES, MPROF_NUMBER_PEAK_ALLOCS,
    MPROF_NUMBER_TEMPORARY};

/* The function that calls the outermost ones. */
static uint32_t root(const struct callgrind *c) {
    return report__all_functions(c->e->names);
}

static uint32_t node_of(struct callgrind *c, uint32_t function,
                        uint32_t further_out) {
    uint32_t node =
        report__pair_number(c->e->pool, &c->nodes, function, further_out);
    while (c->first_capacity <= node)
        c->first = report__grow(c->e->pool, c->first, c->first_capacity,
                                &c->first_capacity, sizeof *c->first);
    return node;
}

/* Return the line of FRAME; if a function is in several files, only the lines
 * of one have numbers. */
static uint32_t number_of(const struct callgrind *c,
                          const struct report__frame *frame) {
    const struct report__pair place =
        report__frame_place(c->e->names, frame->place);

    return place.a == c->files[frame->function] ? place.b : 0;
}

/* Add NUMBERS to what line NUMBER of NODE has itself, or its calls of CALLEE.
 */
static void add_cost(struct callgrind *c, uint32_t node, uint32_t number,
                     uint32_t callee, const uint64_t *numbers) {
    struct report__pool *pool = c->e->pool;
    uint32_t line = report__pair_number(pool, &c->lines, node, number);
    uint32_t known = c->calls.count;
    uint32_t i = report__pair_number(pool, &c->calls, line, callee + 1);

    if (i == known) {
        c->costs = report__grow(pool, c->costs, i, &c->cost_capacity,
                                sizeof *c->costs);
        c->costs[i] = (struct cost){
            .line = number, .callee = callee, .next = c->first[node]};
        c->first[node] = i + 1;
    }
    for (int k = 0; k < MPROF_NUMBERS; k++)
        c->costs[i].numbers[k] += numbers[k];
}

static void add(void *data, const struct report__sample *s) {
    struct callgrind *c = data;
    uint32_t node = node_of(c, root(c), 0), line = 0;

    c->sample++;
    for (int i = 0; i < MPROF_NUMBERS; i++)
        c->totals[i] += s->numbers[i];
    for (uint32_t k = s->depth; k-- > 0;) {
        uint32_t function = s->frames[k].function;
        if (c->seen[function] != c->sample)
            c->times[function] = 0;
        c->seen[function] = c->sample;
        uint32_t inner = node_of(c, function, c->times[function]++);
        add_cost(c, node, line, inner, s->numbers);
        node = inner;
        line = number_of(c, &s->frames[k]);
    }
    add_cost(c, node, line, MPROF_NONE, s->numbers);
}

/* "KEY=(NUMBER) NAME", and without the name once it is known. */
static void put_name(struct callgrind *c, const char *key, uint32_t number,
                     const char *name, bool *is_known) {
    if (*is_known)
        fprintf(c->e->out, "%s=(%" PRIu32 ")\n", key, number + 1);
    else
        fprintf(c->e->out, "%s=(%" PRIu32 ") %s\n", key, number + 1, name);
    *is_known = true;
}

static const char *name_of(struct callgrind *c, uint32_t node) {
    uint32_t function = c->nodes.list[node].a, times = c->nodes.list[node].b;
    const char *name = function == root(c) ? "[root]" : c->clean[function];

    return times == 0 || c->has_name[node]
               ? name
               : report__format(c->e->pool, "%s'%" PRIu32, name, times + 1);
}

/* Write the file and name of NODE's function; CALLED: as a callee's. */
static void put_function(struct callgrind *c, uint32_t node, bool called,
                         const uint32_t *modules) {
    const struct report__profile *p = c->e->profile;
    uint32_t function = c->nodes.list[node].a;
    uint32_t none = p->module_count, module = none, file = 0;

    if (function != root(c)) {
        file = c->files[function];
        if (modules[function] != MPROF_NONE)
            module = modules[function];
    }
    put_name(c, called ? "cob" : "ob", module,
             module == none || c->has_module[module]
                 ? "???"
                 : report__clean_name(c->e->pool, p->modules[module].path),
             &c->has_module[module]);
    put_name(c, called ? "cfi" : "fl", file,
             file > 0 ? c->file_names[file] : "???", &c->has_file[file]);
    put_name(c, called ? "cfn" : "fn", node, name_of(c, node),
             &c->has_name[node]);
}

static void put_numbers(const struct callgrind *c, uint32_t line,
                        const uint64_t *numbers) {
    fprintf(c->e->out, "%" PRIu32, line);
    for (int i = 0; i < c->count; i++)
        fprintf(c->e->out, " %" PRIu64, numbers[order[i]]);
    putc('\n', c->e->out);
}

static void put_costs(struct callgrind *c) {
    const uint32_t *modules =
        report__modules_of(c->e->pool, c->e->profile, c->e->names,
                           report__all_functions(c->e->names));

    for (uint32_t node = 0; node < c->nodes.count; node++) {
        putc('\n', c->e->out);
        put_function(c, node, false, modules);
        for (uint32_t i = c->first[node]; i > 0; i = c->costs[i - 1].next) {
            const struct cost *cost = &c->costs[i - 1];
            uint64_t allocs = cost->numbers[MPROF_NUMBER_ALLOCS];
            if (cost->callee != MPROF_NONE) {
                put_function(c, cost->callee, true, modules);
                /* Of none at all the readers would make a line of its own. */
                fprintf(c->e->out, "calls=%" PRIu64 " 0\n",
                        allocs > 0 ? allocs : 1);
            }
            put_numbers(c, cost->line, cost->numbers);
        }
    }
}

static void put_header(const struct callgrind *c) {
    FILE *out = c->e->out;

    fprintf(out,
            "# callgrind format\nversion: 1\ncreator: mprof %s\n"
            "pid: %" PRIu32 "\ncmd: %s\npositions: line\n",
            MPROF_PACKAGE_VERSION, c->e->profile->pid,
            report__what_ran(c->e->pool, c->e->profile));
    for (int i = 0; i < c->count; i++)
        fprintf(out, "event: %s : %s\n", events[order[i]].name,
                events[order[i]].text);
    fputs("events:", out);
    for (int i = 0; i < c->count; i++)
        fprintf(out, " %s", events[order[i]].name);
    fputs("\nsummary:", out);
    for (int i = 0; i < c->count; i++)
        fprintf(out, " %" PRIu64, c->totals[order[i]]);
    putc('\n', out);
}

void report__export_callgrind(const struct report__export *e) {
    uint32_t functions = report__all_functions(e->names);
    struct callgrind c = {
        .e = e, .count = report__numbers_of(e->options->sampling.heap)};

    c.clean = report__clean_names(e->pool, e->names, false);
    c.file_names = report__file_names(e);
    c.files = report__files_of(e);
    c.seen = report__alloc(e->pool, functions, sizeof *c.seen);
    c.times = report__alloc(e->pool, functions, sizeof *c.times);
    c.has_file = report__alloc(e->pool, (size_t)report__file_count(e) + 1,
                               sizeof *c.has_file);
    c.has_module = report__alloc(e->pool, (size_t)e->profile->module_count + 1,
                                 sizeof *c.has_module);
    report__each_sample(e->samples, add, &c);
    c.has_name = report__alloc(e->pool, c.nodes.count, sizeof *c.has_name);
    put_header(&c);
    put_costs(&c);
}
