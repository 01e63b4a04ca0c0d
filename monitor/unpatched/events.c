/* events.c - functions get names, libraries come and go; see unpatched.h. */
#include "monitor/unpatched/unpatched.h"

static void report_name(cl_object name, cl_object function) {
    const struct ecl_monitor *monitor = mprof__watching();
    if (__builtin_expect(monitor != NULL, 0))
        monitor->named(name, function);
}

MPROF__STANDS_BEFORE cl_object ecl_make_cfun(cl_objectfn_fixed code,
                                             cl_object name, cl_object block,
                                             int arguments) {
    cl_object function =
        MPROF__BEHIND(ecl_make_cfun)(code, name, block, arguments);
    report_name(name, function);
    return function;
}

MPROF__STANDS_BEFORE cl_object ecl_make_cfun_va(cl_objectfn code,
                                                cl_object name, cl_object block,
                                                int fixed) {
    cl_object function =
        MPROF__BEHIND(ecl_make_cfun_va)(code, name, block, fixed);
    report_name(name, function);
    return function;
}

/* Of si_fset(); see jump_x86_64.S.  A name is known a bit before it is one. */
void *mprof__setting_function(cl_narg count, cl_object name,
                              cl_object function) {
    if (count >= 2)
        report_name(name, function);
    return (void *)MPROF__BEHIND(si_fset);
}

/* A library may be open several times: the first and the last time count. */
static void report_library(cl_object block, int opened) {
    const struct ecl_monitor *monitor = mprof__watching();
    if (__builtin_expect(monitor != NULL, 0) && !ECL_IMMEDIATE(block) &&
        block->d.t == t_codeblock && block->cblock.handle != NULL &&
        block->cblock.refs == ecl_make_fixnum(1))
        monitor->loaded(block, opened);
}

MPROF__STANDS_BEFORE cl_object ecl_library_open(cl_object name, bool own_copy) {
    cl_object block = MPROF__BEHIND(ecl_library_open)(name, own_copy);
    report_library(block, 1);
    return block;
}

MPROF__STANDS_BEFORE bool ecl_library_close(cl_object block) {
    report_library(block, 0);
    return MPROF__BEHIND(ecl_library_close)(block);
}
