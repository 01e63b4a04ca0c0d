/* ecl_methods.c - the names of methods, which only their generic functions
 * know: read when a recording ends, and put in the place of those that were
 * recorded. */
#include "monitor/base/table.h"
#include "monitor/ecl/ecl_adapter.h"
#include "monitor/ecl/ecl_images.h"
#include "monitor/ecl/ecl_names.h"
#include "monitor/ecl/ecl_version.h"
#include "monitor/ecl/lisp_source.h"
#include "monitor/names/names.h"

enum { SEVERAL = 1 };

static struct mprof__table methods; /* code -> method, or SEVERAL */

/* For the walk over all methods; under the lock of the API. */
static void (*visit_method)(cl_object method);
static struct mprof__names *named;

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
        if (mprof__ecl_entry_of(item) == 0 && !mprof__is_a(item, t_bytecodes) &&
            !mprof__is_a(item, t_bclosure))
            continue;
        if (found != OBJNULL)
            return function;
        found = item;
    }
    return found == OBJNULL ? function : found;
}

static cl_object method_function(cl_object method) {
    if (!mprof__is_a(method, t_instance) ||
        method->instance.length <= METHOD_FUNCTION)
        return OBJNULL;
    cl_object function = method->instance.slots[METHOD_FUNCTION];
    if (function == OBJNULL || ECL_IMMEDIATE(function))
        return OBJNULL;
    function = inner_function(function);
    return function->d.t == t_bclosure ? function->bclosure.code : function;
}

/* The place of a method's code: an entry address or a bytecodes object. */
static uintptr_t method_key(cl_object method) {
    cl_object function = method_function(method);
    if (function == OBJNULL)
        return 0;
    if (function->d.t == t_bytecodes)
        return (uintptr_t)function;
    uintptr_t entry = mprof__ecl_entry_of(function);
    return mprof__ecl_has_name(entry) ? 0 : entry;
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
        slot->value = SEVERAL;
}

static void rename_method(cl_object method) {
    char name[MPROF__NAME_BYTES];
    struct mprof__source source = {.file = ""};
    struct mprof__text text;
    uintptr_t key = method_key(method);
    struct mprof__slot *slot =
        key == 0 ? NULL : mprof__table_find(&methods, key);
    if (slot == NULL || slot->value == SEVERAL)
        return;
    mprof__text_begin(&text, name, sizeof name);
    if (!mprof__text_method(&text, method))
        return;
    mprof__rename(named, key, name);
    mprof__rename(named, mprof__ecl_body_of(key), name);
    mprof__lisp_source(method_function(method), &source);
    mprof__set_source(named, key, &source);
    mprof__set_source(named, mprof__ecl_body_of(key), &source);
}

static void visit_methods_of(cl_object gf) {
    if (!mprof__is_a(gf, t_instance) ||
        gf->instance.isgf == ECL_NOT_FUNCALLABLE ||
        gf->instance.length <= GF_METHODS)
        return;
    cl_object l = gf->instance.slots[GF_METHODS];
    for (; l != OBJNULL && ECL_CONSP(l); l = ECL_CONS_CDR(l))
        visit_method(ECL_CONS_CAR(l));
}

static void methods_of_setf(cl_object symbol, cl_object pair, void *data) {
    (void)symbol, (void)data;
    if (ECL_CONSP(pair))
        visit_methods_of(ECL_CONS_CAR(pair));
}

static void methods_of_symbol(cl_object key, cl_object symbol, void *data) {
    (void)key;
    if (!mprof__is_a(symbol, t_symbol))
        return;
    visit_methods_of(symbol->symbol.gfdef);
    methods_of_setf(symbol, MPROF__ECL_SETF_PAIR(symbol), data);
}

static void for_all_methods(void (*visit)(cl_object method)) {
    visit_method = visit;
    mprof__ecl_all_symbols(methods_of_symbol, NULL);
    mprof__ecl_all_setf(methods_of_setf, NULL);
}

void mprof__ecl_rename_methods(struct mprof__names *names) {
    named = names;
    for_all_methods(note_method);
    for_all_methods(rename_method);
    mprof__table_free(&methods);
}
