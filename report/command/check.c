/* check.c - the command `mprof check`: does a profile keep its budget? */
#include "report/command/command.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/export/verdicts.h"

enum { NOT_KEPT = 3 };

struct check {
    struct report__call *call;
    const struct report__options *options;
    struct report__pool *pool;
    struct report__input input;
    enum mprof_heap heap;
    struct report__recorded now, before;
    struct report__budget budget;
    struct report__limit *limits; /* of the budget, then those given */
    uint32_t count;
    struct report__verdicts verdicts;
};

bool report__check_check(struct report__call *call,
                         struct report__parse *parse) {
    const struct report__budget_options *o = &call->options.budget;

    if (o->update && !o->file)
        return report__refuse(parse, "--update needs --budget=FILE");
    if (o->against_program && !o->against)
        return report__refuse(parse, "--against names a program, but no data "
                                     "file");
    return o->file || o->given.count > 0 ||
           report__refuse(parse, "no limit: give --max or --budget; see: mprof "
                                 "check --help");
}

/* The profile of INPUT with its names.  False: *ERROR is a sentence. */
static bool read_side(struct check *c, const struct report__input *input,
                      struct report__recorded *side, const char **error) {
    side->profile = report__read(c->pool, input->data, true, error);
    if (!side->profile ||
        !report__check_program(input, side->profile, c->pool, error))
        return false;
    side->names =
        report__name_functions(c->pool, side->profile, input->program);
    report__shorten_names(c->pool, side->names);
    return true;
}

static bool choose_heap(struct check *c, const char **error) {
    const struct report__budget_options *o = &c->options->budget;
    const unsigned heaps =
        report__choose_heaps(c->call, &c->input, c->now.profile, error);

    if (heaps)
        c->heap = report__choose_heap(c->call, &c->input, heaps, error);
    if (*error)
        return false;
    if (o->against && !report__has_heap(c->before.profile, c->heap))
        *error =
            report__format(c->pool, "%s: the %s heap was not recorded",
                           o->against, c->heap == MPROF_C_HEAP ? "C" : "Lisp");
    else if (report__sampling(c->now.profile, c->heap) != 0 ||
             (o->against && report__sampling(c->before.profile, c->heap) != 0))
        *error = report__format(c->pool,
                                "%s: the numbers are estimated from a sample, "
                                "and a budget is for what is exact",
                                c->now.profile->sampling != 0 ? c->input.data
                                                              : o->against);
    return *error == NULL;
}

/* Several data files are one profile. */
static bool read_now(struct check *c, const char **error) {
    c->call->together.no_arguments = c->options->format == MPROF_CHECK_JUNIT;
    c->now.profile = report__read_files(c->call, true, &c->input, error);
    if (!c->now.profile)
        return false;
    c->now.names =
        report__name_functions(c->pool, c->now.profile, c->input.program);
    report__shorten_names(c->pool, c->now.names);
    return true;
}

static bool read_input(struct check *c, const char **error) {
    const struct report__budget_options *o = &c->options->budget;
    const struct report__input before = {o->against_program, o->against};

    return read_now(c, error) &&
           (!o->against || read_side(c, &before, &c->before, error)) &&
           choose_heap(c, error) &&
           (!o->file || report__read_budget(c->pool, o->file, o->update,
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
    const struct report__budget_options *o = &c->options->budget;
    const unsigned whole =
        c->heap == MPROF_C_HEAP ? MPROF_LIMIT_PEAK + 1 : MPROF_LIMIT_ALLOCS + 1;

    c->limits = report__alloc(
        c->pool, (size_t)c->budget.count + o->given.count + MPROF_LIMITED,
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
        const char *place = report__limit_place(c->pool, &c->limits[i]);
        if (what == MPROF_LIMIT_BYTES || what == MPROF_LIMIT_ALLOCS)
            continue;
        *error = report__format(
            c->pool, "%s%sof Lisp's heap there are bytes and allocs only",
            place ? place : "", place ? ": " : "");
        return false;
    }
    if (c->count == 0)
        *error = report__format(c->pool, "%s has no limits", o->file);
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
        report__add_note(c->pool, &c->verdicts,
                         report__copy(c->pool, text, size - 1));
    free(text);
}

static void judge(struct check *c) {
    const struct report__budget_options *o = &c->options->budget;
    const struct report__input before = {o->against_program, o->against};

    c->verdicts =
        report__judge(c->pool, &c->now, o->against ? &c->before : NULL, c->heap,
                      c->options->all_frames, c->limits, c->count);
    note_trouble(c, &c->input, &c->now);
    if (o->against)
        note_trouble(c, &before, &c->before);
}

static void print(struct check *c) {
    const struct report__profile *profile = c->now.profile;
    FILE *out = c->call->output.stream;

    if (c->options->format == MPROF_CHECK_TAP)
        report__export_tap(out, &c->verdicts, c->pool);
    else if (c->options->format == MPROF_CHECK_JUNIT)
        report__export_junit(out, &c->verdicts,
                             report__what_ran(c->pool, profile), c->pool);
    else
        report__print_verdicts(out, &c->verdicts,
                               c->options->choice.verbosity == MPROF_VERBOSE,
                               c->pool);
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
    uint64_t *numbers = report__alloc(c->pool, c->count, sizeof *numbers);

    for (uint32_t i = 0; i < c->count; i++)
        numbers[i] =
            c->verdicts.list[i].is_absent
                ? c->limits[i].most
                : with_slack(c->verdicts.list[i].is, c->options->budget.slack);
    return numbers;
}

static bool write_budget(struct check *c, const uint64_t *numbers,
                         const char **error) {
    struct report__output file = {.stream = NULL};
    const uint32_t old = c->budget.count;

    if (report__output_open(&file, c->options->budget.file, c->pool, error)) {
        report__write_budget(file.stream, &c->budget, numbers, c->limits + old,
                             numbers + old, c->count - old);
        report__output_finish(&file, c->pool, error);
    }
    report__output_discard(&file);
    return *error == NULL;
}

static void print_update(struct check *c, const uint64_t *numbers) {
    FILE *out = c->call->output.stream;
    const uint32_t old = c->budget.count;
    uint32_t changed = 0;

    for (uint32_t i = 0; i < old; i++)
        changed += numbers[i] != c->limits[i].most;
    report__print_name(out, c->options->budget.file);
    fprintf(out,
            ": %" PRIu32 " of %" PRIu32 " limits changed, %" PRIu32 " added\n",
            changed, old, c->count - old);
    for (uint32_t i = 0; i < c->count; i++) {
        if (i < old && numbers[i] == c->limits[i].most)
            continue;
        fputs("  ", out);
        report__print_name(out, report__limit_text(c->pool, &c->limits[i]));
        if (i < old)
            fprintf(out, ": %s ->", report__grouped(c->limits[i].most).text);
        else
            putc(':', out);
        fprintf(out, " %s\n", report__grouped(numbers[i]).text);
    }
    report__print_notes(out, &c->verdicts);
}

int report__run_check(struct report__call *call, const char **error) {
    const struct report__options *o = &call->options;
    struct check c = {.call = call, .options = o, .pool = &call->pool};

    if (!read_input(&c, error) || !collect_limits(&c, error))
        return 1;
    judge(&c);
    const uint64_t *numbers = o->budget.update ? new_numbers(&c) : NULL;
    if (!report__begin_output(call, error) ||
        (o->budget.update && !write_budget(&c, numbers, error)))
        return 1;
    if (o->budget.update)
        print_update(&c, numbers);
    else
        print(&c);
    return report__all_kept(&c.verdicts) || o->budget.update ? 0 : NOT_KEPT;
}
