/* golden.h - the command's output, and files that hold what it should be. */
#ifndef MPROF_TESTS_GOLDEN_H
#define MPROF_TESTS_GOLDEN_H

#include "tests/support/datafile.h"

/* Write D to the file NAME. */
void golden_save(const struct datafile *d, const char *name);

/* A text file of the tests; NULL when it is not there. */
char *golden_read(const char *path);

/* Run the command with ARGUMENTS; the caller frees *OUT and *ERR. */
int golden_run(const char *const *arguments, char **out, char **err);

#define RUN(out, err, ...)                                                     \
    golden_run((const char *const[]){__VA_ARGS__, NULL}, out, err)

/* Fails unless TEXT is what tests/data/NAME.golden holds; it is in NAME.result
 * then. */
void golden_check(const char *text, const char *name);

/* Make D the data of figures 3 to 5 of the paper, for Lisp; its tables are in
 * widgets.golden. */
void golden_widgets(struct datafile *d);

#endif
