/* inlines.c - which calls were replaced by the body of the function called.
 *
 * Two steps of the same kind lead to a function: the ranges of all units give
 * the unit, and the ranges of its functions, which are read when the unit is
 * met first, give the function.  Not every compiler writes .debug_aranges, so
 * that is not used.
 */
#include "report/elf/inlines.h"

#include <dwarf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/search.h"
#include "report/elf/cxx_names.h"
#include "report/elf/lines.h"
#include "report/elf/elf_file.h"

/* Deeper nesting is damage. */
enum { MOST_NESTED = 256 };

struct range {
    Dwarf_Addr low, high; /* high is excluded */
    Dwarf_Die die;
    struct unit *unit; /* only for ranges of units */
};

/* Sorted by low; apart from damage, ranges do not overlap. */
struct ranges {
    struct range *list;
    size_t count, capacity;
};

struct unit {
    struct unit *next;
    struct ranges functions;
    Dwarf_Die die; /* not the split one: with a line table */
    bool read, asked_lines, has_lines, has_files;
};

/* Many entries may share one list of ranges, so what a file makes of these is
 * bounded by its size: for each byte this many steps over a range, and one
 * range that is kept for so many bytes. */
enum { STEPS_FOR_BYTE = 64, BYTES_FOR_RANGE = 4 };

struct report__inlines {
    struct ranges units;
    struct unit *all;
    size_t steps, room; /* that are left */
    struct report__line_budget lines;
};

static size_t file_bytes(Dwarf *dwarf) {
    size_t bytes = 0;
    elf_rawfile(dwarf_getelf(dwarf), &bytes);
    return bytes;
}

static bool take_one(size_t *left) {
    if (*left == 0)
        return false;
    --*left;
    return true;
}

static bool add_range(struct ranges *r, const struct range *range) {
    if (r->count == r->capacity) {
        size_t capacity = r->capacity ? r->capacity * 2 : 64;
        struct range *list = reallocarray(r->list, capacity, sizeof *list);
        if (!list)
            return false;
        r->list = list;
        r->capacity = capacity;
    }
    r->list[r->count++] = *range;
    return true;
}

/* Code that the linker dropped keeps its range, at 0. */
static bool add_ranges(struct report__inlines *inlines, struct ranges *r,
                       Dwarf_Die *die, struct unit *unit) {
    struct range range = {.die = *die, .unit = unit};
    Dwarf_Addr base;
    ptrdiff_t at = 0;

    while ((at = dwarf_ranges(die, at, &base, &range.low, &range.high)) > 0)
        if (!take_one(&inlines->room) ||
            (range.low != 0 && range.low < range.high && !add_range(r, &range)))
            return false;
    return true;
}

static bool has_address(struct report__inlines *inlines, Dwarf_Die *die,
                        Dwarf_Addr address) {
    Dwarf_Addr base, low, high;
    ptrdiff_t at = 0;

    while (take_one(&inlines->steps) &&
           (at = dwarf_ranges(die, at, &base, &low, &high)) > 0)
        if (address >= low && address < high)
            return true;
    return false;
}

static int compare_ranges(const void *a, const void *b) {
    const struct range *x = a, *y = b;
    return report__up(x->low, y->low) ?: report__up(x->high, y->high);
}

static void sort_ranges(struct ranges *r) {
    if (r->count)
        qsort(r->list, r->count, sizeof *r->list, compare_ranges);
}

static struct range *find_range(const struct ranges *r, Dwarf_Addr address) {
    size_t above =
        report__first_above(r->list, r->count, sizeof *r->list, address);
    return above > 0 && address < r->list[above - 1].high ? &r->list[above - 1]
                                                          : NULL;
}

struct report__inlines *report__inlines_new(const struct report__elf_file *file,
                                            Dwarf *dwarf) {
    struct report__inlines *inlines = calloc(1, sizeof *inlines);
    struct report__unit next = {.cu = NULL};

    if (inlines) {
        inlines->steps = file_bytes(dwarf) * STEPS_FOR_BYTE;
        inlines->room = file_bytes(dwarf) / BYTES_FOR_RANGE;
    }
    while (inlines && report__next_unit(file, dwarf, &next)) {
        struct unit *unit;
        if (next.type != DW_UT_compile && next.type != DW_UT_skeleton)
            continue;
        unit = calloc(1, sizeof *unit);
        if (!unit)
            break;
        unit->die = next.die;
        unit->next = inlines->all;
        inlines->all = unit;
        size_t first = inlines->units.count;
        if (!add_ranges(inlines, &inlines->units, &next.die, unit))
            break;
        /* The functions of a skeleton are in a file of their own. */
        for (size_t i = first; next.split.addr && i < inlines->units.count; i++)
            inlines->units.list[i].die = next.split;
    }
    if (inlines)
        sort_ranges(&inlines->units);
    return inlines;
}

