// random-signals.cc - random-calls: signals, expected and unexpected.
//
// A handler may do everything when the run itself raised the signal.  Others
// come while the thread is `calm`: it does not allocate, throw or switch.
#include "random-calls.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

namespace walks {

static __thread volatile bool calm;
static __thread volatile unsigned noise;
static void *volatile sink;

// Signals that a run raises

// The end of a handler sets the thread's signal stack to what it was at the
// beginning, when the run may have been on another thread.
static void stay_on(void *context) {
    sigaltstack(nullptr, &static_cast<ucontext_t *>(context)->uc_stack);
}

static void handle(int signal, siginfo_t *, void *context) {
    Host *host = here();
    Run *r = host->run;
    const Place outer = r->at;
    if (signal == SIGUSR2) {
        host->on_alternate = true;
        r->at.on_alternate = true;
        if (r->at.room > 8)
            r->at.room = 8;
    }
    ASK(r, 51);
    act(r);
    r->at = outer;
    if (signal == SIGUSR2)
        host->on_alternate = false;
    else if (!outer.on_alternate)
        stay_on(context);
}

#ifdef __x86_64__
// An instruction that cannot be executed: go on behind it.
static void skip(int, siginfo_t *, void *context) {
    Run *r = here()->run;
    const Place outer = r->at;
    seal(&r->at);
    ASK(r, 52);
    act(r);
    r->at = outer;
    if (!outer.on_alternate)
        stay_on(context);
    static_cast<ucontext_t *>(context)->uc_mcontext.gregs[REG_RIP] += 2;
}

NO_FRAME static std::uint64_t stumble(Run *r) {
    std::uint64_t a = pick(r, 1000), b = a + 1, c = a + 2;
    __asm__ volatile("ud2" : "+r"(a), "+r"(b), "+r"(c) : : "memory", "cc");
    expect(b == a + 1 && c == a + 2, "a signal changed registers");
    return a;
}
#else
static std::uint64_t stumble(Run *) {
    return 1;
}
#endif

// Not known to the compiler as functions that never throw
static int (*volatile raise_somehow)(int) = raise;
static int (*volatile kill_somehow)(pthread_t, int) = pthread_kill;
static long (*volatile call_system)(long, ...) = syscall;

NOINLINE std::uint64_t take_signal(Run *r) {
    unsigned way = pick(r, 4), alternate = pick(r, 2);
    int signal = alternate && !r->host->on_alternate ? SIGUSR2 : SIGUSR1;
    switch (way) {
    case 0:
        return stumble(r);
    case 1:
        kill_somehow(pthread_self(), signal);
        break;
    case 2:
        call_system(SYS_tgkill, getpid(), call_system(SYS_gettid), signal);
        break;
    default:
        raise_somehow(signal);
    }
    return way;
}

// Signals that come by themselves

NOINLINE static void tick_below(unsigned depth) {
    sink = std::malloc(53);
    std::free(sink);
    if (depth > 0)
        tick_below(depth - 1);
    else if (++noise % 4 == 0)
        throw noise;
    sink = std::malloc(54);
    std::free(sink);
}

NOINLINE static void tick(int, siginfo_t *, void *) {
    int saved = errno;
    if (calm) {
        calm = false;
        try {
            tick_below(noise % 12);
        } catch (unsigned n) {
            expect(n == noise, "another exception in a handler");
        }
        calm = true;
    }
    if (here() != nullptr)
        set_timer(here());
    errno = saved;
}

// Deep in the stack something is allocated, and then all is quiet on the way
// back.  `loud` makes the steps of the way back heard.

static void (*const quiet)(bool) = [](bool on) { calm = on; };
static std::uint64_t climb(Run *r, unsigned n, void (*hush)(bool));

NO_FRAME static double climb_floating(Run *r, unsigned n, void (*hush)(bool)) {
    return static_cast<double>(climb(r, n, hush)) + 1.5;
}

FRAME static long double climb_extended(Run *r, unsigned n,
                                        void (*hush)(bool)) {
    volatile std::uint64_t room[20] = {n};
    return static_cast<long double>(climb(r, n, hush)) + room[0];
}

struct Three {
    std::uint64_t a, b, c;
};

NO_FRAME static Three climb_three(Run *r, unsigned n, void (*hush)(bool)) {
    return {1, climb(r, n, hush), n};
}

NO_FRAME static std::uint64_t climb(Run *r, unsigned n, void (*hush)(bool)) {
    if (n == 0) {
        for (int i = 0; i < 4; i++)
            ASK(r, 55);
        hush(true);
        return 1;
    }
    if (n % 4 == 0)
        return static_cast<std::uint64_t>(climb_floating(r, n - 1, hush));
    if (n % 4 == 1)
        return static_cast<std::uint64_t>(climb_extended(r, n - 1, hush)) % 997;
    if (n % 4 == 2)
        return climb_three(r, n - 1, hush).b + 1;
    return climb(r, n - 1, hush) + 1;
}

NOINLINE static unsigned busy(Run *r) {
    char from[2000], to[2000];
    std::memset(from, 'x', sizeof from);
    struct timespec now;
    unsigned n = 0;
    calm = true;
    for (unsigned i = 1; i < 60; i++) {
        std::memcpy(to, from, i * 30);
        std::memset(to, 0, i * 10);
        n += to[i * 30 - 1] == 'x';
        clock_gettime(CLOCK_MONOTONIC, &now);
    }
    calm = false;
    expect(n == 59 && r != nullptr, "memory was not copied");
    return n;
}

std::uint64_t be_calm(Run *r) {
    std::uint64_t x = 0;
    for (int i = 0; i < 20; i++) {
        x += climb(r, 20 + pick(r, 60), quiet);
        calm = false;
        x += busy(r);
    }
    return x;
}

// Every instruction on the way back is followed by a signal.

#if defined __x86_64__
extern "C" void random_calls_step(void);
extern "C" void random_calls_run(void);
__asm__(".text\n"
        ".type random_calls_step, @function\n"
        "random_calls_step:\n"
        ".cfi_startproc\n"
        "pushfq\n"
        ".cfi_adjust_cfa_offset 8\n"
        "orq $0x100, (%rsp)\n"
        "popfq\n"
        ".cfi_adjust_cfa_offset -8\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size random_calls_step, . - random_calls_step\n"
        ".type random_calls_run, @function\n"
        "random_calls_run:\n"
        ".cfi_startproc\n"
        "pushfq\n"
        ".cfi_adjust_cfa_offset 8\n"
        "andq $~0x100, (%rsp)\n"
        "popfq\n"
        ".cfi_adjust_cfa_offset -8\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size random_calls_run, . - random_calls_run\n");

NOINLINE static void tick_at_step(int, siginfo_t *, void *) {
    sink = std::malloc(56);
    std::free(sink);
    if (++noise % 8 == 0)
        count_acts(here()->run);
}

static void step(bool on) {
    if (on)
        random_calls_step();
    else
        random_calls_run();
}

NOINLINE std::uint64_t return_stepwise(Run *r) {
    if (pick(r, 6) != 0)
        return 3; // it takes long
    std::uint64_t x = climb(r, 20 + pick(r, 40), step);
    step(false);
    return x;
}
#else
std::uint64_t return_stepwise(Run *) {
    return 2;
}
#endif

static void on(int signal, void (*handler)(int, siginfo_t *, void *),
               int flags) {
    struct sigaction action = {};
    action.sa_sigaction = handler;
    action.sa_flags = flags | SA_RESTART | SA_SIGINFO;
    sigaction(signal, &action, nullptr);
}

void catch_signals() {
    on(SIGUSR1, handle, SA_NODEFER);
    on(SIGUSR2, handle, SA_NODEFER | SA_ONSTACK);
    on(SIGALRM, tick, 0);
#ifdef __x86_64__
    on(SIGTRAP, tick_at_step, 0);
    on(SIGILL, skip, SA_NODEFER);
#endif
}

} // namespace walks
