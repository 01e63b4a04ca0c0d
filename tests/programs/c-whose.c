/* c-whose.c WHAT [ARGUMENT...] - programs that meet data files of others.
 *
 * WHAT: `once`; `wait`, which tells by the file `there` that it runs, and goes
 * on when there is a file `go`; `wrap`, two children, one after the other, with
 * one number (status 77 where nobody can choose numbers); `save`, a copy to
 * PATH; `plant LIBRARY DATA USED`, which lets DATA be of this process, with
 * USED bytes, and becomes `once` with LIBRARY.  Each allocates a little in
 * functions of its own. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mprof.h"

#pragma weak mprof_save

static void *volatile sink;

static void before(void) {
    for (int i = 0; i < 10; i++)
        sink = malloc(30);
}

static void after(void) {
    for (int i = 0; i < 20; i++)
        sink = malloc(40);
}

static void first_child(void) {
    sink = malloc(111);
}

static void second_child(void) {
    sink = malloc(222);
}

static int wait_for_file(const char *path) {
    for (int i = 0; i < 20000; i++) {
        if (access(path, F_OK) == 0)
            return 0;
        usleep(1000);
    }
    return 1;
}

static void be_there(void) {
    close(open("there", O_WRONLY | O_CREAT, 0600));
}

/* What the child does that has the number PID, if it can be had. */
static int have_child(void (*what)(void), int pid) {
    if (pid != 0) {
        char text[32];
        int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY);
        int n = sprintf(text, "%d", pid - 1);
        if (fd < 0 || write(fd, text, (size_t)n) != n)
            exit(77);
        close(fd);
    }
    int child = fork();
    if (child == 0) {
        what();
        exit(0);
    }
    waitpid(child, NULL, 0);
    return child;
}

/* When this process was forked, ns since the boot. */
static uint64_t forked(void) {
    char text[1024] = "";
    int fd = open("/proc/self/stat", O_RDONLY);
    ssize_t n = read(fd, text, sizeof text - 1);
    const char *p = n > 0 ? strrchr(text, ')') : NULL;
    for (int field = 2; p != NULL && field < 22; field++)
        p = strchr(p + 1, ' ');
    close(fd);
    return p == NULL ? 0
                     : strtoull(p + 1, NULL, 10) *
                           (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
}

static int plant(char **argv) {
    uint32_t pid = (uint32_t)getpid();
    uint64_t used = strtoull(argv[4], NULL, 10), time = forked();
    int fd = open(argv[3], O_WRONLY);
    /* See format.h. */
    if (pwrite(fd, &used, sizeof used, 24) != sizeof used ||
        pwrite(fd, &pid, sizeof pid, 36) != sizeof pid ||
        pwrite(fd, &time, sizeof time, 200) != sizeof time)
        return 1;
    close(fd);
    setenv("LD_PRELOAD", argv[2], 1);
    setenv("MPROF_DATA", argv[3], 1);
    execl(argv[0], argv[0], "once", (char *)NULL);
    return 1;
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "plant") == 0)
        return plant(argv);
    before();
    if (strcmp(what, "wait") == 0) {
        be_there();
        if (wait_for_file("go") != 0)
            return 1;
    } else if (strcmp(what, "wrap") == 0) {
        int first = have_child(first_child, 0);
        if (have_child(second_child, first) != first)
            return 77;
    } else if (strcmp(what, "save") == 0) {
        int error = mprof_save == NULL ? -1 : mprof_save(argv[2]);
        printf("%d %s\n", error, error == 0 ? "" : strerror(errno));
    }
    after();
    return 0;
}
