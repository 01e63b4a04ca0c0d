/* create.c - see create.h. */
#define _GNU_SOURCE
#include "monitor/format/create.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

#include "monitor/format/process.h"

enum { MOST_TRIES = 100 };

int mprof__create(const char *path, mode_t mode) {
    return open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
}

static uint64_t any_number(void) {
    uint64_t number = mprof__process_clock() ^ (uint64_t)getpid() << 32;
    uint64_t random;
    if (getrandom(&random, sizeof random, GRND_NONBLOCK) == sizeof random)
        number ^= random;
    return number;
}

int mprof__create_beside(const char *target, char *name, size_t size,
                         mode_t mode) {
    for (int i = 0; i < MOST_TRIES; i++) {
        int n = snprintf(name, size, "%s.%016llx.tmp", target,
                         (unsigned long long)any_number());
        if (n < 0 || (size_t)n >= size) {
            errno = ENAMETOOLONG;
            return -1;
        }
        int fd = mprof__create(name, mode);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}
