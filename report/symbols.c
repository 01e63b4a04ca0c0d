/* symbols.c - names of C functions, from ELF files. */
#include "functions.h"

#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct symbol {
    uint64_t address, size;
    const char *name;
    int binding; /* STB_ of ELF */
};

struct mprof__symbols {
    Dwfl *dwfl;
    struct symbol *list; /* by address, the best name of each first */
    size_t count;
};

/* Debug files are looked for by build id only, and only on this machine. */
static char *debug_path;
static const Dwfl_Callbacks callbacks = {
    .find_debuginfo = dwfl_build_id_find_debuginfo,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = &debug_path,
};

static size_t underscores(const char *name) {
    return strspn(name, "_");
}

/* One address may have many names: global before weak before local, then the
 * one with the fewest underscores, then the shortest. */
static int compare_symbols(const void *a, const void *b) {
    static const int rank[] = {
        [STB_LOCAL] = 2, [STB_GLOBAL] = 0, [STB_WEAK] = 1};
    const struct symbol *x = a, *y = b;
    size_t m, n;

    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    if (rank[x->binding] != rank[y->binding])
        return rank[x->binding] - rank[y->binding];
    m = underscores(x->name);
    n = underscores(y->name);
    if (m != n)
        return m < n ? -1 : 1;
    m = strlen(x->name);
    n = strlen(y->name);
    if (m != n)
        return m < n ? -1 : 1;
    return strcmp(x->name, y->name);
}

static bool is_function(const GElf_Sym *symbol, const char *name) {
    int type = GELF_ST_TYPE(symbol->st_info);
    return name && *name && symbol->st_shndx != SHN_UNDEF &&
           GELF_ST_BIND(symbol->st_info) <= STB_WEAK &&
           (type == STT_FUNC || type == STT_GNU_IFUNC);
}

/* The start of a program has a name even where the symbols were stripped. */
static void add_entry_point(struct mprof__symbols *symbols,
                            Dwfl_Module *module) {
    GElf_Addr bias;
    GElf_Ehdr header;
    Elf *elf = dwfl_module_getelf(module, &bias);
    if (elf && gelf_getehdr(elf, &header) && header.e_entry)
        symbols->list[symbols->count++] =
            (struct symbol){header.e_entry, 0, "_start", STB_WEAK};
}

static bool collect(struct mprof__symbols *symbols, Dwfl_Module *module) {
    int count = dwfl_module_getsymtab(module);

    if (count < 0)
        count = 0;
    symbols->list = calloc((size_t)count + 1, sizeof *symbols->list);
    if (!symbols->list)
        return false;
    for (int i = 0; i < count; i++) {
        GElf_Sym symbol;
        GElf_Addr address;
        const char *name = dwfl_module_getsym_info(module, i, &symbol, &address,
                                                   NULL, NULL, NULL);
        if (is_function(&symbol, name))
            symbols->list[symbols->count++] =
                (struct symbol){symbol.st_value, symbol.st_size, name,
                                GELF_ST_BIND(symbol.st_info)};
    }
    add_entry_point(symbols, module);
    qsort(symbols->list, symbols->count, sizeof *symbols->list,
          compare_symbols);
    return true;
}

/* A file that was replaced since has other addresses. */
static bool same_build(const struct mprof__module *module, Dwfl_Module *found) {
    const unsigned char *bits;
    GElf_Addr address;
    int size = dwfl_module_build_id(found, &bits, &address);

    if (size <= 0)
        return module->build_id_bytes == 0;
    return (uint32_t)size == module->build_id_bytes &&
           memcmp(bits, module->build_id, (size_t)size) == 0;
}

struct mprof__symbols *mprof__symbols_open(const struct mprof__module *module) {
    struct stat status;
    struct mprof__symbols *symbols = NULL;

    if (stat(module->path, &status) != 0 || !S_ISREG(status.st_mode))
        return NULL;
    symbols = calloc(1, sizeof *symbols);
    if (!symbols)
        return NULL;
    symbols->dwfl = dwfl_begin(&callbacks);
    if (symbols->dwfl) {
        Dwfl_Module *found =
            dwfl_report_offline(symbols->dwfl, "", module->path, -1);
        dwfl_report_end(symbols->dwfl, NULL, NULL);
        if (found && same_build(module, found) && collect(symbols, found))
            return symbols;
    }
    mprof__symbols_close(symbols);
    return NULL;
}

void mprof__symbols_close(struct mprof__symbols *symbols) {
    if (!symbols)
        return;
    if (symbols->dwfl)
        dwfl_end(symbols->dwfl);
    free(symbols->list);
    free(symbols);
}

/* Index of the first symbol above ADDRESS. */
static size_t first_above(const struct mprof__symbols *symbols,
                          uint64_t address) {
    size_t low = 0, high = symbols->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (symbols->list[middle].address > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

const char *mprof__symbol_at(const struct mprof__symbols *symbols,
                             uint64_t address, uint64_t *start) {
    size_t i = first_above(symbols, address);
    const struct symbol *best = NULL;

    /* Among the symbols nearest below ADDRESS the best name comes first. */
    while (i > 0 && (!best || symbols->list[i - 1].address == best->address))
        best = &symbols->list[--i];
    if (!best ||
        (best->address != address && address - best->address >= best->size))
        return NULL;
    *start = best->address;
    return best->name;
}

bool mprof__symbol_named(const struct mprof__symbols *symbols, const char *name,
                         size_t length, uint64_t near, uint64_t *address) {
    uint64_t nearest = UINT64_MAX;
    for (size_t i = 0; i < symbols->count; i++) {
        const struct symbol *s = &symbols->list[i];
        uint64_t distance =
            s->address < near ? near - s->address : s->address - near;
        if (distance < nearest && strncmp(s->name, name, length) == 0 &&
            s->name[length] == '\0') {
            nearest = distance;
            *address = s->address;
        }
    }
    return nearest != UINT64_MAX;
}
