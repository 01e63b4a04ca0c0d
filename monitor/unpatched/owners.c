/* owners.c - the types of the objects and storage that libecl asks for.
 *
 * Objects: ecl_alloc_object() and its like get the type, and ask the collector
 * at once.  Conses: by the function that asks.  Storage: by the function that
 * calls ecl_alloc(), and where that serves several types, by its argument.
 * Functions in this file come before such functions of ECL, and note the type.
 * A note counts only for requests from within that function's code: so a note
 * that an interrupted function left does no harm.
 */
#include "monitor/unpatched/unpatched.h"

/* Not in a public header of ECL. */
cl_object ecl_alloc_weak_pointer(cl_object to);
cl_object *alloc_pointerfull_memory(cl_index count);

/* The owner of the next request; t_start: it is not known. */
static MPROF__OWN_TLS struct mprof__owner next;

/* Whose storage the code `within` asks for. */
static MPROF__OWN_TLS struct within {
    struct mprof__code within;
    struct mprof__owner owner;
} inner;

static MPROF__OWN_TLS cl_object next_class; /* of ecl_alloc_instance() */

/* Code of libecl: written once, by mprof__owners_find(). */
static struct mprof__code cons, list1, allocself, elements, instance, structure,
    bignums;

/* Storage of one type only, by who asks for it. */
static struct {
    const char *name;
    cl_type type;
    struct mprof__code code;
} askers[] = {
    {"cl__make_hash_table", t_hashtable, {0, 0}},
    {"ecl_extend_hashtable", t_hashtable, {0, 0}},
    {"_ecl_sethash", t_hashtable, {0, 0}},
    {"si_make_pure_array", t_array, {0, 0}},
    {"ecl_alloc_simple_vector", t_vector, {0, 0}},
    {"ecl_alloc_adjustable_base_string", t_base_string, {0, 0}},
#ifdef ECL_UNICODE
    {"ecl_alloc_adjustable_extended_string", t_string, {0, 0}},
#endif
    {"ecl_allocate_foreign_data", t_foreign, {0, 0}},
    {"si_allocate_foreign_data", t_foreign, {0, 0}},
    {"ecl_copy_readtable", t_readtable, {0, 0}},
    {"ecl_init_module", t_codeblock, {0, 0}},
    {"si_set_buffering_mode", t_stream, {0, 0}},
    {"duplicate_dispatch_table", t_stream, {0, 0}},
};
enum { ASKERS = sizeof askers / sizeof *askers };

/* GMP's allocator in ECL has no name there, but GMP knows it. */
static struct mprof__code find_mp_alloc(void) {
    enum { SMALL = 48 };
    void (*get)(void *(**)(size_t), void *, void *) =
        (void (*)(void *(**)(size_t), void *, void *))mprof__behind(
            "__gmp_get_memory_functions");
    void *(*alloc)(size_t) = NULL;
    if (get != NULL)
        get(&alloc, NULL, NULL);
    uintptr_t start = (uintptr_t)alloc;
    return alloc != NULL && mprof__is_in(&mprof__libecl, start)
               ? (struct mprof__code){start, start + SMALL}
               : (struct mprof__code){0, 0};
}

void mprof__owners_find(void) {
    cons = mprof__code_of("ecl_cons");
    list1 = mprof__code_of("ecl_list1");
    allocself = mprof__code_of("ecl_array_allocself");
    elements = mprof__code_of("alloc_pointerfull_memory");
    instance = mprof__code_of("ecl_alloc_instance");
    structure = mprof__code_of("si_make_structure");
    bignums = find_mp_alloc();
    for (int i = 0; i < ASKERS; i++)
        askers[i].code = mprof__code_of(askers[i].name);
}

static struct mprof__owner nobodys(void) {
    return (struct mprof__owner){t_start, true, OBJNULL};
}

