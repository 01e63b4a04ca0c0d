/* export.c - the command `mprof export`: call chains for other tools. */
#include "report/command/command.h"
#include "report/graph/inlining.h"

bool report__check_export(struct report__call *call) {
    struct report__options *o = &call->options;

    if (o->format == MPROF_NO_FORMAT)
        return report__refuse(call,
                              "--format is missing; see: mprof export --help");
    return (o->format != MPROF_EXPORT_PPROF ||
            report__check_not_terminal(call)) &&
           report__check_focus(call);
}

int report__run_export(struct report__call *call) {
    /* By the names of --metric */
    static const enum report__number metrics[] = {
        MPROF_NUMBER_BYTES, MPROF_NUMBER_ALLOCS, MPROF_NUMBER_KEPT_BYTES,
        MPROF_NUMBER_PEAK_BYTES, MPROF_NUMBER_TEMPORARY};
    const struct report__options *o = &call->options;
    struct report__focused focused;
    struct report__export_options options = {
        .format = (enum report__export_format)o->format,
        .metric = metrics[o->metric],
        .no_lines = o->no_inlines,
        .rows = o->choice.rows,
        .sampling = {
            .all_frames = o->all_frames, .depth = o->depth, .tid = o->thread}};

    if (!report__read_files(call, !o->arguments))
        return 1;
    options.sampling.heap = report__choose_heap(call);
    if (!call->error && options.sampling.heap == MPROF_LISP_HEAP &&
        options.metric >= MPROF_LISP_NUMBERS)
        call->error = report__format(
            &call->pool, "%s: of Lisp's heap there are bytes and allocs only",
            call->input.data);
    if (call->error)
        return 1;
    struct report__functions *names =
        report__name_functions(&call->pool, call->profile, call->input.program);
    if (!options.no_lines)
        report__find_inlining(&call->pool, call->profile, names, true);
    if (report__focus(&call->pool, call->profile, names, &o->focus, &focused,
                      &call->error) &&
        report__begin_output(call))
        report__export(call->output.stream, focused.profile, names, NULL,
                       &options, &call->pool);
    return call->error != NULL;
}
