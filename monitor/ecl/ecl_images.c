/* ecl_images.c - see ecl_images.h. */
#define _GNU_SOURCE
#include "monitor/ecl/ecl_images.h"

#include <pthread.h>

#include "monitor/base/self.h"
#include "monitor/base/table.h"
#include "monitor/ecl/ecl_names.h"
#include "monitor/ecl/ecl_version.h"
#include "monitor/record/heap_events.h"
#include "monitor/unwind/cfi.h"

static struct mprof__table images;  /* link_map -> struct mprof__image * */
static struct mprof__table others;  /* the same of what Lisp did not load */
static struct mprof__table bodies;  /* body -> entry; see entries.h */
static struct mprof__table decoded; /* start of a module whose are known */
static pthread_mutex_t pairing = PTHREAD_MUTEX_INITIALIZER; /* innermost */

static void add_image(struct mprof__table *table, const struct link_map *map,
                      const char *path) {
    if (mprof__table_find(table, (uintptr_t)map) != NULL)
        return;
    struct mprof__image *image = mprof__map(sizeof *image);
    if (image == NULL)
        return;
    mprof__image_open(image, path);
    mprof__table_add(table, (uintptr_t)map, (uintptr_t)image);
}

static const struct mprof__image *image_in(const struct mprof__table *table,
                                           const struct link_map *map) {
    struct mprof__slot *slot = mprof__table_find(table, (uintptr_t)map);
    return slot == NULL ? NULL : (const void *)(uintptr_t)slot->value;
}

/* Open it now: COMPILE deletes its file as soon as it is loaded. */
void mprof__ecl_images_open(cl_object block) {
    cl_object path = block->cblock.name;
    if (block->cblock.handle != NULL && mprof__is_a(path, t_base_string))
        add_image(&images, block->cblock.handle,
                  (const char *)path->base_string.self);
}

/* The part of the runtime that is written in Lisp has local functions too. */
void mprof__ecl_images_open_core(void) {
    struct mprof__unwind unwind;
    mprof__cfi_find((uintptr_t)ecl_interpret, &unwind);
    if (unwind.module != NULL && unwind.module->l_name[0] == '/')
        add_image(&images, unwind.module, unwind.module->l_name);
}

static bool in_module(uint64_t key, uint64_t value, void *data) {
    const struct mprof__unwind *unwind = data;
    (void)value;
    return key >= unwind->module_start && key < unwind->module_end;
}

/* Visit the images of a table: close the one of MAP; NULL: close all. */
static bool close_image(uint64_t key, uint64_t value, void *map) {
    if (map != NULL && key != (uintptr_t)map)
        return false;
    struct mprof__image *image = (void *)(uintptr_t)value;
    mprof__image_close(image);
    mprof__unmap(image, sizeof *image);
    return true;
}

void mprof__ecl_images_close(cl_object block) {
    struct link_map *map = block->cblock.handle;
    struct mprof__unwind unwind;
    if (map == NULL)
        return;
    mprof__cfi_find((uintptr_t)map->l_ld, &unwind);
    mprof__ecl_names_remove(unwind.module_start, unwind.module_end);
    mprof__lock(&pairing);
    mprof__table_sweep(&bodies, in_module, &unwind);
    mprof__table_sweep(&decoded, in_module, &unwind);
    mprof__unlock(&pairing);
    mprof__table_sweep(&images, close_image, map);
    mprof__module_unloads(unwind.module_start, unwind.module_end);
}

void mprof__ecl_images_clear(void) {
    mprof__table_sweep(&images, close_image, NULL);
    mprof__table_free(&images);
    mprof__table_sweep(&others, close_image, NULL);
    mprof__table_free(&others);
    mprof__table_free(&bodies);
    mprof__table_free(&decoded);
}

void mprof__ecl_images_forked(void) {
    pthread_mutex_init(&pairing, NULL);
}

const struct mprof__image *mprof__ecl_image(const struct link_map *module) {
    return image_in(&images, module);
}

static void note_pair(uintptr_t entry, uintptr_t body) {
    mprof__lock(&pairing);
    if (entry != body && mprof__table_find(&bodies, body) == NULL)
        mprof__table_add(&bodies, body, entry);
    mprof__unlock(&pairing);
}

static void note_by_code(uintptr_t entry) {
    note_pair(entry, mprof__body_by_code(entry));
}

/* In a library without symbols: all pairs whose entries have names. */
static void decode_module(uintptr_t address) {
    struct mprof__unwind unwind;
    mprof__cfi_find(address, &unwind);
    if (unwind.module_start == 0 ||
        mprof__table_find(&decoded, unwind.module_start) != NULL)
        return;
    mprof__table_add(&decoded, unwind.module_start, 1);
    mprof__ecl_names_visit(unwind.module_start, unwind.module_end,
                           note_by_code);
}

/* By the symbols.  A program may be linked with compiled Lisp. */
static bool pair_by_symbols(const struct link_map *module, uintptr_t start,
                            struct mprof__pair *pair) {
    const struct mprof__image *image = mprof__ecl_image(module);
    if (image == NULL) {
        mprof__lock(&pairing);
        add_image(&others, module,
                  module->l_name[0] != '\0' ? module->l_name
                                            : "/proc/self/exe");
        image = image_in(&others, module);
        mprof__unlock(&pairing);
    }
    return image != NULL &&
           mprof__pair_by_symbols(image, start, module->l_addr, pair);
}

struct mprof__pair mprof__ecl_pair_of(const struct link_map *module,
                                      uintptr_t start) {
    struct mprof__pair pair = {start, start};
    if (!MPROF__ECL_ENTRIES)
        return pair;
    if (pair_by_symbols(module, start, &pair)) {
        note_pair(pair.entry, pair.body);
    } else if (mprof__ecl_image(module) == NULL) {
        /* By the code only where it is known to come from ECL's compiler. */
        return pair;
    } else if (mprof__ecl_has_name(start)) {
        pair.body = mprof__body_by_code(start);
        note_pair(start, pair.body);
    } else {
        decode_module(start);
        struct mprof__slot *slot = mprof__table_find(&bodies, start);
        if (slot != NULL)
            pair.entry = slot->value;
    }
    return pair;
}

uintptr_t mprof__ecl_body_of(uintptr_t entry) {
    struct mprof__pair pair = {entry, entry};
    struct mprof__unwind unwind;
    mprof__cfi_find(entry, &unwind);
    if (!MPROF__ECL_ENTRIES || unwind.module == NULL ||
        pair_by_symbols(unwind.module, entry, &pair) ||
        mprof__ecl_image(unwind.module) == NULL)
        return pair.body;
    return mprof__body_by_code(entry);
}
