/* test_symbols.c - names from ELF files and DWARF.
 *
 * The file that is read is the test program itself, or what objcopy makes of
 * it.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "tests/support/check.h"
#include "report/elf/symbols.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "report/elf/elf_file.h"
#include "tests/support/self.h"

extern char **environ;

struct self {
    char path[4096];
    struct report__module module;
    struct report__symbols *symbols;
    struct report__pool pool;
};

static int set_up(void **state) {
    struct self *self = calloc(1, sizeof *self);
    self->module =
        self_module((uintptr_t)set_up, self->path, sizeof self->path);
    self->symbols = report__symbols_open(&self->module, NULL);
    *state = self;
    return self->symbols ? 0 : -1;
}

static int tear_down(void **state) {
    struct self *self = *state;
    report__symbols_close(self->symbols);
    report__pool_free(&self->pool);
    free(self);
    return 0;
}

/* Whatever its build id is. */
static struct report__symbols *open_any(const char *path,
                                        struct report__module *module) {
    struct report__elf_file file;
    const unsigned char *bits;
    GElf_Addr address;
    if (report__elf_open(&file, path, NULL) != MPROF__ELF_OPEN)
        return NULL;
    int size = dwfl_module_build_id(file.module, &bits, &address);
    if (size > 0) {
        memcpy(module->build_id, bits, (size_t)size);
        module->build_id_bytes = (uint32_t)size;
    }
    report__elf_close(&file);
    return report__symbols_open(module, NULL);
}

static uint64_t elf_address(const struct self *self, void (*function)(void)) {
    return (uintptr_t)function - self->module.bias;
}

__attribute__((noinline, noipa)) static void local_function(void) {
    __asm__ volatile("nop; nop; nop; nop");
}

static void functions_are_found_by_address(void **state) {
    struct self *self = *state;
    uint64_t at = elf_address(self, local_function), start = 0;

    assert_string_equal(report__symbol_at(self->symbols, at, &start),
                        "local_function");
    assert_int_equal(start, at);
    assert_string_equal(report__symbol_at(self->symbols, at + 3, &start),
                        "local_function");
    assert_int_equal(start, at);
    assert_null(report__symbol_at(self->symbols, 0, &start));
    assert_null(report__symbol_at(self->symbols, UINT64_MAX, &start));
    assert_true(report__symbol_named(self->symbols, "local_function.part.0", 14,
                                     0, &start));
    assert_int_equal(start, at);
    assert_false(
        report__symbol_named(self->symbols, "local_function", 5, 0, &start));
}

/* Behind a function there is code that is none of it; its other name is local,
 * and shorter. */
__asm__(".text\n"
        ".globl test_short, test_short_end\n"
        ".type test_short, @function\n"
        ".type ts, @function\n"
        "ts:\n"
        "test_short:\n"
        "nop\n"
        "nop\n"
        "test_short_end:\n"
        ".size test_short, . - test_short\n"
        ".size ts, . - ts\n"
        ".fill 64, 1, 0\n");
extern const char test_short[], test_short_end[];

static void a_function_ends_with_its_size(void **state) {
    struct self *self = *state;
    uint64_t start, end = (uintptr_t)test_short_end - self->module.bias;

    assert_string_equal(report__symbol_at(self->symbols, end - 1, &start),
                        "test_short");
    assert_int_equal(start, (uintptr_t)test_short - self->module.bias);
    assert_null(report__symbol_at(self->symbols, end, &start));
}

/* Functions of one name, which are static in their files. */
static void the_nearest_of_one_name_is_taken(void **state) {
    static const char program[] =
        "exec 2>/dev/null; f=twins-$$; for i in 1 2 3; do\n"
        "echo \"static int twin(void) { return $i; }"
        "int (*other$i(void))(void) { return twin; }\" >$f-$i.c; done\n"
        "echo 'int main(void) { return 0; }' >$f-4.c\n"
        "${CC:-cc} -O0 $f-?.c -o $PROGRAM; status=$?; rm -f $f-?.c\n"
        "exit $status";
    char path[64];
    uint64_t twins[3], found;
    (void)state;

    snprintf(path, sizeof path, "./twins-%ld.tmp", (long)getpid());
    setenv("PROGRAM", path, 1);
    if (system(program) != 0)
        leave_out("there is no C compiler");
    struct report__module module = {.path = path};
    struct report__symbols *symbols = open_any(path, &module);
    assert_non_null(symbols);
    unlink(path);
    for (int i = 0; i < 3; i++) {
        const char *names[] = {"other1", "other2", "other3"};
        assert_true(report__symbol_named(symbols, names[i], 6, 0, &found));
        assert_true(report__symbol_named(symbols, "twin", 4, found, &twins[i]));
        assert_true(twins[i] < found);
    }
    report__symbols_close(symbols);
    assert_true(twins[0] < twins[1] && twins[1] < twins[2]);
}

