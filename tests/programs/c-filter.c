/* c-filter.c - a program that forbids itself nearly all system calls, and goes
 * on.  Arguments: what becomes of the others, "errno" or "kill", and the names
 * of those that it allows itself beside its own. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALL(name)                                                             \
    { #name, SYS_##name }
static const struct {
    const char *name;
    int number;
} calls[] = {
    CALL(clock_gettime), CALL(close),          CALL(fallocate),
    CALL(fcntl),         CALL(fstat),          CALL(ftruncate),
    CALL(futex),         CALL(getcwd),         CALL(getpid),
    CALL(gettid),        CALL(madvise),        CALL(membarrier),
    CALL(mincore),       CALL(mmap),           CALL(munmap),
    CALL(newfstatat),    CALL(openat),         CALL(prctl),
    CALL(prlimit64),     CALL(read),           CALL(readlink),
    CALL(tgkill),        CALL(rt_sigprocmask), CALL(sched_yield),
    CALL(sigaltstack),   CALL(pwritev),
};
enum { KNOWN = sizeof calls / sizeof calls[0] };

/* The program's own */
static const int own[] = {SYS_write, SYS_exit_group, SYS_brk, SYS_rt_sigreturn};
enum { OWN = sizeof own / sizeof own[0] };

static struct sock_filter filter[2 * (KNOWN + OWN) + 4];
static unsigned short length;

static void add(unsigned short code, unsigned jt, unsigned jf, unsigned k) {
    filter[length++] =
        (struct sock_filter){code, (unsigned char)jt, (unsigned char)jf, k};
}

static void allow(int number) {
    add(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, (unsigned)number);
    add(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
}

static int number_of(const char *name) {
    for (int i = 0; i < KNOWN; i++)
        if (strcmp(calls[i].name, name) == 0)
            return calls[i].number;
    fprintf(stderr, "%s: no such call\n", name);
    exit(2);
}

static int forbid(int count, char **arguments) {
    struct sock_fprog program = {.filter = filter};
    add(BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr));
    for (int i = 0; i < OWN; i++)
        allow(own[i]);
    for (int i = 2; i < count; i++)
        allow(number_of(arguments[i]));
    add(BPF_RET | BPF_K, 0, 0,
        strcmp(arguments[1], "kill") == 0 ? SECCOMP_RET_KILL_PROCESS
                                          : SECCOMP_RET_ERRNO | EPERM);
    program.len = length;
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) |
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static void *kept[20000];

/* Chains that differ, so that the data grow */
static void go(unsigned path, int depth);
static void left(unsigned path, int depth) {
    go(path, depth);
    __asm__ volatile("" ::: "memory"); /* no tail call */
}
static void right(unsigned path, int depth) {
    go(path, depth);
    __asm__ volatile("" ::: "memory");
}
static void go(unsigned path, int depth) {
    if (depth == 0) {
        kept[path] = malloc(30);
        return;
    }
    (path >> (depth - 1) & 1 ? left : right)(path, depth - 1);
    __asm__ volatile("" ::: "memory");
}

int main(int count, char **arguments) {
    static char buffer[100];
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    for (unsigned i = 0; i < 100; i++)
        go(i, 14);
    if (count < 2 || forbid(count, arguments) != 0)
        return 1;
    for (unsigned i = 0; i < 10000; i++)
        go(i, 14);
    for (unsigned i = 0; i < 10000; i++)
        free(kept[i]);
    puts("done");
    return 0;
}
