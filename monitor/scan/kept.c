/* kept.c - what keeps blocks of the C heap, by the names of variables. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "monitor/graph/keepers.h"
#include "monitor/scan/scanning.h"

enum { LONGEST = 4096 };

static const struct mprof__area *area_of(const struct mprof__scan *s,
                                         uint32_t node) {
    return node > 0 && node <= s->graph.roots ? &s->areas[node - 1] : NULL;
}

static const struct mprof__block *block_of(const struct mprof__scan *s,
                                           uint32_t node) {
    return node > s->graph.roots && node < mprof__graph_unknown(&s->graph)
               ? &s->blocks[node - mprof__graph_first_object(&s->graph)]
               : NULL;
}

static void name_thread(char *text, size_t size, const char *what, pid_t tid) {
    if (tid == getpid())
        snprintf(text, size, "%s of the main thread", what);
    else
        snprintf(text, size, "%s of thread %d", what, (int)tid);
}

static void name_area(const struct mprof__area *area, char *text, size_t size) {
    const struct mprof__variable *v = area->variable;
    if (v != NULL && v->is_file)
        snprintf(text, size, "data of %s", v->name);
    else if (v != NULL)
        snprintf(text, size, "the %svariable %s",
                 v->is_local ? "thread-local " : "", v->name);
    else if (area->is_stack)
        name_thread(text, size, "the stack", area->tid);
    else if (area->tid != 0)
        name_thread(text, size, "data", area->tid);
    else
        snprintf(text, size, "memory that is no allocator's");
}

/* Return the keeper for AREA; NULL: for lost blocks; SHARED: with others. */
static uint32_t keeper_of_area(struct mprof__keepers *keepers,
                               const struct mprof__area *area, bool is_shared) {
    char text[LONGEST];
    enum mprof_keeper_kind kind = MPROF_KEEPER_UNKNOWN;
    if (area == NULL) {
        snprintf(text, sizeof text, "nothing: it is lost");
    } else {
        name_area(area, text, sizeof text);
        kind = is_shared        ? MPROF_KEEPER_SHARED
               : area->is_stack ? MPROF_KEEPER_UNCERTAIN
                                : MPROF_KEEPER_ROOT;
    }
    if (is_shared)
        strncat(text, ", and others", sizeof text - strlen(text) - 1);
    /* Two variables may have one name. */
    bool is_static = area != NULL && area->variable != NULL &&
                     !area->variable->is_local && !area->variable->is_file;
    uint64_t id = mprof__hash_text(text, strlen(text)) ^
                  (is_static ? area->variable->start : 0);
    return mprof__keepers_add(keepers, 0, id, kind, text, 0);
}

void mprof__scan_keepers(const struct mprof__scan *s,
                         struct mprof__keepers *keepers) {
    const struct mprof__graph *g = &s->graph;
    size_t bytes = (size_t)g->count * sizeof(uint32_t);
    uint32_t *keeper = mprof__map(bytes);
    keepers->failed |= keeper == NULL;
    for (uint32_t i = 1; i < g->count && !keepers->failed; i++) {
        uint32_t node = g->order[i], outer = g->dominator[node];
        const struct mprof__block *block = block_of(s, node);
        if (block == NULL) {
            /* Those without anything get no name. */
            keeper[node] =
                g->bytes[node] == 0
                    ? 0
                    : keeper_of_area(keepers, area_of(s, node), false);
            continue;
        }
        uint32_t out =
            outer == 0
                ? keeper_of_area(
                      keepers, area_of(s, mprof__graph_root_of(g, node)), true)
                : keeper[outer];
        /* Blocks of one counter are alike. */
        keeper[node] =
            mprof__keepers_add(keepers, out, block->counter,
                               MPROF_KEEPER_OBJECT, NULL, block->counter);
        mprof__keepers_count(keepers, keeper[node], block->counter,
                             block->bytes);
    }
    mprof__unmap(keeper, bytes);
    mprof__keepers_finish(keepers, MPROF__SMALL_KEEPER, "other stacks");
}
