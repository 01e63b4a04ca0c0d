// random-exits.cc - random-calls: ways out of frames, and ways far in.
#include "random-calls.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <execinfo.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unwind.h>

namespace walks {

// Ways out

// Control is back where PLACE was noted.
static void come_back(Run *r, const Place &place) {
    if (r->at.on_alternate && !place.on_alternate)
        r->host->on_alternate = false;
    r->at = place;
}

// Nothing that is called from here may leave but by returning.
void seal(Place *at) {
    at->catchers = 0;
    at->jump = nullptr;
    at->leaves = false;
}

std::uint64_t throw_oops(Run *r) {
    if (r->at.catchers == 0)
        return 1;
    if (pick(r, 2) == 0)
        ask(r);
    throw Oops{r, pick(r, 4), "thrown"};
}

static void throw_on(Run *r, Oops &oops) {
    oops.levels--;
    if (pick(r, 2) == 0)
        throw;
    throw Oops{r, oops.levels, "thrown"};
}

NOINLINE std::uint64_t catch_oops(Run *r) {
    const Place outer = r->at;
    std::uint64_t x = 2;
    r->at.catchers++;
    try {
        x += act(r);
    } catch (Oops &oops) {
        come_back(r, outer);
        expect(oops.run == r && std::strcmp(oops.text, "thrown") == 0,
               "another exception");
        // To jump out of here would leave the exception behind.
        r->at.jump = nullptr;
        ask(r);
        if (oops.levels > 0 && outer.catchers > 0)
            throw_on(r, oops);
        x += pick(r, 3) == 0 ? act(r) : 3;
    }
    r->at = outer;
    return x;
}

NOINLINE std::uint64_t land(Run *r) {
    Jump jump;
    jump.outer = r->at;
    std::uint64_t x = 4;
    if (setjmp(jump.buffer) == 0) {
        r->at.jump = &jump;
        x = act(r);
        r->at = jump.outer;
        return x;
    }
    come_back(r, jump.outer);
    ask(r);
    return 5;
}

std::uint64_t leap(Run *r) {
    if (r->at.jump == nullptr)
        return 6;
    longjmp(r->at.jump->buffer, 7);
}

Guard::Guard(Run *r) : run(r), at(r->at) {
    ask(run);
}

Guard::~Guard() {
    const Place now = run->at;
    run->at = at;
    run->at.on_alternate = now.on_alternate;
    seal(&run->at);
    ask(run);
    if (pick(run, 6) == 0)
        act(run);
    run->at = now;
}

NOINLINE std::uint64_t guard(Run *r) {
    Guard first(r);
    std::uint64_t x = act(r);
    if (pick(r, 2) == 0) {
        Guard second(r);
        x += act(r);
    }
    return x;
}

// A throw that looks for its catcher first, and comes there after destructors
// that allocate deeply: the stack must look the same to it.

NOINLINE static unsigned dig(Run *r, unsigned n) {
    ASK(r, 61);
    unsigned x = n > 0 ? dig(r, n - 1) + 1 : 0;
    ASK(r, 62);
    return x;
}

struct Digger {
    Run *run;
    NOINLINE ~Digger() {
        for (int i = 0; i < 3; i++)
            dig(run, 40);
    }
};

NOINLINE static unsigned throw_below(Run *r, unsigned n) {
    if (n > 0)
        return throw_below(r, n - 1) + 1;
    Digger digger = {r};
    throw n;
}

NOINLINE static unsigned catch_below(Run *r, unsigned n) {
    try {
        return throw_below(r, n) + 1;
    } catch (unsigned thrown) {
        return thrown;
    }
}

NOINLINE static unsigned stand_on(Run *r, unsigned n, unsigned below) {
    return n > 0 ? stand_on(r, n - 1, below) + 1 : catch_below(r, below) + 1;
}

std::uint64_t throw_deep(Run *r) {
    if (r->at.on_alternate)
        return 13;
    unsigned n = pick(r, 20);
    return stand_on(r, n, pick(r, 30));
}

// Looking at the stack

struct Look {
    long frames, acts;
};

static _Unwind_Reason_Code look_at(struct _Unwind_Context *context, void *to) {
    Look *look = static_cast<Look *>(to);
    void *pc = reinterpret_cast<void *>(_Unwind_GetIP(context) - 1);
    void *function = _Unwind_FindEnclosingFunction(pc);
    look->acts += function == reinterpret_cast<void *>(act);
    look->frames++;
    return _URC_NO_REASON;
}

// The function of the unwinder itself, behind whatever stands before it.
static decltype(&_Unwind_Backtrace) unwind = _Unwind_Backtrace;

void find_unwinder() {
    void *library = dlopen("libgcc_s.so.1", RTLD_NOW);
    void *function =
        library == nullptr ? nullptr : dlsym(library, "_Unwind_Backtrace");
    if (function != nullptr)
        unwind = reinterpret_cast<decltype(unwind)>(function);
}

void count_acts(const Run *r) {
    Look look = {0, 0};
    unwind(look_at, &look);
    expect(look.acts == r->at.acts, "frames are missing");
}

NOINLINE std::uint64_t look_back(Run *r) {
    void *frames[500];
    if (pick(r, 2) == 0)
        count_acts(r);
    Look look = {0, 0};
    _Unwind_Backtrace(look_at, &look);
    expect(look.acts == r->at.acts, "frames are missing");
    int n = backtrace(frames, 500);
    return static_cast<std::uint64_t>(n + look.frames);
}

// Libraries

static std::uint64_t act_through(void *run) {
    return act(static_cast<Run *>(run));
}

struct Library {
    void *handle;
    ~Library() {
        dlclose(handle);
    }
};

NOINLINE std::uint64_t pass_library(Run *r) {
    if (library_count == 0)
        return 9;
    unsigned which = pick(r, static_cast<unsigned>(library_count));
    Library library = {dlopen(libraries[which], RTLD_NOW)};
    expect(library.handle != nullptr, "a library cannot be opened");
    void *symbol =
        dlsym(library.handle, which == 0 ? "walks_one_pass" : "walks_two_pass");
    expect(symbol != nullptr, "the library has no such function");
    r->asked++;
    r->asked_bytes += 70;
    std::uint64_t x =
        reinterpret_cast<std::uint64_t (*)(std::uint64_t(*)(void *), void *)>(
            symbol)(act_through, r);
    r->asked++;
    r->asked_bytes += 80;
    return x;
}

// Thousands of frames

static std::uint64_t plunge_on(Run *r, unsigned n);

NO_FRAME static std::uint64_t plunge_small(Run *r, unsigned n) {
    return plunge_on(r, n) + 1;
}

FRAME static std::uint64_t plunge_large(Run *r, unsigned n) {
    volatile std::uint64_t room[6] = {n};
    return plunge_on(r, n) + room[0];
}

NOINLINE static std::uint64_t plunge_on(Run *r, unsigned n) {
    if (n == 0)
        return act(r) + act(r);
    if (n % 300 == 0)
        ask(r);
    std::uint64_t x =
        n % 3 == 0 ? plunge_large(r, n - 1) : plunge_small(r, n - 1);
    if (n % 400 == 0 && pick(r, 4) == 0)
        x += plunge_small(r, n - 1);
    return x;
}

std::uint64_t plunge(Run *r) {
    if (r->at.plunging || r->self != nullptr || r->at.on_alternate)
        return 10;
    const Place outer = r->at;
    r->at.plunging = true;
    r->at.room = 4;
    std::uint64_t x = plunge_on(r, 1000 + pick(r, 3000));
    r->at = outer;
    return x;
}

// Processes

// The child returns through the frames that its parent called.
NOINLINE static std::uint64_t fork_below(Run *r, int depth, pid_t *child) {
    ask(r);
    if (depth == 0) {
        *child = fork();
        expect(*child >= 0, "no process");
    }
    std::uint64_t x = depth == 0 ? 1 : fork_below(r, depth - 1, child) + 1;
    ask(r);
    return x;
}

std::uint64_t fork_once(Run *r) {
    if (r->forks == 0 || r->self != nullptr)
        return 11;
    r->forks--;
    pid_t child = -1;
    std::uint64_t x = fork_below(r, 40, &child);
    int code = static_cast<int>((x + r->state) & 127);
    if (child == 0)
        _exit(code);
    int status = 0;
    expect(waitpid(child, &status, 0) == child && WIFEXITED(status) &&
               WEXITSTATUS(status) == code,
           "the child ended otherwise");
    pid_t second = vfork();
    if (second == 0)
        _exit(7);
    waitpid(second, &status, 0);
    return x;
}

} // namespace walks
