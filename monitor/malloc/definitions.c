/* definitions.c - see definitions.h. */
#define _GNU_SOURCE
#include "monitor/malloc/definitions.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>

#include "monitor/base/exports.h"

/* Ask the loader for the file that has ADDRESS; it takes no lock. */
static bool find_file(const void *address, struct dl_find_object *found) {
    return _dl_find_object((void *)(uintptr_t)address, found) == 0 &&
           found->dlfo_link_map != NULL;
}

static struct mprof__definition definition_in(struct link_map *map,
                                              const char *name) {
    struct dl_find_object found;
    struct mprof__definition none = {.function = NULL};
    if (map->l_ld == NULL || !find_file(map->l_ld, &found))
        return none;
    const struct mprof__loaded file = {.start = (uintptr_t)found.dlfo_map_start,
                                       .end = (uintptr_t)found.dlfo_map_end,
                                       .bias = map->l_addr};
    const struct mprof__exports exports = mprof__exports_of(&file, map->l_ld);
    uintptr_t address = mprof__exports_find(&exports, name);
    if (address == 0)
        return none;
    return (struct mprof__definition){
        .function = (void *)address, .file = map, .start = file.start};
}

/* From MAP on, in the order in which the loader looks through the files. */
static struct mprof__definition look(struct link_map *map, const char *name) {
    struct mprof__definition found = {.function = NULL};
    for (; map != NULL && found.function == NULL; map = map->l_next)
        found = definition_in(map, name);
    return found;
}

struct link_map *mprof__own_file(void) {
    struct dl_find_object found;
    return find_file((const void *)mprof__own_file, &found)
               ? found.dlfo_link_map
               : NULL;
}

struct mprof__definition mprof__first_definition(const char *name) {
    struct link_map *map = mprof__own_file();
    while (map != NULL && map->l_prev != NULL)
        map = map->l_prev;
    return look(map, name);
}

struct mprof__definition mprof__next_definition(const char *name) {
    struct link_map *map = mprof__own_file();
    return look(map == NULL ? NULL : map->l_next, name);
}
