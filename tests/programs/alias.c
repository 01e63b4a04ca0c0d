/* alias.c - a recursion whose function has two names at one address: "again"
 * and "again.localalias", which is no part of another one.  To be compiled
 * twice, as a library with -fPIC -fno-semantic-interposition, and with
 * -DPROGRAM. */
#include <stdint.h>
#include <stdlib.h>

int again(int n);

static void *volatile kept; /* so that the compiler does not leave it out */

#ifdef PROGRAM
enum { TURNS = 20000, DEPTH = 10 };

static uint64_t seed = 1988;

static int go_on(int depth);

#define FUNCTION(name, n)                                                      \
    static __attribute__((noinline)) int name(int depth) {                     \
        kept = malloc(8);                                                      \
        free(kept);                                                            \
        return 1 + (depth <= 0 ? again(n) : go_on(depth - 1));                 \
    }
FUNCTION(one, 6)
FUNCTION(two, 7)
FUNCTION(three, 8)

static int go_on(int depth) {
    static int (*const all[])(int) = {one, two, three};
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return 1 + all[(seed >> 33) % 3](depth);
}

int main(void) {
    int sum = 0;
    for (int i = 0; i < TURNS; i++)
        sum += go_on(DEPTH);
    return sum == 0;
}
#else
static __attribute__((noinline)) int other(int n) {
    return 1 + (n > 3 ? again(n - 4) : 1);
}

int again(int n) {
    if (n <= 0) {
        kept = malloc(10);
        free(kept);
        return 1;
    }
    return again(n - 1) + other(n) + 3 * again(n / 2);
}
#endif
