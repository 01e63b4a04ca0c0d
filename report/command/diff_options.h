/* diff_options.h - what `mprof diff` is asked for. */
#ifndef REPORT_COMMAND_DIFF_OPTIONS_H
#define REPORT_COMMAND_DIFF_OPTIONS_H

#include "report/command/command.h"
#include "report/tables/diff.h"

enum report__diff_format { MPROF_DIFF_TEXT, MPROF_DIFF_PPROF, MPROF_DIFF_HTML };

enum report__normalizing {
    MPROF_AS_IT_IS,
    MPROF_BY_BYTES,
    MPROF_BY_ALLOCS,
    MPROF_BY_FACTOR
};

/* Growth is too much when it is more than both. */
struct report__growth_limit {
    bool is_set;
    struct report__factor share; /* of what OLD has */
    uint64_t bytes;
};

struct report__diff_arguments {
    struct report__options common; /* what report__set_heap() and others set */
    enum report__diff_format format;
    enum report__diff_by by;
    bool no_inlines;
    enum report__normalizing normalizing;
    struct report__factor factor;
    struct report__growth_limit limit;
    struct report__input inputs[MPROF_SIDES];
};

/* Take them from ARGV, which begins with "diff"; OUT is where it is printed
 * without --output.  False after a line on ERR. */
bool report__parse_diff(int argc, char **argv, FILE *out, FILE *err,
                        struct report__diff_arguments *arguments);
void report__diff_help(FILE *out);

/* The last part of --fail-on-growth: a line on ERR, and true, when FUNCTIONS,
 * of HEAP, grew by more than LIMIT; EACH: also one of them itself. */
bool report__check_growth(const struct report__growth_limit *limit,
                          const struct report__diff *functions, bool each,
                          enum mprof_heap heap, FILE *err);

#endif
