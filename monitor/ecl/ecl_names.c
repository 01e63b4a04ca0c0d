/* ecl_names.c - from the entry address of native code to its Lisp name.
 *
 * An entry that serves functions of several names, such as one closure template
 * for many slot readers, has no name.
 */
#include "monitor/ecl/ecl_names.h"

#include <string.h>

#include "monitor/base/table.h"
#include "monitor/ecl/ecl_adapter.h"
#include "monitor/ecl/ecl_version.h"
#include "monitor/ecl/lisp_source.h"

enum { SEVERAL = 1 };

static struct mprof__table names; /* entry -> cl_object, or SEVERAL */

/* Where an unpatched ECL is recorded, some of its functions have others before
 * them; see monitor/unpatched/unpatched.h. */
extern uintptr_t mprof_unpatched_entry(uintptr_t entry) __attribute__((weak));

static uintptr_t entry_behind(uintptr_t entry) {
    return mprof_unpatched_entry == NULL ? entry : mprof_unpatched_entry(entry);
}

uintptr_t mprof__ecl_entry_of(cl_object function) {
    if (function == OBJNULL || ECL_IMMEDIATE(function))
        return 0;
    switch (function->d.t) {
    case t_cfunfixed:
        return entry_behind((uintptr_t)function->cfunfixed.entry_fixed);
    case t_cfun:
        return entry_behind((uintptr_t)function->cfun.entry);
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
static void add_setf(cl_object symbol, cl_object pair, void *data) {
    (void)symbol, (void)data;
    if (ECL_CONSP(pair) && mprof__ecl_entry_of(ECL_CONS_CAR(pair)) != 0)
        mprof__ecl_names_add(own_name(ECL_CONS_CAR(pair)), ECL_CONS_CAR(pair));
}

static void add_symbol(cl_object key, cl_object symbol, void *data) {
    (void)key;
    if (!mprof__is_a(symbol, t_symbol))
        return;
    mprof__ecl_names_add(symbol, symbol->symbol.gfdef);
    mprof__ecl_names_add(symbol, MPROF__ECL_MACRO(symbol));
    add_setf(symbol, MPROF__ECL_SETF_PAIR(symbol), data);
}

void mprof__ecl_names_fill(void) {
    mprof__ecl_all_symbols(add_symbol, NULL);
    mprof__ecl_all_setf(add_setf, NULL);
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

/* The meaning of NAME, a symbol or (SETF symbol). */
struct meaning {
    cl_object name;
    uintptr_t entry;
    cl_object found; /* its function with that entry */
};

static void maybe_meant(struct meaning *m, cl_object function) {
    if (mprof__ecl_entry_of(function) == m->entry)
        m->found = function;
}

static void maybe_setf(cl_object symbol, cl_object pair, void *data) {
    struct meaning *m = data;
    if (symbol == m->name && ECL_CONSP(pair))
        maybe_meant(m, ECL_CONS_CAR(pair));
}

void mprof__ecl_entry_source(uintptr_t entry, struct mprof__source *source) {
    struct mprof__slot *slot = mprof__table_find(&names, entry);
    if (slot == NULL || slot->value == SEVERAL)
        return;
    struct meaning m = {(cl_object)(uintptr_t)slot->value, entry, OBJNULL};
    bool setf = ECL_CONSP(m.name) && ECL_CONSP(ECL_CONS_CDR(m.name));
    if (setf)
        m.name = ECL_CONS_CAR(ECL_CONS_CDR(m.name));
    if (!mprof__is_a(m.name, t_symbol))
        return;
    if (setf) {
        maybe_setf(m.name, MPROF__ECL_SETF_PAIR(m.name), &m);
        mprof__ecl_all_setf(maybe_setf, &m);
    } else {
        maybe_meant(&m, m.name->symbol.gfdef);
        maybe_meant(&m, MPROF__ECL_MACRO(m.name));
    }
    mprof__lisp_source(m.found, source);
}

/* Another thread may let the table grow meanwhile: a package's is copied, any
 * other has no data for a moment, and then more. */
static void visit_table(cl_object table, mprof__ecl_visit *visit,
                        void *of_visit) {
    if (table == OBJNULL || table == ECL_NIL)
        return;
    volatile struct ecl_hashtable *hash = &table->hash;
    struct ecl_hashtable_entry *data = hash->data;
    cl_index size = hash->size;
    if (data == NULL || hash->data != data)
        return;
    for (cl_index i = 0; i < size; i++)
        if (data[i].key != OBJNULL)
            visit(data[i].key, data[i].value, of_visit);
}

void mprof__ecl_all_symbols(mprof__ecl_visit *visit, void *data) {
    cl_object l = cl_core.packages;
    for (; ECL_CONSP(l); l = ECL_CONS_CDR(l)) {
        visit_table(ECL_CONS_CAR(l)->pack.internal, visit, data);
        visit_table(ECL_CONS_CAR(l)->pack.external, visit, data);
    }
}

void mprof__ecl_all_setf(mprof__ecl_visit *visit, void *data) {
    visit_table(MPROF__ECL_SETF_TABLE, visit, data);
}

struct find_mangled {
    const char *mangled;
    size_t length;
    cl_object found; /* OBJNULL: none yet */
    bool several;
};

/* As lisp-to-c-name of ECL's compiler does it. */
static bool is_mangled(const char *mangled, size_t length, cl_object string) {
    if (mprof__string_length(string) != length)
        return false;
    for (size_t i = 0; i < length; i++) {
        unsigned c = mprof__string_char(string, i);
        if (c >= 'A' && c <= 'Z')
            c += 'a' - 'A';
        else if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9'))
            c = '_';
        if ((unsigned char)mangled[i] != c)
            return false;
    }
    return true;
}

/* Is it SYMBOL that was printed so, perhaps with its package and colons? */
static bool is_mangled_symbol(const struct find_mangled *find,
                              cl_object symbol) {
    size_t length = mprof__string_length(symbol->symbol.name);
    cl_object package = symbol->symbol.hpack;
    if (length == 0 || length > find->length)
        return false;
    size_t before = find->length - length;
    if (!is_mangled(find->mangled + before, length, symbol->symbol.name))
        return false;
    if (before == 0 || package == OBJNULL || package == ECL_NIL)
        return before == 0;
    for (int colons = 1; colons <= 2 && before > 1; colons++)
        if (find->mangled[--before] == '_' &&
            is_mangled(find->mangled, before, package->pack.name))
            return true;
    return false;
}

static void maybe_mangled(cl_object key, cl_object symbol, void *data) {
    struct find_mangled *find = data;
    (void)key;
    if (!mprof__is_a(symbol, t_symbol) || symbol == find->found ||
        !is_mangled_symbol(find, symbol))
        return;
    cl_object macro = MPROF__ECL_MACRO(symbol);
    if (symbol->symbol.gfdef == OBJNULL ||
        (symbol->symbol.gfdef == ECL_NIL &&
         (macro == OBJNULL || macro == ECL_NIL)))
        return;
    find->several |= find->found != OBJNULL;
    find->found = symbol;
}

bool mprof__ecl_mangled_name(const char *mangled, struct mprof__text *text) {
    struct find_mangled find = {mangled, strlen(mangled), OBJNULL, false};
    mprof__ecl_all_symbols(maybe_mangled, &find);
    if (find.found == OBJNULL || find.several)
        return false;
    mprof__text_object(text, find.found);
    return true;
}
