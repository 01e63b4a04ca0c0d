/* c-strip.c - is stripped of all names but those the loader needs, as is the
 * library (c-dllib.c) that it is linked with. */
#include <stdio.h>
#include <stdlib.h>

void *one_make(size_t bytes);

static void *volatile sink;

static void nameless(void) {
    for (int i = 0; i < 5; i++)
        sink = malloc(35);
}

int main(void) {
    nameless();
    for (int i = 0; i < 6; i++)
        sink = one_make(45);
    puts("stripped");
    return 0;
}
