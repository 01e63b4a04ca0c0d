/* test_types.c - the names of types by their size: those of this program, and
 * of programs that are compiled in many ways and say themselves what the names
 * are. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* mkdtemp */
#endif
#include "tests/support/check.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report/elf/dwarf_types.h"
#include "report/elf/types.h"

/* Of this program. */
struct test_shape {
    char bytes[719];
};
typedef struct {
    char bytes[721];
} test_nameless;

/* Has a bin. */
struct fixture {
    char folder[128]; /* current directory, removed at the end */
    char *program, *library;
    struct report__pool pool;
    struct report__module modules[2];
    struct report__profile profile;
    struct report__types *types;
};

static int set_up(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    const char *source = getenv("srcdir");
    char *absolute = realpath(source ? source : ".", NULL);

    if (!f || !absolute)
        return -1;
    setenv("SOURCE", absolute, 1);
    free(absolute);
    setenv("CC", "cc", 0);
    setenv("CXX", "c++", 0);
    snprintf(f->folder, sizeof f->folder, "%s/mprof-types-XXXXXX",
             getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    if (!mkdtemp(f->folder) || chdir(f->folder) != 0)
        return -1;
    if (asprintf(&f->program, "%s/program", f->folder) < 0 ||
        asprintf(&f->library, "%s/libpart.so", f->folder) < 0)
        return -1;
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    char command[192];

    report__pool_free(&f->pool);
    snprintf(command, sizeof command, "rm -rf '%s'", f->folder);
    int status = chdir("/") == 0 ? system(command) : -1;
    free(f->program);
    free(f->library);
    free(f);
    return status;
}

/* Whether COMMAND, run by the shell in the fixture's folder, succeeds. */
static bool succeeds(const char *command) {
    return system(command) == 0;
}

static void must(const char *command) {
    if (!succeeds(command))
        fail_msg("%s", command);
}

static void take_build_id(struct report__module *module) {
    int fd = open(module->path, O_RDONLY);
    const void *bits;
    ssize_t size;

    assert_true(fd >= 0);
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    size = dwelf_elf_gnu_build_id(elf, &bits);
    assert_true(size > 0 && size <= (ssize_t)sizeof module->build_id);
    memcpy(module->build_id, bits, (size_t)size);
    module->build_id_bytes = (uint32_t)size;
    elf_end(elf);
    close(fd);
}

/* A profile of PROGRAM, and of the library if there is one. */
static void profile(struct fixture *f, const char *program) {
    memset(f->modules, 0, sizeof f->modules);
    f->modules[0].path = program;
    take_build_id(&f->modules[0]);
    f->profile = (struct report__profile){
        .program = program, .modules = f->modules, .module_count = 1};
    if (access(f->library, F_OK) == 0) {
        f->modules[1].path = f->library;
        f->modules[1].file = 1;
        take_build_id(&f->modules[1]);
        f->profile.module_count = 2;
    }
}

static void read_types(struct fixture *f) {
    report__pool_free(&f->pool);
    f->types = report__types_read(&f->pool, &f->profile, NULL, true);
}

/* The names of SIZE, joined with blanks. */
static void join(const struct fixture *f, uint64_t size, char *text,
                 size_t room) {
    uint32_t count;
    const char *const *names = report__types_of_size(f->types, size, &count);
    size_t at = 0;

    *text = '\0';
    for (uint32_t i = 0; i < count && at < room; i++)
        at += (size_t)snprintf(text + at, room - at, "%s%s", i ? " " : "",
                               names[i]);
    assert_true(at < room);
}

static void assert_names(const struct fixture *f, uint64_t size,
                         const char *names) {
    char text[4096];
    join(f, size, text, sizeof text);
    assert_string_equal(text, names);
}

static const char *missing(const struct fixture *f) {
    return report__types_missing(f->types);
}

/* The program's own words, kept while it is changed in the file. */
static void compare(struct fixture *f, const char *how, const char *words) {
    char line[512], text[4096];
    FILE *file = fopen(words, "r");
    int lines = 0;

    assert_non_null(file);
    read_types(f);
    if (missing(f))
        fail_msg("%s: %s", how, missing(f));
    while (fgets(line, sizeof line, file)) {
        char *names = strchr(line, ' ');
        line[strcspn(line, "\n")] = '\0';
        join(f, strtoull(line, NULL, 10), text, sizeof text);
        if (strcmp(text, names ? names + 1 : "") != 0)
            fail_msg("%s: \"%s\", not \"%s\"", how, text, line);
        lines++;
    }
    fclose(file);
    assert_true(lines > 10);
}

/* Compile the C programs with FLAGS; false when the compiler cannot. */
static bool compile(struct fixture *f, const char *flags) {
    setenv("FLAGS", flags, 1);
    if (!succeeds(
            "set -e; exec 2>output; p=$SOURCE/tests/programs; rm -f *.o;"
            "b=-Wl,--build-id,-rpath,$PWD;"
            "$CC $FLAGS -shared -fPIC $b $p/types-library.c -o libpart.so;"
            "$CC $FLAGS -c $p/types-shapes.c -o shapes.o;"
            "$CC $FLAGS shapes.o ./libpart.so $b -o program"))
        return false;
    must("./program >words");
    profile(f, f->program);
    return true;
}

static void test_own_types(void **state) {
    struct fixture *f = *state;
    volatile struct test_shape shape = {{0}};
    volatile test_nameless nameless = {{0}};
    char path[256];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

    assert_true(n > 0);
    path[n] = '\0';
    assert_int_equal(shape.bytes[0] + nameless.bytes[0], 0);
    profile(f, path);
    read_types(f);
    if (missing(f))
        leave_out("compiled without debug information");
    assert_names(f, sizeof shape, "test_shape");
    assert_names(f, sizeof nameless, "test_nameless");
    assert_names(f, sizeof(struct fixture), "fixture");
    assert_names(f, 0, "");
    assert_names(f, UINT64_MAX, "");
}

/* One compiler may not know them all, but the first ones. */
static void test_kinds_of_debug_information(void **state) {
    static const char *const flags[] = {
        "-g",
        "-O2 -g",
        "-gdwarf-4",
        "-gdwarf-5",
        "-g3",
        "-gdwarf-4 -fdebug-types-section",
        "-gdwarf-5 -fdebug-types-section",
        "-gdwarf-4 -gsplit-dwarf",
        "-gdwarf-5 -gsplit-dwarf",
        "-g -gz",
        "-g -O2 -flto",
    };
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        if (compile(*state, flags[i]))
            compare(*state, flags[i], "words");
        else if (i < 2)
            fail_msg("does not compile with %s", flags[i]);
        else
            print_message("not checked: %s\n", flags[i]);
    }
}

