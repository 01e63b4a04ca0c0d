/* fuzz_options.c - the options of `mprof` and `mprof run`, numbers of bytes,
 * and budgets.
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
#include "report/command/diff_options.h"
#include "report/command/run_options.h"

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

static void parse(int argc, char **argv) {
    struct report__options options;
    struct fuzz_text err;
    fuzz_open(&err);
    bool good = report__parse_options(argc, argv, err.stream, &options);
    fuzz_close(&err);
    fuzz_expect_lines(&err, good ? 0 : 1);
    if (good) {
        FUZZ_EXPECT((options.tables &
                     ~(unsigned)(MPROF_USUAL_TABLES | MPROF_PATH_TABLES |
                                 MPROF_PATHS | MPROF_TREE)) == 0);
        FUZZ_EXPECT(options.choice.sort <= MPROF_SORT_PEAK);
        FUZZ_EXPECT(options.file_count < argc);
        FUZZ_EXPECT(options.choice.verbosity <= MPROF_VERBOSE);
    }
    fuzz_free(&err);
}

/* As behind `mprof`, so that there are data files. */
static void parse_diff(int argc, char **argv) {
    struct report__diff_arguments o;
    struct fuzz_text out, err;
    fuzz_open(&out);
    fuzz_open(&err);
    bool good = report__parse_diff(argc, argv, out.stream, err.stream, &o);
    fuzz_close(&out);
    fuzz_close(&err);
    fuzz_expect_lines(&err, good ? 0 : 1);
    FUZZ_EXPECT(!good || o.common.help ||
                (o.inputs[MPROF_OLD].data && o.inputs[MPROF_NEW].data));
    FUZZ_EXPECT(!good || o.limit.share.of > 0 || !o.limit.is_set);
    FUZZ_EXPECT(!good || o.normalizing != MPROF_BY_FACTOR ||
                (o.factor.by > 0 && o.factor.of > 0));
    fuzz_free(&out);
    fuzz_free(&err);
}

static void parse_run(char **argv) {
    struct report__run_options run = {.children = true};
    struct fuzz_text err;
    uint64_t bytes;
    fuzz_open(&err);
    bool good = report__parse_run(argv, err.stream, &run);
    FUZZ_EXPECT(!good || *run.program);
    if (good && run.limit)
        good = report__read_limit(run.limit, err.stream, &bytes);
    FUZZ_EXPECT(!good || !run.limit ||
                (bytes > 0 && bytes <= MPROF__LARGEST_LIMIT));
    fuzz_close(&err);
    fuzz_expect_lines(&err, good ? 0 : 1);
    fuzz_free(&err);
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
    /* Before the files among them change their places: none is there twice. */
    memcpy(variables, argv + 1, (size_t)argc * sizeof *variables);
    parse(argc, argv);
    parse_diff(argc, argv);
    parse_run(argv);
    leave_environment(variables);
    free(text);
    return 0;
}
