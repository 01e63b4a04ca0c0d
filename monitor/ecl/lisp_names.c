/* lisp_names.c - see lisp_names.h. */
#include "monitor/ecl/lisp_names.h"

#include <stdio.h>
#include <string.h>

void mprof__text_begin(struct mprof__text *text, char *buffer, size_t size) {
    text->at = buffer;
    text->end = buffer + size - 1;
    *buffer = '\0';
}

void mprof__text_char(struct mprof__text *text, unsigned c) {
    static const unsigned char mark[] = {0, 0xc0, 0xe0, 0xf0};
    char bytes[4];
    size_t n = 1 + (c >= 0x80) + (c >= 0x800) + (c >= 0x10000);
    bytes[0] = (char)(mark[n - 1] | c >> 6 * (n - 1));
    for (size_t i = 1; i < n; i++)
        bytes[i] = (char)(0x80 | (c >> 6 * (n - 1 - i) & 0x3f));
    if ((size_t)(text->end - text->at) < n)
        return;
    memcpy(text->at, bytes, n);
    text->at += n;
    *text->at = '\0';
}

void mprof__text_add(struct mprof__text *text, const char *string) {
    for (; *string != '\0'; string++)
        mprof__text_char(text, (unsigned char)*string);
}

static bool is_string(cl_object s) {
    return s != OBJNULL && ECL_STRINGP(s);
}

size_t mprof__string_length(cl_object string) {
    return is_string(string) ? string->base_string.fillp : 0;
}

unsigned mprof__string_char(cl_object string, size_t i) {
#ifdef ECL_UNICODE
    if (string->d.t == t_string)
        return (unsigned)string->string.self[i];
#endif
    return string->base_string.self[i];
}

void mprof__text_string(struct mprof__text *text, cl_object string) {
    if (mprof__is_a(string, t_symbol))
        string = string->symbol.name;
    for (cl_index i = 0; i < mprof__string_length(string); i++)
        mprof__text_char(text, mprof__string_char(string, i));
}

/* Would the reader read it back without bars? */
static bool is_plain(cl_object name) {
    bool number = true;
    cl_index n = mprof__string_length(name);
    for (cl_index i = 0; i < n; i++) {
        unsigned c = mprof__string_char(name, i);
        if ((c != '#' || i == 0) &&
            (c >= 0x80 || (c >= 'a' && c <= 'z') ||
             strchr(" \t\n\r\f\"#'(),:;\\`|", (int)c) != NULL))
            return false;
        if (strchr("0123456789+-./", (int)c) == NULL)
            number = false;
    }
    return n > 0 && !number;
}

static void add_name(struct mprof__text *text, cl_object name) {
    bool plain = is_plain(name) ||
                 (mprof__string_length(name) == 1 &&
                  strchr("+-/", (int)mprof__string_char(name, 0)) != NULL) ||
                 (mprof__string_length(name) == 2 &&
                  mprof__string_char(name, 0) == '1' &&
                  strchr("+-", (int)mprof__string_char(name, 1)) != NULL);
    if (!plain)
        mprof__text_char(text, '|');
    for (cl_index i = 0; i < mprof__string_length(name); i++) {
        unsigned c = mprof__string_char(name, i);
        if (!plain && (c == '|' || c == '\\'))
            mprof__text_char(text, '\\');
        mprof__text_char(text, c);
    }
    if (!plain)
        mprof__text_char(text, '|');
}

bool mprof__string_is(cl_object string, const char *name) {
    cl_index n = mprof__string_length(string);
    if (n != strlen(name))
        return false;
    for (cl_index i = 0; i < n; i++)
        if (mprof__string_char(string, i) != (unsigned char)name[i])
            return false;
    return true;
}

bool mprof__symbol_is(cl_object object, const char *name) {
    return mprof__is_a(object, t_symbol) &&
           mprof__string_is(object->symbol.name, name);
}

/* Another thread may intern meanwhile: look at a table only while its size
 * stays what it was.  Values are compared and never followed. */
