/* scc.h - the strongly connected components of a directed graph. */
#ifndef REPORT_BASE_SCC_H
#define REPORT_BASE_SCC_H

#include <stdint.h>

#include "report/base/pool.h"

/* Find the strongly connected components: COMPONENT, by vertex, becomes a
 * number from 0; callees have lower numbers than their callers.  Vertex V
 * calls targets[first[V]] to targets[first[V + 1] - 1].  Returns how many
 * components there are. */
uint32_t report__components(struct report__pool *pool, uint32_t vertices,
                            const uint32_t *first, const uint32_t *targets,
                            uint32_t *component);

#endif
