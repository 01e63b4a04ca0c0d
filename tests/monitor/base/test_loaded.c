/* What of a loaded ELF file there is to read, and what it exports. */
#define _GNU_SOURCE
#include "tests/support/check.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

#include "monitor/base/exports.h"
#include "monitor/base/loaded.h"

static char no_elf[4096] __attribute__((aligned(4096)));

static int first_file(struct dl_phdr_info *info, size_t size, void *bias) {
    (void)size;
    *(uintptr_t *)bias = info->dlpi_addr;
    return 1;
}

/* Of this program. */
static uintptr_t own_bias(void) {
    uintptr_t bias = 0;
    dl_iterate_phdr(first_file, &bias);
    return bias;
}

/* The page that begins with the ELF header; or one that does not. */
static struct mprof__loaded own_file(void) {
    extern const char __ehdr_start[];
    uintptr_t start = (uintptr_t)__ehdr_start;
    return (struct mprof__loaded){start, start + 4096, own_bias()};
}

static struct mprof__loaded own_segment(uintptr_t bias) {
    uintptr_t start = (uintptr_t)no_elf;
    return (struct mprof__loaded){start, start + sizeof no_elf, bias};
}

static void a_file_has_its_headers(void **state) {
    (void)state;
    struct mprof__loaded file = own_file();
    unsigned count = 0;
    const ElfW(Phdr) *header = mprof__loaded_headers(&file, &count);
    assert_ptr_equal(header, getauxval(AT_PHDR));
    assert_int_equal(count, getauxval(AT_PHNUM));
    uintptr_t until = mprof__loaded_until(&file, (uintptr_t)no_elf);
    assert_true(until >= (uintptr_t)no_elf + sizeof no_elf);
    assert_int_equal(mprof__loaded_until(&file, 16), 0);
}

/* Where the segments of the program have gaps, each is a mapping. */
static void a_segment_of_the_program_has_those_of_the_program(void **state) {
    (void)state;
    struct mprof__loaded segment = own_segment(own_bias());
    unsigned count = 0;
    const ElfW(Phdr) *header = mprof__loaded_headers(&segment, &count);
    assert_ptr_equal(header, getauxval(AT_PHDR));
    assert_int_equal(count, getauxval(AT_PHNUM));
}

/* As a mapping that is no file at all. */
static void what_is_elsewhere_has_none(void **state) {
    (void)state;
    struct mprof__loaded segment = own_segment(own_bias() + 0x100000);
    unsigned count = 0;
    uintptr_t start = segment.start, end = segment.end;
    assert_null(mprof__loaded_headers(&segment, &count));
    assert_int_equal(mprof__loaded_until(&segment, start), end);
    assert_int_equal(mprof__loaded_until(&segment, end - 1), end);
    assert_int_equal(mprof__loaded_until(&segment, end), 0);
    assert_int_equal(mprof__loaded_until(&segment, start - 1), 0);
}

/* The library that has FUNCTION. */
static struct mprof__exports exports_with(uintptr_t function) {
    Dl_info info;
    struct link_map *map;
    assert_int_not_equal(
        dladdr1((void *)function, &info, (void **)&map, RTLD_DL_LINKMAP), 0);
    uintptr_t start = (uintptr_t)info.dli_fbase;
    const struct mprof__loaded file = {start, start + 4096, map->l_addr};
    return mprof__exports_of(&file, map->l_ld);
}

static uintptr_t address_of(const char *name) {
    uintptr_t address = (uintptr_t)dlsym(RTLD_DEFAULT, name);
    assert_int_not_equal(address, 0);
    return address;
}

static void exports_are_found_by_their_names(void **state) {
    (void)state;
    uintptr_t size = address_of("getpagesize"),
              version = address_of("gnu_get_libc_version");
    struct mprof__exports libc = exports_with(size);
    assert_int_equal(mprof__exports_find(&libc, "getpagesize"), size);
    assert_int_equal(mprof__exports_find(&libc, "gnu_get_libc_version"),
                     version);
    assert_int_equal(mprof__exports_find(&libc, "getpagesiz"), 0);
    assert_int_equal(mprof__exports_find(&libc, "no_such_function"), 0);
}

/* A library that asks for a function does not have it. */
static void what_is_imported_is_no_export(void **state) {
    (void)state;
    struct mprof__exports other =
        exports_with((uintptr_t)cmocka_set_message_output);
    assert_int_not_equal(other.hash, 0);
    assert_int_equal(mprof__exports_find(&other, "getpagesize"), 0);
    assert_int_equal(mprof__exports_find(&other, "malloc"), 0);
}

static void without_tables_nothing_is_exported(void **state) {
    (void)state;
    static const ElfW(Dyn) none[] = {{.d_tag = DT_NULL}};
    static const ElfW(Dyn)
        wild[] = {{.d_tag = DT_GNU_HASH, .d_un.d_ptr = 8},
                  {.d_tag = DT_SYMTAB, .d_un.d_ptr = 8},
                  {.d_tag = DT_STRTAB, .d_un.d_ptr = 8},
                  {.d_tag = DT_STRSZ, .d_un.d_val = SIZE_MAX / 2},
                  {.d_tag = DT_NULL}};
    const struct mprof__loaded file = own_file();
    const ElfW(Dyn) *const sections[] = {NULL, none, wild, (const void *)16};
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        struct mprof__exports x = mprof__exports_of(&file, sections[i]);
        assert_int_equal(mprof__exports_find(&x, "getpagesize"), 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_has_its_headers),
        cmocka_unit_test(a_segment_of_the_program_has_those_of_the_program),
        cmocka_unit_test(what_is_elsewhere_has_none),
        cmocka_unit_test(exports_are_found_by_their_names),
        cmocka_unit_test(what_is_imported_is_no_export),
        cmocka_unit_test(without_tables_nothing_is_exported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
