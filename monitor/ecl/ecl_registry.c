/* ecl_registry.c - from the entry address of native code to its Lisp name.
 *
 * The runtime's functions are read when the recording starts: what symbols
 * and (SETF symbol) are bound to.  From then on the runtime tells when a
 * function gets a name.  An entry that serves functions of several names, such
 * as one closure template for many slot readers, has no name.
 *
 * Local functions have none in Lisp; the compiler gives their C functions
 * names like L12make_tree and LC2walk__labels_in__tree_sum, which are read
 * from the symbol table of their library (local_names.c).
 */
#define _GNU_SOURCE
#include <link.h>
#include <string.h>

#include "monitor/base/self.h"
#include "monitor/base/table.h"
#include "monitor/ecl/ecl_adapter.h"
#include "monitor/ecl/ecl_version.h"
#include "monitor/ecl/entries.h"
#include "monitor/ecl/local_names.h"
#include "monitor/format/format.h"
#include "monitor/record/modules.h"
#include "monitor/record/names.h"
#include "monitor/record/sites.h"
#include "monitor/unwind/walk.h"

enum { AMBIGUOUS = 1 };

static struct mprof__table names;   /* entry -> cl_object, or AMBIGUOUS */
static struct mprof__table methods; /* code -> method, or AMBIGUOUS */
static struct mprof__table bodies;  /* body -> entry; see entries.h */
static struct mprof__table decoded; /* start of a module whose are known */
static struct mprof__table images;  /* link_map -> struct mprof__image * */
static struct mprof__table others;  /* the same of what Lisp did not load */
static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t pairing = PTHREAD_MUTEX_INITIALIZER; /* innermost */

static uintptr_t entry_of(cl_object function) {
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
    } else if (slot->value != AMBIGUOUS &&
               !same_name((cl_object)(uintptr_t)slot->value, name)) {
        slot->value = AMBIGUOUS;
    }
}

void mprof__ecl_registry_name(cl_object name, cl_object function) {
    uintptr_t entry = entry_of(function);
    if (entry == 0 || name == OBJNULL || name == ECL_NIL)
        return;
    /* A second name for a function: it keeps the one it was made with. */
    cl_object own = own_name(function);
    if (own != OBJNULL && own != ECL_NIL)
        name = own;
    mprof__lock(&changing);
    add_name(entry, name);
    mprof__unlock(&changing);
}

/* (function . symbol); a compiled function has the name (SETF symbol) itself.
 */
static void fill_setf(cl_object pair) {
    if (!ECL_CONSP(pair))
        return;
    cl_object function = ECL_CONS_CAR(pair);
    if (entry_of(function) != 0)
        mprof__ecl_registry_name(own_name(function), function);
}

