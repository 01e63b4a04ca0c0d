/* marks.c - see marks.h. */
#define _GNU_SOURCE
#include "monitor/unwind/marks.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "monitor/base/atomic.h"
#include "monitor/base/invariant.h"
#include "monitor/base/self.h"
#include "monitor/base/table.h"
#include "monitor/unwind/reach.h"
#include "monitor/unwind/walk.h"

_Static_assert(MPROF__GATES == 4096 && MPROF__GATE_BYTES == 64 &&
                   MPROF__GATE_CODE == 8,
               "the barriers know these");

bool mprof__marks_off; /* atomic */

/* Written once, by mprof__marks_initialize(). */
uintptr_t mprof__first_stack_top;
static uintptr_t entry_point, c_library; /* the program's; the start */

extern int clone(int (*)(void *), void *, int, void *, ...);

/* The collector of OCaml looks up the return addresses of its functions. */
extern char caml_frametable[] __attribute__((weak));
extern char caml_system__frametable[] __attribute__((weak));

void mprof__marks_initialize(void) {
    struct mprof__unwind unwind;
    const char *value = getenv("MPROF_MARKS");
    if ((value != NULL && strcmp(value, "0") == 0) || caml_frametable != NULL ||
        caml_system__frametable != NULL)
        mprof__marks_off = true;
    entry_point = getauxval(AT_ENTRY);
    mprof__first_stack_top = getauxval(AT_RANDOM);
    if (mprof__cfi_find((uintptr_t)clone, &unwind))
        c_library = unwind.module_start;
}

/* A coroutine begins in the C library too, but its first function returns to
 * the start of one there. */
bool mprof__marks_begins(const struct mprof__unwind *unwind, uintptr_t pc) {
    return unwind->function == entry_point ||
           (unwind->module_start == c_library && unwind->function != pc);
}

/* Gates */

uintptr_t mprof__barrier_ra[MPROF__GATES];
static uint32_t gates = 1; /* how many are taken; atomic */

/* By return address: the first gate of a list, and the next one of each. */
enum { LISTS = 4096 };
static uint16_t first_gate[LISTS];       /* atomic */
static uint16_t next_gate[MPROF__GATES]; /* written before it is in a list */

/* The gate that leads to RA; 0: there is none left.  Two threads that come here
 * at once may make one each. */
static unsigned gate_to(uintptr_t ra) {
    uint16_t *list = &first_gate[mprof__hash(ra) % LISTS];
    uint16_t first = mprof__load_acquire(list);
    for (unsigned gate = first; gate != 0; gate = next_gate[gate])
        if (mprof__barrier_ra[gate] == ra)
            return gate;
    if (mprof__load_relaxed(&gates) >= MPROF__GATES)
        return 0;
    uint32_t gate = mprof__add_relaxed(&gates, 1) - 1;
    if (gate >= MPROF__GATES)
        return 0;
    mprof__store_release(&mprof__barrier_ra[gate], ra);
    do
        next_gate[gate] = first;
    while (!mprof__replace(list, &first, (uint16_t)gate));
    return gate;
}

/* The trampoline of GATE that is next in turn for marks at RA_SLOT. */
static uintptr_t trampoline_of(struct mprof__marks *marks, unsigned gate,
                               uintptr_t ra_slot) {
    unsigned turn = marks->turn[ra_slot / 16 % MPROF__TURNS]++;
    return (uintptr_t)mprof__barrier_start + gate * MPROF__GATE_BYTES +
           MPROF__GATE_CODE +
           turn % MPROF__TRAMPOLINES * MPROF__TRAMPOLINE_BYTES;
}

/* Exceptions */

/* As unwind.h has them, which belongs to the compiler. */
enum { HANDLER_FRAME = 4, INSTALL_CONTEXT = 7, CONTINUE_UNWIND = 8 };
struct exception {
    uint64_t class_;
    void (*cleanup)(int reason, struct exception *exception);
    uintptr_t private_1;
    uintptr_t catcher; /* the CFA of what the frame that catches called */
};

