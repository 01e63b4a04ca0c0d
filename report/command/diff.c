/* diff.c - the command `mprof diff`: growth and shrinkage from one data file to
 * another. */
#include "report/command/command.h"
#include "report/elf/elf_file.h"
#include "report/graph/inlining.h"
#include "report/graph/groups.h"
#include "report/html/page.h"

/* Functions of a chain that are exported, as of other profiles. */
enum { DEPTH = 1000 };

/* The status when something grew by more than it may. */
enum { GREW = 3 };

struct diff {
    struct report__call *call;
    const struct report__options *options;
    struct report__input inputs[MPROF_SIDES];
    const struct report__profile *profiles[MPROF_SIDES];
    struct report__functions *names[MPROF_SIDES];
    struct report__joined joined;
    struct report__focused focused; /* of joined.profile */
    struct report__pool *pool;
    FILE *out;
    bool grew;     /* by more than it may */
    bool no_lines; /* a table by line was asked for in vain */
};

static const char *const sides[] = {"OLD", "NEW"};

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

bool report__check_diff(struct report__call *call) {
    const struct report__options *o = &call->options;
    struct report__input inputs[MPROF_SIDES];

    if (!find_inputs(o, inputs))
        return report__refuse(call, "two data files are needed, OLD and NEW, "
                                    "each behind its program or alone");
    if (o->diff_by == MPROF_DIFF_BY_TYPE && report__is_focused(&o->focus))
        return report__refuse(call, "types and sizes are not known by chain: "
                                    "no --focus, --ignore, --hide or "
                                    "--only");
    return (o->format == MPROF_DIFF_TEXT || report__check_not_terminal(call)) &&
           report__check_focus(call);
}

/* SIDE's, with names.  False: CALL->error is set. */
static bool read_side(struct diff *d, int side) {
    const struct report__options *o = d->options;
    const struct report__input *input = &d->inputs[side];
    const bool is_text = o->format == MPROF_DIFF_TEXT;

    d->profiles[side] = report__read_input(
        d->pool, input, !is_text && !o->arguments, &d->call->error);
    if (!d->profiles[side])
        return false;
    d->names[side] =
        report__name_functions(d->pool, d->profiles[side], input->program);
    return true;
}

/* Of C, where the program of one side is another one by now, lines and inlined
 * functions say nothing. */
static void find_lines(struct diff *d) {
    struct report__options *o = &d->call->options;
    const bool is_text = o->format == MPROF_DIFF_TEXT;
    bool known = true;

    if (is_text ? o->diff_by != MPROF_DIFF_BY_LINE && !o->inlines
                : o->no_inlines)
        return;
    for (int side = 0; side < MPROF_SIDES; side++)
        known &= !report__has_heap(d->profiles[side], MPROF_C_HEAP) ||
                 report__has_program(&d->inputs[side], d->profiles[side]);
    for (int side = 0; known && side < MPROF_SIDES; side++)
        report__find_inlining(d->pool, d->profiles[side], d->names[side],
                              o->format != MPROF_DIFF_HTML);
    d->no_lines = is_text && !known && o->diff_by == MPROF_DIFF_BY_LINE;
    if (d->no_lines)
        o->diff_by = MPROF_DIFF_BY_FUNCTION;
}

/* The heaps to compare; 0 after an error. */
static unsigned read_sides(struct diff *d) {
    const struct report__options *o = d->options;
    const char **error = &d->call->error;

    if (!read_side(d, MPROF_OLD) || !read_side(d, MPROF_NEW))
        return 0;
    find_lines(d);
    if (!report__join(d->pool, d->profiles, d->names, &d->joined, error))
        return 0;
    if (!o->full_names)
        report__shorten_names(d->pool, d->joined.names);
    if (o->format == MPROF_DIFF_TEXT && !o->all_frames &&
        o->choice.verbosity != MPROF_VERBOSE)
        report__hide_standard(d->pool, d->joined.profile, d->joined.names);
    if (!report__focus(d->pool, d->joined.profile, d->joined.names, &o->focus,
                       &d->focused, error))
        return 0;
    const unsigned asked = o->heaps ? o->heaps : (1u << MPROF_HEAPS) - 1;
    const unsigned heaps =
        asked & d->profiles[MPROF_OLD]->heaps & d->profiles[MPROF_NEW]->heaps;
    if (heaps == 0)
        *error = report__format(
            d->pool, "%s and %s have no%s%s heap in common",
            d->inputs[MPROF_OLD].data, d->inputs[MPROF_NEW].data,
            o->heaps ? " " : "",
            o->heaps ? report__heap_names[o->heaps >> MPROF_C_HEAP & 1] : "");
    return heaps;
}

