/* lisp_equal.c - see lisp_equal.h. */
#include <stdio.h>
#include <string.h>

#include "monitor/ecl/lisp_names.h"

#define ECL_DEFINE_AET_SIZE
#include "monitor/ecl/ecl_thread.h"
#include "monitor/ecl/lisp_equal.h"

/* The elements of an object, as they are in memory. */
struct elements {
    const char *start;
    size_t bytes, length;
    unsigned type;
    unsigned unused; /* bits of the last byte that are no elements */
};

static size_t bytes_of(unsigned type, size_t length) {
    const size_t types = sizeof ecl_aet_size / sizeof *ecl_aet_size;
    if (type == ecl_aet_bit)
        return length / 8 + (length % 8 != 0);
    return type == ecl_aet_object || type >= types
               ? 0
               : length * ecl_aet_size[type];
}

static bool is_displaced(cl_object list) {
    return list != OBJNULL && list != ECL_NIL &&
           (!ECL_CONSP(list) || ECL_CONS_CAR(list) != ECL_NIL);
}

/* Return the type of the elements of OBJECT; ecl_aet_object: it is no string
 * nor vector of numbers. */
static unsigned element_type(const struct mprof__lisp_object *object) {
    switch (object->type) {
    case t_base_string:
        return ecl_aet_bc;
#ifdef ECL_UNICODE
    case t_string:
        return ecl_aet_ch;
#endif
    case t_bitvector:
        return ecl_aet_bit;
    case t_vector:
        return (unsigned)((cl_object)object->at)->vector.elttype;
    default:
        return ecl_aet_object;
    }
}

bool mprof__lisp_is_comparable(const struct mprof__lisp_object *object) {
    return element_type(object) != ecl_aet_object;
}

/* Find the elements of OBJECT; false: it has none that can be compared, or
 * fewer than space for them. */
static bool find_elements(const struct mprof__lisp_object *object,
                          struct elements *elements) {
    const unsigned type = element_type(object);
    const union cl_lispunion *o = (const void *)object->at;
    if (type == ecl_aet_object)
        return false;
    /* All begin like vectors. */
    *elements = (struct elements){
        .start = (const char *)o->vector.self.t,
        .bytes = bytes_of(type, o->vector.dim),
        .length = o->vector.dim,
        .type = type,
        .unused = type == ecl_aet_bit ? -(unsigned)o->vector.dim % 8 : 0};
    return elements->bytes > 0 && o->vector.fillp == o->vector.dim &&
           !is_displaced(o->vector.displaced) &&
           (type != ecl_aet_bit || o->vector.offset == 0);
}

static bool holds(const struct mprof__lisp_object *block,
                  const struct elements *elements) {
    const uintptr_t start = (uintptr_t)elements->start;
    return start >= block->at && start - block->at <= block->bytes &&
           elements->bytes <= block->bytes - (start - block->at);
}

static bool has_elements(const struct mprof__lisp_heap *heap,
                         const struct mprof__lisp_object *object,
                         struct elements *elements,
                         const struct mprof__lisp_object **storage) {
    *storage = NULL;
    if (!find_elements(object, elements))
        return false;
    if (holds(object, elements))
        return true;
    *storage = mprof__lisp_object(
        heap, mprof__lisp_node(heap, (uintptr_t)elements->start));
    return *storage != NULL && (*storage)->type == MPROF__STORAGE &&
           holds(*storage, elements);
}

/* The last byte, without bits that are no elements: ECL begins with the highest
 * bit of a byte. */
static unsigned last_byte(const struct elements *e) {
    return (unsigned char)e->start[e->bytes - 1] >> e->unused;
}

static uint64_t hash_of(const struct elements *e) {
    uint64_t hash = mprof__hash(e->length << 8 | e->type), word;
    size_t i = 0;
    for (; i + sizeof word < e->bytes; i += sizeof word) {
        memcpy(&word, e->start + i, sizeof word);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    word = 0;
    memcpy(&word, e->start + i, e->bytes - 1 - i);
    return mprof__hash(mprof__hash(hash ^ word) ^ last_byte(e)) | 2;
}

static bool are_equal(const struct elements *a, const struct elements *b) {
    return a->type == b->type && a->length == b->length &&
           last_byte(a) == last_byte(b) &&
           memcmp(a->start, b->start, a->bytes - 1) == 0;
}

static size_t add_contents(struct mprof__lisp_equals *equals, uint64_t key,
                           const struct mprof__lisp_object *object) {
    void *list = mprof__with_room(equals->list, equals->count, &equals->room,
                                  sizeof *equals->list);
    if (list != NULL)
        equals->list = list;
    equals->failed |=
        list == NULL || !mprof__table_add(&equals->known, key, equals->count);
    if (equals->failed)
        return 0;
    equals->list[equals->count] =
        (struct mprof__lisp_contents){.first = object};
    return equals->count++;
}

/* The contents of OBJECT, which has ELEMENTS, added if they are new; 0: they
 * are not known, as there is no memory or too many others have their hash. */
static size_t find_contents(struct mprof__lisp_equals *equals,
                            const struct mprof__lisp_object *object,
                            const struct elements *elements) {
    enum { MOST = 8 };
    uint64_t key = hash_of(elements);
    for (int i = 0; i < MOST; i++, key += 4) {
        const struct mprof__slot *slot = mprof__table_find(&equals->known, key);
        struct elements other;
        if (slot == NULL)
            return add_contents(equals, key, object);
        if (find_elements(equals->list[slot->value].first, &other) &&
            are_equal(elements, &other))
            return slot->value;
    }
    return 0;
}

void mprof__lisp_equals_begin(struct mprof__lisp_equals *equals) {
    memset(equals, 0, sizeof *equals);
    equals->list = mprof__grow(NULL, &equals->room, sizeof *equals->list);
    equals->failed = equals->list == NULL;
    equals->count = 1;
}

void mprof__lisp_equals_end(struct mprof__lisp_equals *equals) {
    mprof__unmap(equals->list, equals->room * sizeof *equals->list);
    mprof__table_free(&equals->known);
}

int mprof__lisp_equals_add(struct mprof__lisp_equals *equals,
                           const struct mprof__lisp_heap *heap,
                           const struct mprof__lisp_object *object,
                           const struct mprof__lisp_object **storage) {
    struct elements elements;
    if (equals->failed || !has_elements(heap, object, &elements, storage))
        return 0;
    const uint64_t bytes =
        object->bytes + (*storage == NULL ? 0 : (*storage)->bytes);
    equals->objects++;
    equals->bytes += bytes;
    size_t number = find_contents(equals, object, &elements);
    struct mprof__lisp_contents *contents = &equals->list[number];
    if (number == 0 || contents->first == object)
        return 1;
    contents->copies++;
    contents->bytes += bytes;
    return 2;
}

void mprof__lisp_contents_text(const struct mprof__lisp_object *object,
                               struct mprof__text *text) {
    enum { SHOWN = 60 };
    cl_object o = (cl_object)object->at;
    char number[48];
    size_t length = mprof__string_length(o);
    mprof__text_add(text, mprof__type_name(object->type, 0, NULL, 0));
    if (object->type == t_vector || object->type == t_bitvector) {
        snprintf(number, sizeof number, " of %llu %s",
                 (unsigned long long)o->vector.dim,
                 object->type == t_vector ? "numbers" : "bits");
        mprof__text_add(text, number);
        return;
    }
    mprof__text_add(text, " \"");
    for (size_t i = 0; i < length && i < SHOWN; i++)
        mprof__text_char(text, mprof__string_char(o, i));
    mprof__text_add(text, length > SHOWN ? "\"..." : "\"");
}
