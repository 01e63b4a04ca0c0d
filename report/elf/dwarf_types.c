/* dwarf_types.c - walk over the types in one file's DWARF.
 *
 * Visited are the units' own children, namespaces, types inside of types and
 * of functions.  The DIEs of a unit are met in the order in which
 * they lie in the file, and one that lies before another that was met already
 * ends the walk over its siblings: so damaged DWARF cannot send it in circles.
 */
#include "report/elf/dwarf_types.h"

#include <dwarf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/format/format.h"

/* Of scopes in scopes. */
#define MAX_DEPTH 64

struct unit {
    Dwarf_Die *die;
    const char *last; /* address of the DIE met last */
    bool c_language;  /* no scopes but functions */
};

/* The scope of a type; names are joined with "::". */
struct scope {
    const struct scope *parent;
    const char *name;  /* NULL: a function; it has no part in names */
    const char *whole; /* once it was needed: with the parents' names */
    bool is_inner;     /* a class or a function */
    bool standard;
};

/* A declaration whose definition may be outside of its scope. */
struct member {
    const char *die;   /* ascending */
    const char *scope; /* its whole name */
    bool standard;
};

static void visit_children(struct report__type_walk *walk, Dwarf_Die *parent,
                           struct scope *scope, int depth);

/* Names. */

static void append(struct report__type_walk *walk, const char *text) {
    size_t length = strnlen(text, MPROF__LONGEST_TYPE - walk->text_length);
    memcpy(walk->text + walk->text_length, text, length);
    walk->text_length += length;
    walk->text[walk->text_length] = '\0';
}

static void append_scope(struct report__type_walk *walk,
                         const struct scope *scope) {
    if (!scope || !scope->name)
        return;
    if (scope->whole) {
        append(walk, scope->whole);
    } else {
        append_scope(walk, scope->parent);
        append(walk, scope->name);
    }
    append(walk, "::");
}

static const char *whole_name(struct report__type_walk *walk,
                              struct scope *scope) {
    if (!scope->whole) {
        walk->text_length = 0;
        append_scope(walk, scope->parent);
        append(walk, scope->name);
        scope->whole = report__copy(walk->pool, walk->text, walk->text_length);
    }
    return scope->whole;
}

/* Return true if the compiler made the type: a closure, whose name no program
 * can use, or a type with a reserved name that is declared nowhere. */
static bool is_compiler_made(Dwarf_Die *die, const char *name) {
    return name[0] == '\0' || name[0] == '<' || name[0] == '.' ||
           strcmp(name, "__va_list_tag") == 0 ||
           (name[0] == '_' && name[1] == '_' &&
            !dwarf_hasattr(die, DW_AT_decl_file)) ||
           report__die_flag(die, DW_AT_artificial);
}

/* Where a type is declared. */

static bool is_system_path(const char *path) {
    static const char *const roots[] = {"/usr/include/", "/usr/local/include/",
                                        "/include/"};
    static const char *const parts[] = {"/lib/gcc/", "/lib/clang/", "/lib/llvm",
                                        "/include/c++/"};

    if (path[0] != '/')
        return false;
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++)
        if (strncmp(path, roots[i], strlen(roots[i])) == 0)
            return true;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(path, parts[i]))
            return true;
    return false;
}

static bool in_system_header(struct report__type_walk *walk, Dwarf_Die *die) {
    uint64_t index;
    size_t count;
    const char *path;
    Dwarf_Files *files;

    if (!report__die_number(die, DW_AT_decl_file, &index))
        return false;
    if (dwarf_getsrcfiles(walk->unit->die, &files, &count) != 0)
        return false;
    path = dwarf_filesrc(files, index, NULL, NULL);
    return path && is_system_path(path);
}

static bool is_standard_namespace(const char *name) {
    return strcmp(name, "std") == 0 || strcmp(name, "__gnu_cxx") == 0 ||
           strcmp(name, "__cxxabiv1") == 0;
}

void report__add_type(struct report__type_names *names, const char *name,
                      uint32_t size, enum report__type_rank rank) {
    const char *stored;
    uint32_t text = report__intern_copy(names->pool, &names->texts, name,
                                        (uint32_t)names->texts.used, &stored);
    uint32_t i = report__pair_number(names->pool, &names->sizes, text, size);

    if (i == names->count)
        REPORT__PUSH(names->pool, names->list, names->count, names->capacity,
                     (struct report__type_name){stored, size, rank});
    else if (rank < names->list[i].rank)
        names->list[i].rank = rank;
}

