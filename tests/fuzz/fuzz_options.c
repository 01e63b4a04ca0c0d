/* fuzz_options.c - the options of all commands, numbers of bytes, and budgets.
 *
 * Each line is an argument; or all are a budget.  Nothing is read, written or
 * executed.
 */
#include "tests/fuzz/fuzz.h"

#include <stdbool.h>
#include <string.h>

#include "monitor/format/bytes.h"
#include "monitor/malloc/environment.h"
#include "report/command/budget_file.h"
#include "report/command/command.h"

enum { MOST = 200 };

/* Of TEXT, which is cut up. */
static int split(char *text, char **argv) {
    int argc = 0;
    argv[argc++] = (char[]){"mprof"};
    while (text && argc < MOST) {
        argv[argc++] = text;
        text = strchr(text, '\n');
        if (text)
            *text++ = '\0';
    }
    argv[argc] = NULL;
    return argc;
}

/* What must hold of options that were taken. */
static void expect_options(const struct report__options *o, int argc) {
    FUZZ_EXPECT(o->tables >> MPROF_TABLES == 0);
    FUZZ_EXPECT(o->choice.sort <= MPROF_SORT_PEAK);
    FUZZ_EXPECT(o->file_count < argc);
    FUZZ_EXPECT(o->choice.verbosity <= MPROF_VERBOSE);
    FUZZ_EXPECT(o->growth.share.of > 0 || !o->growth.is_set);
    FUZZ_EXPECT(o->normalizing != MPROF_BY_FACTOR ||
                (o->factor.by > 0 && o->factor.of > 0));
}

/* As behind `mprof` and the name of each command. */
static void parse(int argc, char **argv) {
    for (int i = 0; i < MPROF_COMMANDS; i++) {
        struct report__call call = {.command = &report__commands[i]};
        struct fuzz_text out, err;
        char *copy[MOST + 1];
        uint64_t bytes;
        memcpy(copy, argv, ((size_t)argc + 1) * sizeof *copy);
        fuzz_open(&out);
        fuzz_open(&err);
        call.output.stream = out.stream;
        call.err = err.stream;
        const bool good = report__parse_arguments(&call, argc, copy);
        fuzz_close(&out);
        fuzz_close(&err);
        fuzz_expect_lines(&err, good ? 0 : 1);
        if (good)
            expect_options(&call.options, argc);
        /* With --help, nothing is checked and nothing runs. */
        if (good && i == MPROF_COMMAND_RUN && call.options.run.limit &&
            !call.options.help && !call.options.version)
            FUZZ_EXPECT(mprof__read_bytes(call.options.run.limit, &bytes) &&
                        bytes <= MPROF__LARGEST_LIMIT);
        fuzz_free(&out);
        fuzz_free(&err);
        report__pool_free(&call.pool);
    }
}

/* A name of no more bytes than there is room for. */
static void expand(const char *pattern) {
    enum { ROOM = 50 };
    char *name = malloc(ROOM);
    bool by_pid = false;
    FUZZ_EXPECT(name);
    if (mprof__expand(pattern, name, ROOM, &by_pid)) {
        FUZZ_EXPECT(strlen(name) < ROOM);
        FUZZ_EXPECT(strchr(pattern, '%') || strcmp(name, pattern) == 0);
        FUZZ_EXPECT(!by_pid || strstr(pattern, "%p"));
    }
    free(name);
}

static void read_run(const char *text) {
    pid_t pid = -1;
    uint64_t since;
    FUZZ_EXPECT(mprof__read_run(text, &pid, &since) ? pid > 0 : pid == -1);
}

/* All is left but what is ours. */
static void leave_environment(char **variables) {
    size_t others = 0, left = 0;
    for (char **at = variables; *at; at++)
        others += strncmp(*at, "MPROF_", 6) != 0 &&
                  strcmp(*at, "LD_PRELOAD=ours.so") != 0;
    mprof__leave_environment(variables, "ours.so", true);
    for (char **at = variables; *at; at++, left++)
        FUZZ_EXPECT(strncmp(*at, "MPROF_", 6) != 0);
    FUZZ_EXPECT(left == others);
    mprof__leave_environment(variables, "others.so", false);
}

static bool same_function(const char *a, const char *b) {
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* What is written anew has the same limits. */
static void parse_budget(const char *text, size_t size) {
    struct report__pool pool = {NULL, NULL, 0, NULL};
    struct report__budget budget = {.size = size}, again = {.size = 0};
    const char *error = NULL;
    struct fuzz_text out;
    budget.text = report__copy(&pool, text, size);
    if (!report__parse_budget(&pool, "budget", &budget, &error)) {
        FUZZ_EXPECT(error && strncmp(error, "budget:", 7) == 0);
        FUZZ_EXPECT(!strchr(error, '\n'));
        report__pool_free(&pool);
        return;
    }
    struct report__limit *limits =
        report__alloc(&pool, budget.count, sizeof *limits);
    uint64_t *numbers = report__alloc(&pool, budget.count, sizeof *numbers);
    for (uint32_t i = 0; i < budget.count; i++) {
        limits[i] = budget.list[i].limit;
        numbers[i] = limits[i].most;
    }
    fuzz_open(&out);
    report__write_budget(out.stream, &budget, numbers, limits, numbers,
                         budget.count);
    fuzz_close(&out);
    again.text = out.text;
    again.size = out.length;
    FUZZ_EXPECT(report__parse_budget(&pool, "again", &again, &error));
    FUZZ_EXPECT(again.count == 2 * budget.count);
    for (uint32_t i = 0; i < again.count; i++) {
        const struct report__limit *a = &again.list[i].limit;
        const struct report__limit *b = &limits[i % budget.count];
        FUZZ_EXPECT(a->what == b->what && a->most == b->most);
        FUZZ_EXPECT(same_function(a->function, b->function));
    }
    fuzz_free(&out);
    report__pool_free(&pool);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *argv[MOST + 1], *variables[MOST], *text = malloc(size + 1);
    uint64_t bytes = 1;
    FUZZ_EXPECT(text);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    FUZZ_EXPECT(!mprof__read_bytes(text, &bytes) || bytes > 0);
    parse_budget(text, size);
    expand(text);
    read_run(text);
    int argc = split(text, argv);
    memcpy(variables, argv + 1, (size_t)argc * sizeof *variables);
    parse(argc, argv);
    leave_environment(variables);
    free(text);
    return 0;
}