/* Return the totals of SIDE's HEAP, in the part that is compared. */
static struct report__totals total_of(struct diff *d, int side,
                                      enum mprof_heap heap) {
    return report__total(report__one_side(d->pool, &d->joined,
                                          d->focused.profile,
                                          (enum report__joined_side)side),
                         heap);
}

/* By what OLD is multiplied. */
static struct report__factor find_factor(struct diff *d, enum mprof_heap heap) {
    const struct report__totals old = total_of(d, MPROF_OLD, heap);
    const struct report__totals new = total_of(d, MPROF_NEW, heap);
    struct report__factor factor = {1, 1};

    if (d->options->normalizing == MPROF_BY_FACTOR)
        return d->options->factor;
    if (d->options->normalizing == MPROF_BY_BYTES)
        factor =
            (struct report__factor){new.allocated.bytes, old.allocated.bytes};
    if (d->options->normalizing == MPROF_BY_ALLOCS)
        factor =
            (struct report__factor){new.allocated.allocs, old.allocated.allocs};
    return factor.by && factor.of ? factor : (struct report__factor){1, 1};
}

/* Return the changes of HEAP. */
static const struct report__diff *compare(struct diff *d, enum mprof_heap heap,
                                          enum report__diff_by by) {
    const struct report__options *o = d->options;
    struct report__diff_options *options =
        report__alloc(d->pool, 1, sizeof *options);

    *options = (struct report__diff_options){.choice = o->choice,
                                             .by = by,
                                             .heap = heap,
                                             .factor = find_factor(d, heap),
                                             .depth = o->depth,
                                             .all_frames = o->all_frames};
    return report__diff_make(d->pool, &d->joined, d->focused.profile, options);
}

/* Growth */

static bool is_too_much(const struct report__growth_limit *limit,
                        const struct report__change *c) {
    const uint64_t by = report__change(c);

    return report__grew(c) && by > limit->bytes &&
           (unsigned __int128)by * limit->share.of >
               (unsigned __int128)c->numbers[MPROF_OLD] * limit->share.by;
}

static void print_growth(FILE *err, const struct report__change *c) {
    fprintf(err, " from %s to %s bytes (%s, %s)",
            report__grouped(c->numbers[MPROF_OLD]).text,
            report__grouped(c->numbers[MPROF_NEW]).text,
            report__signed(c, true).text, report__growth(c).text);
}

/* Of FUNCTIONS that whose NUMBER grew most by more than LIMIT, and their
 * *COUNT. */
static const struct report__diff_row *
find_worst(const struct report__growth_limit *limit,
           const struct report__diff *functions,
           enum report__diff_number number, uint64_t *count) {
    const struct report__diff_row *worst = NULL;

    *count = 0;
    for (uint32_t i = 0; i < functions->count; i++) {
        const struct report__diff_row *row = &functions->rows[i];
        if (!is_too_much(limit, &row->numbers[number]))
            continue;
        ++*count;
        if (!worst || report__change(&row->numbers[number]) >
                          report__change(&worst->numbers[number]))
            worst = row;
    }
    return worst;
}

/* A line if FUNCTIONS, of the first heap, grew by more than they may; with
 * --by=function also one of them itself. */
