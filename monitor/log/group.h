/* group.h - what lives in all processes of a run, in a file that they share. */
#ifndef MONITOR_LOG_GROUP_H
#define MONITOR_LOG_GROUP_H

#include <stdbool.h>
#include <stdint.h>

struct mprof_group;

struct mprof__group {
    struct mprof_group *shared; /* NULL: none */
    bool cut;                   /* another process has cut the file; atomic */
};

/* Be one of those that share the file PATH.  False: errno says why not. */
bool mprof__group_join(struct mprof__group *group, const char *path);

/* As many bytes more live here, or less; any process at any time. */
void mprof__group_change(const struct mprof__group *group, int64_t bytes);

/* This process ends, or what it recorded is forgotten: nothing lives of LIVE.
 */
void mprof__group_leave(struct mprof__group *group, int64_t live);

/* Let go of it, as what another process does. */
void mprof__group_forget(struct mprof__group *group);

#endif
