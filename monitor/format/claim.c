/* claim.c - see claim.h. */
#define _GNU_SOURCE
#include "monitor/format/claim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "monitor/format/process.h"

static const struct flock whole_file = {.l_type = F_WRLCK,
                                        .l_whence = SEEK_SET};

void mprof__claim_lock(int fd) {
    struct flock lock = whole_file;
    int saved = errno;
    fcntl(fd, F_OFD_SETLK, &lock);
    errno = saved;
}

static bool is_locked(int fd) {
    struct flock lock = whole_file;
    return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

static enum mprof__claim others(int error) {
    errno = error;
    return MPROF__OTHERS;
}

static enum mprof__claim judge(int fd, const struct mprof_header *header,
                               uint64_t image) {
    bool here = header->pid == (uint32_t)getpid();
    /* Other versions contain less about their process. */
    if (header->version != MPROF_VERSION) {
        bool ended = header->state == MPROF_CLOSED ||
                     !mprof__process_exists(header->pid);
        return is_locked(fd) || !ended ? others(EBUSY) : MPROF__ENDED;
    }
    const struct mprof__process process = {.boot = header->boot,
                                           .pids = header->pids,
                                           .forked = header->forked,
                                           .pid = header->pid};
    enum mprof__fate fate = mprof__process_fate(&process);
    if (here && fate == MPROF__RUNS && header->image == image)
        return MPROF__OURS;
    if (is_locked(fd))
        return others(EBUSY);
    if (here && fate == MPROF__RUNS)
        return MPROF__EARLIER;
    return fate == MPROF__HAS_ENDED ? MPROF__ENDED : others(EBUSY);
}

enum mprof__claim mprof__claim_open(int fd, uint64_t image,
                                    struct mprof_header *header) {
    struct stat st;
    if (fstat(fd, &st) != 0)
        return MPROF__OTHERS;
    if (!S_ISREG(st.st_mode))
        return others(S_ISDIR(st.st_mode) ? EISDIR : EINVAL);
    if (st.st_uid != geteuid())
        return others(EEXIST);
    bool is_data =
        pread(fd, header, sizeof *header, 0) == sizeof *header &&
        memcmp(header->magic, MPROF_MAGIC, sizeof header->magic) == 0;
    if (is_data)
        return judge(fd, header, image);
    /* A program is about to begin it. */
    if (is_locked(fd))
        return others(EBUSY);
    return st.st_size == 0 ? MPROF__FREE : others(EEXIST);
}

enum mprof__claim mprof__claim(const char *path, uint64_t image,
                               struct mprof_header *header) {
    struct stat st;
    /* No device is so much as opened. */
    if (lstat(path, &st) != 0)
        return errno == ENOENT ? MPROF__FREE : MPROF__OTHERS;
    if (!S_ISREG(st.st_mode))
        return others(S_ISDIR(st.st_mode)   ? EISDIR
                      : S_ISLNK(st.st_mode) ? ELOOP
                                            : EINVAL);
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? MPROF__FREE : MPROF__OTHERS;
    enum mprof__claim claim = mprof__claim_open(fd, image, header);
    int saved = errno;
    close(fd);
    errno = saved;
    return claim;
}
