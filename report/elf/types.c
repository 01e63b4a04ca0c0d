/* types.c - the names of types by their size. */
#include "report/elf/types.h"

#include <stdlib.h>
#include <string.h>

#include "report/elf/debug_file.h"
#include "report/elf/dwarf_types.h"

struct entry {
    const char *name; /* NULL: free place */
    size_t length;
    uint32_t size, hash;
    enum report__type_rank rank;
};

/* A hash table, open addressing; `places` is a power of 2. */
struct report__type_names {
    struct report__pool *pool;
    struct entry *table;
    size_t places, count;
};

struct report__types {
    const char *missing;
    const char **names;                    /* by size, best first */
    uint32_t first[MPROF_LARGEST_BIN + 2]; /* in names, by size */
};

/* What must be given back when the pool runs out of memory. */
struct work {
    struct report__pool scratch;
    struct report__debug_file file;
    struct report__type_walk walk;
};

static uint32_t hash_of(const char *name, size_t length, uint32_t size) {
    uint64_t hash = 14695981039346656037u ^ size;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)name[i]) * 1099511628211u;
    return (uint32_t)(hash ^ hash >> 32);
}

/* The place of an entry, or a free one for it. */
static struct entry *find(const struct report__type_names *names,
                          const struct entry *wanted) {
    size_t i = wanted->hash & (names->places - 1);
    for (;; i = (i + 1) & (names->places - 1)) {
        struct entry *e = &names->table[i];
        if (!e->name || (e->hash == wanted->hash && e->size == wanted->size &&
                         e->length == wanted->length &&
                         memcmp(e->name, wanted->name, wanted->length) == 0))
            return e;
    }
}

static void enlarge(struct report__type_names *names) {
    struct report__type_names larger = {.places = names->places * 2};
    larger.table =
        report__alloc(names->pool, larger.places, sizeof *larger.table);
    for (size_t i = 0; i < names->places; i++)
        if (names->table[i].name)
            *find(&larger, &names->table[i]) = names->table[i];
    names->table = larger.table;
    names->places = larger.places;
}

void report__add_type(struct report__type_names *names, const char *name,
                      size_t length, uint32_t size,
                      enum report__type_rank rank) {
    struct entry wanted = {name, length, size, hash_of(name, length, size),
                           rank};
    struct entry *entry;

    if ((names->count + 1) * 2 > names->places)
        enlarge(names);
    entry = find(names, &wanted);
    if (!entry->name) {
        wanted.name = report__copy(names->pool, name, length);
        *entry = wanted;
        names->count++;
    } else if (rank < entry->rank) {
        entry->rank = rank;
    }
}

/* The sentence for the program itself. */
static const char *explain(struct report__pool *pool, const char *path,
                           enum report__debug_state state, int split_gone) {
    switch (state) {
    case MPROF__DEBUG_UNREADABLE:
        return report__format(pool, "no types: %s cannot be read", path);
    case MPROF__DEBUG_GONE:
        return report__format(pool, "no types: %s is not there any more", path);
    case MPROF__DEBUG_CHANGED:
        return report__format(
            pool, "no types: %s was changed since (build id differs)", path);
    case MPROF__DEBUG_NONE:
        return report__format(pool, "no types: %s has no debug information",
                              path);
    case MPROF__DEBUG_FOUND:
        break;
    }
    return split_gone
               ? report__format(pool,
                                "types may be missing: %d .dwo file%s of %s "
                                "cannot be read",
                                split_gone, split_gone == 1 ? "" : "s", path)
               : NULL;
}

/* Add the types of one file; returns the sentence that says why it has none. */
static const char *read_file(struct work *work,
                             struct report__type_names *names, const char *path,
                             const struct report__module *module,
                             enum report__type_source source) {
    struct report__pool mark = work->scratch;
    enum report__debug_state state;
    const char *sentence;

    state = report__debug_open(&work->file, path, module);
    work->walk = (struct report__type_walk){
        .pool = &work->scratch, .names = names, .source = source};
    if (state == MPROF__DEBUG_FOUND)
        report__walk_types(&work->walk, work->file.dwarf);
    sentence = source == MPROF__PROGRAM
                   ? explain(names->pool, path, state, work->walk.split_gone)
                   : NULL;
    report__walk_end(&work->walk);
    report__debug_close(&work->file);
    report__pool_release(&work->scratch, &mark);
    return sentence;
}

/* The monitor's own libraries are no part of the program. */
static bool is_library(const struct report__profile *profile, uint32_t index) {
    const struct report__module *module = &profile->modules[index];
    const char *slash = strrchr(module->path, '/');

    if (!slash || strcmp(module->path, profile->program) == 0 ||
        strncmp(slash + 1, "libmprof", 8) == 0)
        return false;
    for (uint32_t i = 0; i < index; i++) {
        const struct report__module *other = &profile->modules[i];
        if (strcmp(other->path, module->path) == 0 &&
            other->build_id_bytes == module->build_id_bytes &&
            memcmp(other->build_id, module->build_id, module->build_id_bytes) ==
                0)
            return false;
    }
    return true;
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
    const char *sentence = "no types: the program's name is not known";

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

static int compare_entries(const void *a, const void *b) {
    const struct entry *x = a, *y = b;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    /* Reserved names are rarely those that a program uses. */
    if ((x->name[0] == '_') != (y->name[0] == '_'))
        return x->name[0] == '_' ? 1 : -1;
    return strcmp(x->name, y->name);
}

/* Whether a type is left out because the program has better ones. */
static bool is_hidden(const struct entry *entry, enum report__type_rank best) {
    return best <= MPROF__OWN_ARRAY &&
           (entry->rank == MPROF__OWN_SCALAR ||
            entry->rank == MPROF__STANDARD_TYPE ||
            entry->rank == MPROF__LIBRARY_STANDARD_TYPE);
}

/* Turn the table into the lists. */
static void arrange(struct report__types *types,
                    struct report__type_names *names) {
    enum report__type_rank best = MPROF__OWN_STRUCTURE;
    uint32_t count = 0, size = 0;
    size_t used = 0;

    for (size_t i = 0; i < names->places; i++)
        if (names->table[i].name)
            names->table[used++] = names->table[i];
    if (used)
        qsort(names->table, used, sizeof *names->table, compare_entries);
    types->names = report__alloc(names->pool, used, sizeof *types->names);
    for (size_t i = 0; i < used; i++) {
        const struct entry *entry = &names->table[i];
        if (i == 0 || entry->size != entry[-1].size)
            best = entry->rank;
        while (size < entry->size)
            types->first[++size] = count;
        if (!is_hidden(entry, best))
            types->names[count++] = entry->name;
    }
    while (size <= MPROF_LARGEST_BIN)
        types->first[++size] = count;
}

struct report__types *report__types_read(struct report__pool *pool,
                                         const struct report__profile *profile,
                                         const char *program, bool system) {
    struct report__types *types = report__alloc(pool, 1, sizeof *types);
    struct report__type_names names = {.pool = pool, .places = 1024};
    struct work *work = report__alloc(pool, 1, sizeof *work);
    jmp_buf no_memory, *outer = pool->nomem;

    names.table = report__alloc(pool, names.places, sizeof *names.table);
    work->file = (struct report__debug_file){.fd = {-1, -1}};
    work->scratch.nomem = pool->nomem = &no_memory;
    if (setjmp(no_memory) != 0) {
        report__walk_end(&work->walk);
        report__debug_close(&work->file);
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
