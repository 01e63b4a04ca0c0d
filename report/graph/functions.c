/* functions.c - from FUNCTION records to the functions of the tables. */
#include "report/base/search.h"
#include "report/elf/cxx_names.h"
#include "report/elf/symbols.h"
#include "monitor/format/naming.h"
#include "monitor/format/plumbing.h"
#include "report/graph/functions.h"
#include "monitor/format/runtime_names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/format/paths.h"
#include "report/base/dictionary.h"
#include "report/base/utf8.h"

struct naming {
    struct report__pool *pool;
    const struct report__profile *profile;
    struct report__functions *out;
    size_t capacity; /* of out->list */
    struct report__dictionary keys;
    /* Functions without a Lisp name, by module. */
    uint32_t *first, *next;
};

/* The number of KEY, which becomes VALUE if it is new. */
static uint32_t intern(struct naming *n, const char *key, uint32_t value) {
    return report__intern(n->pool, &n->keys, key, value);
}

static uint32_t add_shown(struct naming *n, const char *name,
                          enum mprof_function_kind kind, bool plumbing) {
    struct report__functions *out = n->out;
    REPORT__PUSH(n->pool, out->list, out->count, n->capacity,
                 (struct report__shown){
                     .name = name, .kind = kind, .plumbing = plumbing});
    return out->count - 1;
}

/* The function known by KEY, made if it is new. */
static uint32_t shown_by_key(struct naming *n, const char *key,
                             const char *name, enum mprof_function_kind kind,
                             bool plumbing) {
    uint32_t id = intern(n, key, n->out->count);
    if (id == n->out->count)
        add_shown(n, name, kind, plumbing);
    return id;
}

/* A file that was unloaded and loaded again is one module, if it has a build
 * id to prove it. */
static void identify_modules(struct naming *n) {
    const struct report__profile *p = n->profile;

    n->out->module_id =
        report__alloc(n->pool, p->module_count, sizeof(uint32_t));
    for (uint32_t i = 0; i < p->module_count; i++)
        n->out->module_id[i] =
            p->modules[i].build_id_bytes == 0 ? i : p->modules[i].file;
}

static const char *address_key(struct naming *n, uint32_t module,
                               uint64_t address) {
    return report__format(
        n->pool, "C%" PRIu32 ":%" PRIx64,
        module == MPROF_NONE ? module : n->out->module_id[module], address);
}

static const char *symbol_key(struct naming *n, uint32_t module,
                              const char *symbol, size_t length) {
    return report__format(n->pool, "S%" PRIu32 ":%.*s",
                          module == MPROF_NONE ? module
                                               : n->out->module_id[module],
                          (int)length, symbol);
}

static const char *module_path(const struct naming *n, uint32_t module) {
    return module == MPROF_NONE ? "" : n->profile->modules[module].path;
}

static bool has_lisp_name(const struct report__function *f) {
    return f->name && (f->kind == MPROF_LISP || f->kind == MPROF_INTERPRETED);
}

/* Return the name of F; for a function without one, its file. */
static const char *lisp_name(struct naming *n,
                             const struct report__function *f) {
    const char *path = module_path(n, f->module);
    const char *file = mprof__base_name(path);
    size_t length = strlen(f->name);

    if (f->kind != MPROF_LISP || !*path || !mprof__is_anonymous(f->name) ||
        strstr(f->name, ":IN ") || mprof__is_passing(file))
        return f->name;
    return report__format(n->pool, "%.*s :IN %s)", (int)length - 1, f->name,
                          file);
}

/* Return the key of a Lisp function: all definitions of one name are one
 * function; functions without a name differ by their code. */
static const char *lisp_key(struct naming *n,
                            const struct report__function *f) {
    switch (mprof__same_by(f->kind, f->name, f->symbol ? f->symbol : "")) {
    case MPROF__SAME_NAME:
        return report__format(n->pool, "N%s", f->name);
    case MPROF__SAME_SYMBOL:
        return report__format(n->pool, "I%s:%s", f->symbol, f->name);
    case MPROF__SAME_ENTRY:
        return report__format(n->pool, "E%s", f->name);
    case MPROF__SAME_CODE:
        break;
    }
    return f->kind == MPROF_LISP
               ? address_key(n, f->module, f->address)
               : report__format(n->pool, "I%" PRIx64, f->address);
}

