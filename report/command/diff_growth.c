/* diff_growth.c - whether there is too much growth. */
#include "report/base/utf8.h"
#include "report/command/command.h"

static bool is_too_much(const struct report__growth_limit *limit,
                        const struct report__change *c) {
    const uint64_t by = report__change(c);

    return report__grew(c) && by > limit->bytes &&
           (unsigned __int128)by * limit->share.of >
               (unsigned __int128)c->numbers[MPROF_OLD] * limit->share.by;
}

static void print_growth(FILE *err, const struct report__change *c) {
    fprintf(err, "%s to %s bytes (%s, %s)",
            report__grouped(c->numbers[MPROF_OLD]).text,
            report__grouped(c->numbers[MPROF_NEW]).text,
            report__signed(c, true).text, report__growth(c).text);
}

/* Of FUNCTIONS that which grew most by more than LIMIT, and their *COUNT. */
static const struct report__diff_row *
find_worst(const struct report__growth_limit *limit,
           const struct report__diff *functions, uint64_t *count) {
    const struct report__diff_row *worst = NULL;

    for (uint32_t i = 0; i < functions->count; i++) {
        const struct report__diff_row *row = &functions->rows[i];
        const struct report__change *c = &row->numbers[MPROF_DIFF_SELF];
        if (!is_too_much(limit, c))
            continue;
        ++*count;
        if (!worst || report__change(c) >
                          report__change(&worst->numbers[MPROF_DIFF_SELF]))
            worst = row;
    }
    return worst;
}

bool report__check_growth(const struct report__growth_limit *limit,
                          const struct report__diff *functions, bool each,
                          enum mprof_heap heap, FILE *err) {
    const struct report__change *all =
        &functions->total.numbers[MPROF_DIFF_BYTES];
    uint64_t count = 0;
    const struct report__diff_row *worst =
        each ? find_worst(limit, functions, &count) : NULL;
    const bool in_all = is_too_much(limit, all);

    if (!in_all && !worst)
        return false;
    fputs("mprof: diff: too much growth: ", err);
    if (in_all) {
        fprintf(err, "the %s heap from ", heap == MPROF_C_HEAP ? "C" : "Lisp");
        print_growth(err, all);
    }
    if (worst) {
        fputs(in_all ? "; " : "", err);
        report__print_name(err, worst->name);
        fputs(" itself from ", err);
        print_growth(err, &worst->numbers[MPROF_DIFF_SELF]);
    }
    if (count > 1)
        fprintf(err, "; and %s more function%s",
                report__grouped(count - 1).text, count == 2 ? "" : "s");
    putc('\n', err);
    return true;
}
