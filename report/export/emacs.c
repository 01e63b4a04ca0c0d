/* emacs.c - a memory profile of Emacs' profiler: a hash table of backtraces,
 * innermost function first, with their bytes.
 */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "report/export/chains.h"

/* Write NAME as a symbol, whatever characters it has.  The symbol `nil` would
 * end the backtrace. */
static void put_symbol(FILE *out, const char *name) {
    const char *all = name;

    for (; *name != '\0'; name++) {
        if ((unsigned char)*name < 0x80 && !isalnum((unsigned char)*name))
            putc('\\', out);
        putc(*name, out);
    }
    if (strcmp(all, "nil") == 0)
        fputs("\\(\\)", out);
}

void report__export_emacs(const struct report__export *e) {
    const struct report__chains *c = report__make_chains(e, false);
    const char **clean = report__clean_names(e->pool, e->names, false);
    uint32_t *room = report__alloc(e->pool, c->depth + 1, sizeof *room);
    uint64_t seconds = e->profile->start_time / 1000000000;

    fputs("[profiler-profile \"28.1\" memory "
          "#s(hash-table test equal data (\n",
          e->out);
    for (uint32_t i = 0; i < c->sum_count; i++) {
        uint64_t number = c->sums[i].numbers[e->options->metric];
        uint32_t depth = report__chain_frames(c, c->sums[i].chain, room);
        if (number == 0)
            continue;
        putc('[', e->out);
        for (uint32_t k = 0; k < depth; k++) {
            put_symbol(e->out, clean[c->frames.list[room[k]].a]);
            putc(' ', e->out);
        }
        fprintf(e->out, "nil] %" PRIu64 "\n", number);
    }
    /* When, as Emacs has it: the upper and the lower 16 bits. */
    fprintf(e->out, ")) (%" PRIu64 " %" PRIu64 ") nil]\n", seconds >> 16,
            seconds & 0xffff);
}
