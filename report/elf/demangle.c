/* demangle.c - names of C++ as they are written in the program. */
#include "report/elf/demangle.h"

#include <stdlib.h>
#include <string.h>

/* Of the C++ library.  The text is from malloc(). */
char *__cxa_demangle(const char *name, char *buffer, size_t *length,
                     int *status);

char *report__demangle(struct report__pool *pool, const char *symbol) {
    int status;

    /* Without this "f" would be the type float. */
    if (strncmp(symbol, "_Z", 2) != 0)
        return NULL;
    char *text = __cxa_demangle(symbol, NULL, NULL, &status);
    if (!text)
        return NULL;
    size_t bytes = strlen(text) + 1;
    char *copy = report__try_alloc(pool, bytes, 1);
    if (copy)
        memcpy(copy, text, bytes);
    free(text);
    /* Nothing is lost if this one jumps. */
    return copy ? copy : report__alloc(pool, bytes, 1);
}