/* The state of this thread that mprof__barrier_throw() goes on with. */
struct mprof__thrown {
    void *exception;
    uintptr_t ra;
};
#define OF_THREAD __thread __attribute__((tls_model("initial-exec")))
static OF_THREAD struct mprof__thrown thrown;

/* The stack pointer when a frame has returned whose caller is to have `thrown`;
 * 0: none.  And threads where it is not 0: gates look at that. */
extern OF_THREAD uintptr_t mprof__barrier_caught_at;
extern uint32_t mprof__barrier_catches;
OF_THREAD uintptr_t mprof__barrier_caught_at;
uint32_t mprof__barrier_catches; /* atomic */

struct mprof__thrown mprof__barrier_thrown(void);
int mprof__barrier_catch(int version, int actions, uint64_t class_,
                         struct exception *exception, void *context);

struct mprof__thrown mprof__barrier_thrown(void) {
    mprof__barrier_caught_at = 0;
    mprof__sub_relaxed(&mprof__barrier_catches, 1);
    return thrown;
}

/* The mark on the frame that leaves the stack pointer at SP; 0: there is none.
 */
static uintptr_t mark_at(uintptr_t sp) {
    const struct mprof__marks *marks = mprof__self->marks;
    if (MPROF__RETURN_OFFSET != 0)
        return *(const uintptr_t *)(sp + (uintptr_t)MPROF__RETURN_OFFSET);
    for (uint32_t i = 0; marks != NULL && i < marks->count; i++)
        if (marks->mark[i].sp == sp)
            return marks->mark[i].word;
    return 0;
}

/* The personality routine of the barrier.  An unwinder knows the frame that
 * catches by the CFA of what it called, and so takes the barrier for it: throw
 * once more, without the barrier in between.  A program may have an unwinder of
 * its own: so CONTEXT must not be used.  The unwinder goes to the gate, and the
 * gate to mprof__barrier_throw(), as it finds that this thread has caught
 * something there. */
int mprof__barrier_catch(int version, int actions, uint64_t class_,
                         struct exception *exception, void *context) {
    (void)version, (void)class_, (void)context;
    if (!(actions & HANDLER_FRAME))
        return CONTINUE_UNWIND;
    uintptr_t word = mark_at(exception->catcher);
    if (!mprof__is_mark(word))
        return CONTINUE_UNWIND;
    thrown = (struct mprof__thrown){exception, mprof__marked_address(word)};
    mprof__barrier_caught_at = exception->catcher;
    mprof__add_relaxed(&mprof__barrier_catches, 1);
    return INSTALL_CONTEXT;
}

/* Marks of threads */

static struct mprof__marks *all; /* grows at its head; atomic */

static pid_t this_thread(void) {
    return (pid_t)syscall(SYS_gettid);
}

enum { FIRST_ROOM = 32 };

/* False: no memory.  Should a jump leave this in the middle, something is lost
 * and nothing is wrong. */
static bool more_room(struct mprof__marks *marks) {
    uint32_t old_room = marks->room;
    uint32_t room = old_room == 0 ? FIRST_ROOM : 2 * old_room;
    struct mprof__mark *old = marks->mark;
    struct mprof__mark *fresh =
        room > MPROF__MOST_MARKS ? NULL : mprof__map(room * sizeof *fresh);
    if (fresh == NULL)
        return false;
    if (old != NULL)
        memcpy(fresh, old, old_room * sizeof *old);
    mprof__order_for_handlers();
    marks->mark = fresh;
    mprof__order_for_handlers();
    marks->room = room;
    mprof__unmap(old, old_room * sizeof *old);
    return true;
}

/* Take the marks of a thread that has ended, for thread ME; NULL: there are
 * none. */
