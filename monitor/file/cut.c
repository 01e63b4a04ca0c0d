/* cut.c - see cut.h. */
#define _GNU_SOURCE
#include "monitor/file/cut.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "monitor/base/atomic.h"
#include "monitor/base/self.h"
#include "monitor/include/mprof.h"
#include "monitor/file/arena.h"

/* The C library's sigaction(), even if another definition comes before it. */
extern int __sigaction(int, const struct sigaction *, struct sigaction *);

/* Arenas at once: the new recording's, the last one's, and those in which a
 * thread stays. */
enum { MOST = 8, MOST_REGIONS = 64 };
static struct mprof__arena *watched[MOST]; /* atomic */
/* ... and what is mapped of other files. */
static struct {
    char *base; /* atomic; NULL: a place that is free */
    size_t size;
    bool *cut;
} regions[MOST_REGIONS];
/* Written when a recording begins or a region is mapped, always alike. */
static uintptr_t page;
static pid_t owner; /* this process, and not a child of vfork() */

static struct sigaction theirs[2]; /* the program's action, in one of them: */
static int which;                  /* atomic */
static bool changing; /* atomic: a lock for `theirs`, with signals blocked */

void mprof__cut_found(struct mprof__arena *arena) {
    mprof__store_release(&arena->cut, true);
    if (arena->on_cut != NULL)
        arena->on_cut(arena);
}

int mprof__cut_error(void) {
    errno = ENODATA;
    return MPROF_E_WRITE;
}

static struct mprof__arena *arena_of(uintptr_t address) {
    for (size_t i = 0; i < MOST; i++) {
        struct mprof__arena *arena = mprof__load_acquire(&watched[i]);
        if (arena != NULL && address - (uintptr_t)arena->base < arena->limit)
            return arena;
    }
    return NULL;
}

static bool *region_of(uintptr_t address) {
    for (size_t i = 0; i < MOST_REGIONS; i++) {
        char *base = mprof__load_acquire(&regions[i].base);
        if (base != NULL && address - (uintptr_t)base < regions[i].size)
            return regions[i].cut;
    }
    return NULL;
}

/* Let there be memory at ADDRESS; false: it is in none of our files. */
static bool mend(uintptr_t address) {
    struct mprof__arena *arena = arena_of(address);
    bool *cut = region_of(address);
    if (arena == NULL && cut == NULL)
        return false;
    /* Before others can see that it is empty. */
    if (arena != NULL)
        mprof__cut_found(arena);
    else
        mprof__store_release(cut, true);
    return mmap((void *)(address / page * page), page, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
}

/* The header may be empty for all.  Of other things one leads to the next. */
static bool can_go_on(uintptr_t address) {
    struct mprof__arena *arena = arena_of(address);
    return arena == NULL ||
           address - (uintptr_t)arena->base < MPROF_HEADER_BYTES;
}

/* As the kernel would if the handler were not ours. */
static void forward(int signal, siginfo_t *info, void *context) {
    struct sigaction to = theirs[mprof__load_acquire(&which)];
    if (to.sa_flags & (int)SA_RESETHAND) {
        struct sigaction reset = to;
        reset.sa_handler = SIG_DFL;
        mprof__cut_sigaction(&reset, NULL);
    }
    if (to.sa_handler == SIG_DFL) {
        /* It comes again when this returns; or was sent, and is once more. */
        __sigaction(SIGBUS, &to, NULL);
        if (info->si_code <= 0)
            syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), signal, info);
    } else if (to.sa_flags & SA_SIGINFO) {
        to.sa_sigaction(signal, info, context);
    } else {
        to.sa_handler(signal);
    }
}

static void on_signal(int signal, siginfo_t *info, void *context) {
    int saved = errno;
    uintptr_t address = (uintptr_t)info->si_addr;
    bool mended = info->si_code == BUS_ADRERR && mend(address);
    errno = saved;
    if (!mended) {
        forward(signal, info, context);
    } else if (!can_go_on(address)) {
        ucontext_t *interrupted = context;
        pthread_sigmask(SIG_SETMASK, &interrupted->uc_sigmask, NULL);
        mprof__give_up();
    }
}

