/* log.c - see log.h.
 *
 * The lines follow the grammar that mprof.log(5) gives.
 */
#define _GNU_SOURCE
#include "monitor/log/log.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "monitor/base/atomic.h"
#include "monitor/base/self.h"
#include "monitor/format/process.h"
#include "monitor/file/arena.h"
#include "monitor/heap/live.h"

/* Of the next recording; with the lock of record/recording_lock.h. */
static struct mprof__log_options wanted;

void mprof__log_set(const struct mprof__log_options *options) {
    wanted = *options;
}

void mprof__log_again(const struct mprof__log *log) {
    static char wanted_path[PATH_MAX];
    if (log->file.path[0] != '\0')
        wanted.path = strcpy(wanted_path, log->file.path);
}

static void join(struct mprof__log *log, struct mprof__log_errors *errors) {
    struct mprof__group *group = &log->group;
    if (!mprof__group_join(group, wanted.group)) {
        errors->group = wanted.group;
        errors->group_error = errno;
        return;
    }
    mprof__arena_header(log->arena)->grouped = 1;
    mprof__group_change(group, -(int64_t)wanted.orphaned);
    wanted.orphaned = 0;
}

void mprof__log_begin(struct mprof__log *log, struct mprof__arena *arena,
                      struct mprof__live *heap,
                      struct mprof__log_errors *errors) {
    *errors = (struct mprof__log_errors){.path = NULL};
    log->arena = arena;
    log->heap = heap;
    pthread_mutex_init(&log->lock, NULL);
    log->timed = wanted.timed || wanted.path != NULL || wanted.group != NULL;
    log->plain = wanted.plain;
    log->threshold = wanted.threshold;
    heap->watched = log->timed;
    mprof__arena_header(arena)->timed = log->timed;
    if (wanted.group != NULL)
        join(log, errors);
    if (wanted.path == NULL)
        return;
    if (!mprof__log_file_create(&log->file, wanted.path)) {
        errors->path = log->file.path;
        errors->path_error = errno;
        mprof__log_file_close(&log->file);
        log->file.refused = 0; /* nothing more is said of it */
    }
    wanted.path = NULL;
}

/* It is NOW. */
static void pass(struct mprof__log *log, uint64_t now) {
    if (log->running) {
        log->recorded += now - log->time;
        log->load += (unsigned __int128)(now - log->time) *
                     (uint64_t)(log->live < 0 ? 0 : log->live);
    }
    log->time = now;
}

/* Of two the older one is written, and is then the newer one: who is killed
 * leaves one that is whole. */
static void publish(const struct mprof__log *log) {
    struct mprof_header *header = mprof__arena_header(log->arena);
    uint32_t next = !header->newer_load;
    struct mprof_load *load = &header->loads[next];
    mprof__store_relaxed(&load->load[0], (uint64_t)log->load);
    mprof__store_relaxed(&load->load[1], (uint64_t)(log->load >> 64));
    mprof__store_relaxed(&load->time, log->recorded);
    mprof__store_relaxed(&load->live, (uint64_t)log->live);
    mprof__store_release(&header->newer_load, next);
}

void mprof__log_enter(struct mprof__log *log) {
    mprof__lock(&log->lock);
    pass(log, mprof__clock(CLOCK_MONOTONIC));
}

void mprof__log_leave(struct mprof__log *log) {
    mprof__group_change(&log->group, log->heap->live - log->live);
    log->live = log->heap->live;
    publish(log);
    mprof__unlock(&log->lock);
}

/* Lines */

static char *add_text(char *at, const char *text) {
    size_t length = strlen(text);
    memcpy(at, text, length);
    return at + length;
}

static char *add_decimal(char *at, uint64_t number) {
    char digits[20];
    size_t n = 0;
    do
        digits[n++] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    while (n > 0)
        *at++ = digits[--n];
    return at;
}

