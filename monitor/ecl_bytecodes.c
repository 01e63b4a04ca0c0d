/* ecl_bytecodes.c - names of interpreted functions. */
#include <string.h>

#include "ecl_adapter.h"
#include "format.h"
#include "walk.h"

#include <ecl/bytecodes.h>

/* Is CODE what NAME is globally bound to? */
static bool is_global(cl_object name, cl_object code) {
    cl_object function;
    if (ECL_CONSP(name))
        return true; /* (SETF FOO); local ones of that kind are rare */
    if (ECL_IMMEDIATE(name) || name->d.t != t_symbol)
        return false;
    function = name->symbol.gfdef;
    if (function == OBJNULL || ECL_IMMEDIATE(function))
        return false;
    if (function->d.t == t_bclosure)
        function = function->bclosure.code;
    return function == code || function->d.t == t_instance;
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

/* How OUTER's own code introduces its constant INDEX, or NULL: constants are
 * shared with the functions inside of it.  FLET and LABELS are followed by the
 * number of functions and their constants. */
static const char *origin(cl_object outer, cl_fixnum index) {
    const cl_opcode *code = (const cl_opcode *)outer->bytecodes.code;
    cl_index size = outer->bytecodes.code_size;
    for (cl_index i = 0; i + 1 < size; i++) {
        if (code[i] != OP_FLET && code[i] != OP_LABELS)
            continue;
        cl_fixnum n = code[i + 1];
        for (cl_fixnum k = 0; k < n && i + 2 + (cl_index)k < size; k++)
            if (code[i + 2 + (cl_index)k] == index)
                return code[i] == OP_FLET ? "FLET" : "LABELS";
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
                      const struct mprof__frame *frames, size_t count,
                      size_t index, cl_object inner) {
    for (size_t i = index + 1; i < count; i++) {
        cl_object outer = bytecodes_of(&frames[i]);
        if (outer == OBJNULL || constant_index(outer, inner) < 0)
            continue;
        if (is_global(outer->bytecodes.name, outer)) {
            mprof__text_add(text, " :IN ");
            mprof__text_object(text, outer->bytecodes.name);
            return;
        }
        inner = outer;
    }
}

void mprof__ecl_interpreted(const struct mprof__frame *frames, size_t count,
                            size_t index, struct mprof__name *name) {
    cl_object code = (cl_object)frames[index].object;
    cl_object own = code->bytecodes.name;
    struct mprof__text text;
    mprof__text_begin(&text, name->text, sizeof name->text);
    if (own != OBJNULL && own != ECL_NIL && is_global(own, code)) {
        mprof__text_object(&text, own);
        return;
    }
    const char *how = NULL;
    for (size_t i = index + 1; i < count && how == NULL; i++) {
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
    add_outer(&text, frames, count, index, code);
    mprof__text_add(&text, ")");
}
