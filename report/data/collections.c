/* collections.c - what the collector of the Lisp heap did. */
#include <string.h>

#include "report/data/reader.h"

/* While the program halves its list, some points are there twice. */
static void add(struct report__profile *p,
                const struct mprof_collection *point) {
    if (p->collection_count > 0 &&
        point->collections <=
            p->collections[p->collection_count - 1].collections)
        return;
    p->collections[p->collection_count++] =
        (struct report__collection){.time = point->time,
                                    .allocated = point->allocated,
                                    .before = point->before,
                                    .after = point->after,
                                    .collections = point->collections,
                                    .ns = point->ns};
}

bool report__read_collections(struct report__reader *r, uint64_t at) {
    struct report__profile *p = r->profile;
    struct mprof_collections in;

    report__take(r, at, &in, sizeof in);
    if (p->collections != NULL)
        return report__damaged(r, at, "a second list of collections");
    if (in.count > MPROF_COLLECTION_POINTS)
        return report__damaged(r, at + MPROF_FIELD(collections, count),
                               "there is no room for so many");
    p->collections =
        report__alloc(r->pool, in.count + 1, sizeof *p->collections);
    for (uint32_t i = 0; i < in.count; i++)
        add(p, &in.points[i]);
    p->collected = in.collections;
    p->collecting = in.ns;
    p->most_before = in.highest;
    return true;
}