static struct mprof__marks *take_over(pid_t me) {
    struct mprof__marks *marks = mprof__load_acquire(&all);
    for (; marks != NULL; marks = marks->next) {
        pid_t nobody = 0;
        if (mprof__replace(&marks->thread, &nobody, me))
            return marks;
    }
    return NULL;
}

static struct mprof__marks *make(pid_t me) {
    struct mprof__marks *marks = mprof__map(sizeof *marks);
    if (marks == NULL)
        return NULL;
    marks->thread = me;
    if (!more_room(marks)) {
        mprof__unmap(marks, sizeof *marks);
        return NULL;
    }
    marks->next = mprof__load_acquire(&all);
    while (!mprof__replace(&all, &marks->next, marks))
        ;
    return marks;
}

/* Marks FROM to TO, the last one, are not in use any more. */
static void forget_from(struct mprof__marks *marks, uint32_t from,
                        uint32_t to) {
    mprof__store_release(&marks->count, from);
    mprof__order_for_handlers();
    for (uint32_t i = from; i < to; i++)
        marks->mark[i].serial = 0;
}

struct mprof__marks *mprof__marks_take(uintptr_t base,
                                       enum mprof_unmarked *reason) {
    *reason = MPROF_MARKS_OFF;
    if (mprof__marks_off)
        return NULL;
    if (mprof__shadow_stack()) {
        *reason = MPROF_SHADOW_STACK;
        return NULL;
    }
    pid_t me = this_thread();
    struct mprof__marks *marks = take_over(me);
    if (marks == NULL)
        marks = make(me);
    if (marks == NULL)
        return NULL;
    forget_from(marks, 0, marks->room);
    marks->base = base;
    return marks;
}

/* Let the word be there again that MARK took the place of, unless another is
 * there by now; ASKED is for several calls in a row.  The stack may be another
 * thread's that runs, or not there any more, or not to be written. */
