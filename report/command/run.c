/* run.c - `mprof run`: run a program and record what it allocates.
 *
 * The program takes the place of this process, with libmprof_malloc before all
 * other libraries.  See monitor/malloc/autostart.h for the environment.
 */
#define _GNU_SOURCE
#include "report/command/command.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "monitor/format/bytes.h"
#include "monitor/format/claim.h"
#include "monitor/format/create.h"
#include "monitor/format/format.h"
#include "monitor/format/group.h"
#include "monitor/format/process.h"
#include "monitor/format/runnable.h"
#include "report/data/profile.h"
#include "report/data/log.h"

/* The functions below return false after a line on CALL->err. */

/* Whether PATH is no other file than a data file, which may be overwritten.
 * Zeros are a data file that another program is about to begin. */
static bool is_ours(const char *path) {
    static const char zeros[8];
    char magic[8];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return true;
    ssize_t n = read(fd, magic, sizeof magic);
    close(fd);
    return n <= 0 || (n == sizeof magic &&
                      (memcmp(magic, MPROF_MAGIC, sizeof magic) == 0 ||
                       memcmp(magic, zeros, sizeof magic) == 0));
}

/* Set VARIABLE to the name of a file, absolute: the program may change its
 * folder.  An existing file, called WHAT, may be replaced if it is OURS. */
static bool set_file(struct report__call *call, const char *variable,
                     const char *wanted, const char *what,
                     bool (*ours)(const char *path)) {
    char path[PATH_MAX] = "";
    struct stat st;
    if (*wanted != '/' && getcwd(path, sizeof path - 1) == NULL)
        return report__refuse(call, "cannot find the current folder: %s",
                              strerror(errno));
    if (*wanted != '/')
        strcat(path, "/");
    if (strlen(path) + strlen(wanted) >= sizeof path)
        return report__refuse(call, "%s: %s", wanted, strerror(ENAMETOOLONG));
    strcat(path, wanted);
    setenv(variable, path, 1);
    const bool is_there = stat(path, &st) == 0;
    if (is_there && !S_ISREG(st.st_mode))
        return report__refuse(call, "%s is no regular file", wanted);
    if (is_there && st.st_size > 0 && !ours(path))
        return report__refuse(call, "%s exists and is not %s", wanted, what);
    *strrchr(path, '/') = '\0';
    return access(*path ? path : "/", W_OK | X_OK) == 0 ||
           report__refuse(call, "cannot create %s: %s", wanted,
                          strerror(errno));
}

