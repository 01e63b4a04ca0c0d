/* page.c - the page around the numbers. */
#include "report/html/page.h"

#include <string.h>

#include "report/html/assets.h"

/* LINES up to the line MARK, or to their end; where the rest begins. */
static const char *const *put_until(FILE *out, const char *const *lines,
                                    const char *mark) {
    for (; *lines; lines++) {
        if (strcmp(*lines, mark) == 0)
            return lines + 1;
        fputs(*lines, out);
    }
    return lines;
}

void report__html_begin(FILE *out, const char *title,
                        struct report__pool *pool) {
    const char *const *rest = put_until(out, page_html, "@title@\n");

    for (title = report__clean_name(pool, title); *title != '\0'; title++)
        if (*title == '<' || *title == '&')
            fputs(*title == '<' ? "&lt;" : "&amp;", out);
        else
            putc(*title, out);
    rest = put_until(out, rest, "@style@\n");
    put_until(out, page_css, "");
    put_until(out, rest, "@data@\n");
    fputs("{\"heaps\":[", out);
}

void report__html_end(FILE *out) {
    static const char *const *const scripts[] = {
        model_js, summary_js, graph_js, kept_js, tables_js, diff_js, page_js};
    const char *const *rest = page_html;

    fputs("]}\n", out);
    while (strcmp(*rest++, "@data@\n") != 0)
        ;
    rest = put_until(out, rest, "@script@\n");
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
        put_until(out, scripts[i], "");
    put_until(out, rest, "");
}
