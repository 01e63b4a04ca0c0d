/* random-library.c - a library that random-calls opens and closes.
 *
 * NAME(x) makes its functions' names: -D'NAME(x)=walks_one_##x'. */
#include <stdint.h>
#include <stdlib.h>

#define API __attribute__((visibility("default")))

API uint64_t NAME(pass)(uint64_t (*function)(void *), void *argument);

static void *volatile held;

/* Allocates once before the call and once after. */
uint64_t NAME(pass)(uint64_t (*function)(void *), void *argument) {
    void *block = malloc(70);
    held = block;
    uint64_t result = function(argument);
    free(block);
    held = malloc(80);
    free(held);
    return result + 1;
}
