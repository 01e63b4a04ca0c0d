/* command.c - the command `mprof`, as a function that never exits. */
#include "report/command/command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/output.h"
#include "report/graph/inlining.h"
#include "report/graph/sources.h"

/* One call of the command.  It outlives the jump when memory is short. */
struct command {
    struct report__options options;
    struct report__pool pool;
    struct report__output output;
    struct report__screen screen;
    FILE *err;
    struct report__input input;
    struct report__together together;
    const struct report__profile *profile;
    const struct report__profile *part; /* what tables of chains are made of */
    struct report__functions *names;    /* NULL: not needed */
    struct report__types *types;        /* the same */
};

static struct report__path_options path_options(const struct command *c,
                                                enum mprof_heap heap) {
    const struct report__options *o = &c->options;

    return (struct report__path_options){.choice = o->choice,
                                         .heap = heap,
                                         .inverted = o->inverted,
                                         .depth = o->leak_depth,
                                         .offsets = o->offsets,
                                         .lines = o->lines,
                                         .inlines = o->inlines,
                                         .all_frames = o->all_frames};
}

static void print_graph_tables(struct command *c, enum mprof_heap heap,
                               uint32_t thread) {
    const struct report__options *o = &c->options;
    const struct report__path_options options = path_options(c, heap);
    const bool direct_by = o->lines || o->by_site;
    FILE *out = c->output.stream;
    struct report__graph *graph = NULL;

    if (o->tables & MPROF_DIRECT && direct_by) {
        putc('\n', out);
        report__print_direct_by(out, c->part, c->names, thread, &options,
                                &c->pool);
    }
    if (o->tables & MPROF_GRAPH || !direct_by)
        graph = report__graph_build(&c->pool, c->part, c->names, heap, thread,
                                    o->all_frames);
    if (o->tables & MPROF_DIRECT && !direct_by) {
        putc('\n', out);
        report__print_direct(out, graph, &o->choice, &c->pool);
    }
    if (o->tables & MPROF_GRAPH) {
        putc('\n', out);
        report__print_graph(out, graph, &o->choice, &c->pool);
    }
}

static void print_path_tables(struct command *c, enum mprof_heap heap,
                              uint32_t thread) {
    static void (*const print[])(FILE *, const struct report__profile *,
                                 const struct report__functions *, uint32_t,
                                 const struct report__path_options *,
                                 struct report__pool *) = {
        report__print_leaks,     report__print_lost,   report__print_peak,
        report__print_temporary, report__print_alive,  report__print_paths,
        report__print_tree,      report__print_by_type};

    const struct report__options *o = &c->options;
    const bool is_c = heap == MPROF_C_HEAP;
    const bool leaks = o->tables & MPROF_LEAKS && is_c;
    const bool wanted[] = {leaks && !o->lost,
                           leaks && o->lost,
                           o->tables & MPROF_PEAK && is_c,
                           o->tables & MPROF_TEMPORARY && is_c,
                           o->tables & MPROF_ALIVE && !is_c,
                           o->tables & MPROF_PATHS,
                           o->tables & MPROF_TREE,
                           o->tables & MPROF_BY_TYPE && !is_c};
    const struct report__path_options options = path_options(c, heap);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (wanted[i]) {
            putc('\n', c->output.stream);
            print[i](c->output.stream, c->part, c->names, thread, &options,
                     &c->pool);
        }
}

/* One set of tables. */
static void print_tables(struct command *c, enum mprof_heap heap,
                         uint32_t thread) {
    const struct report__options *o = &c->options;
    const struct report__pool mark = c->pool;
    FILE *out = c->output.stream;

    const bool bins = o->tables & MPROF_BINS &&
                      (c->part == c->profile || heap == MPROF_LISP_HEAP);

    if (bins)
        putc('\n', out);
    if (bins && heap == MPROF_LISP_HEAP)
        report__print_bins(out, c->part, thread, &o->choice, &c->pool);
    else if (bins)
        report__print_sizes(out, c->profile, thread, c->types, &o->choice,
                            &c->pool);
    print_path_tables(c, heap, thread);
    if (o->tables & (MPROF_DIRECT | MPROF_GRAPH))
        print_graph_tables(c, heap, thread);
    report__pool_release(&c->pool, &mark);
}

