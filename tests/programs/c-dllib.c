/* c-dllib.c - a library that allocates as it comes, works and goes.
 *
 * NAME(x) makes its functions' names: -D'NAME(x)=one_##x'. */
#include <stdlib.h>

#define API __attribute__((visibility("default")))

API void *NAME(make)(size_t bytes);

static void *volatile held;

static void NAME(hidden)(size_t bytes) {
    held = malloc(bytes);
}

__attribute__((constructor)) static void NAME(begin)(void) {
    NAME(hidden)(40);
}

__attribute__((destructor)) static void NAME(end)(void) {
    free(held);
    free(malloc(60));
}

API void *NAME(make)(size_t bytes) {
    return malloc(bytes);
}
