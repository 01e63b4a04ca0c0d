// random-stacks.cc - random-calls: coroutines and threads.
#include "random-calls.h"

#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace walks {

static const std::size_t stack_bytes = 256 * 1024, page = 4096;

static void *new_stack() {
    void *stack = mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    expect(stack != MAP_FAILED, "no stack");
    mprotect(stack, page, PROT_NONE);
    return stack;
}

// Coroutines

struct Coroutine {
    ucontext_t context, back;
    Run *run;
    void *stack;
    bool ended;
    void *exceptions[2]; // that are being handled, while it does not run
};

// What the C++ library knows of exceptions belongs to the stack.
NOINLINE static void swap_exceptions(Coroutine *c) {
    void *mine[2], *now = abi::__cxa_get_globals();
    std::memcpy(mine, now, sizeof mine);
    std::memcpy(now, c->exceptions, sizeof mine);
    std::memcpy(c->exceptions, mine, sizeof mine);
}

static void body(unsigned high, unsigned low) {
    Coroutine *c = reinterpret_cast<Coroutine *>(
        static_cast<std::uintptr_t>(high) << 32 | low);
    Run *r = c->run;
    do {
        r->at = Place();
        r->at.room = 3 + static_cast<int>(pick(r, 12));
        act(r);
        yield_back(r);
    } while (pick(r, 8) != 0);
    c->ended = true;
}

static Coroutine *new_coroutine(Run *r) {
    Coroutine *c = static_cast<Coroutine *>(std::calloc(1, sizeof *c));
    expect(c != nullptr, "no memory");
    r->asked++;
    r->asked_bytes += sizeof *c;
    c->run = new_run(r);
    c->run->self = c;
    c->run->level = r->level + 1;
    c->stack = new_stack();
    getcontext(&c->context);
    c->context.uc_stack.ss_sp = c->stack;
    c->context.uc_stack.ss_size = stack_bytes;
    c->context.uc_link = &c->back;
    std::uintptr_t self = reinterpret_cast<std::uintptr_t>(c);
    makecontext(&c->context, reinterpret_cast<void (*)()>(body), 2,
                static_cast<unsigned>(self >> 32), static_cast<unsigned>(self));
    return c;
}

static void drop(Run *r, Coroutine **place) {
    Coroutine *c = *place;
    *place = nullptr;
    end_run(r, c->run);
    munmap(c->stack, stack_bytes);
    std::free(c);
}

void drop_coroutines(Run *r) {
    for (Coroutine *&c : r->coroutines)
        if (c != nullptr)
            drop(r, &c);
}

NOINLINE static void resume(Run *r, Coroutine *c) {
    c->run->host = r->host;
    r->host->run = c->run;
    swap_exceptions(c);
    swapcontext(&c->back, &c->context);
    swap_exceptions(c);
    r->host->run = r;
}

std::uint64_t yield_back(Run *r) {
    Coroutine *c = r->self;
    if (c == nullptr || r->at.on_alternate || r->at.stays)
        return 1;
    swapcontext(&c->context, &c->back);
    return 2;
}

// Begin one, go on with one, or abandon it.
NOINLINE std::uint64_t use_coroutine(Run *r) {
    Coroutine **place = &r->coroutines[pick(r, COROUTINES)];
    if (*place == nullptr) {
        if (r->level >= 2)
            return 3;
        *place = new_coroutine(r);
    }
    Coroutine *c = *place;
    if (c->ended || pick(r, 15) == 0) {
        drop(r, place);
        return 4;
    }
    long budget = pick(r, 60);
    if (budget > r->budget)
        budget = r->budget > 0 ? r->budget : 0;
    r->budget -= budget;
    c->run->budget += budget;
    *place = nullptr; // it cannot be resumed meanwhile
    resume(r, c);
    *place = c;
    return c->run->sum;
}

// Threads

static __thread Host *this_thread;

NOINLINE Host *here() {
    return this_thread;
}

// Once: a handler that takes longer than the interval would never end.
void set_timer(Host *host) {
    struct itimerspec once = {{0, 0}, {0, 200000}};
    timer_settime(host->timer, 0, &once, nullptr);
}

static void make_timer(Host *host) {
    struct sigevent event = {};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGALRM;
#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif
    event.sigev_notify_thread_id = static_cast<int>(syscall(SYS_gettid));
    expect(timer_create(CLOCK_MONOTONIC, &event, &host->timer) == 0,
           "no timer");
    set_timer(host);
}