void report__inlines_free(struct report__inlines *inlines) {
    if (!inlines)
        return;
    for (struct unit *unit = inlines->all, *next; unit; unit = next) {
        next = unit->next;
        free(unit->functions.list);
        free(unit);
    }
    free(inlines->units.list);
    free(inlines);
}

/* Functions are found in units, namespaces and types, and in functions. */
static void collect_functions(struct report__inlines *inlines,
                              struct ranges *functions, Dwarf_Die *parent,
                              unsigned depth) {
    Dwarf_Die die;

    if (depth > MOST_NESTED || dwarf_child(parent, &die) != 0)
        return;
    do {
        switch (dwarf_tag(&die)) {
        case DW_TAG_subprogram:
            if (!add_ranges(inlines, functions, &die, NULL))
                return;
            /* fall through */
        case DW_TAG_namespace:
        case DW_TAG_module:
        case DW_TAG_class_type:
        case DW_TAG_structure_type:
        case DW_TAG_union_type:
        case DW_TAG_enumeration_type:
            collect_functions(inlines, functions, &die, depth + 1);
            break;
        default:
            break;
        }
    } while (dwarf_siblingof(&die, &die) == 0);
}

static const char *linkage_name(Dwarf_Die *die) {
    static const unsigned attributes[] = {DW_AT_linkage_name,
                                          DW_AT_MIPS_linkage_name};
    for (size_t i = 0; i < 2; i++) {
        Dwarf_Attribute attribute;
        const char *name = dwarf_formstring(
            dwarf_attr_integrate(die, attributes[i], &attribute));
        if (name)
            return name;
    }
    return NULL;
}

static const char *name_of(struct report__pool *pool, Dwarf_Die *die) {
    const char *symbol = linkage_name(die);
    const char *name = symbol ? report__demangle(pool, symbol) : NULL;

    if (name)
        return name;
    name = dwarf_diename(die);
    if (!name)
        name = symbol ? symbol : "?";
    return report__copy(pool, name, strlen(name));
}

/* One level of blocks and inlined functions further in, to the one with
 * ADDRESS. */
static bool enter(struct report__inlines *inlines, Dwarf_Die *die,
                  Dwarf_Addr address) {
    Dwarf_Die child;

    if (dwarf_child(die, &child) != 0)
        return false;
    do {
        int tag = dwarf_tag(&child);
        if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block &&
            tag != DW_TAG_try_block && tag != DW_TAG_catch_block)
            continue;
        if (has_address(inlines, &child, address)) {
            *die = child;
            return true;
        }
    } while (dwarf_siblingof(&child, &child) == 0);
    return false;
}

/* Look whether the lines of UNIT can be read, and the files where its functions
 * are called; FUNCTIONS is itself, or split from it. */
static void ask_lines(struct report__inlines *inlines, struct unit *unit,
                      Dwarf_Die *functions) {
    if (unit->asked_lines)
        return;
    unit->asked_lines = true;
    unit->has_lines = report__lines_fit(&inlines->lines, &unit->die);
    unit->has_files = functions->cu == unit->die.cu
                          ? unit->has_lines
                          : report__lines_fit(&inlines->lines, functions);
}

/* The function of UNIT with ADDRESS, or NULL. */
static const struct range *find_function(struct report__inlines *inlines,
                                         struct unit *unit, Dwarf_Die *die,
                                         Dwarf_Addr address) {
    if (!unit->read) {
        collect_functions(inlines, &unit->functions, die, 0);
        sort_ranges(&unit->functions);
        unit->read = true;
    }
    return find_range(&unit->functions, address);
}

uint32_t report__inlines_at(struct report__inlines *inlines,
                            struct report__pool *pool, Dwarf_Addr address,
                            struct report__inline **list,
                            struct report__place *place) {
    struct range *in = find_range(&inlines->units, address);
    struct report__inline found[MOST_NESTED];
    uint32_t count = 0;

    if (!in)
        return 0;
    if (place)
        ask_lines(inlines, in->unit, &in->die);
    if (place && in->unit->has_lines)
        *place = report__line_of(&in->unit->die, address);
    const struct range *function =
        find_function(inlines, in->unit, &in->die, address);
    if (!function)
        return 0;
    Dwarf_Die die = function->die;
    for (int depth = 0; depth < MOST_NESTED && enter(inlines, &die, address);
         depth++) {
        if (dwarf_tag(&die) != DW_TAG_inlined_subroutine)
            continue;
        found[count] = (struct report__inline){.name = name_of(pool, &die)};
        if (place && in->unit->has_files)
            found[count].call = report__call_line(&in->die, &die);
        count++;
    }
    if (count == 0)
        return 0;
    *list = report__alloc(pool, count, sizeof **list);
    memcpy(*list, found, count * sizeof **list);
    return count;
}
