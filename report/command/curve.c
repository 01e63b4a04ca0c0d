/* curve.c - the command `mprof curve`: the heap over time. */
#include <sys/ioctl.h>
#include <unistd.h>

#include "report/command/command.h"

/* The size of a picture where the terminal does not say its own. */
enum { WIDTH = 80, HEIGHT = 24, LARGEST = 1000 };

bool report__check_curve(struct report__call *call,
                         struct report__parse *parse) {
    struct report__curve_options *curve = &call->options.curve;
    const int fd = fileno(call->output.stream);
    const bool is_terminal = call->options.output == NULL && isatty(fd);
    struct winsize size;

    (void)parse;
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

/* For gnuplot that of one heap alone. */
static void print(FILE *out, const struct report__profile *profile,
                  unsigned heaps, struct report__call *call) {
    const struct report__curve_options *curve = &call->options.curve;
    const bool is_tsv = curve->format == MPROF_CURVE_TSV;

    if (!is_tsv)
        report__print_header(out, profile, MPROF_NORMAL, &call->pool);
    if (heaps >> MPROF_C_HEAP & 1) {
        report__print_curve(out, profile, curve, &call->pool);
        if (is_tsv)
            return;
    }
    if (heaps >> MPROF_LISP_HEAP & 1)
        report__print_collections(out, profile, curve, &call->pool);
}

int report__run_curve(struct report__call *call, const char **error) {
    struct report__input input;
    const struct report__profile *profile =
        report__read_files(call, false, &input, error);

    if (profile && call->together.count > 0)
        *error = "mprof curve is of one data file";
    const unsigned heaps =
        profile && !*error ? report__choose_heaps(call, &input, profile, error)
                           : 0;
    if (!heaps || !report__begin_output(call, error))
        return 1;
    print(call->output.stream, profile, heaps, call);
    return 0;
}
