/* summary.c - a recording on one screen: how much was allocated, the findings,
 * and the first rows. */
#include <stdarg.h>

#include "monitor/format/paths.h"
#include "report/tables/findings.h"

enum {
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

__attribute__((format(printf, 2, 3))) static void
print_line(struct summary *s, const char *format, ...) {
    va_list arguments;

    va_start(arguments, format);
    vfprintf(s->c->out, format, arguments);
    va_end(arguments);
    putc('\n', s->c->out);
    s->lines++;
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
        print_line(s, "%.*s", (int)fits, text);
        text += fits;
        text += strspn(text, " ");
    }
}

static const char *name_of(const struct summary *s, const char *name,
                           uint32_t most) {
    return report__short_name(s->c->pool, name, most);
}

/* BYTES, where the largest number around is MOST: digits or units, alike. */
static struct report__text bytes_of(const struct summary *s, uint64_t bytes,
                                    uint64_t most) {
    return s->c->digits || most < LARGE ? report__grouped(bytes)
                                        : report__amount(bytes);
}

/* BYTES with their unit. */
static const char *amount_of(const struct summary *s, uint64_t bytes) {
    return report__format(s->c->pool, "%s%s", bytes_of(s, bytes, LARGE).text,
                          s->c->digits ? " bytes" : "");
}

/* The verdict */

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
    const char *file = mprof__base_name(s->c->file);
    const char *right = *file ? name_of(s, file, 24) : "";
    const char *runtime = *p->runtime ? name_of(s, p->runtime, 12) : "";
    /* Seconds of the day do not matter here. */
    const char *left = report__format(
        pool, ": %.2f s, %s%s%s%s%.16s", (double)p->duration / 1e9, runtime,
        *runtime ? ", " : "",
        p->process_count > 0
            ? report__format(pool, "%" PRIu32 " processes", p->process_count)
            : "",
        p->process_count > 0 ? ", " : "", report__date(p->start_time).text);
    const uint32_t taken = report__columns(left) + report__columns(right) + 2;
    const uint32_t most = s->width > taken + 20 ? s->width - taken : 20;
    const char *program = name_of(s,
                                  p->process_count > 0 ? "several programs"
                                  : *ran               ? ran
                                                       : "unknown program",
                                  most);
    const int gap = (int)s->width - (int)report__columns(program) -
                    (int)report__columns(left) - (int)report__columns(right);
    if (gap < 2 || *right == '\0')
        print_line(s, "%s%s", program, left);
    else
        print_line(s, "%s%s%*s%s", program, left, gap, "", right);
}

/* LABEL, then how much in so many of WHAT, and MORE. */
static void print_much(struct summary *s, const char *label,
                       struct mprof_count count, const char *what,
                       const char *more) {
    print_line(s, "%-13s%s in %s %s%s%s", label, amount_of(s, count.bytes),
               report__grouped(count.allocs).text, what,
               report__plural(count.allocs), more);
}

static void print_verdict(struct summary *s, bool is_c) {
    const struct report__profile *p = s->c->profile;
    const struct mprof_count left =
        report__count_left(s->totals.allocated, &s->totals.freed);

    print_much(s, "allocated", s->totals.allocated, is_c ? "call" : "block",
               "");
    if (is_c && p->at_peak.bytes > 0 && p->process_count > 0)
        print_line(s, "peaks        %s, added up",
                   amount_of(s, p->at_peak.bytes));
    else if (is_c && p->at_peak.bytes > 0)
        print_line(s, "peak         %s after %.3f s",
                   amount_of(s, p->at_peak.bytes), (double)p->peak_time / 1e9);
    if (is_c && left.allocs > 0)
        print_much(s, "not freed", left, "object", "");
    if (!is_c && p->alive)
        print_much(s, "live", left, "block",
                   p->alive_at_end ? "" : ", or not collected yet");
    if (!is_c && p->collected > 0)
        print_line(s, "heap         up to %s, %s collection%s in %.3f s",
                   amount_of(s, p->most_before),
                   report__grouped(p->collected).text,
                   report__plural(p->collected), (double)p->collecting / 1e9);
}

