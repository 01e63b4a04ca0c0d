/* c-manpage.c - the interface of the manual page: autosave, stop, restart. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mprof.h"

static void *blocks[10], *volatile sink;

static void at_first(void) {
    for (int i = 0; i < 10; i++)
        blocks[i] = malloc(12);
}

static void while_stopped(void) {
    sink = malloc(23);
    for (int i = 0; i < 4; i++)
        free(blocks[i]);
}

static void restarted(void) {
    for (int i = 0; i < 7; i++)
        sink = malloc(34);
}

/* The ns in the header of the data file: what was saved last. */
static uint64_t saved(void) {
    uint64_t ns = 0;
    int fd = open("mprof.data", O_RDONLY);
    if (pread(fd, &ns, sizeof ns, 48) != sizeof ns)
        exit(4);
    close(fd);
    return ns;
}

/* Autosave begins while it records, and most chains were there before. */
static int late(void) {
    uint64_t before = 0;
    for (int i = 0; i < 40; i++) {
        if (i == 10) {
            before = saved();
            set_mprof_autosave(100);
        }
        at_first();
    }
    return saved() > before ? 0 : 5;
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "late") == 0)
        return late();
    set_mprof_autosave(3);
    at_first();
    if (argc > 1 && strcmp(argv[1], "die") == 0)
        _exit(3);
    mprof_stop();
    while_stopped();
    mprof_restart("restarted");
    restarted();
    puts("restarted");
    return 0;
}