__attribute__((no_sanitize("address"))) static void
put_back(const struct mprof__mark *mark, struct mprof__reach *asked) {
    uintptr_t found = mark->word, *slot = (uintptr_t *)mark->ra_slot;
    /* Its frame may have returned: then the word is another frame's. */
    if (mprof__reaches_to_write(asked, mark->ra_slot))
        __atomic_compare_exchange_n(slot, &found,
                                    mprof__marked_address(mark->word), false,
                                    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

static OF_THREAD uintptr_t unwinding; /* frame of what does so; 0: nothing */

void mprof__marks_unwinding(uintptr_t frame) {
    unwinding = frame;
}

bool mprof__unwinds(void) {
    /* It may have been left by a jump. */
    if (unwinding != 0 && (uintptr_t)__builtin_frame_address(0) > unwinding)
        unwinding = 0;
    return unwinding != 0;
}

/* All of MARKS, whose thread is at the place HERE on its stack, or on another
 * one, or anywhere: 0. */
static void lift(struct mprof__marks *marks, uintptr_t here) {
    struct mprof__reach asked = {0, 0};
    uint32_t count = mprof__load_acquire(&marks->count);
    for (uint32_t i = 0; i < count; i++) {
        /* Frames further in have returned. */
        if (here < marks->base && marks->mark[i].ra_slot < here)
            break;
        put_back(&marks->mark[i], &asked);
    }
    forget_from(marks, 0, count);
}

void mprof__marks_lift(struct mprof__marks *marks) {
    lift(marks, (uintptr_t)__builtin_frame_address(0));
}

/* Between who restores and who is about to lose its stack. */
static pthread_mutex_t giving = PTHREAD_MUTEX_INITIALIZER;

void mprof__marks_give(struct mprof__marks *marks) {
    pthread_mutex_lock(&giving);
    mprof__marks_lift(marks); /* they may have been on another's stack */
    mprof__store_release(&marks->thread, 0);
    pthread_mutex_unlock(&giving);
}

static bool has_ended(pid_t process, pid_t thread) {
    return syscall(SYS_tgkill, process, thread, 0) != 0 && errno == ESRCH;
}

void mprof__marks_restore(void) {
    pid_t process = getpid(), me = this_thread();
    pthread_mutex_lock(&giving);
    struct mprof__marks *marks = mprof__load_acquire(&all);
    for (; marks != NULL; marks = marks->next) {
        pid_t thread = mprof__load_acquire(&marks->thread);
        /* One that ended without a word has no stack any more. */
        if (thread == me)
            mprof__marks_lift(marks);
        else if (thread != 0 && !has_ended(process, thread))
            lift(marks, 0);
    }
    pthread_mutex_unlock(&giving);
}

void mprof__marks_forked(struct mprof__marks *own) {
    pthread_mutex_init(&giving, NULL);
    mprof__barrier_catches = mprof__barrier_caught_at != 0; /* of no other */
    for (struct mprof__marks *marks = all; marks != NULL; marks = marks->next)
        if (marks != own)
            marks->thread = 0;
    if (own != NULL) {
        own->thread = this_thread();
        mprof__marks_lift(own);
    }
}

int mprof__marks_find(const struct mprof__marks *marks, uintptr_t word,
                      uintptr_t sp) {
    /* It is one of these, if any. */
    uint32_t low = 0, high = marks == NULL ? 0 : marks->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct mprof__mark *mark = &marks->mark[middle];
        if (mark->sp == sp)
            return mark->word == word ? (int)middle : -1;
        if (mark->sp > sp)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

void mprof__marks_check(const struct mprof__marks *marks) {
    MPROF__MUST(marks->count <= marks->room);
    MPROF__MUST(marks->room <= MPROF__MOST_MARKS);
    for (uint32_t i = 0; i < marks->count; i++) {
        const struct mprof__mark *mark = &marks->mark[i];
        MPROF__MUST(mark->ra_slot < mark->sp);
        MPROF__MUST(mprof__is_mark(mark->word));
        MPROF__MUST(mark->serial > 0 && mark->serial <= marks->last_serial);
        if (i == 0)
            continue;
        MPROF__MUST(mark->ra_slot < mark[-1].ra_slot);
        MPROF__MUST(mark->sp < mark[-1].sp);
        MPROF__MUST(mark->serial > mark[-1].serial);
    }
}

int mprof__marks_set(struct mprof__marks *marks, uintptr_t ra_slot,
                     uintptr_t sp) {
    uint32_t i = marks->count;
    volatile uintptr_t *slot = (volatile uintptr_t *)ra_slot;
    uintptr_t ra = *slot;
    /* One that was dropped may be there still. */
    if ((i == marks->room && !more_room(marks)) || mprof__is_mark(ra))
        return -1;
    unsigned gate = gate_to(ra);
    if (gate == 0)
        return -1;
    struct mprof__mark *mark = &marks->mark[i];
    mark->sp = sp;
    mark->ra_slot = ra_slot;
    mark->word = trampoline_of(marks, gate, ra_slot);
    mark->serial = ++marks->last_serial;
    for (int heap = 0; heap < MPROF_HEAPS; heap++)
        mark->outside[heap].tree = 0;
    mprof__store_release(&marks->count, i + 1);
    *slot = mark->word;
    if (MPROF__CHECKS)
        mprof__marks_check(marks);
    return (int)i;
}

void mprof__marks_drop(struct mprof__marks *marks, uint32_t count) {
    if (count < marks->count)
        forget_from(marks, count, marks->count);
    if (MPROF__CHECKS)
        mprof__marks_check(marks);
}

void mprof__marks_thin(struct mprof__marks *marks) {
    struct mprof__reach asked = {0, 0};
    uint32_t count = marks->count, kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct mprof__mark *mark = &marks->mark[i];
        if (i % 2 != 0) {
            put_back(mark, &asked);
            continue;
        }
        marks->mark[kept] = *mark;
        marks->mark[kept++].serial = ++marks->last_serial;
    }
    forget_from(marks, kept, count);
    if (MPROF__CHECKS)
        mprof__marks_check(marks);
}
