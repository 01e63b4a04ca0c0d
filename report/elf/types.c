/* types.c - the names of types by their size. */
#include "report/base/search.h"
#include "report/elf/types.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/elf/elf_file.h"
#include "report/elf/dwarf_types.h"

struct report__types {
    const char *missing;
    const char **names;                    /* by size, best first */
    uint32_t first[MPROF_LARGEST_BIN + 2]; /* in names, by size */
};

/* Memory to give back when the pool runs out of memory. */
struct work {
    struct report__pool scratch;
    struct report__elf_file file;
    struct report__type_walk walk;
};

/* The sentence for the program itself, PATH, when it is open. */
static const char *explain_contents(struct work *work,
                                    struct report__pool *pool,
                                    const char *path) {
    GElf_Addr bias;
    int gone = work->walk.split_gone;
    if (!report__elf_dwarf(&work->file, &bias))
        return report__elf_compressed(&work->file)
                   ? report__format(
                         pool,
                         "no types: the debug information of %s is compressed "
                         "in a way (zstd?) that elfutils %s cannot read; "
                         "objcopy --decompress-debug-sections undoes it",
                         path, dwfl_version(NULL))
                   : report__format(
                         pool, "no types: %s has no debug information", path);
    if (gone == 0)
        return NULL;
    const char *package = report__format(&work->scratch, "%s.dwp", path);
    return access(package, F_OK) == 0
               ? report__format(
                     pool,
                     "types and inlined functions may be missing: %s, which "
                     "describes %d unit%s, cannot be read by elfutils %s",
                     package, gone, gone == 1 ? "" : "s", dwfl_version(NULL))
               : report__format(pool,
                                "types may be missing: %d .dwo file%s of %s "
                                "cannot be read",
                                gone, gone == 1 ? "" : "s", path);
}

/* The sentence for the program itself. */
static const char *explain(struct work *work, struct report__pool *pool,
                           const char *path, enum report__elf_state state) {
    switch (state) {
    case MPROF__ELF_UNREADABLE:
        return report__format(pool, "no types: %s cannot be read", path);
    case MPROF__ELF_GONE:
        return report__format(pool, "no types: %s is not there any more", path);
    case MPROF__ELF_CHANGED:
        return report__format(
            pool, "no types: %s was changed since (build id differs)", path);
    case MPROF__ELF_OTHER:
        return report__format(pool, "no types: %s has no debug information",
                              path);
    case MPROF__ELF_OPEN:
        break;
    }
    return explain_contents(work, pool, path);
}

/* Add the types of one file; returns the sentence that says why it has none. */
static const char *read_file(struct work *work,
                             struct report__type_names *names, const char *path,
                             const struct report__module *module,
                             enum report__type_source source) {
    struct report__pool mark = work->scratch;
    enum report__elf_state state;
    const char *sentence;
    Dwarf *dwarf = NULL;
    GElf_Addr bias;

    state = report__elf_open(&work->file, path, module);
    if (state == MPROF__ELF_OPEN)
        dwarf = report__elf_dwarf(&work->file, &bias);
    work->walk = (struct report__type_walk){.pool = &work->scratch,
                                            .names = names,
                                            .source = source,
                                            .file = &work->file};
    if (dwarf)
        report__walk_types(&work->walk, dwarf);
    sentence = source == MPROF__PROGRAM
                   ? explain(work, names->pool, path, state)
                   : NULL;
    report__elf_close(&work->file);
    report__pool_release(&work->scratch, &mark);
    return sentence;
}

/* The monitor's own libraries are no part of the program; each file counts
 * once. */
static bool is_library(const struct report__profile *profile, uint32_t index) {
    const struct report__module *module = &profile->modules[index];
    const char *slash = strrchr(module->path, '/');

    return module->file == index && slash &&
           strcmp(module->path, profile->program) != 0 &&
           strncmp(slash + 1, "libmprof", 8) != 0;
}

