/* symbols.c - see symbols.h. */
#define _GNU_SOURCE
#include "monitor/names/symbols.h"

#include <errno.h>
#include <limits.h>
#include <link.h>
#include <string.h>
#include <sys/single_threaded.h>

#include "monitor/base/elf_image.h"
#include "monitor/base/self.h"
#include "monitor/format/plumbing.h"
#include "monitor/file/cut.h"
#include "monitor/names/modules.h"
#include "monitor/names/names.h"

/* Longer ones are mangled names of C++ that no table shows as a whole. */
enum { MOST_SYMBOL = 4096 };

struct mprof__own {
    struct mprof__own *next;
    uint64_t bias;
    struct mprof__symbols symbols;
    bool cut; /* by another process; atomic, see cut.h */
};

struct copying {
    struct mprof__names *names;
    const struct mprof__own *file;
    struct mprof__table best; /* FUNCTION -> its Elf64_Sym */
};

static bool starts(const char *path, const char *folder) {
    return strncmp(path, folder, strlen(folder)) == 0;
}

/* Is the file at PATH the program's own? */
static bool is_own_file(const char *path) {
    bool installed = (starts(path, "/usr/") && !starts(path, "/usr/local/")) ||
                     starts(path, "/lib") || starts(path, "/bin/") ||
                     starts(path, "/sbin/");
    return path[0] == '/' && !installed && !mprof__has_plumbing(path) &&
           !mprof__is_plumbing(NULL, "", path);
}

/* The function at ADDRESS of the file, if it needs a symbol; else 0. */
static mprof_ref function_at(const struct copying *c, uint64_t address) {
    const struct mprof__arena *arena = c->names->arena;
    const struct mprof__slot *slot =
        mprof__table_find(&c->names->functions, address + c->file->bias);
    if (slot == NULL || slot->value == 0)
        return 0;
    const struct mprof_function *function =
        mprof__arena_at(arena, (mprof_ref)slot->value);
    const struct mprof_module *module =
        mprof__arena_at(arena, function->module);
    return function->kind == MPROF_C && function->symbol == 0 &&
                   function->module != 0 && module->bias == c->file->bias
               ? (mprof_ref)slot->value
               : 0;
}

static int add_symbol(const struct mprof__symbols *symbols,
                      const Elf64_Sym *symbol, void *copying) {
    struct copying *c = copying;
    mprof_ref function = function_at(c, symbol->st_value);
    if (function == 0)
        return 0;
    struct mprof__slot *slot = mprof__table_find(&c->best, function);
    if (slot == NULL)
        mprof__table_add(&c->best, function, (uintptr_t)symbol);
    else if (mprof__is_better_symbol(symbols, symbol,
                                     (const Elf64_Sym *)slot->value))
        slot->value = (uintptr_t)symbol;
    return 0;
}

/* Write NAME, which is of FILE, for FUNCTION. */
static void write_name(struct mprof__arena *arena,
                       const struct mprof__own *file,
                       struct mprof_function *function, const char *name) {
    size_t length = strlen(name);
    if (length == 0 || length > MOST_SYMBOL ||
        mprof__load_acquire(&file->cut) ||
        !mprof__arena_has_room(arena, MPROF__FOR_CHAINS))
        return;
    function->symbol = mprof__arena_string(arena, name, length);
    function->copied = function->symbol != 0;
}

/* Copy the symbols of the FUNCTIONs in FILE. */
static void copy_symbols(struct mprof__names *names,
                         const struct mprof__own *file) {
    struct copying c = {.names = names, .file = file};
    mprof__symbols_each(&file->symbols, add_symbol, &c);
    const struct mprof__slots *slots = c.best.slots;
    for (size_t i = 0; slots != NULL && i <= slots->mask; i++)
        if (slots->slot[i].key != 0)
            write_name(
                names->arena, file,
                mprof__arena_at(names->arena, (mprof_ref)slots->slot[i].key),
                file->symbols.names +
                    ((const Elf64_Sym *)slots->slot[i].value)->st_name);
    mprof__table_free(&c.best);
}

void mprof__symbols_copy(struct mprof__names *names) {
    mprof__lock(&names->arena->lock);
    const struct mprof__own *file = names->own;
    if (file != NULL && mprof__arena_is_whole(names->arena))
        for (; file != NULL; file = file->next)
            copy_symbols(names, file);
    mprof__unlock(&names->arena->lock);
}

static void unmap(struct mprof__own *file) {
    if (file->symbols.map != NULL)
        mprof__cut_unwatch_region(file->symbols.map);
    mprof__symbols_unmap(&file->symbols);
}

void mprof__symbols_begin(struct mprof__names *names) {
    static char path[PATH_MAX]; /* not on a stack that may be small */
    int saved = errno;
    /* The program comes first, and stays; libraries others may be closing. */
    bool all = __libc_single_threaded && _r_debug.r_state == RT_CONSISTENT;
    const struct link_map *m = _r_debug.r_map;
    for (; m != NULL; m = all ? m->l_next : NULL) {
        mprof__module_path(m, path, sizeof path);
        struct mprof__own *file =
            is_own_file(path) ? mprof__chunks_alloc(names->memory, sizeof *file)
                              : NULL;
        if (file == NULL)
            continue;
        file->bias = m->l_addr;
        file->next = names->own;
        names->own = file;
        mprof__symbols_map(&file->symbols, path);
        if (file->symbols.map != NULL &&
            !mprof__cut_watch_region(file->symbols.map, file->symbols.map_bytes,
                                     &file->cut))
            unmap(file);
    }
    errno = saved;
}

void mprof__symbols_end(struct mprof__names *names) {
    for (; names->own != NULL; names->own = names->own->next)
        unmap(names->own);
}