static void test_separate_files(void **state) {
    struct fixture *f = *state;

    assert_true(compile(f, "-g"));
    if (!succeeds("objcopy --version >output 2>&1"))
        leave_out("there is no objcopy");
    must("mkdir .debug && objcopy --only-keep-debug program .debug/p.debug &&"
         "objcopy -g --add-gnu-debuglink=.debug/p.debug program &&"
         "objcopy --only-keep-debug libpart.so libpart.debug &&"
         "objcopy -g --add-gnu-debuglink=libpart.debug libpart.so");
    compare(f, "debug link", "words");
    must("objcopy --remove-section=.note.gnu.build-id program &&"
         "objcopy --only-keep-debug --remove-section=.note.gnu.build-id "
         ".debug/p.debug");
    f->modules[0].build_id_bytes = 0;
    read_types(f);
    assert_non_null(missing(f)); /* another check sum */
    must("objcopy --remove-section=.gnu_debuglink program &&"
         "objcopy --add-gnu-debuglink=.debug/p.debug program");
    compare(f, "debug link with a check sum", "words");
}

static void test_shared_debug_information(void **state) {
    struct fixture *f = *state;

    if (!succeeds("dwz -v >output 2>&1"))
        leave_out("there is no dwz");
    assert_true(compile(f, "-g"));
    if (!succeeds("dwz program 2>output"))
        leave_out("dwz does not know what this compiler writes");
    compare(f, "dwz", "words");
    assert_true(compile(f, "-g"));
    must("cp program twin && dwz -m $PWD/both program twin 2>output");
    must("test -s both && sed -i '/\\.so/d' words");
    compare(f, "dwz -m", "words");
}

static void test_cxx(void **state) {
    static const char *const flags[] = {"-g",
                                        "-g -O2",
                                        "-gdwarf-4 -fdebug-types-section",
                                        "-gdwarf-5 -fdebug-types-section",
                                        "-gdwarf-4 -gsplit-dwarf",
                                        "-gdwarf-5 -gsplit-dwarf"};
    struct fixture *f = *state;

    unlink(f->library);
    if (!succeeds("$CXX --version >output 2>&1"))
        leave_out("there is no C++ compiler");
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        setenv("FLAGS", flags[i], 1);
        if (!succeeds("$CXX $FLAGS $SOURCE/tests/programs/types-zoo.cc "
                      "-Wl,--build-id -o program 2>output")) {
            print_message("not checked: %s\n", flags[i]);
            continue;
        }
        must("./program >words");
        profile(f, f->program);
        compare(f, flags[i], "words");
    }
}

/* Names in namespace std where the program has nothing of that size. */
static void test_standard_types_come_last(void **state) {
    struct fixture *f = *state;
    char text[4096];

    if (!succeeds("$CXX -g $SOURCE/tests/programs/types-zoo.cc "
                  "-Wl,--build-id -o program 2>output"))
        leave_out("there is no C++ compiler");
    profile(f, f->program);
    read_types(f);
    join(f, 320, text, sizeof text);
    assert_non_null(strstr(text, "std::_List_node<zoo::Animal"));
    /* Without the name some compilers leave the type to the library. */
    join(f, sizeof(char *) * 4, text, sizeof text);
    assert_true(strcmp(text, "zoo::Name") == 0 || strcmp(text, "") == 0);
}

