/* embed.c - a C program with ECL inside that profiles a part of its run.
 *
 * Usage: embed [DATA-FILE]
 *
 * Build it with what `ecl-config --cflags --libs` and `pkg-config --cflags
 * --libs mprof` say, and with -fno-optimize-sibling-calls: else a function
 * whose last act is a call, such as pair() here, is gone when the callee
 * allocates.  C calls Lisp, Lisp calls C, and all of it is in one call graph:
 * main > run > EMBED::TURN (interpreted) > EMBED:PAIR (written in C) >
 * EMBED::SPREAD.  Without DATA-FILE nothing is recorded, and it runs alike.
 * With EMBED_COMPILED, a .fas, SPREAD is the compiled function in it.
 */
#include <ecl/ecl.h>
#include <stdio.h>
#include <stdlib.h>

#include "mprof.h"

enum { ROUNDS = 100 };

static cl_object spread, turn; /* symbols of package EMBED, which keeps them */

static cl_object evaluate(const char *text) {
    return cl_eval(c_string_to_object(text));
}

static void check(int error) {
    if (error == 0)
        return;
    fprintf(stderr, "embed: %s\n", mprof_strerror(error));
    exit(1);
}

/* Written in C, called from Lisp: two conses of its own, and SPREAD's. */
static cl_object pair(cl_object a, cl_object b) {
    return ecl_cons(a, ecl_cons(b, cl_funcall(2, spread, b)));
}

static void define(void) {
    evaluate("(defpackage \"EMBED\" (:use \"CL\") (:export \"PAIR\"))");
    ecl_def_c_function(ecl_make_symbol("PAIR", "EMBED"),
                       (cl_objectfn_fixed)pair, 2);
    evaluate("(defvar embed::*kept* nil)");
    evaluate("(defun embed::spread (n)"
             "  (setq embed::*kept* (cons n n)) (cons n n))");
    evaluate("(defun embed::turn () (embed:pair 1 2))");
    spread = ecl_make_symbol("SPREAD", "EMBED");
    turn = ecl_make_symbol("TURN", "EMBED");
    const char *compiled = getenv("EMBED_COMPILED");
    if (compiled != NULL)
        cl_load(1, ecl_make_simple_base_string(compiled, -1));
}

static cl_fixnum __attribute__((noinline)) run(void) {
    cl_fixnum total = 0;
    for (int i = 0; i < ROUNDS; i++)
        total += ecl_to_fixnum(cl_car(cl_funcall(1, turn)));
    return total;
}

int main(int argc, char **argv) {
    const char *file = argc > 1 ? argv[1] : NULL;
    cl_boot(1, argv);
    define();
    if (file != NULL)
        check(mprof_start(file));
    cl_fixnum total = run();
    if (file != NULL)
        check(mprof_stop());
    printf("%ld turns\n", (long)total);
    cl_shutdown();
    return 3;
}
