/* curve.c - see curve.h. */
#define _GNU_SOURCE
#include "monitor/heap/curve.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "monitor/base/atomic.h"
#include "monitor/base/self.h"
#include "monitor/format/process.h"
#include "monitor/file/arena.h"

/* Between the first points, and samples.  A list of n entries takes n samples,
 * and n / 2 each time that it was full: 60 + 31 * 30 is less than 1000. */
enum { FIRST_BYTES = 1024, FIRST_NS = 1000 * 1000, MOST_RSS_HALVINGS = 31 };

void mprof__curve_begin(struct mprof__curve *curve,
                        struct mprof__arena *arena) {
    mprof__lock(&arena->lock);
    if (curve->record == NULL && !curve->refused) {
        struct mprof_curve *record =
            mprof__arena_has_room(arena, MPROF__FOR_COUNTERS)
                ? mprof__arena_record(arena, MPROF_CURVE, sizeof *record)
                : NULL;
        if (record != NULL) {
            record->step = FIRST_BYTES;
            record->rss_step = FIRST_NS;
            mprof__arena_publish(arena, record);
        }
        mprof__store_relaxed(&curve->refused, record == NULL);
        mprof__store_release(&curve->record, record);
    }
    mprof__unlock(&arena->lock);
}

/* Over all SIZEs. */
struct sums {
    struct mprof_count allocated;
    uint64_t frees;
};

static struct sums add_up(struct mprof__finder *sizes,
                          const struct mprof__arena *arena) {
    struct sums sums = {{0, 0}, 0};
    mprof__find_more(sizes, arena, MPROF_SIZE);
    for (const struct mprof__found *f = sizes->found; f != NULL; f = f->older)
        for (uint32_t i = 0; i < f->count; i++) {
            const struct mprof_size *size = (const void *)f->list[i];
            sums.allocated.allocs +=
                mprof__load_relaxed(&size->allocated.allocs);
            sums.allocated.bytes += mprof__load_relaxed(&size->allocated.bytes);
            sums.frees += mprof__load_relaxed(&size->freed.allocs);
        }
    return sums;
}

void mprof__curve_sums(struct mprof__curve *curve,
                       const struct mprof__arena *arena, uint64_t *bytes,
                       uint64_t *allocs, uint64_t *frees) {
    struct sums sums = add_up(&curve->sizes, arena);
    *bytes = sums.allocated.bytes;
    *allocs = sums.allocated.allocs;
    *frees = sums.frees;
}

/* The second number, of pages. */
static uint64_t resident_bytes(void) {
    char text[128];
    uint64_t pages = 0;
    int state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text);
    if (fd >= 0)
        close(fd);
    pthread_setcancelstate(state, NULL);
    ssize_t i = 0;
    while (i < n && text[i] != ' ')
        i++;
    for (i++; i < n && text[i] >= '0' && text[i] <= '9'; i++)
        pages = 10 * pages + (uint64_t)(text[i] - '0');
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Every other one of COUNT entries of BYTES at LIST stays. */
static uint32_t halve(char *list, uint32_t count, size_t bytes) {
    for (uint32_t i = 1; i < count / 2; i++)
        memcpy(list + i * bytes, list + 2 * i * bytes, bytes);
    return count / 2;
}

static void sample_rss(struct mprof__curve *curve, struct mprof_curve *record,
                       uint64_t time) {
    if (record->rss_count == MPROF_CURVE_RSS) {
        if (record->rss_step >> MOST_RSS_HALVINGS >= FIRST_NS)
            return;
        mprof__store_release(
            &record->rss_count,
            halve((char *)record->rss, MPROF_CURVE_RSS, sizeof *record->rss));
        record->rss_step *= 2;
    }
    /* Where system calls are filtered this one may kill the program. */
    uint64_t bytes = prctl(PR_GET_SECCOMP) == 0 ? resident_bytes() : 0;
    curve->next_rss = time + record->rss_step;
    if (bytes == 0)
        return;
    record->rss[record->rss_count] = (struct mprof_rss){time, bytes};
    mprof__store_release(&record->rss_count, record->rss_count + 1);
}

void mprof__curve_add(struct mprof__curve *curve, struct mprof__arena *arena,
                      uint64_t allocated, uint64_t current) {
    struct mprof_curve *record = curve->record;
    if (record->count >= MPROF_CURVE_POINTS) {
        mprof__store_release(&record->count,
                             halve((char *)record->points, MPROF_CURVE_POINTS,
                                   sizeof *record->points));
        record->step *= 2;
    }
    uint64_t time = mprof__arena_time(arena, mprof__clock(CLOCK_MONOTONIC));
    struct sums sums = add_up(&curve->sizes, arena);
    record->points[record->count] = (struct mprof_point){
        time, allocated, current, sums.allocated.allocs - sums.frees + 1};
    mprof__store_release(&record->count, record->count + 1);
    curve->next = allocated + record->step;
    if (time >= curve->next_rss)
        sample_rss(curve, record, time);
}
