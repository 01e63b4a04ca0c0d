/* elf_image.c - see elf_image.h. */
#include "monitor/base/elf_image.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LONGEST_BUILD_ID = 64 };

bool mprof__is_elf(const void *base) {
    const Elf64_Ehdr *elf = base;
    return memcmp(elf->e_ident, ELFMAG, SELFMAG) == 0 &&
           elf->e_ident[EI_CLASS] == ELFCLASS64;
}

void mprof__image_open(struct mprof__image *image, const char *path) {
    struct stat st;
    int state, saved = errno;
    *image = (struct mprof__image){.base = NULL};
    /* open() is where threads are cancelled; malloc() is not. */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
        (size_t)st.st_size >= sizeof(Elf64_Ehdr)) {
        void *base =
            mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (base != MAP_FAILED)
            *image = (struct mprof__image){base, (size_t)st.st_size};
        if (base != MAP_FAILED && !mprof__is_elf(base))
            mprof__image_close(image);
    }
    if (fd >= 0)
        close(fd);
    pthread_setcancelstate(state, NULL);
    errno = saved;
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

/* The headers of its sections; NULL: there is none that can be read. */
static const Elf64_Shdr *sections(const struct mprof__image *image) {
    const Elf64_Ehdr *elf = (const void *)image->base;
    if (!inside(image, elf->e_shoff,
                (uint64_t)elf->e_shnum * sizeof(Elf64_Shdr)) ||
        elf->e_shentsize != sizeof(Elf64_Shdr) ||
        elf->e_shoff % _Alignof(Elf64_Shdr) != 0)
        return NULL;
    return (const void *)(image->base + elf->e_shoff);
}

static const Elf64_Shdr *find_section(const struct mprof__image *image,
                                      uint32_t type) {
    const Elf64_Ehdr *elf = (const void *)image->base;
    const Elf64_Shdr *section = sections(image);
    for (int i = 0; section != NULL && i < elf->e_shnum; i++)
        if (section[i].sh_type == type &&
            inside(image, section[i].sh_offset, section[i].sh_size) &&
            section[i].sh_offset % _Alignof(Elf64_Sym) == 0 &&
            section[i].sh_link < elf->e_shnum)
            return &section[i];
    return NULL;
}

/* Does SECTION begin with the note that the build id is this one? */
static bool is_build_id(const struct mprof__image *image,
                        const Elf64_Shdr *section, const uint8_t *build_id,
                        size_t bytes) {
    const Elf64_Nhdr *note;
    if (section->sh_type != SHT_NOTE ||
        section->sh_offset % _Alignof(Elf64_Nhdr) != 0 ||
        !inside(image, section->sh_offset, sizeof *note + sizeof "GNU" + bytes))
        return false;
    note = (const void *)(image->base + section->sh_offset);
    return note->n_type == NT_GNU_BUILD_ID && note->n_namesz == sizeof "GNU" &&
           note->n_descsz == bytes &&
           memcmp((const char *)(note + 1) + sizeof "GNU", build_id, bytes) ==
               0;
}

/* Close IMAGE if it is of another file than that with the build id. */
static void check_build_id(struct mprof__image *image, const uint8_t *build_id,
                           size_t bytes) {
    if (image->base == NULL || bytes == 0)
        return;
    const Elf64_Ehdr *elf = (const void *)image->base;
    const Elf64_Shdr *section = sections(image);
    for (int i = 0; section != NULL && i < elf->e_shnum; i++)
        if (is_build_id(image, &section[i], build_id, bytes))
            return;
    mprof__image_close(image);
}

void mprof__image_open_symbols(struct mprof__image *image, const char *path,
                               const uint8_t *build_id, size_t bytes) {
    static const char folder[] = "/usr/lib/debug/.build-id/",
                      ending[] = ".debug";
    char
        name[sizeof folder + 2 * LONGEST_BUILD_ID + sizeof "/" + sizeof ending];
    struct mprof__image other;
    mprof__image_open(image, path);
    check_build_id(image, build_id, bytes);
    if (image->base == NULL || find_section(image, SHT_SYMTAB) != NULL ||
        bytes < 2 || bytes > LONGEST_BUILD_ID)
        return;
    char *end = stpcpy(name, folder);
    for (size_t i = 0; i < bytes; i++) {
        *end++ = "0123456789abcdef"[build_id[i] >> 4];
        *end++ = "0123456789abcdef"[build_id[i] & 15];
        if (i == 0)
            *end++ = '/';
    }
    strcpy(end, ending);
    mprof__image_open(&other, name);
    check_build_id(&other, build_id, bytes);
    if (other.base == NULL || find_section(&other, SHT_SYMTAB) == NULL) {
        mprof__image_close(&other);
        return;
    }
    mprof__image_close(image);
    *image = other;
}

/* Set SYMBOLS to the symbols of IMAGE; false: it has none. */
static bool find_symbols(const struct mprof__image *image,
                         struct mprof__symbols *symbols) {
    const Elf64_Shdr *table =
        image->base == NULL ? NULL : find_section(image, SHT_SYMTAB);
    if (table == NULL && image->base != NULL)
        table = find_section(image, SHT_DYNSYM);
    if (table == NULL)
        return false;
    const Elf64_Shdr *names = sections(image) + table->sh_link;
    if (!inside(image, names->sh_offset, names->sh_size) ||
        names->sh_size == 0 ||
        image->base[names->sh_offset + names->sh_size - 1] != '\0')
        return false;
    *symbols = (struct mprof__symbols){
        .list = (const void *)(image->base + table->sh_offset),
        .count = table->sh_size / sizeof *symbols->list,
        .names = (const char *)image->base + names->sh_offset,
        .name_bytes = names->sh_size};
    return true;
}

