/* refuse.c - preloaded behind libmprof_malloc: system calls fail that the
 * monitor makes, and only these.
 *
 * Environment: REFUSE, the name of a function; REFUSE_AT, which of its calls
 * fails, from 1; REFUSE_EVER, if set, all from there on do; REFUSE_COUNT, a
 * file for the number of calls. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static const char *which;
static int at, calls;
static bool known, ever;

static void look(void) {
    const char *number = getenv("REFUSE_AT");
    which = getenv("REFUSE");
    at = number == NULL ? 0 : atoi(number);
    ever = getenv("REFUSE_EVER") != NULL;
    known = true;
}

/* At each call: the last ones are later than any destructor. */
static void tell(void) {
    const char *file = getenv("REFUSE_COUNT");
    char text[32];
    if (file == NULL)
        return;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, file,
                          O_WRONLY | O_CREAT | O_TRUNC, 0600);
    int n = sprintf(text, "%d\n", __atomic_load_n(&calls, __ATOMIC_RELAXED));
    if (write(fd, text, (size_t)n) != n)
        abort();
    syscall(SYS_close, fd);
}

/* Does this call of NAME, made from CALLER, fail? */
static bool refused(const char *name, const void *caller) {
    Dl_info from;
    if (!known)
        look();
    if (which == NULL || strcmp(which, name) != 0 ||
        dladdr(caller, &from) == 0 ||
        strstr(from.dli_fname, "libmprof_malloc") == NULL)
        return false;
    int call = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
    tell();
    return at != 0 && (ever ? call >= at : call == at);
}

#define REFUSED(name) refused(name, __builtin_return_address(0))

static int fail(int error) {
    errno = error;
    return -1;
}

void *mmap(void *place, size_t bytes, int rights, int flags, int fd, off_t at) {
    if (REFUSED("mmap")) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return (void *)syscall(SYS_mmap, place, bytes, rights, flags, fd, at);
}

int posix_fallocate(int fd, off_t at, off_t bytes) {
    if (REFUSED("posix_fallocate"))
        return ENOSPC;
    return syscall(SYS_fallocate, fd, 0, at, bytes) == 0 ? 0 : errno;
}

ssize_t pwritev(int fd, const struct iovec *from, int count, off_t at) {
    return REFUSED("pwritev") ? fail(EIO)
                              : syscall(SYS_pwritev, fd, from, count, at, 0);
}

int ftruncate(int fd, off_t bytes) {
    return REFUSED("ftruncate") ? fail(EIO)
                                : (int)syscall(SYS_ftruncate, fd, bytes);
}

int open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    int mode = flags & O_CREAT ? va_arg(rest, int) : 0;
    va_end(rest);
    return REFUSED("open")
               ? fail(EMFILE)
               : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int fstat(int fd, struct stat *status) {
    return REFUSED("fstat")
               ? fail(EIO)
               : (int)syscall(SYS_newfstatat, fd, "", status, AT_EMPTY_PATH);
}

int fcntl(int fd, int command, ...) {
    va_list rest;
    va_start(rest, command);
    long argument = va_arg(rest, long);
    va_end(rest);
    return REFUSED("fcntl") ? fail(EMFILE)
                            : (int)syscall(SYS_fcntl, fd, command, argument);
}

int madvise(void *place, size_t bytes, int advice) {
    return REFUSED("madvise") ? fail(EINVAL)
                              : (int)syscall(SYS_madvise, place, bytes, advice);
}

ssize_t read(int fd, void *to, size_t bytes) {
    return REFUSED("read") ? fail(EIO) : syscall(SYS_read, fd, to, bytes);
}

int munmap(void *place, size_t bytes) {
    return REFUSED("munmap") ? fail(ENOMEM)
                             : (int)syscall(SYS_munmap, place, bytes);
}

/* membarrier(), which has no function of its own */
long syscall(long number, ...) {
    static long (*next)(long, ...);
    va_list rest;
    va_start(rest, number);
    long a[6];
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(rest, long);
    va_end(rest);
    if (number == SYS_membarrier && REFUSED("membarrier"))
        return fail(EPERM);
    if (next == NULL)
        next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