static bool is_external(cl_object package, cl_object symbol) {
    volatile struct ecl_hashtable *table = &package->pack.external->hash;
    for (int attempt = 0; attempt < 3; attempt++) {
        cl_index size = table->size;
        volatile struct ecl_hashtable_entry *entry = table->data;
        if (table->size != size)
            continue;
        for (cl_index i = 0; i < size; i++)
            if (entry[i].value == symbol)
                return true;
        return false;
    }
    return false;
}

static void add_symbol(struct mprof__text *text, cl_object symbol) {
    cl_object package = symbol->symbol.hpack;
    cl_object name = symbol->symbol.name;
    if (package == ECL_NIL || package == OBJNULL) {
        mprof__text_add(text, "#:");
    } else if (package == cl_core.keyword_package) {
        mprof__text_add(text, ":");
    } else if (package == cl_core.lisp_package) {
        mprof__text_add(text, "CL:");
    } else if (package != cl_core.user_package) {
        cl_object of = package->pack.name;
        if (mprof__string_is(of, "SYSTEM"))
            mprof__text_add(text, "SI");
        else if (is_string(of))
            add_name(text, of);
        mprof__text_add(text, is_external(package, symbol) ? ":" : "::");
    }
    if (is_string(name))
        add_name(text, name);
}

static void add_list(struct mprof__text *text, cl_object list) {
    mprof__text_add(text, "(");
    for (int n = 0; ECL_CONSP(list); list = ECL_CONS_CDR(list), n++) {
        if (n > 0)
            mprof__text_add(text, " ");
        if (n == 32) {
            mprof__text_add(text, "...");
            list = ECL_NIL;
            break;
        }
        /* SETF and the like are the operators of names, not functions. */
        cl_object item = ECL_CONS_CAR(list);
        if (n == 0 && mprof__is_a(item, t_symbol) &&
            item->symbol.hpack == cl_core.lisp_package)
            mprof__text_string(text, item);
        else
            mprof__text_object(text, item);
    }
    if (list != ECL_NIL) {
        mprof__text_add(text, " . ");
        mprof__text_object(text, list);
    }
    mprof__text_add(text, ")");
}

static void add_literal(struct mprof__text *text, cl_object object) {
    char number[32];
    if (ECL_FIXNUMP(object)) {
        snprintf(number, sizeof number, "%ld", (long)ecl_fixnum(object));
        mprof__text_add(text, number);
    } else if (ECL_CHARACTERP(object)) {
        mprof__text_add(text, "#\\");
        mprof__text_char(text, (unsigned)ECL_CHAR_CODE(object));
    } else if (is_string(object)) {
        mprof__text_add(text, "\"");
        mprof__text_string(text, object);
        mprof__text_add(text, "\"");
    } else if (object->d.t == t_instance && ECL_CLASS_OF(object) != OBJNULL) {
        mprof__text_add(text, "#<");
        mprof__text_object(text, ECL_CLASS_NAME(ECL_CLASS_OF(object)));
        mprof__text_add(text, ">");
    } else {
        mprof__text_add(text, "#<object>");
    }
}

void mprof__text_object(struct mprof__text *text, cl_object object) {
    if (object == OBJNULL)
        mprof__text_add(text, "#<unbound>");
    else if (object == ECL_NIL)
        mprof__text_add(text, "NIL");
    else if (object == ECL_T)
        mprof__text_add(text, "T");
    else if (ECL_CONSP(object))
        add_list(text, object);
    else if (mprof__is_a(object, t_symbol))
        add_symbol(text, object);
    else
        add_literal(text, object);
}

/* Where standard-method keeps what we need: +standard-method-slots+ of ECL's
 * src/clos/hierarchy.lsp. */
enum { METHOD_GF = 0, METHOD_SPECIALIZERS = 2, METHOD_QUALIFIERS = 3 };

static void add_specializer(struct mprof__text *text, cl_object specializer) {
    /* Specializers have a flag, a holder and a third slot, which in an EQL
     * specializer is its object; the slots of classes come after these. */
    if (!mprof__is_a(specializer, t_instance)) {
        mprof__text_object(text, specializer);
    } else if (specializer->instance.length == 3 &&
               specializer->instance.slots[0] == ECL_T) {
        mprof__text_add(text, "(EQL ");
        mprof__text_object(text, specializer->instance.slots[2]);
        mprof__text_add(text, ")");
    } else if (specializer->instance.length > 3) {
        mprof__text_object(text, ECL_CLASS_NAME(specializer));
    }
}

