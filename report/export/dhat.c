/* dhat.c - JSON for DHAT's viewer (dhatFileVersion 2, see dhat/main.c of
 * Valgrind).  A program point is a chain.  Time is counted in bytes that were
 * allocated, as lifetimes are here.  A point's own maximum is not known: it is
 * at least its size at the peak, and at the end.
 */
#include <inttypes.h>

#include "report/export/chains.h"

/* A life below so much is a short one to the viewer. */
enum { SHORT_LIFE = 10000 };

static uint64_t larger(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

static void put_lives(FILE *out, const struct report__sum *s) {
    const uint64_t *n = s->numbers;
    uint64_t lifetime =
        s->lifetime > UINT64_MAX ? UINT64_MAX : (uint64_t)s->lifetime;

    fprintf(out,
            ",\"tl\":%" PRIu64 ",\"mb\":%" PRIu64 ",\"mbk\":%" PRIu64
            ",\"gb\":%" PRIu64 ",\"gbk\":%" PRIu64 ",\"eb\":%" PRIu64
            ",\"ebk\":%" PRIu64,
            lifetime,
            larger(n[MPROF_NUMBER_PEAK_BYTES], n[MPROF_NUMBER_KEPT_BYTES]),
            larger(n[MPROF_NUMBER_PEAK_ALLOCS], n[MPROF_NUMBER_KEPT_ALLOCS]),
            n[MPROF_NUMBER_PEAK_BYTES], n[MPROF_NUMBER_PEAK_ALLOCS],
            n[MPROF_NUMBER_KEPT_BYTES], n[MPROF_NUMBER_KEPT_ALLOCS]);
}

static void put_points(const struct report__export *e,
                       const struct report__chains *c) {
    uint32_t *room = report__alloc(e->pool, c->depth + 1, sizeof *room);
    bool lives = e->options->sampling.heap == MPROF_C_HEAP;

    for (uint32_t i = 0; report__put_list(e->out, "pps", i, c->sum_count);
         i++) {
        const struct report__sum *s = &c->sums[i];
        uint32_t depth = report__chain_frames(c, s->chain, room);
        fprintf(e->out, "{\"tb\":%" PRIu64 ",\"tbk\":%" PRIu64,
                s->numbers[MPROF_NUMBER_BYTES],
                s->numbers[MPROF_NUMBER_ALLOCS]);
        if (lives)
            put_lives(e->out, s);
        for (uint32_t k = 0; k < depth; k++)
            fprintf(e->out, "%s%" PRIu32, k == 0 ? ",\"fs\":[" : ",",
                    room[k] + 1);
        fputs("]}", e->out);
    }
}

/* "FUNCTION (FILE:LINE)"; the first is that which all chains begin at. */
static void put_frames(const struct report__export *e,
                       const struct report__chains *c) {
    const char **clean = report__clean_names(e->pool, e->names, false);
    const char **files = report__file_names(e);

    fputs("\"[root]\"", e->out);
    for (uint32_t i = 0; i < c->frames.count; i++) {
        const struct report__pair *frame = &c->frames.list[i];
        const struct report__pair place =
            report__frame_place(e->names, frame->b);
        fputs(",\n\"", e->out);
        report__put_json_part(e->out, clean[frame->a]);
        if (place.a > 0) {
            fputs(" (", e->out);
            report__put_json_part(e->out, files[place.a]);
            fprintf(e->out, ":%" PRIu32 ")", place.b);
        }
        putc('"', e->out);
    }
}

void report__export_dhat(const struct report__export *e) {
    const struct report__chains *c = report__make_chains(e, true);
    const struct report__profile *p = e->profile;
    bool lives = e->options->sampling.heap == MPROF_C_HEAP;
    uint64_t all = 0, at_peak = 0;

    for (uint32_t i = 0; i < c->sum_count; i++)
        all += c->sums[i].numbers[MPROF_NUMBER_BYTES];
    for (uint32_t i = 0; i < p->moment_count; i++)
        if (p->moments[i].is_peak)
            at_peak = p->moments[i].allocated;
    fprintf(e->out,
            "{\"dhatFileVersion\":2,\"mode\":\"heap\",\"verb\":\"Allocated\""
            ",\"bklt\":%s,\"bkacc\":false,\"tu\":\"bytes\",\"Mtu\":\"MB\"",
            lives ? "true" : "false");
    if (lives)
        fprintf(e->out, ",\"tuth\":%d,\"tg\":%" PRIu64, SHORT_LIFE, at_peak);
    fprintf(e->out, ",\"te\":%" PRIu64 ",\"pid\":%" PRIu32 ",\n\"cmd\":", all,
            p->pid);
    report__put_json(e->out, report__what_ran(e->pool, p));
    put_points(e, c);
    fputs(",\n\"ftbl\":[", e->out);
    put_frames(e, c);
    fputs("]}\n", e->out);
}