static bool is_defined(const struct mprof__symbols *symbols,
                       const Elf64_Sym *symbol) {
    return symbol->st_shndx != SHN_UNDEF &&
           symbol->st_name < symbols->name_bytes;
}

void mprof__symbols_each(const struct mprof__symbols *symbols,
                         mprof__visit_symbol *visit, void *data) {
    const Elf64_Sym *symbol = symbols->list;
    for (size_t n = symbols->count; n > 0; n--, symbol++) {
        unsigned type = ELF64_ST_TYPE(symbol->st_info);
        if ((type == STT_FUNC || type == STT_GNU_IFUNC) &&
            is_defined(symbols, symbol) && visit(symbols, symbol, data) != 0)
            return;
    }
}

void mprof__symbols_of(const struct mprof__symbols *symbols, unsigned type,
                       mprof__visit_symbol *visit, void *data) {
    const Elf64_Sym *symbol = symbols->list;
    for (size_t n = symbols->count; n > 0; n--, symbol++)
        if (ELF64_ST_TYPE(symbol->st_info) == type &&
            is_defined(symbols, symbol) && visit(symbols, symbol, data) != 0)
            return;
}

/* How names and addresses alone are visited. */
struct by_name {
    int (*visit)(const char *name, uint64_t address, void *data);
    void *data;
};

static int visit_by_name(const struct mprof__symbols *symbols,
                         const Elf64_Sym *symbol, void *data) {
    const struct by_name *by = data;
    return by->visit(symbols->names + symbol->st_name, symbol->st_value,
                     by->data);
}

void mprof__image_symbols(const struct mprof__image *image,
                          int (*visit)(const char *, uint64_t, void *),
                          void *data) {
    struct by_name by = {visit, data};
    struct mprof__symbols symbols;
    if (find_symbols(image, &symbols))
        mprof__symbols_each(&symbols, visit_by_name, &by);
}

void mprof__symbols_map(struct mprof__symbols *symbols, const char *path) {
    struct mprof__image image;
    mprof__image_open(&image, path);
    if (!find_symbols(&image, symbols)) {
        mprof__image_close(&image);
        *symbols = (struct mprof__symbols){.count = 0};
        return;
    }
    /* The pages around them are given back. */
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE),
              base = (uintptr_t)image.base, end = base + image.bytes,
              list = (uintptr_t)symbols->list,
              names = (uintptr_t)symbols->names,
              list_end = list + symbols->count * sizeof *symbols->list,
              names_end = names + symbols->name_bytes;
    uintptr_t first = (list < names ? list : names) & ~(page - 1);
    uintptr_t last = list_end > names_end ? list_end : names_end;
    last = (last + page - 1) & ~(page - 1);
    if (first > base)
        munmap((void *)base, first - base);
    if (last < end)
        munmap((void *)last, end - last);
    symbols->map = (void *)first;
    symbols->map_bytes = (last < end ? last : end) - first;
}

void mprof__symbols_unmap(struct mprof__symbols *symbols) {
    if (symbols->map != NULL)
        munmap(symbols->map, symbols->map_bytes);
    *symbols = (struct mprof__symbols){.count = 0};
}

bool mprof__is_better_symbol(const struct mprof__symbols *symbols,
                             const Elf64_Sym *symbol, const Elf64_Sym *than) {
    const char *name = symbols->names + symbol->st_name,
               *other = symbols->names + than->st_name;
    bool local = ELF64_ST_BIND(symbol->st_info) == STB_LOCAL,
         other_local = ELF64_ST_BIND(than->st_info) == STB_LOCAL;
    if (local != other_local)
        return other_local;
    size_t m = strspn(name, "_"), n = strspn(other, "_");
    if (m == n) {
        m = strlen(name);
        n = strlen(other);
    }
    return m != n ? m < n : strcmp(name, other) < 0;
}

struct find_symbol {
    uint64_t address;
    const Elf64_Sym *found;
};

static int symbol_at(const struct mprof__symbols *symbols,
                     const Elf64_Sym *symbol, void *data) {
    struct find_symbol *find = data;
    if (symbol->st_value == find->address &&
        (find->found == NULL ||
         mprof__is_better_symbol(symbols, symbol, find->found)))
        find->found = symbol;
    return 0;
}

uint64_t mprof__image_start(const struct mprof__image *image) {
    return image->base == NULL
               ? 0
               : ((const Elf64_Ehdr *)(const void *)image->base)->e_entry;
}

const char *mprof__image_symbol_at(const struct mprof__image *image,
                                   uint64_t address) {
    struct find_symbol find = {.address = address};
    struct mprof__symbols symbols;
    if (find_symbols(image, &symbols))
        mprof__symbols_each(&symbols, symbol_at, &find);
    return find.found == NULL ? NULL : symbols.names + find.found->st_name;
}
