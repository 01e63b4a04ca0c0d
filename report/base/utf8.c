/* utf8.c - see utf8.h. */
#include "report/base/utf8.h"

#include <string.h>

#include "report/base/fitted.h"

enum { LONGEST = 16384 };

size_t report__utf8(const char *text, size_t left, uint32_t *code) {
    const unsigned char *byte = (const unsigned char *)text;
    static const uint32_t least[] = {0, 1, 0x80, 0x800, 0x10000};
    unsigned char c = left > 0 ? byte[0] : 0;
    size_t n = c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;

    if (n == 0 || n > left || c > 0xf4 || c == 0)
        return 0;
    *code = n == 1 ? c : c & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((byte[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (byte[i] & 0x3f);
    }
    if (*code < least[n] || *code > 0x10ffff ||
        (*code >= 0xd800 && *code <= 0xdfff))
        return 0;
    return n;
}

bool report__is_visible(uint32_t code) {
    static const struct {
        uint32_t first, last;
    } hidden[] = {
        {0, 0x1f},          {0x7f, 0x9f},     {0xad, 0xad},
        {0x61c, 0x61c},     {0x180e, 0x180e}, {0x200b, 0x200f},
        {0x2028, 0x202e},   {0x2060, 0x206f}, {0xfeff, 0xfeff},
        {0xfff9, 0xfffb},   {0xfffe, 0xffff}, {0x1d173, 0x1d17a},
        {0xe0000, 0xe0fff},
    };
    for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++)
        if (code >= hidden[i].first && code <= hidden[i].last)
            return false;
    return true;
}

/* The visible characters of ASCII with which TEXT begins. */
static size_t plain(const char *text) {
    size_t n = 0;
    while (text[n] >= ' ' && text[n] <= '~')
        n++;
    return n;
}

void report__print_name(FILE *out, const char *text) {
    size_t left = strlen(text), n;

    report__fit_mark(out, MPROF_FIT_NAME);
    for (; left > 0; text += n, left -= n) {
        uint32_t code = 0;
        n = plain(text);
        if (n == 0)
            n = report__utf8(text, left, &code);
        if (n > 0 && (code == 0 || report__is_visible(code)))
            fwrite(text, 1, n, out);
        else
            fputs(n > 0 && code == '\n' ? "\\n" : "?", out);
        n += n == 0;
    }
    report__fit_mark(out, MPROF_FIT_NAME_END);
}

const char *report__printed_name(struct report__pool *pool, const char *text) {
    struct report__memory memory;

    if (text[plain(text)] == '\0')
        return text;
    report__print_name(report__memory_open(&memory, pool), text);
    return report__memory_close(&memory);
}

void report__print_string(FILE *out, const char *text) {
    if (!text) {
        fputs("nil", out);
        return;
    }
    size_t left = strlen(text), n;
    putc('"', out);
    for (; left > 0; text += n, left -= n) {
        uint32_t code = (unsigned char)*text;
        n = report__utf8(text, left, &code);
        if (n == 0 || !report__is_visible(code)) {
            if (n > 0 && code == '\n')
                fputs("\\\\n", out);
            else
                fprintf(out, "\\\\x{%x}", (unsigned)code);
        } else {
            if (code == '"' || code == '\\')
                putc('\\', out);
            fwrite(text, 1, n, out);
        }
        n += n == 0;
    }
    putc('"', out);
}

const char *report__clean_name(struct report__pool *pool, const char *text) {
    static const char more[] = "...";
    size_t length = strlen(text), count = 0, n;
    char *clean = report__alloc(
        pool, (length < LONGEST ? length : LONGEST) + sizeof more + 1, 1);

    for (size_t i = 0; i < length && count < LONGEST; i += n) {
        uint32_t code;
        n = report__utf8(text + i, length - i, &code);
        if (n > 0 && report__is_visible(code) && count + n <= LONGEST) {
            memcpy(clean + count, text + i, n);
            count += n;
        } else {
            clean[count++] = '?';
        }
        n += n == 0;
    }
    if (count == LONGEST)
        memcpy(clean + count, more, sizeof more);
    return *clean != '\0' ? clean : "?";
}

uint32_t report__columns(const char *text) {
    uint32_t columns = 0;

    for (; *text != '\0'; text++)
        columns += report__begins_character(*text);
    return columns;
}

void report__cut_middle(const char *text, const char *end, uint32_t most,
                        const char **from, const char **to) {
    enum { DOTS = 3 };
    const uint32_t behind = (most - DOTS) / 2;
    uint32_t columns = 0, column = 0;

    for (const char *at = text; at < end; at++)
        columns += report__begins_character(*at);
    *from = *to = end;
    for (const char *at = text; columns > most && at < end; at++)
        if (report__begins_character(*at)) {
            *from = column == most - DOTS - behind ? at : *from;
            *to = column == columns - behind ? at : *to;
            column++;
        }
}

const char *report__short_name(struct report__pool *pool, const char *text,
                               uint32_t most) {
    const char *clean = report__clean_name(pool, text), *from, *to;

    report__cut_middle(clean, clean + strlen(clean), most, &from, &to);
    return *from ? report__format(pool, "%.*s...%s", (int)(from - clean), clean,
                                  to)
                 : clean;
}
