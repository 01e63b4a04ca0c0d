/* run_wait.c - `mprof run`: wait for the program, and go on with its data.
 *
 * Signals of the terminal reach the program as well as this process, which goes
 * on until the program has ended.  Signals of other processes are passed on.
 */
#define _GNU_SOURCE
#include "report/command/command.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "monitor/format/claim.h"
#include "monitor/format/process.h"

static const int sent_on[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT};
enum { SENT_ON = sizeof sent_on / sizeof *sent_on };

static volatile sig_atomic_t program;

static void send_on(int signal) {
    int error = errno;
    if (program > 0)
        kill((pid_t)program, signal);
    errno = error;
}

/* Start the program, with its signals as they would be without us. */
static pid_t start(void) {
    const struct sigaction ignore = {.sa_handler = SIG_IGN},
                           forward = {.sa_handler = send_on,
                                      .sa_flags = SA_RESTART};
    sigset_t all, old;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &old);
    pid_t pid = fork();
    if (pid > 0) {
        program = pid;
        sigaction(SIGINT, &ignore, NULL);
        sigaction(SIGQUIT, &ignore, NULL);
        for (int i = 0; i < SENT_ON; i++)
            sigaction(sent_on[i], &forward, NULL);
    }
    sigprocmask(SIG_SETMASK, &old, NULL);
    return pid;
}

static int await(pid_t pid) {
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    program = 0;
    for (int i = 0; i < SENT_ON; i++)
        signal(sent_on[i], SIG_DFL);
    signal(SIGINT, SIG_DFL);
    signal(SIGQUIT, SIG_DFL);
    return status;
}

/* Whether PATH was begun since BEGIN, and has ended. */
static bool is_new(const char *path, uint64_t begin) {
    struct mprof_header header;
    return mprof__claim(path, 0, &header) == MPROF__ENDED &&
           header.start_time >= begin;
}

/* Into FOUND, the files whose names are NAME and what the pattern END says. */
static void find(const char *name, const char *end, glob_t *found) {
    char *pattern = malloc(2 * strlen(name) + strlen(end) + 1), *at = pattern;

    if (pattern == NULL)
        return;
    for (; *name != '\0'; name++) {
        if (strchr("*?[\\", *name) != NULL)
            *at++ = '\\';
        *at++ = *name;
    }
    strcpy(at, end);
    glob(pattern, found->gl_pathc > 0 ? GLOB_APPEND : 0, NULL, found);
    free(pattern);
}

/* FILE is made of FOUND. */
static void make_page(const char *file, const glob_t *found) {
    const char *const options[] = {"mprof", "html", "-o", file, "--"};
    enum { OPTIONS = sizeof options / sizeof *options };
    char **arguments = calloc(found->gl_pathc + OPTIONS + 1, sizeof *arguments);

    if (!arguments)
        return;
    memcpy(arguments, options, sizeof options);
    memcpy(arguments + OPTIONS, found->gl_pathv,
           found->gl_pathc * sizeof *arguments);
    if (found->gl_pathc == 0)
        fprintf(stderr, "mprof: run: nothing was recorded: there is no %s\n",
                file);
    else
        report__main(OPTIONS + (int)found->gl_pathc, arguments, stdout, stderr);
    free(arguments);
}

/* Print the command that shows FOUND: DATA, and names that begin like it. */
static void print_next(const char *data, const glob_t *found) {
    if (found->gl_pathc == 1)
        fprintf(stderr, "mprof: recorded in %s; see it with: mprof %s\n", data,
                strcmp(data, "mprof.data") == 0 ? "" : data);
    else if (found->gl_pathc == 0 && getenv("MPROF_LISP"))
        fputs("mprof: no Lisp ran: no data; see mprof run --help\n", stderr);
    else if (found->gl_pathc > 1)
        fprintf(stderr,
                "mprof: recorded %zu processes in %s and %s.*; see them with: "
                "mprof list %s*\n",
                found->gl_pathc, data, data, data);
}

/* Leave in FOUND what was begun since BEGIN. */
static void leave_new(glob_t *found, uint64_t begin) {
    size_t count = 0;

    for (size_t i = 0; i < found->gl_pathc; i++)
        if (is_new(found->gl_pathv[i], begin)) {
            char *path = found->gl_pathv[i];
            found->gl_pathv[i] = found->gl_pathv[count];
            found->gl_pathv[count++] = path;
        }
    found->gl_pathc = count;
}

/* End as the program did. */
static int end_with(int status) {
    if (!WIFSIGNALED(status))
        return WEXITSTATUS(status);
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    raise(WTERMSIG(status));
    return 128 + WTERMSIG(status);
}

int report__run_and_wait(const char *page, const char *data) {
    const char *path = getenv("MPROF_DATA");
    glob_t found = {.gl_pathc = 0};
    uint64_t begin = mprof__clock(CLOCK_REALTIME);
    pid_t pid = start();

    if (pid == 0)
        return -1;
    if (pid < 0) {
        fprintf(stderr, "mprof: run: cannot fork: %s\n", strerror(errno));
        return 2;
    }
    int status = await(pid);
    find(path, "", &found);
    find(path, ".*", &found);
    size_t all = found.gl_pathc;
    leave_new(&found, begin);
    if (page)
        make_page(page, &found);
    else
        print_next(data, &found);
    found.gl_pathc = all;
    globfree(&found);
    return end_with(status);
}
