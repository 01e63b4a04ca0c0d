/* api.c - what the public functions do; see mprof.h, public.c. */
#include "monitor/api/functions.h"
#include "monitor/include/mprof.h"
#include "monitor/record/recording.h"
#include "monitor/record/scope.h"

const struct mprof__functions mprof__own_functions = {
    .start = mprof__recording_start,
    .set_heaps = mprof__recording_set_heaps,
    .stop = mprof__recording_stop,
    .restart = mprof__recording_restart,
    .set_autosave = mprof__recording_set_autosave,
    .reset = mprof__recording_reset,
    .save = mprof__recording_save,
    .status = mprof__recording_status,
    .set_limit = mprof__recording_set_limit,
    .set_warnings = mprof__recording_set_warnings,
    .heap = mprof__recording_heap,
    .watch = mprof__recording_watch,
    .resume = mprof__recording_resume,
    .mark = mprof__recording_mark,
    .scope_begin = mprof__recording_scope_begin,
    .scope_end = mprof__recording_scope_end,
    .scope_save = mprof__recording_scope_save,
    .scope_free = mprof__scope_free,
    .set_live = mprof__recording_set_live,
    .snapshot = mprof__recording_snapshot,
    .keepers = mprof__recording_keepers,
    .save_alive = mprof__recording_save_alive,
    .set_sampling = mprof__recording_set_sampling,
};

const char *mprof_strerror(int error) {
    static const char *const sentences[] = {
        [0] = "no error",
        [MPROF_E_UNPATCHED] =
            "this ECL has no hook for mprof; use the one that mprof's "
            "bootstrap builds, or see its runtime-patch/README",
        [MPROF_E_NOT_BOOTED] =
            "ECL is not running; call cl_boot() before mprof_start()",
        [MPROF_E_RUNNING] = "mprof is running already, into another data file",
        [MPROF_E_STOPPED] = "nothing has been recorded; start mprof first",
        [MPROF_E_OPEN] = "cannot create the data file",
        [MPROF_E_WRITE] = "cannot write the data file",
        [MPROF_E_MEMORY] = "no memory for mprof's tables",
        [MPROF_E_MALLOC] =
            "malloc() cannot be seen: run the program with `mprof run`, or "
            "link it with -lmprof_malloc",
        [MPROF_E_ARGUMENT] =
            "wrong argument: NULL, or a value that this function does not take",
        [MPROF_E_ALIVE] =
            "the collector of this program does not report live objects",
        [MPROF_E_SAMPLED] =
            "the recording is a sample: its numbers are estimates"};
    return (unsigned)error < sizeof sentences / sizeof *sentences
               ? sentences[error]
               : "unknown error";
}

const char *mprof_version(void) {
    return MPROF_PACKAGE_VERSION;
}
