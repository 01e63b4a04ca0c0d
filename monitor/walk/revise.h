/* revise.h - set marks where they pay off for walks by cells. */
#ifndef MONITOR_WALK_REVISE_H
#define MONITOR_WALK_REVISE_H

#include <stdbool.h>
#include <stddef.h>

struct mprof__memo;

enum {
    MPROF__MARKS_SPACE = 6,    /* frames between marks in a long stretch */
    MPROF__MARKS_CLEARANCE = 4 /* frames inside of the last of these */
};

/* Return true if N frames without a mark are so many that more marks pay off at
 * once. */
static inline bool mprof__stretch_is_long(size_t n) {
    return n - 1 > MPROF__MARKS_SPACE + MPROF__MARKS_CLEARANCE;
}

/* After a walk that came by the first N cells of `visited`, all of them with
 * their nodes, to a mark or to the first frame: when it is time for a review,
 * or the stretch is long. */
void mprof__revise_marks(struct mprof__memo *memo, size_t n);

#endif