/* Behind NAME and "=", or for those who want numbers alone a blank. */
static char *add_number(char *at, const struct mprof__log *log,
                        const char *name, uint64_t number) {
    return add_decimal(add_text(at, log->plain ? " " : name), number);
}

static char *add_address(char *at, const struct mprof__log *log,
                         const char *name, const void *address) {
    uintptr_t number = (uintptr_t)address;
    int shift = 60;
    at = add_text(add_text(at, log->plain ? " " : name), "0x");
    while (shift > 0 && number >> shift == 0)
        shift -= 4;
    for (; shift >= 0; shift -= 4)
        *at++ = "0123456789abcdef"[number >> shift & 15];
    return at;
}

static char *add_header(char *at, const struct mprof__log *log, uint32_t tid,
                        enum mprof_log_type type) {
    static const char *const names[] = MPROF_LOG_NAMES;
    if (log->plain) {
        at = add_decimal(at, log->time);
    } else {
        at = add_decimal(add_text(at, "secs="), log->time / 1000000000);
        at = add_number(at, log, " nsecs=", log->time % 1000000000);
    }
    at = add_number(at, log, " tid=", tid);
    *at++ = ' ';
    return log->plain ? add_decimal(at, type) : add_text(at, names[type]);
}

static void write_line(struct mprof__log *log,
                       const struct mprof__log_entry *e) {
    char *from = mprof__log_file_room(&log->file);
    if (from == NULL)
        return;
    char *at = add_header(from, log, e->tid, e->type);
    switch (e->type) {
    case MPROF_LOG_FREE:
        at = add_address(at, log, " ptr=", e->old);
        break;
    case MPROF_LOG_MALLOC:
        at = add_address(at, log, " ptr=", e->fresh);
        at = add_number(at, log, " size=", e->bytes);
        break;
    case MPROF_LOG_CALLOC:
        at = add_address(at, log, " ptr=", e->fresh);
        at = add_number(at, log, " num=", e->count);
        at = add_number(at, log, " elem=", e->count ? e->bytes / e->count : 0);
        break;
    case MPROF_LOG_REALLOC:
        at = add_address(at, log, " newptr=", e->fresh);
        at = add_address(at, log, " ptr=", e->old);
        at = add_number(at, log, " size=", e->bytes);
        break;
    case MPROF_LOG_STAMP:
        break;
    }
    *at++ = '\n';
    log->file.used += (size_t)(at - from);
}

void mprof__log_write(struct mprof__log *log, struct mprof__log_entry *entry) {
    bool tells_fresh = entry->is_fresh && entry->bytes >= log->threshold;
    bool tells_old = entry->is_old && entry->old_bytes >= log->threshold;
    if (!tells_fresh && !tells_old)
        return;
    if (!tells_fresh)
        entry->type = MPROF_LOG_FREE;
    write_line(log, entry);
}

/* The beginning and the end */

void mprof__log_run(struct mprof__log *log, bool running, uint64_t now) {
    const struct mprof__log_entry entry = {.type = MPROF_LOG_STAMP,
                                           .tid = (uint32_t)gettid()};
    if (!log->timed)
        return;
    mprof__lock(&log->lock);
    pass(log, now);
    log->running = running;
    publish(log);
    write_line(log, &entry);
    mprof__unlock(&log->lock);
}

void mprof__log_settle(struct mprof__log *log) {
    if (!log->timed)
        return;
    mprof__lock(&log->lock);
    mprof__log_file_settle(&log->file);
    mprof__unlock(&log->lock);
}

void mprof__log_retire(struct mprof__log *log) {
    if (!log->timed)
        return;
    mprof__lock(&log->lock);
    mprof__group_leave(&log->group, log->live);
    mprof__unlock(&log->lock);
}

void mprof__log_end(struct mprof__log *log) {
    mprof__group_forget(&log->group);
    mprof__log_file_close(&log->file);
    pthread_mutex_destroy(&log->lock);
}
