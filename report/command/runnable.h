/* runnable.h - can a program be recorded by what is preloaded? */
#ifndef REPORT_COMMAND_RUNNABLE_H
#define REPORT_COMMAND_RUNNABLE_H

#include <stdbool.h>

/* Why nothing of PROGRAM, found as execvp() finds it, will be recorded; NULL:
 * there is no reason, or it is not known.  *CLASHES: it would not run with
 * another malloc() before its own, or with the C library of that. */
const char *report__not_recordable(const char *program, bool *clashes);

#endif
