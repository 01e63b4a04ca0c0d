/* runtime_names.c - see runtime_names.h. */
#include "monitor/format/runtime_names.h"

#include <stddef.h>
#include <string.h>

#include "monitor/format/paths.h"
#include "monitor/format/plumbing.h"

/* Its functions call each other for all forms within forms. */
#define COMPILER "<bytecodes compiler>"

/* Lisp functions by functions of libecl.  A star matches any ending, and the
 * first match counts; sorted by the Lisp function.  Only functions that do the
 * work of one Lisp function are here. */
static const struct {
    const char *symbol, *name;
} lisp_functions[] = {
    /* numbers */
    {"_ecl_big_times_*", "CL:*"},
    {"_ecl_fix_times_fix", "CL:*"},
    {"ecl_times", "CL:*"},
    {"_ecl_big_plus_*", "CL:+"},
    {"ecl_plus", "CL:+"},
    {"_ecl_big_minus_*", "CL:-"},
    {"_ecl_big_negate", "CL:-"},
    {"_ecl_fix_minus_big", "CL:-"},
    {"ecl_minus", "CL:-"},
    {"ecl_negate*", "CL:-"},
    {"ecl_divide", "CL:/"},
    {"ecl_make_ratio", "CL:/"},
    {"ecl_one_plus*", "CL:1+"},
    {"ecl_one_minus*", "CL:1-"},
    {"ecl_abs*", "CL:ABS"},
    {"ecl_ash", "CL:ASH"},
    {"ecl_ceiling1", "CL:CEILING"},
    {"ecl_ceiling2", "CL:CEILING"},
    {"ecl_exp", "CL:EXP"},
    {"ecl_expt*", "CL:EXPT"},
    {"_ecl_big_floor", "CL:FLOOR"},
    {"ecl_floor1", "CL:FLOOR"},
    {"ecl_floor2", "CL:FLOOR"},
    {"_ecl_big_gcd", "CL:GCD"},
    {"ecl_gcd", "CL:GCD"},
    {"ecl_log1*", "CL:LOG"},
    {"ecl_log2", "CL:LOG"},
    {"ecl_make_random_state", "CL:MAKE-RANDOM-STATE"},
    {"rando", "CL:RANDOM"},
    {"random_integer", "CL:RANDOM"},
    {"ecl_round1", "CL:ROUND"},
    {"ecl_round2", "CL:ROUND"},
    {"ecl_sqrt*", "CL:SQRT"},
    {"_ecl_big_divided_by_*", "CL:TRUNCATE"},
    {"ecl_integer_divide", "CL:TRUNCATE"},
    {"ecl_truncate1", "CL:TRUNCATE"},
    {"ecl_truncate2", "CL:TRUNCATE"},
    /* lists, sequences, hash tables */
    {"append_into", "CL:APPEND"},
    {"ecl_append", "CL:APPEND"},
    {"ecl_butlast", "CL:BUTLAST"},
    {"ecl_copy_seq", "CL:COPY-SEQ"},
    {"do_copy_tree", "CL:COPY-TREE"},
    {"cl__make_hash_table", "CL:MAKE-HASH-TABLE"},
    {"do_make_base_string", "CL:MAKE-STRING"},
    {"do_make_string", "CL:MAKE-STRING"},
    {"sublis", "CL:SUBLIS"},
    {"ecl_subseq", "CL:SUBSEQ"},
    {"subst", "CL:SUBST"},
    {"ecl_string_push_extend", "CL:VECTOR-PUSH-EXTEND"},
    {"extend_vector", "CL:VECTOR-PUSH-EXTEND"},
    /* called by (SETF GETHASH) */
    {"_ecl_sethash*", "SI:HASH-SET"},
    {"ecl_extend_hashtable", "SI:HASH-SET"},
    {"ecl_sethash", "SI:HASH-SET"},
    /* symbols and packages */
    {"cl_export2", "CL:EXPORT"},
    {"cl_import2", "CL:IMPORT"},
    {"ecl_intern", "CL:INTERN"},
    {"ecl_make_package", "CL:MAKE-PACKAGE"},
    {"ecl_rename_package", "CL:RENAME-PACKAGE"},
    {"ecl_shadow", "CL:SHADOW"},
    {"ecl_shadowing_import", "CL:SHADOWING-IMPORT"},
    {"cl_unexport2", "CL:UNEXPORT"},
    {"ecl_unuse_package", "CL:UNUSE-PACKAGE"},
    {"ecl_use_package", "CL:USE-PACKAGE"},
    /* reader and printer */
    {"ecl_copy_readtable", "CL:COPY-READTABLE"},
    {"ecl_prin1", "CL:PRIN1"},
    {"ecl_princ", "CL:PRINC"},
    {"ecl_print", "CL:PRINT"},
    {"backquote_reader", "CL:READ"},
    {"comma_reader", "CL:READ"},
    {"dispatch_macro_character", "CL:READ"},
    {"dispatch_reader_fun", "CL:READ"},
    {"do_read_delimited_list", "CL:READ"},
    {"double_quote_reader", "CL:READ"},
    {"ecl_read_object*", "CL:READ"},
    {"left_parenthesis_reader", "CL:READ"},
    {"read_constituent", "CL:READ"},
    {"read_string_into_buffer", "CL:READ"},
    {"sharp_*", "CL:READ"},
    {"single_quote_reader", "CL:READ"},
    /* streams and files */
    {"dir_files", "CL:DIRECTORY"},
    {"dir_recursive", "CL:DIRECTORY"},
    {"list_directory", "CL:DIRECTORY"},
    {"ecl_make_pathname", "CL:MAKE-PATHNAME"},
    {"ecl_make_string_input_stream", "CL:MAKE-STRING-INPUT-STREAM"},
    {"ecl_make_string_output_stream", "CL:MAKE-STRING-OUTPUT-STREAM"},
    {"ecl_merge_pathnames", "CL:MERGE-PATHNAMES"},
    {"ecl_namestring", "CL:NAMESTRING"},
    {"ecl_open_stream", "CL:OPEN"},
    {"ecl_parse_namestring", "CL:PARSE-NAMESTRING"},
    {"parse_directories", "CL:PARSE-NAMESTRING"},
    {"ecl_peek_char", "CL:PEEK-CHAR"},
    {"ecl_terpri", "CL:TERPRI"},
    {"file_truename", "CL:TRUENAME"},
    {"ecl_unread_char", "CL:UNREAD-CHAR"},
    {"eformat_unread_char", "CL:UNREAD-CHAR"},
    {"ecl_homedir_pathname", "CL:USER-HOMEDIR-PATHNAME"},
    {"ecl_write_char", "CL:WRITE-CHAR"},
    /* EVAL and LOAD of source; functions between them are plumbing */
    {"add_load_form", COMPILER},
    {"asm_*", COMPILER},
    {"c_*", COMPILER},
    {"close_around_macros", COMPILER},
    {"compile_*", COMPILER},
    {"create_macro_lexenv", COMPILER},
    {"ecl_make_lambda", COMPILER},
    {"fix_macro_to_lexenv", COMPILER},
    {"guess_compiler_environment", COMPILER},
    {"import_cmpenv", COMPILER},
    {"import_lexenv", COMPILER},
    {"maybe_make_load_forms", COMPILER},
    {"perform_c_case", COMPILER},
    {"restore_bytecodes", COMPILER},
    {"save_bytecodes", COMPILER},
};

