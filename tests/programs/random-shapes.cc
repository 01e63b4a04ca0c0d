// random-shapes.cc - random-calls: functions of many shapes.
//
// Each calls on in its middle, and what it returns, or keeps in registers and
// on the stack meanwhile, is checked afterwards.
#include "random-calls.h"

#include <alloca.h>
#include <cstdarg>
#include <cstdlib>
#include <cstring>

namespace walks {

// Values in other registers

struct Pair {
    long a, b;
    bool operator==(const Pair &p) const {
        return a == p.a && b == p.b;
    }
};

struct Mixed {
    double x;
    long n;
    bool operator==(const Mixed &m) const {
        return x == m.x && n == m.n;
    }
};

struct Big {
    long n[9];
    bool operator==(const Big &b) const {
        return std::memcmp(n, b.n, sizeof n) == 0;
    }
};

#define RETURNS(attributes, type, name, ...)                                   \
    attributes static type make_##name(Run *r, long n) {                       \
        type value = __VA_ARGS__;                                              \
        act(r);                                                                \
        ASK(r, static_cast<std::size_t>(n) + 1);                               \
        return value;                                                          \
    }                                                                          \
    NOINLINE static std::uint64_t name(Run *r) {                               \
        const long n = pick(r, 1000);                                          \
        expect(make_##name(r, n) == (type)__VA_ARGS__, #name " is wrong");     \
        return static_cast<std::uint64_t>(n);                                  \
    }

#define I __extension__ 1.0i
RETURNS(NO_FRAME, signed char, byte, (static_cast<signed char>(n % 100)))
RETURNS(FRAME, float, single, (static_cast<float>(n) / 4))
RETURNS(NO_FRAME, double, floating, (static_cast<double>(n) / 8))
RETURNS(FRAME, long double, extended, (static_cast<long double>(n) / 16))
RETURNS(NO_FRAME, double _Complex, complex,
        (static_cast<double>(n) + static_cast<double>(n) * 2.0 * I))
RETURNS(FRAME, float _Complex, single_complex,
        (static_cast<float _Complex>(static_cast<double>(n) + 3.0 * I)))
RETURNS(NO_FRAME, long double _Complex, extended_complex,
        (static_cast<long double>(n) / 32 + 5.0L * I))
__extension__ typedef __int128 int128;
RETURNS(FRAME, int128, wide, ((static_cast<int128>(n) << 70) + n))
RETURNS(NO_FRAME, Pair, pair, {n, -n})
RETURNS(FRAME, Mixed, mixed, {static_cast<double>(n) / 2, n})
RETURNS(NO_FRAME, Big, big, {{n, 1, 2, 3, 4, 5, 6, 7, -n}})

// Frames of other sizes and kinds

static unsigned char seven(std::size_t i) {
    return static_cast<unsigned char>(i * 7);
}

static void fill(volatile unsigned char *room, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; i += 61)
        room[i] = seven(i);
}

static void check(const volatile unsigned char *room, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; i += 61)
        expect(room[i] == seven(i), "a frame was changed");
}

#define FRAMES(attributes, name, bytes, ...)                                   \
    attributes static std::uint64_t name(Run *r) {                             \
        __VA_ARGS__ volatile unsigned char room[bytes];                        \
        fill(room, sizeof room);                                               \
        std::uint64_t x = act(r);                                              \
        check(room, sizeof room);                                              \
        return x + bytes;                                                      \
    }

FRAMES(NO_FRAME, frame_of_1, 1, )
FRAMES(FRAME, frame_of_100, 100, )
FRAMES(NO_FRAME, frame_of_120, 120, )
FRAMES(FRAME, frame_of_3000, 3000, )
FRAMES(NO_FRAME, frame_of_3500, 3500, )
FRAMES(NO_FRAME, aligned_32, 200, alignas(32))
FRAMES(NO_FRAME, aligned_128, 300, alignas(128))
FRAMES(FRAME, aligned_64, 40, alignas(64))

NO_FRAME static std::uint64_t any_size(Run *r) {
    std::size_t bytes = 1 + pick(r, 2000);
    volatile unsigned char *room =
        static_cast<volatile unsigned char *>(alloca(bytes));
    fill(room, bytes);
    std::uint64_t x = act(r);
    check(room, bytes);
    return x;
}

// One that grows while it calls
FRAME static std::uint64_t growing(Run *r) {
    std::uint64_t x = 0;
    alignas(64) volatile unsigned char fixed[64];
    fill(fixed, sizeof fixed);
    for (unsigned i = 0; i < 3; i++) {
        std::size_t bytes = 16 + pick(r, 300);
        volatile unsigned char *room =
            static_cast<volatile unsigned char *>(alloca(bytes));
        fill(room, bytes);
        if (pick(r, 2) == 0)
            x += act(r);
        else
            ASK(r, bytes);
        check(room, bytes);
    }
    check(fixed, sizeof fixed);
    return x;
}

NO_FRAME static std::uint64_t tail(Run *r) {
    ASK(r, 33);
    return act(r);
}

NO_FRAME static std::uint64_t tail_of_tail(Run *r) {
    return tail(r);
}

NOINLINE static void discard(Run *r) {
    act(r);
}

NO_FRAME static std::uint64_t without_value(Run *r) {
    discard(r);
    ASK(r, 34);
    return 1;
}

