/* page.c - the page around the numbers. */
#include "report/html/page.h"

#include <string.h>

#include "report/html/assets.h"

/* TEXT, as report__clean_name() makes it, as text of a page. */
static void put_text(FILE *out, const char *text) {
    for (; *text != '\0'; text++)
        switch (*text) {
        case '<':
            fputs("&lt;", out);
            break;
        case '&':
            fputs("&amp;", out);
            break;
        default:
            putc(*text, out);
        }
}

static void put_lines(FILE *out, const char *const *lines) {
    for (; *lines != NULL; lines++)
        fputs(*lines, out);
}

/* page.html up to the line MARK, or to its end; where the rest begins. */
static const char *const *put_until(FILE *out, const char *const *lines,
                                    const char *mark) {
    for (; *lines != NULL; lines++) {
        if (strcmp(*lines, mark) == 0)
            return lines + 1;
        fputs(*lines, out);
    }
    return lines;
}

static const char *const *put_head(FILE *out, const char *title) {
    const char *const *rest = put_until(out, page_html, "@title@\n");

    put_text(out, title);
    rest = put_until(out, rest, "@style@\n");
    put_lines(out, page_css);
    return put_until(out, rest, "@data@\n");
}

void report__html_begin(FILE *out, const char *title,
                        struct report__pool *pool) {
    put_head(out, report__clean_name(pool, title));
    fputs("{\"heaps\":[", out);
}

void report__html_end(FILE *out) {
    const char *const *rest = page_html;

    fputs("]}\n", out);
    while (strcmp(*rest++, "@data@\n") != 0)
        ;
    rest = put_until(out, rest, "@script@\n");
    put_lines(out, model_js);
    put_lines(out, summary_js);
    put_lines(out, graph_js);
    put_lines(out, tables_js);
    put_lines(out, diff_js);
    put_lines(out, page_js);
    put_until(out, rest, "");
}
