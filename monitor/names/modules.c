/* modules.c - see modules.h. */
#define _GNU_SOURCE
#include "monitor/names/modules.h"

#include <elf.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "monitor/base/loaded.h"
#include "monitor/format/paths.h"
#include "monitor/names/names.h"
#include "monitor/unwind/marks.h"

/* Copy the build id, if it is among the notes in SIZE bytes at P; they may be
 * damaged. */
static void copy_note(struct mprof_module *module, const char *p, size_t size) {
    while (size >= sizeof(Elf64_Nhdr)) {
        const Elf64_Nhdr *note = (const void *)p;
        size_t name = sizeof *note;
        size_t desc = name + (((size_t)note->n_namesz + 3) & ~(size_t)3);
        size_t end = desc + (((size_t)note->n_descsz + 3) & ~(size_t)3);
        if (end > size)
            return;
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
            memcmp(p + name, "GNU", 4) == 0 &&
            note->n_descsz <= sizeof module->build_id) {
            module->build_id_bytes = note->n_descsz;
            memcpy(module->build_id, p + desc, note->n_descsz);
            return;
        }
        p += end;
        size -= end;
    }
}

/* Copy the build id out of the notes that are mapped with the module. */
static void copy_build_id(struct mprof_module *module,
                          const struct mprof__unwind *unwind) {
    const struct mprof__loaded file = {.start = unwind->module_start,
                                       .end = unwind->module_end,
                                       .bias = unwind->module->l_addr};
    unsigned count;
    const ElfW(Phdr) *header = mprof__loaded_headers(&file, &count);
    for (unsigned i = 0; header != NULL && i < count; i++) {
        uintptr_t start = file.bias + header[i].p_vaddr;
        uintptr_t until = mprof__loaded_until(&file, start);
        size_t size = header[i].p_filesz;
        if (header[i].p_type != PT_NOTE || until == 0 || start % 4 != 0)
            continue;
        copy_note(module, (const char *)start,
                  size < until - start ? size : until - start);
        if (module->build_id_bytes != 0)
            return;
    }
}

void mprof__module_path(const struct link_map *map, char *path, size_t size) {
    path[0] = '\0';
    if (map == NULL)
        return;
    if (map->l_name[0] == '\0') {
        ssize_t n = readlink("/proc/self/exe", path, size - 1);
        path[n > 0 ? n : 0] = '\0';
    } else if (map->l_name[0] == '/' || strchr(map->l_name, '/') == NULL) {
        snprintf(path, size, "%s", map->l_name);
    } else if (getcwd(path, size) != NULL) {
        size_t n = strlen(path);
        snprintf(path + n, size - n, "/%s", map->l_name);
    }
}

/* Greenlets, and Ruby's continuations, put parts of the stack elsewhere and
 * back again. */
static bool copies_stacks(const char *path) {
    const char *name = mprof__base_name(path);
    return strncmp(name, "_greenlet.", 10) == 0 ||
           strcmp(name, "continuation.so") == 0;
}

mprof_ref mprof__module(struct mprof__names *names,
                        const struct mprof__unwind *unwind) {
    struct mprof__slot *slot =
        mprof__table_find(&names->modules, unwind->module_start);
    if (slot != NULL)
        return (mprof_ref)slot->value;
    static char path[PATH_MAX]; /* not on a stack that may be nearly full */
    mprof__module_path(unwind->module, path, sizeof path);
    if (MPROF__HAS_MARKS && copies_stacks(path))
        mprof__store_release(&mprof__marks_off, true);
    mprof_ref name = mprof__arena_string(names->arena, path, strlen(path));
    struct mprof_module *module =
        mprof__arena_record(names->arena, MPROF_MODULE, sizeof *module);
    mprof_ref ref = 0;
    if (module != NULL) {
        module->bias = unwind->module->l_addr;
        module->start = unwind->module_start;
        module->end = unwind->module_end;
        module->path = name;
        copy_build_id(module, unwind);
        ref = mprof__arena_publish(names->arena, module);
    }
    mprof__table_add(&names->modules, unwind->module_start, ref);
    return ref;
}

bool mprof__module_is_still(struct mprof__names *names,
                            const struct mprof_module *module) {
    static char path[PATH_MAX];
    const struct mprof_string *old =
        mprof__arena_at(names->arena, module->path);
    struct mprof_module now = {0};
    struct mprof__unwind unwind;
    mprof__cfi_find(module->start, &unwind);
    /* The program itself stays. */
    if (unwind.module != NULL && unwind.module->l_name[0] == '\0')
        return true;
    if (unwind.module_start != module->start ||
        unwind.module_end != module->end ||
        unwind.module->l_addr != module->bias)
        return false;
    mprof__module_path(unwind.module, path, sizeof path);
    copy_build_id(&now, &unwind);
    return module->path != 0 && old->length == strlen(path) &&
           memcmp(old->text, path, old->length) == 0 &&
           now.build_id_bytes == module->build_id_bytes &&
           memcmp(now.build_id, module->build_id, sizeof now.build_id) == 0;
}
