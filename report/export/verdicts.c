/* verdicts.c - limits as tests of the Test Anything Protocol, and as JUnit has
 * them. */
#include <inttypes.h>
#include <string.h>

#include "report/export/verdicts.h"

/* Write TEXT without `#`, which may begin a directive. */
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

/* TEXT, of whatever bytes, in an attribute or between tags. */
static void put_text(FILE *out, const char *text, struct report__pool *pool) {
    static const char special[] = "&<>\"'";
    static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;",
                                           "&apos;"};

    for (text = report__clean_name(pool, text); *text != '\0'; text++) {
        const char *found = strchr(special, *text);
        if (found)
            fputs(entities[found - special], out);
        else
            putc(*text, out);
    }
}

static void put_failure(FILE *out, const struct report__verdict *v,
                        struct report__pool *pool) {
    const char *place = report__limit_place(pool, v->limit);
    const char *worst = report__worst_text(pool, &v->worst);

    fprintf(out,
            "    <failure type=\"limit\" message=\"%" PRIu64 ", limit %" PRIu64
            "\">",
            v->is, v->limit->most);
    if (place)
        put_text(out, place, pool);
    if (place && worst)
        putc('\n', out);
    if (worst)
        put_text(out, worst, pool);
    fputs("</failure>\n", out);
}

static void put_case(FILE *out, const struct report__verdict *v,
                     const char *what, struct report__pool *pool) {
    fputs("  <testcase classname=\"", out);
    put_text(out, what, pool);
    fputs("\" name=\"", out);
    put_text(out, report__limit_text(pool, v->limit), pool);
    if (report__is_kept(v)) {
        fputs("\"/>\n", out);
        return;
    }
    fputs("\">\n", out);
    put_failure(out, v, pool);
    fputs("  </testcase>\n", out);
}

void report__export_junit(FILE *out, const struct report__verdicts *verdicts,
                          const char *what, struct report__pool *pool) {
    fprintf(out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<testsuite name=\"mprof check\" tests=\"%" PRIu32
            "\" failures=\"%" PRIu32 "\" errors=\"0\" skipped=\"0\">\n",
            verdicts->count, verdicts->exceeded + verdicts->absent);
    for (uint32_t i = 0; i < verdicts->count; i++)
        put_case(out, &verdicts->list[i], what, pool);
    if (verdicts->note_count > 0) {
        fputs("  <system-out>", out);
        for (uint32_t i = 0; i < verdicts->note_count; i++) {
            put_text(out, verdicts->notes[i], pool);
            putc('\n', out);
        }
        fputs("</system-out>\n", out);
    }
    fputs("</testsuite>\n", out);
}
