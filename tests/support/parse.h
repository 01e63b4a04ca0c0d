/* parse.h - reading a data file that is in memory, for tests. */
#ifndef TESTS_SUPPORT_PARSE_H
#define TESTS_SUPPORT_PARSE_H

#include <sys/syscall.h>
#include <unistd.h>

#include "report/data/profile.h"

/* A file with these SIZE bytes, to be closed. */
static inline int file_of(const void *data, size_t size) {
    int fd = (int)syscall(SYS_memfd_create, "data", 0);
    assert_true(fd >= 0 && (size_t)write(fd, data, size) == size);
    return fd;
}

/* The profile, with calls, of such a file, which messages call NAME. */
static inline struct report__profile *parse_bytes(struct report__pool *pool,
                                                  const char *name,
                                                  const void *data, size_t size,
                                                  const char **error) {
    int fd = file_of(data, size);
    struct report__profile *p = report__read_file(pool, name, fd, size, error);
    close(fd);
    return p;
}

#endif
