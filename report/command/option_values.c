/* option_values.c - see option_values.h. */
#include "report/command/option_values.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "monitor/format/bytes.h"
#include "report/command/command.h"
#include "report/elf/elf_file.h"

/* The first LENGTH characters of LIST, which has parts with commas between, as
 * a text in PART; *LIST moves to the next part, or becomes NULL.  False: the
 * part is empty, or too long. */
enum { PART_SIZE = 32 };
static bool take_part(const char **list, char part[PART_SIZE]) {
    const size_t length = strcspn(*list, ",");

    if (length == 0 || length >= PART_SIZE)
        return false;
    memcpy(part, *list, length);
    part[length] = '\0';
    *list = (*list)[length] == ',' ? *list + length + 1 : NULL;
    return true;
}

/*
 * Which tables
 */

bool report__set_tables(struct report__parse *parse, const char *list) {
    struct report__options *o = parse->fields;
    const char *names[MPROF_TABLES];
    const struct report__choices choices = {"table", names, MPROF_TABLES};

    for (unsigned i = 0; i < MPROF_TABLES; i++)
        names[i] = report__tables[i].name;
    for (o->tables = 0;; list++) {
        const size_t length = strcspn(list, ",");
        const int table = report__choose(parse, &choices, list, length);
        if (table < 0)
            return false;
        o->tables |= 1u << table;
        list += length;
        if (*list == '\0')
            return true;
    }
}

/* --leaks=lost shows the table of these in place of all leaks. */
bool report__set_leaks(struct report__parse *parse, const char *which) {
    static const char *const names[] = {"kept", "lost"};
    static const struct report__choices choices = {"kind of leaks", names, 2};
    struct report__options *o = parse->fields;
    const int chosen = report__choose(parse, &choices, which, strlen(which));

    o->lost = chosen == 1;
    o->leak_table = true;
    return chosen >= 0;
}

bool report__set_type(struct report__parse *parse, const char *names) {
    struct report__options *o = parse->fields;
    struct report__chosen_types *types = &o->focus.types;

    if (types->count == MPROF_MOST_CHOSEN)
        return report__refuse(parse, "too many --type: put commas between");
    types->list[types->count++] = names;
    return true;
}

bool report__set_inlines(struct report__parse *parse, const char *no) {
    struct report__options *o = parse->fields;

    o->inlines = !no;
    o->no_inlines = no;
    return !no || strcmp(no, "no") == 0 ||
           report__refuse(parse, "--inlines=%s: say --inlines or --inlines=no",
                          no);
}

static bool be_detailed(struct report__parse *parse,
                        enum report__verbosity verbosity) {
    struct report__options *o = parse->fields;

    o->choice.verbosity = verbosity;
    o->detailed = true;
    return true;
}

bool report__be_verbose(struct report__parse *parse, const char *none) {
    (void)none;
    return be_detailed(parse, MPROF_VERBOSE);
}

bool report__be_normal(struct report__parse *parse, const char *none) {
    (void)none;
    return be_detailed(parse, MPROF_NORMAL);
}

bool report__be_terse(struct report__parse *parse, const char *none) {
    (void)none;
    return be_detailed(parse, MPROF_TERSE);
}

bool report__show_offsets(struct report__parse *parse, const char *none) {
    struct report__options *o = parse->fields;

    (void)none;
    o->leak_table = o->offsets = true;
    return true;
}

/*
 * The curve
 */

/* PART, of a list or alone.  What is not given leaves nothing out. */
static bool take_resolution(struct report__curve_options *curve,
                            const char *part, bool is_time) {
    char *end;
    const double seconds = strtod(part, &end);

    if (curve->least_ns == 0 && curve->least_bytes == 0)
        curve->least_ns = curve->least_bytes = UINT64_MAX;
    if (*part < '0' || *part > '9' || seconds > 1e9 ||
        strcmp(end, is_time ? "" : "s") != 0)
        return !is_time && mprof__read_bytes(part, &curve->least_bytes);
    curve->least_ns = (uint64_t)(seconds * 1e9);
    return true;
}

bool report__set_resolution(struct report__parse *parse, const char *list) {
    struct report__options *o = parse->fields;
    const char *at = list;
    char part[PART_SIZE];

    while (take_part(&at, part) && take_resolution(&o->curve, part, false))
        if (!at)
            return true;
    return report__refuse(
        parse, "'%s' is not a resolution such as 0.1s, 4k or 0.1s,4k", list);
}

bool report__set_seconds(struct report__parse *parse, const char *seconds) {
    struct report__options *o = parse->fields;

    return take_resolution(&o->curve, seconds, true) ||
           report__refuse(parse, "'%s' is not a number of seconds", seconds);
}

/*
 * Differences
 */

bool report__set_diff_html(struct report__parse *parse, const char *file) {
    struct report__options *o = parse->fields;

    o->output = file;
    o->format = MPROF_DIFF_HTML;
    return true;
}

/* A decimal number, as a fraction, at *TEXT, which moves behind it. */
static bool take_decimal(const char **text, struct report__factor *factor) {
    enum { MOST = 9 }; /* digits on each side */
    const char *at = *text;
    int digits = 0, places = 0;

    *factor = (struct report__factor){0, 1};
    for (; *at >= '0' && *at <= '9' && digits <= MOST; at++, digits++)
        factor->by = 10 * factor->by + (uint64_t)(*at - '0');
    if (digits == 0 || digits > MOST)
        return false;
    if (*at == '.') {
        for (at++; *at >= '0' && *at <= '9' && places <= MOST; at++, places++) {
            factor->by = 10 * factor->by + (uint64_t)(*at - '0');
            factor->of *= 10;
        }
        if (places == 0 || places > MOST)
            return false;
    }
    *text = at;
    return true;
}