static void fill_symbol(cl_object symbol) {
    if (symbol == OBJNULL || ECL_IMMEDIATE(symbol) || symbol->d.t != t_symbol)
        return;
    mprof__ecl_registry_name(symbol, symbol->symbol.gfdef);
    mprof__ecl_registry_name(symbol, mprof__ecl_macro(symbol));
    fill_setf(mprof__ecl_setf_pair(symbol));
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

static void fill_from_package(cl_object key, cl_object symbol) {
    (void)key;
    fill_symbol(symbol);
}

static void fill_from_setf(cl_object symbol, cl_object pair) {
    (void)symbol;
    fill_setf(pair);
}

static void for_all_symbols(void (*visit)(cl_object key, cl_object symbol)) {
    cl_object l = cl_core.packages;
    for (; ECL_CONSP(l); l = ECL_CONS_CDR(l)) {
        visit_table(ECL_CONS_CAR(l)->pack.internal, visit);
        visit_table(ECL_CONS_CAR(l)->pack.external, visit);
    }
}

static void add_image(struct mprof__table *table, const struct link_map *map,
                      const char *path) {
    if (mprof__table_find(table, (uintptr_t)map) != NULL)
        return;
    struct mprof__image *image = mprof__map(sizeof *image);
    if (image == NULL)
        return;
    mprof__image_open(image, path);
    mprof__table_add(table, (uintptr_t)map, (uintptr_t)image);
}

static const struct mprof__image *image_in(const struct mprof__table *table,
                                           const struct link_map *map) {
    struct mprof__slot *slot = mprof__table_find(table, (uintptr_t)map);
    return slot == NULL ? NULL : (const void *)(uintptr_t)slot->value;
}

/* Open it now: what COMPILE makes is deleted as soon as it is loaded. */
static void open_image(cl_object block) {
    cl_object path = block->cblock.name;
    if (block->cblock.handle != NULL && path != OBJNULL &&
        !ECL_IMMEDIATE(path) && path->d.t == t_base_string)
        add_image(&images, block->cblock.handle,
                  (const char *)path->base_string.self);
}

/* The part of the runtime that is written in Lisp has local functions too. */
static void open_core_image(void) {
    struct mprof__unwind unwind;
    mprof__cfi_find((uintptr_t)ecl_interpret, &unwind);
    if (unwind.module != NULL && unwind.module->l_name[0] == '/')
        add_image(&images, unwind.module, unwind.module->l_name);
}

struct range {
    uintptr_t start, end;
};

static bool in_range(uint64_t key, uint64_t value, void *data) {
    const struct range *range = data;
    (void)value;
    return key >= range->start && key < range->end;
}

static bool is_key(uint64_t key, uint64_t value, void *data) {
    if (key != (uintptr_t)data)
        return false;
    struct mprof__image *image = (void *)(uintptr_t)value;
    mprof__image_close(image);
    mprof__unmap(image, sizeof *image);
    return true;
}

static void close_image(cl_object block) {
    struct link_map *map = block->cblock.handle;
    struct mprof__unwind unwind;
    if (map == NULL)
        return;
    mprof__cfi_find((uintptr_t)map->l_ld, &unwind);
    struct range range = {unwind.module_start, unwind.module_end};
    mprof__table_sweep(&names, in_range, &range);
    mprof__lock(&pairing);
    mprof__table_sweep(&bodies, in_range, &range);
    mprof__table_sweep(&decoded, in_range, &range);
    mprof__unlock(&pairing);
    mprof__table_sweep(&images, is_key, map);
    mprof__module_unloads(range.start, range.end);
}

void mprof__ecl_registry_library(cl_object block, bool opened) {
    mprof__lock(&changing);
    if (opened)
        open_image(block);
    else
        close_image(block);
    mprof__unlock(&changing);
}

void mprof__ecl_registry_fill(void) {
    cl_object l;
    for_all_symbols(fill_from_package);
    visit_table(mprof__ecl_setf_table(), fill_from_setf);
    open_core_image();
    for (l = cl_core.libraries; ECL_CONSP(l); l = ECL_CONS_CDR(l))
        mprof__ecl_registry_library(ECL_CONS_CAR(l), true);
}

static bool always(uint64_t key, uint64_t value, void *data) {
    (void)key, (void)data;
    struct mprof__image *image = (void *)(uintptr_t)value;
    mprof__image_close(image);
    mprof__unmap(image, sizeof *image);
    return true;
}

void mprof__ecl_registry_clear(void) {
    mprof__lock(&changing);
    mprof__table_sweep(&images, always, NULL);
    mprof__table_free(&images);
    mprof__table_sweep(&others, always, NULL);
    mprof__table_free(&others);
    mprof__table_free(&names);
    mprof__table_free(&bodies);
    mprof__table_free(&decoded);
    mprof__unlock(&changing);
}

void mprof__ecl_registry_forked(void) {
    pthread_mutex_init(&changing, NULL);
    pthread_mutex_init(&pairing, NULL);
}

bool mprof__ecl_entry_name(uintptr_t entry, struct mprof__text *text) {
    struct mprof__slot *slot = mprof__table_find(&names, entry);
    if (slot == NULL || slot->value == AMBIGUOUS)
        return false;
    mprof__text_object(text, (cl_object)(uintptr_t)slot->value);
    return true;
}

static void note_pair(uintptr_t entry, uintptr_t body) {
    mprof__lock(&pairing);
    if (entry != body && mprof__table_find(&bodies, body) == NULL)
        mprof__table_add(&bodies, body, entry);
    mprof__unlock(&pairing);
}

static bool note_by_code(uint64_t entry, uint64_t name, void *data) {
    const struct range *range = data;
    (void)name;
    if (entry >= range->start && entry < range->end)
        note_pair(entry, mprof__body_by_code(entry));
    return false;
}

/* In a library without symbols: all pairs whose entries have names. */
static void decode_module(uintptr_t address) {
    struct mprof__unwind unwind;
    mprof__cfi_find(address, &unwind);
    if (unwind.module_start == 0 ||
        mprof__table_find(&decoded, unwind.module_start) != NULL)
        return;
    struct range range = {unwind.module_start, unwind.module_end};
    mprof__table_add(&decoded, unwind.module_start, 1);
    mprof__table_sweep(&names, note_by_code, &range);
}

/* By the symbols.  A program may be linked with compiled Lisp. */
static bool pair_by_symbols(const struct link_map *module, uintptr_t start,
                            struct mprof__pair *pair) {
    const struct mprof__image *image = image_in(&images, module);
    if (image == NULL) {
        mprof__lock(&pairing);
        add_image(&others, module,
                  module->l_name[0] != '\0' ? module->l_name
                                            : "/proc/self/exe");
        image = image_in(&others, module);
        mprof__unlock(&pairing);
    }
    return image != NULL &&
           mprof__pair_by_symbols(image, start, module->l_addr, pair);
}

/* By the code, but only where it is known to come from ECL's compiler. */
static bool is_lisp(const struct link_map *module) {
    return mprof__table_find(&images, (uintptr_t)module) != NULL;
}

static struct mprof__pair find_pair(const struct link_map *module,
                                    uintptr_t start) {
    struct mprof__pair pair = {start, start};
    if (!MPROF__ECL_ENTRIES)
        return pair;
    if (pair_by_symbols(module, start, &pair)) {
        note_pair(pair.entry, pair.body);
    } else if (!is_lisp(module)) {
        return pair;
    } else if (mprof__table_find(&names, start) != NULL) {
        pair.body = mprof__body_by_code(start);
        note_pair(start, pair.body);
    } else {
        decode_module(start);
        struct mprof__slot *slot = mprof__table_find(&bodies, start);
        if (slot != NULL)
            pair.entry = slot->value;
    }
    return pair;
}

/* Where there is none, it is the entry itself. */
static uintptr_t method_body(uintptr_t entry) {
    struct mprof__pair pair = {entry, entry};
    struct mprof__unwind unwind;
    mprof__cfi_find(entry, &unwind);
    if (!MPROF__ECL_ENTRIES || unwind.module == NULL ||
        pair_by_symbols(unwind.module, entry, &pair) || !is_lisp(unwind.module))
        return pair.body;
    return mprof__body_by_code(entry);
}

void mprof__ecl_native(uintptr_t start, struct link_map *module,
                       struct mprof__name *name) {
    const struct mprof__image *image = image_in(&images, module);
    struct mprof__pair pair = find_pair(module, start);
    struct mprof__text text;
    mprof__text_begin(&text, name->text, sizeof name->text);
    if (mprof__ecl_entry_name(pair.entry, &text))
        name->kind = MPROF_LISP;
    else if (image != NULL)
        mprof__local_name(image, pair.body, module->l_addr, name);
    if (start != pair.body && name->kind == MPROF_LISP) {
        name->kind = MPROF_ENTRY;
        name->symbol[0] = '\0';
    }
}

/* For the walk over all methods; under the lock of the API. */
static void (*visit_method)(cl_object method);
static struct mprof__session *named_session;

/* Where a generic function keeps its methods, and a method its function:
 * +standard-generic-function-slots+ and +standard-method-slots+ of ECL's
 * src/clos/hierarchy.lsp. */
enum { GF_METHODS = 7, METHOD_FUNCTION = 4 };

/* The function that the programmer wrote: a method's own is most often a
 * closure of the runtime over it. */
static cl_object inner_function(cl_object function) {
    cl_object found = OBJNULL;
    if (function->d.t != t_cclosure)
        return function;
    cl_object l = function->cclosure.env;
    for (; l != OBJNULL && ECL_CONSP(l); l = ECL_CONS_CDR(l)) {
        cl_object item = ECL_CONS_CAR(l);
        if (entry_of(item) == 0 &&
            (item == OBJNULL || ECL_IMMEDIATE(item) ||
             (item->d.t != t_bytecodes && item->d.t != t_bclosure)))
            continue;
        if (found != OBJNULL)
            return function;
        found = item;
    }
    return found == OBJNULL ? function : found;
}

/* The place of a method's code: an entry address or a bytecodes object. */
static uintptr_t method_key(cl_object method) {
    if (method == OBJNULL || ECL_IMMEDIATE(method) ||
        method->d.t != t_instance || method->instance.length <= METHOD_FUNCTION)
        return 0;
    cl_object function = method->instance.slots[METHOD_FUNCTION];
    if (function == OBJNULL || ECL_IMMEDIATE(function))
        return 0;
    function = inner_function(function);
    if (function->d.t == t_bclosure)
        function = function->bclosure.code;
    if (function->d.t == t_bytecodes)
        return (uintptr_t)function;
    uintptr_t entry = entry_of(function);
    return mprof__table_find(&names, entry) == NULL ? entry : 0;
}

/* Slot readers and the like share their code: such code has no name. */
static void note_method(cl_object method) {
    uintptr_t key = method_key(method);
    if (key == 0)
        return;
    struct mprof__slot *slot = mprof__table_find(&methods, key);
    if (slot == NULL)
        mprof__table_add(&methods, key, (uintptr_t)method);
    else if (slot->value != (uintptr_t)method)
        slot->value = AMBIGUOUS;
}

static void rename_method(cl_object method) {
    char name[MPROF__NAME_BYTES];
    struct mprof__text text;
    uintptr_t key = method_key(method);
    struct mprof__slot *slot =
        key == 0 ? NULL : mprof__table_find(&methods, key);
    if (slot == NULL || slot->value == AMBIGUOUS)
        return;
    mprof__text_begin(&text, name, sizeof name);
    if (!mprof__text_method(&text, method))
        return;
    mprof__rename(named_session, key, name);
    mprof__rename(named_session, method_body(key), name);
}

static void for_methods_of(cl_object gf, void (*visit)(cl_object method)) {
    if (gf == OBJNULL || ECL_IMMEDIATE(gf) || gf->d.t != t_instance ||
        gf->instance.isgf == ECL_NOT_FUNCALLABLE ||
        gf->instance.length <= GF_METHODS)
        return;
    cl_object l = gf->instance.slots[GF_METHODS];
    for (; l != OBJNULL && ECL_CONSP(l); l = ECL_CONS_CDR(l))
        visit(ECL_CONS_CAR(l));
}

static void methods_of_setf(cl_object symbol, cl_object pair) {
    (void)symbol;
    if (ECL_CONSP(pair))
        for_methods_of(ECL_CONS_CAR(pair), visit_method);
}

static void methods_of_symbol(cl_object key, cl_object symbol) {
    (void)key;
    if (symbol == OBJNULL || ECL_IMMEDIATE(symbol) || symbol->d.t != t_symbol)
        return;
    for_methods_of(symbol->symbol.gfdef, visit_method);
    methods_of_setf(symbol, mprof__ecl_setf_pair(symbol));
}

static void for_all_methods(void (*visit)(cl_object method)) {
    visit_method = visit;
    for_all_symbols(methods_of_symbol);
    visit_table(mprof__ecl_setf_table(), methods_of_setf);
}

void mprof__ecl_rename_methods(struct mprof__session *session) {
    named_session = session;
    for_all_methods(note_method);
    for_all_methods(rename_method);
    mprof__table_free(&methods);
}
