/* Names of all characters there are, through all that is printed: nothing but
 * what can be seen, and line breaks, comes out. */
#include "tests/support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/base/utf8.h"
#include "tests/support/golden.h"

static const char data_name[] = "hidden.data";
static char name[4096];
static size_t length;

/* Append the character CODE as UTF-8. */
static void append(uint32_t code) {
    char *to = name + length;
    if (code < 0x80) {
        to[0] = (char)code;
        length += 1;
    } else if (code < 0x800) {
        to[0] = (char)(0xc0 | code >> 6);
        to[1] = (char)(0x80 | (code & 0x3f));
        length += 2;
    } else {
        to[0] = (char)(0xe0 | code >> 12);
        to[1] = (char)(0x80 | (code >> 6 & 0x3f));
        to[2] = (char)(0x80 | (code & 0x3f));
        length += 3;
    }
}

/* All controls, what changes the direction of text or breaks lines, bytes that
 * are no characters; and an umlaut, which is to stay. */
static void make_name(void) {
    static const uint32_t formats[] = {0xad,   0x61c,  0x200b, 0x200e,
                                       0x200f, 0x2028, 0x2029, 0xfeff};
    static const char overlong[] = "\xc0\x9b\xe0\x80\x9b\xf5\x80\x80\x80\xc2";
    length = 0;
    append('<');
    for (uint32_t code = 1; code < 0xa0; code++)
        if (code < ' ' || code >= 0x7f)
            append(code);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        append(formats[i]);
    for (uint32_t code = 0x202a; code <= 0x2069; code++)
        if (code <= 0x202e || code >= 0x2066)
            append(code);
    for (int byte = 0x80; byte < 0x100; byte++)
        name[length++] = (char)byte;
    memcpy(name + length, overlong, sizeof overlong - 1);
    length += sizeof overlong - 1;
    append(0xe4);
    append('>');
    name[length] = '\0';
}

/* FORMAT with the name in it. */
static const char *with_name(const char *format) {
    static char text[8][2 * sizeof name];
    static int next;
    next = (next + 1) % 8;
    snprintf(text[next], sizeof text[next], format, name);
    return text[next];
}

static void make_file(struct datafile *d, bool c_heap) {
    datafile_start(d);
    mprof_ref thread =
        c_heap ? datafile_c_thread(d, 1, name) : datafile_thread(d, 1, name);
    mprof_ref module = datafile_module(d, with_name("/nowhere/%s.so"), "id", 2);
    char mangled[2 * sizeof name];
    snprintf(mangled, sizeof mangled, "_Z%zu%sv", strlen(name), name);
    const mprof_ref functions[] = {
        datafile_lisp(d, name),
        datafile_function(d, MPROF_LISP, module, 16, "(LAMBDA)", name),
        datafile_function(d, MPROF_C, module, 32, NULL, name),
        datafile_function(d, MPROF_C, module, 48, NULL, mangled),
        datafile_function(d, MPROF_C, module, 64, NULL, NULL),
        datafile_function(d, MPROF_INTERPRETED, 0, 80, name, name),
        datafile_function(d, MPROF_ENTRY, module, 96, name, name)};
    mprof_ref node = datafile_node(d, thread, 0, 0);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        node = datafile_node(d, thread, node, functions[i]);
        if (c_heap)
            datafile_objects(d, node, 10, 2, 1);
        else
            datafile_count(d, node, MPROF_OTHER, 1, 10);
    }
    if (!c_heap)
        datafile_bin(d, thread, MPROF_OTHER, name, name,
                     (struct mprof_count){7, 70}, (struct mprof_count){0, 0});
    mprof_ref program = datafile_string(d, with_name("/nowhere/%s"));
    mprof_ref command = datafile_string(d, name);
    mprof_ref runtime = datafile_string(d, name);
    datafile_header(d)->program = program;
    datafile_header(d)->command = command;
    datafile_header(d)->runtime = runtime;
    datafile_close(d);
}

static void check_text(const char *text) {
    size_t left = strlen(text), n;
    for (const char *at = text; left > 0; at += n, left -= n) {
        uint32_t code;
        n = report__utf8(at, left, &code);
        if (n == 0 || (code != '\n' && !report__is_visible(code))) {
            print_error("byte %#x in: %.60s\n", (unsigned char)*at, at);
            fail();
        }
    }
}

static void nothing_hidden_is_printed(void **state) {
    static const char *const arguments[][3] = {
        {"--verbose"},
        {"--verbose", "--all-frames"},
        {"--verbose", "--threads"},
        {"--verbose", "--offsets", "--inlines"},
        {"--sexp"}};
    (void)state;
    make_name();
    for (int heap = 0; heap < 2; heap++) {
        struct datafile d;
        make_file(&d, heap == 1);
        golden_save(&d, data_name);
        datafile_free(&d);
        for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++) {
            const char *all[5] = {data_name};
            for (int k = 0; k < 3 && arguments[i][k]; k++) {
                all[k + 1] = all[k];
                all[k] = arguments[i][k];
            }
            char *out, *err;
            assert_int_equal(golden_run(all, &out, &err), 0);
            assert_non_null(strstr(out, "\xc3\xa4>"));
            assert_non_null(strstr(out, "<?") ? strstr(out, "<?")
                                              : strstr(out, "\\\\x{1b}"));
            check_text(out);
            check_text(err);
            free(out);
            free(err);
        }
    }
    unlink(data_name);
}

static void characters_are_what_they_are(void **state) {
    static const struct {
        const char *text;
        size_t bytes;
        uint32_t code;
    } cases[] = {{"a", 1, 'a'},
                 {"\xc3\xa4", 2, 0xe4},
                 {"\xe2\x82\xac", 3, 0x20ac},
                 {"\xf0\x9f\x98\x80", 4, 0x1f600},
                 {"\xc2", 0, 0},
                 {"\xc0\x80", 0, 0},
                 {"\xed\xa0\x80", 0, 0},
                 {"\xf4\x90\x80\x80", 0, 0},
                 {"", 0, 0},
                 {"\xe0\x9f\xbf", 0, 0},
                 {"\xf0\x8f\xbf\xbf", 0, 0},
                 {"\x80", 0, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t code = 0;
        assert_int_equal(
            report__utf8(cases[i].text, strlen(cases[i].text), &code),
            cases[i].bytes);
        if (cases[i].bytes > 0)
            assert_int_equal(code, cases[i].code);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_hidden_is_printed),
        cmocka_unit_test(characters_are_what_they_are),
    };
    return check_result(cmocka_run_group_tests(tests, NULL, NULL));
}
