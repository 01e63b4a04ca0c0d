/* c-notables-main.c - calls code without unwind tables, and is called by it. */
#include <stdio.h>
#include <stdlib.h>

void without_tables(void);

static void *volatile sink;

static void with_tables(void) {
    for (int i = 0; i < 50; i++)
        sink = malloc(39);
}

int main(void) {
    without_tables();
    with_tables();
    puts("mixed");
    return 0;
}
