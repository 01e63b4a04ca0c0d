/* cxx_names.c - see cxx_names.h.
 *
 * The text is what the demangler of libiberty prints: brackets are balanced but
 * for those in the names of operators.
 */
#include "report/elf/cxx_names.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_';
}

/* The length of the name of an operator at AT, which is in TEXT, such as
 * "operator()" or "operator<<"; 0: there is none. */
static size_t operator_length(const char *text, const char *at) {
    static const char name[] = "operator";
    const size_t length = sizeof name - 1;

    if (!begins(at, name) || (at > text && is_letter(at[-1])) ||
        is_letter(at[length]))
        return 0;
    if (begins(at + length, "()"))
        return length + 2;
    return length + strspn(at + length, "<>=!+-*/%^&|~,[]");
}

/* The bracket that closes the one at TEXT; NULL: none does. */
static const char *closing(const char *text) {
    int depth = 0;

    for (const char *at = text; *at != '\0'; at++) {
        const size_t skipped = operator_length(text, at);
        if (skipped > 0) {
            at += skipped - 1;
            continue;
        }
        depth += strchr("<([{", *at) != NULL;
        depth -= strchr(">)]}", *at) != NULL;
        if (depth == 0)
            return at;
    }
    return NULL;
}

/* Of NAME, the function's qualified name, with PARAMETERS or without, into TO,
 * where there is room for all of it. */
static void take_qualified(const char *name, char *to, bool parameters) {
    char *const start = to;
    bool is_operator = false;

    for (const char *at = name; *at != '\0'; at++) {
        const size_t skipped = operator_length(name, at);
        const char *end = strchr("<([{", *at) ? closing(at) : NULL;
        if (skipped > 0) {
            memcpy(to, at, skipped);
            to += skipped;
            at += skipped - 1;
            is_operator = true;
        } else if (end && *at == '(' && !begins(at, "(anonymous ")) {
            /* A local name goes on behind its function. */
            if (parameters) {
                strcpy(to, at);
                return;
            }
            if (!begins(end + 1, "::") && !begins(end + 1, " const::"))
                break;
            at = end + (end[1] == ' ' ? strlen(" const") : 0);
        } else if (end && begins(at, "[abi:")) {
            at = end;
        } else if (end) {
            memcpy(to, at, (size_t)(end + 1 - at));
            to += end + 1 - at;
            at = end;
        } else if (*at == ' ' && !is_operator) {
            to = start; /* that was what it returns */
        } else {
            *to++ = *at;
        }
    }
    *to = '\0';
}

/* Remove LENGTH characters at TEXT. */
static void cut(char *text, size_t length) {
    memmove(text, text + length, strlen(text + length) + 1);
}

/* Default arguments of templates, and tags, within the brackets of TEXT. */
static void drop_defaults(char *text) {
    static const char *const defaults[] = {
        ", std::allocator<", ", std::char_traits<", ", std::less<",
        ", std::hash<",      ", std::equal_to<",    ", std::default_delete<"};

    for (char *at = text; *at != '\0'; at++) {
        const char *end = NULL;
        for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
            if (begins(at, defaults[i]))
                end = closing(at + strlen(defaults[i]) - 1);
        if (begins(at, "[abi:"))
            end = closing(at);
        if (end)
            cut(at, (size_t)(end + 1 - at));
        if (begins(at, "__cxx11::"))
            cut(at, strlen("__cxx11::"));
        if (*at == ' ' && at[1] == '>' && at > text)
            cut(at, 1);
    }
}

/* "std::basic_string<char>" is std::string. */
static void use_short_types(char *text) {
    static const char basic[] = "std::basic_", narrow[] = "<char>";

    for (char *at = text; (at = strstr(at, basic)) != NULL;) {
        char *name = at + strlen("std::");
        char *end = at + strlen(basic) +
                    strspn(at + strlen(basic), "abcdefghijklmnopqrstuvwxyz_");
        at++;
        if (!begins(end, narrow))
            continue;
        cut(end, strlen(narrow));
        cut(name, strlen("basic_"));
    }
}

const char *report__shorten_cxx(struct report__pool *pool, const char *name,
                                bool parameters) {
    static const char *const others[] = {"non-virtual thunk to ",
                                         "virtual thunk to ", "guard variable ",
                                         "covariant return thunk to "};
    char *text = report__copy(pool, name, strlen(name));
    size_t prefix = 0;

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (begins(name, others[i]))
            prefix = strlen(others[i]);
    take_qualified(name + prefix, text + prefix, parameters);
    if (text[prefix] == '\0')
        return name;
    drop_defaults(text);
    use_short_types(text);
    return text;
}

/* The symbol has a repeated part of a name only once.  No name is longer than
 * so many times its symbol. */
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
    /* Rust's older names look like C++ names. */
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
