/* c-files.c WHAT FILE - the data FILE is spoilt while the program runs.
 *
 * WHAT: `removed`, `moved`, `directory` (removed with all in it), `mode`, or
 * `none`: nothing but so many call chains that the file grows by a megabyte. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void *volatile sink;
static volatile sig_atomic_t signals;

static void count_signal(int signal) {
    (void)signal;
    signals++;
}

static void after(void) {
    for (int i = 0; i < 10; i++)
        sink = malloc(30);
}

static void left(unsigned bits, int depth);

static void right(unsigned bits, int depth) {
    if (depth == 0)
        free(malloc(20));
    else if (bits & 1)
        left(bits >> 1, depth - 1);
    else
        right(bits >> 1, depth - 1);
}

static void left(unsigned bits, int depth) {
    if (depth == 0)
        free(malloc(20));
    else if (bits & 1)
        left(bits >> 1, depth - 1);
    else
        right(bits >> 1, depth - 1);
}

/* 8192 chains. */
static void many_chains(void) {
    for (unsigned bits = 0; bits < 8192; bits++)
        left(bits, 13);
}

static void remove_directory(const char *file) {
    char name[4200];
    snprintf(name, sizeof name, "%s", file);
    unlink(name);
    *strrchr(name, '/') = '\0';
    if (rmdir(name) != 0)
        printf("rmdir: %s\n", strerror(errno));
}

static void spoil(const char *what, const char *file) {
    char other[4200];
    snprintf(other, sizeof other, "%s.moved", file);
    if (strcmp(what, "removed") == 0)
        unlink(file);
    else if (strcmp(what, "moved") == 0)
        rename(file, other);
    else if (strcmp(what, "mode") == 0)
        chmod(file, 0);
    else if (strcmp(what, "directory") == 0)
        remove_directory(file);
}

int main(int argc, char **argv) {
    if (argc < 3)
        return 2;
    signal(SIGXFSZ, count_signal);
    many_chains();
    spoil(argv[1], argv[2]);
    many_chains();
    after();
    printf("%d signals\n", (int)signals);
    return 12;
}
