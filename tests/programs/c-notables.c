/* c-notables.c - is compiled without unwind tables, and without frame
 * pointers; main (c-notables-main.c) is not. */
#include <stdlib.h>

void without_tables(void);

static void *volatile sink;

/* Keeps something that looks like a chain of frames on its stack. */
static void inner(size_t bytes) {
    volatile size_t words[5] = {bytes, 1, 2, 3, 4};
    sink = malloc(words[0]);
}

void without_tables(void) {
    for (int i = 0; i < 50; i++)
        inner(38);
}
