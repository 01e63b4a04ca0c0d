/* ecl_names.c - from the entry address of native code to its Lisp name.
 *
 * An entry that serves functions of several names, such as one closure template
 * for many slot readers, has no name.
 */
#include "monitor/ecl/ecl_names.h"

#include "monitor/base/table.h"
#include "monitor/ecl/ecl_adapter.h"
#include "monitor/ecl/ecl_version.h"

enum { SEVERAL = 1 };

static struct mprof__table names; /* entry -> cl_object, or SEVERAL */

uintptr_t mprof__ecl_entry_of(cl_object function) {
    if (function == OBJNULL || ECL_IMMEDIATE(function))
        return 0;
    switch (function->d.t) {
    case t_cfunfixed:
        return (uintptr_t)function->cfunfixed.entry_fixed;
    case t_cfun:
        return (uintptr_t)function->cfun.entry;
    case t_cclosure:
        return (uintptr_t)function->cclosure.entry;
    default:
        return 0;
    }
}

static cl_object own_name(cl_object function) {
    if (function->d.t == t_cfunfixed)
        return function->cfunfixed.name;
    if (function->d.t == t_cfun)
        return function->cfun.name;
    return ECL_NIL;
}

static bool same_name(cl_object a, cl_object b) {
    if (a == b)
        return true;
    if (!ECL_CONSP(a) || !ECL_CONSP(b))
        return false;
    return same_name(ECL_CONS_CAR(a), ECL_CONS_CAR(b)) &&
           same_name(ECL_CONS_CDR(a), ECL_CONS_CDR(b));
}

static void add_name(uintptr_t entry, cl_object name) {
    struct mprof__slot *slot = mprof__table_find(&names, entry);
    if (slot == NULL) {
        mprof__table_add(&names, entry, (uintptr_t)name);
        mprof__ecl_keep((uintptr_t)name);
    } else if (slot->value != SEVERAL &&
               !same_name((cl_object)(uintptr_t)slot->value, name)) {
        slot->value = SEVERAL;
    }
}

void mprof__ecl_names_add(cl_object name, cl_object function) {
    uintptr_t entry = mprof__ecl_entry_of(function);
    if (entry == 0 || name == OBJNULL || name == ECL_NIL)
        return;
    /* A second name for a function: it keeps the one it was made with. */
    cl_object own = own_name(function);
    if (own != OBJNULL && own != ECL_NIL)
        name = own;
    add_name(entry, name);
}

/* (function . symbol); a compiled function has the name (SETF symbol) itself.
 */
void mprof__ecl_names_add_setf(cl_object pair) {
    if (!ECL_CONSP(pair))
        return;
    cl_object function = ECL_CONS_CAR(pair);
    if (mprof__ecl_entry_of(function) != 0)
        mprof__ecl_names_add(own_name(function), function);
}

void mprof__ecl_names_add_symbol(cl_object symbol) {
    if (symbol == OBJNULL || ECL_IMMEDIATE(symbol) || symbol->d.t != t_symbol)
        return;
    mprof__ecl_names_add(symbol, symbol->symbol.gfdef);
    mprof__ecl_names_add(symbol, mprof__ecl_macro(symbol));
    mprof__ecl_names_add_setf(mprof__ecl_setf_pair(symbol));
}

struct range {
    uintptr_t start, end;
    void (*visit)(uintptr_t entry);
};

static bool in_range(uint64_t key, uint64_t value, void *data) {
    const struct range *range = data;
    (void)value;
    return key >= range->start && key < range->end;
}

void mprof__ecl_names_remove(uintptr_t start, uintptr_t end) {
    struct range range = {start, end, NULL};
    mprof__table_sweep(&names, in_range, &range);
}

static bool visit_in_range(uint64_t key, uint64_t value, void *data) {
    const struct range *range = data;
    if (in_range(key, value, data))
        range->visit(key);
    return false;
}

void mprof__ecl_names_visit(uintptr_t start, uintptr_t end,
                            void (*visit)(uintptr_t entry)) {
    struct range range = {start, end, visit};
    mprof__table_sweep(&names, visit_in_range, &range);
}

void mprof__ecl_names_clear(void) {
    mprof__table_free(&names);
}

bool mprof__ecl_has_name(uintptr_t entry) {
    return mprof__table_find(&names, entry) != NULL;
}

bool mprof__ecl_entry_name(uintptr_t entry, struct mprof__text *text) {
    struct mprof__slot *slot = mprof__table_find(&names, entry);
    if (slot == NULL || slot->value == SEVERAL)
        return false;
    mprof__text_object(text, (cl_object)(uintptr_t)slot->value);
    return true;
}

/* Another thread may let the table grow meanwhile: a package's is copied, any
 * other has no data for a moment, and then more. */
static void visit_table(cl_object table,
                        void (*visit)(cl_object key, cl_object value)) {
    if (table == OBJNULL || table == ECL_NIL)
        return;
    volatile struct ecl_hashtable *hash = &table->hash;
    struct ecl_hashtable_entry *data = hash->data;
    cl_index size = hash->size;
    if (data == NULL || hash->data != data)
        return;
    for (cl_index i = 0; i < size; i++)
        if (data[i].key != OBJNULL)
            visit(data[i].key, data[i].value);
}

void mprof__ecl_all_symbols(void (*visit)(cl_object key, cl_object symbol)) {
    cl_object l = cl_core.packages;
    for (; ECL_CONSP(l); l = ECL_CONS_CDR(l)) {
        visit_table(ECL_CONS_CAR(l)->pack.internal, visit);
        visit_table(ECL_CONS_CAR(l)->pack.external, visit);
    }
}

void mprof__ecl_all_setf(void (*visit)(cl_object symbol, cl_object pair)) {
    visit_table(mprof__ecl_setf_table(), visit);
}