/* Take note of the type DIE, if its rank is one that is of interest. */
static void add(struct report__type_walk *walk, Dwarf_Die *die,
                const struct scope *scope, const char *name, uint64_t size,
                enum report__type_kind kind) {
    enum report__type_rank rank;

    if (size == 0 || size > MPROF_LARGEST_BIN || is_compiler_made(die, name))
        return;
    if (scope && scope->standard) {
        rank = walk->source == MPROF__PROGRAM ? MPROF__STANDARD_TYPE
                                              : MPROF__LIBRARY_STANDARD_TYPE;
    } else if (walk->source == MPROF__SYSTEM_LIBRARY) {
        rank = MPROF__SYSTEM_LIBRARY_TYPE;
    } else if (walk->source == MPROF__LIBRARY) {
        rank = kind == MPROF__ARRAY ? MPROF__LIBRARY_ARRAY
                                    : MPROF__LIBRARY_STRUCTURE;
    } else if (in_system_header(walk, die)) {
        rank = MPROF__SYSTEM_TYPE;
    } else {
        rank = kind == MPROF__STRUCTURE ? MPROF__OWN_STRUCTURE
               : kind == MPROF__ARRAY   ? MPROF__OWN_ARRAY
                                        : MPROF__OWN_SCALAR;
    }
    if (kind == MPROF__SCALAR && rank != MPROF__OWN_SCALAR)
        return;
    walk->text_length = 0;
    append_scope(walk, scope);
    append(walk, name);
    report__add_type(walk->names, walk->text, (uint32_t)size, rank);
}

/* The walk. */

static void remember_member(struct report__type_walk *walk, Dwarf_Die *die,
                            struct scope *scope) {
    const char *name = whole_name(walk, scope);
    REPORT__PUSH(walk->pool, walk->members, walk->member_count,
                 walk->member_capacity,
                 (struct member){die->addr, name, scope->standard});
}

static int compare_members(const void *a, const void *b) {
    const struct member *x = a, *y = b;
    return (x->die > y->die) - (x->die < y->die);
}

/* The scope of a type that is defined outside of it, as in `class A::B {}`. */
static struct scope *scope_of_definition(struct report__type_walk *walk,
                                         Dwarf_Die *die, struct scope *found,
                                         struct scope *scope) {
    Dwarf_Die declaration;
    struct member *member;

    if (!walk->member_count ||
        !report__referred_die(die, DW_AT_specification, &declaration))
        return scope;
    struct member key = {.die = declaration.addr};
    member = bsearch(&key, walk->members, walk->member_count,
                     sizeof *walk->members, compare_members);
    if (!member)
        return scope;
    *found = (struct scope){
        .name = member->scope, .is_inner = true, .standard = member->standard};
    return found;
}

/* Return the name of a type; a reference to a type unit may have none itself.
 */
static const char *name_of_type(Dwarf_Die *die) {
    const char *name = dwarf_diename(die);
    Dwarf_Die unit_type;

    if (!name && report__referred_die(die, DW_AT_signature, &unit_type))
        name = dwarf_diename(&unit_type);
    return name;
}

static void visit_structure(struct report__type_walk *walk, Dwarf_Die *die,
                            struct scope *scope, int depth) {
    const char *name = name_of_type(die);
    bool declared = report__die_flag(die, DW_AT_declaration);
    struct scope outer, own;
    uint64_t size;

    scope = scope_of_definition(walk, die, &outer, scope);
    if (name && !declared && report__die_number(die, DW_AT_byte_size, &size))
        add(walk, die, scope, name, size, MPROF__STRUCTURE);
    if (walk->unit->c_language)
        return;
    if (name && declared && scope && scope->name)
        remember_member(walk, die, scope);
    if (!name || !*name) {
        visit_children(walk, die, scope, depth + 1);
        return;
    }
    own = (struct scope){.parent = scope,
                         .name = name,
                         .is_inner = true,
                         .standard = scope && scope->standard};
    visit_children(walk, die, &own, depth + 1);
}

/* In a class or a function of C++, a typedef of a type that has a name is an
 * alias for the inside (value_type), and so is one of a number or pointer. */
static bool is_alias(Dwarf_Die *type, enum report__type_kind kind) {
    Dwarf_Die die = *type;

    for (int i = 0; i < MAX_DEPTH; i++) {
        int tag = dwarf_tag(&die);
        if (tag != DW_TAG_const_type && tag != DW_TAG_volatile_type)
            break;
        if (!report__referred_die(&die, DW_AT_type, &die))
            return true;
    }
    return kind == MPROF__SCALAR || name_of_type(&die);
}

static void visit_typedef(struct report__type_walk *walk, Dwarf_Die *die,
                          struct scope *scope) {
    const char *name = dwarf_diename(die);
    Dwarf_Die type;
    uint64_t size;
    enum report__type_kind kind;

    if (!name || !report__referred_die(die, DW_AT_type, &type))
        return;
    kind = report__measure_type(&type, &size);
    if (kind == MPROF__NO_KIND)
        return;
    if (walk->unit->c_language || !scope || !scope->is_inner ||
        !is_alias(&type, kind))
        add(walk, die, scope, name, size, kind);
}