/* One type of several compilation units has the best of its ranks. */
static void test_ranks(void **state) {
    struct fixture *f = *state;
    struct report__type_names names = {.pool = &f->pool};
    char name[] = "first";

    report__add_type(&names, "middle", 8, MPROF__SYSTEM_TYPE);
    report__add_type(&names, name, 8, MPROF__LIBRARY_STRUCTURE);
    report__add_type(&names, "first", 8, MPROF__OWN_STRUCTURE);
    report__add_type(&names, "first", 8, MPROF__LIBRARY_ARRAY);
    report__add_type(&names, "first", 4, MPROF__LIBRARY_ARRAY);
    name[0] = 'x';
    assert_int_equal(names.count, 3);
    assert_string_equal(names.list[0].name, "middle");
    assert_string_equal(names.list[1].name, "first");
    assert_int_equal(names.list[1].rank, MPROF__OWN_STRUCTURE);
    assert_int_equal(names.list[2].size, 4);
    assert_string_equal(names.list[2].name, "first");
}

static void test_sentences(void **state) {
    struct fixture *f = *state;
    char expected[320];

    assert_true(compile(f, "-g"));
    f->modules[0].build_id[0] ^= 1;
    read_types(f);
    snprintf(expected, sizeof expected,
             "no types: %s was changed since (build id differs)", f->program);
    assert_string_equal(missing(f), expected);
    f->modules[0].build_id[0] ^= 1;
    /* The library has its types all the same. */
    assert_names(f, sizeof(char[499]), "library_text");

    must("mv program moved && cp moved elsewhere");
    read_types(f);
    snprintf(expected, sizeof expected, "no types: %s is not there any more",
             f->program);
    assert_string_equal(missing(f), expected);
    f->types = report__types_read(&f->pool, &f->profile, "elsewhere", true);
    assert_null(missing(f));
    assert_names(f, 211, "nameless");

    must("$CC $SOURCE/tests/programs/types-shapes.c ./libpart.so -o program "
         "-Wl,--build-id -g0");
    profile(f, f->program);
    read_types(f);
    snprintf(expected, sizeof expected, "no types: %s has no debug information",
             f->program);
    assert_string_equal(missing(f), expected);
    if (!compile(f, "-gdwarf-5 -gsplit-dwarf"))
        return;
    must("rm *.dwo");
    read_types(f);
    assert_non_null(strstr(missing(f), ".dwo"));
}

/* What elfutils cannot read is named, or it reads it. */
static void test_compressed(void **state) {
    struct fixture *f = *state;

    assert_true(compile(f, "-g"));
    if (system("objcopy --compress-debug-sections=zstd program 2>/dev/null"))
        return; /* an older one */
    read_types(f);
    if (missing(f))
        assert_non_null(strstr(missing(f), "zstd"));
    else
        assert_names(f, 211, "nameless");
    if (!compile(f, "-gdwarf-5 -gsplit-dwarf") ||
        system("dwp -e program -o program.dwp >dwp.log 2>&1"))
        return;
    must("rm *.dwo");
    read_types(f);
    if (missing(f))
        assert_non_null(strstr(missing(f), "program.dwp"));
    else
        assert_names(f, 211, "nameless");
}

/* Anything may come of damage but a crash or an endless loop. */
static void test_damage(void **state) {
    struct fixture *f = *state;
    static unsigned char data[1 << 20];
    uint64_t random = 1;
    size_t size;
    FILE *file;

    assert_true(compile(f, "-g"));
    must("objcopy -j .debug_\\* -j .note.gnu.build-id libpart.so 2>output");
    file = fopen("program", "rb");
    assert_non_null(file);
    size = fread(data, 1, sizeof data, file);
    fclose(file);
    assert_true(size < sizeof data);
    alarm(60);
    for (int round = 0; round < 300; round++) {
        unsigned char *copy = malloc(size);
        memcpy(copy, data, size);
        for (int i = 0; i < 40; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            /* The first quarter is headers and code. */
            copy[size / 4 + (random >> 24) % (size - size / 4)] =
                (unsigned char)(random >> 56);
        }
        file = fopen("program", "wb");
        assert_non_null(file);
        assert_int_equal(fwrite(copy, 1, size, file), size);
        fclose(file);
        free(copy);
        read_types(f);
    }
    alarm(0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_types),
        cmocka_unit_test(test_kinds_of_debug_information),
        cmocka_unit_test(test_separate_files),
        cmocka_unit_test(test_shared_debug_information),
        cmocka_unit_test(test_cxx),
        cmocka_unit_test(test_standard_types_come_last),
        cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_sentences),
        cmocka_unit_test(test_compressed),
        cmocka_unit_test(test_damage),
    };
    return check_result(cmocka_run_group_tests(tests, set_up, tear_down));
}
