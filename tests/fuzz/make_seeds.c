/* make_seeds.c - in the working folder, from the modules that make-corpus has
 * put there: data/ and unwind/ get files for the fuzzer to begin with. */
#define _GNU_SOURCE
#include "tests/fuzz/fuzz.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "tests/support/small.h"

/* A piece of a seed. */
static void put(FILE *file, const void *data, size_t size) {
    FUZZ_EXPECT(fwrite(data, 1, size, file) == size);
}

static FILE *create(const char *folder, const char *name, int number) {
    char path[100];
    snprintf(path, sizeof path, "%s/%s-%d", folder, name, number);
    FILE *file = fopen(path, "wb");
    if (!file) {
        perror(path);
        exit(1);
    }
    return file;
}

/*
 * Data files: see fuzz_data.c
 */

enum { WAYS = 8, WITH_PROGRAM = 16 };

/* For each set of tables, once. */
static void save(const struct datafile *d, const char *name, int flags) {
    for (int way = 0; way < WAYS; way++) {
        FILE *file = create("data", name, way);
        putc(way | flags, file);
        put(file, d->data, FUZZ_FIELDS);
        put(file, d->data + MPROF_HEADER_BYTES, d->size - MPROF_HEADER_BYTES);
        FUZZ_EXPECT(fclose(file) == 0);
    }
}

static void save_small(void) {
    struct datafile d;
    small_file(&d);
    save(&d, "small", 0);
    datafile_free(&d);
}

/* Found by the fuzzer: call sites so far from their function that offsets
 * have 20 digits. */
static void save_offsets(void) {
    const struct mprof_count one = {1, 100}, two = {2, 200};
    struct datafile d;
    datafile_start(&d);
    mprof_ref module = datafile_module(&d, "/x/library.so", "id", 2);
    mprof_ref f =
        datafile_function(&d, MPROF_C, module, 0x1000, NULL, "function");
    mprof_ref thread = datafile_c_thread(&d, 7, "main");
    mprof_ref root = datafile_node(&d, thread, 0, 0);
    for (uint64_t i = 0; i < 8; i++) {
        mprof_ref site = datafile_site(&d, f, module, -8 * i - 8);
        mprof_ref node = datafile_node(&d, thread, root, site);
        datafile_counter(&d, node, site, MPROF_MEDIUM, two, one);
        datafile_size(&d, thread, 100, two, one);
    }
    save(&d, "offsets", 0);
    datafile_free(&d);
}

/* Lisp functions of all kinds, with names and without, and what they allocated.
 */
static void save_lisp(void) {
    static const char *const names[] = {"CAR",       "(LAMBDA (X) X)",
                                        "(LAMBDA)",  "(LAMBDA (X) X)",
                                        "CL::|a b|", NULL};
    static const char *const symbols[] = {"LC1car", "file.lsp:12", NULL};
    const struct mprof_count one = {1, 24}, two = {2, 500};
    struct datafile d;
    datafile_start(&d);
    mprof_ref module = datafile_module(&d, "/x/ecl0001234567.fas", "id", 2);
    mprof_ref library = datafile_module(&d, "/x/library.fas", "if", 2);
    mprof_ref thread = datafile_thread(&d, 7, "main");
    mprof_ref node = datafile_node(&d, thread, 0, 0);
    for (unsigned kind = MPROF_C; kind <= MPROF_ENTRY; kind++)
        for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
            mprof_ref function = datafile_function(
                &d, kind, i % 2 ? module : library, 16 * i + kind, names[i],
                symbols[(i + kind) % (sizeof symbols / sizeof *symbols)]);
            node = datafile_node(&d, thread, node, function);
            datafile_count(&d, node, i % MPROF_CLASSES, 1, 24);
        }
    for (int i = 0; i < 8; i++)
        datafile_count(&d, node,
                       datafile_bin(&d, thread, i % MPROF_CLASSES,
                                    i < 4 ? "structure" : "x",
                                    i % 3 ? "POINT" : NULL, i % 2 ? one : two,
                                    one) |
                           (i % 2 ? MPROF_STORAGE : 0),
                       one.allocs, one.bytes);
    save(&d, "lisp", 0);
    datafile_free(&d);
}

/* Many functions that call each other. */
static void save_cycle(void) {
    enum { FUNCTIONS = 40 };
    mprof_ref functions[FUNCTIONS];
    struct datafile d;
    char name[20];
    datafile_start(&d);
    mprof_ref thread = datafile_thread(&d, 7, NULL);
    mprof_ref root = datafile_node(&d, thread, 0, 0);
    for (int i = 0; i < FUNCTIONS; i++) {
        snprintf(name, sizeof name, "F%d", i);
        functions[i] = datafile_lisp(&d, name);
    }
    for (int i = 0; i < 2 * FUNCTIONS; i += 3) {
        mprof_ref node = datafile_node(&d, thread, root, functions[0]);
        for (int k = 1; k < 4; k++) {
            node =
                datafile_node(&d, thread, node, functions[(i + k) % FUNCTIONS]);
            datafile_count(&d, node, MPROF_CONS, 1, 16);
        }
        if (i % 2)
            datafile_count(&d, datafile_node(&d, thread, node, functions[0]),
                           MPROF_OTHER, 1, 100);
    }
    save(&d, "cycle", 0);
    datafile_free(&d);
}

/* Where a module calls what it is given. */
enum { MOST_CALLS = 8 };
static uint64_t calls[MOST_CALLS];
static int call_count;

__attribute__((noinline)) static void note(int n) {
    (void)n;
    if (call_count < MOST_CALLS)
        calls[call_count++] = (uintptr_t)__builtin_return_address(0);
}

