/* autostart.c - start by itself, and find a name for the data file; see
 * autostart.h.
 *
 * Runs inside of the first malloc(), while there is one thread, which may have
 * little stack: nothing here allocates, and names are static.
 */
#define _GNU_SOURCE
#include "monitor/malloc/autostart.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "monitor/api/functions.h"
#include "monitor/format/bytes.h"
#include "monitor/format/claim.h"
#include "monitor/format/missed.h"
#include "monitor/format/process.h"
#include "monitor/include/mprof.h"
#include "monitor/malloc/definitions.h"
#include "monitor/malloc/environment.h"
#include "monitor/malloc/malloc_hook.h"
#include "monitor/file/complete.h"
#include "monitor/log/log.h"
#include "monitor/record/recording.h"
#include "monitor/record/session.h"
#include "monitor/record/messages.h"
#include "monitor/record/wishes.h"

extern char **environ;

/* All of these are written by the one thread that starts, before the program's
 * first allocation, and in a child of fork() before it goes on. */
static char pattern[PATH_MAX]; /* absolute, with %p and %n; "": not yet */
static char base[PATH_MAX];    /* name of the first process's file */
static bool by_pid;            /* the pattern contains %p */
static pid_t first;            /* process that base belongs to */
static uint64_t begun;         /* when the first process, ns since boot */
static uint64_t input_pipe;    /* the pipe of standard input; 0: none */
static bool children = true;   /* are recorded, too */
static bool suspended;         /* at first nothing is */
static struct mprof__log_options log_options;
static char log_pattern[PATH_MAX]; /* as `pattern`; "": no log */
static char group[PATH_MAX];       /* name of the group's file, or "" */

/* One line about why nothing is recorded. */
static void complain(const char *path, int error) {
    static char line[PATH_MAX + 200];
    const char *what = mprof_strerror(error);
    const char *why = errno != 0 ? strerrordesc_np(errno) : NULL;
    mprof__message_line(line,
                        snprintf(line, sizeof line,
                                 "mprof: %s: %s: %s; nothing is recorded\n",
                                 path, what, why != NULL ? why : "unknown"));
}

static void check_limit(void) {
    static char line[200];
    const char *limit = getenv("MPROF_LIMIT");
    uint64_t bytes;
    if (limit != NULL && *limit != '\0' && !mprof__read_bytes(limit, &bytes))
        mprof__message_line(
            line, snprintf(line, sizeof line,
                           "mprof: MPROF_LIMIT: '%.100s' is no number of "
                           "bytes; the default is used\n",
                           limit));
}

/* As mprof__claim(), but what was recorded on the same occasion as this program
 * is not given up for it. */
static enum mprof__claim judge(const char *path) {
    struct mprof_header header;
    enum mprof__claim claim = mprof__claim(path, mprof__image_id(), &header);
    if (claim != MPROF__ENDED || header.version != MPROF_VERSION ||
        header.boot != mprof__process_self().boot)
        return claim;
    errno = EBUSY;
    if (input_pipe != 0 && header.output_pipe == input_pipe)
        return MPROF__OTHERS;
    return header.saved < begun ? MPROF__ENDED : MPROF__OTHERS;
}

/* Into NAME BASE.PID, or the I-th further name for files of processes of this
 * number; false: too long. */
static bool child_name(char *name, size_t size, int i) {
    int n = i == 0 ? snprintf(name, size, "%s.%ld", base, (long)getpid())
                   : snprintf(name, size, "%s.%ld.%d", base, (long)getpid(), i);
    return n > 0 && (size_t)n < size;
}

enum { MOST_NAMES = 10000 };

/* Give the file PATH the name ASIDE, unless that exists: false, with errno. */
static bool rename_to_free(const char *path, const char *aside) {
    if (renameat2(AT_FDCWD, path, AT_FDCWD, aside, RENAME_NOREPLACE) == 0)
        return true;
    /* Not every file system can do that. */
    if (errno != EINVAL && errno != ENOSYS)
        return false;
    if (access(aside, F_OK) != 0)
        return rename(path, aside) == 0;
    errno = EEXIST;
    return false;
}

/* The log of what is recorded in NAME: with the same suffix, or by the process
 * as that.  NULL: there is to be none. */
static const char *name_log(const char *name) {
    static char path[PATH_MAX];
    bool by_process = false;
    size_t length = strlen(base);
    if (log_pattern[0] == '\0' ||
        !mprof__expand(log_pattern, path, sizeof path, &by_process))
        return NULL;
    size_t n = strlen(path), room = sizeof path - n;
    const char *suffix = strncmp(name, base, length) == 0 ? name + length : "";
    int more = 0;
    if (suffix[0] != '\0' && !(by_process && by_pid))
        more = snprintf(path + n, room, "%s", suffix);
    else if (!by_process && first != getpid())
        more = snprintf(path + n, room, ".%ld", (long)getpid());
    return more >= 0 && (size_t)more < room ? path : NULL;
}

