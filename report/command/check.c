/* check.c - the command `mprof check`: does a profile keep its budget? */
#include "report/command/command.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/output.h"
#include "report/command/budget_file.h"
#include "report/command/option.h"
#include "report/export/verdicts.h"

enum { NOT_KEPT = 3 };
enum format { TEXT, TAP, JUNIT };

struct options {
    struct report__options shared; /* files, heap, output, ... */
    struct report__pool *pool;
    struct report__budget given; /* limits of the command line */
    const char *budget, *against, *against_program;
    enum format format;
    bool update, slack_given;
    uint32_t slack; /* in hundredths of a percent */
};

static bool add_limit(struct options *o, const char *value, FILE *err,
                      enum report__limited what) {
    struct report__written written = {.limit.what = what};

    if (!report__read_most(value, &written.limit.most)) {
        fprintf(err, "mprof: '%s' is not a number of %s\n", value,
                what == MPROF_LIMIT_ALLOCS ? "allocations" : "bytes");
        return false;
    }
    report__add_written(o->pool, &o->given, &written);
    return true;
}

static bool max_bytes(void *options, const char *value, FILE *err) {
    return add_limit(options, value, err, MPROF_LIMIT_BYTES);
}

static bool max_allocs(void *options, const char *value, FILE *err) {
    return add_limit(options, value, err, MPROF_LIMIT_ALLOCS);
}

static bool max_kept(void *options, const char *value, FILE *err) {
    return add_limit(options, value, err, MPROF_LIMIT_KEPT);
}

static bool max_peak(void *options, const char *value, FILE *err) {
    return add_limit(options, value, err, MPROF_LIMIT_PEAK);
}

static bool max_any(void *options, const char *value, FILE *err) {
    struct options *o = options;
    struct report__written written;
    const char *error;

    if (!report__read_written(o->pool, value, strlen(value), &written,
                              &error)) {
        fprintf(err, "mprof: check: --max: %s\n", error);
        return false;
    }
    report__add_written(o->pool, &o->given, &written);
    return true;
}

static bool set_format(void *options, const char *value, FILE *err) {
    static const char *const names[] = {
        [TEXT] = "text", [TAP] = "tap", [JUNIT] = "junit"};
    struct options *o = options;
    int format = report__choose(REPORT__CHOICES("no format", names), value,
                                strlen(value), err);

    if (format >= 0)
        o->format = (enum format)format;
    return format >= 0;
}

/* "5%", "0.25%", or without the sign. */
static bool set_slack(void *options, const char *value, FILE *err) {
    enum { HUNDREDTHS = 100, MOST = 1000 * HUNDREDTHS };
    struct options *o = options;
    const char *at = value;
    uint32_t slack = 0, unit = HUNDREDTHS;
    bool good = *at >= '0' && *at <= '9';

    for (; *at >= '0' && *at <= '9' && slack <= MOST; at++)
        slack = slack * 10 + (uint32_t)(*at - '0') * HUNDREDTHS;
    if (*at == '.')
        for (at++; *at >= '0' && *at <= '9' && unit > 1; at++)
            slack += (uint32_t)(*at - '0') * (unit /= 10);
    at += *at == '%';
    if (!good || *at != '\0' || slack > MOST) {
        fprintf(err, "mprof: '%s' is not a number of percent up to 1000\n",
                value);
        return false;
    }
    o->slack = slack;
    o->slack_given = true;
    return true;
}

REPORT__TAKES(set_budget, struct options, budget)
REPORT__TAKES(set_against, struct options, against)
REPORT__TAKES(set_against_program, struct options, against_program)
REPORT__TAKES(set_output, struct options, shared.output)
REPORT__SETS(set_update, struct options, update, true)
REPORT__SETS(be_verbose, struct options, shared.choice.verbosity, MPROF_VERBOSE)
REPORT__SETS(all_frames, struct options, shared.all_frames, true)
REPORT__SETS(give_help, struct options, shared.help, true)

