/* summary.c - what a recording shows on one screen: how much was allocated,
 * what is found, and the first rows. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/tables/findings.h"

enum {
    LINES = 30,
    SENTENCES = 4,
    WIDEST = 132,
    LARGE = 10000000, /* bytes: larger ones have units */
    NAME = 36,        /* characters of a name in a chain */
    COUNT_WIDTH = 12,
    BYTES_WIDTH = 13,
    SHARE_WIDTH = 6
};

struct summary {
    const struct report__context *c;
    const struct report__findings *found;
    struct report__totals totals;
    uint32_t width;
    uint32_t lines; /* printed so far */
};

static void print_line(struct summary *s, const char *text) {
    fprintf(s->c->out, "%s\n", text);
    s->lines++;
}

static void print_blank(struct summary *s) {
    print_line(s, "");
}

/* TEXT, whose words are no wider than a line. */
static void print_wrapped(struct summary *s, const char *text) {
    while (*text != '\0') {
        size_t end = 0, fits = 0;
        while (text[end] != '\0') {
            end += strcspn(text + end + 1, " ") + 1;
            const char *line = report__copy(s->c->pool, text, end);
            if (fits > 0 && report__columns(line) > s->width)
                break;
            fits = end;
        }
        print_line(s, report__copy(s->c->pool, text, fits));
        text += fits;
        text += strspn(text, " ");
    }
}

static const char *name_of(const struct summary *s, const char *name,
                           uint32_t most) {
    return report__short_name(s->c->pool, name, most);
}

static const char *count_of(const struct summary *s, uint64_t number) {
    return report__format(s->c->pool, "%s", report__grouped(number).text);
}

/* BYTES, where the largest number around is MOST: digits or units, alike. */
static const char *bytes_of(const struct summary *s, uint64_t bytes,
                            uint64_t most) {
    if (s->c->digits || most < LARGE)
        return count_of(s, bytes);
    return report__format(s->c->pool, "%s", report__amount(bytes).text);
}

/* BYTES with their unit. */
static const char *amount_of(const struct summary *s, uint64_t bytes) {
    if (s->c->digits)
        return report__format(s->c->pool, "%s bytes",
                              report__grouped(bytes).text);
    return report__format(s->c->pool, "%s", report__amount(bytes).text);
}

static const char *plural(uint64_t n) {
    return n == 1 ? "" : "s";
}

/*
 * The verdict
 */

/* COMMAND without the folder of its program, if that is absolute. */
static const char *without_folder(const char *command) {
    const char *name = command;

    for (const char *at = command; *command == '/' && *at && *at != ' '; at++)
        if (*at == '/')
            name = at + 1;
    return name;
}

static void print_first(struct summary *s) {
    const struct report__profile *p = s->c->profile;
    const char *ran = without_folder(*p->command ? p->command : p->program);
    struct report__pool *pool = s->c->pool;
    struct report__text date;

    report__print_date(report__text_open(&date, pool), p->start_time);
    /* Seconds of the day do not matter here. */
    const char *slash = strrchr(s->c->file, '/');
    const char *file = slash ? slash + 1 : s->c->file;
    const char *right = *file ? name_of(s, file, 24) : "";
    const char *runtime = *p->runtime ? name_of(s, p->runtime, 12) : "";
    const char *left = report__format(
        pool, ": %.2f s, %s%s%s%s%.16s", (double)p->duration / 1e9, runtime,
        *runtime ? ", " : "",
        p->process_count > 0
            ? report__format(pool, "%" PRIu32 " processes", p->process_count)
            : "",
        p->process_count > 0 ? ", " : "", report__text_close(&date));
    const uint32_t taken = report__columns(left) + report__columns(right) + 2;
    const uint32_t most = s->width > taken + 20 ? s->width - taken : 20;
    const char *name = p->process_count > 0 ? "several programs"
                       : *ran               ? ran
                                            : "unknown program";
    const char *program = name_of(s, name, most);
    const int gap = (int)s->width - (int)report__columns(program) -
                    (int)report__columns(left) - (int)report__columns(right);
    print_line(s, gap < 2 ? report__format(pool, "%s%s", program, left)
                          : report__format(pool, "%s%s%*s%s", program, left,
                                           gap, "", right));
}

static void print_allocated(struct summary *s, const char *what) {
    print_line(s, report__format(s->c->pool, "allocated    %s in %s %s%s",
                                 amount_of(s, s->totals.bytes),
                                 count_of(s, s->totals.allocs), what,
                                 plural(s->totals.allocs)));
}

