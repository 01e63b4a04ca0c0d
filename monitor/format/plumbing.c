/* plumbing.c - functions that the tables hide unless asked.
 *
 * The runtime's allocators, its interpreter and its dispatch come between a
 * function and its callee, and would be the most frequent names of every table.
 * They are known by name, and C functions by their module too: a program's own
 * function of such a name is never left out.
 */
#include "monitor/format/plumbing.h"

#include <ctype.h>
#include <string.h>

#include "monitor/format/naming.h"
#include "monitor/format/paths.h"

/* Names of functions in libecl; a star matches any ending. */
static const char *const ecl_functions[] = {
    /* allocators, and what only puts a value into a new object */
    "_ecl_monitor_allocation", "monitor_object", "alloc_elements",
    "alloc_pointerfull_memory", "alloc_package", "alloc_process",
    "alloc_stream", "allocate_object_*", "duplicate_dispatch_table",
    "ecl_duplicate_dispatch_table", "_ecl_alloc_*", "_ecl_big_copy",
    "_ecl_big_register_copy", "_ecl_big_register_normalize",
    "cl_grab_rest_args", "ecl_alloc", "ecl_alloc_*", "ecl_allocate_*",
    "ecl_array_allocself", "ecl_close_around", "ecl_cons", "ecl_list1",
    "ecl_make_cclosure_va", "ecl_make_cdfloat", "ecl_make_cfun",
    "ecl_make_cfun_va", "ecl_make_clfloat", "ecl_make_csfloat",
    "ecl_make_double_float", "ecl_make_integer", "ecl_make_long_float",
    "ecl_make_single_float", "ecl_make_unsigned_integer", "mp_alloc",
    "mp_realloc", "si_allocate_raw_instance", "si_make_pure_array",
    "si_make_structure", "si_make_vector",
    /* the interpreter */
    "_ecl_bclosure_dispatch_vararg", "_ecl_bytecodes_dispatch_vararg",
    "cl_eval", "eval_form", "eval_nontrivial_form", "ecl_interpret",
    "si_eval_with_env", "si_safe_eval",
    /* where the compiler to bytecodes tells forms apart: through these leads
     * what is executed form by form, as in a PROGN that is loaded */
    "c_compiler_let", "c_eval_when", "c_locally", "c_macrolet",
    "c_symbol_macrolet", "c_with_backend", "compile_each_form", "compile_form",
    "compile_toplevel_body", "compile_with_load_time_forms",
    "execute_each_form",
    /* dispatch and calls */
    "APPLY", "APPLY_fixed", "_ecl_standard_dispatch", "cl_apply", "cl_funcall",
    "ecl_apply_from_stack_frame", "ecl_function_dispatch",
    "ecl_slot_reader_dispatch", "ecl_slot_writer_dispatch", "fixed_dispatch*",
    "generic_function_dispatch_vararg", "user_function_dispatch",
    /* the way into an error */
    "FEnot_funcallable_*", "FEwrong_*",
    /* the printer's dispatch, for each object within another once more */
    "si_pprint_logical_block_helper", "si_write_object",
    "si_write_object_with_circle",
    /* the reader's buffers, and where it puts what #1# stands for */
    "do_patch_sharp", "patch_sharp", "si_get_buffer_string",
    "si_put_buffer_string",
    /* LOAD, and where threads start */
    "cl_load", "ecl_init_module", "si_load_binary", "si_load_bytecodes",
    "si_load_source", "thread_entry_point", NULL};

/* In the C library; all of the loader is left out. */
static const char *const start_functions[] = {
    "__clone*", "__libc_start_*", "_dl_*", "_dlerror_run", "call_init",
    "clone",    "clone3",         "dl*",   "start_thread", NULL};
static const char *const loading_functions[] = {"dlclose", "dlmopen", "dlopen",
                                                "dlsym",   "dlvsym",  NULL};

/* operator new and new[], plain, nothrow and aligned, in the C++ library: what
 * they allocate is their caller's. */
static const char *const new_functions[] = {"_Znwm*", "_Znam*", NULL};

/* Functions written in Lisp and their C names within libecl. */
static const char *const cl_functions[] = {"APPLY", "EVAL", "FUNCALL", "LOAD",
                                           NULL};
