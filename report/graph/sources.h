/* sources.h - where the source of Lisp functions stands. */
#ifndef REPORT_GRAPH_SOURCES_H
#define REPORT_GRAPH_SOURCES_H

#include "report/data/profile.h"
#include "report/elf/symbols.h"

/* By function of PROFILE: the file in which it was defined, NULL where that is
 * not known, and the line where the form begins that did it; 0 where the file
 * is not here, was changed after PROFILE was recorded, is no plain file, is
 * shorter, or is larger than sources are.  Reads these files, each once, and
 * all together no more than some hundred megabytes.  In POOL. */
const struct report__place *
report__find_sources(struct report__pool *pool,
                     const struct report__profile *profile);

#endif
