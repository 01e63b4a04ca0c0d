/* lisp_source.c - see lisp_source.h. */
#include "monitor/ecl/lisp_source.h"

#include <string.h>

#include "monitor/ecl/lisp_names.h"
#include "monitor/format/format.h"

/* A base string has the bytes of the file's name. */
static bool add_part(struct mprof__text *text, cl_object part) {
    if (mprof__string_length(part) == 0)
        return false;
    if (part->d.t != t_base_string) {
        mprof__text_string(text, part);
        return true;
    }
    size_t length = part->base_string.fillp;
    if ((size_t)(text->end - text->at) > length) {
        memcpy(text->at, part->base_string.self, length);
        text->at += length;
        *text->at = '\0';
    } else {
        text->at = text->end;
    }
    return true;
}

static bool add_pathname(struct mprof__text *text, cl_object path) {
    cl_object l = path->pathname.directory;
    if (path->pathname.logical || !ECL_CONSP(l) ||
        !mprof__symbol_is(ECL_CONS_CAR(l), "ABSOLUTE"))
        return false;
    mprof__text_add(text, "/");
    for (l = ECL_CONS_CDR(l); ECL_CONSP(l); l = ECL_CONS_CDR(l)) {
        cl_object part = ECL_CONS_CAR(l);
        if (mprof__symbol_is(part, "UP") || mprof__symbol_is(part, "BACK"))
            mprof__text_add(text, "..");
        else if (!add_part(text, part))
            return false;
        mprof__text_add(text, "/");
    }
    if (!add_part(text, path->pathname.name))
        return false;
    if (path->pathname.type == ECL_NIL)
        return true;
    mprof__text_add(text, ".");
    return add_part(text, path->pathname.type);
}

/* ECL's own functions have the logical pathname by which they were compiled,
 * and that leads nowhere. */
static bool add_file(struct mprof__text *text, cl_object file) {
    if (mprof__is_a(file, t_pathname))
        return add_pathname(text, file);
    return mprof__string_length(file) > 0 &&
           mprof__string_char(file, 0) == '/' && add_part(text, file);
}

void mprof__lisp_source(cl_object function, struct mprof__source *source) {
    cl_object file = OBJNULL, position = OBJNULL, block = OBJNULL;
    if (function == OBJNULL || ECL_IMMEDIATE(function))
        return;
    if (function->d.t == t_bclosure)
        function = function->bclosure.code;
    switch (function->d.t) {
    case t_bytecodes:
        file = function->bytecodes.file;
        position = function->bytecodes.file_position;
        break;
    case t_cfunfixed:
        file = function->cfunfixed.file;
        position = function->cfunfixed.file_position;
        block = function->cfunfixed.block;
        break;
    case t_cfun:
        file = function->cfun.file;
        position = function->cfun.file_position;
        block = function->cfun.block;
        break;
    case t_cclosure:
        file = function->cclosure.file;
        position = function->cclosure.file_position;
        block = function->cclosure.block;
        break;
    default:
        return;
    }
    struct mprof__text text;
    mprof__text_begin(&text, source->file, sizeof source->file);
    if (!add_file(&text, file)) {
        mprof__text_begin(&text, source->file, sizeof source->file);
        position = OBJNULL;
        file = mprof__is_a(block, t_codeblock) ? block->cblock.source : OBJNULL;
        if (!add_file(&text, file))
            source->file[0] = '\0';
    }
    /* A path that was cut is another one. */
    if (text.at + 4 > text.end)
        source->file[0] = '\0';
    source->position = position != OBJNULL && ECL_FIXNUMP(position) &&
                               ecl_fixnum(position) >= 0
                           ? (int64_t)ecl_fixnum(position)
                           : MPROF_NO_POSITION;
}