bool report__set_normalize(struct report__parse *parse, const char *how) {
    struct report__options *o = parse->fields;
    const char *at = how;

    if (strcmp(how, "bytes") == 0)
        o->normalizing = MPROF_BY_BYTES;
    else if (strcmp(how, "allocs") == 0)
        o->normalizing = MPROF_BY_ALLOCS;
    else if (take_decimal(&at, &o->factor) && *at == '\0' && o->factor.by > 0)
        o->normalizing = MPROF_BY_FACTOR;
    else
        return report__refuse(
            parse, "'%s' is neither bytes, allocs nor a factor such as 1.5",
            how);
    return true;
}

bool report__set_growth(struct report__parse *parse, const char *text) {
    struct report__growth_limit *limit =
        &((struct report__options *)parse->fields)->growth;
    bool has_share = false, has_bytes = false;
    const char *at = text;
    char part[PART_SIZE];

    *limit = (struct report__growth_limit){.is_set = true, .share = {0, 1}};
    while (at) {
        const char *rest = part;
        if (!take_part(&at, part))
            break;
        if (!has_share && take_decimal(&rest, &limit->share) &&
            strcmp(rest, "%") == 0) {
            has_share = true;
            limit->share.of *= 100;
        } else if (!has_bytes && (strcmp(part, "0") == 0 ||
                                  mprof__read_bytes(part, &limit->bytes))) {
            has_bytes = true;
        } else {
            break;
        }
        if (!has_share)
            limit->share = (struct report__factor){0, 1};
        if (!at)
            return true;
    }
    return report__refuse(
        parse, "'%s' is not a growth such as 1%%, 4k or 1%%,4k", text);
}

/*
 * Budgets
 */

bool report__add_max(struct report__parse *parse, const char *limit) {
    struct report__options *o = parse->fields;
    struct report__written written;
    const char *error;

    if (!report__read_written(parse->pool, limit, strlen(limit), &written,
                              &error))
        return report__refuse(parse, "--max: %s", error);
    report__add_written(parse->pool, &o->budget.given, &written);
    return true;
}

bool report__set_update(struct report__parse *parse, const char *percent) {
    struct report__budget_options *budget =
        &((struct report__options *)parse->fields)->budget;
    enum { MOST = 1000, HUNDREDTHS = 10000 };
    struct report__factor factor = {0, 1};
    const char *at = percent;

    budget->update = true;
    if (!percent)
        return true;
    if (!take_decimal(&at, &factor) || (*at != '\0' && strcmp(at, "%") != 0) ||
        factor.by > MOST * factor.of)
        return report__refuse(
            parse, "'%s' is not a number of percent up to 1000", percent);
    budget->slack = (uint32_t)(factor.by * (HUNDREDTHS / 100) / factor.of);
    return true;
}

bool report__set_against(struct report__parse *parse, const char *file) {
    struct report__budget_options *budget =
        &((struct report__options *)parse->fields)->budget;

    if (report__is_elf(file))
        budget->against_program = file;
    else
        budget->against = file;
    return true;
}

/*
 * Recording
 */

bool report__set_live(struct report__parse *parse, const char *sample) {
    struct report__options *o = parse->fields;

    o->run.live = sample ? sample : "1";
    if (!sample || strcmp(sample, "1") == 0 || mprof__read_sampling(sample) > 0)
        return true;
    return report__refuse(
        parse,
        "'%s' is not a part of the bytes such as 1/512, from 1/2 to 1/%d",
        sample, MPROF__MOST_SAMPLING);
}

/* What the last part of VALUE, behind a comma, sets; false: it is a part of
 * the file's name. */
static bool take_log_part(struct report__run_options *run, const char *part) {
    uint64_t bytes;

    if (strcmp(part, "plain") == 0)
        run->log_plain = true;
    else if (mprof__read_bytes(part, &bytes))
        run->threshold = part;
    else
        return false;
    return true;
}

bool report__set_log(struct report__parse *parse, const char *value) {
    struct report__run_options *run =
        &((struct report__options *)parse->fields)->run;
    char *file = report__copy(parse->pool, value, strlen(value)), *comma;

    while ((comma = strrchr(file, ',')) && take_log_part(run, comma + 1))
        *comma = '\0';
    run->log = file;
    return true;
}

bool report__set_threshold(struct report__parse *parse, const char *bytes) {
    struct report__options *o = parse->fields;
    uint64_t number;

    o->run.threshold = bytes;
    return mprof__read_bytes(bytes, &number) ||
           report__refuse(parse, "'%s' is not a number of bytes", bytes);
}

bool report__check_run(struct report__call *call, struct report__parse *parse) {
    const struct report__run_options *run = &call->options.run;
    const struct report__options *o = &call->options;
    uint64_t bytes;

    if (run->lisp &&
        (run->summary || run->scan || run->stats || run->group || run->log))
        return report__refuse(parse,
                              "--lisp is of Lisp's heap: --summary, --scan, "
                              "--stats, --group and --log are of C's");
    if (run->live && !run->lisp)
        return report__refuse(parse, "--live is of Lisp's heap: add --lisp");
    if (run->limit && !mprof__read_bytes(run->limit, &bytes))
        return report__refuse(parse, "'%s' is not a number of bytes",
                              run->limit);
    if (run->limit && bytes > MPROF__LARGEST_LIMIT)
        return report__refuse(parse, "a data file cannot have more than 16g");
    if (o->file_count > 0)
        return true;
    if (run->html && access(run->html, X_OK) == 0)
        return report__refuse(parse,
                              "no program: '%s' is the file of the page; write "
                              "--html=FILE PROGRAM",
                              run->html);
    return report__refuse(parse, "no program to run; see: mprof run --help");
}
