/* curve.c - the command `mprof curve`: the heap over time. */
#include <sys/ioctl.h>
#include <unistd.h>

#include "report/command/command.h"

/* The size of a picture where the terminal does not say its own. */
enum { WIDTH = 80, HEIGHT = 24, LARGEST = 1000 };

bool report__check_curve(struct report__call *call) {
    struct report__curve_options *curve = &call->options.curve;
    const int fd = fileno(call->output.stream);
    const bool is_terminal = call->options.output == NULL && isatty(fd);
    struct winsize size;

    curve->width = WIDTH;
    curve->height = HEIGHT;
    if (curve->format == MPROF_CURVE_CHOSEN)
        curve->format = is_terminal ? MPROF_CURVE_PLOT : MPROF_CURVE_TABLE;
    if (!is_terminal || ioctl(fd, TIOCGWINSZ, &size) != 0)
        return true;
    if (size.ws_col > 0 && size.ws_col <= LARGEST)
        curve->width = size.ws_col;
    if (size.ws_row > 0 && size.ws_row <= LARGEST)
        curve->height = size.ws_row;
    return true;
}

int report__run_curve(struct report__call *call) {
    const struct report__curve_options *curve = &call->options.curve;
    const bool is_tsv = curve->format == MPROF_CURVE_TSV;

    if (!report__read_files(call, false))
        return 1;
    if (call->part_count > 0)
        call->error = "mprof curve is of one data file";
    const unsigned heaps = call->error ? 0 : report__choose_heaps(call);
    if (!heaps || !report__begin_output(call))
        return 1;
    FILE *out = call->output.stream;
    if (!is_tsv)
        report__print_header(out, call->profile, MPROF_NORMAL, &call->pool);
    if (heaps >> MPROF_C_HEAP & 1)
        report__print_curve(out, call->profile, curve, &call->pool);
    /* For gnuplot only one heap's. */
    if (heaps >> MPROF_LISP_HEAP & 1 && !(is_tsv && heaps >> MPROF_C_HEAP & 1))
        report__print_collections(out, call->profile, curve, &call->pool);
    return 0;
}