static const char *const si_functions[] = {"ALLOCATE-RAW-INSTANCE",
                                           "APPLY-FROM-STACK-FRAME",
                                           "EVAL-WITH-ENV",
                                           "LOAD-*",
                                           "MAKE-PURE-ARRAY",
                                           "MAKE-STRUCTURE",
                                           "MAKE-VECTOR",
                                           "PPRINT-LOGICAL-BLOCK-HELPER",
                                           "PROCESS-COMMAND-ARGS",
                                           "SAFE-EVAL",
                                           "TOP-LEVEL",
                                           "TPL*",
                                           "WRITE-OBJECT",
                                           "WRITE-OBJECT-WITH-CIRCLE",
                                           NULL};
static const char *const local_functions[] = {"do_pprint_logical_block",
                                              "load",
                                              "pprint_logical_block_helper",
                                              "process_command_args",
                                              "safe_eval",
                                              "top_level",
                                              "tpl*",
                                              NULL};

static bool matches(const char *name, size_t length, const char *pattern) {
    size_t n = strlen(pattern);
    if (pattern[n - 1] == '*')
        return length >= n - 1 && strncmp(name, pattern, n - 1) == 0;
    return length == n && strncmp(name, pattern, n) == 0;
}

static bool listed(const char *name, size_t length, const char *const *list) {
    for (; *list; list++)
        if (matches(name, length, *list))
            return true;
    return false;
}