/* Our handler, with all that it may do without our doing. */
static struct sigaction in_place_of(const struct sigaction *action) {
    struct sigaction act = *action;
    act.sa_sigaction = on_signal;
    act.sa_flags = (act.sa_flags & ~(int)SA_RESETHAND) | SA_SIGINFO;
    if (action->sa_handler == SIG_DFL)
        act.sa_flags |= SA_ONSTACK | SA_RESTART;
    return act;
}

static int install(const struct sigaction *action) {
    int next = !which;
    theirs[next] = *action;
    mprof__store_release(&which, next);
    struct sigaction act = in_place_of(action);
    /* Programs that this one executes inherit an ignored signal. */
    bool replace = action->sa_handler != SIG_IGN;
    return __sigaction(SIGBUS, replace ? &act : action, NULL);
}

static void begin_change(sigset_t *saved) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, saved);
    /* In the child of a fork its owner may be gone. */
    for (int i = 0; mprof__exchange(&changing, true) && i < 1000; i++)
        sched_yield();
}

static void end_change(const sigset_t *saved) {
    mprof__store_release(&changing, false);
    pthread_sigmask(SIG_SETMASK, saved, NULL);
}

static bool watching(void) {
    for (size_t i = 0; i < MOST; i++)
        if (mprof__load_acquire(&watched[i]) != NULL)
            return true;
    for (size_t i = 0; i < MOST_REGIONS; i++)
        if (mprof__load_acquire(&regions[i].base) != NULL)
            return true;
    return false;
}

/* The action as the program knows it; true: it is ours instead. */
static bool is_ours(struct sigaction *now) {
    if (__sigaction(SIGBUS, NULL, now) != 0 || now->sa_sigaction != on_signal)
        return false;
    *now = theirs[which];
    return true;
}

int mprof__cut_sigaction(const struct sigaction *action,
                         struct sigaction *old) {
    sigset_t saved;
    struct sigaction before;
    int status = 0;
    begin_change(&saved);
    is_ours(&before);
    if (action != NULL)
        status = watching() && owner == getpid()
                     ? install(action)
                     : __sigaction(SIGBUS, action, NULL);
    end_change(&saved);
    if (status == 0 && old != NULL)
        *old = before;
    return status;
}

static void begin_watching(void) {
    sigset_t saved;
    struct sigaction now;
    begin_change(&saved);
    /* Others may have replaced ours without our knowing. */
    if (!is_ours(&now))
        install(&now);
    end_change(&saved);
}

static void end_watching(void) {
    sigset_t saved;
    struct sigaction now;
    if (watching())
        return;
    begin_change(&saved);
    if (is_ours(&now))
        __sigaction(SIGBUS, &now, NULL);
    end_change(&saved);
}

void mprof__cut_watch(struct mprof__arena *arena) {
    size_t i = 0;
    page = (uintptr_t)sysconf(_SC_PAGESIZE);
    owner = getpid();
    while (i < MOST && watched[i] != NULL)
        i++;
    if (i == MOST)
        return;
    mprof__store_release(&watched[i], arena);
    begin_watching();
}

void mprof__cut_unwatch(struct mprof__arena *arena) {
    for (size_t i = 0; i < MOST; i++)
        if (watched[i] == arena)
            mprof__store_release(&watched[i], NULL);
    end_watching();
}

bool mprof__cut_watch_region(char *base, size_t size, bool *cut) {
    size_t i = 0;
    page = (uintptr_t)sysconf(_SC_PAGESIZE);
    owner = getpid();
    while (i < MOST_REGIONS && regions[i].base != NULL)
        i++;
    if (i == MOST_REGIONS)
        return false;
    regions[i].size = size;
    regions[i].cut = cut;
    mprof__store_release(&regions[i].base, base);
    begin_watching();
    return true;
}

void mprof__cut_unwatch_region(const char *base) {
    for (size_t i = 0; i < MOST_REGIONS; i++)
        if (regions[i].base == base)
            mprof__store_release(&regions[i].base, NULL);
    end_watching();
}