static const struct report__option list[] = {
    {"max-bytes", "N", "the program may allocate N bytes; k, m, g as units",
     max_bytes},
    {"max-allocs", "N", "so many allocations", max_allocs},
    {"max-kept", "N", "C: so many bytes may not be freed at the end", max_kept},
    {"max-peak", "N", "C: so many bytes may live at once", max_peak},
    {"max", "LIMIT",
     "FUNCTION:bytes=N: the function, as tables print it, and all\n"
     "that it calls may allocate N bytes; or FUNCTION:allocs, kept,\n"
     "peak; or the same of itself, FUNCTION:self-bytes and so on",
     max_any},
    {"budget", "FILE", "a file with such a LIMIT a line, and # comments",
     set_budget},
    {"update", NULL,
     "write FILE anew, with what there is as limits; with all\n"
     "limits from here that it has not",
     set_update},
    {"slack", "P%", "--update: so much more than there is", set_slack},
    {"against", "OLD",
     "of what is exceeded tell the chain that grew most since the\n"
     "data file OLD",
     set_against},
    {"against-program", "FILE", "the program of OLD if it is not where it was",
     set_against_program},
    {"heap", "HEAP", "lisp or c, where both were recorded", report__set_heap},
    {"format", "FORMAT", "text, tap or junit", set_format},
    {"verbose", NULL, "text: also limits that are kept", be_verbose},
    {"all-frames", NULL,
     "also limits of functions of the system's plumbing, whose\n"
     "allocations are their callers' without it",
     all_frames},
    {"output", "FILE", "write to FILE, which appears when it is complete",
     set_output},
    {"help", NULL, "print this", give_help},
    {NULL, NULL, NULL, NULL}};

static void print_help(FILE *out) {
    fputs("Usage: mprof check [OPTION]... [[PROGRAM] DATA]...\n"
          "Hold what was recorded against limits.  The exit status is 0 if all "
          "are kept,\n"
          "3 if not.\n"
          "\n",
          out);
    report__describe_options(list, out);
}

/* One call.  It outlives the jump when memory is short. */
struct check {
    struct options options;
    struct report__pool pool;
    struct report__output output;
    FILE *err;
    struct report__together together;
    struct report__input input;
    enum mprof_heap heap;
    struct report__recorded now, before;
    struct report__budget budget;
    struct report__limit *limits; /* of the budget, then those given */
    uint32_t count;
    struct report__verdicts verdicts;
};

static bool is_complete(const struct options *o, FILE *err) {
    const char *missing = NULL;

    if (o->shared.help)
        return true;
    if (o->update && !o->budget)
        missing = "--update needs --budget=FILE";
    else if (o->slack_given && !o->update)
        missing = "--slack is for --update";
    else if (o->against_program && !o->against)
        missing = "--against-program is for --against";
    else if (!o->budget && o->given.count == 0)
        missing = "no limit: give --max-bytes, --max or --budget; see mprof "
                  "check --help";
    if (missing)
        fprintf(err, "mprof: check: %s\n", missing);
    return !missing;
}

static bool parse(struct check *c, int argc, char **argv) {
    c->options.pool = &c->pool;
    return report__parse_arguments(list, argc, argv, "mprof: check: ", c->err,
                                   &c->options.shared) &&
           is_complete(&c->options, c->err);
}

/* The profile of INPUT with its names.  False: *ERROR is a sentence. */
static bool read_side(struct check *c, const struct report__input *input,
                      struct report__recorded *side, const char **error) {
    side->profile = report__read(&c->pool, input->data, true, error);
    if (!side->profile ||
        !report__check_program(input, side->profile, &c->pool, error))
        return false;
    side->names =
        report__name_functions(&c->pool, side->profile, input->program);
    return true;
}

static bool choose_heap(struct check *c, const char **error) {
    static const char *const names[] = {
        [MPROF_LISP_HEAP] = "Lisp", [MPROF_C_HEAP] = "C"};
    unsigned there = c->now.profile->heaps;
    unsigned chosen = c->options.shared.heaps ? c->options.shared.heaps : there;

    c->heap = chosen == 1u << MPROF_C_HEAP ? MPROF_C_HEAP : MPROF_LISP_HEAP;
    if (chosen != 1u << c->heap)
        *error = report__format(&c->pool,
                                "%s: there are two heaps: choose one by --heap",
                                c->input.data);
    else if (!(there & chosen))
        *error = report__format(&c->pool, "%s: the %s heap was not recorded",
                                c->input.data, names[c->heap]);
    else if (c->options.against &&
             !report__has_heap(c->before.profile, c->heap))
        *error = report__format(&c->pool, "%s: the %s heap was not recorded",
                                c->options.against, names[c->heap]);
    else if (report__sampling(c->now.profile, c->heap) != 0 ||
             (c->options.against &&
              report__sampling(c->before.profile, c->heap) != 0))
        *error = report__format(
            &c->pool,
            "%s: the numbers are estimated from a sample, "
            "and a budget is for what is exact",
            c->now.profile->sampling != 0 ? c->input.data : c->options.against);
    return *error == NULL;
}

