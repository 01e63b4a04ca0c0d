/* ecl_bytecodes.c - names of interpreted functions. */
#include <stdio.h>
#include <string.h>

#include "monitor/ecl/ecl_adapter.h"
#include "monitor/ecl/ecl_version.h"
#include "monitor/ecl/lisp_source.h"
#include "monitor/format/format.h"
#include "monitor/format/paths.h"
#include "monitor/unwind/walk.h"

#include <ecl/bytecodes.h>

/* Is FUNCTION that code, a closure of it, or a generic function, whose methods
 * have its name? */
static bool runs(cl_object function, cl_object code) {
    if (mprof__is_a(function, t_bclosure))
        function = function->bclosure.code;
    return function == code || mprof__is_a(function, t_instance);
}

/* Is CODE what NAME is globally bound to? */
static bool is_global(cl_object name, cl_object code) {
    if (ECL_CONSP(name))
        return true; /* (SETF FOO); local ones of that kind are rare */
    return mprof__is_a(name, t_symbol) && (runs(name->symbol.gfdef, code) ||
                                           runs(MPROF__ECL_MACRO(name), code));
}

/* Index of CODE among the constants of OUTER, or -1. */
static cl_fixnum constant_index(cl_object outer, cl_object code) {
    cl_object data = outer->bytecodes.data;
    if (!mprof__is_a(data, t_vector))
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

/* The name of the global function around OUTER's code, outwards the chain;
 * false: there is none. */
static bool add_outer(struct mprof__text *text,
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
            return true;
        }
        inner = outer;
    }
    return false;
}

/* The reader takes CODE for one function however often it is loaded: by
 * name->symbol, which gets the place in FILE of the form around it, its INDEX
 * among the constants of the function around it, and a hash of the code
 * (FNV-1a). */
static void identify(cl_object code, const char *file, cl_fixnum index,
                     struct mprof__name *name) {
    const unsigned char *bytes = (const unsigned char *)code->bytecodes.code;
    size_t size = code->bytecodes.code_size * sizeof(cl_opcode);
    uint64_t hash = 14695981039346656037u;
    cl_object at = code->bytecodes.file_position;
    long position = ECL_FIXNUMP(at) ? (long)ecl_fixnum(at) : -1;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 1099511628211u;
    snprintf(name->symbol, sizeof name->symbol, "%.200s:%010ld.%06ld:%016llx",
             file, position, (long)index, (unsigned long long)hash);
}

/* The name without folder of the file that CODE was read from, or "". */
static void file_of(cl_object code, char *file, size_t size) {
    struct mprof__text text;
    cl_object from = code->bytecodes.file;
    mprof__text_begin(&text, file, size);
    if (!mprof__is_a(from, t_pathname)) {
        mprof__text_string(&text, from);
        const char *name = mprof__base_name(file);
        memmove(file, name, strlen(name) + 1);
        return;
    }
    mprof__text_string(&text, from->pathname.name);
    if (from->pathname.type != ECL_NIL) {
        mprof__text_add(&text, ".");
        mprof__text_string(&text, from->pathname.type);
    }
}

void mprof__ecl_interpreted(const struct mprof__frame *frames, size_t index,
                            struct mprof__name *name) {
    cl_object code = (cl_object)frames[index].object;
    cl_object own = code->bytecodes.name;
    struct mprof__text text;
    mprof__lisp_source(code, &name->source);
    mprof__text_begin(&text, name->text, sizeof name->text);
    if (own != OBJNULL && own != ECL_NIL && is_global(own, code)) {
        mprof__text_object(&text, own);
        return;
    }
    const char *how = NULL;
    cl_fixnum at = 0;
    for (size_t i = index; i-- > 0 && how == NULL;) {
        cl_object outer = bytecodes_of(&frames[i]);
        at = outer == OBJNULL ? -1 : constant_index(outer, code);
        if (at >= 0)
            how = origin(outer, at);
    }
    if (how == NULL) {
        at = 0;
        how = own == ECL_NIL || own == OBJNULL ? "LAMBDA" : "LOCAL";
    }
    mprof__text_add(&text, "(");
    mprof__text_add(&text, how);
    if (own != OBJNULL && own != ECL_NIL) {
        mprof__text_add(&text, " ");
        mprof__text_object(&text, own);
    }
    bool outer = add_outer(&text, frames, index, code);
    if (own == OBJNULL || own == ECL_NIL) {
        char file[256];
        file_of(code, file, sizeof file);
        identify(code, file, at, name);
        if (!outer && file[0] != '\0') {
            mprof__text_add(&text, " :IN ");
            mprof__text_add(&text, file);
        }
    }
    mprof__text_add(&text, ")");
}