bool mprof__text_method(struct mprof__text *text, cl_object method) {
    if (!mprof__is_a(method, t_instance) ||
        method->instance.length <= METHOD_QUALIFIERS)
        return false;
    cl_object gf = method->instance.slots[METHOD_GF];
    if (!mprof__is_a(gf, t_instance))
        return false;
    mprof__text_add(text, "(METHOD ");
    mprof__text_object(text, gf->instance.slots[0]);
    cl_object l = method->instance.slots[METHOD_QUALIFIERS];
    for (; l != OBJNULL && ECL_CONSP(l); l = ECL_CONS_CDR(l)) {
        mprof__text_add(text, " ");
        mprof__text_object(text, ECL_CONS_CAR(l));
    }
    mprof__text_add(text, " (");
    l = method->instance.slots[METHOD_SPECIALIZERS];
    for (int n = 0; l != OBJNULL && ECL_CONSP(l); l = ECL_CONS_CDR(l), n++) {
        if (n > 0)
            mprof__text_add(text, " ");
        add_specializer(text, ECL_CONS_CAR(l));
    }
    mprof__text_add(text, "))");
    return true;
}

static const char *const type_names[] = {
    [t_start] = "other storage",
    [t_list] = "cons",
    [t_bignum] = "bignum",
    [t_ratio] = "ratio",
    [t_singlefloat] = "single-float",
    [t_doublefloat] = "double-float",
    [t_longfloat] = "long-float",
    [t_complex] = "complex",
#ifdef ECL_COMPLEX_FLOAT
    [t_csfloat] = "complex-single-float",
    [t_cdfloat] = "complex-double-float",
    [t_clfloat] = "complex-long-float",
#endif
    [t_symbol] = "symbol",
    [t_package] = "package",
    [t_hashtable] = "hash-table",
    [t_array] = "array",
    [t_vector] = "vector",
#ifdef ECL_UNICODE
    [t_string] = "string",
#endif
    [t_base_string] = "base-string",
    [t_bitvector] = "bit-vector",
    [t_stream] = "stream",
    [t_random] = "random-state",
    [t_readtable] = "readtable",
    [t_pathname] = "pathname",
    [t_bytecodes] = "bytecodes",
    [t_bclosure] = "bytecodes-closure",
    [t_cfun] = "compiled-function",
    [t_cfunfixed] = "compiled-function",
    [t_cclosure] = "compiled-closure",
    [t_instance] = "instance",
#ifdef ECL_THREADS
    [t_process] = "process",
    [t_lock] = "lock",
    [t_rwlock] = "rwlock",
    [t_condition_variable] = "condition-variable",
    [t_semaphore] = "semaphore",
    [t_barrier] = "barrier",
    [t_mailbox] = "mailbox",
#endif
    [t_codeblock] = "codeblock",
    [t_foreign] = "foreign-data",
    [t_frame] = "stack-frame",
    [t_weak_pointer] = "weak-pointer",
};

const char *mprof__type_name(unsigned type, uintptr_t object, char *buffer,
                             size_t size) {
    const size_t types = sizeof type_names / sizeof type_names[0];
    const char *name = type < types ? type_names[type] : NULL;
    if (name == NULL)
        name = "unknown type";
    cl_object clas = (cl_object)object;
    if (!mprof__is_a(clas, t_instance))
        return name;
    struct mprof__text text;
    mprof__text_begin(&text, buffer, size);
    mprof__text_object(&text, ECL_CLASS_NAME(clas));
    /* A structure's class is an instance of STRUCTURE-CLASS. */
    cl_object meta = ECL_CLASS_NAME(ECL_CLASS_OF(clas));
    return mprof__symbol_is(meta, "STRUCTURE-CLASS") ? "structure" : "instance";
}
