/* ecl_bytecodes.c - names of interpreted functions. */
#include <string.h>

#include "monitor/ecl/ecl_adapter.h"
#include "monitor/ecl/ecl_version.h"
#include "monitor/format/format.h"
#include "monitor/unwind/walk.h"

#include <ecl/bytecodes.h>

/* Is FUNCTION that code, a closure of it, or a generic function, whose methods
 * have its name? */
static bool runs(cl_object function, cl_object code) {
    if (function == OBJNULL || ECL_IMMEDIATE(function))
        return false;
    if (function->d.t == t_bclosure)
        function = function->bclosure.code;
    return function == code || function->d.t == t_instance;
}

/* Is CODE what NAME is globally bound to? */
static bool is_global(cl_object name, cl_object code) {
    if (ECL_CONSP(name))
        return true; /* (SETF FOO); local ones of that kind are rare */
    if (ECL_IMMEDIATE(name) || name->d.t != t_symbol)
        return false;
    return runs(name->symbol.gfdef, code) || runs(mprof__ecl_macro(name), code);
}

/* Index of CODE among the constants of OUTER, or -1. */
static cl_fixnum constant_index(cl_object outer, cl_object code) {
    cl_object data = outer->bytecodes.data;
    if (data == OBJNULL || ECL_IMMEDIATE(data) || data->d.t != t_vector)
        return -1;
    for (cl_index i = 0; i < data->vector.fillp; i++)
        if (data->vector.self.t[i] == code)
            return (cl_fixnum)i;
    return -1;
}

/* Are there N constants at CODE, INDEX among them? */
static bool lists(const cl_opcode *code, const cl_opcode *end, cl_fixnum n,
                  cl_fixnum index) {
    for (; n > 0 && code < end; n--, code++)
        if (*code == index)
            return true;
    return false;
}

/* How OUTER's own code introduces its constant INDEX, or NULL: constants are
 * shared with the functions inside of it and with the form around it.  FLET
 * and LABELS are followed by the number of functions and their constants. */
static const char *origin(cl_object outer, cl_fixnum index) {
    const cl_opcode *code = (const cl_opcode *)outer->bytecodes.code;
    const cl_opcode *end = code + outer->bytecodes.code_size;
    for (; code + 1 < end; code++) {
        if (*code == OP_FLET && lists(code + 2, end, code[1], index))
            return "FLET";
        if (*code == OP_LABELS && lists(code + 2, end, code[1], index))
            return "LABELS";
        if ((*code == OP_CLOSE || *code == OP_QUOTE || *code == OP_PUSHQ) &&
            code[1] == index)
            return "LAMBDA";
    }
    return NULL;
}

static cl_object bytecodes_of(const struct mprof__frame *frame) {
    if (frame->object == 0 || frame->object == MPROF__TOPLEVEL_OBJECT)
        return OBJNULL;
    return (cl_object)frame->object;
}

/* The name of the global function around OUTER's code, outwards the chain. */
static void add_outer(struct mprof__text *text,
                      const struct mprof__frame *frames, size_t index,
                      cl_object inner) {
    for (size_t i = index; i-- > 0;) {
        cl_object outer = bytecodes_of(&frames[i]);
        cl_fixnum at = outer == OBJNULL ? -1 : constant_index(outer, inner);
        if (at < 0 || origin(outer, at) == NULL)
            continue;
        if (is_global(outer->bytecodes.name, outer)) {
            mprof__text_add(text, " :IN ");
            mprof__text_object(text, outer->bytecodes.name);
            return;
        }
        inner = outer;
    }
}

void mprof__ecl_interpreted(const struct mprof__frame *frames, size_t index,
                            struct mprof__name *name) {
    cl_object code = (cl_object)frames[index].object;
    cl_object own = code->bytecodes.name;
    struct mprof__text text;
    mprof__text_begin(&text, name->text, sizeof name->text);
    if (own != OBJNULL && own != ECL_NIL && is_global(own, code)) {
        mprof__text_object(&text, own);
        return;
    }
    const char *how = NULL;
    for (size_t i = index; i-- > 0 && how == NULL;) {
        cl_object outer = bytecodes_of(&frames[i]);
        cl_fixnum at = outer == OBJNULL ? -1 : constant_index(outer, code);
        if (at >= 0)
            how = origin(outer, at);
    }
    if (how == NULL)
        how = own == ECL_NIL || own == OBJNULL ? "LAMBDA" : "LOCAL";
    mprof__text_add(&text, "(");
    mprof__text_add(&text, how);
    if (own != OBJNULL && own != ECL_NIL) {
        mprof__text_add(&text, " ");
        mprof__text_object(&text, own);
    }
    add_outer(&text, frames, index, code);
    mprof__text_add(&text, ")");
}
