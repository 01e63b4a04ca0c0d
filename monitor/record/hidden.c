/* hidden.c - see hidden.h.
 *
 * As the reader says (report/graph/functions.c), by the name that the function
 * has in the data file, or else by its symbol.
 */
#include "monitor/record/hidden.h"

#include <link.h>
#include <string.h>

#include "monitor/base/elf_image.h"
#include "monitor/format/plumbing.h"
#include "monitor/record/adapter.h"
#include "monitor/record/thread.h"

enum { SHOWN = 1, HIDDEN = 2, PATH_BYTES = 4096 };

/* The STRING at REF, or "", in TEXT of SIZE bytes. */
static const char *text_of(const struct mprof__arena *arena, mprof_ref ref,
                           char *text, size_t size) {
    const struct mprof_string *string = mprof__arena_at(arena, ref);
    size_t length = ref == 0 ? 0 : string->length;
    if (length >= size)
        length = size - 1;
    memcpy(text, string->text, length);
    text[length] = '\0';
    return text;
}

/* Libraries that have plumbing among functions that are shown.  All symbols of
 * a large program would take long. */
static bool has_plumbing(const char *path) {
    static const char *const names[] = {"libecl.", "libc.so", "libstdc++.so",
                                        "libc++."};
    const char *slash = strrchr(path, '/');
    const char *file = slash == NULL ? path : slash + 1;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strncmp(file, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* By its symbol, without what tells a part or a copy of it. */
static bool is_hidden_c(uint64_t address, const char *path) {
    char symbol[MPROF__NAME_BYTES] = "";
    struct mprof__image image = {.base = NULL};
    if (!has_plumbing(path))
        return mprof__is_plumbing(NULL, "", path);
    mprof__image_open(&image, path);
    const char *found = mprof__image_symbol_at(&image, address);
    if (found != NULL)
        strncpy(symbol, found, sizeof symbol - 1);
    mprof__image_close(&image);
    symbol[strcspn(symbol, ".")] = '\0';
    return mprof__is_plumbing(NULL, symbol[0] == '\0' ? NULL : symbol, path);
}

static bool find_out(const struct mprof__arena *arena, mprof_ref ref) {
    const struct mprof_function *function = mprof__arena_at(arena, ref);
    char name[MPROF__NAME_BYTES], symbol[MPROF__NAME_BYTES], path[PATH_BYTES];
    mprof_ref file = 0;
    if (function->kind == MPROF_TOPLEVEL || function->kind == MPROF_ENTRY)
        return true;
    if (function->kind == MPROF_UNKNOWN || function->kind == MPROF_FOLDED)
        return false;
    if (function->module != 0) {
        const struct mprof_module *module =
            mprof__arena_at(arena, function->module);
        file = module->path;
    }
    text_of(arena, file, path, sizeof path);
    text_of(arena, function->name, name, sizeof name);
    text_of(arena, function->symbol, symbol, sizeof symbol);
    if (name[0] != '\0' && function->kind != MPROF_C)
        return mprof__is_plumbing(
            name,
            function->kind == MPROF_LISP && symbol[0] != '\0' ? symbol : NULL,
            path);
    return function->kind == MPROF_C && is_hidden_c(function->address, path);
}

bool mprof__is_hidden(struct mprof__thread *thread, mprof_ref function) {
    struct mprof__table *known = &thread->tree.hidden;
    const struct mprof__slot *slot = mprof__table_find(known, function);
    if (slot != NULL)
        return slot->value == HIDDEN;
    bool hidden = find_out(&thread->session->arena, function);
    mprof__table_add(known, function, hidden ? HIDDEN : SHOWN);
    mprof__table_trim(known);
    return hidden;
}
