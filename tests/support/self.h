/* self.h - the files of the test program itself, as modules of a profile. */
#ifndef MPROF_TESTS_SELF_H
#define MPROF_TESTS_SELF_H

#ifndef _GNU_SOURCE
#error "compile with -D_GNU_SOURCE, or define it first"
#endif
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "report/data/profile.h"

static inline void self_build_id(struct report__module *module,
                                 const unsigned char *note, size_t size) {
    const unsigned char *end = note + size;
    while ((size_t)(end - note) > sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) head;
        memcpy(&head, note, sizeof head);
        const unsigned char *name = note + sizeof head;
        const unsigned char *text = name + (head.n_namesz + 3) / 4 * 4;
        if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 &&
            memcmp(name, "GNU", 4) == 0 &&
            head.n_descsz <= sizeof module->build_id) {
            module->build_id_bytes = head.n_descsz;
            memcpy(module->build_id, text, head.n_descsz);
        }
        note = text + (head.n_descsz + 3) / 4 * 4;
    }
}

struct self_search {
    uintptr_t address;
    struct report__module *module;
    char *path;
    size_t size;
};

static inline int self_describe(struct dl_phdr_info *info, size_t size,
                                void *search_) {
    struct self_search *search = search_;
    struct report__module *module = search->module;
    bool found = false;
    (void)size;

    module->build_id_bytes = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_NOTE)
            self_build_id(module, (const unsigned char *)start,
                          header->p_memsz);
        found |= header->p_type == PT_LOAD && search->address >= start &&
                 search->address - start < header->p_memsz;
    }
    if (!found)
        return 0;
    module->bias = info->dlpi_addr;
    if (*info->dlpi_name) {
        strncpy(search->path, info->dlpi_name, search->size - 1);
    } else {
        ssize_t length =
            readlink("/proc/self/exe", search->path, search->size - 1);
        search->path[length < 0 ? 0 : length] = '\0';
    }
    return 1;
}

/* The file with the code at ADDRESS.  Its path is in PATH, of SIZE bytes; ""
 * when there is none. */
static inline struct report__module self_module(uintptr_t address, char *path,
                                                size_t size) {
    struct report__module module = {.path = path};
    struct self_search search = {address, &module, path, size};

    memset(path, 0, size);
    dl_iterate_phdr(self_describe, &search);
    return module;
}

#endif