static uint64_t base_of(void *address) {
    Dl_info info;
    FUZZ_EXPECT(dladdr(address, &info) != 0);
    return (uintptr_t)info.dli_fbase;
}

/* What was allocated below each of the calls. */
static void add_calls(struct datafile *d, mprof_ref module, mprof_ref function,
                      mprof_ref thread, mprof_ref parent) {
    const struct mprof_count some = {2, 80}, fewer = {1, 40};
    mprof_ref other = datafile_function(d, MPROF_C, 0, 7, NULL, "_ZN1aC2Ev");
    for (int i = 0; i < call_count; i++) {
        mprof_ref site = datafile_site(d, function, module, calls[i]);
        mprof_ref node = datafile_node(d, thread, parent, site);
        mprof_ref child = datafile_node(d, thread, node, other);
        datafile_edge(d, node, site);
        datafile_counter(d, node, site, MPROF_MEDIUM, some, fewer);
        datafile_objects(d, child, 6 * 8, 3, 1);
    }
}

/* A program that has loaded the module PATH, or that is it. */
static void save_module(const char *path, void *outer, int flags,
                        const char *name) {
    static const unsigned char build_id[] = {1, 2, 3, 4, 5, 6, 7, 8};
    struct datafile d;
    uint64_t base = base_of(outer);
    datafile_start(&d);
    mprof_ref module = datafile_module(&d, path, build_id, sizeof build_id);
    struct mprof_module *record = datafile_record(&d, module);
    record->bias = record->start = base;
    record->end = base + 0x10000;
    mprof_ref thread = datafile_c_thread(&d, 7, "worker");
    mprof_ref root = datafile_node(&d, thread, 0, 0);
    mprof_ref function = datafile_function(&d, MPROF_C, module,
                                           (uintptr_t)outer - base, NULL, NULL);
    mprof_ref again = datafile_function(&d, MPROF_C, module, calls[0] - base,
                                        NULL, "outer.part.0.cold");
    mprof_ref node = datafile_node(&d, thread, root, function);
    add_calls(&d, module, function, thread, node);
    add_calls(&d, module, again, thread,
              datafile_node(&d, thread, node, again));
    if (flags & WITH_PROGRAM) {
        mprof_ref program = datafile_string(&d, path);
        datafile_header(&d)->program = program;
    }
    save(&d, name, flags);
    datafile_free(&d);
}

/* The function outer() of the module PATH, which has said where it calls. */
static void *run_module(const char *path) {
    void (*outer)(void (*)(int), int);
    void *module = dlopen(path, RTLD_LAZY);
    void *symbol = module ? dlsym(module, "outer") : NULL;
    if (!symbol) {
        fprintf(stderr, "make_seeds: %s\n", dlerror());
        exit(1);
    }
    memcpy(&outer, &symbol, sizeof outer);
    call_count = 0;
    outer(note, 1);
    FUZZ_EXPECT(call_count > 0);
    return symbol;
}

static void save_modules(void) {
    void *outer = run_module("./module.so");
    save_module("./module.so", outer, 0, "library");
    save_module("./module.so", outer, WITH_PROGRAM, "program");
    save_module("./split.so", run_module("./split.so"), 0, "split");
    save_module("./linked.so", run_module("./linked.so"), 0, "linked");
}

/*
 * Unwind tables: see fuzz_unwind.c
 */

struct input {
    uint8_t how, gap;
    uint16_t gap_at, header, pad;
    int32_t pc;
};

static void save_tables(const unsigned char *header, size_t size, int32_t pc,
                        int number) {
    struct input input = {.how = (uint8_t)(number % 3 == 2), .pc = pc};
    FILE *file = create("unwind", "table", number);
    put(file, &input, sizeof input);
    put(file, header, size);
    FUZZ_EXPECT(fclose(file) == 0);
}

/* How far there is something to read from ADDRESS on. */
static size_t bytes_from(const unsigned char *start, const void *address) {
    const ElfW(Ehdr) *elf = (const void *)start;
    const ElfW(Phdr) *segment = (const void *)(start + elf->e_phoff);
    size_t at = (size_t)((const unsigned char *)address - start);
    for (int i = 0; i < elf->e_phnum; i++)
        if (segment[i].p_type == PT_LOAD && at >= segment[i].p_vaddr &&
            at < segment[i].p_vaddr + segment[i].p_filesz)
            return segment[i].p_vaddr + segment[i].p_filesz - at;
    return 0;
}

/* Each entry of the sorted table of .eh_frame_hdr, at several places in the
 * function. */
static void save_unwind(void *function) {
    enum { MOST_BYTES = 2000, BEFORE_TABLE = 12, PLACES = 3, STEP = 5 };
    struct dl_find_object found;
    int number = 0;
    uint32_t count;
    FUZZ_EXPECT(_dl_find_object(function, &found) == 0);
    const unsigned char *header = found.dlfo_eh_frame;
    size_t size = bytes_from(found.dlfo_map_start, header);
    if (size > MOST_BYTES)
        size = MOST_BYTES;
    memcpy(&count, header + BEFORE_TABLE - sizeof count, sizeof count);
    for (uint32_t i = 0; i < count && BEFORE_TABLE + 8 * i + 8 <= size; i++) {
        int32_t start;
        memcpy(&start, header + BEFORE_TABLE + 8 * i, sizeof start);
        for (int place = 0; place < PLACES; place++)
            save_tables(header, size, start + place * STEP, number++);
    }
}

int main(void) {
    save_small();
    save_offsets();
    save_lisp();
    save_cycle();
    save_modules();
    save_unwind(run_module("./module.so"));
    return 0;
}
