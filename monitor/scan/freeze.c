/* freeze.c - see freeze.h. */
#define _GNU_SOURCE
#include "monitor/scan/freeze.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "monitor/base/self.h"
#include "monitor/base/table.h"

/* States of a freezer: both processes wait for the next one. */
enum { PREPARED, WANTED, FROZEN, FAILED, OVER };

enum {
    STACK = 64 << 10,   /* bytes, of the helper */
    PATIENCE = 1 << 10, /* looks at one thread, about 1 ms apart */
    MOST_MOMENTS = 100, /* that a busy thread has to go on */
    LEAST_ROOM = 64     /* threads that may begin meanwhile */
};

static void wait_shortly(long ns) {
    struct timespec pause = {0, ns};
    syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &pause, NULL);
}

/* In the order of getdents64(2). */
struct entry {
    uint64_t inode, offset;
    unsigned short bytes;
    unsigned char type;
    char name[];
};

/* Call VISIT for each thread until it returns an error; that, or an errno. */
static int for_threads(struct mprof__freezer *f,
                       int (*visit)(pid_t tid, struct mprof__freezer *f)) {
    char path[64];
    _Alignas(struct entry) char buffer[2048];
    int error = 0;
    long n = 0;
    snprintf(path, sizeof path, "/proc/%ld/task", (long)f->process);
    long folder =
        syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return errno;
    while (error == 0 &&
           (n = syscall(SYS_getdents64, folder, buffer, sizeof buffer)) > 0)
        for (long at = 0; at < n && error == 0;) {
            const struct entry *e = (const struct entry *)(buffer + at);
            long tid = strtol(e->name, NULL, 10);
            at += e->bytes;
            if (tid > 0)
                error = visit((pid_t)tid, f);
        }
    if (n < 0)
        error = errno;
    syscall(SYS_close, folder);
    return error;
}

#if defined __x86_64__ || defined __aarch64__

/* A thread that has ended, and is not taken away yet, cannot be traced. */
static bool has_ended(pid_t process, pid_t tid) {
    char path[64], text[256];
    snprintf(path, sizeof path, "/proc/%ld/task/%ld/stat", (long)process,
             (long)tid);
    long file = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return true;
    long n = syscall(SYS_read, file, text, sizeof text - 1);
    syscall(SYS_close, file);
    text[n > 0 ? n : 0] = '\0';
    const char *state = strrchr(text, ')');
    return state != NULL && (state[2] == 'Z' || state[2] == 'X');
}

static void read_registers(struct mprof__frozen *t) {
    struct user_regs_struct registers = {0};
    struct iovec general = {&registers, sizeof registers};
    struct iovec floating = {t->words + sizeof registers / 8,
                             sizeof t->words - sizeof registers};
    syscall(SYS_ptrace, PTRACE_GETREGSET, t->tid, NT_PRSTATUS, &general);
    memcpy(t->words, &registers, sizeof registers);
    /* Whoever copies memory has pointers in these. */
    syscall(SYS_ptrace, PTRACE_GETREGSET, t->tid, NT_PRFPREG, &floating);
#ifdef __x86_64__
    t->stack = registers.rsp - 128; /* the red zone */
    t->local = registers.fs_base;
#else
    struct iovec local = {&t->local, sizeof t->local};
    t->stack = registers.sp;
    syscall(SYS_ptrace, PTRACE_GETREGSET, t->tid, NT_ARM_TLS, &local);
#endif
}

/* Have the thread T, which runs, stop.  0; ESRCH: it has ended. */
static int interrupt(struct mprof__frozen *t) {
    int status = 0;
    long got = 0;
    syscall(SYS_ptrace, PTRACE_INTERRUPT, t->tid, 0, 0);
    for (int i = 0; got == 0; i++) {
        got = syscall(SYS_wait4, t->tid, &status, __WALL | WNOHANG, NULL);
        if (got == 0 && i == PATIENCE)
            return ETIMEDOUT;
        if (got == 0)
            wait_shortly(i < 20 ? 50000 : 1000000);
    }
    if (got < 0 || !WIFSTOPPED(status))
        return ESRCH;
    t->signal = status >> 16 == 0 ? WSTOPSIG(status) : 0;
    return 0;
}

/* ns that a busy thread has to go on, the time number I.  Where the machine is
 * loaded it is not let run at once. */
static long moment(int i) {
    return i < 50 ? 1000 * i : i < 80 ? 2000000 : 10000000;
}

static int stop_thread(struct mprof__frozen *t) {
    if (syscall(SYS_ptrace, PTRACE_SEIZE, t->tid, 0, 0) != 0)
        return errno;
    int error = interrupt(t);
    for (int i = 0; error == 0 && mprof__thread_is_busy(t->tid); i++) {
        /* It may wait for one that is frozen. */
        if (i == MOST_MOMENTS) {
            syscall(SYS_ptrace, PTRACE_DETACH, t->tid, 0, t->signal);
            return EAGAIN;
        }
        syscall(SYS_ptrace, PTRACE_CONT, t->tid, 0, t->signal);
        wait_shortly(moment(i));
        error = interrupt(t);
    }
    if (error == 0)
        read_registers(t);
    return error;
}

