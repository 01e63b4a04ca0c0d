/* stats.c - the command `mprof stats`: the load of processes on the C heap. */
#include "report/tables/stats.h"

#include "report/command/command.h"

int report__run_stats(struct report__call *call) {
    static const char *by_default[] = {"mprof.data"};
    const struct report__options *o = &call->options;
    const bool is_given = o->file_count > 0;
    struct report__loads loads;

    if ((is_given || report__has_default_data(call)) &&
        report__find_loads(&loads, is_given ? o->files : by_default,
                           is_given ? (uint32_t)o->file_count : 1, &call->pool,
                           &call->error) &&
        report__begin_output(call))
        report__print_loads(call->output.stream, &loads,
                            o->format == MPROF_STATS_PLAIN);
    return 0;
}
