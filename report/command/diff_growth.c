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

/* What may grow too much, in all and by function. */
static const struct {
    enum report__diff_number number, of_function;
    const char *in_all, *itself; /* NULL: as the heap is called */
} judged[] = {
    {MPROF_DIFF_BYTES, MPROF_DIFF_SELF, NULL, " itself"},
    {MPROF_DIFF_KEPT, MPROF_DIFF_KEPT, "the bytes kept", ": bytes kept"},
    {MPROF_DIFF_PEAK, MPROF_DIFF_PEAK, "the peak", ": bytes at the peak"}};
enum { JUDGED = sizeof judged / sizeof *judged };

/* Of FUNCTIONS that whose NUMBER grew most by more than LIMIT, and their
 * *COUNT. */
static const struct report__diff_row *
find_worst(const struct report__growth_limit *limit,
           const struct report__diff *functions,
           enum report__diff_number number, uint64_t *count) {
    const struct report__diff_row *worst = NULL;

    *count = 0;
    for (uint32_t i = 0; i < functions->count; i++) {
        const struct report__diff_row *row = &functions->rows[i];
        if (!is_too_much(limit, &row->numbers[number]))
            continue;
        ++*count;
        if (!worst || report__change(&row->numbers[number]) >
                          report__change(&worst->numbers[number]))
            worst = row;
    }
    return worst;
}

/* The worst function by what is judged by J, if EACH function is. */
static void print_worst(FILE *err, const struct report__diff_row *worst, int j,
                        uint64_t count) {
    report__print_name(err, worst->name);
    fprintf(err, "%s from ", judged[j].itself);
    print_growth(err, &worst->numbers[judged[j].of_function]);
    if (count > 1)
        fprintf(err, "; and %s more function%s",
                report__grouped(count - 1).text, count == 2 ? "" : "s");
}

bool report__check_growth(const struct report__growth_limit *limit,
                          const struct report__diff *functions, bool each,
                          enum mprof_heap heap, FILE *err) {
    const char *separator = "mprof: diff: too much growth: ";
    bool grew = false;

    for (int j = 0; j < JUDGED; j++) {
        const struct report__change *all =
            &functions->total.numbers[judged[j].number];
        uint64_t count = 0;
        if (!(functions->numbers >> judged[j].number & 1))
            continue;
        const struct report__diff_row *worst =
            each ? find_worst(limit, functions, judged[j].of_function, &count)
                 : NULL;
        if (is_too_much(limit, all)) {
            fprintf(err, "%s%s from ", separator,
                    judged[j].in_all       ? judged[j].in_all
                    : heap == MPROF_C_HEAP ? "the C heap"
                                           : "the Lisp heap");
            print_growth(err, all);
            separator = "; ";
            grew = true;
        }
        if (worst) {
            fputs(separator, err);
            print_worst(err, worst, j, count);
            separator = "; ";
            grew = true;
        }
    }
    if (grew)
        putc('\n', err);
    return grew;
}
