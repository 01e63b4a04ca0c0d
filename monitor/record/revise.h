/* revise.h - where marks are worth while for walks by cells. */
#ifndef MONITOR_RECORD_REVISE_H
#define MONITOR_RECORD_REVISE_H

#include <stdbool.h>
#include <stddef.h>

struct mprof__memo;
struct mprof__thread;

/* After a walk that came by the first N cells of `visited`, all of them with
 * their nodes, to a mark or to the first frame.  It is TIME for a review, or
 * not; a long stretch gets its marks at any time. */
void mprof__revise_marks(struct mprof__thread *thread, struct mprof__memo *memo,
                         size_t n, bool time);

#endif
