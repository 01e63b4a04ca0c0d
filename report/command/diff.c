/* diff.c - the command `mprof diff`: what grew and shrank from one data file to
 * another. */
#include <string.h>

#include "report/command/command.h"
#include "report/elf/elf_file.h"
#include "report/graph/inlining.h"
#include "report/graph/own.h"
#include "report/html/page.h"

/* Functions of a chain that are exported, as of other profiles; and of a page
 * the contexts. */
enum { DEPTH = 1000, NODES = 1000000 };

/* The status when something grew by more than it may. */
enum { GREW = 3 };

struct diff {
    struct report__call *call;
    const struct report__options *options;
    struct report__input inputs[MPROF_SIDES];
    const struct report__profile *profiles[MPROF_SIDES];
    struct report__functions *names[MPROF_SIDES];
    struct report__joined joined;
    const struct report__profile *part; /* of joined.profile */
    struct report__pool *pool;
    FILE *out;
    bool grew; /* by more than it may */
};

/* OLD and NEW, each behind its program or alone.  False: there are not two. */
static bool find_inputs(const struct report__options *o,
                        struct report__input inputs[MPROF_SIDES]) {
    const char *program = NULL;
    int count = 0;

    for (int i = 0; i < o->file_count; i++) {
        if (report__is_elf(o->files[i])) {
            program = o->files[i];
            continue;
        }
        if (count < MPROF_SIDES)
            inputs[count] = (struct report__input){program, o->files[i]};
        count++;
        program = NULL;
    }
    return count == MPROF_SIDES && program == NULL;
}

bool report__check_diff(struct report__call *call,
                        struct report__parse *parse) {
    const struct report__options *o = &call->options;
    struct report__input inputs[MPROF_SIDES];

    if (!find_inputs(o, inputs))
        return report__refuse(parse, "two data files are needed, OLD and NEW, "
                                     "each behind its program or alone");
    if (o->diff_by == MPROF_DIFF_BY_TYPE && report__is_focused(&o->focus))
        return report__refuse(parse, "types and sizes are not known by chain: "
                                     "no --focus, --ignore or --only");
    return (o->format == MPROF_DIFF_TEXT ||
            report__check_not_terminal(call, parse)) &&
           report__check_focus(call, parse);
}

/* SIDE's, with names.  False: *ERROR is a sentence. */
static bool read_side(struct diff *d, enum report__joined_side side,
                      const char **error) {
    const struct report__input *input = &d->inputs[side];
    struct report__profile *profile =
        report__read(d->pool, input->data, true, error);

    if (!profile || !report__check_program(input, profile, d->pool, error))
        return false;
    if (d->options->format != MPROF_DIFF_TEXT && !d->options->arguments)
        report__leave_out_arguments(d->pool, profile);
    d->profiles[side] = profile;
    d->names[side] = report__name_functions(d->pool, profile, input->program);
    const bool is_text = d->options->format == MPROF_DIFF_TEXT;
    if (is_text ? d->options->diff_by == MPROF_DIFF_BY_LINE
                : !d->options->no_inlines)
        report__find_inlining(d->pool, profile, d->names[side],
                              d->options->format != MPROF_DIFF_HTML);
    return true;
}

/* The heaps to compare; 0 after an error. */
static unsigned choose_heaps(struct diff *d, const char **error) {
    unsigned heaps = d->profiles[MPROF_OLD]->heaps &
                     d->profiles[MPROF_NEW]->heaps & ((1u << MPROF_HEAPS) - 1);

    if (d->options->heaps)
        heaps &= d->options->heaps;
    if (heaps == 0)
        *error =
            report__format(d->pool, "%s and %s have no%s heap in common",
                           d->inputs[MPROF_OLD].data, d->inputs[MPROF_NEW].data,
                           d->options->heaps == 0                    ? ""
                           : d->options->heaps == 1u << MPROF_C_HEAP ? " C"
                                                                     : " Lisp");
    return heaps;
}

