/* demangle.c - names of C++, Rust and D as they are written in the program. */
#include "report/elf/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
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
    /* Rust's older names look like those of C++. */
    if (rust_demangle_callback(symbol, 0, append, output) != 0)
        return true;
    output->length = 0;
    /* Without "_Z", "f" would be the type float. */
    return strncmp(symbol, "_Z", 2) == 0 &&
           cplus_demangle_v3_callback(symbol, DMGL_PARAMS | DMGL_TYPES, append,
                                      output) != 0;
}

/* The demangler of D has no other way than to allocate. */
static char *demangle_d(struct report__pool *pool, const char *symbol) {
    enum { LONGEST_D = 1024 };
    char *text = strlen(symbol) > LONGEST_D ? NULL : dlang_demangle(symbol, 0);
    char *copy = text == NULL || strlen(text) > LONGEST * strlen(symbol) + LEAST
                     ? NULL
                     : report__format(pool, "%s", text);
    free(text);
    return copy;
}

char *report__demangle(struct report__pool *pool, const char *symbol) {
    struct output output = {.most = LONGEST * strlen(symbol) + LEAST};

    if (strncmp(symbol, "_D", 2) == 0)
        return demangle_d(pool, symbol);
    if ((strncmp(symbol, "_Z", 2) != 0 && strncmp(symbol, "_R", 2) != 0) ||
        !demangle(symbol, &output))
        return NULL;
    output.most = output.length;
    char *text = report__alloc(pool, output.length + 1, 1);
    output.text = text;
    return demangle(symbol, &output) ? text : NULL;
}