static void check_growth(struct diff *d, const struct report__diff *functions) {
    /* Numbers that may grow too much, in all and by function. */
    static const struct {
        enum report__diff_number number, of_function;
        const char *in_all, *itself;
    } judged[] = {
        {MPROF_DIFF_BYTES, MPROF_DIFF_SELF, "the %s heap", " itself"},
        {MPROF_DIFF_KEPT, MPROF_DIFF_KEPT, "the bytes kept", ": bytes kept"},
        {MPROF_DIFF_PEAK, MPROF_DIFF_PEAK, "the peak", ": bytes at the peak"}};
    const struct report__growth_limit *limit = &d->options->growth;
    const bool each = d->options->diff_by == MPROF_DIFF_BY_FUNCTION;
    const char *heap = report__heap_names[functions->options->heap];
    const char *separator = "mprof: diff: too much growth: ";
    FILE *err = d->call->err;

    if (!limit->is_set || d->grew)
        return;
    for (int j = 0; j < 3; j++) {
        const enum report__diff_number number = judged[j].number,
                                       itself = judged[j].of_function;
        const struct report__change *all = &functions->total.numbers[number];
        uint64_t count = 0;
        if (!(functions->numbers >> number & 1))
            continue;
        if (is_too_much(limit, all)) {
            fputs(separator, err);
            fprintf(err, judged[j].in_all, heap);
            print_growth(err, all);
            separator = "; ";
            d->grew = true;
        }
        const struct report__diff_row *worst =
            each ? find_worst(limit, functions, itself, &count) : NULL;
        if (!worst)
            continue;
        fputs(separator, err);
        report__print_name(err, worst->name);
        fputs(judged[j].itself, err);
        print_growth(err, &worst->numbers[itself]);
        if (count > 1)
            SAY(err, "; and # more function~", count - 1);
        separator = "; ";
        d->grew = true;
    }
    if (d->grew)
        putc('\n', err);
}

/* Text */

static void print_side(struct diff *d, int side) {
    const struct report__profile *p = d->profiles[side];

    fputs(side == MPROF_OLD ? "Old: " : "New: ", d->out);
    report__print_name(d->out, d->inputs[side].data);
    fputs(", ", d->out);
    report__print_name(d->out, *p->command ? p->command : p->program);
    fputs(p->open ? " (it runs, or was killed)\n" : "\n", d->out);
    report__print_trouble(d->out, &d->inputs[side], p);
}

/* Print reasons for differences that are not the program's. */
static void print_remarks(struct diff *d, enum mprof_heap heap) {
    if (d->no_lines)
        fputs("Compared by function, as the lines of one side are not known.\n",
              d->out);
    for (int side = 0; side < MPROF_SIDES; side++) {
        const struct report__totals t = report__total(d->profiles[side], heap);
        const uint32_t sampling = report__sampling(d->profiles[side], heap);
        if (sampling != 0)
            fprintf(
                d->out,
                "The numbers of %s are estimated: one byte in %s was looked "
                "at, which is right but for\nsome %.1f%% of all bytes, and "
                "more of less.\n",
                sides[side], report__grouped(sampling).text,
                report__standard_error(t.allocated.bytes, sampling));
        if (t.folded.allocs > 0)
            fprintf(d->out,
                    "In %s the tree of chains was full: chains are not "
                    "complete; functions are exact.\n",
                    sides[side]);
    }
    if (!report__is_focused(&d->options->focus))
        return;
    for (int side = 0; side < MPROF_SIDES; side++)
        fprintf(d->out, "Of all chains: %s of the %s bytes of %s.\n",
                report__grouped(total_of(d, side, heap).allocated.bytes).text,
                report__grouped(
                    report__total(d->profiles[side], heap).allocated.bytes)
                    .text,
                sides[side]);
}

static void print_table(struct diff *d, const struct report__diff *table) {
    static const char *const whys[] = {
        [MPROF_BY_BYTES] = "both then have as many bytes",
        [MPROF_BY_ALLOCS] = "both then have as many allocations",
        [MPROF_BY_FACTOR] = "the factor that was given"};
    const struct report__factor *factor = &table->options->factor;

    if (d->options->normalizing != MPROF_AS_IT_IS)
        fprintf(d->out,
                "All numbers of OLD are multiplied by %.6g, and rounded: %s.\n",
                (double)factor->by / (double)factor->of,
                whys[d->options->normalizing]);
    print_remarks(d, table->options->heap);
    putc('\n', d->out);
    report__print_diff(d->out, table, d->pool);
}