/* Functions whose names need no ELF file.  Those with a Lisp name also become
 * known by where they are, for their cold parts. */
static bool name_directly(struct naming *n, uint32_t i) {
    const struct report__function *f = &n->profile->functions[i];
    uint32_t *shown = &n->out->shown[i];

    if (f->kind == MPROF_TOPLEVEL)
        *shown = MPROF_TOP_LEVEL;
    else if (f->kind == MPROF_UNKNOWN)
        *shown = shown_by_key(n, "K<unknown>", "<unknown>", f->kind, false);
    else if (f->kind == MPROF_FOLDED)
        *shown = shown_by_key(n, "K<folded>", "<folded>", f->kind, false);
    else if (has_lisp_name(f))
        *shown =
            shown_by_key(n, lisp_key(n, f), lisp_name(n, f), f->kind,
                         mprof__is_plumbing(
                             f->name, f->kind == MPROF_LISP ? f->symbol : NULL,
                             module_path(n, f->module)));
    else if (f->kind == MPROF_ENTRY && f->name)
        *shown = shown_by_key(n, lisp_key(n, f),
                              report__format(n->pool, "%s [entry]", f->name),
                              f->kind, true);
    else if (f->kind == MPROF_INTERPRETED)
        *shown = shown_by_key(n, "K<interpreted>", "<interpreted function>",
                              f->kind, false);
    else
        return false;
    if (f->kind == MPROF_LISP || f->kind == MPROF_ENTRY) {
        intern(n, address_key(n, f->module, f->address), *shown);
        if (f->symbol)
            intern(n, symbol_key(n, f->module, f->symbol, strlen(f->symbol)),
                   *shown);
    }
    return true;
}

/* SYMBOL as it is written in the program. */
static const char *source_name(struct naming *n, const char *symbol) {
    const char *name = report__demangle(n->pool, symbol);
    return name ? name : symbol;
}

static bool is_cxx(const char *symbol) {
    return symbol && strncmp(symbol, "_Z", 2) == 0;
}

/* In a program that runs ECL: name function I, the C function SYMBOL, as what a
 * Lisp programmer knows it for.  Such functions of one name lie in one another,
 * which is no call. */
static bool name_for_lisp(struct naming *n, uint32_t i, const char *symbol) {
    const char *path = module_path(n, n->profile->functions[i].module);
    const char *file = mprof__base_name(path);
    const char *name = mprof__lisp_function(symbol, path);

    if (strncmp(n->profile->runtime, "ECL", 3) != 0)
        return false;
    if (name)
        n->out->shown[i] =
            shown_by_key(n, report__format(n->pool, "N%s", name), name,
                         name[0] == '<' ? MPROF_C : MPROF_LISP, false);
    else if (!mprof__loads_file(symbol))
        return false;
    else if (mprof__is_passing(file))
        n->out->shown[i] =
            shown_by_key(n, "K<load>", "<load by COMPILE>", MPROF_C, false);
    else
        n->out->shown[i] = shown_by_key(
            n, report__format(n->pool, "K<load>%s", path),
            report__format(n->pool, "<load of %s>", file), MPROF_C, false);
    n->out->fragment[i] = true;
    return true;
}

static void name_c_function(struct naming *n, uint32_t i, uint64_t address,
                            const char *symbol, size_t base) {
    const struct report__function *f = &n->profile->functions[i];
    const char *path = module_path(n, f->module);
    const char *key = address_key(n, f->module, address);
    const char *whole = symbol ? report__copy(n->pool, symbol, base) : NULL;
    const char *name = f->name;

    if (!name && symbol && name_for_lisp(n, i, whole)) {
        intern(n, key, n->out->shown[i]);
        intern(n, symbol_key(n, f->module, symbol, base), n->out->shown[i]);
        return;
    }
    if (!name && symbol)
        name = source_name(n, whole);
    else if (!name)
        name = report__format(n->pool, "%s+0x%" PRIx64,
                              *path ? mprof__base_name(path) : "?", f->address);
    n->out->shown[i] = shown_by_key(n, key, name, MPROF_C,
                                    mprof__is_plumbing(NULL, whole, path));
    n->out->list[n->out->shown[i]].is_cxx = is_cxx(whole);
    n->out->list[n->out->shown[i]].loading = mprof__is_loading(whole, path);
    n->out->list[n->out->shown[i]].held = mprof__held_by_runtime(whole, path);
    if (symbol)
        intern(n, symbol_key(n, f->module, symbol, base), n->out->shown[i]);
}

