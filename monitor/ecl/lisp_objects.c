/* lisp_objects.c - what an object of Lisp is, by its own words. */
#include <string.h>

#include "monitor/ecl/lisp_heap.h"

/* The bytes that an object of each type has at least; 0: it has no header, or
 * is no object. */
static const size_t least_bytes[] = {
    [t_bignum] = sizeof(struct ecl_bignum),
    [t_ratio] = sizeof(struct ecl_ratio),
    [t_singlefloat] = sizeof(struct ecl_singlefloat),
    [t_doublefloat] = sizeof(struct ecl_doublefloat),
    [t_longfloat] = sizeof(struct ecl_long_float),
    [t_complex] = 24,
    [t_symbol] = sizeof(struct ecl_symbol),
    [t_package] = sizeof(struct ecl_package),
    [t_hashtable] = sizeof(struct ecl_hashtable),
    [t_array] = sizeof(struct ecl_array),
    [t_vector] = sizeof(struct ecl_vector),
#ifdef ECL_UNICODE
    [t_string] = sizeof(struct ecl_string),
#endif
    [t_base_string] = sizeof(struct ecl_base_string),
    [t_bitvector] = sizeof(struct ecl_vector),
    [t_stream] = sizeof(struct ecl_stream),
    [t_random] = sizeof(struct ecl_random),
    [t_readtable] = sizeof(struct ecl_readtable),
    [t_pathname] = sizeof(struct ecl_pathname),
    [t_bytecodes] = sizeof(struct ecl_bytecodes),
    [t_bclosure] = sizeof(struct ecl_bclosure),
    [t_cfun] = sizeof(struct ecl_cfun),
    [t_cfunfixed] = sizeof(struct ecl_cfunfixed),
    [t_cclosure] = sizeof(struct ecl_cclosure),
    [t_instance] = sizeof(struct ecl_instance),
#ifdef ECL_THREADS
    [t_process] = sizeof(struct ecl_process),
    [t_lock] = sizeof(struct ecl_lock),
    /* At least, and more than a cons, which may begin like one */
    [t_rwlock] = 24,
    [t_condition_variable] = 24,
    [t_semaphore] = 24,
    [t_barrier] = 24,
    [t_mailbox] = 24,
#endif
    [t_codeblock] = sizeof(struct ecl_codeblock),
    [t_foreign] = sizeof(struct ecl_foreign),
    [t_frame] = sizeof(struct ecl_stack_frame),
    [t_weak_pointer] = sizeof(struct ecl_weak_pointer),
};

enum { CONS_BYTES = 16 };

static bool is_leaf(unsigned type) {
    return type == t_singlefloat || type == t_doublefloat ||
           type == t_longfloat || type == t_weak_pointer;
}

/* Strings and the like have their header in one piece with what is in them, and
 * no pointers: where does that begin?  0: it is no such. */
static uintptr_t own_part(const union cl_lispunion *o, unsigned type) {
    switch (type) {
    case t_base_string:
        return (uintptr_t)o->base_string.self;
#ifdef ECL_UNICODE
    case t_string:
        return (uintptr_t)o->string.self;
#endif
    case t_vector:
    case t_bitvector:
        return (uintptr_t)o->vector.self.t;
    case t_array:
        return (uintptr_t)o->array.self.t;
    default:
        return 0;
    }
}

/* Memory with pointers was zero when it was given out: so are the bytes behind
 * a header, where nothing is stored. */
static bool is_typed(const struct mprof__lisp_object *object, unsigned type) {
    const union cl_lispunion *o = (const void *)object->at;
    if (mprof__lisp_points(object)) {
        uint32_t behind;
        memcpy(&behind, (const char *)o + sizeof behind, sizeof behind);
        return !is_leaf(type) && behind == 0 && (unsigned char)o->d.m <= 1;
    }
    return is_leaf(type) ? object->bytes <= 2 * CONS_BYTES
                         : own_part(o, type) == object->at + least_bytes[type];
}

unsigned mprof__lisp_type(const struct mprof__lisp_object *object) {
    const size_t types = sizeof least_bytes / sizeof least_bytes[0];
    const union cl_lispunion *o = (const void *)object->at;
    unsigned type = (unsigned char)o->d.t;
    if (type < types && least_bytes[type] != 0 &&
        object->bytes >= least_bytes[type] && is_typed(object, type))
        return type;
    return mprof__lisp_points(object) && object->bytes == CONS_BYTES
               ? MPROF__CONS
               : MPROF__OTHER;
}

size_t mprof__lisp_owned(const struct mprof__lisp_object *object,
                         uintptr_t owned[MPROF__MOST_OWNED]) {
    const union cl_lispunion *o = (const void *)object->at;
    size_t n = 0;
    switch (object->type) {
    case t_hashtable:
        owned[n++] = (uintptr_t)o->hash.data;
        break;
    case t_array:
        owned[n++] = (uintptr_t)o->array.dims;
        owned[n++] = (uintptr_t)o->array.self.t;
        break;
    case t_vector:
    case t_bitvector:
        owned[n++] = (uintptr_t)o->vector.self.t;
        break;
#ifdef ECL_UNICODE
    case t_string:
        owned[n++] = (uintptr_t)o->string.self;
        break;
#endif
    case t_base_string:
        owned[n++] = (uintptr_t)o->base_string.self;
        break;
    case t_instance:
        owned[n++] = (uintptr_t)o->instance.slots;
        break;
    case t_bytecodes:
        owned[n++] = (uintptr_t)o->bytecodes.code;
        break;
    case t_stream:
        owned[n++] = (uintptr_t)o->stream.buffer;
        break;
    case t_foreign:
        owned[n++] = (uintptr_t)o->foreign.data;
        break;
    default:
        break;
    }
    return n;
}