static enum report__type_source source_of(const char *path) {
    static const char *const folders[] = {"/lib/", "/lib64/", "/usr/lib/",
                                          "/usr/lib64/"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (strncmp(path, folders[i], strlen(folders[i])) == 0)
            return MPROF__SYSTEM_LIBRARY;
    return MPROF__LIBRARY;
}

static const char *read_all(struct work *work, struct report__type_names *names,
                            const struct report__profile *profile,
                            const char *program, bool system) {
    const struct report__module *self = NULL;
    const char *sentence = profile->process_count > 0
                               ? "no types: these are several programs, not one"
                               : "no types: the program's name is not known";

    for (uint32_t i = 0; i < profile->module_count && !self; i++)
        if (strcmp(profile->modules[i].path, profile->program) == 0)
            self = &profile->modules[i];
    program = program ? program : profile->program;
    if (*program)
        sentence = read_file(work, names, program, self, MPROF__PROGRAM);
    for (uint32_t i = 0; i < profile->module_count; i++) {
        const char *path = profile->modules[i].path;
        enum report__type_source source = source_of(path);
        if (is_library(profile, i) &&
            (system || source != MPROF__SYSTEM_LIBRARY))
            read_file(work, names, path, &profile->modules[i], source);
    }
    return sentence;
}

/* Whether a type is left out because the program has better ones. */
static bool is_hidden(const struct report__type_name *type,
                      enum report__type_rank best) {
    return best <= MPROF__OWN_ARRAY &&
           (type->rank == MPROF__OWN_SCALAR ||
            type->rank == MPROF__STANDARD_TYPE ||
            type->rank == MPROF__LIBRARY_STANDARD_TYPE);
}

/* Return true if the type is of the monitor that is linked in. */
static bool is_monitors(const struct report__type_name *type) {
    static const char prefix[] = "mprof__";
    return strncmp(type->name, prefix, sizeof prefix - 1) == 0;
}

/* By size, of one size the best first. */
static int compare_names(const void *a, const void *b) {
    const struct report__type_name *x = a, *y = b;
    return report__up(x->size, y->size) ?: report__up(x->rank, y->rank)
           /* Reserved names are rarely those that a program uses. */
           ?: (x->name[0] == '_') - (y->name[0] == '_')
           ?: strcmp(x->name, y->name);
}

/* Turn the names into the lists. */
static void arrange(struct report__types *types,
                    struct report__type_names *names) {
    enum report__type_rank best = MPROF__OWN_STRUCTURE;
    uint32_t count = 0, size = 0;
    size_t used = names->count;
    const struct report__type_name *last = NULL;

    if (used > 0)
        qsort(names->list, used, sizeof *names->list, compare_names);
    types->names = report__alloc(names->pool, used, sizeof *types->names);
    for (size_t i = 0; i < used; i++) {
        const struct report__type_name *type = &names->list[i];
        if (is_monitors(type))
            continue;
        if (last == NULL || type->size != last->size)
            best = type->rank;
        last = type;
        while (size < type->size)
            types->first[++size] = count;
        if (!is_hidden(type, best))
            types->names[count++] = type->name;
    }
    while (size <= MPROF_LARGEST_BIN)
        types->first[++size] = count;
}

struct report__types *report__types_read(struct report__pool *pool,
                                         const struct report__profile *profile,
                                         const char *program, bool system) {
    struct report__types *types = report__alloc(pool, 1, sizeof *types);
    struct report__type_names names = {.pool = pool};
    struct work *work = report__alloc(pool, 1, sizeof *work);
    jmp_buf no_memory, *outer = pool->nomem;

    work->scratch.nomem = pool->nomem = &no_memory;
    if (setjmp(no_memory) != 0) {
        report__elf_close(&work->file);
        report__pool_free(&work->scratch);
        pool->nomem = outer;
        if (outer)
            longjmp(*outer, 1);
        abort();
    }
    types->missing = read_all(work, &names, profile, program, system);
    pool->nomem = outer;
    report__pool_free(&work->scratch);
    arrange(types, &names);
    return types;
}

const char *const *report__types_of_size(const struct report__types *types,
                                         uint64_t size, uint32_t *count) {
    if (size > MPROF_LARGEST_BIN) {
        *count = 0;
        return types->names;
    }
    *count = types->first[size + 1] - types->first[size];
    return types->names + types->first[size];
}

const char *report__types_missing(const struct report__types *types) {
    return types->missing;
}
