/* run_options.c - see run_options.h. */
#include "report/command/run_options.h"

#include <string.h>

#include "monitor/format/bytes.h"
#include "report/command/option.h"

typedef struct report__run_options run_options;
REPORT__TAKES(set_data, run_options, data)
REPORT__TAKES(set_limit, run_options, limit)
REPORT__TAKES(set_log, run_options, log)
REPORT__TAKES(set_html, run_options, html)
REPORT__SETS(leave_children, run_options, children, false)
REPORT__SETS(want_summary, run_options, summary, true)
REPORT__SETS(want_stats, run_options, stats, true)
REPORT__SETS(want_group, run_options, group, true)
REPORT__SETS(want_scan, run_options, scan, true)
REPORT__SETS(want_lisp, run_options, lisp, true)
REPORT__SETS(want_live, run_options, live, "1")
REPORT__SETS(want_plain_log, run_options, log_plain, true)

static bool set_threshold(void *run_, const char *value, FILE *err) {
    struct report__run_options *run = run_;
    uint64_t bytes;
    run->threshold = value;
    if (mprof__read_bytes(value, &bytes))
        return true;
    fprintf(err, "mprof: run: '%s' is no number of bytes\n", value);
    return false;
}

/* --live=1/512; as other options are taken, --live has no value. */
static bool take_sampling(const char *argument, FILE *err,
                          struct report__run_options *run) {
    const char *value = argument + strlen("--live=");
    if (mprof__read_sampling(value) == 0 && strcmp(value, "1") != 0) {
        fprintf(err,
                "mprof: run: '%s' is no part of the bytes, such as 1/512, from "
                "1/2 to 1/%d\n",
                value, MPROF__MOST_SAMPLING);
        return false;
    }
    run->live = value;
    return true;
}

static const struct report__option list[] = {
    {"data", "FILE", "", set_data},
    {"o", "FILE", "", set_data},
    {"limit", "BYTES", "", set_limit},
    {"lisp", NULL, "", want_lisp},
    {"live", NULL, "", want_live},
    {"no-children", NULL, "", leave_children},
    {"summary", NULL, "", want_summary},
    {"scan", NULL, "", want_scan},
    {"stats", NULL, "", want_stats},
    {"group", NULL, "", want_group},
    {"html", "FILE", "", set_html},
    {"log", "FILE", "", set_log},
    {"log-plain", NULL, "", want_plain_log},
    {"log-threshold", "BYTES", "", set_threshold},
    {NULL, NULL, NULL, NULL}};

bool report__parse_run(char **argv, FILE *err,
                       struct report__run_options *run) {
    int at = 1;
    for (; argv[at] != NULL && argv[at][0] == '-'; at++) {
        if (strcmp(argv[at], "--") == 0) {
            at++;
            break;
        }
        if (strncmp(argv[at], "--live=", strlen("--live=")) == 0) {
            if (!take_sampling(argv[at], err, run))
                return false;
        } else if (!report__take_option(list, argv, &at, "mprof: run: ", err,
                                        run))
            return false;
    }
    if (run->lisp && (run->summary || run->scan || run->stats || run->group ||
                      run->log || run->log_plain || run->threshold)) {
        fputs(
            "mprof: run: --lisp is of Lisp's heap: of the other options there "
            "are --data, --limit, --live and --html\n",
            err);
        return false;
    }
    if (run->live && !run->lisp) {
        fputs("mprof: run: --live is of Lisp's heap: with --lisp\n", err);
        return false;
    }
    run->program = argv + at;
    if (*run->program != NULL)
        return true;
    fputs("mprof: run: no program; try mprof --help\n", err);
    return false;
}

bool report__read_limit(const char *text, FILE *err, uint64_t *bytes) {
    if (!mprof__read_bytes(text, bytes)) {
        fprintf(err, "mprof: run: '%s' is no number of bytes\n", text);
        return false;
    }
    if (*bytes > MPROF__LARGEST_LIMIT) {
        fputs("mprof: run: a data file cannot have more than 16g\n", err);
        return false;
    }
    return true;
}
