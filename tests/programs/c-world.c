/* c-world.c - prints what a program can see of its surroundings. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

static int compare(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void print_environment(void) {
    size_t n = 0;
    while (environ[n] != NULL)
        n++;
    qsort(environ, n, sizeof *environ, compare);
    for (size_t i = 0; i < n; i++)
        printf("environment %s\n", environ[i]);
}

static void print_signals(void) {
    sigset_t mask;
    struct sigaction action;
    sigprocmask(SIG_BLOCK, NULL, &mask);
    for (int i = 1; i < 32; i++) {
        sigaction(i, NULL, &action);
        if (action.sa_handler != SIG_DFL || sigismember(&mask, i))
            printf("signal %d %s%s\n", i,
                   action.sa_handler == SIG_IGN ? "ignored" : "handled",
                   sigismember(&mask, i) ? " blocked" : "");
    }
}

static void print_limits(void) {
    static const int kinds[] = {RLIMIT_AS,    RLIMIT_CORE,   RLIMIT_DATA,
                                RLIMIT_FSIZE, RLIMIT_NOFILE, RLIMIT_STACK};
    struct rlimit limit;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        getrlimit((__rlimit_resource_t)kinds[i], &limit);
        printf("limit %d: %lu %lu\n", kinds[i], (unsigned long)limit.rlim_cur,
               (unsigned long)limit.rlim_max);
    }
}

int main(int argc, char **argv) {
    char directory[4096], name[17] = "", line[100];
    mode_t mask = umask(0);
    umask(mask);
    for (int i = 0; i < argc; i++)
        printf("argument %s\n", argv[i]);
    print_environment();
    print_signals();
    print_limits();
    for (int fd = 0; fd < 256; fd++)
        if (dup2(fd, fd) == fd)
            printf("descriptor %d\n", fd);
    prctl(PR_GET_NAME, name);
    printf("umask %o, directory %s, name %s\n", (unsigned)mask,
           getcwd(directory, sizeof directory), name);
    while (fgets(line, sizeof line, stdin) != NULL)
        printf("read %s", line);
    fprintf(stderr, "to standard error\n");
    return 21;
}