/* Several data files are one profile. */
static bool read_now(struct check *c, const char **error) {
    const struct report__options *o = &c->options.shared;
    uint32_t count;
    const struct report__input *inputs =
        report__choose_inputs(&c->pool, o->files, o->file_count, &count);

    c->input = inputs[0];
    c->together.calls = true;
    c->together.no_arguments = c->options.format == JUNIT;
    c->now.profile = report__read_together(&c->together, &c->pool, inputs,
                                           count, &c->input, error);
    if (!c->now.profile)
        return false;
    c->now.names =
        report__name_functions(&c->pool, c->now.profile, c->input.program);
    return true;
}

static bool read_input(struct check *c, const char **error) {
    const struct options *o = &c->options;
    const struct report__input before = {o->against_program, o->against};

    return read_now(c, error) &&
           (!o->against || read_side(c, &before, &c->before, error)) &&
           choose_heap(c, error) &&
           (!o->budget || report__read_budget(&c->pool, o->budget, o->update,
                                              &c->budget, error));
}

static bool is_same(const struct report__limit *a,
                    const struct report__limit *b) {
    if (a->what != b->what || !a->function != !b->function)
        return false;
    return !a->function || strcmp(a->function, b->function) == 0;
}

static bool has_limit(const struct check *c,
                      const struct report__limit *limit) {
    for (uint32_t i = 0; i < c->count; i++)
        if (is_same(&c->limits[i], limit))
            return true;
    return false;
}

/* All limits together.  What the file is to have, it has once; a new one is
 * about the whole heap. */
static bool collect_limits(struct check *c, const char **error) {
    const struct options *o = &c->options;
    const unsigned whole =
        c->heap == MPROF_C_HEAP ? MPROF_LIMIT_PEAK + 1 : MPROF_LIMIT_ALLOCS + 1;

    c->limits = report__alloc(
        &c->pool, (size_t)c->budget.count + o->given.count + MPROF_LIMITED,
        sizeof *c->limits);
    for (uint32_t i = 0; i < c->budget.count; i++)
        c->limits[c->count++] = c->budget.list[i].limit;
    for (uint32_t i = 0; i < o->given.count; i++)
        if (!o->update || !has_limit(c, &o->given.list[i].limit))
            c->limits[c->count++] = o->given.list[i].limit;
    const bool is_new = o->update && c->count == 0;
    for (unsigned i = 0; is_new && i < whole; i++)
        c->limits[c->count++] =
            (struct report__limit){.what = (enum report__limited)i};
    for (uint32_t i = 0; i < c->count && c->heap == MPROF_LISP_HEAP; i++) {
        enum report__limited what = report__without_self(c->limits[i].what);
        const char *place = report__limit_place(&c->pool, &c->limits[i]);
        if (what == MPROF_LIMIT_BYTES || what == MPROF_LIMIT_ALLOCS)
            continue;
        *error = report__format(
            &c->pool, "%s%sof Lisp's heap there are bytes and allocs only",
            place ? place : "", place ? ": " : "");
        return false;
    }
    if (c->count == 0)
        *error = report__format(&c->pool, "%s has no limits", o->budget);
    return c->count > 0;
}

/* Functions without names keep any limit. */
static void note_trouble(struct check *c, const struct report__input *input,
                         const struct report__recorded *side) {
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    if (!stream)
        return;
    report__print_trouble(stream, input, side->profile);
    if (fclose(stream) == 0 && size > 0)
        report__add_note(&c->pool, &c->verdicts,
                         report__copy(&c->pool, text, size - 1));
    free(text);
}

static void judge(struct check *c) {
    const struct options *o = &c->options;
    const struct report__input before = {o->against_program, o->against};

    c->verdicts =
        report__judge(&c->pool, &c->now, o->against ? &c->before : NULL,
                      c->heap, o->shared.all_frames, c->limits, c->count);
    note_trouble(c, &c->input, &c->now);
    if (o->against)
        note_trouble(c, &before, &c->before);
}