static void print_all(struct diff *d, unsigned heaps) {
    const struct report__diff *tables[MPROF_HEAPS];
    const enum report__diff_by by = d->options->diff_by;

    for (unsigned heap = 0; heap < MPROF_HEAPS; heap++) {
        if (!(heaps >> heap & 1))
            continue;
        const struct report__diff *functions =
            compare(d, heap, MPROF_DIFF_BY_FUNCTION);
        const struct report__diff *chains =
            compare(d, heap, MPROF_DIFF_BY_CHAIN);
        check_growth(d, functions);
        report__print_diff_words(
            d->out, heaps == 1u << heap ? "" : report__heap_names[heap],
            functions, chains, d->pool);
        if (!report__is_focused(&d->options->focus))
            report__print_root_change(d->out, d->pool, d->joined.sides, heap);
        tables[heap] = by == MPROF_DIFF_BY_FUNCTION ? functions
                       : by == MPROF_DIFF_BY_CHAIN  ? chains
                                                    : compare(d, heap, by);
    }
    for (int side = 0; side < MPROF_SIDES; side++)
        print_side(d, side);
    for (unsigned heap = 0; heap < MPROF_HEAPS; heap++) {
        if (!(heaps >> heap & 1))
            continue;
        if (heaps != 1u << heap)
            fprintf(d->out, "\n======== %s heap ========\n",
                    report__heap_names[heap]);
        print_table(d, tables[heap]);
    }
}

/* Write for other programs.  The checks are the text's. */

static void export(struct diff *d, unsigned heaps) {
    const enum mprof_heap heap =
        heaps == 1u << MPROF_C_HEAP ? MPROF_C_HEAP : MPROF_LISP_HEAP;
    const struct report__difference difference = {&d->joined,
                                                  find_factor(d, heap)};
    const struct report__export_options options = {
        .format = MPROF_EXPORT_PPROF,
        .sampling = {.heap = heap,
                     .all_frames = d->options->all_frames,
                     .depth = DEPTH}};

    if (heaps != 1u << heap) {
        d->call->error = "diff: there are two heaps: choose one by --heap";
        return;
    }
    report__export(d->out, d->focused.profile, d->joined.names, &difference,
                   &options, d->pool);
    check_growth(d, compare(d, heap, MPROF_DIFF_BY_FUNCTION));
}

static void put_page_heap(struct diff *d, enum mprof_heap heap,
                          unsigned count) {
    const struct report__difference difference = {&d->joined,
                                                  find_factor(d, heap)};
    const struct report__html_heap page = {
        .file = d->inputs[MPROF_NEW].data,
        .old_file = d->inputs[MPROF_OLD].data,
        .profile = d->focused.profile,
        .names = d->joined.names,
        .header = report__format(
            d->pool, "New: %s, %s\nOld: %s, %s\n",
            report__clean_name(d->pool, d->inputs[MPROF_NEW].data),
            report__what_ran(d->pool, d->profiles[MPROF_NEW]),
            report__clean_name(d->pool, d->inputs[MPROF_OLD].data),
            report__what_ran(d->pool, d->profiles[MPROF_OLD])),
        .sampling = {.heap = heap,
                     .all_frames = d->options->all_frames,
                     .depth = DEPTH},
        .nodes = d->options->nodes,
        .difference = &difference,
        .by_function = compare(d, heap, MPROF_DIFF_BY_FUNCTION),
        .by_type = report__is_focused(&d->options->focus)
                       ? NULL
                       : compare(d, heap, MPROF_DIFF_BY_TYPE)};

    check_growth(d, page.by_function);
    report__put_html_heap(d->out, &page, count, d->pool);
}

static void put_page(struct diff *d, unsigned heaps) {
    unsigned count = 0;

    report__html_begin(
        d->out, report__what_ran(d->pool, d->profiles[MPROF_NEW]), d->pool);
    for (unsigned heap = 0; heap < MPROF_HEAPS; heap++) {
        struct report__pool mark = *d->pool;
        if (heaps >> heap & 1)
            put_page_heap(d, heap, count++);
        report__pool_release(d->pool, &mark);
    }
    report__html_end(d->out);
}

int report__run_diff(struct report__call *call) {
    struct diff d = {
        .call = call, .options = &call->options, .pool = &call->pool};

    find_inputs(&call->options, d.inputs);
    const unsigned heaps = read_sides(&d);
    if (!heaps || !report__begin_output(call))
        return 1;
    d.out = call->output.stream;
    (call->options.format == MPROF_DIFF_TEXT    ? print_all
     : call->options.format == MPROF_DIFF_PPROF ? export
                                                : put_page)(&d, heaps);
    return d.grew ? GREW : 0;
}
