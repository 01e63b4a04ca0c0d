/* api.c - what the public functions do; see mprof.h, public.c. */
#include "monitor/api/functions.h"
#include "monitor/include/mprof.h"
#include "monitor/record/recording.h"

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
    .scope_free = mprof__recording_scope_free,
    .set_live = mprof__recording_set_live,
    .snapshot = mprof__recording_snapshot,
    .save_alive = mprof__recording_save_alive,
    .set_sampling = mprof__recording_set_sampling,
};

const char *mprof_strerror(int error) {
    switch (error) {
    case 0:
        return "no error";
    case MPROF_E_UNPATCHED:
        return "this ECL has no hook for mprof; use the one that mprof's "
               "bootstrap builds, or see its runtime-patch/README";
    case MPROF_E_NOT_BOOTED:
        return "ECL is not running; call cl_boot() before mprof_start()";
    case MPROF_E_RUNNING:
        return "mprof is running already, into another data file";
    case MPROF_E_STOPPED:
        return "nothing has been recorded; start mprof first";
    case MPROF_E_OPEN:
        return "cannot create the data file";
    case MPROF_E_WRITE:
        return "cannot write the data file";
    case MPROF_E_MEMORY:
        return "no memory for mprof's tables";
    case MPROF_E_MALLOC:
        return "malloc() cannot be seen: run the program with `mprof run`, or "
               "link it with -lmprof_malloc";
    case MPROF_E_ARGUMENT:
        return "wrong argument: NULL, or a value that this function does not "
               "take";
    case MPROF_E_ALIVE:
        return "the collector of this program does not report live objects";
    case MPROF_E_SAMPLED:
        return "the recording is a sample: its numbers are estimates";
    default:
        return "unknown error";
    }
}

const char *mprof_version(void) {
    return MPROF_PACKAGE_VERSION;
}