// More values than there are registers to keep them in
NO_FRAME static std::uint64_t many_values(Run *r) {
    std::uint64_t a = pick(r, 100), b = a * 3 + 1, c = b * 3 + 1, d = c * 3 + 1,
                  e = d * 3 + 1, f = e * 3 + 1, g = f * 3 + 1;
    double x = static_cast<double>(a) / 3, y = x * x;
    for (volatile unsigned i = 0; i < 2; i = i + 1)
        act(r);
    expect(b == a * 3 + 1 && c == b * 3 + 1 && d == c * 3 + 1 &&
               e == d * 3 + 1 && f == e * 3 + 1 && g == f * 3 + 1 &&
               x == static_cast<double>(a) / 3 && y == x * x,
           "registers were changed");
    return g;
}

NO_FRAME static long add_many(Run *r, long a, double b, long c, long d,
                              double e, long f, long g, long h, Big big) {
    act(r);
    return a + static_cast<long>(b + e) + c + d + f + g + h + big.n[8];
}

NOINLINE static std::uint64_t many_arguments(Run *r) {
    long n = pick(r, 1000);
    Big big = {{0, 1, 2, 3, 4, 5, 6, 7, n}};
    expect(add_many(r, n, 2, n, 4, 5, n, 7, n, big) == 5 * n + 18,
           "arguments were changed");
    return static_cast<std::uint64_t>(n);
}

FRAME static double add_any(Run *r, int count, ...) {
    va_list list;
    double sum = 0;
    va_start(list, count);
    for (int i = 0; i < count; i++) {
        sum += va_arg(list, double);
        if (i == count / 2)
            act(r);
    }
    va_end(list);
    return sum;
}

NOINLINE static std::uint64_t variadic(Run *r) {
    double n = pick(r, 1000);
    expect(add_any(r, 5, 1.0, n, 3.0, n, 5.0) == 9 + 2 * n,
           "variable arguments were changed");
    return 5;
}

#ifdef __x86_64__
// Keeps ten vector registers for its caller.
__attribute__((ms_abi, noinline)) static double foreign(Run *r, double x) {
    act(r);
    return x * 2;
}

NO_FRAME static std::uint64_t other_convention(Run *r) {
    double x = pick(r, 1000);
    expect(foreign(r, x) == x * 2, "another convention is wrong");
    return 6;
}

typedef double Wide __attribute__((vector_size(32)));

__attribute__((target("avx"), noinline)) static Wide make_vector(Run *r,
                                                                 double x) {
    act(r);
    Wide value = {x, x + 1, x + 2, x + 3};
    return value;
}

__attribute__((target("avx"), noinline)) static bool try_vector(Run *r) {
    double x = pick(r, 1000);
    Wide w = make_vector(r, x);
    return w[0] == x && w[1] == x + 1 && w[2] == x + 2 && w[3] == x + 3;
}

NOINLINE static std::uint64_t vector(Run *r) {
    if (__builtin_cpu_supports("avx"))
        expect(try_vector(r), "a vector is wrong");
    return 7;
}
#endif

// Through the C library

struct Item {
    Run *run;
    unsigned key;
};

static int compare(const void *a, const void *b) {
    const Item *x = static_cast<const Item *>(a),
               *y = static_cast<const Item *>(b);
    if (pick(x->run, 20) == 0)
        act(x->run);
    return x->key < y->key ? -1 : x->key > y->key;
}

NOINLINE static std::uint64_t sort(Run *r) {
    Item items[100];
    unsigned n = pick(r, 12) == 0 ? 100 : 3 + pick(r, 10);
    for (unsigned i = 0; i < n; i++)
        items[i] = {r, pick(r, 1000)};
    std::qsort(items, n, sizeof *items, compare);
    for (unsigned i = 1; i < n; i++)
        expect(items[i - 1].key <= items[i].key, "it is not sorted");
    Item *found = static_cast<Item *>(
        std::bsearch(&items[n / 2], items, n, sizeof *items, compare));
    expect(found != nullptr && found->key == items[n / 2].key, "not found");
    return n;
}

struct Shape {
    virtual ~Shape() {
    }
    virtual std::uint64_t draw(Run *r, int depth) = 0;
};

struct Leaf : Shape {
    NOINLINE std::uint64_t draw(Run *r, int) override {
        ASK(r, 35);
        return act(r);
    }
};

struct Branch : Shape {
    Leaf leaf;
    NOINLINE std::uint64_t draw(Run *r, int depth) override {
        Shape *next = depth > 0 ? static_cast<Shape *>(this) : &leaf;
        return next->draw(r, depth - 1) + 1;
    }
};

NOINLINE static std::uint64_t draw(Run *r) {
    Branch branch;
    return branch.draw(r, static_cast<int>(pick(r, 12)));
}

NO_FRAME static std::uint64_t by_lambda(Run *r) {
    long n = pick(r, 100);
    auto add = [ r, n ](long m) __attribute__((noinline)) {
        act(r);
        return n + m;
    };
    expect(add(5) == n + 5, "a closure was changed");
    return 8;
}

const Action shapes[] = {
    byte,
    single,
    floating,
    extended,
    complex,
    single_complex,
    extended_complex,
    wide,
    pair,
    mixed,
    big,
    frame_of_1,
    frame_of_100,
    frame_of_120,
    frame_of_3000,
    frame_of_3500,
    aligned_32,
    aligned_64,
    aligned_128,
    any_size,
    growing,
    tail,
    tail_of_tail,
    without_value,
    many_values,
    many_arguments,
    variadic,
    sort,
    draw,
    by_lambda,
#ifdef __x86_64__
    other_convention,
    vector,
#endif
};
const unsigned shape_count = sizeof shapes / sizeof *shapes;

} // namespace walks