/* The file of the group, beside the data file; the processes find it there. */
static bool set_group(struct report__call *call) {
    const struct mprof_group group = {.magic = MPROF_GROUP_MAGIC};
    const char *path =
        report__format(&call->pool, "%s.group", getenv("MPROF_DATA"));
    if (!set_file(call, "MPROF_GROUP", path, "the sum of a group",
                  report__is_group))
        return false;
    if (unlink(path) != 0 && errno != ENOENT)
        return report__refuse(call, "cannot replace %s: %s", path,
                              strerror(errno));
    int fd = mprof__create(path, MPROF__PRIVATE);
    bool written =
        fd >= 0 && write(fd, &group, sizeof group) == (ssize_t)sizeof group;
    if (!written)
        report__refuse(call, "cannot create %s: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return written;
}

/* Set up the log of events. */
static bool set_log(struct report__call *call) {
    const struct report__run_options *run = &call->options.run;
    unsetenv("MPROF_LOG");
    if (run->log && *run->log &&
        !set_file(call, "MPROF_LOG", run->log, "a log of mprof",
                  report__is_log))
        return false;
    if (run->log_plain)
        setenv("MPROF_LOG_PLAIN", "1", 1);
    if (run->threshold)
        setenv("MPROF_LOG_THRESHOLD", run->threshold, 1);
    if (run->stats)
        setenv("MPROF_STATS", "1", 1);
    unsetenv("MPROF_GROUP");
    return !run->group || set_group(call);
}

/* That it can be made is known before the program runs. */
static bool check_html(struct report__call *call, const char *file) {
    const char *slash = file ? strrchr(file, '/') : NULL;
    const char *folder =
        slash ? report__copy(&call->pool, file,
                             (size_t)(slash - file) + (slash == file))
              : ".";
    return !file || access(file, W_OK) == 0 ||
           (errno == ENOENT && access(folder, W_OK | X_OK) == 0) ||
           report__refuse(call, "cannot create %s: %s", file, strerror(errno));
}

/* Before all other libraries: that which sees Lisp, or malloc(). */
static bool set_preload(struct report__call *call, bool lisp) {
    const char *library =
        getenv(lisp ? "MPROF_ECL_LIBRARY" : "MPROF_MALLOC_LIBRARY");
    const char *others = getenv("LD_PRELOAD");
    if (!library)
        library = lisp ? MPROF_LIBDIR "/libmprof_ecl.so.0"
                       : MPROF_LIBDIR "/libmprof_malloc.so.1";
    if (access(library, R_OK) != 0)
        return report__refuse(call, "%s: %s", library, strerror(errno));
    /* The loader takes blanks and colons for ends of names. */
    if (strpbrk(library, ": "))
        return report__refuse(
            call, "%s: a path with a blank or colon cannot be preloaded",
            library);
    const char *colon = others && *others ? ":" : "";
    setenv("LD_PRELOAD",
           report__format(&call->pool, "%s%s%s", library, colon,
                          *colon ? others : ""),
           1);
    return true;
}

/* Leave no tables of an earlier run for the next command to print. */
static void forget_earlier(void) {
    struct mprof_header old;
    const char *path = getenv("MPROF_DATA");
    if (mprof__claim(path, 0, &old) == MPROF__ENDED)
        unlink(path);
}

/* Warn if the program cannot be recorded.  It still runs. */
static void check_program(struct report__call *call, const char *program) {
    bool clashes;
    char file[PATH_MAX];
    const char *others = getenv("LD_PRELOAD");
    const char *why = mprof__find_program(program, file)
                          ? mprof__not_recordable(file, -1, &clashes)
                          : NULL;
    if (!why)
        return;
    report__refuse(call, "%s: nothing of it is recorded: %s", program, why);
    forget_earlier();
    if (clashes && others && strchr(others, ':'))
        setenv("LD_PRELOAD", strchr(others, ':') + 1, 1);
    else if (clashes)
        unsetenv("LD_PRELOAD");
}

/* Without a VALUE, whatever the environment says. */
static void set(const char *variable, const char *value) {
    if (value)
        setenv(variable, value, 1);
    else
        unsetenv(variable);
}

static void set_run(void) {
    char text[64];
    snprintf(text, sizeof text, "%ld:%llu", (long)getpid(),
             (unsigned long long)mprof__process_clock());
    setenv("MPROF_RUN", text, 1);
}

/* Set up what CALL asks for; for what is not given, what the environment says.
 */
static bool set_up(struct report__call *call) {
    const struct report__run_options *run = &call->options.run;
    uint64_t bytes;

    if (run->limit && mprof__read_bytes(run->limit, &bytes))
        setenv("MPROF_LIMIT", report__format(&call->pool, "%" PRIu64, bytes),
               1);
    if (!set_file(call, "MPROF_DATA", call->options.output,
                  "an mprof data file", is_ours) ||
        !set_log(call) || !check_html(call, run->html) ||
        !set_preload(call, run->lisp))
        return false;
    set("MPROF_START", NULL);
    set("MPROF_CHILDREN", run->no_children ? "no" : NULL);
    set("MPROF_LISP", run->lisp ? "1" : NULL);
    set("MPROF_LIVE", !run->lisp                          ? NULL
                      : run->live == NULL && run->kept_by ? "1"
                                                          : run->live);
    if (run->lisp)
        forget_earlier(); /* it may be that no Lisp runs */
    if (run->summary)
        setenv("MPROF_SUMMARY", "1", 1);
    if (run->scan)
        setenv("MPROF_SCAN", "1", 1);
    if (run->kept_by)
        setenv("MPROF_KEPT_BY", "1", 1);
    return true;
}

/* Parse the options.  The environment may have the others. */
static bool parse(struct report__call *call, int argc, char **argv) {
    struct report__options *o = &call->options;
    const char *limit = getenv("MPROF_LIMIT");
    uint64_t bytes;

    if (!report__parse_arguments(call, argc, argv))
        return false;
    if (!o->output)
        o->output = getenv("MPROF_DATA");
    if (!o->output || !*o->output)
        o->output = "mprof.data";
    if (!o->run.log)
        o->run.log = getenv("MPROF_LOG");
    if (o->run.limit || !limit || !*limit)
        return true;
    o->run.limit = limit;
    return (mprof__read_bytes(limit, &bytes) &&
            bytes <= MPROF__LARGEST_LIMIT) ||
           report__refuse(
               call, "MPROF_LIMIT: '%s' is not a number of bytes up to 16g",
               limit);
}

static int run(struct report__call *call, int argc, char **argv) {
    const struct report__options *o = &call->options;
    int status;

    if (!parse(call, argc, argv))
        return 2;
    char **program = (char **)o->files;
    program[o->file_count] = NULL;
    if (o->help) {
        report__print_help(stdout, call->command);
        return 0;
    }
    if (!set_up(call))
        return 2;
    check_program(call, program[0]);
    if ((o->run.html || (!o->run.quiet && isatty(STDERR_FILENO))) &&
        (status = report__run_and_wait(o->run.html, o->output)) >= 0)
        return status;
    set_run();
    execvp(program[0], program);
    status = errno == ENOENT ? 127 : 126;
    const char *why = strerror(errno);
    const bool is_here = status == 127 && access(program[0], X_OK) == 0;
    report__refuse(call, "%s: %s%s%s", program[0], why,
                   is_here ? "; try ./" : "", is_here ? program[0] : "");
    return status;
}

int report__run_main(int argc, char **argv) {
    struct report__call call = {.command = report__find_command("run"),
                                .output = {.stream = stdout},
                                .err = stderr};
    jmp_buf nomem;

    call.pool.nomem = &nomem;
    if (setjmp(nomem)) {
        report__refuse(&call, "out of memory");
        return 2;
    }
    int status = run(&call, argc, argv);
    report__pool_free(&call.pool);
    return status;
}
