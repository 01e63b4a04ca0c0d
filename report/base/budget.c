/* budget.c - see budget.h. */
#include "report/base/budget.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/base/pool.h"

/* Bytes in all that a program of no size takes, and for each byte of a file. */
#define LEAST ((uint64_t)256 << 20)
enum { FOR_A_BYTE = 64, MOST_FILES = 4096, BLOCK = 512 };

static bool begun;
static struct {
    dev_t device;
    ino_t inode;
} files[MOST_FILES];
static size_t count;

/* Allow BYTES more, but no more than the process may have at all. */
static void allow(uint64_t bytes) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0)
        return;
    bool enough = limit.rlim_max != RLIM_INFINITY &&
                  limit.rlim_max - limit.rlim_cur <= bytes;
    limit.rlim_cur = enough ? limit.rlim_max : limit.rlim_cur + bytes;
    setrlimit(RLIMIT_AS, &limit);
}

/* Bytes of addresses that the process has. */
static uint64_t used(void) {
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file)
        return 0;
    if (fscanf(file, "%lu", &pages) != 1)
        pages = 0;
    fclose(file);
    return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

void report__budget_begin(void) {
    struct rlimit limit;
    uint64_t bytes = used();
    /* A sanitizer's own memory is most of the addresses that there are. */
    if (MPROF_SANITIZED || bytes == 0 || getrlimit(RLIMIT_AS, &limit) != 0 ||
        limit.rlim_cur != RLIM_INFINITY)
        return;
    limit.rlim_cur = bytes;
    if (setrlimit(RLIMIT_AS, &limit) == 0) {
        begun = true;
        allow(LEAST);
    }
}

static bool is_new(const struct stat *status) {
    for (size_t i = 0; i < count; i++)
        if (files[i].device == status->st_dev &&
            files[i].inode == status->st_ino)
            return false;
    if (count == MOST_FILES)
        return false;
    files[count].device = status->st_dev;
    files[count++].inode = status->st_ino;
    return true;
}

void report__budget_add(int fd) {
    struct stat status;
    if (!begun || fstat(fd, &status) != 0 || !is_new(&status))
        return;
    /* A hole cannot demand anything. */
    uint64_t there = (uint64_t)status.st_blocks * BLOCK;
    uint64_t size = (uint64_t)status.st_size;
    allow((size < there ? size : there) * FOR_A_BYTE);
}
