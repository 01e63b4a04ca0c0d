/* type_size.c - kinds and sizes of types in DWARF. */
#include "report/elf/dwarf_types.h"

#include <dwarf.h>

/* Of types that refer to types, and of dimensions. */
#define MAX_DEPTH 64

bool report__die_flag(Dwarf_Die *die, unsigned int name) {
    Dwarf_Attribute attribute;
    bool flag = false;
    return dwarf_attr(die, name, &attribute) &&
           dwarf_formflag(&attribute, &flag) == 0 && flag;
}

bool report__die_number(Dwarf_Die *die, unsigned int name, uint64_t *value) {
    Dwarf_Attribute attribute;
    Dwarf_Word word;

    if (!dwarf_attr(die, name, &attribute) ||
        dwarf_formudata(&attribute, &word) != 0)
        return false;
    *value = word;
    return true;
}

bool report__referred_die(Dwarf_Die *die, unsigned int name,
                          Dwarf_Die *referred) {
    Dwarf_Attribute attribute;
    return dwarf_attr(die, name, &attribute) &&
           dwarf_formref_die(&attribute, referred);
}

/* Go to the type itself, through qualifiers, typedefs, and type units. */
static bool resolve(Dwarf_Die *die) {
    for (int i = 0; i < MAX_DEPTH; i++) {
        switch (dwarf_tag(die)) {
        case DW_TAG_typedef:
        case DW_TAG_const_type:
        case DW_TAG_volatile_type:
        case DW_TAG_restrict_type:
        case DW_TAG_atomic_type:
            if (!report__referred_die(die, DW_AT_type, die))
                return false;
            break;
        default:
            if (!report__referred_die(die, DW_AT_signature, die))
                return true;
        }
    }
    return false;
}

/* The number of elements in one dimension of an array. */
static bool count_elements(Dwarf_Die *range, uint64_t *count) {
    uint64_t upper, lower = 0;

    if (dwarf_tag(range) != DW_TAG_subrange_type)
        return false;
    if (report__die_number(range, DW_AT_count, count))
        return true;
    report__die_number(range, DW_AT_lower_bound, &lower);
    if (!report__die_number(range, DW_AT_upper_bound, &upper))
        return false;
    *count = upper - lower + 1; /* 0 for an upper bound of -1 */
    return true;
}

static enum report__type_kind measure(Dwarf_Die *type, uint64_t *size,
                                      int depth);

static bool measure_array(Dwarf_Die *array, uint64_t *size, int depth) {
    Dwarf_Die element, range;
    uint64_t count;

    if (!report__referred_die(array, DW_AT_type, &element) ||
        measure(&element, size, depth + 1) == MPROF__NO_KIND ||
        dwarf_child(array, &range) != 0)
        return false;
    for (int i = 0; i < MAX_DEPTH; i++) {
        if (!count_elements(&range, &count) ||
            __builtin_mul_overflow(*size, count, size))
            return false;
        if (dwarf_siblingof(&range, &range) != 0)
            return true;
    }
    return false;
}

/* The kind and the size of a complete type. */
static enum report__type_kind measure(Dwarf_Die *type, uint64_t *size,
                                      int depth) {
    Dwarf_Die die = *type;
    bool sized;
    uint8_t address_bytes;

    if (depth > MAX_DEPTH || !resolve(&die))
        return MPROF__NO_KIND;
    sized = report__die_number(&die, DW_AT_byte_size, size);
    switch (dwarf_tag(&die)) {
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
    case DW_TAG_interface_type:
        return sized ? MPROF__STRUCTURE : MPROF__NO_KIND;
    case DW_TAG_array_type:
        return sized || measure_array(&die, size, depth) ? MPROF__ARRAY
                                                         : MPROF__NO_KIND;
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
        if (!sized && dwarf_cu_info(die.cu, NULL, NULL, NULL, NULL, NULL,
                                    &address_bytes, NULL) == 0) {
            *size = address_bytes;
            sized = true;
        }
        return sized ? MPROF__SCALAR : MPROF__NO_KIND;
    case DW_TAG_base_type:
    case DW_TAG_enumeration_type:
    case DW_TAG_ptr_to_member_type:
        return sized ? MPROF__SCALAR : MPROF__NO_KIND;
    default:
        return MPROF__NO_KIND;
    }
}

enum report__type_kind report__measure_type(Dwarf_Die *type, uint64_t *size) {
    return measure(type, size, 0);
}
