/* check.c - the command `mprof check`: does a profile keep its budget? */
#include "report/command/command.h"

#include "report/export/verdicts.h"

enum { NOT_KEPT = 3 };

struct check {
    struct report__call *call;
    const struct report__options *options;
    struct report__pool *pool;
    struct report__input old; /* of `before`, if it has data */
    enum mprof_heap heap;
    struct report__recorded now, before;
    struct report__budget budget;
    struct report__limit *limits; /* the budget's, then the given ones */
    uint32_t count;
    struct report__verdicts verdicts;
};

bool report__check_check(struct report__call *call) {
    const struct report__budget_options *o = &call->options.budget;

    if (o->update && !o->file)
        return report__refuse(call, "--update needs --budget=FILE");
    if (o->against_program && !o->against)
        return report__refuse(call, "--against names a program, but no data "
                                    "file");
    return o->file || o->given.count > 0 ||
           report__refuse(call, "no limit: give --max or --budget; see: mprof "
                                "check --help");
}

static struct report__recorded recorded(struct check *c,
                                        const struct report__profile *profile,
                                        const struct report__input *input) {
    struct report__functions *names =
        report__name_functions(c->pool, profile, input->program);

    report__shorten_names(c->pool, names);
    return (struct report__recorded){profile, names};
}

/* Read the input: several data files are one profile. */
static bool read_input(struct check *c) {
    const struct report__budget_options *o = &c->options->budget;
    const struct report__profile *now, *before = NULL;
    struct report__call *call = c->call;

    if (!report__read_files(call, c->options->format == MPROF_CHECK_JUNIT))
        return false;
    now = call->profile;
    c->now = recorded(c, now, &call->input);
    if (o->against) {
        before = report__read_input(c->pool, &c->old, false, &call->error);
        if (!before)
            return false;
        c->before = recorded(c, before, &c->old);
    }
    c->heap = report__choose_heap(call);
    if (call->error)
        return false;
    if (before && !report__has_heap(before, c->heap))
        return report__fail(call, "%s: the %s heap was not recorded",
                            o->against, report__heap_names[c->heap]);
    if (report__sampling(now, c->heap) != 0 ||
        (before && report__sampling(before, c->heap) != 0))
        return report__fail(call,
                            "%s: the numbers are estimated from a sample, "
                            "and a budget is for what is exact",
                            now->sampling != 0 ? call->input.data : o->against);
    return !o->file || report__read_budget(c->pool, o->file, o->update,
                                           &c->budget, &call->error);
}

static bool has_limit(const struct check *c,
                      const struct report__limit *limit) {
    for (uint32_t i = 0; i < c->count; i++) {
        const char *a = c->limits[i].function, *b = limit->function;
        if (c->limits[i].what == limit->what &&
            (a && b ? strcmp(a, b) == 0 : a == b))
            return true;
    }
    return false;
}

/* Collect all limits.  An updated file has each of them once; a new file limits
 * the whole heap. */
static bool collect_limits(struct check *c) {
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
        if (what != MPROF_LIMIT_BYTES && what != MPROF_LIMIT_ALLOCS)
            return report__fail(
                c->call, "%s%sof Lisp's heap there are bytes and allocs only",
                place ? place : "", place ? ": " : "");
    }
    return c->count > 0 || report__fail(c->call, "%s has no limits", o->file);
}

/* Functions without names keep any limit. */
static void note_trouble(struct check *c, const struct report__input *input,
                         const struct report__profile *profile) {
    struct report__memory text;

    report__print_trouble(report__memory_open(&text, c->pool), input, profile);
    char *note = report__memory_close(&text);
    if (*note != '\0') {
        note[strlen(note) - 1] = '\0';
        report__add_note(c->pool, &c->verdicts, note);
    }
}

static void judge(struct check *c) {
    const bool is_pair = c->options->budget.against;

    c->verdicts =
        report__judge(c->pool, &c->now, is_pair ? &c->before : NULL, c->heap,
                      c->options->all_frames, c->limits, c->count);
    note_trouble(c, &c->call->input, c->now.profile);
    if (is_pair)
        note_trouble(c, &c->old, c->before.profile);
}

static void print(struct check *c) {
    FILE *out = c->call->output.stream;

    if (c->options->format == MPROF_CHECK_TAP)
        report__export_tap(out, &c->verdicts, c->pool);
    else if (c->options->format == MPROF_CHECK_JUNIT)
        report__export_junit(out, &c->verdicts,
                             report__what_ran(c->pool, c->now.profile),
                             c->pool);
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

static bool write_budget(struct check *c, const uint64_t *numbers) {
    struct report__output file = {.stream = NULL};
    const uint32_t old = c->budget.count;

    const char **error = &c->call->error;
    if (report__output_open(&file, c->options->budget.file, c->pool, error)) {
        report__write_budget(file.stream, &c->budget, numbers, c->limits + old,
                             numbers + old, c->count - old);
        report__output_finish(&file, c->pool, error);
    }
    report__output_discard(&file);
    return !*error;
}

static void print_update(struct check *c, const uint64_t *numbers) {
    FILE *out = c->call->output.stream;
    const uint32_t old = c->budget.count;
    uint32_t changed = 0;

    for (uint32_t i = 0; i < old; i++)
        changed += numbers[i] != c->limits[i].most;
    report__print_name(out, c->options->budget.file);
    if (old > 0)
        SAY(out, ": @ of @ limit~ changed", changed, old);
    if (c->count > old)
        SAY(out, old > 0 ? ", @ added" : ": @ limit~ added", c->count - old);
    putc('\n', out);
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

int report__run_check(struct report__call *call) {
    const struct report__budget_options *o = &call->options.budget;
    struct check c = {.call = call,
                      .options = &call->options,
                      .pool = &call->pool,
                      .old = {o->against_program, o->against}};

    if (!read_input(&c) || !collect_limits(&c))
        return 1;
    judge(&c);
    const uint64_t *numbers = o->update ? new_numbers(&c) : NULL;
    if (!report__begin_output(call) ||
        (o->update && !write_budget(&c, numbers)))
        return 1;
    if (o->update)
        print_update(&c, numbers);
    else
        print(&c);
    return report__all_kept(&c.verdicts) || o->update ? 0 : NOT_KEPT;
}
