/* screen.c - see screen.h.
 *
 * The pager has the terminal and its keys.  While it runs this process does not
 * end by a key, nor when the pager stops reading.
 */
#define _GNU_SOURCE
#include "report/command/screen.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "monitor/format/runnable.h"

enum { NARROWEST = 60, WIDEST = 10000, USUAL = 80 };

/* The columns of the terminal FD. */
static uint32_t width_of(int fd) {
    const char *columns = getenv("COLUMNS");
    struct winsize size;
    long width = columns ? strtol(columns, NULL, 10) : 0;

    if (width <= 0 && ioctl(fd, TIOCGWINSZ, &size) == 0)
        width = size.ws_col;
    if (width <= 0)
        width = USUAL;
    return (uint32_t)(width < NARROWEST ? NARROWEST
                      : width > WIDEST  ? WIDEST
                                        : width);
}

static bool has_colours(enum report__colour colour, bool is_terminal) {
    const char *term = getenv("TERM"), *none = getenv("NO_COLOR");

    if (colour != MPROF_COLOUR_AUTO)
        return colour == MPROF_COLOUR_ALWAYS;
    return is_terminal && !(none && *none) && term && *term &&
           strcmp(term, "dumb") != 0;
}

/* NULL: none is wanted, or there is none. */
static const char *pager(void) {
    const char *name = getenv("MPROF_PAGER");
    char found[PATH_MAX];

    if (!name)
        name = getenv("PAGER");
    if (!name)
        name = mprof__find_program("less", found) ? "less" : "";
    return *name && strcmp(name, "cat") != 0 ? name : NULL;
}

/* With SIG_IGN as HANDLER, keys are only for the pager. */
static void set_signals(void (*handler)(int)) {
    signal(SIGPIPE, handler);
    signal(SIGINT, handler);
    signal(SIGQUIT, handler);
}

/* In the new process. */
static void become_pager(const char *name, int from) {
    struct rlimit limit;

    set_signals(SIG_DFL);
    /* This command's limit of memory is not the pager's. */
    if (getrlimit(RLIMIT_AS, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_AS, &limit);
    }
    setenv("LESS", "FRX", 0);
    if (dup2(from, STDIN_FILENO) >= 0)
        execl("/bin/sh", "sh", "-c", name, (char *)NULL);
    _exit(127);
}

/* The stream that NAME reads; NULL: there is none. */
static FILE *start_pager(struct report__screen *s, const char *name) {
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0)
        return NULL;
    fflush(s->real);
    s->pager = fork();
    if (s->pager == 0)
        become_pager(name, ends[0]);
    close(ends[0]);
    FILE *stream = s->pager > 0 ? fdopen(ends[1], "w") : NULL;
    if (!stream)
        close(ends[1]);
    if (s->pager > 0)
        set_signals(SIG_IGN);
    return stream;
}

void report__screen_begin(struct report__screen *s,
                          struct report__output *output,
                          enum report__colour colour) {
    const bool is_terminal =
        !output->owned && isatty(fileno(output->stream)) == 1;
    const bool colours = has_colours(colour, is_terminal);
    const char *name = is_terminal && !s->no_pager ? pager() : NULL;

    if (!is_terminal && !colours && !s->is_narrow)
        return;
    s->real = output->stream;
    s->pipe = name ? start_pager(s, name) : NULL;
    s->stream = report__fit_open(
        &s->fit, s->pipe ? s->pipe : s->real,
        is_terminal || s->is_narrow ? width_of(fileno(output->stream)) : 0,
        colours);
    if (s->stream)
        output->stream = s->stream;
    else if (s->pipe)
        output->stream = s->pipe;
}

static void end_pager(struct report__screen *s) {
    int status = 0;

    if (s->pipe)
        fclose(s->pipe);
    s->pipe = NULL;
    if (s->pager <= 0)
        return;
    while (waitpid(s->pager, &status, 0) < 0 && errno == EINTR)
        ;
    s->pager = 0;
    set_signals(SIG_DFL);
    s->failed = WIFEXITED(status) && WEXITSTATUS(status) >= 126;
}

void report__screen_end(struct report__screen *s,
                        struct report__output *output) {
    if (!s->real)
        return;
    report__fit_close(&s->fit, s->stream);
    output->error = s->fit.error;
    s->stream = NULL;
    output->stream = s->real;
    s->real = NULL;
    end_pager(s);
}
