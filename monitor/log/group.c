/* group.c - see group.h. */
#define _GNU_SOURCE
#include "monitor/log/group.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "monitor/base/atomic.h"
#include "monitor/format/group.h"
#include "monitor/file/cut.h"

bool mprof__group_join(struct mprof__group *group, const char *path) {
    struct stat st;
    int fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    void *shared = MAP_FAILED;
    if (fd < 0)
        return false;
    errno = EINVAL;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
        st.st_size == sizeof *group->shared)
        shared = mmap(NULL, sizeof *group->shared, PROT_READ | PROT_WRITE,
                      MAP_SHARED, fd, 0);
    int saved = errno;
    close(fd);
    errno = saved;
    if (shared == MAP_FAILED)
        return false;
    mprof__cut_watch_region(shared, sizeof *group->shared, &group->cut);
    group->shared = shared;
    mprof__add_relaxed(&group->shared->joined, 1);
    return true;
}

void mprof__group_change(const struct mprof__group *group, int64_t bytes) {
    struct mprof_group *all = group->shared;
    if (all == NULL || bytes == 0)
        return;
    uint64_t live = mprof__add_ordered(&all->live, (uint64_t)bytes);
    uint64_t peak = mprof__load_relaxed(&all->peak);
    while ((int64_t)live > (int64_t)peak &&
           !mprof__replace(&all->peak, &peak, live))
        ;
}

void mprof__group_leave(struct mprof__group *group, int64_t live) {
    if (group->shared == NULL)
        return;
    mprof__group_change(group, -live);
    mprof__add_relaxed(&group->shared->ended, 1);
    mprof__group_forget(group);
}

void mprof__group_forget(struct mprof__group *group) {
    if (group->shared == NULL)
        return;
    mprof__cut_unwatch_region((const char *)group->shared);
    munmap(group->shared, sizeof *group->shared);
    group->shared = NULL;
}