/* Where the function begins that SYMBOL at ADDRESS is a part or a copy of:
 * for "f.part.0.cold" that is f, or else f.part.0, or else ADDRESS. */
static uint64_t whole_function(const struct report__symbols *symbols,
                               const char *symbol, size_t base,
                               uint64_t address) {
    uint64_t found = address;
    size_t length = base;

    while (symbol[length] != '\0') {
        if (report__symbol_named(symbols, symbol, length, address, &found))
            break;
        length++;
        length += strcspn(symbol + length, ".");
    }
    return found;
}

/* A part whose whole is only known by name, as the process recorded it. */
static void name_recorded_part(struct naming *n, uint32_t i, const char *symbol,
                               size_t base) {
    uint32_t module = n->profile->functions[i].module;
    const char *whole = report__copy(n->pool, symbol, base);
    bool plumbing = mprof__is_plumbing(NULL, whole, module_path(n, module));
    if (name_for_lisp(n, i, whole)) {
        intern(n, symbol_key(n, module, symbol, base), n->out->shown[i]);
        return;
    }
    n->out->shown[i] = shown_by_key(n, symbol_key(n, module, symbol, base),
                                    source_name(n, whole), MPROF_C, plumbing);
    n->out->list[n->out->shown[i]].is_cxx |= is_cxx(whole);
}

/* Name function I, if it is a part (PARTS) or a whole function (!PARTS). */
static void name_in_module(struct naming *n, uint32_t i,
                           const struct report__symbols *symbols, bool parts) {
    const struct report__function *f = &n->profile->functions[i];
    uint64_t start = f->address;
    const char *symbol = f->symbol;

    /* Without a build id it is not known whether the file has changed. */
    if (!symbol && symbols &&
        !(f->copied && n->profile->modules[f->module].build_id_bytes == 0))
        symbol = report__symbol_at(symbols, start, &start);
    if (!symbol)
        symbol = f->copied;
    /* "qsort@@GLIBC_2.2.5" */
    if (symbol)
        symbol = report__copy(n->pool, symbol, strcspn(symbol, "@"));
    size_t base = symbol ? mprof__base_length(symbol) : 0;
    bool part = symbol && symbol[base] != '\0';
    if (part != parts)
        return;
    n->out->fragment[i] = part;
    if (part && (f->symbol || !symbols)) {
        name_recorded_part(n, i, symbol, base);
        return;
    }
    if (part)
        start = whole_function(symbols, symbol, base, start);
    name_c_function(n, i, start, symbol, base);
}

/* The functions of one module that have no Lisp name; SYMBOLS are its file's.
 */
static void name_module(struct naming *n, uint32_t module,
                        const struct report__symbols *symbols) {
    /* Whole functions first, so that parts find them by name. */
    for (int parts = 0; parts < 2; parts++)
        for (uint32_t i = n->first[module]; i != MPROF_NONE; i = n->next[i])
            name_in_module(n, i, symbols, parts == 1);
}

/* Are the symbols of its file needed to name the functions of MODULE? */
static bool needs_symbols(const struct naming *n, uint32_t module) {
    for (uint32_t i = n->first[module]; i != MPROF_NONE; i = n->next[i])
        if (!n->profile->functions[i].symbol)
            return true;
    return false;
}

/* The functions of all modules that are the file of the FIRST one. */
static void name_file(struct naming *n, uint32_t first,
                      const uint32_t *next_of_file) {
    struct report__symbols *symbols = NULL;
    bool wanted = false;

    for (uint32_t m = first; m != MPROF_NONE; m = next_of_file[m])
        wanted |= needs_symbols(n, m);
    if (wanted)
        symbols = report__symbols_open(
            &n->profile->modules[first],
            report__program_path(n->profile, first, n->out->program));
    for (uint32_t m = first; m != MPROF_NONE; m = next_of_file[m])
        name_module(n, m, symbols);
    report__symbols_close(symbols);
}

