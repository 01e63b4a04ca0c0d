/* stats.c - the command `mprof stats`: the load of processes on the C heap. */
#include "report/tables/stats.h"

#include "report/command/command.h"

int report__run_stats(struct report__call *call, const char **error) {
    static const char *by_default[] = {"mprof.data"};
    const struct report__options *o = &call->options;
    struct report__loads loads;

    if (o->file_count == 0 && !report__has_default_data(error))
        return 1;
    if (report__find_loads(&loads, o->file_count ? o->files : by_default,
                           o->file_count ? (uint32_t)o->file_count : 1,
                           call->err, &call->pool, error) &&
        report__begin_output(call, error))
        report__print_loads(call->output.stream, &loads,
                            o->format == MPROF_STATS_PLAIN);
    return 0;
}