static bool starts(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

/* NAME is a symbol with its package, as Lisp prints it. */
static bool is_plumbing_symbol(const char *name, size_t length) {
    static const char *const cl[] = {"CL", "COMMON-LISP", "LISP", NULL};
    static const char *const si[] = {"SI", "SYSTEM", "EXT", NULL};
    const char *colon = memchr(name, ':', length);
    if (!colon)
        return false;
    size_t package = (size_t)(colon - name);
    const char *symbol = colon[1] == ':' ? colon + 2 : colon + 1;
    size_t left = length - (size_t)(symbol - name);

    if (matches(name, package, "MPROF"))
        return true;
    if (listed(name, package, cl))
        return listed(symbol, left, cl_functions);
    return listed(name, package, si) && listed(symbol, left, si_functions);
}

/* The functions of ECL whose closures lead from a generic function to its
 * methods, and from a logical block of the pretty printer to what prints it. */
static const char *const leading_owners[] = {
    "COMBINE-METHOD-FUNCTIONS",          "DO-PPRINT-LOGICAL-BLOCK",
    "STANDARD-COMPUTE-EFFECTIVE-METHOD", "STANDARD-MAIN-EFFECTIVE-METHOD",
    "WRAPPED-METHOD-FUNCTION",           NULL};

/* The bodies of WITH-PROFILING and of PPRINT-LOGICAL-BLOCK, which has a number,
 * belong to their callers. */
static bool is_body(const char *name) {
    static const char *const kinds[] = {"(FLET ", "(LABELS ", "(LOCAL "};
    static const char *const packages[] = {"MPROF::", "MPROF--", "#:", "--"};
    static const char body[] = "MPROF-BODY", block[] = "PPRINT-LOGICAL-BLOCK-";
    const char *own = NULL;
    for (size_t i = 0; own == NULL && i < sizeof kinds / sizeof *kinds; i++)
        if (starts(name, kinds[i]))
            own = name + strlen(kinds[i]);
    if (own == NULL)
        return false;
    for (size_t i = 0; i < sizeof packages / sizeof *packages; i++)
        if (starts(own, packages[i])) {
            own += strlen(packages[i]);
            break;
        }
    if (starts(own, block)) {
        own += sizeof block - 1;
        return isdigit((unsigned char)*own) &&
               strchr(" )", own[strspn(own, "0123456789")]);
    }
    return starts(own, body) && strchr(" )", own[sizeof body - 1]);
}

/* Local functions belong where they are written: "(FLET X :IN Y)". */
static bool is_plumbing_lisp(const char *name, const char *file) {
    static const char in[] = ":IN ", clos[] = "CLOS::", unknown[] = "#:";
    const char *owner = name[0] == '(' ? strstr(name, in) : NULL;

    if (name[0] != '(')
        return is_plumbing_symbol(name, strlen(name));
    if (is_body(name))
        return true;
    /* Functions of FORMAT's directives, of initforms and the like. */
    if (!owner)
        return starts(file, "libecl.") && mprof__is_anonymous(name);
    owner += sizeof in - 1;
    size_t length = strcspn(owner, ")");
    if (is_plumbing_symbol(owner, length))
        return true;
    if (!starts(file, "libecl."))
        return false;
    size_t package = starts(owner, clos)      ? sizeof clos - 1
                     : starts(owner, unknown) ? sizeof unknown - 1
                                              : 0;
    return listed(owner + package, length - package, leading_owners);
}

/* ECL's compiler calls the function TPL L9tpl, and one within it
 * LC19rep__flet_in__tpl. */
static bool is_plumbing_local(const char *symbol) {
    static const char in[] = "_in__";
    const char *rest = symbol + 1, *owner;

    if (symbol[0] != 'L')
        return false;
    rest += *rest == 'C';
    if (!isdigit((unsigned char)*rest))
        return false;
    while (isdigit((unsigned char)*rest))
        rest++;
    while ((owner = strstr(rest, in)))
        rest = owner + sizeof in - 1;
    return listed(rest, strlen(rest), local_functions);
}

static bool is_libc(const char *file) {
    return starts(file, "libc.so") || starts(file, "libc-") ||
           starts(file, "libpthread");
}

bool mprof__is_loading(const char *symbol, const char *module) {
    return symbol && is_libc(mprof__base_name(module)) &&
           listed(symbol, strlen(symbol), loading_functions);
}

static bool is_cxx_library(const char *file) {
    return starts(file, "libstdc++.so") || starts(file, "libc++");
}

/* The buffers of streams; and the memory for exceptions when there is no other,
 * which a constructor of libstdc++ allocates: Debian's has no name for it. */
enum mprof__held mprof__held_by_runtime(const char *symbol,
                                        const char *module) {
    const char *file = mprof__base_name(module);
    if (symbol && is_libc(file) && strcmp(symbol, "_IO_file_doallocate") == 0)
        return MPROF__STREAM_BUFFERS;
    if (is_cxx_library(file) &&
        (!symbol || starts(symbol, "_GLOBAL__sub_I__ZN9__gnu_cxx9__freeres")))
        return MPROF__EXCEPTION_POOL;
    return MPROF__NOT_HELD;
}

bool mprof__has_plumbing(const char *module) {
    const char *file = mprof__base_name(module);
    return starts(file, "libecl.") || is_libc(file) || is_cxx_library(file);
}

/* In a program that is linked with libmprof_malloc and was run by mprof run,
 * this malloc() calls the one that is recorded. */
static const char *const malloc_functions[] = {
    "aligned_alloc", "calloc",       "malloc",  "memalign", "posix_memalign",
    "pvalloc",       "reallocarray", "realloc", "valloc",   NULL};

/* SYMBOL is NULL in a file without symbols. */
static bool is_plumbing_c(const char *symbol, const char *file) {
    if (symbol && listed(symbol, strlen(symbol), malloc_functions))
        return true;
    if (starts(file, "libgc.so") || starts(file, "libmprof") ||
        starts(file, "mprof.fas") || strcmp(file, "ecl") == 0 ||
        starts(file, "ld-") || starts(file, "ld.so"))
        return true;
    if (is_libc(file))
        return !symbol || (listed(symbol, strlen(symbol), start_functions) &&
                           !mprof__is_loading(symbol, file));
    /* Nameless functions of a distribution's ECL, which is stripped, may be any
     * of the above. */
    if (!symbol)
        return starts(file, "libecl.");
    /* A program that is linked statically starts itself. */
    if (strcmp(symbol, "_start") == 0 || starts(symbol, "__libc_start_"))
        return true;
    if (is_cxx_library(file))
        return listed(symbol, strlen(symbol), new_functions);
    if (starts(file, "libecl."))
        return starts(symbol, "GC_") || is_plumbing_local(symbol) ||
               listed(symbol, strlen(symbol), ecl_functions);
    return false;
}

bool mprof__is_plumbing(const char *lisp_name, const char *symbol,
                        const char *module) {
    if (lisp_name && is_plumbing_lisp(lisp_name, mprof__base_name(module)))
        return true;
    if (lisp_name && !symbol)
        return false;
    return is_plumbing_c(symbol, mprof__base_name(module));
}
