/* curve.c - the heaps over time. */
#include <string.h>

#include "report/data/reader.h"

/* Add a point, unless it is not later than all before: while the program halves
 * its list, some points are there twice. */
static void add_point(struct report__profile *p,
                      const struct mprof_point *point) {
    if (p->moment_count > 0 &&
        point->time <= p->moments[p->moment_count - 1].time)
        return;
    p->moments[p->moment_count++] =
        (struct report__moment){.time = point->time,
                                .allocated = point->allocated,
                                .live = {point->objects, point->current}};
}

static void add_sample(struct report__profile *p,
                       const struct mprof_rss *sample) {
    if (p->resident_count > 0 &&
        sample->time <= p->resident[p->resident_count - 1].time)
        return;
    p->resident[p->resident_count++] = *sample;
}

bool report__read_curve(struct report__reader *r, uint64_t at) {
    struct report__profile *p = r->profile;
    struct mprof_curve in;

    report__take(r, at, &in, sizeof in);
    if (p->moments != NULL)
        return report__damaged(r, at, "a second curve");
    if (in.count > MPROF_CURVE_POINTS)
        return report__damaged(r, AT(count), "there is no room for so many");
    if (in.rss_count > MPROF_CURVE_RSS)
        return report__damaged(r, AT(rss_count),
                               "there is no room for so many");
    p->moments = report__alloc(r->pool, in.count + 1, sizeof *p->moments);
    p->resident = report__alloc(r->pool, in.rss_count + 1, sizeof *p->resident);
    for (uint32_t i = 0; i < in.count; i++)
        add_point(p, &in.points[i]);
    for (uint32_t i = 0; i < in.rss_count; i++)
        add_sample(p, &in.rss[i]);
    return true;
}

bool report__read_mark(struct report__reader *r, uint64_t at) {
    struct report__profile *p = r->profile;
    struct mprof_mark in;
    struct report__moment mark = {0};

    report__take(r, at, &in, sizeof in);
    mark.time = in.time;
    mark.allocated = in.allocated;
    mark.live = (struct mprof_count){in.objects, in.current};
    if (!report__read_string(r, REF(name), 0, &mark.mark))
        return false;
    if (p->mark_count > 0 && in.time < p->marks[p->mark_count - 1].time)
        return report__damaged(r, AT(time), "a mark before the last one");
    p->marks[p->mark_count++] = mark;
    return true;
}

static struct report__moment last_moment(const struct report__profile *p) {
    struct report__moment last = {.time = p->duration};
    uint64_t freed = 0, frees = 0;

    for (uint32_t i = 0; i < p->size_count; i++) {
        last.allocated += p->sizes[i].allocated.bytes;
        last.live.allocs += p->sizes[i].allocated.allocs;
        freed += p->sizes[i].freed.bytes;
        frees += p->sizes[i].freed.allocs;
    }
    last.live.bytes = last.allocated > freed ? last.allocated - freed : 0;
    last.live.allocs = last.live.allocs > frees ? last.live.allocs - frees : 0;
    return last;
}

/* Room for the peak and the end, too; the marks are among the points. */
static void add_marks(struct report__reader *r) {
    struct report__profile *p = r->profile;
    const struct report__moment *points = p->moments;
    uint32_t count = p->moment_count, i = 0, k = 0;

    p->moments = report__alloc(r->pool, (size_t)count + p->mark_count + 2,
                               sizeof *p->moments);
    p->moment_count = count + p->mark_count;
    for (uint32_t n = 0; n < p->moment_count; n++)
        p->moments[n] =
            k == p->mark_count ||
                    (i < count && points[i].time <= p->marks[k].time)
                ? points[i++]
                : p->marks[k++];
}

/* MOMENT where it belongs. */
static void insert(struct report__profile *p,
                   const struct report__moment *moment) {
    uint32_t at = p->moment_count++;
    for (; at > 0 && p->moments[at - 1].time > moment->time; at--)
        p->moments[at] = p->moments[at - 1];
    p->moments[at] = *moment;
}

void report__settle_curve(struct report__reader *r) {
    struct report__profile *p = r->profile;
    struct report__moment last = last_moment(p);
    struct report__moment peak = {.time = p->peak_time,
                                  .allocated = p->peak_clock,
                                  .live = p->at_peak,
                                  .is_peak = true};

    if (!report__has_heap(p, MPROF_C_HEAP))
        return;
    add_marks(r);
    insert(p, &peak);
    /* An open file may be older than it says. */
    if (last.time < p->moments[p->moment_count - 1].time)
        last.time = p->moments[p->moment_count - 1].time;
    p->moments[p->moment_count++] = last;
}

/* The collections of the Lisp heap */

static void add_collection(struct report__profile *p,
                           const struct mprof_collection *point) {
    if (p->collection_count > 0 &&
        point->collections <=
            p->collections[p->collection_count - 1].collections)
        return;
    p->collections[p->collection_count++] = *point;
}

bool report__read_collections(struct report__reader *r, uint64_t at) {
    struct report__profile *p = r->profile;
    struct mprof_collections in;

    report__take(r, at, &in, sizeof in);
    if (p->collections != NULL)
        return report__damaged(r, at, "a second list of collections");
    if (in.count > MPROF_COLLECTION_POINTS)
        return report__damaged(r, AT(count), "there is no room for so many");
    p->collections =
        report__alloc(r->pool, in.count + 1, sizeof *p->collections);
    for (uint32_t i = 0; i < in.count; i++)
        add_collection(p, &in.points[i]);
    p->collected = in.collections;
    p->collecting = in.ns;
    p->most_before = in.highest;
    return true;
}
