/* diff_options.c - the options of `mprof diff`. */
#include "report/command/diff_options.h"

#include <string.h>
#include <unistd.h>

#include "monitor/format/bytes.h"
#include "report/command/option.h"
#include "report/elf/elf_file.h"

/* Functions of a chain, as in the other tables that show chains. */
enum { DEPTH = 5 };

static bool set_by(void *options, const char *value, FILE *err) {
    static const char *const names[] = {[MPROF_DIFF_BY_FUNCTION] = "function",
                                        [MPROF_DIFF_BY_CHAIN] = "chain",
                                        [MPROF_DIFF_BY_TYPE] = "type",
                                        [MPROF_DIFF_BY_LINE] = "line"};
    struct report__diff_arguments *o = options;
    int by = report__choose(REPORT__CHOICES("diff: nothing by", names), value,
                            strlen(value), err);

    if (by >= 0)
        o->by = (enum report__diff_by)by;
    return by >= 0;
}

static bool set_format(void *options, const char *value, FILE *err) {
    static const char *const names[] = {[MPROF_DIFF_TEXT] = "text",
                                        [MPROF_DIFF_PPROF] = "pprof",
                                        [MPROF_DIFF_HTML] = "html"};
    struct report__diff_arguments *o = options;
    int format = report__choose(REPORT__CHOICES("diff: no format", names),
                                value, strlen(value), err);

    if (format >= 0)
        o->format = (enum report__diff_format)format;
    return format >= 0;
}

/* A page in the file VALUE. */
static bool set_html(void *options, const char *value, FILE *err) {
    struct report__diff_arguments *o = options;

    o->common.output = value;
    return set_format(options, "html", err);
}

/* A decimal number above 0, as a fraction, at *TEXT, which moves behind it. */
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

static bool set_normalize(void *options, const char *value, FILE *err) {
    struct report__diff_arguments *o = options;
    const char *at = value;

    if (strcmp(value, "bytes") == 0)
        o->normalizing = MPROF_BY_BYTES;
    else if (strcmp(value, "allocs") == 0)
        o->normalizing = MPROF_BY_ALLOCS;
    else if (take_decimal(&at, &o->factor) && *at == '\0' && o->factor.by > 0)
        o->normalizing = MPROF_BY_FACTOR;
    else {
        fprintf(err,
                "mprof: diff: '%s' is neither bytes, allocs nor a factor such "
                "as 1.5\n",
                value);
        return false;
    }
    return true;
}

/* "1%,4k", or one of the two, in any order. */
static bool set_limit(void *options, const char *value, FILE *err) {
    struct report__growth_limit *limit =
        &((struct report__diff_arguments *)options)->limit;
    bool has_share = false, has_bytes = false;
    const char *at = value;
    char part[32];

    *limit = (struct report__growth_limit){.is_set = true, .share = {0, 1}};
    for (;;) {
        size_t length = strcspn(at, ",");
        const char *rest = part;
        if (length == 0 || length >= sizeof part)
            break;
        memcpy(part, at, length);
        part[length] = '\0';
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
        at += length;
        if (*at == '\0')
            return true;
        at++;
    }
    fprintf(err, "mprof: diff: '%s' is no growth such as 1%%, 4k or 1%%,4k\n",
            value);
    return false;
}

static bool set_rows(void *options, const char *value, FILE *err) {
    struct report__diff_arguments *o = options;
    return report__take_number(value, "rows", err, &o->common.choice.rows);
}

static bool set_depth(void *options, const char *value, FILE *err) {
    struct report__diff_arguments *o = options;
    return report__take_number(value, "functions", err, &o->common.leak_depth);
}

REPORT__TAKES(set_output, struct report__diff_arguments, common.output)
REPORT__TAKES(set_focus, struct report__diff_arguments, common.focus.focus)
REPORT__TAKES(set_ignore, struct report__diff_arguments, common.focus.ignore)
REPORT__TAKES(set_only, struct report__diff_arguments, common.focus.only)
REPORT__SETS(show_all, struct report__diff_arguments, common.all_frames, true)
REPORT__SETS(leave_inlines, struct report__diff_arguments, no_inlines, true)
REPORT__SETS(show_arguments, struct report__diff_arguments, common.arguments,
             true)
REPORT__SETS(be_verbose, struct report__diff_arguments, common.choice.verbosity,
             MPROF_VERBOSE)
REPORT__SETS(be_terse, struct report__diff_arguments, common.choice.verbosity,
             MPROF_TERSE)
REPORT__SETS(give_help, struct report__diff_arguments, common.help, true)

