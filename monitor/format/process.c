/* process.c - see process.h. */
#define _GNU_SOURCE
#include "monitor/format/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

uint64_t mprof__clock(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t mprof__process_clock(void) {
    return mprof__clock(CLOCK_BOOTTIME);
}

/* The beginning of the file PATH, or "". */
static void read_text(const char *path, char *text, size_t size) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, size - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
}

uint64_t mprof__process_start(uint32_t pid) {
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%lu/stat", (unsigned long)pid);
    read_text(path, text, sizeof text);
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

bool mprof__process_is_secure(void) {
    return getauxval(AT_SECURE) != 0;
}

bool mprof__process_exists(uint32_t pid) {
    return pid != 0 && pid <= INT32_MAX &&
           (kill((pid_t)pid, 0) == 0 || errno == EPERM);
}

/* The boot's own number, which is random. */
static uint64_t boot(void) {
    char text[64], *at = text;
    uint64_t number = 0;
    read_text("/proc/sys/kernel/random/boot_id", text, sizeof text);
    /* Sixteen hexadecimal digits of it: eight, four and four. */
    for (int i = 0; i < 3; i++)
        number = number << 16 | strtoull(at + (*at == '-'), &at, 16);
    return number;
}

static uint64_t pid_namespace(void) {
    struct stat st;
    return stat("/proc/self/ns/pid", &st) == 0 ? (uint64_t)st.st_ino : 0;
}

struct mprof__process mprof__process_self(void) {
    int saved = errno;
    uint32_t pid = (uint32_t)getpid();
    struct mprof__process self = {.boot = boot(),
                                  .pids = pid_namespace(),
                                  .forked = mprof__process_start(pid),
                                  .pid = pid};
    errno = saved;
    return self;
}

enum mprof__fate mprof__process_fate(const struct mprof__process *process) {
    if (process->boot != boot())
        return MPROF__HAS_ENDED;
    if (process->pids != pid_namespace())
        return MPROF__NOT_KNOWN;
    return mprof__process_exists(process->pid) &&
                   mprof__process_start(process->pid) == process->forked
               ? MPROF__RUNS
               : MPROF__HAS_ENDED;
}

/* Of this process, in the child of a fork, which writes it before it goes on.
 */
static uint64_t fork_id;

void mprof__image_forked(void) {
    if (getrandom(&fork_id, sizeof fork_id, GRND_NONBLOCK) != sizeof fork_id)
        fork_id += mprof__process_clock();
}

uint64_t mprof__image_id(void) {
    uint64_t id = 0;
    /* Random bytes from the kernel; a child that was forked has them too. */
    const void *random = (const void *)getauxval(AT_RANDOM);
    if (random != NULL)
        memcpy(&id, random, sizeof id);
    return id ^ (uint64_t)getpid() ^ fork_id;
}
