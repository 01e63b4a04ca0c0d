/* stats.c - the command `mprof stats`. */
#include "report/command/command.h"

#include <string.h>
#include <unistd.h>

#include "report/base/output.h"
#include "report/command/option.h"
#include "report/tables/stats.h"

struct options {
    bool plain, help;
    const char *output;
};

REPORT__SETS(be_plain, struct options, plain, true)
REPORT__SETS(give_help, struct options, help, true)
REPORT__TAKES(set_output, struct options, output)

static const struct report__option list[] = {
    {"plain", NULL, "numbers alone: a line for each process, one for all",
     be_plain},
    {"output", "FILE", "write to FILE, which appears when it is complete",
     set_output},
    {"help", NULL, "print this", give_help},
    {NULL, NULL, NULL, NULL}};

/* One call.  It outlives the jump when memory is short. */
struct stats {
    struct options options;
    const char **files; /* room for all arguments */
    uint32_t count;
    struct report__pool pool;
    struct report__output output;
    FILE *err;
};

static bool parse(struct stats *s, int argc, char **argv) {
    bool only_files = false;

    s->files = report__alloc(&s->pool, (size_t)argc + 1, sizeof *s->files);
    for (int i = 1; i < argc; i++) {
        if (!only_files && strcmp(argv[i], "--") == 0)
            only_files = true;
        else if (only_files || argv[i][0] != '-' || !argv[i][1])
            s->files[s->count++] = argv[i];
        else if (!report__take_option(list, argv, &i, "mprof: stats: ", s->err,
                                      &s->options))
            return false;
    }
    if (s->count == 0)
        s->files[s->count++] = "mprof.data";
    return true;
}

static void print_help(FILE *out) {
    fputs("Usage: mprof stats [OPTION]... [FILE]...\n"
          "Print the load that processes put on the C heap, from their data "
          "files or logs.\n"
          "\n",
          out);
    report__describe_options(list, out);
}

static void print(struct stats *s, const char **error) {
    struct report__loads loads;

    if (!report__find_loads(&loads, s->files, s->count, s->err, &s->pool,
                            error))
        return;
    if (report__output_open(&s->output, s->options.output, &s->pool, error))
        report__print_loads(s->output.stream, &loads, s->options.plain);
}

static int run(struct stats *s) {
    const char *error = NULL;

    if (!s->options.help)
        print(s, &error);
    else if (report__output_open(&s->output, s->options.output, &s->pool,
                                 &error))
        print_help(s->output.stream);
    if (error || !report__output_finish(&s->output, &s->pool, &error)) {
        if (error)
            fprintf(s->err, "mprof: %s\n", error);
        return 1;
    }
    return 0;
}

static int run_guarded(struct stats *s, int argc, char **argv) {
    jmp_buf nomem;

    s->pool.nomem = &nomem;
    if (setjmp(nomem)) {
        fputs("mprof: out of memory\n", s->err);
        return 1;
    }
    return parse(s, argc, argv) ? run(s) : 2;
}

int report__stats_main(int argc, char **argv, FILE *out, FILE *err) {
    struct stats s = {.output = {.stream = out}, .err = err};
    int status = run_guarded(&s, argc, argv);

    report__output_discard(&s.output);
    report__pool_free(&s.pool);
    return status;
}
