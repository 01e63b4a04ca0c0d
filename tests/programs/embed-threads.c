/* embed-threads.c - C threads beside an ECL that may have none of its own.
 *
 * Usage: embed-threads DATA-FILE
 *
 * The main thread runs Lisp, whose functions call malloc() at all depths;
 * meanwhile three threads that Lisp knows nothing of call malloc() as well, and
 * ask how it goes.  All of it is recorded, in both heaps; needs a
 * libmprof_malloc in front.  Prints how many blocks Lisp asked for, and how
 * many the threads.
 *
 * An ECL without threads has one environment, where the hook notes that
 * interrupts wait: what the other threads do must never be seen there.
 */
#include <ecl/ecl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "mprof.h"

enum { THREADS = 3, ROUNDS = 100000, DEPTH = 40 };

static atomic_int ready, left = THREADS;
static void *volatile kept;

static void check(int error) {
    if (error == 0)
        return;
    fprintf(stderr, "embed-threads: %s\n", mprof_strerror(error));
    exit(1);
}

static void __attribute__((noinline)) grab(size_t bytes) {
    void *block = malloc(bytes);
    kept = block;
    free(block);
}

static cl_object grab_from_lisp(void) {
    grab(10);
    return ECL_NIL;
}

static void *crunch(void *unused) {
    (void)unused;
    atomic_fetch_add(&ready, 1);
    while (atomic_load(&ready) <= THREADS)
        ;
    for (int i = 0; i < ROUNDS; i++) {
        grab(7);
        struct mprof_status status;
        if (i % 1000 == 0)
            check(mprof_status(&status));
    }
    atomic_fetch_sub(&left, 1);
    return NULL;
}

/* Outside of Lisp and of the hook interrupts need not wait. */
static void look(void) {
    for (int i = 0; i < 20000; i++)
        if (ecl_process_env()->disable_interrupts) {
            fputs("embed-threads: another thread has changed this one's\n",
                  stderr);
            exit(1);
        }
}

static void define(void) {
    cl_eval(c_string_to_object("(defpackage \"EMBED\" (:use \"CL\")"
                               " (:export \"GRAB\"))"));
    ecl_def_c_function(ecl_make_symbol("GRAB", "EMBED"),
                       (cl_objectfn_fixed)grab_from_lisp, 0);
    cl_eval(c_string_to_object("(defun embed::dive (n) (embed:grab)"
                               " (if (plusp n) (embed::dive (1- n))) nil)"));
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    if (argc != 2)
        return 2;
    cl_boot(1, argv);
    define();
    cl_object dive = ecl_make_symbol("DIVE", "EMBED");
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, crunch, NULL) != 0)
            return 1;
    while (atomic_load(&ready) < THREADS)
        ;
    check(mprof_set_heaps(MPROF_HEAP_LISP | MPROF_HEAP_MALLOC));
    check(mprof_start(argv[1]));
    atomic_fetch_add(&ready, 1);
    int turns = 0;
    while (atomic_load(&left) > 0) {
        cl_funcall(2, dive, ecl_make_fixnum(DEPTH - 1));
        turns++;
        look();
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    check(mprof_stop());
    printf("%d %d\n", turns * DEPTH, THREADS * ROUNDS);
    cl_shutdown();
    return 3;
}
