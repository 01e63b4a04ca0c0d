/* demangle.c - names of C++ as they are written in the program. */
#include "report/elf/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <string.h>

/* A part of a name that is written twice stands in the symbol once: no name is
 * longer than so many times its symbol. */
enum { LONGEST = 64, LEAST = 256 };

struct output {
    char *text; /* NULL: only its length is asked for */
    size_t length, most;
    jmp_buf too_long;
};

/* The demangler keeps nothing but what is on its stack. */
static void append(const char *text, size_t length, void *data) {
    struct output *output = data;
    if (length > output->most - output->length)
        longjmp(output->too_long, 1);
    if (output->text)
        memcpy(output->text + output->length, text, length);
    output->length += length;
}

static bool demangle(const char *symbol, struct output *output) {
    output->length = 0;
    if (setjmp(output->too_long))
        return false;
    return cplus_demangle_v3_callback(symbol, DMGL_PARAMS | DMGL_TYPES, append,
                                      output) != 0;
}

char *report__demangle(struct report__pool *pool, const char *symbol) {
    struct output output = {.most = LONGEST * strlen(symbol) + LEAST};

    /* Without this "f" would be the type float. */
    if (strncmp(symbol, "_Z", 2) != 0 || !demangle(symbol, &output))
        return NULL;
    output.most = output.length;
    char *text = report__alloc(pool, output.length + 1, 1);
    output.text = text;
    return demangle(symbol, &output) ? text : NULL;
}
