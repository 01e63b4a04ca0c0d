/* listing.c - chains one by one, those with most bytes first: as text for
 * people, innermost function first as in a debugger, and as an s-expression for
 * Lisp.
 *
 *     ((BYTES ALLOCS (NAME FILE LINE) ...) ...)     FILE and LINE: or NIL
 */
#include <inttypes.h>
#include <stdlib.h>

#include "report/export/chains.h"
#include "report/tables/tables.h"

enum { WIDEST = 48 }; /* width of the column of names */

struct listing {
    const struct report__export *e;
    const struct report__chains *chains;
    const char **names, **files;
    uint32_t *room; /* for the frames of a chain */
    uint32_t count; /* of chains that are listed */
};

static int compare(const void *a, const void *b) {
    const struct report__sum *x = a, *y = b;
    const int bytes = MPROF_NUMBER_BYTES, allocs = MPROF_NUMBER_ALLOCS;
    return report__down(x->numbers[bytes], y->numbers[bytes])
           ?: report__down(x->numbers[allocs], y->numbers[allocs])
           ?: report__up(x->chain, y->chain);
}

/* The chains that allocated, sorted. */
static struct listing make(const struct report__export *e) {
    struct report__chains *c = report__make_chains(e, true);
    uint32_t most = e->options->rows, count = 0;

    for (uint32_t i = 0; i < c->sum_count; i++)
        if (c->sums[i].numbers[MPROF_NUMBER_ALLOCS] > 0)
            c->sums[count++] = c->sums[i];
    c->sum_count = count;
    if (count > 0)
        qsort(c->sums, count, sizeof *c->sums, compare);
    return (struct listing){
        .e = e,
        .chains = c,
        .names = report__clean_names(e->pool, e->names, false),
        .files = report__file_names(e),
        .room = report__alloc(e->pool, c->depth + 1, sizeof(uint32_t)),
        .count = most > 0 && most < count ? most : count};
}

/* The frame INDEX of the chain in L->room: its name, its line and the file, ""
 * if that is not known. */
static const char *frame_at(const struct listing *l, uint32_t index,
                            const char **file, uint32_t *line) {
    const struct report__pair *frame = &l->chains->frames.list[l->room[index]];
    const struct report__pair place =
        report__frame_place(l->e->names, frame->b);

    *file = l->files[place.a];
    *line = place.b;
    return l->names[frame->a];
}

/* The frames of the chain in L->room, DEPTH of them. */
static void put_frames(const struct listing *l, uint32_t depth) {
    FILE *out = l->e->out;
    const char *file;
    uint32_t line;
    int width = 0;

    for (uint32_t i = 0; i < depth; i++) {
        int length = (int)report__columns(frame_at(l, i, &file, &line));
        if (length > width && length <= WIDEST && *file)
            width = length;
    }
    for (uint32_t i = 0; i < depth; i++) {
        const char *name = frame_at(l, i, &file, &line);
        fprintf(out, "    %s", name);
        if (*file)
            fprintf(out, "%*s  %s:%" PRIu32,
                    report__larger(0, width - (int)report__columns(name)), "",
                    file, line);
        putc('\n', out);
    }
}

void report__export_text(const struct report__export *e) {
    const struct listing l = make(e);
    uint64_t bytes = 0, allocs = 0;

    for (uint32_t i = 0; i < l.chains->sum_count; i++) {
        const struct report__sum *sum = &l.chains->sums[i];
        if (i >= l.count) {
            bytes += sum->numbers[MPROF_NUMBER_BYTES];
            allocs += sum->numbers[MPROF_NUMBER_ALLOCS];
            continue;
        }
        SAY(e->out, "  # bytes in # allocation~\n",
            sum->numbers[MPROF_NUMBER_BYTES],
            sum->numbers[MPROF_NUMBER_ALLOCS]);
        put_frames(&l, report__chain_frames(l.chains, sum->chain, l.room));
    }
    const uint64_t left = l.chains->sum_count - l.count;
    if (left > 0)
        SAY(e->out, "  # bytes in # allocation~ by @ other chain~\n", bytes,
            allocs, left);
}

void report__export_sexp(const struct report__export *e) {
    const struct listing l = make(e);
    const char *file;
    uint32_t line;

    putc('(', e->out);
    for (uint32_t i = 0; i < l.count; i++) {
        const struct report__sum *sum = &l.chains->sums[i];
        uint32_t depth = report__chain_frames(l.chains, sum->chain, l.room);
        SAY(e->out, i ? "\n (@ @" : "(@ @", sum->numbers[MPROF_NUMBER_BYTES],
            sum->numbers[MPROF_NUMBER_ALLOCS]);
        for (uint32_t k = 0; k < depth; k++) {
            fputs(" (", e->out);
            report__print_string(e->out, frame_at(&l, k, &file, &line));
            putc(' ', e->out);
            if (*file)
                report__print_string(e->out, file);
            SAY(e->out, *file ? " @)" : "NIL NIL)", line);
        }
        putc(')', e->out);
    }
    fputs(")\n", e->out);
}
