/* source.c - lines of the source, with the lines around them.  The program
 * names the files, and need not be trusted, and the page may be given away: so
 * only files with names of sources are shown. */
#include <stdlib.h>
#include <string.h>

#include "report/base/search.h"
#include "report/graph/call_sites.h"
#include "report/html/tree.h"

/* Bytes of files that are read, and lines that are shown, at most. */
enum { MOST = 256 << 20, MOST_LINES = 30000 };

enum { AROUND = 3, LONGEST = 160, TAB = 8 };

static bool is_source(const char *file) {
    static const char known[] =
        " c h C H cc hh cpp hpp cxx hxx c++ h++ inc tcc l y s S lisp lsp cl rs "
        "go d m mm f F f90 F90 adb ads pyx zig ";
    const char *dot = strrchr(file, '.');
    char end[8];

    return dot &&
           snprintf(end, sizeof end, " %s ", dot + 1) < (int)sizeof end &&
           strstr(known, end);
}

static int compare(const void *a, const void *b) {
    const struct report__pair *x = a, *y = b;
    return report__up(x->a, y->a) ?: report__up(x->b, y->b);
}

/* The LENGTH bytes of TEXT, as much as is shown. */
static const char *shown_text(struct report__pool *pool,
                              const unsigned char *text, size_t length) {
    char line[LONGEST + TAB];
    size_t n = 0;

    for (size_t i = 0; i < length && n < LONGEST; i++) {
        line[n++] = (char)(text[i] == '\t' ? ' ' : text[i]);
        while (text[i] == '\t' && n % TAB != 0)
            line[n++] = ' ';
    }
    return report__copy(pool, line, n);
}

/* Write the text around the COUNT lines of one file that LIST has. */
static void put_file(const struct report__export *e,
                     const struct report__pair *list, uint32_t count,
                     uint64_t *left, unsigned long *rows) {
    const char *file = e->names->inlining->places.files[list->a - 1];
    size_t size = 0;
    unsigned char *bytes =
        is_source(file)
            ? report__source_bytes(file, e->profile->recorded, *left, &size)
            : NULL;
    const unsigned char *at = bytes, *end;

    *left -= size;
    for (uint32_t line = 1, i = 0; bytes && at < bytes + size;
         line++, at = end + 1) {
        end = memchr(at, '\n', (size_t)(bytes + size - at)) ?: bytes + size;
        while (i < count && list[i].b + AROUND < line)
            i++;
        if (i == count || *rows == MOST_LINES)
            break;
        if (line + AROUND < list[i].b)
            continue;
        report__put_comma(e->out, rows);
        fprintf(e->out, "\n[%u,%u,", list->a - 1, line);
        const char *text = shown_text(e->pool, at, (size_t)(end - at));
        report__put_json(e->out,
                         *text ? report__clean_name(e->pool, text) : "");
        putc(']', e->out);
    }
    free(bytes);
}

void report__put_source(const struct report__export *e,
                        const struct report__html_tree *tree) {
    struct report__pair *list =
        report__alloc(e->pool, tree->places.count, sizeof *list);
    uint32_t count = 0;
    uint64_t left = MOST;
    unsigned long rows = 0;

    for (uint32_t i = 0; i < tree->places.count; i++) {
        const struct report__pair place =
            report__frame_place(e->names, tree->places.list[i].b);
        if (place.b > 0)
            list[count++] = place;
    }
    qsort(list, count, sizeof *list, compare);
    fputs(",\n\"source\":[", e->out);
    for (uint32_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && list[end].a == list[i].a; end++)
            ;
        put_file(e, &list[i], end - i, &left, &rows);
    }
    putc(']', e->out);
}
