/* c-control.c [stop] - starts and stops the recording itself; linked with
 * mprof.  With `stop` it stops it before the first allocation, and that is all.
 *
 * Data files: `early`, what was recorded from the first allocation up to
 * main's stop; `first` and `second`, started here; `saved`, a copy. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mprof.h"

static void *before[10], *first[10], *between[10], *volatile sink;

static void check(int error, const char *what) {
    if (error != 0)
        printf("%s: %s\n", what, mprof_strerror(error));
}

__attribute__((always_inline)) static inline void fill(void **list,
                                                       size_t bytes) {
    for (int i = 0; i < 10; i++)
        list[i] = malloc(bytes);
}

static void empty(void **list, int count) {
    for (int i = 0; i < count; i++)
        free(list[i]);
}

static void before_first(void) {
    fill(before, 11);
}

static void in_first(void) {
    fill(first, 22);
    empty(before, 5); /* not of this recording */
}

static void while_stopped(void) {
    fill(between, 33);
    empty(first, 4); /* recorded before: must not appear as kept */
}

static void in_first_again(void) {
    sink = malloc(44);
    empty(between, 10); /* nobody has recorded them */
    empty(first + 4, 3);
}

static void in_second(void) {
    sink = malloc(55);
}

static void after_reset(void) {
    sink = malloc(66);
}

static void tell(const char *when) {
    struct mprof_status status;
    check(mprof_status(&status), when);
    printf("%s: %s\n", when, status.running ? "running" : "stopped");
}

static void in_silence(void) {
    sink = malloc(77);
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "stop") == 0) {
        check(mprof_stop(), "stop");
        in_silence();
        return 0;
    }
    puts("begin");
    tell("main");
    check(mprof_stop(), "stop");
    tell("stopped");
    before_first();
    check(mprof_start("first"), "start");
    tell("first");
    in_first();
    printf("other file: %d\n", mprof_start("second") == MPROF_E_RUNNING);
    check(mprof_stop(), "stop");
    check(mprof_stop(), "stop twice");
    while_stopped();
    check(mprof_start("first"), "go on");
    in_first_again();
    check(mprof_save("saved"), "save");
    check(mprof_stop(), "stop");
    check(mprof_start("second"), "start another");
    in_second();
    check(mprof_reset(), "reset");
    after_reset();
    check(mprof_stop(), "stop");
    tell("end");
    check(mprof_start("absent/file") == MPROF_E_OPEN ? 0 : MPROF_E_OPEN,
          "start in a folder that is not there");
    in_second();
    return 0;
}