/* As strdup and __strdup in the C library. */
void __strong_name(void);
void weak_name(void) __attribute__((weak, alias("__strong_name")));
__attribute__((noinline, noipa)) void __strong_name(void) {
    __asm__ volatile("nop; nop");
}

static void the_plainest_of_several_names_is_taken(void **state) {
    struct self *self = *state;
    uint64_t start;

    assert_string_equal(report__symbol_at(self->symbols,
                                          elf_address(self, __strong_name),
                                          &start),
                        "weak_name");
}

static void another_file_has_no_symbols(void **state) {
    struct self *self = *state;
    struct report__module module = self->module;
    struct report__symbols *symbols;

    if (module.build_id_bytes > 0) {
        module.build_id[0] ^= 1;
        assert_null(report__symbols_open(&module, NULL));
        module.build_id[0] ^= 1;
    }
    module.path = "/no/such/file";
    assert_null(report__symbols_open(&module, NULL));
    module.path = "/dev/null";
    assert_null(report__symbols_open(&module, NULL));
    module.path = "";
    assert_null(report__symbols_open(&module, NULL));
    /* A path that is given takes the place of the recorded one. */
    symbols = report__symbols_open(&module, self->path);
    assert_non_null(symbols);
    report__symbols_close(symbols);
}

static const char *call_site;

__attribute__((noinline, noipa)) static void called(void) {
    call_site = __builtin_return_address(0);
}

/* Where they call the next one. */
static int line_of_innermost, line_of_middle;

__attribute__((always_inline)) static inline void innermost(volatile int *n) {
    ++*n;
    line_of_innermost = __LINE__ + 1;
    called();
    ++*n;
}

__attribute__((always_inline)) static inline void middle(volatile int *n) {
    ++*n;
    line_of_middle = __LINE__ + 2;
    if (*n < 9)
        innermost(n);
    ++*n;
}

__attribute__((noinline, noipa)) static void outermost(volatile int *n) {
    middle(n);
    called();
}

static void inlined_functions_are_found_by_call_site(void **state) {
    struct self *self = *state;
    volatile int n = 9;
    struct report__inline *list;
    struct report__place place;

    outermost(&n);
    uint64_t plain = (uintptr_t)call_site - 1 - self->module.bias;
    assert_int_equal(report__symbols_inlines(self->symbols, &self->pool, plain,
                                             &list, &place),
                     0);
    n = 0;
    innermost(&n);
    uint64_t one = (uintptr_t)call_site - 1 - self->module.bias;
    if (report__symbols_inlines(self->symbols, &self->pool, one, &list,
                                &place) == 0)
        leave_out("compiled without debug information");
    assert_string_equal(list[0].name, "innermost");
    middle(&n);
    uint64_t two = (uintptr_t)call_site - 1 - self->module.bias;
    assert_int_equal(
        report__symbols_inlines(self->symbols, &self->pool, two, &list, &place),
        2);
    assert_string_equal(list[0].name, "middle");
    assert_string_equal(list[1].name, "innermost");
    assert_int_equal(place.line, line_of_innermost);
    assert_int_equal(list[1].call.line, line_of_middle);
    assert_non_null(strstr(place.file, "test_symbols.c"));
    assert_string_equal(list[1].call.file, place.file);
    assert_int_equal(
        report__symbols_inlines(self->symbols, &self->pool, two, &list, NULL),
        2);
    assert_null(list[1].call.file);
    assert_int_equal(
        report__symbols_inlines(self->symbols, &self->pool, 0, &list, &place),
        0);
    assert_int_equal(report__symbols_inlines(self->symbols, &self->pool,
                                             UINT64_MAX, &list, &place),
                     0);
}

/* Separate debug files */

/* Other tests may run in the same folder. */
static char stripped[64], debug[64], link_option[96];

