/* tap.c - limits as tests of the Test Anything Protocol. */
#include <inttypes.h>

#include "report/export/export.h"
#include "report/export/verdicts.h"

/* Behind `#` a directive may stand. */
static void put_description(FILE *out, const char *text) {
    for (; *text != '\0'; text++) {
        if (*text == '#' || *text == '\\')
            putc('\\', out);
        putc(*text, out);
    }
}

static void put_comment(FILE *out, const char *text,
                        struct report__pool *pool) {
    fprintf(out, "# %s\n", report__clean_name(pool, text));
}

void report__export_tap(FILE *out, const struct report__verdicts *verdicts,
                        struct report__pool *pool) {
    fprintf(out, "TAP version 13\n1..%" PRIu32 "\n", verdicts->count);
    for (uint32_t i = 0; i < verdicts->count; i++) {
        const struct report__verdict *v = &verdicts->list[i];
        const char *place = report__limit_place(pool, v->limit);
        const char *worst = report__worst_text(pool, &v->worst);
        fprintf(out, "%sok %" PRIu32 " - ", report__is_kept(v) ? "" : "not ",
                i + 1);
        put_description(
            out, report__clean_name(pool, report__limit_text(pool, v->limit)));
        fprintf(out, " %" PRIu64 ", limit %" PRIu64 "\n", v->is,
                v->limit->most);
        if (!report__is_kept(v) && place)
            put_comment(out, place, pool);
        if (worst)
            put_comment(out, worst, pool);
    }
    for (uint32_t i = 0; i < verdicts->note_count; i++)
        put_comment(out, verdicts->notes[i], pool);
    put_comment(out, report__verdicts_text(pool, verdicts), pool);
}
