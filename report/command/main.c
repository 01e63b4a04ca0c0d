/* main.c - the command `mprof`. */
#include <pthread.h>
#include <sys/resource.h>

#include "report/base/budget.h"
#include "report/base/progress.h"
#include "report/command/command.h"

/* Bytes of stack: for libdw, which has large arrays there; and for us where the
 * limit is lower. */
enum { LEAST_STACK = 1 << 20, STACK = 8 << 20 };

struct call {
    int argc;
    char **argv;
    int status;
};

static void *call(void *data) {
    struct call *c = data;
    if (c->argc > 1 && strcmp(c->argv[1], "run") == 0) {
        c->status = report__run_main(c->argc - 1, c->argv + 1);
    } else {
        report__budget_begin();
        report__progress_stream = stderr;
        c->status = report__main(c->argc, c->argv, stdout, stderr);
    }
    return NULL;
}

/* In a thread that has enough of a stack.  False: there cannot be one. */
static bool call_in_thread(struct call *c) {
    pthread_attr_t attributes;
    pthread_t thread;
    bool created = pthread_attr_init(&attributes) == 0 &&
                   pthread_attr_setstacksize(&attributes, STACK) == 0 &&
                   pthread_create(&thread, &attributes, call, c) == 0;
    if (created)
        pthread_join(thread, NULL);
    return created;
}

int main(int argc, char **argv) {
    struct call c = {argc, argv, 0};
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= LEAST_STACK ||
        !call_in_thread(&c))
        call(&c);
    return c.status;
}
