/* scope_print.c - the chains of a scope, printed by the command mprof. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "monitor/base/table.h"
#include "monitor/format/process.h"
#include "monitor/include/mprof.h"

#ifndef MPROF_BINDIR
#define MPROF_BINDIR ""
#endif

extern char **environ;

/* A new, empty file for the data, whose name comes into PATH. */
static int make_file(char *path, size_t size) {
    const char *folder = getenv("TMPDIR");
    int n = snprintf(path, size, "%s/mprof-XXXXXX",
                     folder == NULL || *folder == '\0' ? "/tmp" : folder);
    if (n < 0 || (size_t)n >= size)
        return MPROF_E_OPEN;
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0)
        return MPROF_E_OPEN;
    close(fd);
    return 0;
}

/* The report command does not need our variables. */
static bool is_ours(const char *variable) {
    return strncmp(variable, "MPROF_", 6) == 0 ||
           strncmp(variable, "LD_PRELOAD=", 11) == 0;
}

static const char *find_command(void) {
    const char *wanted = getenv("MPROF_COMMAND");
    if (wanted != NULL && *wanted != '\0')
        return wanted;
    return access(MPROF_BINDIR "/mprof", X_OK) == 0 ? MPROF_BINDIR "/mprof"
                                                    : "mprof";
}

/* Wait for the process, which a handler of the program may do before. */
static int wait_for(pid_t pid) {
    int status = 0;
    pid_t ended;
    do
        ended = waitpid(pid, &status, 0);
    while (ended < 0 && errno == EINTR);
    return ended < 0 || status == 0 ? 0 : MPROF_E_OPEN;
}

/* Without file actions nothing is allocated. */
static int run(const char *command, char **environment, const char *file,
               unsigned rows) {
    char limit[40];
    pid_t pid;
    snprintf(limit, sizeof limit, "--limit-rows=%u", rows);
    const char *const arguments[] = {
        "sh",
        "-c",
        "command -v \"$0\" >/dev/null && exec "
        "\"$0\" export --format=text --depth=30 \"$@\" >&2",
        command,
        limit,
        file,
        NULL};
    if (posix_spawn(&pid, "/bin/sh", NULL, NULL, (char *const *)arguments,
                    environment) != 0)
        return MPROF_E_OPEN;
    return wait_for(pid);
}

static int print(const char *file, unsigned rows) {
    size_t count = 1, left = 0;
    for (char **v = environ; v != NULL && *v != NULL; v++)
        count++;
    char **environment = mprof__map(count * sizeof *environment);
    if (environment == NULL)
        return MPROF_E_MEMORY;
    for (char **v = environ; v != NULL && *v != NULL; v++)
        if (!is_ours(*v))
            environment[left++] = *v;
    int error = run(find_command(), environment, file, rows);
    mprof__unmap(environment, count * sizeof *environment);
    return error;
}

int mprof_scope_print(const struct mprof_scope *scope, unsigned rows) {
    char path[PATH_MAX];
    int state, saved = errno;
    if (scope == NULL || rows == 0)
        return MPROF_E_ARGUMENT;
    if (mprof__process_is_secure())
        return MPROF_E_OPEN;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    int error = make_file(path, sizeof path);
    if (error == 0) {
        error = mprof_scope_save(scope, path);
        if (error == 0)
            error = print(path, rows);
        unlink(path);
    }
    pthread_setcancelstate(state, NULL);
    errno = saved;
    return error;
}
