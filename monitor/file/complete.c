/* complete.c - see complete.h.
 *
 * Files are read, not mapped: others may cut them meanwhile.
 */
#define _GNU_SOURCE
#include "monitor/file/complete.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

#include "monitor/format/claim.h"
#include "monitor/format/crc.h"
#include "monitor/format/process.h"
#include "monitor/unwind/arch.h"

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

/* It recorded until now. */
static bool pass_time(int fd, struct mprof_header *header) {
    uint64_t now = mprof__process_clock();
    if (header->saved == 0 || now < header->saved)
        return true;
    header->duration += now - header->saved;
    header->saved = now;
    return pwrite(fd, &header->duration, sizeof header->duration,
                  offsetof(struct mprof_header, duration)) ==
               sizeof header->duration &&
           pwrite(fd, &header->saved, sizeof header->saved,
                  offsetof(struct mprof_header, saved)) == sizeof header->saved;
}

static void complete(int fd, struct mprof_header *header) {
    uint32_t crc, closed = MPROF_CLOSED;
    if (pass_time(fd, header) && sum(fd, header, &crc) &&
        ftruncate(fd, (off_t)header->used) == 0 &&
        pwrite(fd, &crc, sizeof crc, offsetof(struct mprof_header, crc)) ==
            sizeof crc &&
        pwrite(fd, &closed, sizeof closed,
               offsetof(struct mprof_header, state)) != sizeof closed)
        errno = EIO; /* it remains an open one */
}

uint64_t mprof__complete_earlier(const char *path) {
    struct mprof_header header;
    uint64_t live = 0;
    struct stat st;
    int saved = errno;
    int fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 &&
        mprof__claim_open(fd, mprof__image_id(), &header) == MPROF__EARLIER &&
        fstat(fd, &st) == 0 && st.st_nlink == 1 && is_whole(&header, &st)) {
        complete(fd, &header);
        if (header.grouped)
            live = header.loads[header.newer_load & 1].live;
    }
    if (fd >= 0)
        close(fd);
    errno = saved;
    return live;
}
