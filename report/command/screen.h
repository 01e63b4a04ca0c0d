/* screen.h - tables on a terminal: as wide as that is, with a pager. */
#ifndef REPORT_COMMAND_SCREEN_H
#define REPORT_COMMAND_SCREEN_H

#include <sys/types.h>

#include "report/base/fitted.h"
#include "report/base/output.h"

enum report__colour {
    MPROF_COLOUR_AUTO,
    MPROF_COLOUR_ALWAYS,
    MPROF_COLOUR_NEVER
};

struct report__screen {
    struct report__fit fit;
    FILE *stream; /* the fitted one, or NULL */
    FILE *real;   /* the original output */
    FILE *pipe;   /* to the pager, or NULL */
    pid_t pager;
    bool no_pager;  /* none is wanted */
    bool is_narrow; /* lines fit where there is no terminal, too */
    bool failed;    /* it could not be started, and all is lost */
};

/* OUTPUT, which is open, goes through SCREEN if it is a terminal or is to have
 * colours. */
void report__screen_begin(struct report__screen *screen,
                          struct report__output *output,
                          enum report__colour colour);

/* Everything is written; waits for the pager.  One that was left early is no
 * error.  Does nothing when it was not begun, or ended before. */
void report__screen_end(struct report__screen *screen,
                        struct report__output *output);

#endif
