/* fitted.h - a stream for a terminal: lines that fit its width, and emphasis.
 *
 * report__print_name() marks names in it, with characters that no name is
 * printed with.  In a line that is too long these are shortened in the middle,
 * the longest ones first.  If it is still too long, it goes on in the next
 * line.
 */
#ifndef REPORT_BASE_FITTED_H
#define REPORT_BASE_FITTED_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Marks around names, and around emphasized text. */
enum report__fit_mark {
    MPROF_FIT_NAME = 1,
    MPROF_FIT_NAME_END = 2,
    MPROF_FIT_STRONG = 3,
    MPROF_FIT_STRONG_END = 4
};

struct report__fit {
    FILE *to;
    uint32_t width; /* characters of a line; 0: any */
    bool colour;
    int error;  /* the first one in writing, or 0 */
    char *line; /* the text since the last line ended */
    size_t length, room;
};

/* A stream that writes to TO, which stays open, until it is closed; or NULL.
 * One at a time, of one thread. */
FILE *report__fit_open(struct report__fit *fit, FILE *to, uint32_t width,
                       bool colour);

/* Close STREAM, which may be NULL.  False: not all could be written. */
bool report__fit_close(struct report__fit *fit, FILE *stream);

/* Put MARK into OUT, if it is such a stream. */
void report__fit_mark(FILE *out, enum report__fit_mark mark);

/* TEXT on OUT, emphasized on a terminal. */
void report__print_strong(FILE *out, const char *text);

#endif
