/* c-early.c - memory from before the monitor's time, or from beside it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *__libc_malloc(size_t bytes);
void __libc_free(void *block);

static char *early, *beside[10];

/* Before the constructor of any library. */
static void first_of_all(void) {
    early = malloc(41);
    strcpy(early, "early");
}

__attribute__((section(".preinit_array"),
               used)) static void (*preinit)(void) = first_of_all;

static void take_beside(void) {
    for (int i = 0; i < 10; i++)
        beside[i] = strcpy(__libc_malloc(42), "beside");
}

static void use_beside(void) {
    for (int i = 0; i < 5; i++)
        free(beside[i]);
    for (int i = 5; i < 10; i++)
        beside[i] = realloc(beside[i], 4300);
}

/* The allocator gives the same address again, and nobody saw it come back. */
static void give_beside(void) {
    for (int i = 0; i < 10; i++) {
        void *block = malloc(700);
        __libc_free(block);
    }
}

int main(void) {
    puts("early");
    take_beside();
    use_beside();
    give_beside();
    printf("%s %s\n", early, beside[9]);
    free(early);
    return 0;
}