static bool read_sides(struct diff *d, const char **error) {
    struct report__focused focused;

    if (!read_side(d, MPROF_OLD, error) || !read_side(d, MPROF_NEW, error) ||
        !report__join(d->pool, d->profiles, d->names, &d->joined, error))
        return false;
    if (!d->options->full_names)
        report__shorten_names(d->pool, d->joined.names);
    if (d->options->format == MPROF_DIFF_TEXT && !d->options->all_frames &&
        d->options->choice.verbosity != MPROF_VERBOSE)
        report__hide_standard(d->joined.profile, d->joined.names);
    d->part = d->joined.profile;
    if (!report__is_focused(&d->options->focus))
        return true;
    if (!report__focus(d->pool, d->joined.profile, d->joined.names,
                       &d->options->focus, &focused, error))
        return false;
    d->part = focused.profile;
    return true;
}

/* Text */

static void print_side(struct diff *d, enum report__joined_side side) {
    const struct report__profile *p = d->profiles[side];
    FILE *out = d->out;

    fputs(side == MPROF_OLD ? "Old: " : "New: ", out);
    report__print_name(out, d->inputs[side].data);
    fputs(", ", out);
    report__print_name(out, *p->command ? p->command : p->program);
    fputs(p->open ? " (it runs, or was killed)\n" : "\n", out);
    report__print_trouble(out, &d->inputs[side], p);
}

/* What makes numbers differ that are not the program's. */
static void print_remarks(struct diff *d, enum mprof_heap heap) {
    FILE *out = d->out;

    for (int side = 0; side < MPROF_SIDES; side++) {
        const struct report__totals t = report__total(d->profiles[side], heap);
        const uint32_t sampling = report__sampling(d->profiles[side], heap);
        if (sampling != 0)
            fprintf(
                out,
                "The numbers of %s are estimated: one byte in %s was looked "
                "at, which is right but for\nsome %.1f%% of all bytes, and "
                "more of less.\n",
                side == MPROF_OLD ? "OLD" : "NEW",
                report__grouped(sampling).text,
                report__standard_error(t.bytes, sampling));
        if (t.folded > 0)
            fprintf(out,
                    "In %s the tree of chains was full: chains do not tell "
                    "all; functions are exact.\n",
                    side == MPROF_OLD ? "OLD" : "NEW");
    }
    if (!report__is_focused(&d->options->focus))
        return;
    for (int side = 0; side < MPROF_SIDES; side++) {
        const struct report__profile *part = report__one_side(
            d->pool, &d->joined, d->part, (enum report__joined_side)side);
        fprintf(
            out, "Of all chains: %s of the %s bytes of %s.\n",
            report__grouped(report__total(part, heap).bytes).text,
            report__grouped(report__total(d->profiles[side], heap).bytes).text,
            side == MPROF_OLD ? "OLD" : "NEW");
    }
}

static void print_factor(struct diff *d, const struct report__factor *factor) {
    static const char *const whys[] = {
        [MPROF_BY_BYTES] = "both then have as many bytes",
        [MPROF_BY_ALLOCS] = "both then have as many allocations",
        [MPROF_BY_FACTOR] = "as it was asked for"};

    if (d->options->normalizing != MPROF_AS_IT_IS)
        fprintf(d->out,
                "All numbers of OLD are multiplied by %.6g, and rounded: %s.\n",
                (double)factor->by / (double)factor->of,
                whys[d->options->normalizing]);
}

/* By what OLD is multiplied. */
static struct report__factor find_factor(struct diff *d, enum mprof_heap heap) {
    struct report__totals totals[MPROF_SIDES];
    struct report__factor factor = {1, 1};

