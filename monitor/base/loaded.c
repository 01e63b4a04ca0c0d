/* loaded.c - see loaded.h. */
#include "monitor/base/loaded.h"

#include <stddef.h>

#include "monitor/base/elf_image.h"

enum { PAGE = 4096 };

const ElfW(Phdr) *
    mprof__loaded_headers(const struct mprof__loaded *file, unsigned *count) {
    const ElfW(Ehdr) *elf = (const void *)file->start;
    /* Its first page is there, however short it is. */
    if (!mprof__is_elf(elf) || elf->e_phentsize != sizeof(ElfW(Phdr)) ||
        elf->e_phoff % 8 != 0 || elf->e_phoff > PAGE ||
        elf->e_phnum > (PAGE - elf->e_phoff) / sizeof(ElfW(Phdr)))
        return NULL;
    *count = elf->e_phnum;
    return (const void *)(file->start + elf->e_phoff);
}

uintptr_t mprof__loaded_until(const struct mprof__loaded *file,
                              uintptr_t address) {
    unsigned count;
    if (address < file->start || address >= file->end)
        return 0;
    const ElfW(Phdr) *header = mprof__loaded_headers(file, &count);
    if (header == NULL)
        return file->end;
    for (unsigned i = 0; i < count; i++) {
        uintptr_t start = file->bias + header[i].p_vaddr;
        if (header[i].p_type == PT_LOAD && header[i].p_flags & PF_R &&
            address >= start && address - start < header[i].p_memsz)
            return header[i].p_memsz < file->end - start
                       ? start + header[i].p_memsz
                       : file->end;
    }
    return 0;
}