/* Of storage that CALLER asks for. */
static struct mprof__owner storage_of(uintptr_t caller) {
    if (mprof__is_in(&inner.within, caller))
        return inner.owner;
    if (mprof__is_in(&bignums, caller))
        return (struct mprof__owner){t_bignum, true, OBJNULL};
    for (int i = 0; i < ASKERS; i++)
        if (mprof__is_in(&askers[i].code, caller))
            return (struct mprof__owner){askers[i].type, true, OBJNULL};
    return nobodys();
}

struct mprof__owner mprof__owner_of(uintptr_t caller) {
    if (mprof__is_in(&cons, caller) || mprof__is_in(&list1, caller))
        return (struct mprof__owner){t_list, false, OBJNULL};
    struct mprof__owner owner = next.type == t_start ? nobodys() : next;
    next.type = t_start;
    return owner;
}

/* Return the owner of an object of TYPE that CALLER asks for. */
static struct mprof__owner object_of(cl_type type, uintptr_t caller) {
    bool known = type == t_instance && mprof__is_in(&inner.within, caller);
    return (struct mprof__owner){type, false,
                                 known ? inner.owner.clas : OBJNULL};
}

#define CALLER ((uintptr_t)__builtin_return_address(0))

/* The function of that NAME asks for what is OWNER's. */
#define ASKS(result, name, parameters, arguments, owner)                       \
    MPROF__STANDS_BEFORE result name parameters {                              \
        if (__builtin_expect(mprof__watching() != NULL, 0))                    \
            next = owner;                                                      \
        result block = MPROF__BEHIND(name) arguments;                          \
        next.type = t_start;                                                   \
        return block;                                                          \
    }
ASKS(cl_object, ecl_alloc_object, (cl_type type), (type),
     object_of(type, CALLER))
ASKS(cl_object, ecl_alloc_compact_object, (cl_type type, cl_index more),
     (type, more), ((struct mprof__owner){type, false, OBJNULL}))
ASKS(cl_object, ecl_alloc_weak_pointer, (cl_object to), (to),
     ((struct mprof__owner){t_weak_pointer, false, OBJNULL}))
ASKS(void *, ecl_alloc, (cl_index bytes), (bytes), storage_of(CALLER))
ASKS(void *, ecl_alloc_atomic, (cl_index bytes), (bytes), storage_of(CALLER))
ASKS(void *, ecl_alloc_uncollectable, (cl_index bytes), (bytes),
     storage_of(CALLER))

/* Let allocations within CODE be OWNER's from now on. */
static struct within enter(const struct mprof__code *code,
                           struct mprof__owner owner) {
    struct within before = inner;
    inner = (struct within){*code, owner};
    return before;
}

MPROF__STANDS_BEFORE void ecl_array_allocself(cl_object array) {
    struct within before = enter(
        &allocself, (struct mprof__owner){ecl_t_of(array), true, OBJNULL});
    MPROF__BEHIND(ecl_array_allocself)(array);
    inner = before;
}

MPROF__STANDS_BEFORE cl_object *alloc_pointerfull_memory(cl_index count) {
    struct within before = enter(&elements, storage_of(CALLER));
    cl_object *block = MPROF__BEHIND(alloc_pointerfull_memory)(count);
    inner = before;
    return block;
}

MPROF__STANDS_BEFORE cl_object ecl_alloc_instance(cl_index slots) {
    struct within before =
        enter(&instance, (struct mprof__owner){t_instance, true, next_class});
    cl_object object = MPROF__BEHIND(ecl_alloc_instance)(slots);
    inner = before;
    return object;
}

MPROF__STANDS_BEFORE cl_object ecl_allocate_instance(cl_object clas,
                                                     cl_index slots) {
    cl_object before = next_class;
    next_class = clas;
    cl_object object = MPROF__BEHIND(ecl_allocate_instance)(clas, slots);
    next_class = before;
    return object;
}

/* Called by jump_x86_64.S before si_make_structure(), which takes any number of
 * arguments. */
void *mprof__making_structure(cl_narg count, cl_object type) {
    (void)count;
    inner = (struct within){structure, {t_instance, true, type}};
    return (void *)MPROF__BEHIND(si_make_structure);
}