static void print_by_thread(struct command *c, enum mprof_heap heap) {
    FILE *out = c->output.stream;
    const bool *allocated =
        report__threads_that_allocated(c->profile, &c->pool);

    for (uint32_t i = 0; i < c->profile->thread_count; i++) {
        const struct report__thread *thread = &c->profile->threads[i];
        if (!allocated[i] || thread->heap != heap)
            continue;
        putc('\n', out);
        report__print_strong(out, "==== Thread ");
        report__print_name(out, thread->name ? thread->name : "without name");
        fprintf(out, " (%" PRIu32, thread->tid);
        if (c->profile->process_count > 0)
            fprintf(
                out, ", process %" PRIu32,
                (uint32_t)c->profile->processes[thread->process].process.pid);
        fputs(thread->flags & MPROF_THREAD_ENDED ? ", ended" : "", out);
        if (thread->members > 1)
            fprintf(out, ", the last of %" PRIu64, thread->members);
        if (thread->stack > 0)
            fprintf(out, ", stack up to %s bytes",
                    report__grouped(thread->stack).text);
        fputs(") ====\n", out);
        print_tables(c, heap, i);
    }
}

/* The heaps to print; 0 after an error: it was not recorded. */
static unsigned chosen_heaps(struct command *c, const char **error) {
    unsigned heaps = c->profile->heaps;

    if (c->options.focus.types.count > 0) {
        heaps &= 1u << MPROF_LISP_HEAP;
        if (heaps && c->options.heaps == 1u << MPROF_C_HEAP) {
            *error = "--type is of the Lisp heap, not of C's";
            return 0;
        }
        if (!heaps)
            *error = report__format(&c->pool,
                                    "%s: the Lisp heap was not recorded, which "
                                    "alone has types",
                                    c->input.data);
        if (!heaps)
            return 0;
    }
    if (!c->options.heaps)
        return heaps;
    heaps &= c->options.heaps;
    if (!heaps)
        *error = report__format(
            &c->pool, "%s: the %s heap was not recorded", c->input.data,
            c->options.heaps >> MPROF_C_HEAP & 1 ? "C" : "Lisp");
    return heaps;
}

/* Names of functions and of types are looked up only if they are printed. */
static void look_up(struct command *c, unsigned heaps) {
    const struct report__options *o = &c->options;
    bool c_heap = heaps >> MPROF_C_HEAP & 1;
    unsigned nameless = MPROF_BINS | (c_heap ? 0u : MPROF_PATH_TABLES);
    bool focused = report__is_focused(&o->focus);

    if (o->sexp || focused || o->tables & ~nameless)
        c->names =
            report__name_functions(&c->pool, c->profile, c->input.program);
    if (c->names && o->lines)
        c->names->sources = report__find_sources(&c->pool, c->profile);
    if (!o->sexp && o->inlines && o->tables & (MPROF_DIRECT | MPROF_GRAPH))
        report__find_inlining(&c->pool, c->profile, c->names, false);
    if (!o->sexp && !focused && c_heap && o->tables & MPROF_BINS)
        c->types = report__types_read(&c->pool, c->profile, c->input.program,
                                      o->choice.verbosity == MPROF_VERBOSE);
}

/* Lines below the header about what the tables will lack. */
static void print_remarks(struct command *c, unsigned heaps) {
    bool c_heap = heaps >> MPROF_C_HEAP & 1;

    if (c_heap)
        report__print_trouble(c->output.stream, &c->input, c->profile);
    if (c->options.ask_leaks && !c_heap && !c->profile->alive)
        fputs("There is no leak table: Lisp's storage is reclaimed by the "
              "collector.\n",
              c->output.stream);
    if (c->options.tables & (MPROF_PEAK | MPROF_TEMPORARY) && !c_heap)
        fputs(
            "There is no table of the peak, or of temporary objects: these are "
            "of the C\nheap, which was not recorded.\n",
            c->output.stream);
}

/* What of the chains the tables are about.  False: *ERROR is a sentence. */
static bool focus(struct command *c, struct report__focused *focused,
                  const char **error) {
    c->part = c->profile;
    if (!report__is_focused(&c->options.focus))
        return true;
    if (!report__focus(&c->pool, c->profile, c->names, &c->options.focus,
                       focused, error))
        return false;
    c->part = focused->profile;
    return true;
}

static void print_share(FILE *out, uint64_t bytes, uint64_t all) {
    fprintf(out, "%s of %s bytes (%.1f%%)", report__grouped(bytes).text,
            report__grouped(all).text,
            100.0 * (double)bytes / (double)(all > 0 ? all : 1));
}

/* That BYTES of ALL are as START and REST, around them, say. */
static void print_lack(FILE *out, const char *start, uint64_t bytes,
                       uint64_t all, const char *rest) {
    if (bytes == 0)
        return;
    fputs(start, out);
    print_share(out, bytes, all);
    fputs(rest, out);
}

