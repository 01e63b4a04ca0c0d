/* marks.c - see marks.h. */
#define _GNU_SOURCE
#include "monitor/unwind/marks.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "monitor/base/atomic.h"
#include "monitor/base/invariant.h"
#include "monitor/base/table.h"

_Static_assert(offsetof(struct mprof__marks, mark) == 16 &&
                   sizeof(struct mprof__mark) == 16 && MPROF__MARKS == 512 &&
                   MPROF__TRAMPOLINES == 256,
               "the barriers know these");

struct mprof__marks *mprof__marks[MPROF__TRAMPOLINES];

bool mprof__marks_off;
static uintptr_t entry_point, c_library; /* of the program; start */

extern int clone(int (*)(void *), void *, int, void *, ...);

/* The collector of OCaml looks up the return addresses of its functions. */
extern char caml_frametable[] __attribute__((weak));
extern char caml_system__frametable[] __attribute__((weak));

void mprof__marks_initialize(void) {
    struct mprof__unwind unwind;
    const char *value = getenv("MPROF_MARKS");
    if (value != NULL && value[0] == '0' && value[1] == '\0')
        mprof__marks_off = true;
    if (caml_frametable != NULL || caml_system__frametable != NULL)
        mprof__marks_off = true;
    entry_point = getauxval(AT_ENTRY);
    if (mprof__cfi_find((uintptr_t)clone, &unwind))
        c_library = unwind.module_start;
}

/* A coroutine begins in the C library too, but its first function returns to
 * the start of one there. */
bool mprof__marks_begins(const struct mprof__unwind *unwind, uintptr_t pc) {
    return unwind->function == entry_point ||
           (unwind->module_start == c_library && unwind->function != pc);
}

static pid_t this_thread(void) {
    return (pid_t)syscall(SYS_gettid);
}

/* Of trampoline NUMBER for thread ME; NULL: another has them, or no memory. */
static struct mprof__marks *take_number(unsigned number, pid_t me) {
    struct mprof__marks *marks = mprof__load_acquire(&mprof__marks[number]);
    if (marks == NULL) {
        struct mprof__marks *fresh = mprof__map(sizeof *fresh);
        if (fresh == NULL)
            return NULL;
        fresh->number = number;
        fresh->thread = me;
        if (mprof__replace(&mprof__marks[number], &marks, fresh))
            return fresh;
        mprof__unmap(fresh, sizeof *fresh);
    }
    pid_t nobody = 0;
    if (mprof__replace(&marks->thread, &nobody, me))
        return marks;
    return NULL;
}

struct mprof__marks *mprof__marks_take(uintptr_t base,
                                       enum mprof_unmarked *reason) {
    struct mprof__marks *marks = NULL;
    *reason = MPROF_MARKS_OFF;
    if (mprof__marks_off)
        return NULL;
    if (mprof__shadow_stack()) {
        *reason = MPROF_SHADOW_STACK;
        return NULL;
    }
    pid_t me = this_thread();
    for (unsigned i = 0; i < MPROF__TRAMPOLINES && marks == NULL; i++)
        marks = take_number(i, me);
    if (marks == NULL)
        return NULL;
    marks->used = 0;
    memset(marks->serial, 0, sizeof marks->serial);
    marks->base = base;
    return marks;
}

static bool is_mapped(uintptr_t address) {
    unsigned char resident;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return mincore((void *)(address & ~(page - 1)), 1, &resident) == 0;
}

/* The thread whose they are may return through a mark at this moment, and then
 * call again: but it will not mark again. */
static void restore(struct mprof__marks *marks, bool own) {
    uintptr_t trampoline = mprof__marks_trampoline(marks);
    size_t count =
        mprof__load_acquire(&marks->used) / sizeof(struct mprof__mark);
    for (size_t i = 0; i < count; i++) {
        uintptr_t found = trampoline, at = marks->ra_slot[i];
        if (!mprof__mark_is_done(&marks->mark[i]) && (own || is_mapped(at)))
            mprof__replace((uintptr_t *)at, &found, marks->mark[i].ra);
    }
}

void mprof__marks_refuse(void) {
    mprof__store_release(&mprof__marks_off, true);
    mprof__marks_restore();
}

void mprof__marks_lift(struct mprof__marks *marks) {
    restore(marks, true);
}

/* Between who restores and who is about to lose its stack. */
static pthread_mutex_t giving = PTHREAD_MUTEX_INITIALIZER;

