/* c-returns.c - what functions return is right, also when they allocate.
 *
 * Each function allocates, calls one that allocates, and returns a value of
 * another type in other registers; argument registers and registers that a
 * callee must save are checked in passing.
 */
#include <complex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 200 };

struct pair {
    long a, b;
};
struct mixed {
    double x;
    long n;
};
struct big {
    long n[9];
};
typedef float quad __attribute__((vector_size(16)));
typedef double wide __attribute__((vector_size(32)));

static void *volatile sink;

static void work(size_t bytes) {
    sink = malloc(bytes);
    free(sink);
}

#define RETURNS(type, name, ...)                                               \
    static type name(long n) {                                                 \
        work(24);                                                              \
        type value = __VA_ARGS__;                                              \
        work(40);                                                              \
        return value;                                                          \
    }

RETURNS(float, get_float, (float)n / 4)
RETURNS(double, get_double, (double)n / 8)
RETURNS(long double, get_long_double, (long double)n / 3)
RETURNS(double _Complex, get_complex, n + 2.0 * n * I)
RETURNS(float _Complex, get_float_complex, (float)n + 3.0f * (float)n * I)
RETURNS(long double _Complex, get_long_complex,
        (long double)n / 7 + (long double)n / 9 * I)
RETURNS(__int128, get_int128, ((__int128)n << 70) + n)
RETURNS(struct pair, get_pair, (struct pair){n, -n})
RETURNS(struct mixed, get_mixed, (struct mixed){(double)n / 2, n})
RETURNS(struct big, get_big, (struct big){{n, 1, 2, 3, 4, 5, 6, 7, -n}})
RETURNS(quad, get_quad, (quad){(float)n, 1, 2, 3})

__attribute__((target("avx"))) static wide get_wide(long n) {
    work(24);
    wide value = {(double)n, (double)n + 1, (double)n + 2, (double)n + 3};
    work(40);
    return value;
}

__attribute__((target("avx"))) static int wide_is_right(long n) {
    wide w = get_wide(n);
    return w[0] == n && w[3] == n + 3;
}

static double sum_of(int count, ...) {
    va_list list;
    double sum = 0;
    work(24);
    va_start(list, count);
    for (int i = 0; i < count; i++)
        sum += va_arg(list, double);
    va_end(list);
    work(40);
    return sum;
}

/* Keeps more values alive than there are registers for a caller to spare. */
static long saved(long a, long b, long c, long d, long e, long f) {
    long g = a * b, h = c * d, i = e * f, j = a + f;
    work((size_t)a);
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i +
           10 * j;
}

static void check(int good, const char *what, long n) {
    if (good)
        return;
    printf("%s is wrong at %ld\n", what, n);
    exit(1);
}

static void check_numbers(long n) {
    check(get_float(n) == (float)n / 4, "float", n);
    check(get_double(n) == (double)n / 8, "double", n);
    check(get_long_double(n) == (long double)n / 3, "long double", n);
    check(get_complex(n) == n + 2.0 * n * I, "complex", n);
    check(get_float_complex(n) == (float)n + 3.0f * (float)n * I,
          "float complex", n);
    check(get_long_complex(n) == (long double)n / 7 + (long double)n / 9 * I,
          "long double complex", n);
    check(get_int128(n) == ((__int128)n << 70) + n, "__int128", n);
    check(sum_of(5, 1.0, 2.0, (double)n, 4.0, 5.0) == 12.0 + n, "varargs", n);
}

static void check_structures(long n) {
    struct pair pair = get_pair(n);
    check(pair.a == n && pair.b == -n, "pair", n);
    struct mixed mixed = get_mixed(n);
    check(mixed.x == (double)n / 2 && mixed.n == n, "mixed", n);
    struct big big = get_big(n);
    check(big.n[0] == n && big.n[8] == -n && big.n[7] == 7, "big", n);
    quad q = get_quad(n);
    check(q[0] == (float)n && q[3] == 3, "vector", n);
    if (__builtin_cpu_supports("avx"))
        check(wide_is_right(n), "wide vector", n);
}

int main(void) {
    long sum = 0;
    for (long n = 1; n <= ROUNDS; n++) {
        check_numbers(n);
        check_structures(n);
        sum += saved(n, n + 1, n + 2, n + 3, n + 4, n + 5);
    }
    printf("%ld\n", sum);
    return 0;
}