/* What the tables do not have, or not with its chains. */
static void print_missing(FILE *out, enum mprof_heap heap,
                          const struct report__focused *focused, uint64_t all) {
    print_lack(
        out, "In no table below: ", focused->summed[heap].bytes, all,
        ", whose chains were summed up, so that it\nis not known whether "
        "they belong here.  Record with a larger limit.\n");
    print_lack(
        out, "In no table below: ", focused->untyped.bytes, all,
        ", whose types are not known by chain, as there\nwas no room, or "
        "an older mprof recorded it.\n");
    print_lack(out, "Without callers: ", focused->alone.bytes, all,
               ", whose chains were summed up: of these it is\nknown which "
               "function allocated them.  Record with a larger limit.\n");
}

/* Above the tables of HEAP: what they are about. */
static void print_focus(struct command *c, enum mprof_heap heap,
                        const struct report__focused *focused) {
    FILE *out = c->output.stream;
    const struct report__focus *focus = &c->options.focus;
    const uint64_t all = report__total(c->profile, heap).bytes;

    if (c->part == c->profile)
        return;
    putc('\n', out);
    if (focus->focus || focus->ignore || focus->types.count > 0) {
        fputs(focus->types.count == 0         ? "Of all chains: "
              : focus->focus || focus->ignore ? "Of these types and chains: "
                                              : "Of these types: ",
              out);
        print_share(out, focused->left[heap].bytes, all);
        fputs(".\n", out);
    }
    if (focus->only)
        fputs("What functions of other packages and files allocated is their "
              "callers'.\n",
              out);
    if (c->options.tables & MPROF_BINS && heap == MPROF_C_HEAP)
        fputs("No bins: sizes are not known by chain.\n", out);
    print_missing(out, heap, focused, all);
}

/* For gnuplot that of one heap alone. */
static void print_curves(struct command *c, unsigned heaps) {
    const struct report__curve_options *o = &c->options.curve;
    FILE *out = c->output.stream;
    bool is_tsv = o->format == MPROF_CURVE_TSV;

    if (!is_tsv)
        report__print_header(out, c->profile, MPROF_NORMAL, &c->pool);
    if (heaps >> MPROF_C_HEAP & 1) {
        report__print_curve(out, c->profile, o, &c->pool);
        if (is_tsv)
            return;
    }
    if (heaps >> MPROF_LISP_HEAP & 1)
        report__print_collections(out, c->profile, o, &c->pool);
}

static void export(struct command *c, const char **error) {
    const struct report__export_options *o = &c->options.export;
    struct report__focused focused;

    c->names = report__name_functions(&c->pool, c->profile, c->input.program);
    if (!o->no_lines)
        report__find_inlining(&c->pool, c->profile, c->names, true);
    if (focus(c, &focused, error))
        report__export(c->output.stream, c->part, c->names, o, &c->pool);
}

static void print_profile(struct command *c, unsigned heaps,
                          const char **error) {
    struct report__options *o = &c->options;
    FILE *out = c->output.stream;
    struct report__focused focused;

    if (o->what == MPROF_CURVE_ALONE) {
        print_curves(c, heaps);
        return;
    }
    if (o->what == MPROF_EXPORT) {
        export(c, error);
        return;
    }
    if (c->profile->alive && o->tables & MPROF_LEAKS)
        o->tables |= MPROF_ALIVE;
    look_up(c, heaps);
    if (!focus(c, &focused, error))
        return;
    if (o->sexp) {
        report__print_sexp(out, c->profile, c->names, o->all_frames, &c->pool);
        return;
    }
    report__print_header(out, c->profile, o->choice.verbosity, &c->pool);
    print_remarks(c, heaps);
    for (unsigned heap = 0; heap < MPROF_HEAPS; heap++) {
        if (!(heaps >> heap & 1))
            continue;
        if (heaps != 1u << heap) {
            putc('\n', out);
            report__print_strong(out, heap == MPROF_C_HEAP
                                          ? "======== C heap ========\n"
                                          : "======== Lisp heap ========\n");
        }
        print_focus(c, heap, &focused);
        if (o->by_thread)
            print_by_thread(c, heap);
        else
            print_tables(c, heap, MPROF_ALL_THREADS);
    }
}

/* What is exported is of one heap, and a number that it has. */
static void check_export(struct command *c, unsigned heaps,
                         const char **error) {
    struct report__export_options *o = &c->options.export;

    o->sampling.heap =
        heaps == 1u << MPROF_C_HEAP ? MPROF_C_HEAP : MPROF_LISP_HEAP;
    if (heaps != 1u << o->sampling.heap)
        *error = report__format(&c->pool,
                                "%s: there are two heaps: choose one by --heap",
                                c->input.data);
    else if (o->sampling.heap == MPROF_LISP_HEAP &&
             o->metric >= MPROF_LISP_NUMBERS)
        *error = report__format(
            &c->pool, "%s: of Lisp's heap there are bytes and allocs only",
            c->input.data);
}