static void name_files(struct naming *n) {
    const struct report__profile *p = n->profile;
    uint32_t *next = report__alloc(n->pool, p->module_count, sizeof *next);
    uint32_t *last = report__alloc(n->pool, p->module_count, sizeof *last);

    for (uint32_t m = 0; m < p->module_count; m++) {
        uint32_t file = p->modules[m].file;
        next[m] = MPROF_NONE;
        if (file != m)
            next[last[file]] = m;
        last[file] = m;
    }
    for (uint32_t m = 0; m < p->module_count; m++)
        if (p->modules[m].file == m)
            name_file(n, m, next);
}

struct anonymous {
    uint32_t shown;
    const char *name;
    const char *place; /* of interpreted code: in its file */
    uint64_t address;  /* of compiled code */
};

/* By name, then in the order of the code. */
static int compare_anonymous(const void *a, const void *b) {
    const struct anonymous *x = a, *y = b;
    return strcmp(x->name, y->name) ?: strcmp(x->place, y->place)
           ?: report__up(x->address, y->address)
           ?: report__up(x->shown, y->shown);
}

/* Return the key of interpreted code, "FILE:POSITION:HASH", without the hash.
 */
static const char *place_of(struct naming *n,
                            const struct report__function *f) {
    const char *hash = f->kind == MPROF_INTERPRETED && f->symbol
                           ? strrchr(f->symbol, ':')
                           : NULL;
    return hash ? report__copy(n->pool, f->symbol, (size_t)(hash - f->symbol))
                : "";
}

/* Several of one name get numbers, in the order of their code. */
static void number_anonymous(struct naming *n) {
    const struct report__profile *p = n->profile;
    struct anonymous *all =
        report__alloc(n->pool, p->function_count, sizeof *all);
    bool *seen = report__alloc(n->pool, n->out->count, sizeof *seen);
    size_t count = 0;

    for (uint32_t i = 0; i < p->function_count; i++) {
        const struct report__function *f = &p->functions[i];
        uint32_t shown = n->out->shown[i];
        if (!has_lisp_name(f) || !mprof__is_anonymous(f->name) || seen[shown])
            continue;
        seen[shown] = true;
        all[count++] =
            (struct anonymous){shown, n->out->list[shown].name, place_of(n, f),
                               f->kind == MPROF_LISP ? f->address : 0};
    }
    if (count > 0)
        qsort(all, count, sizeof *all, compare_anonymous);
    for (size_t i = 0, number = 1; i < count; i++) {
        bool first = i == 0 || strcmp(all[i].name, all[i - 1].name) != 0;
        bool last = i + 1 == count || strcmp(all[i].name, all[i + 1].name) != 0;
        number = first ? 1 : number + 1;
        if (!first || !last)
            n->out->list[all[i].shown].name =
                report__format(n->pool, "(LAMBDA #%zu%s", number,
                               all[i].name + strlen("(LAMBDA"));
    }
}

const char *report__program_path(const struct report__profile *profile,
                                 uint32_t module, const char *program) {
    const char *path = profile->modules[module].path;
    if (profile->modules[module].given)
        return profile->modules[module].given;
    return *path && strcmp(path, profile->program) == 0 ? program : NULL;
}

struct report__functions *
report__name_functions(struct report__pool *pool,
                       const struct report__profile *profile,
                       const char *program) {
    struct naming n = {.pool = pool, .profile = profile};

    n.out = report__alloc(pool, 1, sizeof *n.out);
    n.out->program = program;
    n.out->shown =
        report__alloc(pool, profile->function_count, sizeof *n.out->shown);
    n.out->fragment =
        report__alloc(pool, profile->function_count, sizeof *n.out->fragment);
    n.first = report__alloc(pool, profile->module_count, sizeof *n.first);
    n.next = report__alloc(pool, profile->function_count, sizeof *n.next);
    memset(n.first, 0xff, profile->module_count * sizeof *n.first);

    add_shown(&n, "<top level>", MPROF_TOPLEVEL, true);
    identify_modules(&n);
    for (uint32_t i = 0; i < profile->function_count; i++) {
        const struct report__function *f = &profile->functions[i];
        if (name_directly(&n, i))
            continue;
        if (f->module == MPROF_NONE) {
            name_c_function(&n, i, f->address, f->symbol,
                            f->symbol ? mprof__base_length(f->symbol) : 0);
            continue;
        }
        n.next[i] = n.first[f->module];
        n.first[f->module] = i;
    }
    name_files(&n);
    number_anonymous(&n);
    return n.out;
}