static void print_c_verdict(struct summary *s) {
    const struct report__profile *p = s->c->profile;
    struct report__pool *pool = s->c->pool;
    const uint64_t objects = report__left(s->totals.allocs, s->totals.frees);
    const uint64_t bytes = report__left(s->totals.bytes, s->totals.freed);

    print_allocated(s, "call");
    if (p->at_peak.bytes > 0 && p->process_count > 0)
        print_line(s, report__format(pool, "peaks        %s, added up",
                                     amount_of(s, p->at_peak.bytes)));
    else if (p->at_peak.bytes > 0)
        print_line(s, report__format(pool, "peak         %s after %.3f s",
                                     amount_of(s, p->at_peak.bytes),
                                     (double)p->peak_time / 1e9));
    if (objects > 0)
        print_line(s, report__format(pool, "not freed    %s in %s object%s",
                                     amount_of(s, bytes), count_of(s, objects),
                                     plural(objects)));
}

static void print_lisp_verdict(struct summary *s) {
    const struct report__profile *p = s->c->profile;
    struct report__pool *pool = s->c->pool;
    const uint64_t blocks = report__left(s->totals.allocs, s->totals.frees);
    const uint64_t bytes = report__left(s->totals.bytes, s->totals.freed);

    print_allocated(s, "block");
    if (p->alive)
        print_line(s, report__format(pool, "live         %s in %s block%s%s",
                                     amount_of(s, bytes), count_of(s, blocks),
                                     plural(blocks),
                                     p->alive_at_end ? ""
                                                     : ", or not collected "
                                                       "yet"));
    if (p->collected > 0)
        print_line(
            s, report__format(pool,
                              "heap         up to %s, %s collection%s in "
                              "%.3f s",
                              amount_of(s, p->most_before),
                              count_of(s, p->collected), plural(p->collected),
                              (double)p->collecting / 1e9));
}

/* What is not as it should be, which the header says, in sentences. */
static void print_notices(struct summary *s) {
    struct report__text text;

    report__print_notices(report__text_open(&text, s->c->pool), s->c->profile);
    for (char *at = report__text_close(&text); *at != '\0';) {
        char *end = at;
        /* A sentence may have several lines. */
        for (; *end != '\0' && !(*end == '\n' && end[-1] == '.'); end++)
            if (*end == '\n')
                *end = ' ';
        const bool last = *end == '\0';
        *end = '\0';
        print_wrapped(s, report__copy(s->c->pool, at, strlen(at)));
        at = last ? end : end + 1;
    }
}

static void print_sentences(struct summary *s) {
    for (uint32_t i = 0; i < s->found->sentence_count && i < SENTENCES; i++) {
        const struct report__sentence *sentence = &s->found->sentences[i];
        const char *text = "";
        for (uint32_t k = 0; k < sentence->count; k++)
            text = report__format(
                s->c->pool, "%s%s", text,
                sentence->pieces[k].function == MPROF_NONE
                    ? sentence->pieces[k].text
                    : name_of(s, sentence->pieces[k].text, s->width - 20));
        print_wrapped(s, text);
    }
}

/*
 * Rows
 */

/* COUNT NAMES as a chain in WIDTH columns; *SHOWN: how many of them fit. */
static const char *chain_of(const struct summary *s, const char **names,
                            uint32_t count, uint32_t width, uint32_t *shown) {
    static const char more[] = " < ...";
    const uint32_t most = count == 1 || width < NAME ? width : NAME;
    const char *text = name_of(s, names[0], most);

    for (*shown = 1; *shown < count; ++*shown) {
        const bool last = *shown + 1 == count;
        const char *longer = report__format(s->c->pool, "%s < %s", text,
                                            name_of(s, names[*shown], most));
        if (report__columns(longer) + (last ? 0 : (uint32_t)strlen(more)) >
            width) {
            const char *cut = report__format(s->c->pool, "%s%s", text, more);
            return report__columns(cut) <= width ? cut : text;
        }
        text = longer;
    }
    return text;
}

/* NAME without the line behind it. */
static const char *without_line(const struct summary *s, const char *name) {
    const char *place = strrchr(name, '(');
    const bool has = place && place > name && place[-1] == ' ' &&
                     strchr(place, '.') && name[strlen(name) - 1] == ')';

    return has ? report__copy(s->c->pool, name, (size_t)(place - 1 - name))
               : name;
}

/* The names of ROW in WIDTH columns: of a chain as many as fit, and lines as
 * long as some fit beside them. */
static const char *names_of(const struct summary *s,
                            const struct report__finding *row, uint32_t width) {
    enum { SOME = 2 };
    const uint32_t count = row->name_count;
    const char **names = report__alloc(s->c->pool, count, sizeof *names);
    const uint32_t wanted = count < SOME ? count : SOME;
    const char *text;
    uint32_t shown, without = 0;

    memcpy(names, row->names, count * sizeof *names);
    for (;;) {
        text = chain_of(s, names, count, width, &shown);
        if (shown >= wanted || without >= wanted || count == 1)
            return text;
        names[without] = without_line(s, names[without]);
        without++;
    }
}

