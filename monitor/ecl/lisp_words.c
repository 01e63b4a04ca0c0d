/* lisp_words.c - names of roots and of what objects lead to; see lisp_kept.h.
 */
#include "monitor/ecl/lisp_kept.h"
#include "monitor/format/paths.h"

bool mprof__lisp_is_part(const struct mprof__lisp_object *node,
                         const struct mprof__lisp_object *owner) {
    uintptr_t owned[MPROF__MOST_OWNED];
    if (node == NULL || owner == NULL || node->type != MPROF__STORAGE)
        return false;
    for (size_t n = mprof__lisp_owned(owner, owned); n-- > 0;)
        if (owned[n] == node->at)
            return true;
    return false;
}

static unsigned how_from(unsigned type, size_t word) {
    enum { MOST = 60000 };
    if (type == t_hashtable)
        return word % 2 == 0 ? MPROF__KEY : MPROF__AS_VALUE;
    if (type == t_instance)
        return word < MOST ? MPROF__SLOTS + (unsigned)word : MPROF__SOMEHOW;
    return MPROF__SOMEHOW;
}

void mprof__lisp_each_way(
    const struct mprof__lisp_heap *heap, const struct mprof__lisp_object *from,
    const struct mprof__lisp_object *owner,
    void (*visit)(uint32_t node, unsigned how, void *data), void *data) {
    const union cl_lispunion *o = (const void *)from->at;
    const uintptr_t *word = (const void *)from->at;
    const uintptr_t *variables = NULL;
    unsigned type =
        mprof__lisp_is_part(from, owner) ? owner->type : MPROF__OTHER;
    if (from->type == t_bclosure)
        variables = (const void *)&o->bclosure.lex;
    else if (from->type == t_cclosure)
        variables = (const void *)&o->cclosure.env;
    for (size_t i = 0; i < from->bytes / sizeof *word; i++) {
        uint32_t node = mprof__lisp_node(heap, word[i]);
        if (node != 0)
            visit(node,
                  word + i == variables ? MPROF__VARIABLE : how_from(type, i),
                  data);
    }
}

cl_object mprof__lisp_class(const struct mprof__lisp_heap *heap,
                            const struct mprof__lisp_object *object) {
    enum { NAME = 3 };
    if (object->type != t_instance)
        return OBJNULL;
    cl_object class_ = ((cl_object)object->at)->instance.clas;
    const struct mprof__lisp_object *o =
        mprof__lisp_object(heap, mprof__lisp_node(heap, (uintptr_t)class_));
    return o != NULL && o->type == t_instance &&
                   class_->instance.slots != NULL &&
                   class_->instance.length > NAME + 3
               ? class_
               : OBJNULL;
}

/* The slot definition of CLASS_ whose slot is in PLACE; OBJNULL: none. */
static cl_object slot_name(cl_object class_, unsigned place) {
    enum { NAME = 0, LOCATION = 9, MOST = 4096 };
    cl_object list = ECL_CLASS_SLOTS(class_);
    for (int n = 0; n < MOST && list != OBJNULL && ECL_CONSP(list);
         list = ECL_CONS_CDR(list), n++) {
        cl_object slot = ECL_CONS_CAR(list);
        if (mprof__is_a(slot, t_instance) && slot->instance.slots != NULL &&
            slot->instance.length > LOCATION &&
            slot->instance.slots[LOCATION] == ecl_make_fixnum((int)place))
            return slot->instance.slots[NAME];
    }
    return OBJNULL;
}

void mprof__lisp_keeper_name(const struct mprof__lisp_heap *heap,
                             const struct mprof__lisp_object *object,
                             const struct mprof__lisp_object *owner,
                             unsigned how, struct mprof__text *text) {
    cl_object class_ = mprof__lisp_class(heap, object), slot = OBJNULL;
    if (class_ != OBJNULL)
        mprof__text_object(text, ECL_CLASS_NAME(class_));
    else if (object->type == MPROF__CONS)
        mprof__text_add(text, "list");
    else if (object->type >= MPROF__ROOTS)
        mprof__text_add(text, object->type == MPROF__ROOTS ? "stacks of Lisp"
                                                           : "storage");
    else
        mprof__text_add(text, mprof__type_name(object->type, 0, NULL, 0));
    if (how >= MPROF__SLOTS && owner != NULL) {
        cl_object class_of = mprof__lisp_class(heap, owner);
        if (class_of != OBJNULL)
            slot = slot_name(class_of, how - MPROF__SLOTS);
    }
    if (slot != OBJNULL) {
        mprof__text_add(text, " in slot ");
        mprof__text_object(text, slot);
    }
    mprof__text_add(text, how == MPROF__KEY        ? " as key"
                          : how == MPROF__AS_VALUE ? " as value"
                          : how == MPROF__VARIABLE ? " of its variables"
                                                   : "");
}

static void add_thread_name(struct mprof__text *text, uintptr_t process) {
#ifdef ECL_THREADS
    cl_object thread = (cl_object)process;
    if (thread != OBJNULL) {
        mprof__text_add(text, "thread ");
        mprof__text_object(text, thread->process.name);
        return;
    }
#else
    (void)process;
#endif
    mprof__text_add(text, "this thread");
}

void mprof__lisp_root_name(const struct mprof__lisp_root *root,
                           struct mprof__text *text) {
    static const char *const before[MPROF__ROOT_KINDS] = {
        [MPROF__VALUE] = "the value of ",
        [MPROF__OWN_VALUE] = "a thread's value of ",
        [MPROF__OUTER_VALUE] = "an outer value of ",
        [MPROF__FUNCTION] = "the function ",
        [MPROF__PLIST] = "the property list of ",
        [MPROF__NAME] = "ECL's symbols",
        [MPROF__THREAD] = "ECL for ",
        [MPROF__FOREVER] = "memory that is never collected",
        [MPROF__DATA] = "data of ",
        [MPROF__STACK] = "the stack of ",
        [MPROF__OWN_STACK] = "the stack of ",
        [MPROF__NAMES] = "mprof, for names of functions"};
    mprof__text_add(text, before[root->kind]);
    switch (root->kind) {
    case MPROF__VALUE:
    case MPROF__OWN_VALUE:
    case MPROF__OUTER_VALUE:
    case MPROF__FUNCTION:
    case MPROF__PLIST:
        mprof__text_object(text, (cl_object)root->what);
        break;
    case MPROF__THREAD:
    case MPROF__STACK:
    case MPROF__OWN_STACK:
        add_thread_name(text, root->what);
        break;
    case MPROF__DATA:
        mprof__text_add(text, mprof__loaded_name((const char *)root->what));
        break;
    default:
        break;
    }
}

void mprof__lisp_root_name_there(const struct mprof__lisp_root *root,
                                 struct mprof__text *text) {
    struct mprof__lisp_root value = *root;
    if (root->kind == MPROF__OWN_VALUE)
        value.kind = MPROF__VALUE;
    mprof__lisp_root_name(&value, text);
    if (root->kind != MPROF__OWN_VALUE)
        return;
    mprof__text_add(text, " in ");
    add_thread_name(text, root->thread);
}