static const struct report__option list[] = {
    {"by", "WHAT",
     "a table by function, the default; by chain; by type, of C\n"
     "by size; or by line, that of the call",
     set_by},
    {"sort", "COLUMN",
     "by the change in bytes, allocs, self, total, kept or peak,\n"
     "where a table has it",
     report__set_sort},
    {"normalize", "HOW",
     "as if OLD had been so much longer that both have as many\n"
     "bytes, or allocs; or by a factor, such as 1.5",
     set_normalize},
    {"fail-on-growth", "LIMIT",
     "exit with 3 when all bytes, or with tables by function those\n"
     "of a function itself, grew by more: 1%, 4k or both, 1%,4k",
     set_limit},
    {"heap", "HEAP", "only of the heap lisp, or c", report__set_heap},
    {"verbose", NULL, "all that changed", be_verbose},
    {"terse", NULL, "only what changed by 1% of all; without it 0.5%",
     be_terse},
    {"limit-rows", "N", "no more than N rows of a table", set_rows},
    {"depth", "N", "chain: show the N innermost functions (5); 0 shows all",
     set_depth},
    {"focus", "REGEX", "only chains with a function like this", set_focus},
    {"ignore", "REGEX", "no chains with a function like this", set_ignore},
    {"only", "REGEX",
     "only functions of packages or files like this: what others\n"
     "allocate is their callers'",
     set_only},
    {"all-frames", NULL,
     "also the functions of the system's plumbing: start-up,\n"
     "the loader, the interpreter",
     show_all},
    {"format", "FORMAT",
     "text; pprof, NEW without what OLD has; or html, a page for a\n"
     "browser",
     set_format},
    {"html", "FILE", "a page for a browser in FILE", set_html},
    {"no-inlines", NULL,
     "pprof, html: do not read debug information, of lines and of\n"
     "functions that the compiler inlined",
     leave_inlines},
    {"arguments", NULL,
     "pprof, html: with the arguments of the program, which may be\n"
     "secret; without it only its name",
     show_arguments},
    {"output", "FILE",
     "or -o FILE: write to FILE, which appears when it is\n"
     "complete",
     set_output},
    {"o", "FILE", "", set_output},
    {"help", NULL, "print this", give_help},
    {NULL, NULL, NULL, NULL}};

void report__diff_help(FILE *out) {
    fputs("Usage: mprof diff [OPTION]... [PROGRAM] OLD [PROGRAM] NEW\n"
          "Print what grew and what shrank from the data file OLD to NEW.  "
          "Functions are\n"
          "told by their names and the names of their files.\n"
          "\n",
          out);
    report__describe_options(list, out);
}

/* Take FILE as OLD or NEW, or as the program of the next one, *PROGRAM. */
static void add_file(struct report__diff_arguments *o, const char *file,
                     const char **program, int *count) {
    if (report__is_elf(file)) {
        *program = file;
        return;
    }
    if (*count < MPROF_SIDES)
        o->inputs[*count] = (struct report__input){*program, file};
    ++*count;
    *program = NULL;
}

static bool check(const struct report__diff_arguments *o, FILE *out,
                  FILE *err) {
    if (o->by == MPROF_DIFF_BY_TYPE && report__is_focused(&o->common.focus)) {
        fputs("mprof: diff: types and sizes are not known by chain: no "
              "--focus, --ignore or --only\n",
              err);
        return false;
    }
    if (o->format != MPROF_DIFF_TEXT && !o->common.output &&
        isatty(fileno(out))) {
        fputs("mprof: diff: this is for another program: name a file with -o\n",
              err);
        return false;
    }
    return report__check_focus(&o->common.focus, o->common.all_frames, err);
}

bool report__parse_diff(int argc, char **argv, FILE *out, FILE *err,
                        struct report__diff_arguments *o) {
    const char *program = NULL;
    bool only_files = false;
    int count = 0;

    *o = (struct report__diff_arguments){
        .common = {.choice.verbosity = MPROF_NORMAL, .leak_depth = DEPTH}};
    for (int i = 1; i < argc; i++) {
        if (!only_files && strcmp(argv[i], "--") == 0)
            only_files = true;
        else if (only_files || argv[i][0] != '-' || !argv[i][1])
            add_file(o, argv[i], &program, &count);
        else if (!report__take_option(list, argv, &i, "mprof: diff: ", err, o))
            return false;
    }
    if (o->common.help)
        return true;
    if (count == MPROF_SIDES && program == NULL)
        return check(o, out, err);
    fputs("mprof: diff: two data files are needed, OLD and NEW, each behind "
          "its program or alone\n",
          err);
    return false;
}