void enter_host(Host *host, Run *r) {
    host->run = r;
    r->host = host;
    this_thread = host;
    host->alternate = new_stack();
    stack_t stack = {};
    stack.ss_sp = static_cast<char *>(host->alternate) + page;
    stack.ss_size = stack_bytes - page;
    sigaltstack(&stack, nullptr);
    if (with_timers)
        make_timer(host);
}

void leave_host(Host *host) {
    this_thread = nullptr;
    if (with_timers)
        timer_delete(host->timer);
    stack_t none = {};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
    munmap(host->alternate, stack_bytes);
}

static void clean_up(void *run) {
    Run *r = static_cast<Run *>(run);
    const Place now = r->at;
    seal(&r->at);
    ASK(r, 41);
    if (pick(r, 3) == 0)
        act(r);
    r->at = now;
}

NOINLINE static unsigned spin(unsigned n) {
    return n < 2 ? n : spin(n - 1) + spin(n - 2);
}

// Called such that the compiler cannot know that it never throws.
static unsigned (*volatile spin_somehow)(unsigned) = spin;

NOINLINE static void await_end(Run *r) {
    if (r->leave == Leave::by_exit)
        pthread_exit(r);
    // A cancellation may strike anywhere in these, but not in a handler.
    sigset_t timers;
    sigemptyset(&timers);
    sigaddset(&timers, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &timers, nullptr);
    if (r->leave == Leave::by_force)
        pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, nullptr);
    __atomic_store_n(&r->ready, true, __ATOMIC_RELEASE);
    for (;;)
        if (r->leave == Leave::by_force)
            spin_somehow(25);
        else
            pause();
}

NOINLINE static void leave_below(Run *r, unsigned depth) {
    pthread_cleanup_push(clean_up, r);
    ask(r);
    if (depth == 0)
        await_end(r);
    else
        leave_below(r, depth - 1);
    pthread_cleanup_pop(0);
}

std::uint64_t leave_thread(Run *r) {
    if (!r->at.leaves)
        return 5;
    r->at.leaves = false;
    leave_below(r, pick(r, 20));
    return 6;
}

struct Hosting {
    Host host;
    explicit Hosting(Run *r) : host() {
        enter_host(&host, r);
    }
    ~Hosting() {
        leave_host(&host);
    }
};

static void *thread_body(void *run) {
    Run *r = static_cast<Run *>(run);
    Hosting hosting(r);
    r->at.leaves = r->leave != Leave::by_return;
    act_all(r);
    leave_thread(r);
    return nullptr;
}

static pthread_t start_thread(Run *r, Run *child) {
    pthread_t thread;
    child->nested = r->nested + 1;
    child->leave = static_cast<Leave>(pick(r, 4));
    child->budget = r->budget < 100 ? 0 : 10 + pick(r, 90);
    r->budget -= child->budget;
    // A coroutine may go with it, and comes back.
    unsigned i = pick(r, COROUTINES);
    child->coroutines[i] = r->coroutines[i];
    r->coroutines[i] = nullptr;
    expect(pthread_create(&thread, nullptr, thread_body, child) == 0,
           "no thread");
    return thread;
}

static void end_thread(Run *r, Run *child, pthread_t thread) {
    void *result = nullptr;
    if (child->leave >= Leave::by_cancel) {
        while (!__atomic_load_n(&child->ready, __ATOMIC_ACQUIRE))
            usleep(20);
        pthread_cancel(thread);
    }
    expect(pthread_join(thread, &result) == 0, "the thread is gone");
    void *expected = child->leave == Leave::by_return ? nullptr
                     : child->leave == Leave::by_exit ? child
                                                      : PTHREAD_CANCELED;
    expect(result == expected, "the thread ended otherwise");
    for (unsigned i = 0; i < COROUTINES; i++)
        if (r->coroutines[i] == nullptr) {
            r->coroutines[i] = child->coroutines[i];
            child->coroutines[i] = nullptr;
        }
    end_run(r, child);
}

NOINLINE std::uint64_t start_threads(Run *r) {
    if (r->nested >= 2 || r->budget < 100)
        return 7;
    const Place outer = r->at;
    unsigned count = 1 + pick(r, 3);
    Run *children[3];
    pthread_t threads[3];
    for (unsigned i = 0; i < count; i++) {
        children[i] = new_run(r);
        threads[i] = start_thread(r, children[i]);
    }
    // They must be joined.
    seal(&r->at);
    r->at.stays = true;
    std::uint64_t x = act(r);
    for (unsigned i = 0; i < count; i++)
        end_thread(r, children[i], threads[i]);
    r->at = outer;
    return x;
}

} // namespace walks
