/* list.c - the command `mprof list`: whose the data files are. */
#include <glob.h>
#include <string.h>

#include "report/base/output.h"
#include "report/command/command.h"
#include "report/command/option.h"
#include "report/data/group.h"
#include "report/tables/listing.h"

struct options {
    enum report__listing_order order;
    bool help;
    enum report__colour colour;
    const char *output;
};

static bool set_order(void *options, const char *value, FILE *err) {
    static const char *const names[] = {[MPROF_LIST_TREE] = "tree",
                                        [MPROF_LIST_TIME] = "time",
                                        [MPROF_LIST_BYTES] = "bytes"};
    struct options *o = options;
    int order = report__choose(REPORT__CHOICES("list: no order", names), value,
                               strlen(value), err);

    if (order >= 0)
        o->order = (enum report__listing_order)order;
    return order >= 0;
}

static bool set_colour(void *options, const char *value, FILE *err) {
    return report__take_colour(value, err,
                               &((struct options *)options)->colour);
}

REPORT__SETS(give_help, struct options, help, true)
REPORT__TAKES(set_output, struct options, output)

static const struct report__option options_list[] = {
    {"sort", "ORDER",
     "tree: children below the process that forked them, and\n"
     "programs below those whose place they took; time; or bytes",
     set_order},
    {"color", "WHEN", "auto, on a terminal; always or never", set_colour},
    {"output", "FILE", "write to FILE, which appears when it is complete",
     set_output},
    {"help", NULL, "print this", give_help},
    {NULL, NULL, NULL, NULL}};

/* One call.  It outlives the jump when memory is short. */
struct list {
    struct options options;
    const char **files; /* room for all arguments */
    uint32_t count;
    glob_t found;
    bool failed; /* a file cannot be listed */
    struct report__pool pool, part;
    struct report__output output;
    struct report__screen screen;
    FILE *err;
};

static bool parse(struct list *l, int argc, char **argv) {
    bool only_files = false;

    l->files = report__alloc(&l->pool, (size_t)argc + 1, sizeof *l->files);
    for (int i = 1; i < argc; i++) {
        if (!only_files && strcmp(argv[i], "--") == 0)
            only_files = true;
        else if (only_files || argv[i][0] != '-' || !argv[i][1])
            l->files[l->count++] = argv[i];
        else if (!report__take_option(options_list, argv, &i,
                                      "mprof: list: ", l->err, &l->options))
            return false;
    }
    return true;
}

static void print_help(FILE *out) {
    fputs("Usage: mprof list [OPTION]... [FILE]...\n"
          "List data files: when and which process began each, what it "
          "allocated, and its\n"
          "program.  Without FILE those that `mprof run` leaves in this "
          "folder: mprof.data\n"
          "and mprof.data.*.\n"
          "\n",
          out);
    report__describe_options(options_list, out);
}

/* What a run leaves here. */
static void find_files(struct list *l) {
    glob("mprof.data", 0, NULL, &l->found);
    glob("mprof.data.*", GLOB_APPEND, NULL, &l->found);
    l->files = report__alloc(&l->pool, l->found.gl_pathc + 1, sizeof *l->files);
    for (size_t i = 0; i < l->found.gl_pathc; i++)
        if (report__is_data(l->found.gl_pathv[i]))
            l->files[l->count++] = l->found.gl_pathv[i];
    if (l->count == 0)
        l->files[l->count++] = "mprof.data";
}

/* A line on standard error for each that cannot be read. */
static uint32_t read_files(struct list *l, struct report__listed *list) {
    uint32_t n = 0;

    for (uint32_t i = 0; i < l->count; i++) {
        const char *error = NULL;
        if (report__is_group(l->files[i]))
            continue;
        const struct report__profile *profile =
            report__read(&l->part, l->files[i], false, &error);
        if (profile)
            list[n++] = report__listed_of(&l->pool, l->files[i], profile);
        else
            fprintf(l->err, "mprof: %s\n", error);
        l->failed |= !profile;
        report__pool_free(&l->part);
    }
    return n;
}

static void print(struct list *l) {
    if (l->count == 0)
        find_files(l);
    struct report__listed *list =
        report__alloc(&l->pool, l->count, sizeof *list);
    uint32_t n = read_files(l, list);
    if (n > 0)
        report__print_listing(l->output.stream, list, n, l->options.order,
                              &l->pool);
}

static int run(struct list *l) {
    const char *error = NULL;

    if (report__output_open(&l->output, l->options.output, &l->pool, &error)) {
        report__screen_begin(&l->screen, &l->output, l->options.colour);
        if (l->options.help)
            print_help(l->output.stream);
        else
            print(l);
        report__screen_end(&l->screen, &l->output);
    }
    if (error || !report__output_finish(&l->output, &l->pool, &error)) {
        if (error)
            fprintf(l->err, "mprof: %s\n", error);
        return 1;
    }
    return l->failed;
}

static int run_guarded(struct list *l, int argc, char **argv) {
    jmp_buf nomem;

    l->pool.nomem = l->part.nomem = &nomem;
    if (setjmp(nomem)) {
        fputs("mprof: out of memory\n", l->err);
        return 1;
    }
    return parse(l, argc, argv) ? run(l) : 2;
}

static int run_once(int argc, char **argv, struct list *l) {
    int status = run_guarded(l, argc, argv);

    report__screen_end(&l->screen, &l->output);
    report__output_discard(&l->output);
    report__pool_free(&l->part);
    report__pool_free(&l->pool);
    globfree(&l->found);
    return status;
}

int report__list_main(int argc, char **argv, FILE *out, FILE *err) {
    struct list l = {.output = {.stream = out}, .err = err};
    int status = run_once(argc, argv, &l);

    if (!l.screen.failed)
        return status;
    l = (struct list){
        .output = {.stream = out}, .screen = {.no_pager = true}, .err = err};
    return run_once(argc, argv, &l);
}
