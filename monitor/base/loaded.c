/* loaded.c - see loaded.h. */
#include "monitor/base/loaded.h"

#include <stddef.h>
#include <sys/auxv.h>

#include "monitor/base/elf_image.h"

enum { PAGE = 4096 };

/* Find the program's headers.  Its segments may have gaps: then each is a
 * mapping of its own, and only one begins with the ELF header. */
static const ElfW(Phdr) * program_headers(uintptr_t bias, unsigned *count) {
    const ElfW(Phdr) *header = (const void *)getauxval(AT_PHDR);
    uintptr_t program = 0;
    *count = (unsigned)getauxval(AT_PHNUM);
    for (unsigned i = 0; header != NULL && i < *count; i++)
        if (header[i].p_type == PT_PHDR)
            program = (uintptr_t)header - header[i].p_vaddr;
    return bias == program ? header : NULL;
}

const ElfW(Phdr) *
    mprof__loaded_headers(const struct mprof__loaded *file, unsigned *count) {
    const ElfW(Ehdr) *elf = (const void *)file->start;
    /* Its first page is there, however short it is. */
    if (!mprof__is_elf(elf))
        return program_headers(file->bias, count);
    if (elf->e_phentsize != sizeof(ElfW(Phdr)) || elf->e_phoff % 8 != 0 ||
        elf->e_phoff > PAGE ||
        elf->e_phnum > (PAGE - elf->e_phoff) / sizeof(ElfW(Phdr)))
        return NULL;
    *count = elf->e_phnum;
    return (const void *)(file->start + elf->e_phoff);
}

uintptr_t mprof__loaded_until(const struct mprof__loaded *file,
                              uintptr_t address) {
    unsigned count;
    const ElfW(Phdr) *header = mprof__loaded_headers(file, &count);
    if (header == NULL)
        return address >= file->start && address < file->end ? file->end : 0;
    for (unsigned i = 0; i < count; i++) {
        uintptr_t start = file->bias + header[i].p_vaddr;
        if (header[i].p_type == PT_LOAD && header[i].p_flags & PF_R &&
            address >= start && address - start < header[i].p_memsz)
            return start + header[i].p_memsz;
    }
    return 0;
}
