/* group.c - see group.h. */
#include "report/data/group.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

bool report__read_group(const char *name, struct mprof_group *group) {
    int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd < 0 ? -1 : pread(fd, group, sizeof *group, 0);
    if (fd >= 0)
        close(fd);
    return n == (ssize_t)sizeof *group &&
           memcmp(group->magic, MPROF_GROUP_MAGIC, sizeof group->magic) == 0;
}
