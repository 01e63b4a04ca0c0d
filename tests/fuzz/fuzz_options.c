/* fuzz_options.c - the options of `mprof` and `mprof run`, and numbers of
 * bytes.
 *
 * Each line is an argument.  Nothing is read, written or executed.
 */
#include "tests/fuzz/fuzz.h"

#include <stdbool.h>
#include <string.h>

#include "monitor/format/bytes.h"
#include "monitor/malloc/environment.h"
#include "report/command/command.h"
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
        FUZZ_EXPECT(!options.files[1] || options.files[0]);
        FUZZ_EXPECT(options.choice.verbosity <= MPROF_VERBOSE);
    }
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *argv[MOST + 1], *text = malloc(size + 1);
    uint64_t bytes = 1;
    FUZZ_EXPECT(text);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    FUZZ_EXPECT(!mprof__read_bytes(text, &bytes) || bytes > 0);
    expand(text);
    read_run(text);
    int argc = split(text, argv);
    parse(argc, argv);
    parse_run(argv);
    leave_environment(argv + 1);
    free(text);
    return 0;
}
