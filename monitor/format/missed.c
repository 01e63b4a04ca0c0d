/* missed.c - see missed.h. */
#define _GNU_SOURCE
#include "monitor/format/missed.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "monitor/format/create.h"
#include "monitor/format/paths.h"

bool mprof__missed_name(const char *data, char *name, size_t size) {
    int folder = (int)(mprof__base_name(data) - data);
    int n = snprintf(name, size, "%.*s.%s.missed", folder, data, data + folder);
    return data[folder] != '\0' && n > 0 && (size_t)n < size;
}

void mprof__missed_add(const char *data, const char *file, const char *why) {
    char name[PATH_MAX], line[200];
    int saved = errno;
    int n = snprintf(line, sizeof line, "%.80s (%s)\n", mprof__base_name(file),
                     why);
    int fd =
        mprof__missed_name(data, name, sizeof name)
            ? open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW,
                   MPROF__PRIVATE)
            : -1;
    if (fd >= 0 && n > 0 && write(fd, line, (size_t)n) < 0)
        errno = 0; /* then no error is printed */
    if (fd >= 0)
        close(fd);
    errno = saved;
}

void mprof__missed_read(const char *data, char *text, size_t size) {
    char name[PATH_MAX], lines[2048];
    struct stat status;
    text[0] = '\0';
    /* Mostly there is none, and the program may have forbidden to open any. */
    int fd =
        mprof__missed_name(data, name, sizeof name) && stat(name, &status) == 0
            ? open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
            : -1;
    ssize_t n = fd < 0 ? 0 : read(fd, lines, sizeof lines - 1);
    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return;
    lines[n] = '\0';
    /* Names are the program's, and terminals obey control characters. */
    for (unsigned char *at = (unsigned char *)lines; *at != '\0'; at++)
        if ((*at < ' ' && *at != '\n') || *at == '\177')
            *at = '?';
    int more = -1;
    for (const char *at = lines; (at = strchr(at, '\n')) != NULL; at++)
        more++;
    lines[strcspn(lines, "\n")] = '\0';
    if (more > 0)
        snprintf(text, size, "%s, and %d more", lines, more);
    else
        snprintf(text, size, "%s", lines);
}
