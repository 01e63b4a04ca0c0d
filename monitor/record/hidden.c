/* hidden.c - see hidden.h.
 *
 * As the reader says (report/graph/functions.c): a function of Lisp by the name
 * that it has in the data file, one of C by its symbol in the library.
 */
#include "monitor/record/hidden.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "monitor/base/atomic.h"
#include "monitor/base/elf_image.h"
#include "monitor/format/plumbing.h"
#include "monitor/record/adapter.h"
#include "monitor/record/thread.h"

enum { SHOWN = 1, HIDDEN = 2, PATH_BYTES = 4096 };

/* Write the STRING at REF, or "", into TEXT of SIZE bytes. */
static void text_of(const struct mprof__arena *arena, mprof_ref ref, char *text,
                    size_t size) {
    const struct mprof_string *string = mprof__arena_at(arena, ref);
    size_t length = ref == 0 ? 0 : string->length;
    if (length >= size)
        length = size - 1;
    memcpy(text, string->text, length);
    text[length] = '\0';
}

/* What is known of a function by its names; mapped, as stacks may be small. */
struct names {
    char lisp[MPROF__NAME_BYTES], symbol[MPROF__NAME_BYTES];
    char path[PATH_BYTES];
};

/* By its symbol, without what tells a part or a copy of it. */
static bool is_hidden_c(uint64_t address, struct names *names) {
    struct mprof__image image = {.base = NULL};
    int state, saved = errno;
    /* All symbols of a large program would take long. */
    if (!mprof__has_plumbing(names->path))
        return mprof__is_plumbing(NULL, "", names->path);
    /* open() is where threads are cancelled; malloc() is not. */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    mprof__image_open(&image, names->path);
    pthread_setcancelstate(state, NULL);
    const char *found = mprof__image_symbol_at(&image, address);
    names->symbol[0] = '\0';
    if (found != NULL)
        strncpy(names->symbol, found, sizeof names->symbol - 1);
    mprof__image_close(&image);
    errno = saved;
    names->symbol[strcspn(names->symbol, ".")] = '\0';
    return mprof__is_plumbing(
        NULL, names->symbol[0] == '\0' ? NULL : names->symbol, names->path);
}

static bool is_hidden_by(const struct mprof__arena *arena,
                         const struct mprof_function *function,
                         struct names *names) {
    mprof_ref file = 0;
    if (function->module != 0) {
        const struct mprof_module *module =
            mprof__arena_at(arena, function->module);
        file = module->path;
    }
    text_of(arena, file, names->path, sizeof names->path);
    text_of(arena, mprof__load_relaxed(&function->name), names->lisp,
            sizeof names->lisp);
    text_of(arena, function->symbol, names->symbol, sizeof names->symbol);
    if (function->kind == MPROF_C)
        return is_hidden_c(function->address, names);
    return names->lisp[0] != '\0' &&
           mprof__is_plumbing(names->lisp,
                              function->kind == MPROF_LISP &&
                                      names->symbol[0] != '\0'
                                  ? names->symbol
                                  : NULL,
                              names->path);
}

static bool find_out(const struct mprof__arena *arena, mprof_ref ref) {
    const struct mprof_function *function = mprof__arena_at(arena, ref);
    if (function->kind == MPROF_TOPLEVEL || function->kind == MPROF_ENTRY)
        return true;
    if (function->kind == MPROF_UNKNOWN || function->kind == MPROF_FOLDED)
        return false;
    struct names *names = mprof__map(sizeof *names);
    if (names == NULL)
        return false;
    bool hidden = is_hidden_by(arena, function, names);
    mprof__unmap(names, sizeof *names);
    return hidden;
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
