/* local_names.c - see local_names.h. */
#define _GNU_SOURCE
#include "monitor/ecl/local_names.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/ecl/ecl_names.h"
#include "monitor/format/format.h"

/* A C name taken apart. */
struct c_name {
    bool local;
    long number;
    char name[128];  /* mangled; "" for a lambda */
    char origin[16]; /* "labels", "flet", "lambda", or "" */
    char outer[256]; /* mangled name of the function around it, or "" */
};

static bool take_apart(const char *symbol, struct c_name *c) {
    memset(c, 0, sizeof *c);
    if (*symbol++ != 'L')
        return false;
    c->local = *symbol == 'C';
    if (c->local)
        symbol++;
    if (!isdigit((unsigned char)*symbol))
        return false;
    char *rest;
    c->number = strtol(symbol, &rest, 10);
    /* The C compiler may append a dot and more: .cold, .isra.0 */
    size_t length = strcspn(rest, ".");
    const char *in = memmem(rest, length, "_in__", 5);
    const char *origin = in;
    while (origin != NULL && origin > rest && origin[-1] != '_')
        origin--;
    if (in != NULL && origin >= rest + 2) {
        snprintf(c->origin, sizeof c->origin, "%.*s", (int)(in - origin),
                 origin);
        snprintf(c->outer, sizeof c->outer, "%.*s",
                 (int)(length - (size_t)(in + 5 - rest)), in + 5);
        length = (size_t)(origin - 2 - rest);
    }
    /* The compiler turns a lambda into a FLET of a name without a package. */
    if (strncmp(rest, "__lambda", 8) != 0)
        snprintf(c->name, sizeof c->name, "%.*s", (int)length, rest);
    else
        strcpy(c->origin, "lambda");
    return true;
}

/* Search for the global function around a local one: the one with its name and
 * the least number above.  ECL's own functions have other names in C, such as
 * si_do_defsetf, and methods have none. */
struct find_outer {
    const struct c_name *inner;
    long number;
    uint64_t address; /* of its entry, where it has one beside its body */
};

static int maybe_outer(const char *symbol, uint64_t address, void *data) {
    struct find_outer *find = data;
    struct c_name c;
    if (symbol[0] != 'L' || !take_apart(symbol, &c) ||
        c.number <= find->inner->number || c.outer[0] != '\0')
        return 0;
    size_t length = strlen(find->inner->outer);
    if (strncmp(c.name, find->inner->outer, length) != 0)
        return 0;
    bool entry = strcmp(c.name + length, "_va") == 0;
    if (c.name[length] != '\0' && !entry)
        return 0;
    if (find->number == 0 || c.number < find->number ||
        (c.number == find->number && entry)) {
        find->number = c.number;
        find->address = address;
    }
    return 0;
}

/* Append the Lisp name for lisp-to-c-name's result, as well as possible. */
static void add_mangled(struct mprof__text *text, const char *name) {
    for (; *name != '\0'; name++) {
        char c[2] = {*name == '_' ? '-' : (char)toupper((unsigned char)*name),
                     '\0'};
        mprof__text_add(text, c);
    }
}

static void add_outer(struct mprof__text *text, const struct c_name *inner,
                      const struct mprof__image *image, uintptr_t bias,
                      struct mprof__source *source) {
    struct find_outer find = {.inner = inner};
    if (inner->outer[0] == '\0')
        return;
    mprof__image_symbols(image, maybe_outer, &find);
    mprof__text_add(text, " :IN ");
    if (find.number != 0 && mprof__ecl_entry_name(bias + find.address, text)) {
        mprof__ecl_entry_source(bias + find.address, source);
        return;
    }
    if (mprof__ecl_mangled_name(inner->outer, text))
        return;
    /* The package is not known.  A function without a name is __lambda12. */
    if (inner->outer[0] != '_')
        mprof__text_add(text, "#:");
    add_mangled(text, inner->outer);
}

void mprof__local_name(const struct mprof__image *image, uintptr_t start,
                       uintptr_t bias, struct mprof__name *name) {
    const char *symbol = mprof__image_symbol_at(image, start - bias);
    if (symbol == NULL)
        return;
    snprintf(name->symbol, sizeof name->symbol, "%s", symbol);
    struct c_name c;
    /* A part is named by the reader, after its whole. */
    if (!take_apart(symbol, &c) || strstr(symbol, ".cold") != NULL ||
        strstr(symbol, ".part.") != NULL)
        return;
    struct mprof__text text;
    mprof__text_begin(&text, name->text, sizeof name->text);
    name->kind = MPROF_LISP;
    if (!c.local) {
        /* Declared local to its file; its package is not known. */
        mprof__text_add(&text, "#:");
        add_mangled(&text, c.name);
        return;
    }
    mprof__text_add(&text, "(");
    add_mangled(&text, c.origin[0] != '\0' ? c.origin : "local");
    if (c.name[0] != '\0') {
        mprof__text_add(&text, " ");
        add_mangled(&text, c.name);
    }
    add_outer(&text, &c, image, bias, &name->source);
    mprof__text_add(&text, ")");
}