    for (int side = 0; side < MPROF_SIDES; side++)
        totals[side] =
            report__total(report__one_side(d->pool, &d->joined, d->part,
                                           (enum report__joined_side)side),
                          heap);
    if (d->options->normalizing == MPROF_BY_FACTOR)
        return d->options->factor;
    if (d->options->normalizing == MPROF_BY_BYTES)
        factor = (struct report__factor){totals[MPROF_NEW].bytes,
                                         totals[MPROF_OLD].bytes};
    if (d->options->normalizing == MPROF_BY_ALLOCS)
        factor = (struct report__factor){totals[MPROF_NEW].allocs,
                                         totals[MPROF_OLD].allocs};
    return factor.by == 0 || factor.of == 0 ? (struct report__factor){1, 1}
                                            : factor;
}

/* The first heap that grew too much has a line. */
static void check_growth(struct diff *d, const struct report__diff *functions,
                         enum mprof_heap heap) {
    if (d->options->growth.is_set && !d->grew)
        d->grew = report__check_growth(
            &d->options->growth, functions,
            d->options->diff_by == MPROF_DIFF_BY_FUNCTION, heap, d->call->err);
}

/* What is compared of one heap. */
struct compared {
    struct report__diff_options function, chain, asked;
    const struct report__diff *functions, *chains;
};

static void compare(struct diff *d, enum mprof_heap heap, struct compared *c) {
    const struct report__options *o = d->options;

    c->function = (struct report__diff_options){.choice = o->choice,
                                                .by = MPROF_DIFF_BY_FUNCTION,
                                                .heap = heap,
                                                .factor = find_factor(d, heap),
                                                .depth = o->depth,
                                                .all_frames = o->all_frames};
    c->chain = c->asked = c->function;
    c->chain.by = MPROF_DIFF_BY_CHAIN;
    c->asked.by = o->diff_by;
    c->functions =
        report__diff_make(d->pool, &d->joined, d->part, &c->function);
    c->chains = report__diff_make(d->pool, &d->joined, d->part, &c->chain);
    check_growth(d, c->functions, heap);
}

static void print_table(struct diff *d, const struct compared *c) {
    const enum report__diff_by by = d->options->diff_by;
    const struct report__diff *table =
        by == MPROF_DIFF_BY_FUNCTION ? c->functions
        : by == MPROF_DIFF_BY_CHAIN
            ? c->chains
            : report__diff_make(d->pool, &d->joined, d->part, &c->asked);

    print_factor(d, &c->function.factor);
    print_remarks(d, c->function.heap);
    putc('\n', d->out);
    report__print_diff(d->out, table, d->pool);
}

static void print_all(struct diff *d, unsigned heaps) {
    static const char *const names[MPROF_HEAPS] = {
        [MPROF_LISP_HEAP] = "Lisp", [MPROF_C_HEAP] = "C"};
    struct compared compared[MPROF_HEAPS];
    FILE *out = d->out;

    for (unsigned heap = 0; heap < MPROF_HEAPS; heap++) {
        if (!(heaps >> heap & 1))
            continue;
        compare(d, heap, &compared[heap]);
        report__print_diff_words(out, heaps == 1u << heap ? "" : names[heap],
                                 compared[heap].functions,
                                 compared[heap].chains, d->pool);
    }
    for (int side = 0; side < MPROF_SIDES; side++)
        print_side(d, (enum report__joined_side)side);
    for (unsigned heap = 0; heap < MPROF_HEAPS; heap++) {
        if (!(heaps >> heap & 1))
            continue;
        if (heaps != 1u << heap)
            fprintf(out, "\n======== %s heap ========\n", names[heap]);
        print_table(d, &compared[heap]);
    }
}

/* For other programs */

/* What is checked is the same as in text. */
static void check_heap(struct diff *d, struct report__diff_options *options,
                       const struct report__diff **functions) {
    options->by = MPROF_DIFF_BY_FUNCTION;
    *functions = report__diff_make(d->pool, &d->joined, d->part, options);
    check_growth(d, *functions, options->heap);
}

