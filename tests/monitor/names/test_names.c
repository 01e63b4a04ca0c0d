/* What is known of files and functions: build ids, names, parts. */
#define _GNU_SOURCE
#include "tests/support/check.h"

#include <elf.h>
#include <link.h>
#include <string.h>

#include "tests/support/fake.h"
#include "monitor/base/self.h"
#include "monitor/base/table.h"
#include "monitor/names/modules.h"
#include "monitor/names/names.h"
#include "monitor/names/parts.h"
#include "monitor/record/session.h"
#include "monitor/record/thread.h"

static struct mprof__session *session;

static int begin(void **state) {
    int error;
    (void)state;
    mprof__threads_initialize();
    session = mprof__session_new(NULL, 16 << 20, 1, &error);
    return session == NULL || mprof__enter() == NULL;
}

static int end(void **state) {
    (void)state;
    mprof__leave(mprof__self);
    mprof__session_free(session);
    return 0;
}

static const void *at(mprof_ref ref) {
    return mprof__arena_at(&session->arena, ref);
}

/* A file that is mapped: a segment, and another note before its build id. */
static struct {
    ElfW(Ehdr) elf;
    ElfW(Phdr) header[2];
    ElfW(Nhdr) other;
    char other_name[4], other_text[8];
    ElfW(Nhdr) id;
    char id_name[4], id_bytes[20];
} file __attribute__((aligned(4096)));

static void make_file(void) {
    size_t notes = offsetof(typeof(file), other);
    memcpy(file.elf.e_ident, ELFMAG, SELFMAG);
    file.elf.e_ident[EI_CLASS] = ELFCLASS64;
    file.elf.e_ident[EI_DATA] = ELFDATA2LSB;
    file.elf.e_ident[EI_VERSION] = EV_CURRENT;
    file.elf.e_phentsize = sizeof(ElfW(Phdr));
    file.elf.e_phoff = offsetof(typeof(file), header);
    file.elf.e_phnum = 2;
    file.header[0] = (ElfW(Phdr)){.p_type = PT_LOAD,
                                  .p_flags = PF_R,
                                  .p_filesz = sizeof file,
                                  .p_memsz = sizeof file};
    file.header[1] = (ElfW(Phdr)){.p_type = PT_NOTE,
                                  .p_flags = PF_R,
                                  .p_vaddr = notes,
                                  .p_filesz = sizeof file - notes,
                                  .p_memsz = sizeof file - notes};
    file.other = (ElfW(Nhdr)){4, sizeof file.other_text, 1};
    memcpy(file.other_name, "XYZ", 4);
    file.id = (ElfW(Nhdr)){4, sizeof file.id_bytes, NT_GNU_BUILD_ID};
    memcpy(file.id_name, "GNU", 4);
    memset(file.id_bytes, 7, sizeof file.id_bytes);
}

static void a_build_id_is_found_behind_other_notes(void **state) {
    static char name[] = "/nowhere/file.so";
    uintptr_t start = (uintptr_t)&file;
    struct link_map map = {.l_addr = start, .l_name = name};
    struct mprof__unwind unwind = {.module_start = start,
                                   .module_end = start + sizeof file,
                                   .module = &map};
    (void)state;
    make_file();
    const struct mprof_module *module =
        at(mprof__module(&session->names, &unwind));
    assert_int_equal(module->build_id_bytes, sizeof file.id_bytes);
    assert_memory_equal(module->build_id, file.id_bytes, sizeof file.id_bytes);
}

static void what_gets_a_name_is_a_function_of_lisp(void **state) {
    static const uintptr_t key = 0x5550;
    (void)state;
    struct mprof_function *f =
        mprof__arena_record(&session->arena, MPROF_FUNCTION, sizeof *f);
    f->kind = MPROF_C;
    mprof_ref ref = mprof__arena_publish(&session->arena, f);
    assert_true(mprof__table_add(&session->names.functions, key, ref));
    mprof__rename(&session->names, key, "(METHOD F (T))");
    assert_int_equal(f->kind, MPROF_LISP);
    const struct mprof_string *text = at(f->name);
    assert_int_equal(text->length, strlen("(METHOD F (T))"));
    assert_memory_equal(text->text, "(METHOD F (T))", text->length);
    f->kind = MPROF_ENTRY;
    mprof__rename(&session->names, key, "(METHOD G (T))");
    assert_int_equal(f->kind, MPROF_ENTRY);
}

