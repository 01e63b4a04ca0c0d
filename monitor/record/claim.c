/* claim.c - see claim.h.
 *
 * Files are read, not mapped: others may cut them meanwhile.
 */
#define _GNU_SOURCE
#include "monitor/record/claim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "monitor/format/crc.h"
#include "monitor/format/process.h"
#include "monitor/record/session.h"
#include "monitor/unwind/arch.h"

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

/* The process that HEADER names, which is of this version. */
static enum mprof__fate fate_of(const struct mprof_header *header) {
    struct mprof__process process = {.boot = header->boot,
                                     .pids = header->pids,
                                     .forked = header->forked,
                                     .pid = header->pid};
    return mprof__process_fate(&process);
}

static enum mprof__claim judge(int fd, const struct mprof_header *header) {
    bool here = header->pid == (uint32_t)getpid();
    /* Other versions do not tell so much of their process. */
    if (header->version != MPROF_VERSION) {
        bool ended = header->state == MPROF_CLOSED ||
                     !mprof__process_exists(header->pid);
        return is_locked(fd) || !ended ? others(EBUSY) : MPROF__ENDED;
    }
    enum mprof__fate fate = fate_of(header);
    if (here && fate == MPROF__RUNS && header->image == mprof__image_id())
        return MPROF__OURS;
    if (is_locked(fd))
        return others(EBUSY);
    if (here && fate == MPROF__RUNS)
        return MPROF__EARLIER;
    return fate == MPROF__HAS_ENDED ? MPROF__ENDED : others(EBUSY);
}

/* Whose the open file FD is. */
static enum mprof__claim examine(int fd, struct mprof_header *header,
                                 struct stat *st) {
    if (fstat(fd, st) != 0)
        return MPROF__OTHERS;
    if (!S_ISREG(st->st_mode))
        return others(S_ISDIR(st->st_mode) ? EISDIR : EINVAL);
    if (st->st_uid != geteuid())
        return others(EEXIST);
    if (st->st_size == 0)
        return is_locked(fd) ? others(EBUSY) : MPROF__FREE;
    if (pread(fd, header, sizeof *header, 0) != sizeof *header ||
        memcmp(header->magic, MPROF_MAGIC, sizeof header->magic) != 0)
        return others(EEXIST);
    return judge(fd, header);
}

enum mprof__claim mprof__claim(const char *path, struct mprof_header *header) {
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
    enum mprof__claim claim = examine(fd, header, &st);
    int saved = errno;
    close(fd);
    errno = saved;
    return claim;
}

/* The check sum that the file FD has when it is complete, from HEADER on.
 * False: it is shorter than HEADER says. */
static bool sum(int fd, const struct mprof_header *header, uint32_t *crc) {
    static char piece[65536]; /* one thread, with little stack, does this */
    struct mprof_header complete = *header;
    complete.state = MPROF_CLOSED;
    complete.crc = 0;
    *crc = mprof__crc32(0, &complete, sizeof complete);
    for (uint64_t at = sizeof complete; at < header->used;) {
        size_t wanted = sizeof piece;
        if (wanted > header->used - at)
            wanted = (size_t)(header->used - at);
        ssize_t n = pread(fd, piece, wanted, (off_t)at);
        if (n <= 0)
            return false;
        *crc = mprof__crc32(*crc, piece, (size_t)n);
        at += (uint64_t)n;
    }
    return true;
}

static bool is_whole(const struct mprof_header *header, const struct stat *st) {
    return header->version == MPROF_VERSION &&
           header->byte_order == MPROF_BYTE_ORDER &&
           header->header_bytes == MPROF_HEADER_BYTES &&
           header->machine == MPROF__ELF_MACHINE &&
           header->state == MPROF_OPEN && header->used % 8 == 0 &&
           header->used >= MPROF_HEADER_BYTES &&
           header->used <= (uint64_t)st->st_size;
}

static void complete(int fd, const struct mprof_header *header) {
    uint32_t crc, closed = MPROF_CLOSED;
    if (sum(fd, header, &crc) && ftruncate(fd, (off_t)header->used) == 0 &&
        pwrite(fd, &crc, sizeof crc, offsetof(struct mprof_header, crc)) ==
            sizeof crc &&
        pwrite(fd, &closed, sizeof closed,
               offsetof(struct mprof_header, state)) != sizeof closed)
        errno = EIO; /* it remains an open one */
}

void mprof__claim_complete(const char *path) {
    struct mprof_header header;
    struct stat st;
    int saved = errno;
    int fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 && examine(fd, &header, &st) == MPROF__EARLIER &&
        st.st_nlink == 1 && is_whole(&header, &st))
        complete(fd, &header);
    if (fd >= 0)
        close(fd);
    errno = saved;
}
