/* modules.c - see modules.h. */
#define _GNU_SOURCE
#include "monitor/record/modules.h"

#include <elf.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "monitor/base/elf_image.h"
#include "monitor/record/session.h"
#include "monitor/unwind/marks.h"

/* Copy the build id out of the notes that are mapped with the module. */
static void copy_build_id(struct mprof_module *module, uintptr_t start,
                          uintptr_t bias) {
    const Elf64_Ehdr *elf = (const void *)start;
    if (!mprof__is_elf(elf))
        return;
    const Elf64_Phdr *phdr = (const void *)(start + elf->e_phoff);
    for (int i = 0; i < elf->e_phnum; i++) {
        if (phdr[i].p_type != PT_NOTE)
            continue;
        const char *p = (const char *)(bias + phdr[i].p_vaddr);
        const char *end = p + phdr[i].p_filesz;
        while (p + sizeof(Elf64_Nhdr) <= end) {
            const Elf64_Nhdr *note = (const void *)p;
            const char *name = p + sizeof *note;
            const char *desc = name + ((note->n_namesz + 3) & ~3u);
            if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
                memcmp(name, "GNU", 4) == 0 &&
                note->n_descsz <= sizeof module->build_id) {
                module->build_id_bytes = note->n_descsz;
                memcpy(module->build_id, desc, note->n_descsz);
                return;
            }
            p = desc + ((note->n_descsz + 3) & ~3u);
        }
    }
}

/* The path of the module, absolute, so that the reader finds it. */
static void module_path(const struct link_map *map, char *path, size_t size) {
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
    const char *name = strrchr(path, '/');
    name = name == NULL ? path : name + 1;
    return strncmp(name, "_greenlet.", 10) == 0 ||
           strcmp(name, "continuation.so") == 0;
}

mprof_ref mprof__module(struct mprof__session *session,
                        const struct mprof__unwind *unwind) {
    struct mprof__slot *slot =
        mprof__table_find(&session->modules, unwind->module_start);
    if (slot != NULL)
        return (mprof_ref)slot->value;
    static char path[PATH_MAX]; /* not on a stack that may be nearly full */
    module_path(unwind->module, path, sizeof path);
    if (MPROF__HAS_MARKS && copies_stacks(path))
        mprof__marks_refuse();
    mprof_ref name = mprof__arena_string(&session->arena, path, strlen(path));
    struct mprof_module *module =
        mprof__arena_record(&session->arena, MPROF_MODULE, sizeof *module);
    if (module == NULL) {
        mprof__table_add(&session->modules, unwind->module_start, 0);
        return 0;
    }
    module->bias = unwind->module->l_addr;
    module->start = unwind->module_start;
    module->end = unwind->module_end;
    module->path = name;
    copy_build_id(module, unwind->module_start, unwind->module->l_addr);
    mprof_ref ref = mprof__arena_publish(&session->arena, module);
    mprof__table_add(&session->modules, unwind->module_start, ref);
    return ref;
}

bool mprof__module_is(struct mprof__session *session,
                      const struct mprof_module *module) {
    static char path[PATH_MAX];
    const struct mprof_string *old =
        mprof__arena_at(&session->arena, module->path);
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
    module_path(unwind.module, path, sizeof path);
    copy_build_id(&now, unwind.module_start, unwind.module->l_addr);
    return module->path != 0 && old->length == strlen(path) &&
           memcmp(old->text, path, old->length) == 0 &&
           now.build_id_bytes == module->build_id_bytes &&
           memcmp(now.build_id, module->build_id, sizeof now.build_id) == 0;
}