static int take(pid_t tid, struct mprof__freezer *f) {
    if (tid == f->self)
        return 0;
    for (uint32_t i = 0; i < f->count; i++)
        if (f->threads[i].tid == tid)
            return 0;
    if (f->count == f->room)
        return EAGAIN;
    struct mprof__frozen *t = &f->threads[f->count];
    *t = (struct mprof__frozen){.tid = tid};
    int error = stop_thread(t);
    if (error == 0)
        f->count++;
    else if (error == ESRCH || has_ended(f->process, tid))
        error = 0;
    return error;
}

/* New ones may have begun while the others were stopped. */
static int take_all(struct mprof__freezer *f) {
    for (;;) {
        uint32_t before = f->count;
        int error = for_threads(f, take);
        if (error != 0 || f->count == before)
            return error;
    }
}

static void let_go(struct mprof__freezer *f) {
    for (uint32_t i = 0; i < f->count; i++)
        syscall(SYS_ptrace, PTRACE_DETACH, f->threads[i].tid, 0,
                f->threads[i].signal);
    f->count = 0;
}

/* The helper, which has our memory, also our errno: it leaves that alone when
 * this thread runs. */
static int help(void *data) {
    struct mprof__freezer *f = data;
    sigset_t all;
    sigfillset(&all);
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, NULL, 8);
    syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    while (mprof__load_acquire(&f->state) == PREPARED)
        wait_shortly(20000);
    f->error = take_all(f);
    if (f->error != 0)
        let_go(f);
    mprof__store_release(&f->state, f->error == 0 ? FROZEN : FAILED);
    while (mprof__load_acquire(&f->state) == FROZEN)
        wait_shortly(200000);
    let_go(f);
    syscall(SYS_exit, 0);
    return 0;
}

static int count_thread(pid_t tid, struct mprof__freezer *f) {
    (void)tid;
    f->room++;
    return 0;
}

static void end_helper(struct mprof__freezer *f) {
    while (syscall(SYS_wait4, f->helper, NULL, __WALL, NULL) < 0 &&
           errno == EINTR)
        ;
    mprof__unmap(f->memory, f->bytes);
}

/* May the helper trace us at all?  Some systems ask to be told. */
static int start_helper(struct mprof__freezer *f, bool tell) {
    f->state = PREPARED;
    f->helper = clone(help, f->memory + STACK,
                      CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_UNTRACED, f);
    if (f->helper < 0)
        return errno;
    if (tell)
        prctl(PR_SET_PTRACER, (unsigned long)f->helper, 0, 0, 0);
    mprof__store_release(&f->state, WANTED);
    while (mprof__load_acquire(&f->state) == WANTED) {
        /* It may have been killed. */
        if (syscall(SYS_wait4, f->helper, NULL, __WALL | WNOHANG, NULL) ==
            f->helper)
            return ECHILD;
        wait_shortly(20000);
    }
    return 0;
}

int mprof__freeze(struct mprof__freezer *f) {
    *f = (struct mprof__freezer){.process = getpid(),
                                 .self = (pid_t)syscall(SYS_gettid)};
    int error = for_threads(f, count_thread);
    if (error != 0 || f->room < 2)
        return error;
    f->room = 2 * f->room + LEAST_ROOM;
    f->bytes = STACK + f->room * sizeof *f->threads;
    for (int tell = 0; tell < 2; tell++) {
        f->memory = mprof__map(f->bytes);
        if (f->memory == NULL)
            return ENOMEM;
        f->threads = (struct mprof__frozen *)(f->memory + STACK);
        error = start_helper(f, tell != 0);
        if (error != 0) {
            mprof__unmap(f->memory, f->bytes);
            return error;
        }
        if (f->state == FROZEN)
            return 0;
        end_helper(f);
        if (f->error != EPERM)
            break;
    }
    return f->error;
}

void mprof__thaw(struct mprof__freezer *f) {
    if (f->helper == 0)
        return;
    mprof__store_release(&f->state, OVER);
    end_helper(f);
}

#else

static int is_other(pid_t tid, struct mprof__freezer *f) {
    return tid == f->self ? 0 : ENOSYS;
}

int mprof__freeze(struct mprof__freezer *f) {
    *f = (struct mprof__freezer){.process = getpid(),
                                 .self = (pid_t)syscall(SYS_gettid)};
    return for_threads(f, is_other);
}

void mprof__thaw(struct mprof__freezer *f) {
    (void)f;
}

#endif