/* What is of one process only; NULL: all is of any number. */
static const char *of_one(const struct report__options *o) {
    return o->what == MPROF_CURVE_ALONE ? "mprof curve"
           : o->sexp                    ? "--sexp"
                                        : NULL;
}

/* The profile, and the heaps of it to print; 0 if there is an error. */
static unsigned read_input(struct command *c, const char **error) {
    uint32_t count;
    const struct report__input *inputs = report__choose_inputs(
        &c->pool, c->options.files, c->options.file_count, &count);

    c->input = inputs[0];
    c->together.alive = c->options.alive;
    c->together.calls = c->options.what == MPROF_EXPORT || c->options.offsets ||
                        c->options.lines || c->options.inlines;
    c->together.no_arguments =
        c->options.what == MPROF_EXPORT && !c->options.arguments;
    if (count > 1 && of_one(&c->options)) {
        *error = report__format(&c->pool, "%s is of one data file",
                                of_one(&c->options));
        return 0;
    }
    c->profile = report__read_together(&c->together, &c->pool, inputs, count,
                                       &c->input, error);
    if (!c->profile)
        return 0;
    unsigned heaps = chosen_heaps(c, error);
    if (c->options.what == MPROF_EXPORT && *error == NULL)
        check_export(c, heaps, error);
    return heaps;
}

static int run(struct command *c) {
    static void (*const print_help[])(FILE *) = {
        [MPROF_TABLES] = report__help,
        [MPROF_CURVE_ALONE] = report__curve_help,
        [MPROF_EXPORT] = report__export_help};
    const char *error = NULL;
    unsigned heaps = 0;
    bool only_text = c->options.help || c->options.version;

    if (!only_text)
        heaps = read_input(c, &error);
    if (!error)
        report__output_open(&c->output, c->options.output, &c->pool, &error);
    if (!error && c->options.what == MPROF_TABLES && !c->options.version)
        report__screen_begin(&c->screen, &c->output, c->options.colour);
    if (!error && c->options.help)
        print_help[c->options.what](c->output.stream);
    else if (!error && c->options.version)
        fprintf(c->output.stream, "mprof %s\n", MPROF_PACKAGE_VERSION);
    else if (!error)
        print_profile(c, heaps, &error);
    report__screen_end(&c->screen, &c->output);
    if (error || !report__output_finish(&c->output, &c->pool, &error)) {
        if (error)
            fprintf(c->err, "mprof: %s\n", error);
        return 1;
    }
    return 0;
}

static int run_guarded(struct command *c) {
    jmp_buf nomem;

    c->pool.nomem = &nomem;
    if (setjmp(nomem)) {
        fputs("mprof: out of memory\n", c->err);
        return 1;
    }
    return run(c);
}

/* Nothing is left of it but its options. */
static int run_once(struct command *c) {
    int status = run_guarded(c);

    report__screen_end(&c->screen, &c->output);
    report__output_discard(&c->output);
    report__together_free(&c->together);
    report__pool_free(&c->pool);
    return status;
}

int report__main(int argc, char **argv, FILE *out, FILE *err) {
    struct command c = {.output = {.stream = out}, .err = err};

    if (argc > 1 && strcmp(argv[1], "stats") == 0)
        return report__stats_main(argc - 1, argv + 1, out, err);
    if (argc > 1 && strcmp(argv[1], "list") == 0)
        return report__list_main(argc - 1, argv + 1, out, err);
    if (argc > 1 && strcmp(argv[1], "html") == 0)
        return report__html_main(argc - 1, argv + 1, out, err);
    if (argc > 1 && strcmp(argv[1], "check") == 0)
        return report__check_main(argc - 1, argv + 1, out, err);
    if (argc > 1 && strcmp(argv[1], "diff") == 0)
        return report__diff_main(argc - 1, argv + 1, out, err);
    bool good;
    if (argc > 1 && strcmp(argv[1], "curve") == 0)
        good = report__parse_curve(argc - 1, argv + 1, out, err, &c.options);
    else if (argc > 1 && strcmp(argv[1], "export") == 0)
        good = report__parse_export(argc - 1, argv + 1, out, err, &c.options);
    else
        good = report__parse_options(argc, argv, err, &c.options);
    if (!good)
        return 2;
    int status = run_once(&c);
    if (!c.screen.failed)
        return status;
    struct command again = {.options = c.options,
                            .output = {.stream = out},
                            .screen = {.no_pager = true},
                            .err = err};
    return run_once(&again);
}
