/* alive.h - a profile of what is alive. */
#ifndef REPORT_DATA_ALIVE_H
#define REPORT_DATA_ALIVE_H

#include "report/data/profile.h"

/* Replace the allocations in P's Lisp heap by the live objects, which P knows.
 * Chains without space are reduced to their innermost functions. */
void report__keep_alive(struct report__profile *p);

#endif
