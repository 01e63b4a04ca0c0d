/* history.c - see history.h. */
#define _GNU_SOURCE
#include "history.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SITES = 4096, HEIGHTS = 1 << 20 };

struct count {
    uint64_t objects, bytes;
};

static struct site {
    const void *address;
    struct count all, live, at_peak;
    uint64_t temporary;
    __int128 lifetime;
} sites[SITES];
static unsigned site_count;

/* Each time that the heap was higher than before; LATEST is when the event
 * after the last of them began. */
static struct height { uint64_t bytes, time; } heights[HEIGHTS];
static size_t height_count;
static uint64_t latest;

static struct count live, peak;
static uint64_t allocated;
static bool is_high; /* nothing was freed since the last of the heights */
static __thread const void *last;
static int trace = -1; /* file */

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* What dprintf() does, without memory. */
static void __attribute__((format(printf, 2, 3)))
put(int fd, const char *format, ...) {
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length < 0 || write(fd, line, (size_t)length) != length)
        _exit(99);
}

unsigned history_site(const void *address) {
    unsigned i = 0;
    while (i < site_count && sites[i].address != address)
        i++;
    if (i == SITES)
        return SITES - 1;
    if (i == site_count)
        sites[site_count++].address = address;
    return i;
}

void history_begin(unsigned site, const void *object, size_t bytes) {
    struct site *s = &sites[site];
    uint64_t time = now();
    if (latest == 0)
        latest = time;
    live.objects++;
    live.bytes += bytes;
    s->all.objects++;
    s->all.bytes += bytes;
    s->live.objects++;
    s->live.bytes += bytes;
    allocated += bytes;
    s->lifetime -= allocated;
    last = object;
    if (live.bytes > peak.bytes || (is_high && bytes == 0)) {
        if (live.bytes > peak.bytes && height_count < HEIGHTS)
            heights[height_count++] = (struct height){live.bytes, time};
        peak = live;
        is_high = true;
        latest = 0;
    }
    if (trace >= 0)
        put(trace, "%lu %lu %lu\n", (unsigned long)allocated,
            (unsigned long)live.bytes, (unsigned long)live.objects);
}

static void leave_height(void) {
    for (unsigned i = 0; is_high && i < site_count; i++)
        sites[i].at_peak = sites[i].live;
    is_high = false;
}

void history_end(unsigned site, const void *object, size_t bytes) {
    struct site *s = &sites[site];
    if (latest == 0)
        latest = now();
    leave_height();
    live.objects--;
    live.bytes -= bytes;
    s->live.objects--;
    s->live.bytes -= bytes;
    s->lifetime += allocated;
    s->temporary += last == object;
    last = NULL;
}

void history_clear(void) {
    memset(sites, 0, sizeof sites);
    live = peak = (struct count){0, 0};
    allocated = latest = 0;
    site_count = 0;
    height_count = 0;
    is_high = false;
}

void history_trace(const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s.trace", name);
    trace = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
}

uint64_t history_peak(void) {
    return peak.bytes;
}

uint64_t history_peak_objects(void) {
    return peak.objects;
}

static uint64_t earliest(void) {
    size_t i = 0;
    while (i < height_count &&
           heights[i].bytes + heights[i].bytes / 1024 + 64 < peak.bytes)
        i++;
    return i < height_count ? heights[i].time : 0;
}

static void write_site(int fd, const struct site *s) {
    Dl_info info;
    /* What still lives does so until the end. */
    __int128 lifetime = s->lifetime + (__int128)s->live.objects * allocated;
    const char *name = "?";
    uintptr_t offset = (uintptr_t)s->address;
    if (dladdr(s->address, &info) != 0 && info.dli_sname != NULL) {
        name = info.dli_sname;
        offset -= (uintptr_t)info.dli_saddr;
    }
    put(fd, "site %s+%lu %lu %lu %lu %lu %lu %lu\n", name,
        (unsigned long)offset, (unsigned long)s->at_peak.bytes,
        (unsigned long)s->at_peak.objects, (unsigned long)s->all.objects,
        (unsigned long)s->all.bytes, (unsigned long)s->temporary,
        (unsigned long)(lifetime / (__int128)s->all.objects));
}

void history_write(const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s.%d", name, (int)getpid());
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return;
    leave_height();
    put(fd, "peak %lu %lu %lu %lu\n", (unsigned long)peak.bytes,
        (unsigned long)peak.objects, (unsigned long)earliest(),
        (unsigned long)(latest == 0 ? now() : latest));
    put(fd, "current %lu %lu\n", (unsigned long)live.bytes,
        (unsigned long)live.objects);
    for (unsigned i = 0; i < site_count; i++)
        write_site(fd, &sites[i]);
    close(fd);
}
