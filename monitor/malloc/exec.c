/* exec.c - the functions with which programs execute others.
 *
 * Some programs do not run when a library is preloaded: those for another C
 * library, and those of sanitizers.  They get their environment without ours.
 * A program that is linked with the archive preloads nothing: that has none of
 * this (libtool defines PIC for the shared library).
 *
 * This is often a child of fork() or vfork().  Nothing here allocates or locks,
 * and the parent sees no change, except a line about unrecorded programs.
 */
#define _GNU_SOURCE
#ifdef PIC
#include <alloca.h>
#include <errno.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "monitor/format/runnable.h"
#include "monitor/malloc/autostart.h"
#include "monitor/malloc/definitions.h"
#include "monitor/malloc/environment.h"

#define PUBLIC __attribute__((visibility("default")))

extern char **environ;

typedef int spawn(pid_t *pid, const char *file,
                  const posix_spawn_file_actions_t *actions,
                  const posix_spawnattr_t *attributes, char *const arguments[],
                  char *const variables[]);

static struct {
    int (*execve)(const char *, char *const[], char *const[]);
    int (*execvpe)(const char *, char *const[], char *const[]);
    int (*fexecve)(int, char *const[], char *const[]);
    int (*execveat)(int, const char *, char *const[], char *const[], int);
    spawn *posix_spawn, *posix_spawnp;
} next;

#define FIND(name)                                                             \
    (*(void **)&next.name = mprof__next_definition(#name).function)

/* Before there is a second thread. */
static void __attribute__((constructor)) find_next(void) {
    FIND(execve);
    FIND(execvpe);
    FIND(fexecve);
    FIND(execveat);
    FIND(posix_spawn);
    FIND(posix_spawnp);
}

static int missing(void) {
    errno = ENOSYS;
    return -1;
}

/* Is our library preloaded where VARIABLES are the environment? */
static const char *preload_in(char *const *variables) {
    const char *library = mprof__autostart_library();
    for (; library != NULL && variables != NULL && *variables != NULL;
         variables++)
        if (strncmp(*variables, "LD_PRELOAD=", strlen("LD_PRELOAD=")) == 0 &&
            strstr(*variables, library) != NULL)
            return *variables;
    return NULL;
}

/* Does the program in FILE, or open as FD, not run with PRELOAD?  What is not
 * recorded of it is noted. */
static bool clashes(const char *file, int fd, const char *preload) {
    bool found;
    const char *why =
        preload == NULL ? NULL : mprof__not_recordable(file, fd, &found);
    if (why == NULL)
        return false;
    mprof__autostart_miss(file, why);
    return found;
}

static bool clashes_in_path(const char *program, const char *preload) {
    char found[PATH_MAX];
    return preload != NULL && mprof__find_program(program, found) &&
           clashes(found, -1, preload);
}

static size_t count(char *const *variables) {
    size_t n = 0;
    while (variables[n] != NULL)
        n++;
    return n;
}

/* Call the next FUNCTION.  If the program CLASHES with our library in PRELOAD,
 * one of the VARIABLES, these are without it: on the caller's stack. */
#define EXECUTE(function, missing, clashes, ...)                               \
    const char *preload = preload_in(variables);                               \
    if (next.function == NULL)                                                 \
        return missing;                                                        \
    if (clashes)                                                               \
        variables = mprof__without_library(                                    \
            preload, mprof__autostart_library(), variables,                    \
            alloca((count(variables) + 1) * sizeof *variables),                \
            alloca(strlen(preload) + 1));                                      \
    return next.function(__VA_ARGS__)

PUBLIC int execve(const char *file, char *const arguments[],
                  char *const variables[]) {
    EXECUTE(execve, missing(), clashes(file, -1, preload), file, arguments,
            variables);
}

PUBLIC int execvpe(const char *file, char *const arguments[],
                   char *const variables[]) {
    EXECUTE(execvpe, missing(), clashes_in_path(file, preload), file, arguments,
            variables);
}

PUBLIC int execv(const char *file, char *const arguments[]) {
    return execve(file, arguments, environ);
}

PUBLIC int execvp(const char *file, char *const arguments[]) {
    return execvpe(file, arguments, environ);
}

/* Collect the arguments behind FIRST in an array on the stack; `list` is then
 * behind the NULL that ends them. */
#define COLLECT(arguments, first, list)                                        \
    do {                                                                       \
        size_t n = 1;                                                          \
        va_start(list, first);                                                 \
        while (va_arg(list, const char *) != NULL)                             \
            n++;                                                               \
        va_end(list);                                                          \
        arguments = alloca((n + 1) * sizeof *arguments);                       \
        arguments[0] = (char *)(uintptr_t)first;                               \
        va_start(list, first);                                                 \
        for (size_t i = 1; i <= n; i++)                                        \
            arguments[i] = va_arg(list, char *);                               \
    } while (0)

PUBLIC int execl(const char *file, const char *argument, ...) {
    char **arguments;
    va_list list;
    COLLECT(arguments, argument, list);
    va_end(list);
    return execve(file, arguments, environ);
}

PUBLIC int execlp(const char *file, const char *argument, ...) {
    char **arguments;
    va_list list;
    COLLECT(arguments, argument, list);
    va_end(list);
    return execvpe(file, arguments, environ);
}

PUBLIC int execle(const char *file, const char *argument, ...) {
    char **arguments;
    va_list list;
    COLLECT(arguments, argument, list);
    char *const *variables = va_arg(list, char *const *);
    va_end(list);
    return execve(file, arguments, variables);
}

PUBLIC int fexecve(int fd, char *const arguments[], char *const variables[]) {
    EXECUTE(fexecve, missing(),
            clashes("a program without a name", fd, preload), fd, arguments,
            variables);
}

PUBLIC int execveat(int folder, const char *file, char *const arguments[],
                    char *const variables[], int flags) {
    EXECUTE(execveat, missing(),
            *file == '\0' ? clashes("a program without a name", folder, preload)
                          : *file == '/' && clashes(file, -1, preload),
            folder, file, arguments, variables, flags);
}

PUBLIC int posix_spawn(pid_t *pid, const char *file,
                       const posix_spawn_file_actions_t *actions,
                       const posix_spawnattr_t *attributes,
                       char *const arguments[], char *const variables[]) {
    EXECUTE(posix_spawn, ENOSYS, clashes(file, -1, preload), pid, file, actions,
            attributes, arguments, variables);
}

PUBLIC int posix_spawnp(pid_t *pid, const char *file,
                        const posix_spawn_file_actions_t *actions,
                        const posix_spawnattr_t *attributes,
                        char *const arguments[], char *const variables[]) {
    EXECUTE(posix_spawnp, ENOSYS, clashes_in_path(file, preload), pid, file,
            actions, attributes, arguments, variables);
}
#endif
