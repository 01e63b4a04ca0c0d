/* c-under-locks.c - the first malloc() of the process comes from a function of
 * the C library that has one of its locks:
 *
 *     c-under-locks locale | domain | atexit | atfork
 *
 * After it that lock is taken once more. */
#define _GNU_SOURCE
#include <libintl.h>
#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 100 };

static void nothing(void) {
}

/* Before the constructors of libraries, and so of what is preloaded. */
static void first_of_all(int argc, char **argv, char **environment) {
    (void)environment;
    const char *lock = argc > 1 ? argv[1] : "";
    if (strcmp(lock, "locale") == 0)
        newlocale(LC_ALL_MASK, "C.UTF-8", (locale_t)0);
    if (strcmp(lock, "domain") == 0)
        bindtextdomain("nothing", "/nowhere");
    for (int i = 0; i < MANY && strcmp(lock, "atexit") == 0; i++)
        atexit(nothing);
    for (int i = 0; i < MANY && strcmp(lock, "atfork") == 0; i++)
        pthread_atfork(nothing, nothing, nothing);
}
__attribute__((section(".preinit_array"),
               used)) static void (*preinit)(int, char **,
                                             char **) = first_of_all;

int main(void) {
    setlocale(LC_ALL, "C.UTF-8");
    setlocale(LC_ALL, "C");
    bindtextdomain("nothing", "/nowhere");
    atexit(nothing);
    pthread_atfork(nothing, nothing, nothing);
    puts(gettext("fine"));
    return 0;
}
