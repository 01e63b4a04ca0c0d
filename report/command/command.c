/* command.c - what all commands need: arguments, help, output, memory. */
#include "report/command/command.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { NODES = 1000000 }; /* so that a browser opens a page in seconds */

static enum report__command_id id_of(const struct report__call *call) {
    return (enum report__command_id)(call->command - report__commands);
}

/* Before each line about wrong arguments. */
static const char *prefix_of(struct report__call *call) {
    return id_of(call) == MPROF_COMMAND_REPORT
               ? "mprof: "
               : report__format(&call->pool,
                                "mprof: %s: ", call->command->name);
}

bool report__check_focus(struct report__call *call,
                         struct report__parse *parse) {
    const struct report__options *o = &call->options;

    return !o->focus.only || !o->all_frames ||
           report__refuse(parse, "--only leaves functions out, --all-frames "
                                 "shows all: choose one");
}

bool report__check_not_terminal(struct report__call *call,
                                struct report__parse *parse) {
    return call->options.output || !isatty(fileno(call->output.stream)) ||
           report__refuse(parse, "this is for another program: name a file "
                                 "with -o FILE");
}

bool report__parse_arguments(struct report__call *call, int argc, char **argv) {
    struct report__options *o = &call->options;
    struct report__parse parse = {.list = report__option_list,
                                  .command = 1u << id_of(call),
                                  .prefix = prefix_of(call),
                                  .name = call->command->name,
                                  .fields = o,
                                  .pool = &call->pool,
                                  .err = call->err};
    bool only_files = false;

    *o = (struct report__options){
        .files = (const char **)argv,
        .choice.verbosity = MPROF_NORMAL,
        .depth = call->command->depth,
        .nodes = NODES,
        .format = id_of(call) == MPROF_COMMAND_EXPORT ? MPROF_NO_FORMAT : 0};
    /* No file is written behind the argument that is looked at. */
    for (int i = 1; i < argc; i++) {
        if (!only_files && strcmp(argv[i], "--") == 0) {
            only_files = true;
        } else if (!only_files && argv[i][0] == '-' && argv[i][1]) {
            if (!report__take_option(&parse, argv, &i))
                return false;
        } else {
            o->files[o->file_count++] = argv[i];
            /* What is behind a program to run is the program's. */
            if (id_of(call) == MPROF_COMMAND_RUN)
                only_files = true;
        }
    }
    return o->help || o->version || !call->command->check ||
           call->command->check(call, &parse);
}

bool report__begin_output(struct report__call *call, const char **error) {
    if (!report__output_open(&call->output, call->options.output, &call->pool,
                             error))
        return false;
    if (call->command->is_screen)
        report__screen_begin(&call->screen, &call->output,
                             call->options.colour);
    return true;
}

int report__run_help(struct report__call *call, const char **error) {
    const struct report__options *o = &call->options;
    const struct report__command *command = NULL;

    if (o->file_count > 0)
        command = report__find_command(o->files[0]);
    if (o->file_count > 0 && !command) {
        *error = report__format(&call->pool,
                                "there is no command '%s'; see: mprof help",
                                o->files[0]);
        return 2;
    }
    if (report__begin_output(call, error))
        report__print_help(call->output.stream, command);
    return 0;
}

/* Do it, and say what went wrong. */
static int run(struct report__call *call) {
    const struct report__options *o = &call->options;
    const char *error = NULL;
    int status = 0;

    if (!o->help && !o->version)
        status = call->command->run(call, &error);
    else if (report__begin_output(call, &error) && o->help)
        report__print_help(call->output.stream, call->command);
    else if (!error)
        fprintf(call->output.stream, "mprof %s\n", MPROF_PACKAGE_VERSION);
    report__screen_end(&call->screen, &call->output);
    if (!error && report__output_finish(&call->output, &call->pool, &error))
        return status;
    if (error)
        fprintf(call->err, "mprof: %s\n", error);
    return status == 0 ? 1 : status;
}

/* ARGV is left as it was. */
static int run_guarded(struct report__call *call, int argc, char **argv) {
    jmp_buf nomem;

    call->pool.nomem = &nomem;
    if (setjmp(nomem)) {
        fputs("mprof: out of memory\n", call->err);
        return 1;
    }
    char **copy = report__alloc(&call->pool, (size_t)argc + 1, sizeof *copy);
    memcpy(copy, argv, (size_t)argc * sizeof *copy);
    return report__parse_arguments(call, argc, copy) ? run(call) : 2;
}

static int run_once(struct report__call *call, int argc, char **argv) {
    int status = run_guarded(call, argc, argv);

    report__screen_end(&call->screen, &call->output);
    report__output_discard(&call->output);
    report__together_free(&call->together);
    report__pool_free(&call->pool);
    globfree(&call->found);
    return status;
}

/* What may be meant by WORD, which is no command: in HINT. */
static bool guess(const char *word, char *hint, size_t size) {
    enum { NEAR = 2 };
    uint32_t least = NEAR + 1;

    for (int i = 0; i < MPROF_TABLES; i++)
        if (strcmp(report__tables[i].name, word) == 0) {
            snprintf(hint, size, "mprof --table=%s", word);
            return true;
        }
    if (strcmp(word, "version") == 0) {
        snprintf(hint, size, "mprof --version");
        return true;
    }
    for (int i = 0; i < MPROF_COMMANDS; i++) {
        const char *name = report__commands[i].name;
        const uint32_t distance = report__name_distance(word, name);
        if (distance < least && distance < strlen(word)) {
            least = distance;
            snprintf(hint, size, "mprof %s", name);
        }
    }
    return least <= NEAR;
}

/* Whether WORD, the first argument, is neither a command nor a file, but like
 * a command; then after a line on ERR. */
static bool is_mistyped(const char *word, FILE *err) {
    char hint[64];

    if (*word == '-' || access(word, F_OK) == 0 || errno != ENOENT ||
        !guess(word, hint, sizeof hint))
        return false;
    fprintf(err,
            "mprof: there is no command or file '%s'; did you mean: %s?  See: "
            "mprof help\n",
            word, hint);
    return true;
}

int report__main(int argc, char **argv, FILE *out, FILE *err) {
    struct report__call call = {
        .command = argc > 1 ? report__find_command(argv[1]) : NULL,
        .output = {.stream = out},
        .err = err};
    const bool is_named = call.command != NULL;

    if (!is_named && argc > 1 && is_mistyped(argv[1], err))
        return 2;
    if (!is_named)
        call.command = &report__commands[MPROF_COMMAND_REPORT];
    if (!is_named && argc == 2 &&
        (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-help") == 0 ||
         strcmp(argv[1], "-h") == 0))
        call.command = &report__commands[MPROF_COMMAND_HELP];
    if (!call.command->run) {
        fprintf(err, "mprof: mprof %s is for the shell\n", call.command->name);
        return 2;
    }
    const struct report__command *command = call.command;
    int status = run_once(&call, argc - is_named, argv + is_named);
    if (!call.screen.failed)
        return status;
    call = (struct report__call){.command = command,
                                 .output = {.stream = out},
                                 .screen = {.no_pager = true},
                                 .err = err};
    return run_once(&call, argc - is_named, argv + is_named);
}
