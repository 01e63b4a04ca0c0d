/* invariant.c - see invariant.h. */
#include "monitor/base/invariant.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void mprof__broken(const char *condition, const char *file, int line) {
    char text[512];
    snprintf(text, sizeof text,
             "mprof: %s:%d: an invariant does not hold: %s\n", file, line,
             condition);
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written;
    abort();
}
