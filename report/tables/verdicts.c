/* verdicts.c - how limits are kept, in words. */
#include "report/tables/limits.h"

const char *report__limit_text(struct report__pool *pool,
                               const struct report__limit *limit) {
    const char *what = report__limited_names[limit->what];

    return limit->function
               ? report__format(pool, "%s:%s", limit->function, what)
               : what;
}

const char *report__limit_place(struct report__pool *pool,
                                const struct report__limit *limit) {
    return limit->file
               ? report__format(pool, "%s:%" PRIu32, limit->file, limit->line)
               : NULL;
}

const char *report__verdicts_text(struct report__pool *pool,
                                  const struct report__verdicts *v) {
    const char *s = v->count == 1 ? "" : "s", *exceeded = "", *absent = "";

    if (report__all_kept(v))
        return "within budget";
    if (v->exceeded > 0)
        exceeded =
            report__format(pool, "%" PRIu32 " of %" PRIu32 " limit%s exceeded",
                           v->exceeded, v->count, s);
    if (v->absent > 0)
        absent = report__format(
            pool,
            "%s%" PRIu32 " of %" PRIu32 " limit%s failed: no such function "
            "allocated",
            v->exceeded > 0 ? "; " : "", v->absent, v->count, s);
    return report__format(pool, "%s%s", exceeded, absent);
}

/* In tenths, cut, but above 100 if it is more than all. */
const char *report__verdict_share(struct report__pool *pool,
                                  const struct report__verdict *v) {
    const uint64_t most = v->limit->most ?: 1;
    unsigned __int128 tenths = (unsigned __int128)v->is * 1000 / most;

    tenths += tenths == 1000 && v->is > most;
    return v->limit->most == 0 ? ""
           : tenths > 9999
               ? ">999%"
               : report__format(pool, "%u.%u%%", (unsigned)tenths / 10,
                                (unsigned)tenths % 10);
}

/* " (grew by 5,000)", or nothing. */
static const char *growth(struct report__pool *pool,
                          const struct report__worst *worst) {
    return worst->grew
               ? report__format(pool, " (grew by %s)",
                                report__grouped(worst->is - worst->was).text)
               : "";
}

const char *report__worst_text(struct report__pool *pool,
                               const struct report__worst *worst) {
    if (!worst->chain)
        return NULL;
    return report__format(pool, "%s%s by %s", report__grouped(worst->is).text,
                          growth(pool, worst), worst->chain);
}

struct layout {
    FILE *out;
    struct report__pool *pool;
    int is, most, share;
};

static void measure(struct layout *l, const struct report__verdict *v) {
    l->is = report__grouped_width(l->is, v->is);
    l->most = report__grouped_width(l->most, v->limit->most);
    l->share = report__larger(l->share,
                              (int)strlen(report__verdict_share(l->pool, v)));
}

static void print_heading(const struct layout *l) {
    int columns = fprintf(l->out, "%*s  %*s  %*s  what\n", l->is, "number",
                          l->most, "limit", l->share, "used");
    report__underline(l->out, columns + 20);
}

static void print_row(const struct layout *l, const struct report__verdict *v) {
    const char *place = report__limit_place(l->pool, v->limit);

    fprintf(l->out, "%*s  %*s  %*s  ", l->is, report__grouped(v->is).text,
            l->most, report__grouped(v->limit->most).text, l->share,
            report__verdict_share(l->pool, v));
    report__print_name(l->out, report__limit_text(l->pool, v->limit));
    if (place) {
        fputs("  (", l->out);
        report__print_name(l->out, place);
        putc(')', l->out);
    }
    putc('\n', l->out);
    if (v->worst.chain) {
        fprintf(l->out, "%*s%s by ", l->is, report__grouped(v->worst.is).text,
                growth(l->pool, &v->worst));
        report__print_name(l->out, v->worst.chain);
        putc('\n', l->out);
    }
}

/* Those that are exceeded, the worst first; with ALL every one, and then those
 * that are kept. */
static void print_table(struct layout *l, const struct report__verdicts *v,
                        bool all) {
    uint32_t first =
        all || v->exceeded < MPROF_WORST ? v->exceeded : MPROF_WORST;

    for (uint32_t i = 0; i < v->count; i++)
        measure(l, &v->list[i]);
    putc('\n', l->out);
    print_heading(l);
    for (uint32_t i = 0; i < first; i++)
        print_row(l, &v->list[v->worst[i]]);
    for (uint32_t i = 0; all && i < v->count; i++)
        if (!v->list[i].is_exceeded)
            print_row(l, &v->list[i]);
    if (first < v->exceeded)
        fprintf(l->out, "%" PRIu32 " more left out (--verbose shows them)\n",
                v->exceeded - first);
}

void report__print_notes(FILE *out, const struct report__verdicts *v) {
    if (v->note_count > 0)
        putc('\n', out);
    for (uint32_t i = 0; i < v->note_count; i++) {
        fputs("note: ", out);
        report__print_name(out, v->notes[i]);
        putc('\n', out);
    }
}

void report__print_verdicts(FILE *out, const struct report__verdicts *v,
                            bool all, struct report__pool *pool) {
    struct layout layout = {
        .out = out, .pool = pool, .is = 11, .most = 11, .share = 7};

    fprintf(out, "%s\n", report__verdicts_text(pool, v));
    if (all || v->exceeded > 0)
        print_table(&layout, v, all);
    report__print_notes(out, v);
}
