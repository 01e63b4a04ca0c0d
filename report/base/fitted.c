/* fitted.c - see fitted.h. */
#define _GNU_SOURCE /* fopencookie */
#include "report/base/fitted.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/utf8.h"

/* A name is left so many characters at least, three of them dots. */
enum { SHORTEST = 14 };

static _Thread_local FILE *fitted;

void report__fit_mark(FILE *out, enum report__fit_mark mark) {
    if (out == fitted)
        putc((int)mark, out);
}

void report__print_strong(FILE *out, const char *text) {
    report__fit_mark(out, MPROF_FIT_STRONG);
    fputs(text, out);
    report__fit_mark(out, MPROF_FIT_STRONG_END);
}

static bool is_mark(char c) {
    return c >= MPROF_FIT_NAME && c <= MPROF_FIT_STRONG_END;
}

/* Return the number of characters from TEXT to END, without marks. */
static uint32_t width_of(const char *text, const char *end) {
    uint32_t width = 0;
    for (; text < end; text++)
        width += report__begins_character(*text) && !is_mark(*text);
    return width;
}

/* The end of the name that begins behind TEXT. */
static const char *end_of_name(const char *text, const char *end) {
    const char *mark = memchr(text, MPROF_FIT_NAME_END, (size_t)(end - text));
    return mark ? mark : end;
}

/* The characters of all names from TEXT to END if none had more than MOST. */
static uint32_t names_width(const char *text, const char *end, uint32_t most) {
    uint32_t all = 0;

    for (; text < end; text++) {
        if (*text != MPROF_FIT_NAME)
            continue;
        const char *name_end = end_of_name(text, end);
        uint32_t width = width_of(text, name_end);
        all += width < most ? width : most;
        text = name_end;
    }
    return all;
}

/* How many characters a name may have so that the line fits. */
static uint32_t room_for_names(const struct report__fit *f, const char *end) {
    const uint32_t all = width_of(f->line, end);
    const uint32_t names = names_width(f->line, end, UINT32_MAX);
    uint32_t low = SHORTEST, high = all;

    if (f->width == 0 || all <= f->width)
        return UINT32_MAX;
    while (low < high) {
        uint32_t middle = low + (high - low + 1) / 2;
        if (all - names + names_width(f->line, end, middle) <= f->width)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* The name, to OUT. */
static void write_name(FILE *out, const char *name, const char *end,
                       uint32_t most) {
    const char *from, *to;

    report__cut_middle(name, end, most, &from, &to);
    fprintf(out, "%.*s%s%.*s", (int)(from - name), name, from < to ? "..." : "",
            (int)(end - to), to);
}

/* Rules end where the terminal does. */
static const char *end_of_rule(const struct report__fit *f, const char *end) {
    if (f->width > 0 && *f->line == '-' &&
        end - f->line > (ptrdiff_t)f->width && end[-1] == '-')
        return f->line + f->width;
    return end;
}

/* From TEXT to END, with emphasis. */
static void write_marked(const struct report__fit *f, const char *text,
                         const char *end) {
    for (; text < end; text++)
        if (!is_mark(*text))
            putc(*text, f->to);
        else if (f->colour && *text == MPROF_FIT_STRONG)
            fputs("\033[1m", f->to);
        else if (f->colour && *text == MPROF_FIT_STRONG_END)
            fputs("\033[0m", f->to);
}

/* TEXT in lines that fit, broken at blanks if there are any. */
static void write_wrapped(const struct report__fit *f, const char *text) {
    const char *blank = NULL, *start = text;
    uint32_t column = 0;

    for (; *text != '\0'; text++) {
        if (is_mark(*text) || !report__begins_character(*text))
            continue;
        if (f->width > 0 && column >= f->width && *text != ' ') {
            const char *end = blank ? blank : text;
            write_marked(f, start, end);
            putc('\n', f->to);
            start = end + (blank != NULL);
            column = width_of(start, text);
            blank = NULL;
        }
        if (*text == ' ' && column > 0)
            blank = text;
        column++;
    }
    write_marked(f, start, text);
}

static void write_line(struct report__fit *f) {
    const char *end = end_of_rule(f, f->line + f->length);
    const uint32_t most = room_for_names(f, end);
    char *shown = NULL;
    size_t size;
    FILE *line = open_memstream(&shown, &size);

    for (const char *text = f->line; line && text < end; text++) {
        if (*text != MPROF_FIT_NAME) {
            putc(*text, line);
            continue;
        }
        const char *name_end = end_of_name(text, end);
        write_name(line, text + 1, name_end, most);
        text = name_end;
    }
    if (line && fclose(line) == 0)
        write_wrapped(f, shown);
    free(shown);
    f->length = 0;
}

static bool add(struct report__fit *f, char c) {
    if (f->length + 1 >= f->room) {
        size_t room = f->room ? 2 * f->room : 1024;
        char *line = realloc(f->line, room);
        if (!line)
            return false;
        f->line = line;
        f->room = room;
    }
    f->line[f->length++] = c;
    f->line[f->length] = '\0';
    return true;
}

static ssize_t write_fitted(void *cookie, const char *text, size_t size) {
    struct report__fit *f = cookie;

    for (size_t i = 0; i < size; i++) {
        if (text[i] == '\n') {
            if (f->length > 0)
                write_line(f);
            putc('\n', f->to);
        } else if (!add(f, text[i])) {
            return 0;
        }
    }
    if (!ferror(f->to))
        return (ssize_t)size;
    if (f->error == 0)
        f->error = errno;
    return 0;
}

FILE *report__fit_open(struct report__fit *fit, FILE *to, uint32_t width,
                       bool colour) {
    *fit = (struct report__fit){.to = to, .width = width, .colour = colour};
    fitted =
        fopencookie(fit, "w", (cookie_io_functions_t){.write = write_fitted});
    return fitted;
}

bool report__fit_close(struct report__fit *fit, FILE *stream) {
    bool good;

    if (!stream)
        return true;
    good = !ferror(stream);
    good &= fclose(stream) == 0;
    fitted = NULL;
    if (fit->length > 0)
        write_line(fit);
    free(fit->line);
    fit->line = NULL;
    if (fflush(fit->to) != 0 && fit->error == 0)
        fit->error = errno;
    return good && fit->error == 0;
}