/* The log of an earlier program in this process goes with its data file, which
 * had the name PATH and is ASIDE now. */
static void move_log(const char *path, const char *aside) {
    static char from[PATH_MAX];
    const char *to = name_log(path);
    if (to == NULL)
        return;
    strcpy(from, to);
    to = name_log(aside);
    if (to != NULL && strcmp(from, to) != 0)
        rename(from, to);
}

/* Give the recording of an earlier program in this process another name, and
 * complete it. */
static void move_away(const char *path) {
    static char aside[PATH_MAX];
    for (int i = 1; i < MOST_NAMES && child_name(aside, sizeof aside, i); i++)
        if (rename_to_free(path, aside)) {
            log_options.orphaned = mprof__complete_earlier(aside);
            move_log(path, aside);
            return;
        } else if (errno != EEXIST) {
            return;
        }
}

static bool foreign; /* another kind of file has that name; as above */

/* Choose NAME, or if another process owns that file, the name of a child; if an
 * earlier process had this number, a free name.  False: there is none for us.
 */
static bool choose(char *name, size_t size) {
    enum mprof__claim claim = judge(name);
    foreign = claim == MPROF__OTHERS && errno != EBUSY;
    for (int i = 0; claim == MPROF__OTHERS && i < MOST_NAMES; i++) {
        if (!child_name(name, size, i))
            return false;
        claim = judge(name);
    }
    /* A program that is linked with this library was preloaded with it, too. */
    if (claim == MPROF__OURS) {
        errno = 0;
        return false;
    }
    if (claim == MPROF__EARLIER)
        move_away(name);
    return true;
}

/* Processes that start together look for names one after the other. */
static int lock_folder(const char *path) {
    static char folder[PATH_MAX];
    const struct timespec pause = {0, 1000 * 1000};
    const char *slash = strrchr(path, '/');
    size_t length = slash == NULL || slash == path ? 1 : (size_t)(slash - path);
    memcpy(folder, slash == NULL ? "." : path, length);
    folder[length] = '\0';
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; fd >= 0 && i < 200; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            break;
        nanosleep(&pause, NULL);
    }
    return fd;
}

/* Print NAME if the user asked for another one. */
static void print_name(const char *name) {
    static char line[2 * PATH_MAX + 200];
    mprof__message_line(
        line, snprintf(line, sizeof line,
                       "mprof: %s: is no recording of yours and stays; "
                       "recorded in %s\n",
                       base, name));
}

static void warn_of_unseen(void) {
    static char what[400], line[sizeof what + 100];
    mprof__malloc_unseen(what, sizeof what);
    if (what[0] != '\0')
        mprof__message_line(
            line, snprintf(line, sizeof line, "mprof: cannot see %s\n", what));
}

static void begin(char *name, size_t size, bool loud) {
    int folder = lock_folder(name);
    errno = ENAMETOOLONG;
    int error = MPROF_E_OPEN;
    if (choose(name, size)) {
        log_options.path = name_log(name);
        mprof__log_set(&log_options);
        log_options.orphaned = 0;
        error = mprof__own_functions.start(name);
    }
    int saved = errno;
    if (folder >= 0)
        close(folder);
    errno = saved;
    /* It was the last descriptor that the process may have. */
    if (error != 0 && folder >= 0 && errno == EMFILE)
        error = mprof__own_functions.start(name);
    if (error != 0 && errno != 0 && loud)
        complain(name, error);
    if (suspended)
        mprof__own_functions.stop();
    if (error == 0 && first == getpid() && getenv("MPROF_RUN")) {
        if (foreign)
            print_name(name);
        warn_of_unseen();
    }
}

/* Into PATH what VARIABLE names, or OTHERWISE, absolute: the program may go to
 * another folder before it forks.  False: nothing, or it is too long. */