static void export(struct diff *d, unsigned heaps, const char **error) {
    const enum mprof_heap heap =
        heaps == 1u << MPROF_C_HEAP ? MPROF_C_HEAP : MPROF_LISP_HEAP;
    const struct report__difference difference = {&d->joined,
                                                  find_factor(d, heap)};
    const struct report__export_options options = {
        .format = MPROF_EXPORT_PPROF,
        .sampling = {.heap = heap,
                     .all_frames = d->options->all_frames,
                     .depth = DEPTH}};
    struct report__diff_options by = {.heap = heap,
                                      .factor = difference.factor,
                                      .all_frames = d->options->all_frames};
    const struct report__diff *functions;

    if (heaps != 1u << heap) {
        *error = "diff: there are two heaps: choose one by --heap";
        return;
    }
    report__export_difference(d->out, d->part, &difference, &options, d->pool);
    check_heap(d, &by, &functions);
}

/* Above the page's tables. */
static const char *page_header(struct diff *d) {
    return report__format(
        d->pool, "New: %s, %s\nOld: %s, %s\n",
        report__clean_name(d->pool, d->inputs[MPROF_NEW].data),
        report__what_ran(d->pool, d->profiles[MPROF_NEW]),
        report__clean_name(d->pool, d->inputs[MPROF_OLD].data),
        report__what_ran(d->pool, d->profiles[MPROF_OLD]));
}

static void put_page_heap(struct diff *d, enum mprof_heap heap,
                          unsigned count) {
    const struct report__difference difference = {&d->joined,
                                                  find_factor(d, heap)};
    struct report__diff_options by = {.heap = heap,
                                      .factor = difference.factor,
                                      .all_frames = d->options->all_frames};
    struct report__diff_options by_type = by;
    struct report__html_heap page = {
        .file = d->inputs[MPROF_NEW].data,
        .old_file = d->inputs[MPROF_OLD].data,
        .profile = d->part,
        .names = d->joined.names,
        .header = page_header(d),
        .sampling = {.heap = heap,
                     .all_frames = d->options->all_frames,
                     .depth = DEPTH},
        .nodes = NODES,
        .difference = &difference};

    check_heap(d, &by, &page.by_function);
    by_type.by = MPROF_DIFF_BY_TYPE;
    if (!report__is_focused(&d->options->focus))
        page.by_type =
            report__diff_make(d->pool, &d->joined, d->part, &by_type);
    report__put_html_heap(d->out, &page, count, d->pool);
}

static void put_page(struct diff *d, unsigned heaps) {
    FILE *out = d->out;
    unsigned count = 0;

    report__html_begin(out, report__what_ran(d->pool, d->profiles[MPROF_NEW]),
                       d->pool);
    for (unsigned heap = 0; heap < MPROF_HEAPS; heap++) {
        struct report__pool mark = *d->pool;
        if (heaps >> heap & 1)
            put_page_heap(d, heap, count++);
        report__pool_release(d->pool, &mark);
    }
    report__html_end(out);
}

static void write_all(struct diff *d, unsigned heaps, const char **error) {
    switch (d->options->format) {
    case MPROF_DIFF_TEXT:
        print_all(d, heaps);
        break;
    case MPROF_DIFF_PPROF:
        export(d, heaps, error);
        break;
    case MPROF_DIFF_HTML:
        put_page(d, heaps);
        break;
    }
}

int report__run_diff(struct report__call *call, const char **error) {
    struct diff d = {
        .call = call, .options = &call->options, .pool = &call->pool};

    find_inputs(&call->options, d.inputs);
    const unsigned heaps = read_sides(&d, error) ? choose_heaps(&d, error) : 0;
    if (!heaps || !report__begin_output(call, error))
        return 1;
    d.out = call->output.stream;
    write_all(&d, heaps, error);
    return d.grew ? GREW : 0;
}
