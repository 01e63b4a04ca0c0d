/* export.c - the command `mprof export`: call chains for other tools. */
#include "report/command/command.h"
#include "report/graph/inlining.h"

/* By the names of --metric */
static const enum report__number metrics[] = {
    MPROF_NUMBER_BYTES, MPROF_NUMBER_ALLOCS, MPROF_NUMBER_KEPT_BYTES,
    MPROF_NUMBER_PEAK_BYTES, MPROF_NUMBER_TEMPORARY};

bool report__check_export(struct report__call *call,
                          struct report__parse *parse) {
    struct report__options *o = &call->options;

    if (o->format == MPROF_NO_FORMAT)
        return report__refuse(parse,
                              "--format is missing; see: mprof export --help");
    return (o->format != MPROF_EXPORT_PPROF ||
            report__check_not_terminal(call, parse)) &&
           report__check_focus(call, parse);
}

/* What to write of which heap; *ERROR is a sentence if that is not there. */
static struct report__export_options
choose(struct report__call *call, const struct report__input *input,
       const struct report__profile *profile, const char **error) {
    const struct report__options *o = &call->options;
    struct report__export_options options = {
        .format = (enum report__export_format)o->format,
        .metric = metrics[o->metric],
        .no_lines = o->no_inlines,
        .rows = o->choice.rows,
        .sampling = {.all_frames = o->all_frames, .depth = o->depth}};
    const unsigned heaps = report__choose_heaps(call, input, profile, error);

    if (*error)
        return options;
    options.sampling.heap = report__choose_heap(call, input, heaps, error);
    if (!*error && options.sampling.heap == MPROF_LISP_HEAP &&
        options.metric >= MPROF_LISP_NUMBERS)
        *error = report__format(
            &call->pool, "%s: of Lisp's heap there are bytes and allocs only",
            input->data);
    return options;
}

int report__run_export(struct report__call *call, const char **error) {
    const struct report__options *o = &call->options;
    struct report__input input;
    struct report__focused focused;

    call->together.no_arguments = !o->arguments;
    const struct report__profile *profile =
        report__read_files(call, true, &input, error);
    if (!profile)
        return 1;
    const struct report__export_options options =
        choose(call, &input, profile, error);
    if (*error)
        return 1;
    struct report__functions *names =
        report__name_functions(&call->pool, profile, input.program);
    if (!options.no_lines)
        report__find_inlining(&call->pool, profile, names, true);
    if (report__is_focused(&o->focus)) {
        if (!report__focus(&call->pool, profile, names, &o->focus, &focused,
                           error))
            return 1;
        profile = focused.profile;
    }
    if (report__begin_output(call, error))
        report__export(call->output.stream, profile, names, &options,
                       &call->pool);
    return 0;
}
