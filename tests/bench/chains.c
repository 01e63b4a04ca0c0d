/* chains.c SHAPE - allocate at the end of 100,000 chains, of 111,110 nodes.
 *
 * levels: five levels of ten functions, each of which calls all of the next.
 * cycle: ten functions that call each other and themselves, five deep.
 */
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))
/* Keep a call at the end of a function from becoming a jump. */
#define STAY __asm__ volatile("" ::: "memory")

typedef void function(int depth);

static char *volatile sink;

/* Call all of NEXT, or allocate at the end of the chain. */
#define CALL(next, digit)                                                      \
    if (depth == 1)                                                            \
        sink = malloc(8 + 8 * digit);                                          \
    for (int i = 0; depth > 1 && i < 10; i++)                                  \
    (next)[i](depth - 1)

#define FUNCTION(level, digit, next)                                           \
    static NOINLINE void level##_##digit(int depth) {                          \
        CALL(next, digit);                                                     \
        STAY;                                                                  \
    }

/* Functions LEVEL_0 to LEVEL_9 and a table of them. */
#define LEVEL(level, next)                                                     \
    FUNCTION(level, 0, next)                                                   \
    FUNCTION(level, 1, next)                                                   \
    FUNCTION(level, 2, next)                                                   \
    FUNCTION(level, 3, next)                                                   \
    FUNCTION(level, 4, next)                                                   \
    FUNCTION(level, 5, next)                                                   \
    FUNCTION(level, 6, next)                                                   \
    FUNCTION(level, 7, next)                                                   \
    FUNCTION(level, 8, next)                                                   \
    FUNCTION(level, 9, next)                                                   \
    static function *const level##_all[10] = {                                 \
        level##_0, level##_1, level##_2, level##_3, level##_4,                 \
        level##_5, level##_6, level##_7, level##_8, level##_9}

static function *const cycle_all[10];

LEVEL(cycle, cycle_all);
LEVEL(fifth, cycle_all);
LEVEL(fourth, fifth_all);
LEVEL(third, fourth_all);
LEVEL(second, third_all);
LEVEL(first, second_all);

int main(int argc, char **argv) {
    function *const *all =
        argc == 2 && strcmp(argv[1], "cycle") == 0 ? cycle_all : first_all;
    for (int i = 0; i < 10; i++)
        all[i](5);
    return 0;
}
