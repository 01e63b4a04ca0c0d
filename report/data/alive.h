/* alive.h - a profile of what is alive. */
#ifndef REPORT_DATA_ALIVE_H
#define REPORT_DATA_ALIVE_H

#include "report/data/profile.h"

/* Let what is alive of P's Lisp heap, which P knows, stand for all that was
 * allocated there.  Chains that had no room are their innermost functions. */
void report__keep_alive(struct report__profile *p);

#endif
