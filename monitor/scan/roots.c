/* roots.c - see roots.h. */
#define _GNU_SOURCE
#include "monitor/scan/roots.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int mprof__mappings_lines(int (*visit)(char *line, void *data), void *data) {
    char buffer[PATH_MAX + 256];
    size_t have = 0;
    int error = 0;
    ssize_t n = 1;
    bool skips = false; /* the rest of a long line */
    int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return errno;
    while (error == 0 && n > 0) {
        n = read(file, buffer + have, sizeof buffer - 1 - have);
        if (n < 0 && errno == EINTR) {
            n = 1;
            continue;
        }
        have += n > 0 ? (size_t)n : 0;
        char *line = buffer, *end;
        while (error == 0 &&
               (end = memchr(line, '\n', have - (size_t)(line - buffer)))) {
            *end = '\0';
            if (!skips)
                error = visit(line, data);
            skips = false;
            line = end + 1;
        }
        have -= (size_t)(line - buffer);
        memmove(buffer, line, have);
        if (have == sizeof buffer - 1) {
            buffer[have] = '\0';
            if (!skips && error == 0)
                error = visit(buffer, data);
            skips = true;
            have = 0;
        }
    }
    if (n < 0)
        error = errno;
    close(file);
    return error;
}

static bool begins(const char *text, const char *start) {
    return strncmp(text, start, strlen(start)) == 0;
}

/* "start-end rwxp offset device inode   path" */
static int add_line(char *line, void *data) {
    struct mprof__mappings *all = data;
    struct mprof__mapping m = {0}, *last = &all->list[all->count];
    char *at = line;
    m.start = strtoull(at, &at, 16);
    if (*at++ != '-')
        return EINVAL;
    m.end = strtoull(at, &at, 16);
    if (*at++ != ' ' || strlen(at) < 4 || m.end <= m.start)
        return EINVAL;
    m.readable = at[0] == 'r';
    m.writable = at[1] == 'w';
    m.own = at[3] == 'p';
    for (int blanks = 0; *at != '\0' && blanks < 4; at++)
        blanks += *at == ' ';
    while (*at == ' ')
        at++;
    m.heap = strcmp(at, "[heap]") == 0;
    m.stack = strcmp(at, "[stack]") == 0;
    m.device = (begins(at, "/dev/") && !begins(at, "/dev/shm/") &&
                !begins(at, "/dev/zero")) ||
               begins(at, "/sys/") || begins(at, "/proc/") ||
               strcmp(at, "[vvar]") == 0;
    m.own &= *at == '\0' || begins(at, "[anon");
    const char *name = strrchr(at, '/');
    m.libc = name != NULL && begins(name, "/libc.so");
    if (all->count > 0)
        m.stack |= last[-1].end == m.start && !last[-1].readable;
    if (all->count == all->room)
        return EAGAIN;
    *last = m;
    all->count++;
    return 0;
}

int mprof__mappings_read(struct mprof__mappings *all) {
    all->count = 0;
    return mprof__mappings_lines(add_line, all);
}

const struct mprof__mapping *
mprof__mapping_at(const struct mprof__mappings *all, uintptr_t address) {
    size_t low = 0, high = all->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (all->list[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    const struct mprof__mapping *m = &all->list[low];
    return low < all->count && m->start <= address ? m : NULL;
}

/* Bits of a page in pagemap, see proc(5): it is there, or swapped out. */
#define PRESENT ((uint64_t)3 << 62)

void mprof__present(int pagemap, uintptr_t start, uintptr_t end,
                    void (*visit)(uintptr_t start, uintptr_t end, void *data),
                    void *data) {
    enum { MANY = 512 };
    uint64_t pages[MANY];
    uintptr_t size = (uintptr_t)sysconf(_SC_PAGESIZE);
    /* Not worth a call of the system */
    if (pagemap < 0 || end - start <= 4 * size) {
        visit(start, end, data);
        return;
    }
    while (start < end) {
        uintptr_t first = start / size, count = (end + size - 1) / size - first;
        if (count > MANY)
            count = MANY;
        ssize_t n = pread(pagemap, pages, count * 8, (off_t)(first * 8));
        if (n < 8) {
            visit(start, end, data);
            return;
        }
        count = (uintptr_t)n / 8;
        for (uintptr_t i = 0; i < count; i++) {
            uintptr_t from = (first + i) * size, to = from + size;
            if (pages[i] & PRESENT)
                visit(from > start ? from : start, to < end ? to : end, data);
        }
        start = (first + count) * size;
    }
}
