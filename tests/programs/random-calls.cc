// random-calls.cc [-t] SEED STEPS [LIBRARY...] - calls at random.
//
// A program that does at random whatever can happen to a stack, and allocates
// everywhere: it calls functions of many shapes, throws, jumps, switches
// stacks, takes signals, starts and ends threads, opens and closes libraries.
// SEED decides what it does, STEPS how much.  It prints a checksum of
// everything, and what its own functions (those in the namespace walks)
// allocated; both are the same for the same arguments.
//
// -t: timers interrupt it as well; what their handler allocates, in the
//     function walks::tick, is not in the printed number.
//
// LIBRARY is random-library.c, compiled with the names one, then two.
#include "random-calls.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace walks {

bool with_timers;
int library_count;
char **libraries;

std::uint64_t number(Run *r) {
    std::uint64_t z = r->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

unsigned pick(Run *r, unsigned limit) {
    return static_cast<unsigned>((number(r) >> 32) * limit >> 32);
}

void wrong(const char *what) {
    std::fprintf(stderr, "random-calls: %s\n", what);
    std::abort();
}

// Memory

static void give_back(Slot *slot) {
    if (slot->memory == nullptr)
        return;
    unsigned char mark = static_cast<unsigned char>(slot->bytes);
    expect(slot->memory[0] == mark && slot->memory[slot->bytes - 1] == mark,
           "memory was changed");
    std::free(slot->memory);
    slot->memory = nullptr;
}

static void fill(Run *r, Slot *slot, void *memory, std::size_t bytes) {
    expect(memory != nullptr, "no memory");
    r->asked++;
    r->asked_bytes += bytes;
    *slot = {static_cast<unsigned char *>(memory), bytes};
    slot->memory[0] = slot->memory[bytes - 1] =
        static_cast<unsigned char>(bytes);
}

NOINLINE void keep(Run *r, void *memory, std::size_t bytes) {
    Slot *slot = &r->slots[pick(r, SLOTS)];
    give_back(slot);
    fill(r, slot, memory, bytes);
}

static std::size_t some_size(Run *r) {
    unsigned limit[] = {16, 60, 60, 200, 200, 1000, 5000};
    unsigned kind = pick(r, 500);
    return 1 + pick(r, kind == 0 ? 200000 : limit[kind % 7]);
}

NOINLINE static void ask_again(Run *r, std::size_t bytes) {
    Slot *slot = &r->slots[pick(r, SLOTS)];
    void *memory = std::realloc(slot->memory, bytes);
    expect(memory != nullptr, "no memory");
    if (slot->memory != nullptr)
        expect(*static_cast<unsigned char *>(memory) ==
                   static_cast<unsigned char>(slot->bytes),
               "memory was changed");
    fill(r, slot, memory, bytes);
}

void ask(Run *r) {
    std::size_t bytes = some_size(r);
    void *memory = nullptr;
    switch (pick(r, 12)) {
    case 0:
        keep(r, std::calloc(1, bytes), bytes);
        break;
    case 1:
        keep(r, aligned_alloc(64, bytes), bytes);
        break;
    case 2:
        expect(posix_memalign(&memory, 128, bytes) == 0, "no memory");
        keep(r, memory, bytes);
        break;
    case 3:
    case 4:
        ask_again(r, bytes);
        break;
    default:
        ASK(r, bytes);
    }
}

Run *new_run(Run *parent) {
    Run *r = static_cast<Run *>(std::calloc(1, sizeof *r));
    expect(r != nullptr, "no memory");
    parent->asked++;
    parent->asked_bytes += sizeof *r;
    r->state = number(parent);
    r->host = parent->host;
    r->nested = parent->nested;
    return r;
}

void end_run(Run *parent, Run *r) {
    drop_coroutines(r);
    parent->sum = parent->sum * 31 + r->sum;
    parent->asked += r->asked;
    parent->asked_bytes += r->asked_bytes;
    if (r->budget > 0)
        parent->budget += r->budget;
    for (Slot &slot : r->slots)
        give_back(&slot);
    std::free(r);
}

// What comes next

static std::uint64_t ask_more(Run *r) {
    for (unsigned n = 1 + pick(r, 4); n > 0; n--)
        ask(r);
    return 12;
}

static std::uint64_t call_shape(Run *r) {
    return shapes[pick(r, shape_count)](r);
}

static const struct {
    unsigned weight; // out of 1000
    Action action;
} turns[] = {
    {454, call_shape},  {50, guard},         {60, catch_oops},
    {22, throw_oops},   {50, land},          {16, leap},
    {40, take_signal},  {40, use_coroutine}, {40, yield_back},
    {4, start_threads}, {20, leave_thread},  {4, pass_library},
    {3, throw_deep},    {8, look_back},      {2, plunge},
    {1, fork_once},     {4, be_calm},        {1, return_stepwise},
    {181, ask_more},
};

static std::uint64_t take_turn(Run *r) {
    unsigned n = pick(r, 1000), i = 0;
    while (n >= turns[i].weight)
        n -= turns[i++].weight;
    return turns[i].action(r);
}

NOINLINE static std::uint64_t choose(Run *r) {
    ask(r);
    if (r->budget <= 0 || r->at.room <= 0)
        return pick(r, 100);
    r->budget--;
    std::uint64_t x = 0;
    for (unsigned n = 1 + pick(r, 3); n > 0; n--)
        x = x * 31 + take_turn(r);
    return x;
}

NOINLINE std::uint64_t act(Run *r) {
    r->at.acts++;
    r->at.room--;
    std::uint64_t x = choose(r);
    r->at.room++;
    r->at.acts--;
    r->sum = r->sum * 31 + x;
    return x;
}

NOINLINE void act_all(Run *r) {
    const Place place = r->at;
    while (r->budget > 0) {
        r->at = place;
        r->at.room = 4 + static_cast<int>(pick(r, 60));
        if (pick(r, 2) == 0)
            catch_oops(r);
        else
            land(r);
    }
    r->at = place;
}

NOINLINE static int run_all(std::uint64_t seed, long steps) {
    static Run outside, *r;
    Host host = {};
    outside.state = seed;
    r = new_run(&outside);
    r->budget = steps;
    r->forks = 3;
    catch_signals();
    find_unwinder();
    enter_host(&host, r);
    act_all(r);
    leave_host(&host);
    end_run(&outside, r);
    std::printf("sum %016llx\nasked %llu %llu\n",
                static_cast<unsigned long long>(outside.sum),
                static_cast<unsigned long long>(outside.asked),
                static_cast<unsigned long long>(outside.asked_bytes));
    return 0;
}

} // namespace walks

int main(int argc, char **argv) {
    int option;
    while ((option = getopt(argc, argv, "t")) != -1) {
        walks::with_timers |= option == 't';
        if (option == '?')
            return 2;
    }
    if (argc - optind < 2) {
        std::fputs("usage: random-calls [-t] SEED STEPS [LIBRARY...]\n",
                   stderr);
        return 2;
    }
    walks::library_count = argc - optind - 2;
    walks::libraries = argv + optind + 2;
    return walks::run_all(std::strtoull(argv[optind], nullptr, 10),
                          std::atol(argv[optind + 1]));
}