void mprof__marks_give(struct mprof__marks *marks) {
    pthread_mutex_lock(&giving);
    restore(marks, false); /* it may have been on another's stack */
    mprof__store_release(&marks->thread, 0);
    pthread_mutex_unlock(&giving);
}

static bool has_ended(pid_t process, pid_t thread) {
    return syscall(SYS_tgkill, process, thread, 0) != 0 && errno == ESRCH;
}

void mprof__marks_restore(void) {
    pid_t process = getpid(), me = this_thread();
    pthread_mutex_lock(&giving);
    for (unsigned i = 0; i < MPROF__TRAMPOLINES; i++) {
        struct mprof__marks *marks = mprof__load_acquire(&mprof__marks[i]);
        pid_t thread = marks == NULL ? 0 : mprof__load_acquire(&marks->thread);
        /* One that ended without a word has no stack any more. */
        if (thread == me || (thread != 0 && !has_ended(process, thread)))
            restore(marks, thread == me);
    }
    pthread_mutex_unlock(&giving);
}

void mprof__marks_forked(struct mprof__marks *own) {
    pthread_mutex_init(&giving, NULL);
    for (unsigned i = 0; i < MPROF__TRAMPOLINES; i++)
        if (mprof__marks[i] != NULL && mprof__marks[i] != own)
            mprof__marks[i]->thread = 0;
    if (own != NULL) {
        own->thread = this_thread();
        restore(own, true);
    }
}

static struct mprof__mark *find(struct mprof__marks *marks, uintptr_t sp) {
    size_t count = marks->used / sizeof(struct mprof__mark);
    for (size_t i = count; i-- > 0;)
        if ((marks->mark[i].sp & ~(uintptr_t)1) == sp)
            return &marks->mark[i];
    return NULL;
}

struct mprof__mark *mprof__marks_find(uintptr_t address, uintptr_t sp,
                                      struct mprof__marks **owner) {
    uintptr_t offset = address - (uintptr_t)mprof__barrier_start;
    if (address < (uintptr_t)mprof__barrier_common) {
        *owner = mprof__load_acquire(
            &mprof__marks[offset / MPROF__TRAMPOLINE_BYTES]);
        return *owner == NULL ? NULL : find(*owner, sp);
    }
    for (unsigned i = 0; i < MPROF__TRAMPOLINES; i++) {
        struct mprof__mark *mark = NULL;
        *owner = mprof__load_acquire(&mprof__marks[i]);
        if (*owner != NULL && (*owner)->thread != 0)
            mark = find(*owner, sp);
        if (mark != NULL)
            return mark;
    }
    return NULL;
}

void mprof__marks_check(const struct mprof__marks *marks) {
    size_t count = marks->used / sizeof(struct mprof__mark);
    MPROF__MUST(marks->used % sizeof(struct mprof__mark) == 0);
    MPROF__MUST(count <= MPROF__MARKS && marks->none == 0);
    for (size_t i = 0; i < count; i++) {
        MPROF__MUST(marks->ra_slot[i] < (marks->mark[i].sp & ~(uintptr_t)1));
        MPROF__MUST(marks->serial[i] > 0);
        MPROF__MUST(marks->serial[i] <= marks->last_serial);
        if (i == 0)
            continue;
        MPROF__MUST(marks->ra_slot[i] < marks->ra_slot[i - 1]);
        MPROF__MUST((marks->mark[i].sp | 1) < (marks->mark[i - 1].sp | 1));
        MPROF__MUST(marks->serial[i] > marks->serial[i - 1]);
    }
}

int mprof__marks_set(struct mprof__marks *marks, uintptr_t ra_slot,
                     uintptr_t sp) {
    size_t i = marks->used / sizeof(struct mprof__mark);
    if (i == MPROF__MARKS)
        return -1;
    volatile uintptr_t *slot = (volatile uintptr_t *)ra_slot;
    marks->mark[i] = (struct mprof__mark){.sp = sp, .ra = *slot};
    marks->ra_slot[i] = ra_slot;
    marks->serial[i] = ++marks->last_serial;
    for (int heap = 0; heap < MPROF_HEAPS; heap++)
        marks->outside[heap][i].tree = 0;
    mprof__store_release(&marks->used, (i + 1) * sizeof(struct mprof__mark));
    *slot = mprof__marks_trampoline(marks);
    if (MPROF__CHECKS)
        mprof__marks_check(marks);
    return (int)i;
}