static void visit_namespace(struct report__type_walk *walk, Dwarf_Die *die,
                            struct scope *scope, int depth) {
    const char *name = dwarf_diename(die);
    struct scope own = {.parent = scope,
                        .name = name ? name : "(anonymous namespace)"};

    own.standard = scope ? scope->standard : is_standard_namespace(own.name);
    visit_children(walk, die, &own, depth + 1);
}

/* Whether ADDRESS was never given before. */
static bool is_new(struct report__type_walk *walk, const void *address) {
    const uint32_t count = walk->seen.count;

    return report__pair_number(walk->pool, &walk->seen,
                               (uint32_t)(uintptr_t)address,
                               (uint32_t)((uintptr_t)address >> 32)) == count;
}

/* Units that several files share lie in one more file (dwz).  That one also
 * has units which other programs use: only those are walked over that a unit
 * asks for.  Shared units of the file itself are met anyway. */
static void note_import(struct report__type_walk *walk, Dwarf_Die *die) {
    Dwarf_Die unit;

    if (!report__referred_die(die, DW_AT_import, &unit) ||
        dwarf_cu_getdwarf(unit.cu) == walk->dwarf || !is_new(walk, unit.addr))
        return;
    REPORT__PUSH(walk->pool, walk->pending, walk->pending_count,
                 walk->pending_capacity, unit);
}

static void visit(struct report__type_walk *walk, Dwarf_Die *die,
                  struct scope *scope, int depth) {
    struct scope function = {.is_inner = true};

    switch (dwarf_tag(die)) {
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
    case DW_TAG_interface_type:
        visit_structure(walk, die, scope, depth);
        break;
    case DW_TAG_typedef:
        visit_typedef(walk, die, scope);
        break;
    case DW_TAG_namespace:
        visit_namespace(walk, die, scope, depth);
        break;
    case DW_TAG_subprogram:
    case DW_TAG_lexical_block:
        /* Copies of a function have no types of their own. */
        if (!dwarf_hasattr(die, DW_AT_abstract_origin))
            visit_children(walk, die, &function, depth + 1);
        break;
    case DW_TAG_imported_unit:
        note_import(walk, die);
        break;
    default:
        break;
    }
}

static void visit_children(struct report__type_walk *walk, Dwarf_Die *parent,
                           struct scope *scope, int depth) {
    struct unit *unit = walk->unit;
    Dwarf_Die die;

    if (depth > MAX_DEPTH || dwarf_child(parent, &die) != 0)
        return;
    do {
        if ((const char *)die.addr <= unit->last)
            return;
        unit->last = die.addr;
        visit(walk, &die, scope, depth);
    } while (dwarf_siblingof(&die, &die) == 0);
}

static bool is_c(int language) {
    return language == DW_LANG_C || language == DW_LANG_C89 ||
           language == DW_LANG_C99 || language == DW_LANG_C11;
}

static void walk_unit(struct report__type_walk *walk, Dwarf_Die *die) {
    struct unit unit = {.die = die, .last = die->addr};

    unit.c_language = is_c(dwarf_srclang(die));
    /* Its order is by address, which goes on only within one section. */
    if (walk->member_count &&
        walk->members[walk->member_count - 1].die > unit.last)
        walk->member_count = 0;
    walk->unit = &unit;
    visit_children(walk, die, NULL, 0);
    walk->unit = NULL;
}

/* Walk all units of DWARF.  Split DWARF has one file for each unit.  Type units
 * in such a file are only met if libdw knows them: not if GCC puts them into
 * sections of their own. */
static void walk_units(struct report__type_walk *walk, Dwarf *dwarf,
                       bool split) {
    struct report__unit unit = {.cu = NULL};

    while (report__next_unit(walk->file, dwarf, &unit)) {
        walk->dwarf = dwarf;
        if (unit.type != DW_UT_skeleton) {
            walk_unit(walk, &unit.die);
        } else if (!split && unit.split.cu) {
            Dwarf *other = dwarf_cu_getdwarf(unit.split.cu);
            if (is_new(walk, other))
                walk_units(walk, other, true);
        } else {
            walk->split_gone++;
        }
    }
}

void report__walk_types(struct report__type_walk *walk, Dwarf *dwarf) {
    walk_units(walk, dwarf, false);
    while (walk->pending_count) {
        Dwarf_Die unit = walk->pending[--walk->pending_count];
        walk_unit(walk, &unit);
    }
}