/* Print the header's notices of problems, in sentences. */
static void print_notices(struct summary *s) {
    struct report__memory memory;

    report__print_notices(report__memory_open(&memory, s->c->pool),
                          s->c->profile);
    for (char *at = report__memory_close(&memory); *at != '\0';) {
        char *end = at;
        /* A sentence may have several lines. */
        for (; *end != '\0' && !(*end == '\n' && end[-1] == '.'); end++)
            if (*end == '\n')
                *end = ' ';
        const bool last = *end == '\0';
        *end = '\0';
        print_wrapped(s, at);
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

/* Rows */

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

/* Return the names of ROW in WIDTH columns: as many of a chain as fit, and
 * lines as long as some names fit beside them. */
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

static double percent(uint64_t part, uint64_t whole) {
    return 100 * (double)part / (double)(whole ? whole : 1);
}

/* At most MOST rows, but one at least; false: there is none. */
static bool print_table(struct summary *s, enum report__finding_table table,
                        const char *title, const char *counted, uint32_t most) {
    const uint32_t numbers = COUNT_WIDTH + BYTES_WIDTH + SHARE_WIDTH;
    const uint32_t width = s->width - numbers - 2;
    const uint32_t count = s->found->tables[table].count;
    const uint64_t all = s->found->tables[table].bytes;
    const struct mprof_count *held = &s->found->held;
    const bool has_held = table == MPROF_FOUND_KEPT && held->allocs > 0;

    if (count == 0)
        return false;
    most = most > 5 ? 5 : most ? most : 1;
    most -= has_held && most > 1;
    print_line(s, "%s", "");
    print_line(s, "%-*s%*s%*s", (int)width + 2, title, COUNT_WIDTH, counted,
               BYTES_WIDTH, "bytes");
    for (uint32_t i = 0; i < count && i < most; i++) {
        const struct report__finding *row = &s->found->tables[table].rows[i];
        const char *names = names_of(s, row, width);
        print_line(s, "  %s%*s%*s%*s%*.0f%%", names,
                   (int)(width - report__columns(names)), "", COUNT_WIDTH,
                   report__grouped(row->count.allocs).text, BYTES_WIDTH,
                   bytes_of(s, row->count.bytes, all).text, SHARE_WIDTH - 1,
                   percent(row->count.bytes, all));
    }
    if (has_held)
        print_line(s, "  %-*s%*s%*s", (int)width,
                   "(the C or C++ library, no leak)", COUNT_WIDTH,
                   report__grouped(held->allocs).text, BYTES_WIDTH,
                   bytes_of(s, held->bytes, all).text);
    return true;
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
        const char *longer = report__format(s->c->pool, "%s  %s %.0f%%", text,
                                            name_of(s, row->names[0], 24),
                                            percent(row->count.bytes, all));
        if (report__columns(longer) > s->width)
            break;
        text = longer;
    }
    print_line(s, "%s", "");
    print_line(s, "%s", text);
}

static void print_rows(struct summary *s, uint32_t lines) {
    static const char caused[] = "Caused by (self and callees)";
    static const struct {
        enum report__finding_table table;
        const char *title, *counted; /* NULL: there is none */
    } all[MPROF_HEAPS][4] = {
        [MPROF_C_HEAP] = {{MPROF_FOUND_KEPT, "Not freed", "objects"},
                          {MPROF_FOUND_ALLOCATED, "Allocated by", "calls"},
                          {MPROF_FOUND_CAUSED, caused, "calls"},
                          {MPROF_FOUND_PEAK, "At the peak", "objects"}},
        [MPROF_LISP_HEAP] = {
            {MPROF_FOUND_KEPT, "Live", "blocks"},
            {MPROF_FOUND_CAUSED, caused, "blocks"},
            {MPROF_FOUND_ALLOCATED, "Allocated by (self)", "blocks"},
            {MPROF_FOUND_PEAK, "", ""}}};
    const bool is_lisp = s->c->heap == MPROF_LISP_HEAP;
    uint32_t tables = 0;

    for (int i = 0; i < MPROF_FOUND_TYPES; i++)
        tables += s->found->tables[i].count > 0;
    if (is_lisp)
        lines -= 2;
    for (int i = 0; i < 4; i++) {
        const uint32_t used = s->lines + 2 * tables;
        /* Each gets its part of the lines that are left. */
        if (print_table(s, all[s->c->heap][i].table, all[s->c->heap][i].title,
                        all[s->c->heap][i].counted,
                        tables && lines > used ? (lines - used) / tables : 0))
            tables--;
    }
    if (is_lisp)
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
    print_verdict(&s, context->heap == MPROF_C_HEAP);
    if (is_first)
        print_notices(&s);
    if (s.found->sentence_count > 0)
        print_line(&s, "%s", "");
    print_sentences(&s);
    print_rows(&s, lines);
    return s.lines;
}
