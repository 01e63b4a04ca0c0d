/* command.c - the command `mprof`, as a function that never exits. */
#include "command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"

/* One call of the command.  It outlives the jump when memory is short. */
struct command {
    struct mprof__options options;
    struct mprof__pool pool;
    struct mprof__output output;
    FILE *err;
};

static void print_graph_tables(struct command *c,
                               const struct mprof__profile *profile,
                               const struct mprof__functions *names,
                               uint32_t thread) {
    const struct mprof__options *o = &c->options;
    FILE *out = c->output.stream;
    struct mprof__graph *graph =
        mprof__graph_build(&c->pool, profile, names, thread, o->all_frames);

    if (o->tables & MPROF_DIRECT) {
        putc('\n', out);
        mprof__print_direct(out, graph, o->verbosity, &c->pool);
    }
    if (o->tables & MPROF_GRAPH) {
        putc('\n', out);
        mprof__print_graph(out, graph, o->verbosity, &c->pool);
    }
}

/* One set of tables. */
static void print_tables(struct command *c,
                         const struct mprof__profile *profile,
                         const struct mprof__functions *names,
                         uint32_t thread) {
    const struct mprof__pool mark = c->pool;

    if (c->options.tables & MPROF_BINS) {
        putc('\n', c->output.stream);
        mprof__print_bins(c->output.stream, profile, thread,
                          c->options.verbosity, &c->pool);
    }
    if (c->options.tables & (MPROF_DIRECT | MPROF_GRAPH))
        print_graph_tables(c, profile, names, thread);
    mprof__pool_release(&c->pool, &mark);
}

static void print_by_thread(struct command *c,
                            const struct mprof__profile *profile,
                            const struct mprof__functions *names) {
    FILE *out = c->output.stream;
    const bool *allocated = mprof__threads_that_allocated(profile, &c->pool);

    for (uint32_t i = 0; i < profile->thread_count; i++) {
        const struct mprof__thread *thread = &profile->threads[i];
        if (!allocated[i])
            continue;
        fputs("\n==== Thread ", out);
        mprof__print_name(out, thread->name ? thread->name : "without name");
        fprintf(out, " (%" PRIu32 "%s) ====\n", thread->tid,
                thread->flags & MPROF_THREAD_ENDED ? ", ended" : "");
        print_tables(c, profile, names, i);
    }
}

static void print_profile(struct command *c,
                          const struct mprof__profile *profile) {
    const struct mprof__options *o = &c->options;
    FILE *out = c->output.stream;
    struct mprof__functions *names = NULL;

    if (o->sexp || (o->tables & (MPROF_DIRECT | MPROF_GRAPH)))
        names = mprof__name_functions(&c->pool, profile);
    if (o->sexp) {
        mprof__print_sexp(out, profile,
                          mprof__graph_build(&c->pool, profile, names,
                                             MPROF_ALL_THREADS, o->all_frames),
                          &c->pool);
        return;
    }
    mprof__print_header(out, profile, &c->pool);
    if (o->leaks)
        fputs("There is no leak table: Lisp's storage is reclaimed by the "
              "collector.\n",
              out);
    if (o->by_thread)
        print_by_thread(c, profile, names);
    else
        print_tables(c, profile, names, MPROF_ALL_THREADS);
}

static int run(struct command *c) {
    struct mprof__profile *profile = NULL;
    const char *error = NULL;
    bool only_text = c->options.help || c->options.version;

    if (!only_text)
        profile = mprof__read(&c->pool, c->options.file, &error);
    if (!error)
        mprof__output_open(&c->output, c->options.output, &c->pool, &error);
    if (!error && c->options.help)
        fputs(mprof__help, c->output.stream);
    else if (!error && c->options.version)
        fprintf(c->output.stream, "mprof %s\n", MPROF__VERSION);
    else if (!error)
        print_profile(c, profile);
    if (error || !mprof__output_finish(&c->output, &c->pool, &error)) {
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

int mprof__report_main(int argc, char **argv, FILE *out, FILE *err) {
    struct command c = {.output = {.stream = out}, .err = err};

    if (!mprof__parse_options(argc, argv, err, &c.options))
        return 2;
    int status = run_guarded(&c);
    mprof__output_discard(&c.output);
    mprof__pool_free(&c.pool);
    return status;
}
