/* modules.c - see modules.h. */
#define _GNU_SOURCE
#include "monitor/record/modules.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "monitor/record/session.h"

static bool is_elf(const void *base) {
    const Elf64_Ehdr *elf = base;
    return memcmp(elf->e_ident, ELFMAG, SELFMAG) == 0 &&
           elf->e_ident[EI_CLASS] == ELFCLASS64;
}

/* Copy the build id out of the notes that are mapped with the module. */
static void copy_build_id(struct mprof_module *module, uintptr_t start,
                          uintptr_t bias) {
    const Elf64_Ehdr *elf = (const void *)start;
    if (!is_elf(elf))
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

void mprof__image_open(struct mprof__image *image, const char *path) {
    struct stat st;
    image->base = NULL;
    image->bytes = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
        (size_t)st.st_size >= sizeof(Elf64_Ehdr)) {
        void *base =
            mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (base != MAP_FAILED && is_elf(base)) {
            image->base = base;
            image->bytes = (size_t)st.st_size;
        } else if (base != MAP_FAILED) {
            munmap(base, (size_t)st.st_size);
        }
    }
    close(fd);
}

void mprof__image_close(struct mprof__image *image) {
    if (image->base != NULL)
        munmap((void *)image->base, image->bytes);
    image->base = NULL;
}

static bool inside(const struct mprof__image *image, uint64_t offset,
                   uint64_t bytes) {
    return offset <= image->bytes && bytes <= image->bytes - offset;
}

static const Elf64_Shdr *find_section(const struct mprof__image *image,
                                      uint32_t type) {
    const Elf64_Ehdr *elf = (const void *)image->base;
    if (!inside(image, elf->e_shoff,
                (uint64_t)elf->e_shnum * sizeof(Elf64_Shdr)) ||
        elf->e_shentsize != sizeof(Elf64_Shdr))
        return NULL;
    const Elf64_Shdr *section = (const void *)(image->base + elf->e_shoff);
    for (int i = 0; i < elf->e_shnum; i++)
        if (section[i].sh_type == type &&
            inside(image, section[i].sh_offset, section[i].sh_size) &&
            section[i].sh_link < elf->e_shnum)
            return &section[i];
    return NULL;
}

void mprof__image_symbols(const struct mprof__image *image,
                          int (*visit)(const char *, uint64_t, void *),
                          void *data) {
    if (image->base == NULL)
        return;
    const Elf64_Shdr *table = find_section(image, SHT_SYMTAB);
    if (table == NULL)
        table = find_section(image, SHT_DYNSYM);
    if (table == NULL)
        return;
    const Elf64_Ehdr *elf = (const void *)image->base;
    const Elf64_Shdr *strings =
        (const Elf64_Shdr *)(const void *)(image->base + elf->e_shoff) +
        table->sh_link;
    if (!inside(image, strings->sh_offset, strings->sh_size) ||
        strings->sh_size == 0 ||
        image->base[strings->sh_offset + strings->sh_size - 1] != '\0')
        return;
    const Elf64_Sym *symbol = (const void *)(image->base + table->sh_offset);
    for (size_t n = table->sh_size / sizeof *symbol; n > 0; n--, symbol++) {
        if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC ||
            symbol->st_shndx == SHN_UNDEF ||
            symbol->st_name >= strings->sh_size)
            continue;
        const char *name =
            (const char *)image->base + strings->sh_offset + symbol->st_name;
        if (visit(name, symbol->st_value, data) != 0)
            return;
    }
}

struct find_symbol {
    uint64_t address;
    const char *name;
};

static int symbol_at(const char *name, uint64_t address, void *data) {
    struct find_symbol *find = data;
    if (address != find->address)
        return 0;
    find->name = name;
    return 1;
}

const char *mprof__image_symbol_at(const struct mprof__image *image,
                                   uint64_t address) {
    struct find_symbol find = {.address = address};
    mprof__image_symbols(image, symbol_at, &find);
    return find.name;
}
