/* run.c - see run.h.
 *
 * The program takes the place of this process, with libmprof_malloc before all
 * other libraries.  monitor/malloc/autostart.h tells what the environment
 * means.
 */
#define _GNU_SOURCE
#include "report/command/run.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "monitor/format/bytes.h"
#include "monitor/format/claim.h"
#include "monitor/format/create.h"
#include "monitor/format/format.h"
#include "monitor/format/group.h"
#include "monitor/format/process.h"
#include "monitor/format/runnable.h"
#include "report/command/run_html.h"
#include "report/command/command.h"
#include "report/data/group.h"
#include "report/data/log.h"

static int __attribute__((format(printf, 2, 3)))
fail(int status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("mprof: run: ", stderr);
    vfprintf(stderr, format, arguments);
    putc('\n', stderr);
    va_end(arguments);
    return status;
}

/* For what is not given, what the environment says. */
static void set_limit(const char *text) {
    char number[32];
    uint64_t bytes;

    if (text && mprof__read_bytes(text, &bytes)) {
        snprintf(number, sizeof number, "%" PRIu64, bytes);
        setenv("MPROF_LIMIT", number, 1);
    }
}

/* Would the data file overwrite something else?  Zeros are a data file that
 * another program is about to begin. */
static bool is_foreign(const char *path) {
    static const char zeros[8];
    char magic[8];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, magic, sizeof magic);
    close(fd);
    return n > 0 && (n != sizeof magic ||
                     (memcmp(magic, MPROF_MAGIC, sizeof magic) != 0 &&
                      memcmp(magic, zeros, sizeof magic) != 0));
}

/* Set VARIABLE to the name of a file, absolute: the program may change its
 * folder.  What is there, as WHAT calls it, may be replaced unless FOREIGN. */
static int set_file(const char *variable, const char *wanted, const char *what,
                    bool (*foreign)(const char *path)) {
    char path[PATH_MAX] = "";
    struct stat st;
    if (*wanted != '/' && getcwd(path, sizeof path - 1) == NULL)
        return fail(2, "cannot tell the current folder: %s", strerror(errno));
    if (*wanted != '/')
        strcat(path, "/");
    if (strlen(path) + strlen(wanted) >= sizeof path)
        return fail(2, "%s: %s", wanted, strerror(ENAMETOOLONG));
    strcat(path, wanted);
    setenv(variable, path, 1);
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return fail(2, "%s is no regular file", wanted);
    if (foreign(path))
        return fail(2, "%s exists and is not %s", wanted, what);
    *strrchr(path, '/') = '\0';
    if (access(*path ? path : "/", W_OK | X_OK) != 0)
        return fail(2, "cannot create %s: %s", wanted, strerror(errno));
    return 0;
}

static int set_data(const char *wanted) {
    if (wanted == NULL || *wanted == '\0')
        wanted = "mprof.data";
    return set_file("MPROF_DATA", wanted, "an mprof data file", is_foreign);
}

static bool is_no_log(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && st.st_size > 0 && !report__is_log(path);
}

static bool is_no_group(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && st.st_size > 0 && !report__is_group(path);
}

/* The file of the group, beside the data file; the processes find it there. */
static int set_group(void) {
    char path[PATH_MAX];
    const struct mprof_group group = {.magic = MPROF_GROUP_MAGIC};
    const char *data = getenv("MPROF_DATA");
    int n = snprintf(path, sizeof path, "%s.group", data == NULL ? "" : data);
    if (n < 0 || (size_t)n >= sizeof path)
        return fail(2, "%s.group: %s", data, strerror(ENAMETOOLONG));
    int status =
        set_file("MPROF_GROUP", path, "the sum of a group", is_no_group);
    if (status != 0)
        return status;
    if (unlink(path) != 0 && errno != ENOENT)
        return fail(2, "cannot replace %s: %s", path, strerror(errno));
    int fd = mprof__create(path, MPROF__PRIVATE);
    bool written =
        fd >= 0 && write(fd, &group, sizeof group) == (ssize_t)sizeof group;
    int error = errno;
    if (fd >= 0)
        close(fd);
    return written ? 0 : fail(2, "cannot create %s: %s", path, strerror(error));
}

/* What is to be known of each event. */
static int set_log(const struct report__run_options *run) {
    int status = 0;
    unsetenv("MPROF_LOG");
    if (run->log != NULL && *run->log != '\0')
        status = set_file("MPROF_LOG", run->log, "a log of mprof", is_no_log);
    if (run->log_plain)
        setenv("MPROF_LOG_PLAIN", "1", 1);
    if (run->threshold != NULL)
        setenv("MPROF_LOG_THRESHOLD", run->threshold, 1);
    if (run->stats)
        setenv("MPROF_STATS", "1", 1);
    unsetenv("MPROF_GROUP");
    if (run->group && status == 0)
        status = set_group();
    return status;
}

/* That it can be made is known before the program runs. */
static int check_html(const char *file) {
    char folder[PATH_MAX];
    const char *slash;
    if (file == NULL)
        return 0;
    if (strlen(file) >= sizeof folder)
        return fail(2, "%s: %s", file, strerror(ENAMETOOLONG));
    slash = strrchr(strcpy(folder, file), '/');
    folder[slash == NULL ? 0 : slash - folder + (slash == folder)] = '\0';
    if (access(file, W_OK) == 0 ||
        (errno == ENOENT && access(*folder ? folder : ".", W_OK | X_OK) == 0))
        return 0;
    return fail(2, "cannot create %s: %s", file, strerror(errno));
}

