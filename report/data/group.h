/* group.h - the sum over the processes of a run; see monitor/format/group.h. */
#ifndef REPORT_DATA_GROUP_H
#define REPORT_DATA_GROUP_H

#include <stdbool.h>

#include "monitor/format/group.h"

/* Read it from the file NAME; false: that is none. */
bool report__read_group(const char *name, struct mprof_group *group);

static inline bool report__is_group(const char *name) {
    struct mprof_group group;
    return report__read_group(name, &group);
}

#endif
