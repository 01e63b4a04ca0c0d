/* debug_link.c - see debug_link.h. */
#include "report/elf/debug_link.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "monitor/format/crc.h"

bool report__debug_crc(int fd, uint32_t crc) {
    unsigned char buffer[65536];
    uint32_t sum = 0;
    ssize_t n;
    off_t at = 0;

    while ((n = pread(fd, buffer, sizeof buffer, at)) > 0) {
        sum = mprof__crc32(sum, buffer, (size_t)n);
        at += n;
    }
    return n == 0 && sum == crc;
}

bool report__debug_link(const char *file, const char *name,
                        bool (*try)(const char *path, void *data), void *data) {
    static const char *const patterns[] = {"%.*s%s", "%.*s.debug/%s",
                                           "/usr/lib/debug%.*s%s"};
    char path[2 * PATH_MAX];
    char *real = realpath(file, NULL);
    bool found = false;

    if (name && !strchr(name, '/') && real) {
        int folder = (int)(strrchr(real, '/') + 1 - real);
        for (int i = 0; i < 3 && !found; i++) {
            int n =
                snprintf(path, sizeof path, patterns[i], folder, real, name);
            found = n < (int)sizeof path && strcmp(path, real) != 0 &&
                    try(path, data);
        }
    }
    free(real);
    return found;
}