/* Marks FROM to TO, the last one, are not in use any more. */
static void forget_from(struct mprof__marks *marks, size_t from, size_t to) {
    marks->used = from * sizeof(struct mprof__mark);
    mprof__order_for_handlers();
    for (size_t i = from; i < to; i++)
        marks->serial[i] = 0;
}

void mprof__marks_drop(struct mprof__marks *marks, size_t count) {
    uintptr_t trampoline = mprof__marks_trampoline(marks);
    size_t used = marks->used / sizeof(struct mprof__mark);
    for (size_t i = used; i-- > count;)
        if (!mprof__mark_is_done(&marks->mark[i]) &&
            *(volatile uintptr_t *)marks->ra_slot[i] == trampoline)
            *(volatile uintptr_t *)marks->ra_slot[i] = marks->mark[i].ra;
    forget_from(marks, count, used);
    if (MPROF__CHECKS)
        mprof__marks_check(marks);
}

/* Half of MARKS, every other one; the slots of the others get their addresses
 * again.  A mark that is in a register at the moment stays. */
void mprof__marks_thin(struct mprof__marks *marks) {
    uintptr_t trampoline = mprof__marks_trampoline(marks);
    size_t count = marks->used / sizeof(struct mprof__mark), kept = 0;
    for (size_t i = 0; i < count; i++) {
        uintptr_t *slot = (uintptr_t *)marks->ra_slot[i];
        if (i % 2 == 0 || *slot != trampoline) {
            marks->mark[kept] = marks->mark[i];
            marks->ra_slot[kept] = marks->ra_slot[i];
            for (int heap = 0; heap < MPROF_HEAPS; heap++)
                marks->outside[heap][kept] = marks->outside[heap][i];
            marks->serial[kept++] = ++marks->last_serial;
        } else {
            *slot = marks->mark[i].ra;
        }
    }
    forget_from(marks, kept, count);
    if (MPROF__CHECKS)
        mprof__marks_check(marks);
}

/* As unwind.h has them, which belongs to the compiler. */
enum { HANDLER_FRAME = 4, INSTALL_CONTEXT = 7, CONTINUE_UNWIND = 8 };
struct exception {
    uint64_t class_;
    void (*cleanup)(int reason, struct exception *exception);
    uintptr_t private_1;
    uintptr_t catcher; /* the CFA of what the frame that catches called */
};

_Noreturn void mprof__barrier_lost(void);

/* A function returns to a mark that nobody knows: the program has copied or
 * moved its stack. */
_Noreturn void mprof__barrier_lost(void) {
    static const char line[] =
        "mprof: the program returns on a copied or moved stack; it can be "
        "recorded with MPROF_MARKS=0\n";
    ssize_t written = write(STDERR_FILENO, line, sizeof line - 1);
    (void)written;
    abort();
}

/* What mprof__barrier_throw() goes on with: of this thread. */
struct mprof__thrown {
    void *exception;
    uintptr_t ra;
};
static __thread struct mprof__thrown thrown
    __attribute__((tls_model("initial-exec")));

extern const char mprof__barrier_throw[];
struct mprof__thrown mprof__barrier_thrown(void);
int mprof__barrier_catch(int version, int actions, uint64_t class_,
                         struct exception *exception, void *context);

struct mprof__thrown mprof__barrier_thrown(void) {
    return thrown;
}

/* The personality routine of the barrier.  An unwinder knows the frame that
 * catches by the CFA of what it called, and so takes the barrier for it: throw
 * once more, without the barrier in between.  Whose unwinder it is nobody
 * knows, as a program may have one of its own: CONTEXT is not to be asked.  It
 * goes to the barrier, and the barrier to where the mark says. */
int mprof__barrier_catch(int version, int actions, uint64_t class_,
                         struct exception *exception, void *context) {
    struct mprof__marks *owner;
    (void)version, (void)class_, (void)context;
    if (!(actions & HANDLER_FRAME))
        return CONTINUE_UNWIND;
    struct mprof__mark *mark = mprof__marks_find(
        (uintptr_t)mprof__barrier_common, exception->catcher, &owner);
    if (mark == NULL)
        return CONTINUE_UNWIND;
    thrown = (struct mprof__thrown){exception, mark->ra};
    mark->ra = (uintptr_t)mprof__barrier_throw;
    return INSTALL_CONTEXT;
}