static bool read_path(const char *variable, const char *otherwise,
                      char path[PATH_MAX]) {
    const char *name = getenv(variable);
    size_t n = 0;
    if (name == NULL || name[0] == '\0')
        name = otherwise;
    if (name == NULL)
        return false;
    if (name[0] != '/') {
        if (getcwd(path, PATH_MAX - 1) == NULL)
            return false;
        n = strlen(path);
        path[n++] = '/';
    }
    if (n + strlen(name) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    strcpy(path + n, name);
    return true;
}

/* A program that reads from a pipe began together with the programs that write
 * to it.  These may have ended before this one came so far.  The time of a fork
 * is known to a tick, and its later end is taken: a program that ended before
 * the fork is not in this pipeline. */
static void begin_with_pipe(void) {
    uint64_t tick = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
    uint64_t forked = mprof__process_start((uint32_t)getpid());
    input_pipe = mprof__process_pipe(STDIN_FILENO);
    if (input_pipe != 0 && forked != 0 && forked + tick < begun)
        begun = forked + tick;
}

/* Read the start of the run: as `mprof run` passes it, or of this process. */
static bool read_run(void) {
    const char *run = getenv("MPROF_RUN");
    first = getpid();
    begun = mprof__process_clock();
    return run != NULL && mprof__read_run(run, &first, &begun);
}

const char *mprof__autostart_library(void) {
    const struct link_map *us = mprof__own_file();
    return us != NULL && us->l_name[0] != '\0' ? us->l_name : NULL;
}

void mprof__autostart_miss(const char *file, const char *why) {
    if (children && base[0] != '\0')
        mprof__missed_add(base, file, why);
}

void mprof__autostart_cloned(void) {
    mprof__autostart_miss(program_invocation_name,
                          "a child by clone(), not fork()");
}

/* Forget the missed programs of an earlier program. */
static void forget_missed(void) {
    static char name[PATH_MAX];
    if (first == getpid() && mprof__missed_name(base, name, sizeof name))
        unlink(name);
}

/* Print the line once, for users who want it, as with `mprof run`. */
void mprof__autostart_end(void) {
    static char what[300], line[sizeof what + 100];
    if (first != getpid() || getenv("MPROF_RUN") == NULL)
        return;
    mprof__missed_read(base, what, sizeof what);
    if (what[0] != '\0')
        mprof__message_line(line, snprintf(line, sizeof line,
                                           "mprof: not recorded: %s\n", what));
}

static bool says(const char *variable, const char *word) {
    const char *value = getenv(variable);
    return value != NULL && strcmp(value, word) == 0;
}

static void read_log_options(void) {
    const char *threshold = getenv("MPROF_LOG_THRESHOLD");
    log_options.timed = says("MPROF_STATS", "1");
    log_options.plain = says("MPROF_LOG_PLAIN", "1");
    suspended = says("MPROF_SUSPENDED", "1");
    if (threshold != NULL)
        mprof__read_bytes(threshold, &log_options.threshold);
    if (!read_path("MPROF_LOG", NULL, log_pattern))
        log_pattern[0] = '\0';
    if (read_path("MPROF_GROUP", NULL, group))
        log_options.group = group;
}

/* The C library sets these, to the same, after the first constructor. */
void mprof__autostart_early(int argc, char **argv, char **environment) {
    if (environ != NULL)
        return;
    environ = environment;
    if (argc > 0) {
        char *slash = strrchr(argv[0], '/');
        program_invocation_name = argv[0];
        program_invocation_short_name = slash == NULL ? argv[0] : slash + 1;
    }
}

bool mprof__autostart(void) {
    static char name[PATH_MAX];
    if (environ == NULL)
        return false; /* the C library is not ready */
    if (mprof__process_is_secure())
        return true;
    bool start = !says("MPROF_START", "no");
    bool run = read_run();
    if (run)
        mprof__own_functions.set_warnings(1);
    mprof__wishes.summary = says("MPROF_SUMMARY", "1");
    mprof__wishes.keepers = says("MPROF_KEPT_BY", "1");
    mprof__wishes.scans = mprof__wishes.keepers || says("MPROF_SCAN", "1");
    read_log_options();
    begin_with_pipe();
    check_limit();
    bool named = read_path("MPROF_DATA", "mprof.data", pattern) &&
                 mprof__expand(pattern, base, sizeof base, &by_pid);
    children = !says("MPROF_CHILDREN", "no");
    const char *library = mprof__autostart_library();
    /* Programs that this one executes are not ours to record. */
    if (!children && library != NULL)
        mprof__leave_environment(environ, library, start);
    forget_missed();
    if (!start)
        return true;
    strcpy(name, base);
    if (named && first != getpid() && !by_pid)
        named = child_name(name, sizeof name, 0);
    mprof__wishes.early = !suspended;
    if (named)
        begin(name, sizeof name, !run || first == getpid());
    else
        complain("mprof.data", MPROF_E_OPEN);
    return true;
}

/* A program that is linked with the archive, and has weak references alone to
 * the public functions, as mprof_test.h has, gets these with the rest. */
static int (*const with_public)(struct mprof_scope *, unsigned)
    __attribute__((used)) = mprof_scope_begin;
static int (*const with_scope_print)(const struct mprof_scope *, unsigned)
    __attribute__((used)) = mprof_scope_print;

/* In the child, its first allocation. */
static bool start_child(void) {
    static char name[PATH_MAX];
    if (by_pid ? mprof__expand(pattern, name, sizeof name, &by_pid)
               : child_name(name, sizeof name, 0))
        begin(name, sizeof name, false);
    return true;
}

void mprof__autostart_follow(const char *file) {
    size_t length = strlen(base);
    if (!children)
        return;
    /* The program has chosen another name. */
    if (length == 0 ||
        (!by_pid && (strncmp(file, base, length) != 0 ||
                     (file[length] != '\0' && file[length] != '.')))) {
        strcpy(base, file);
        by_pid = false;
    }
    mprof__parent = (uint32_t)getppid();
    mprof__malloc_await(start_child);
}
