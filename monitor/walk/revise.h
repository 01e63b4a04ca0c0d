/* revise.h - set marks where they pay off for walks by cells. */
#ifndef MONITOR_WALK_REVISE_H
#define MONITOR_WALK_REVISE_H

#include <stddef.h>

struct mprof__memo;

/* After a walk that came by the first N cells of `visited`, all of them with
 * their nodes, to a mark or to the first frame: when it is time for a review,
 * or the stretch is long. */
void mprof__revise_marks(struct mprof__memo *memo, size_t n);

#endif
