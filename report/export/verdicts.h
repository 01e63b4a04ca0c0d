/* verdicts.h - how limits are kept, for tools that show tests. */
#ifndef REPORT_EXPORT_VERDICTS_H
#define REPORT_EXPORT_VERDICTS_H

#include <stdio.h>

#include "report/tables/limits.h"

/* What prove(1) reads: TAP, version 13, a test for each limit. */
void report__export_tap(FILE *out, const struct report__verdicts *verdicts,
                        struct report__pool *pool);

/* JUnit's XML, as servers for continuous integration read it; WHAT ran. */
void report__export_junit(FILE *out, const struct report__verdicts *verdicts,
                          const char *what, struct report__pool *pool);

#endif
