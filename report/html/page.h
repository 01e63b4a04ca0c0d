/* page.h - profiles as one page for a browser.
 *
 * The page contains all that it needs, and loads nothing.  It draws numbers
 * that it contains as JSON: one heap after the other.
 */
#ifndef REPORT_HTML_PAGE_H
#define REPORT_HTML_PAGE_H

#include "report/elf/types.h"
#include "report/export/export.h"
#include "report/tables/diff.h"

/* One heap of one data file. */
struct report__html_heap {
    const char *file; /* as the user knows it */
    const struct report__profile *profile;
    const struct report__functions *names;
    const struct report__types *types; /* of C, or NULL */
    const char *header;                /* the lines above the tables */
    struct report__sampling sampling;
    uint32_t nodes; /* most of them; see tree.h */
    /* NULL, or the two profiles that it is joined of, and what changed by
     * function and by type. */
    const struct report__difference *difference;
    const char *old_file;
    const struct report__diff *by_function, *by_type;
};

/* Write the beginning of the page, with TITLE, of any bytes; and its end,
 * behind the last heap. */
void report__html_begin(FILE *out, const char *title,
                        struct report__pool *pool);
void report__html_end(FILE *out);

/* HEAP, of which COUNT are there already. */
void report__put_html_heap(FILE *out, const struct report__html_heap *heap,
                           unsigned count, struct report__pool *pool);

#endif