static bool run(const char *const *arguments) {
    char *argv[10];
    int count = 0, status;
    pid_t pid;

    for (; arguments[count]; count++)
        argv[count] = (char *)(uintptr_t)arguments[count];
    argv[count] = NULL;
    return posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ) == 0 &&
           waitpid(pid, &status, 0) == pid && status == 0;
}

#define RUN(...) run((const char *const[]){__VA_ARGS__, NULL})

static void remove_files(void) {
    unlink(stripped);
    unlink(debug);
}

/* The name of local_function in the file without symbols. */
static bool is_known(const struct self *self, const char *path) {
    uint64_t start;
    struct report__inline *inlined;
    struct report__pool pool = {0};
    struct report__symbols *symbols = report__symbols_open(&self->module, path);

    assert_non_null(symbols);
    const char *name =
        report__symbol_at(symbols, elf_address(self, local_function), &start);
    bool known = name && strcmp(name, "local_function") == 0;
    report__symbols_inlines(symbols, &pool, start, &inlined, NULL);
    report__symbols_close(symbols);
    report__pool_free(&pool);
    return known;
}

static void debug_files_are_found_by_link_and_check_sum(void **state) {
    struct self *self = *state;
    char path[4096 + 64];

    snprintf(stripped, sizeof stripped, "./symbols-%ld.tmp", (long)getpid());
    snprintf(debug, sizeof debug, "symbols-%ld.tmp.debug", (long)getpid());
    snprintf(link_option, sizeof link_option, "--add-gnu-debuglink=%s", debug);
    if (!RUN("objcopy", "--only-keep-debug", self->path, debug) ||
        !RUN("objcopy", "--strip-all", link_option, self->path, stripped)) {
        remove_files();
        leave_out("there is no objcopy");
    }
    assert_true(is_known(self, stripped));
    assert_non_null(getcwd(path, 4096));
    strcat(path, stripped + 1);
    assert_true(is_known(self, path));

    int fd = open(debug, O_WRONLY | O_APPEND);
    assert_int_equal(write(fd, "x", 1), 1);
    close(fd);
    assert_false(is_known(self, path));
    unlink(debug);
    assert_false(is_known(self, path));
    remove_files();
}

/* In place of libdwfl's, which it calls. */
static unsigned searches;

int dwfl_build_id_find_debuginfo(Dwfl_Module *module, void **data,
                                 const char *name, Dwarf_Addr base,
                                 const char *file, const char *link,
                                 GElf_Word crc, char **found) {
    static int (*next)(Dwfl_Module *, void **, const char *, Dwarf_Addr,
                       const char *, const char *, GElf_Word, char **);
    if (next == NULL)
        *(void **)&next = dlsym(RTLD_NEXT, "dwfl_build_id_find_debuginfo");
    searches++;
    return next(module, data, name, base, file, link, crc, found);
}

/* A program may have a million call sites. */
static void what_is_not_there_is_looked_for_once(void **state) {
    struct self *self = *state;
    struct report__inline *inlined;
    unsigned once = 0;

    snprintf(stripped, sizeof stripped, "./symbols-%ld.tmp", (long)getpid());
    if (!RUN("objcopy", "--strip-all", self->path, stripped)) {
        unlink(stripped);
        leave_out("there is no objcopy");
    }
    struct report__symbols *symbols =
        report__symbols_open(&self->module, stripped);
    assert_non_null(symbols);
    for (uint64_t i = 0; i < 100; i++) {
        assert_int_equal(
            report__symbols_inlines(symbols, &self->pool,
                                    elf_address(self, local_function) + i,
                                    &inlined, NULL),
            0);
        once = i == 0 ? searches : once;
    }
    assert_true(once > 0);
    assert_int_equal(searches, once);
    report__symbols_close(symbols);
    unlink(stripped);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_found_by_address),
        cmocka_unit_test(a_function_ends_with_its_size),
        cmocka_unit_test(the_nearest_of_one_name_is_taken),
        cmocka_unit_test(the_plainest_of_several_names_is_taken),
        cmocka_unit_test(another_file_has_no_symbols),
        cmocka_unit_test(inlined_functions_are_found_by_call_site),
        cmocka_unit_test(debug_files_are_found_by_link_and_check_sum),
        cmocka_unit_test(what_is_not_there_is_looked_for_once),
    };
    return check_result(cmocka_run_group_tests(tests, set_up, tear_down));
}