static void print(struct check *c) {
    const struct report__profile *profile = c->now.profile;
    FILE *out = c->output.stream;

    if (c->options.format == TAP)
        report__export_tap(out, &c->verdicts, &c->pool);
    else if (c->options.format == JUNIT)
        report__export_junit(out, &c->verdicts,
                             report__what_ran(&c->pool, profile), &c->pool);
    else
        report__print_verdicts(
            out, &c->verdicts,
            c->options.shared.choice.verbosity == MPROF_VERBOSE, &c->pool);
}

static uint64_t with_slack(uint64_t number, uint32_t slack) {
    enum { ALL = 10000 };
    unsigned __int128 more =
        ((unsigned __int128)number * (ALL + slack) + ALL - 1) / ALL;

    return more > UINT64_MAX ? UINT64_MAX : (uint64_t)more;
}

/* The numbers that become limits.  One for a function that did not allocate
 * stays: with 0 it would never fail again, and the name may be mistyped. */
static uint64_t *new_numbers(struct check *c) {
    uint64_t *numbers = report__alloc(&c->pool, c->count, sizeof *numbers);

    for (uint32_t i = 0; i < c->count; i++)
        numbers[i] = c->verdicts.list[i].is_absent
                         ? c->limits[i].most
                         : with_slack(c->verdicts.list[i].is, c->options.slack);
    return numbers;
}

static bool write_budget(struct check *c, const uint64_t *numbers,
                         const char **error) {
    struct report__output file = {.stream = NULL};
    const uint32_t old = c->budget.count;

    if (report__output_open(&file, c->options.budget, &c->pool, error)) {
        report__write_budget(file.stream, &c->budget, numbers, c->limits + old,
                             numbers + old, c->count - old);
        report__output_finish(&file, &c->pool, error);
    }
    report__output_discard(&file);
    return *error == NULL;
}

static void print_update(struct check *c, const uint64_t *numbers) {
    FILE *out = c->output.stream;
    const uint32_t old = c->budget.count;
    uint32_t changed = 0;

    for (uint32_t i = 0; i < old; i++)
        changed += numbers[i] != c->limits[i].most;
    report__print_name(out, c->options.budget);
    fprintf(out,
            ": %" PRIu32 " of %" PRIu32 " limits changed, %" PRIu32 " added\n",
            changed, old, c->count - old);
    for (uint32_t i = 0; i < c->count; i++) {
        if (i < old && numbers[i] == c->limits[i].most)
            continue;
        fputs("  ", out);
        report__print_name(out, report__limit_text(&c->pool, &c->limits[i]));
        if (i < old)
            fprintf(out, ": %s ->", report__grouped(c->limits[i].most).text);
        else
            putc(':', out);
        fprintf(out, " %s\n", report__grouped(numbers[i]).text);
    }
    report__print_notes(out, &c->verdicts);
}

static void check(struct check *c, const char **error) {
    const struct options *o = &c->options;

    if (!read_input(c, error) || !collect_limits(c, error))
        return;
    judge(c);
    const uint64_t *numbers = o->update ? new_numbers(c) : NULL;
    if (!report__output_open(&c->output, o->shared.output, &c->pool, error) ||
        (o->update && !write_budget(c, numbers, error)))
        return;
    if (o->update)
        print_update(c, numbers);
    else
        print(c);
}

static int run(struct check *c) {
    const char *error = NULL;

    if (!c->options.shared.help)
        check(c, &error);
    else if (report__output_open(&c->output, c->options.shared.output, &c->pool,
                                 &error))
        print_help(c->output.stream);
    if (error || !report__output_finish(&c->output, &c->pool, &error)) {
        if (error)
            fprintf(c->err, "mprof: %s\n", error);
        return 1;
    }
    return report__all_kept(&c->verdicts) || c->options.update ? 0 : NOT_KEPT;
}

static int run_guarded(struct check *c, int argc, char **argv) {
    jmp_buf nomem;

    c->pool.nomem = &nomem;
    if (setjmp(nomem)) {
        fputs("mprof: out of memory\n", c->err);
        return 1;
    }
    return parse(c, argc, argv) ? run(c) : 2;
}

int report__check_main(int argc, char **argv, FILE *out, FILE *err) {
    struct check c = {.output = {.stream = out}, .err = err};
    int status = run_guarded(&c, argc, argv);

    report__output_discard(&c.output);
    report__together_free(&c.together);
    report__pool_free(&c.pool);
    return status;
}