/* A record for each function however often it is told, and one text of a path.
 */
static void sources_are_told_once(void **state) {
    struct mprof__name *name = mprof__name_new(&session->names, MPROF_LISP);
    struct mprof__source source = {"/here/x.lsp", 7};
    const struct mprof_header *header = mprof__arena_header(&session->arena);
    (void)state;
    assert_string_equal(name->source.file, "");
    mprof_ref f = mprof__function_add(&session->names, 1, 0, name);
    name->source = source;
    uint64_t used;
    mprof_ref g = mprof__function_add(&session->names, 2, 0, name);
    const struct mprof_source *record =
        at((mprof_ref)((header->used - sizeof *record) / 8));
    assert_int_equal(record->head.type, MPROF_SOURCE);
    const struct mprof_string *text = at(record->file);
    assert_int_equal(record->function, g);
    assert_int_equal(record->position, 7);
    assert_int_equal(text->length, strlen(source.file));
    assert_memory_equal(text->text, source.file, text->length);
    /* Those of f are not known yet. */
    mprof__table_add(&session->names.functions, 0x6660, f);
    used = header->used;
    mprof__set_source(&session->names, 0x6661, &source);
    assert_int_equal(header->used, used);
    mprof__set_source(&session->names, 0x6660, &source);
    assert_int_equal(header->used, used + sizeof *record);
    source.position = 8;
    mprof__set_source(&session->names, 0x6660, &source);
    assert_int_equal(header->used, used + sizeof *record);
    assert_string_equal(
        mprof__name_new(&session->names, MPROF_LISP)->source.file, "");
}

/* Parts of functions, as the C compiler makes them; and one of a function that
 * the tables leave out. */
extern const char whole[], part[], start_part[];
__asm__(".text\n"
        ".type shown_one, %function\n"
        "shown_one: whole: nop\n"
        ".size shown_one, 1\n"
        ".type shown_one.cold, %function\n"
        "shown_one.cold: part: nop\n"
        ".size shown_one.cold, 1\n"
        ".type __libc_start_it.cold, %function\n"
        "__libc_start_it.cold: start_part: nop\n"
        ".size __libc_start_it.cold, 1\n"
        ".p2align 4\n");

static mprof_ref make_module(void) {
    struct mprof_module *module =
        mprof__arena_record(&session->arena, MPROF_MODULE, sizeof *module);
    return mprof__arena_publish(&session->arena, module);
}

static int first_file(struct dl_phdr_info *info, size_t size, void *bias) {
    (void)size;
    *(uintptr_t *)bias = info->dlpi_addr;
    return 1;
}

static void a_part_is_hidden_as_its_whole_is(void **state) {
    struct mprof__part found;
    mprof_ref module = make_module();
    uintptr_t bias = 0;
    (void)state;
    dl_iterate_phdr(first_file, &bias);
    assert_true(mprof__part_at(&session->names, module, "/proc/self/exe",
                               (uintptr_t)part - bias, &found));
    assert_true(found.fragment && !found.hidden);
    assert_int_equal(found.whole, (uintptr_t)whole - bias);
    assert_true(mprof__part_at(&session->names, module, "/proc/self/exe",
                               (uintptr_t)start_part - bias, &found));
    assert_true(found.fragment && found.hidden);
    assert_false(mprof__part_at(&session->names, module, "/proc/self/exe",
                                (uintptr_t)whole - bias, &found));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_build_id_is_found_behind_other_notes,
                                        begin, end),
        cmocka_unit_test_setup_teardown(what_gets_a_name_is_a_function_of_lisp,
                                        begin, end),
        cmocka_unit_test_setup_teardown(sources_are_told_once, begin, end),
        cmocka_unit_test_setup_teardown(a_part_is_hidden_as_its_whole_is, begin,
                                        end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