/* Before all other libraries: that which sees Lisp, or malloc(). */
static int set_preload(bool lisp) {
    const char *library =
        getenv(lisp ? "MPROF_ECL_LIBRARY" : "MPROF_MALLOC_LIBRARY");
    const char *others = getenv("LD_PRELOAD");
    if (library == NULL)
        library = lisp ? MPROF_LIBDIR "/libmprof_ecl.so"
                       : MPROF_LIBDIR "/libmprof_malloc.so";
    if (access(library, R_OK) != 0)
        return fail(2, "%s: %s", library, strerror(errno));
    /* The loader takes blanks and colons for ends of names. */
    if (strpbrk(library, ": ") != NULL)
        return fail(2, "%s: a path with a blank or colon cannot be preloaded",
                    library);
    if (others == NULL || *others == '\0') {
        setenv("LD_PRELOAD", library, 1);
        return 0;
    }
    char *all = NULL;
    if (asprintf(&all, "%s:%s", library, others) < 0)
        return fail(2, "out of memory");
    setenv("LD_PRELOAD", all, 1);
    free(all);
    return 0;
}

/* Leave no tables of an earlier run for the next command to print. */
static void forget_earlier(void) {
    struct mprof_header old;
    const char *path = getenv("MPROF_DATA");
    if (mprof__claim(path, 0, &old) == MPROF__ENDED)
        unlink(path);
}

/* What can not be recorded runs all the same. */
static void check_program(const char *program) {
    bool clashes;
    char file[PATH_MAX];
    const char *others = getenv("LD_PRELOAD");
    const char *why = mprof__find_program(program, file)
                          ? mprof__not_recordable(file, -1, &clashes)
                          : NULL;
    if (!why)
        return;
    fail(0, "%s: nothing of it is recorded: %s", program, why);
    forget_earlier();
    if (clashes && others && strchr(others, ':'))
        setenv("LD_PRELOAD", strchr(others, ':') + 1, 1);
    else if (clashes)
        unsetenv("LD_PRELOAD");
}

static void set_run(void) {
    char text[64];
    snprintf(text, sizeof text, "%ld:%llu", (long)getpid(),
             (unsigned long long)mprof__process_clock());
    setenv("MPROF_RUN", text, 1);
}

/* Set up what CALL asks for; the status, if that is not possible. */
static int set_up(const struct report__options *o) {
    const struct report__run_options *run = &o->run;
    int status;

    set_limit(run->limit);
    if ((status = set_data(o->output)) != 0 || (status = set_log(run)) != 0 ||
        (status = check_html(run->html)) != 0 ||
        (status = set_preload(run->lisp)) != 0)
        return status;
    unsetenv("MPROF_START");
    unsetenv("MPROF_CHILDREN");
    unsetenv("MPROF_LISP");
    unsetenv("MPROF_LIVE");
    if (run->lisp) {
        setenv("MPROF_LISP", "1", 1);
        if (run->live)
            setenv("MPROF_LIVE", run->live, 1);
        forget_earlier(); /* it may be that no Lisp runs */
    }
    if (run->no_children)
        setenv("MPROF_CHILDREN", "no", 1);
    if (run->summary)
        setenv("MPROF_SUMMARY", "1", 1);
    if (run->scan)
        setenv("MPROF_SCAN", "1", 1);
    return 0;
}

/* What is not given, the environment may say.  False after a line. */
static bool parse(struct report__call *call, int argc, char **argv) {
    struct report__options *o = &call->options;
    const char *limit = getenv("MPROF_LIMIT");
    uint64_t bytes;

    if (!report__parse_arguments(call, argc, argv))
        return false;
    if (!o->output)
        o->output = getenv("MPROF_DATA");
    if (!o->run.log)
        o->run.log = getenv("MPROF_LOG");
    if (o->run.limit || !limit || !*limit)
        return true;
    o->run.limit = limit;
    if (mprof__read_bytes(limit, &bytes) && bytes <= MPROF__LARGEST_LIMIT)
        return true;
    fail(2, "MPROF_LIMIT: '%s' is not a number of bytes up to 16g", limit);
    return false;
}

static int run(struct report__call *call, int argc, char **argv) {
    const struct report__options *o = &call->options;
    char **program;
    int status;

    if (!parse(call, argc, argv))
        return 2;
    program = (char **)o->files;
    program[o->file_count] = NULL;
    if (o->help) {
        report__print_help(stdout, call->command);
        return 0;
    }
    if ((status = set_up(o)) != 0)
        return status;
    check_program(program[0]);
    if (o->run.html && (status = report__run_with_page(o->run.html)) >= 0)
        return status;
    set_run();
    execvp(program[0], program);
    status = errno == ENOENT ? 127 : 126;
    return fail(status, "%s: %s", program[0], strerror(errno));
}

int report__run_main(int argc, char **argv) {
    struct report__call call = {.command = report__find_command("run"),
                                .output = {.stream = stdout},
                                .err = stderr};
    jmp_buf nomem;

    call.pool.nomem = &nomem;
    if (setjmp(nomem))
        return fail(2, "out of memory");
    int status = run(&call, argc, argv);
    report__pool_free(&call.pool);
    return status;
}
