/* process.c - see process.h. */
#define _GNU_SOURCE
#include "monitor/format/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SLACK 1000000000u /* ns that the time of day may be set back by */

uint64_t mprof__clock(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t mprof__process_clock(void) {
    return mprof__clock(CLOCK_BOOTTIME);
}

/* The time of the boot, ns since 1970, by the time of day that is set now. */
static uint64_t boot_time(void) {
    return mprof__clock(CLOCK_REALTIME) - mprof__clock(CLOCK_BOOTTIME);
}

bool mprof__process_booted_since(uint64_t time) {
    return time + SLACK < boot_time();
}

uint64_t mprof__process_start(uint32_t pid) {
    char text[1024];
    snprintf(text, sizeof text, "/proc/%lu/stat", (unsigned long)pid);
    int fd = open(text, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0)
        return 0;
    text[n] = '\0';
    /* Field 22; the second is the name, in parentheses. */
    const char *p = strrchr(text, ')');
    for (int field = 2; p != NULL && field < 22; field++)
        p = strchr(p + 1, ' ');
    if (p == NULL)
        return 0;
    uint64_t ticks = strtoull(p + 1, NULL, 10);
    return ticks * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
}

uint64_t mprof__process_pipe(int fd) {
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISFIFO(st.st_mode))
        return 0;
    return (uint64_t)st.st_dev << 48 ^ (uint64_t)st.st_ino;
}

bool mprof__process_runs(uint32_t pid, uint64_t time) {
    if (pid == 0 || pid > INT32_MAX ||
        (kill((pid_t)pid, 0) != 0 && errno != EPERM))
        return false;
    return boot_time() + mprof__process_start(pid) <= time + SLACK;
}
