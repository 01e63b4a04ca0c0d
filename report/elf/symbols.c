/* symbols.c - names of C functions, from ELF files. */
#include "report/base/search.h"
#include "report/elf/elf_file.h"
#include "report/elf/inlines.h"
#include "report/elf/symbols.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

struct symbol {
    uint64_t address, size;
    const char *name;
    int binding; /* STB_ of ELF */
};

struct report__symbols {
    struct report__elf_file file;
    struct symbol *list; /* by address, the best name of each first */
    size_t count;
    struct report__inlines *inlines; /* made when they are first asked for */
};

/* One address may have many names: those that are local come last; the one with
 * the fewest underscores before it is first, then the shortest. */
static int compare_symbols(const void *a, const void *b) {
    const struct symbol *x = a, *y = b;
    return report__up(x->address, y->address)
           ?: (x->binding == STB_LOCAL) - (y->binding == STB_LOCAL)
           ?: report__up(strspn(x->name, "_"), strspn(y->name, "_"))
           ?: report__up(strlen(x->name), strlen(y->name))
           ?: strcmp(x->name, y->name);
}

static bool is_function(const GElf_Sym *symbol, const char *name) {
    int type = GELF_ST_TYPE(symbol->st_info);
    return name && *name && symbol->st_shndx != SHN_UNDEF &&
           GELF_ST_BIND(symbol->st_info) <= STB_WEAK &&
           (type == STT_FUNC || type == STT_GNU_IFUNC);
}

/* The start of a program has a name even where the symbols were stripped. */
static void add_entry_point(struct report__symbols *symbols) {
    GElf_Addr bias;
    GElf_Ehdr header;
    Elf *elf = report__elf_image(&symbols->file, &bias);
    if (elf && gelf_getehdr(elf, &header) && header.e_entry)
        symbols->list[symbols->count++] =
            (struct symbol){header.e_entry, 0, "_start", STB_WEAK};
}

static bool collect(struct report__symbols *symbols) {
    Dwfl_Module *module = symbols->file.module;
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
    add_entry_point(symbols);
    qsort(symbols->list, symbols->count, sizeof *symbols->list,
          compare_symbols);
    return true;
}

struct report__symbols *
report__symbols_open(const struct report__module *module, const char *path) {
    struct report__symbols *symbols = calloc(1, sizeof *symbols);
    if (!symbols)
        return NULL;
    if (report__elf_open(&symbols->file, path ? path : module->path, module) ==
            MPROF__ELF_OPEN &&
        collect(symbols))
        return symbols;
    report__symbols_close(symbols);
    return NULL;
}

void report__symbols_close(struct report__symbols *symbols) {
    if (!symbols)
        return;
    report__inlines_free(symbols->inlines);
    report__elf_close(&symbols->file);
    free(symbols->list);
    free(symbols);
}

/* Index of the first symbol above ADDRESS. */
static size_t first_above(const struct report__symbols *symbols,
                          uint64_t address) {
    return report__first_above(symbols->list, symbols->count,
                               sizeof *symbols->list, address);
}

const char *report__symbol_at(const struct report__symbols *symbols,
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

bool report__symbol_named(const struct report__symbols *symbols,
                          const char *name, size_t length, uint64_t near,
                          uint64_t *address) {
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

static struct report__inlines *open_inlines(struct report__symbols *symbols,
                                            GElf_Addr *bias) {
    GElf_Addr elf_bias;
    Dwarf *dwarf = report__elf_dwarf(&symbols->file, bias);

    if (!dwarf || !report__elf_image(&symbols->file, &elf_bias))
        return NULL;
    *bias = elf_bias - *bias;
    if (!symbols->inlines)
        symbols->inlines = report__inlines_new(&symbols->file, dwarf);
    return symbols->inlines;
}

uint32_t report__symbols_inlines(struct report__symbols *symbols,
                                 struct report__pool *pool, uint64_t address,
                                 struct report__inline **list,
                                 struct report__place *place) {
    GElf_Addr bias;
    struct report__inlines *inlines = open_inlines(symbols, &bias);

    if (place)
        *place = (struct report__place){NULL, 0};
    return inlines
               ? report__inlines_at(inlines, pool, address + bias, list, place)
               : 0;
}
