/* fuzz_elf.c - an ELF file, through all that reads such files: names, calls,
 * inlined functions, types; the monitor's symbols; whether it can be recorded.
 *
 * The bytes are the file.  It is looked at where its own symbols are.
 */
#include "tests/fuzz/fuzz.h"

#include <gelf.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "monitor/base/elf_image.h"
#include "monitor/format/runnable.h"
#include "report/elf/elf_file.h"
#include "report/elf/symbols.h"
#include "report/elf/types.h"

/* Of the functions of a file, and of the places in each. */
enum { MOST_FUNCTIONS = 12, PLACES = 6 };

static struct {
    uint64_t address, size;
    char name[64];
} functions[MOST_FUNCTIONS];
static size_t count;

/* The module that a data file would have for the file PATH; false: it is no ELF
 * file. */
static bool make_module(const char *path, struct report__module *module) {
    struct report__elf_file file;
    const unsigned char *bits;
    GElf_Addr address;
    *module = (struct report__module){.path = path, .end = UINT64_MAX};
    bool open = report__elf_open(&file, path, NULL) == MPROF__ELF_OPEN;
    int bytes = open ? dwfl_module_build_id(file.module, &bits, &address) : 0;
    if (bytes > 0 && (size_t)bytes <= sizeof module->build_id) {
        module->build_id_bytes = (uint32_t)bytes;
        memcpy(module->build_id, bits, (size_t)bytes);
    }
    report__elf_close(&file);
    return open;
}

static int add_function(const char *name, uint64_t address, void *data) {
    (void)data;
    if (count == MOST_FUNCTIONS)
        return 1;
    functions[count].address = address;
    functions[count].size = 64;
    snprintf(functions[count].name, sizeof functions->name, "%s", name);
    count++;
    return 0;
}

/* As the monitor sees them, which believes nothing either. */
static void read_image(const char *path, const struct report__module *module) {
    struct mprof__image image;
    count = 0;
    mprof__image_open_symbols(&image, path, module->build_id,
                              module->build_id_bytes);
    mprof__image_symbols(&image, add_function, NULL);
    if (image.base) {
        mprof__image_symbol_at(&image, mprof__image_start(&image));
        mprof__image_close(&image);
    }
}

static void ask(struct report__symbols *symbols, struct report__pool *pool,
                uint64_t address) {
    struct report__inline *list;
    struct report__place line;
    uint64_t start = 0;
    const char *name = report__symbol_at(symbols, address, &start);
    if (name) {
        FUZZ_EXPECT(start <= address);
        FUZZ_EXPECT(
            report__symbol_named(symbols, name, strlen(name), address, &start));
    }
    uint32_t inlined =
        report__symbols_inlines(symbols, pool, address - 1, &list, &line);
    for (uint32_t i = 0; i < inlined; i++)
        FUZZ_EXPECT(
            strlen(list[i].name) < INT_MAX &&
            (!list[i].call.file || strlen(list[i].call.file) < INT_MAX));
    FUZZ_EXPECT(!line.file || strlen(line.file) < INT_MAX);
}

static void read_symbols(const struct report__module *module,
                         struct report__pool *pool) {
    struct report__symbols *symbols = report__symbols_open(module, NULL);
    uint64_t address;
    if (!symbols)
        return;
    for (size_t i = 0; i < count; i++) {
        report__symbol_named(symbols, functions[i].name,
                             strlen(functions[i].name), 0, &address);
        for (uint64_t place = 0; place < PLACES; place++)
            ask(symbols, pool, functions[i].address + place * place * 3);
    }
    ask(symbols, pool, 0);
    ask(symbols, pool, UINT64_MAX);
    report__symbols_close(symbols);
}

/* Of the program, or of one of its libraries. */
static void read_types(struct report__module *module, bool is_program,
                       struct report__pool *pool) {
    const struct report__profile profile = {.program =
                                                is_program ? module->path : "",
                                            .modules = module,
                                            .module_count = 1};
    struct report__types *types =
        report__types_read(pool, &profile, NULL, true);
    report__types_missing(types);
    for (uint64_t size = 0; size <= MPROF_LARGEST_BIN + 1; size++) {
        uint32_t n;
        const char *const *names = report__types_of_size(types, size, &n);
        for (uint32_t i = 0; i < n; i++)
            FUZZ_EXPECT(names[i][0] != '\0');
    }
}

/* When memory is short, all has been given back, too. */
static void read_file(struct report__module *module, bool is_program) {
    struct report__pool pool = {0};
    jmp_buf nomem;
    pool.nomem = &nomem;
    if (setjmp(nomem) == 0) {
        read_types(module, is_program, &pool);
        read_symbols(module, &pool);
    }
    report__pool_free(&pool);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct report__module module;
    bool clashes;
    const char *path = fuzz_file(data, size);
    mprof__not_recordable(path, -1, &clashes);
    bool open = make_module(path, &module);
    read_image(path, &module);
    if (open)
        read_file(&module, size % 2 == 0);
    return 0;
}
