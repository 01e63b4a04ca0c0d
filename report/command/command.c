/* command.c - what all commands need: arguments, help, output, memory. */
#include "report/command/command.h"

#include <errno.h>
#include <unistd.h>

#include "monitor/format/bytes.h"
#include "report/base/progress.h"
#include "report/data/log.h"
#include "report/elf/elf_file.h"

enum { NODES = 1000000 }; /* so that a browser opens a page in seconds */

static enum report__command_id id_of(const struct report__call *call) {
    return (enum report__command_id)(call->command - report__commands);
}

bool report__check_focus(struct report__call *call) {
    const struct report__options *o = &call->options;

    return !(o->focus.only || o->focus.hide) || !o->all_frames ||
           report__refuse(call,
                          "%s leaves functions out, --all-frames shows all: "
                          "choose one",
                          o->focus.only ? "--only" : "--hide");
}

bool report__check_not_terminal(struct report__call *call) {
    return call->options.output || !isatty(fileno(call->output.stream)) ||
           report__refuse(call, "this is for another program: name a file "
                                "with -o FILE");
}

bool report__check_run(struct report__call *call) {
    const struct report__run_options *run = &call->options.run;
    uint64_t bytes;

    if (run->lisp &&
        (run->summary || run->scan || run->stats || run->group || run->log))
        return report__refuse(call,
                              "--lisp is of Lisp's heap: --summary, --scan, "
                              "--stats and --log are of C's");
    if (run->live && !run->lisp)
        return report__refuse(call, "--live is of Lisp's heap: add --lisp");
    if (run->limit && (!mprof__read_bytes(run->limit, &bytes) ||
                       bytes > MPROF__LARGEST_LIMIT))
        return report__refuse(call, "'%s' is not a number of bytes up to 16g",
                              run->limit);
    if (call->options.file_count > 0)
        return true;
    if (run->html && access(run->html, X_OK) == 0)
        return report__refuse(call,
                              "no program: '%s' is the file of the page; write "
                              "--html=FILE PROGRAM",
                              run->html);
    return report__refuse(call, "no program to run; see: mprof run --help");
}

bool report__parse_arguments(struct report__call *call, int argc, char **argv) {
    struct report__options *o = &call->options;
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
            if (!report__take_option(call, argv, &i))
                return false;
        } else {
            o->files[o->file_count++] = argv[i];
            /* Arguments behind a program to run are the program's. */
            only_files |= id_of(call) == MPROF_COMMAND_RUN;
        }
    }
    o->leak_table |= o->offsets || o->leaks;
    return o->help || o->version || !call->command->check ||
           call->command->check(call);
}

bool report__begin_output(struct report__call *call) {
    const char *output = call->options.output;

    if (output && (report__is_data(output) || report__is_elf(output) ||
                   report__is_log(output)))
        return report__fail(call,
                            "%s is a program or has data: write to another "
                            "file",
                            output);
    if (!report__output_open(&call->output, call->options.output, &call->pool,
                             &call->error))
        return false;
    if (call->command->is_screen)
        report__screen_begin(&call->screen, &call->output,
                             call->options.colour);
    return true;
}

int report__run_help(struct report__call *call) {
    const struct report__options *o = &call->options;
    const struct report__command *command =
        o->file_count > 0 ? report__find_command(o->files[0]) : NULL;

    if (o->file_count > 0 && !command) {
        call->error = report__format(
            &call->pool, "there is no command '%s'; see: mprof help",
            o->files[0]);
        return 2;
    }
    if (report__begin_output(call))
        report__print_help(call->output.stream, command);
    return 0;
}

/* Do it, and say what went wrong. */
static int run(struct report__call *call) {
    const struct report__options *o = &call->options;
    int status = 0;

    if (!o->help && !o->version)
        status = call->command->run(call);
    else if (report__begin_output(call) && o->help)
        report__print_help(call->output.stream, call->command);
    else if (!call->error)
        fprintf(call->output.stream, "mprof %s\n", MPROF_PACKAGE_VERSION);
    report__progress("", 0, 0);
    report__screen_end(&call->screen, &call->output);
    if (!call->error &&
        report__output_finish(&call->output, &call->pool, &call->error))
        return status;
    if (call->error)
        fprintf(call->err, "mprof: %s\n", call->error);
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
    for (uint32_t i = 0; i < call->part_count; i++)
        report__pool_free(&call->parts[i].pool);
    report__pool_free(&call->pool);
    globfree(&call->found);
    return status;
}

/* Write into HINT which command may be meant by WORD, which is none. */
static bool guess(const char *word, char *hint, size_t size) {
    enum { NEAR = 2 };
    uint32_t least = NEAR + 1;

    for (int i = 0; i < MPROF_TABLES; i++)
        if (strcmp(report__tables[i].name, word) == 0)
            return snprintf(hint, size, "mprof --table=%s", word) > 0;
    if (strcmp(word, "version") == 0)
        return snprintf(hint, size, "mprof --version") > 0;
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
    const struct report__command *command =
        argc > 1 ? report__find_command(argv[1]) : NULL;
    const bool is_named = command != NULL;
    struct report__call call = {.screen.failed = false};
    int status;

    if (!is_named && argc > 1 && is_mistyped(argv[1], err))
        return 2;
    if (!is_named)
        command = &report__commands[MPROF_COMMAND_REPORT];
    if (!is_named && argc == 2 &&
        (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-help") == 0 ||
         strcmp(argv[1], "-h") == 0))
        command = &report__commands[MPROF_COMMAND_HELP];
    if (!command->run) {
        fprintf(err, "mprof: mprof %s is for the shell\n", command->name);
        return 2;
    }
    do { /* once more without a pager that could not be started */
        call = (struct report__call){.command = command,
                                     .output = {.stream = out},
                                     .screen.no_pager = call.screen.failed,
                                     .err = err};
        status = run_once(&call, argc - is_named, argv + is_named);
    } while (call.screen.failed);
    return status;
}
