/* speedscope.c - JSON for speedscope, see its file-format-schema.json: frames,
 * and for each number a profile of chains with their weights.  A frame is a
 * function, so that the viewer adds up its calls from all lines.
 */
#include <inttypes.h>

#include "report/export/chains.h"

static const struct {
    const char *name, *unit;
} numbers[MPROF_NUMBERS] = {
    [MPROF_NUMBER_ALLOCS] = {"allocations", "none"},
    [MPROF_NUMBER_BYTES] = {"bytes", "bytes"},
    [MPROF_NUMBER_KEPT_ALLOCS] = {"kept allocations", "none"},
    [MPROF_NUMBER_KEPT_BYTES] = {"kept bytes", "bytes"},
    [MPROF_NUMBER_PEAK_ALLOCS] = {"allocations at the peak", "none"},
    [MPROF_NUMBER_PEAK_BYTES] = {"bytes at the peak", "bytes"},
    [MPROF_NUMBER_TEMPORARY] = {"temporary allocations", "none"}};

static void put_stacks(FILE *out, const struct report__chains *c,
                       uint32_t *room, int number) {
    unsigned long count = 0;

    for (uint32_t i = 0; i < c->sum_count; i++) {
        if (c->sums[i].numbers[number] == 0)
            continue;
        report__put_comma(out, &count);
        uint32_t depth = report__chain_frames(c, c->sums[i].chain, room);
        for (uint32_t k = depth; k-- > 0;)
            fprintf(out, "%c%" PRIu32, k + 1 == depth ? '[' : ',', room[k]);
        putc(']', out);
    }
}

static void put_profile(const struct report__export *e,
                        const struct report__chains *c, uint32_t *room,
                        int number) {
    unsigned long count = 0;
    uint64_t total = 0;

    fprintf(e->out,
            "{\"type\":\"sampled\",\"name\":\"%s\",\"unit\":\"%s\",\n"
            "\"samples\":[",
            numbers[number].name, numbers[number].unit);
    put_stacks(e->out, c, room, number);
    fputs("],\n\"weights\":[", e->out);
    for (uint32_t i = 0; i < c->sum_count; i++) {
        if (c->sums[i].numbers[number] == 0)
            continue;
        report__put_comma(e->out, &count);
        fprintf(e->out, "%" PRIu64, c->sums[i].numbers[number]);
        total += c->sums[i].numbers[number];
    }
    fprintf(e->out, "],\n\"startValue\":0,\"endValue\":%" PRIu64 "}", total);
}

static void put_frames(const struct report__export *e,
                       const struct report__chains *c) {
    const char **clean = report__clean_names(e->pool, e->names, false);
    const uint32_t *files = report__files_of(e);
    const char **names = report__file_names(e);
    unsigned long count = 0;

    for (uint32_t i = 0; i < c->frames.count; i++) {
        uint32_t function = c->frames.list[i].a;
        report__put_comma(e->out, &count);
        fputs("\n{\"name\":", e->out);
        report__put_json(e->out, clean[function]);
        if (files[function] > 0) {
            fputs(",\"file\":", e->out);
            report__put_json(e->out, names[files[function]]);
        }
        putc('}', e->out);
    }
}

void report__export_speedscope(const struct report__export *e) {
    const struct report__chains *c = report__make_chains(e, false);
    uint32_t *room = report__alloc(e->pool, c->depth + 1, sizeof *room);
    int count = report__numbers_of(e->options->sampling.heap);
    unsigned long before = 0;

    fputs("{\"$schema\":"
          "\"https://www.speedscope.app/file-format-schema.json\",\n"
          "\"exporter\":\"mprof " MPROF_PACKAGE_VERSION "\",\"name\":",
          e->out);
    report__put_json(e->out, report__what_ran(e->pool, e->profile));
    fprintf(e->out, ",\n\"activeProfileIndex\":%d,\n\"profiles\":[",
            MPROF_NUMBER_BYTES);
    for (int i = 0; i < count; i++) {
        report__put_comma(e->out, &before);
        put_profile(e, c, room, i);
    }
    fputs("],\n\"shared\":{\"frames\":[", e->out);
    put_frames(e, c);
    fputs("]}}\n", e->out);
}
