/* c-manpage.c - the interface of the manual page: autosave, stop, restart. */
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

int main(int argc, char **argv) {
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
