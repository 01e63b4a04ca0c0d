/* json.c - see json.h. */
#include "report/export/json.h"

/* `<` may not end the script of a page. */
void report__put_json_part(FILE *out, const char *text) {
    for (; *text != '\0'; text++)
        if (*text == '<')
            fputs("\\u003c", out);
        else {
            if (*text == '"' || *text == '\\')
                putc('\\', out);
            putc(*text, out);
        }
}

void report__put_json(FILE *out, const char *text) {
    putc('"', out);
    report__put_json_part(out, text);
    putc('"', out);
}

void report__put_comma(FILE *out, unsigned long *count) {
    if ((*count)++ > 0)
        putc(',', out);
}
