/* names.c - see names.h. */
#include "monitor/names/names.h"

#include <string.h>

#include "monitor/base/atomic.h"
#include "monitor/base/self.h"
#include "monitor/names/symbols.h"

/* Interpreted functions that are kept alive for their names.  A program that
 * makes more, by EVAL in a loop, must not run out of memory for it: the rest
 * is recorded as one function without a name. */
enum { MOST_OBJECTS = 20000 };

/* That two paths have the same key does not happen. */
static mprof_ref file_of(struct mprof__names *names, const char *path) {
    size_t length = strlen(path);
    uint64_t key = mprof__hash_text(path, length);
    struct mprof__slot *slot = mprof__table_find(&names->files, key);
    if (slot != NULL)
        return (mprof_ref)slot->value;
    mprof_ref file = mprof__arena_string(names->arena, path, length);
    if (file != 0)
        mprof__table_add(&names->files, key, file);
    return file;
}

/* Without room a function is as well without. */
static void add_source(struct mprof__names *names, mprof_ref function,
                       const struct mprof__source *source) {
    struct mprof__arena *arena = names->arena;
    if (source->file[0] == '\0' ||
        mprof__table_find(&names->sources, function) != NULL ||
        !mprof__arena_has_room(arena, MPROF__FOR_SHORT))
        return;
    mprof_ref file = file_of(names, source->file);
    struct mprof_source *record =
        file == 0 ? NULL
                  : mprof__arena_record(arena, MPROF_SOURCE, sizeof *record);
    if (record == NULL)
        return;
    record->function = function;
    record->file = file;
    record->position = source->position;
    mprof__arena_publish(arena, record);
    mprof__table_add(&names->sources, function, 0);
}

mprof_ref mprof__function_add(struct mprof__names *names, uint64_t address,
                              mprof_ref module,
                              const struct mprof__name *name) {
    struct mprof__arena *arena = names->arena;
    mprof_ref text = 0, symbol = 0;
    if (!mprof__arena_has_room(arena, MPROF__FOR_COUNTERS))
        return 0;
    if (name->text[0] != '\0')
        text = mprof__arena_string(arena, name->text, strlen(name->text));
    if (name->symbol[0] != '\0')
        symbol = mprof__arena_string(arena, name->symbol, strlen(name->symbol));
    struct mprof_function *function =
        mprof__arena_record(arena, MPROF_FUNCTION, sizeof *function);
    if (function == NULL)
        return 0;
    function->address = address;
    function->module = module;
    function->kind = name->kind;
    function->name = text;
    function->symbol = symbol;
    mprof_ref ref = mprof__arena_publish(arena, function);
    if (name->certain)
        mprof__table_add(&names->certain, ref, 0);
    add_source(names, ref, &name->source);
    return ref;
}

struct mprof__name *mprof__name_new(struct mprof__names *names, uint32_t kind) {
    names->name.kind = kind;
    names->name.text[0] = names->name.symbol[0] = '\0';
    names->name.source.file[0] = '\0';
    names->name.certain = false;
    return &names->name;
}

mprof_ref mprof__function_special(struct mprof__names *names, uint32_t kind,
                                  mprof_ref *place) {
    if (*place == 0)
        *place = mprof__function_add(names, 0, 0, mprof__name_new(names, kind));
    return *place;
}

mprof_ref mprof__function_of_object(struct mprof__names *names,
                                    const struct mprof__chain *chain,
                                    size_t index) {
    uintptr_t object = chain->frames[index].object;
    struct mprof__slot *slot = mprof__table_find(&names->functions, object);
    if (slot != NULL)
        return (mprof_ref)slot->value;
    /* Its name would be looked for each time. */
    if (!mprof__arena_has_room(names->arena, MPROF__FOR_COUNTERS))
        return 0;
    mprof_ref ref;
    mprof__lock(&names->arena->lock);
    slot = mprof__table_find(&names->functions, object);
    if (slot != NULL) {
        ref = (mprof_ref)slot->value;
    } else if (object == MPROF__TOPLEVEL_OBJECT) {
        ref = mprof__function_special(names, MPROF_TOPLEVEL, &names->toplevel);
    } else if (names->objects == MOST_OBJECTS) {
        ref = mprof__function_special(names, MPROF_INTERPRETED,
                                      &names->interpreted);
    } else {
        struct mprof__name *name = mprof__name_new(names, MPROF_INTERPRETED);
        mprof__adapter.interpreted(chain->frames, index, name);
        ref = mprof__function_add(names, object, 0, name);
        if (ref != 0) {
            names->objects++;
            mprof__adapter.keep(object);
            mprof__table_add(&names->functions, object, ref);
        }
    }
    mprof__unlock(&names->arena->lock);
    return ref;
}

mprof_ref mprof__function_find(const struct mprof__names *names,
                               uintptr_t object) {
    if (object == MPROF__TOPLEVEL_OBJECT)
        return mprof__load_acquire(&names->toplevel);
    const struct mprof__slot *slot =
        mprof__table_find(&names->functions, object);
    return slot == NULL ? 0 : (mprof_ref)slot->value;
}

void mprof__set_source(struct mprof__names *names, uintptr_t key,
                       const struct mprof__source *source) {
    mprof__lock(&names->arena->lock);
    struct mprof__slot *slot = mprof__table_find(&names->functions, key);
    if (slot != NULL)
        add_source(names, (mprof_ref)slot->value, source);
    mprof__unlock(&names->arena->lock);
}

static bool is_named(const struct mprof__arena *arena,
                     const struct mprof_function *function, const char *name) {
    const struct mprof_string *old = mprof__arena_at(arena, function->name);
    return function->name != 0 && old->length == strlen(name) &&
           memcmp(old->text, name, old->length) == 0;
}

void mprof__rename(struct mprof__names *names, uintptr_t key,
                   const char *name) {
    struct mprof__arena *arena = names->arena;
    mprof__lock(&names->arena->lock);
    struct mprof__slot *slot = mprof__table_find(&names->functions, key);
    struct mprof_function *function =
        slot == NULL ? NULL : mprof__arena_at(arena, (mprof_ref)slot->value);
    if (function != NULL && !is_named(arena, function, name) &&
        mprof__arena_has_room(arena, MPROF__FOR_COUNTERS)) {
        mprof_ref text = mprof__arena_string(arena, name, strlen(name));
        if (text != 0) {
            mprof__store_release(&function->name, text);
            if (function->kind == MPROF_C)
                function->kind = MPROF_LISP;
        }
    }
    mprof__unlock(&names->arena->lock);
}

void mprof__names_free(struct mprof__names *names) {
    mprof__table_free(&names->sites);
    mprof__table_free(&names->functions);
    mprof__table_free(&names->modules);
    mprof__table_free(&names->certain);
    mprof__table_free(&names->files);
    mprof__table_free(&names->sources);
    mprof__table_free(&names->parts);
    mprof__symbols_end(names);
}