static void print_table(struct summary *s, enum report__finding_table table,
                        const char *title, const char *counted, uint32_t most) {
    const uint32_t numbers = COUNT_WIDTH + BYTES_WIDTH + SHARE_WIDTH;
    const uint32_t width = s->width - numbers - 2;
    const uint32_t count = s->found->tables[table].count;
    const uint64_t all = s->found->tables[table].bytes;
    const struct mprof_count *held = &s->found->held;
    const bool has_held = table == MPROF_FOUND_KEPT && held->allocs > 0;

    if (count == 0)
        return;
    most -= has_held && most > 1;
    print_blank(s);
    print_line(s,
               report__format(s->c->pool, "%-*s%*s%*s", (int)width + 2, title,
                              COUNT_WIDTH, counted, BYTES_WIDTH, "bytes"));
    for (uint32_t i = 0; i < count && i < most; i++) {
        const struct report__finding *row = &s->found->tables[table].rows[i];
        const char *names = names_of(s, row, width);
        print_line(
            s, report__format(s->c->pool, "  %s%*s%*s%*s%*s", names,
                              (int)(width - report__columns(names)), "",
                              COUNT_WIDTH, count_of(s, row->count.allocs),
                              BYTES_WIDTH, bytes_of(s, row->count.bytes, all),
                              SHARE_WIDTH,
                              report__format(s->c->pool, "%.0f%%",
                                             100 * (double)row->count.bytes /
                                                 (double)(all ? all : 1))));
    }
    if (has_held)
        print_line(s,
                   report__format(s->c->pool, "  %-*s%*s%*s", (int)width,
                                  "(the C or C++ library, no leak)",
                                  COUNT_WIDTH, count_of(s, held->allocs),
                                  BYTES_WIDTH, bytes_of(s, held->bytes, all)));
}

static void print_types(struct summary *s) {
    const uint32_t count = s->found->tables[MPROF_FOUND_TYPES].count;
    const uint64_t all = s->found->tables[MPROF_FOUND_TYPES].bytes;
    const char *text = "Types  ";

    if (count == 0)
        return;
    for (uint32_t i = 0; i < count; i++) {
        const struct report__finding *row =
            &s->found->tables[MPROF_FOUND_TYPES].rows[i];
        const char *longer = report__format(
            s->c->pool, "%s  %s %.0f%%", text, name_of(s, row->names[0], 24),
            100 * (double)row->count.bytes / (double)(all ? all : 1));
        if (report__columns(longer) > s->width)
            break;
        text = longer;
    }
    print_blank(s);
    print_line(s, text);
}

static void print_rows(struct summary *s, uint32_t lines) {
    static const struct {
        enum report__finding_table table;
        const char *title, *counted;
    } c_tables[] = {{MPROF_FOUND_KEPT, "Not freed", "objects"},
                    {MPROF_FOUND_ALLOCATED, "Allocated by", "calls"},
                    {MPROF_FOUND_CAUSED, "Caused by (self and callees)",
                     "calls"},
                    {MPROF_FOUND_PEAK, "At the peak", "objects"}},
      lisp_tables[] = {
          {MPROF_FOUND_KEPT, "Live", "blocks"},
          {MPROF_FOUND_CAUSED, "Caused by (self and callees)", "blocks"},
          {MPROF_FOUND_ALLOCATED, "Allocated by (self)", "blocks"}};
    const bool is_c = s->c->heap == MPROF_C_HEAP;
    const uint32_t most = is_c ? 4 : 3;
    uint32_t tables = 0;

    for (uint32_t i = 0; i < most; i++)
        tables +=
            s->found->tables[(is_c ? c_tables : lisp_tables)[i].table].count >
            0;
    if (!is_c)
        lines -= 2;
    const uint32_t overhead = 2 * tables;
    uint32_t rows = tables > 0 && lines > s->lines + overhead
                        ? (lines - s->lines - overhead) / tables
                        : 1;
    rows = rows > 5 ? 5 : rows < 1 ? 1 : rows;
    for (uint32_t i = 0; i < most; i++)
        print_table(s, (is_c ? c_tables : lisp_tables)[i].table,
                    (is_c ? c_tables : lisp_tables)[i].title,
                    (is_c ? c_tables : lisp_tables)[i].counted, rows);
    if (!is_c)
        print_types(s);
}

uint32_t report__print_summary(const struct report__context *context,
                               bool is_first, uint32_t lines) {
    struct summary s = {.c = context,
                        .totals =
                            report__total(context->profile, context->heap),
                        .found = report__find(context),
                        .width = context->width == 0       ? 80
                                 : context->width > WIDEST ? WIDEST
                                                           : context->width};

    if (is_first)
        print_first(&s);
    (context->heap == MPROF_C_HEAP ? print_c_verdict : print_lisp_verdict)(&s);
    if (is_first)
        print_notices(&s);
    if (s.found->sentence_count > 0)
        print_blank(&s);
    print_sentences(&s);
    print_rows(&s, lines);
    return s.lines;
}
