/* verdicts.h - how limits are kept, for tools that show tests. */
#ifndef REPORT_EXPORT_VERDICTS_H
#define REPORT_EXPORT_VERDICTS_H

#include <stdio.h>

#include "report/tables/limits.h"

/* Write TAP, version 13, for prove(1): a test for each limit. */
void report__export_tap(FILE *out, const struct report__verdicts *verdicts,
                        struct report__pool *pool);

/* Write JUnit's XML, for servers of continuous integration; WHAT ran. */
void report__export_junit(FILE *out, const struct report__verdicts *verdicts,
                          const char *what, struct report__pool *pool);

#endif