static bool matches(const char *symbol, const char *pattern) {
    size_t length = strlen(pattern) - 1;
    return pattern[length] == '*' ? strncmp(symbol, pattern, length) == 0
                                  : strcmp(symbol, pattern) == 0;
}

const char *mprof__lisp_function(const char *symbol, const char *module) {
    static const char library[] = "libecl.";

    if (strncmp(mprof__base_name(module), library, sizeof library - 1) != 0 ||
        mprof__is_plumbing(NULL, symbol, module))
        return NULL;
    for (size_t i = 0; i < sizeof lisp_functions / sizeof *lisp_functions; i++)
        if (matches(symbol, lisp_functions[i].symbol))
            return lisp_functions[i].name;
    return NULL;
}

/* A file has _eclHASH_TIME, both in letters and digits, and what is built of
 * several has one more: init_fas_CODE, init_lib_NAME and the like. */
bool mprof__loads_file(const char *symbol) {
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "abcdefghijklmnopqrstuvwxyz";
    static const char *const whole[] = {"init_dll_*", "init_ECL_PROGRAM",
                                        "init_fas_*", "init_lib_*"};
    static const char one[] = "_ecl";
    size_t hash, time;

    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (matches(symbol, whole[i]))
            return true;
    if (strncmp(symbol, one, sizeof one - 1) != 0)
        return false;
    symbol += sizeof one - 1;
    hash = strspn(symbol, digits);
    if (hash == 0 || symbol[hash] != '_')
        return false;
    symbol += hash + 1;
    time = strspn(symbol, digits);
    /* Milliseconds of this age have eight digits. */
    return time >= 8 && symbol[time] == '\0';
}

bool mprof__is_passing(const char *file) {
    return strncmp(file, "ecl", 3) == 0 &&
           strspn(file + 3, "0123456789") >= 3 &&
           strlen(file) == strlen("ecl000XXXXXX.fas");
}
