// random-calls.h - what the parts of the program random-calls share.
//
// A run is a sequence of random calls with a generator of its own.  A thread or
// a coroutine has a run; all that happens in it follows from its first number.
// Functions that allocate themselves are in the namespace walks, so that they
// can be told from the libraries' in a profile.
#ifndef RANDOM_CALLS_H
#define RANDOM_CALLS_H

#include <csetjmp>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <ucontext.h>

#define NOINLINE __attribute__((noinline))
#if defined __GNUC__ && !defined __clang__
#define FRAME __attribute__((noinline, optimize("no-omit-frame-pointer")))
#define NO_FRAME __attribute__((noinline, optimize("omit-frame-pointer")))
#else
#define FRAME NOINLINE
#define NO_FRAME NOINLINE
#endif

namespace walks {

struct Coroutine;
struct Jump;
struct Run;

// Thrown by a run, caught by itself.
struct Oops {
    Run *run;
    unsigned levels; // how many catchers throw it on
    char text[40];
};

// A thread.
struct Host {
    Run *volatile run; // what it runs now
    bool on_alternate; // its signal stack is in use
    void *alternate;
    timer_t timer;
};

// What is true of the place where a run is: restored when control comes back
// there without a return.
struct Place {
    int room;          // calls that may be made further in
    int catchers;      // of Oops, which can be reached from here
    Jump *jump;        // to which longjmp() may go; or NULL
    bool leaves;       // the thread may end here
    bool on_alternate; // this run itself uses its host's signal stack
    bool stays;        // it may not switch to another stack
    bool plunging;     // thousands deep
    long acts;         // frames of act()
};

struct Jump {
    jmp_buf buffer;
    Place outer;
};

enum class Leave { by_return, by_exit, by_cancel, by_force };

struct Slot {
    unsigned char *memory;
    std::size_t bytes;
};

enum { SLOTS = 48, COROUTINES = 3 };

struct Run {
    std::uint64_t state, sum;
    std::uint64_t asked, asked_bytes; // that it made itself
    long budget;                      // calls to make
    Place at;
    Host *host;
    Coroutine *self; // whose run this is; or NULL
    Leave leave;
    bool ready; // to be cancelled; atomic
    int nested; // threads between this one and the first
    int level;  // of coroutines
    int forks;  // that are still allowed
    Slot slots[SLOTS];
    Coroutine *coroutines[COROUTINES];
};

extern bool with_timers;
extern int library_count;
extern char **libraries;

// A number below LIMIT.
unsigned pick(Run *r, unsigned limit);
std::uint64_t number(Run *r);

// Complain and end the program.
[[noreturn]] void wrong(const char *what);
static inline void expect(bool good, const char *what) {
    if (!good)
        wrong(what);
}

// Make something of random size in a random slot, in place of what was there.
void ask(Run *r);
// The same of a given size, by a call of the caller's own.
void keep(Run *r, void *memory, std::size_t bytes);
#define ASK(r, bytes) walks::keep(r, std::malloc(bytes), bytes)

// Go on at random: the function that everything comes through.
std::uint64_t act(Run *r);

Run *new_run(Run *parent);
// Take over what it counted, and what it owns.
void end_run(Run *parent, Run *r);

// Something that allocates when it is destroyed.
struct Guard {
    Run *run;
    Place at;
    explicit Guard(Run *r);
    ~Guard();
};

using Action = std::uint64_t (*)(Run *);

// random-calls.cc
void act_all(Run *r); // until the budget is used up

// random-shapes.cc
extern const Action shapes[];
extern const unsigned shape_count;

// random-exits.cc
void seal(Place *at); // nothing leaves it but by a return
void find_unwinder();
void count_acts(const Run *r);
std::uint64_t throw_oops(Run *r);
std::uint64_t catch_oops(Run *r);
std::uint64_t land(Run *r); // where leap() comes to
std::uint64_t leap(Run *r);
std::uint64_t guard(Run *r);
std::uint64_t throw_deep(Run *r);
std::uint64_t look_back(Run *r);
std::uint64_t pass_library(Run *r);
std::uint64_t plunge(Run *r);
std::uint64_t fork_once(Run *r);

// random-stacks.cc
std::uint64_t use_coroutine(Run *r);
std::uint64_t yield_back(Run *r);
void drop_coroutines(Run *r);
std::uint64_t start_threads(Run *r);
std::uint64_t leave_thread(Run *r);
void enter_host(Host *host, Run *r);
void leave_host(Host *host);
void set_timer(Host *host);

// random-signals.cc
void catch_signals();
std::uint64_t take_signal(Run *r);
std::uint64_t be_calm(Run *r);
std::uint64_t return_stepwise(Run *r);

// The thread that this is.
Host *here();
void be_here(Host *host);

} // namespace walks

#endif
