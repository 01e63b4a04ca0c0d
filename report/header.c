/* header.c - the lines above the tables: what was profiled, and how well. */
#include "tables.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <time.h>

struct mprof__totals mprof__total(const struct mprof__profile *profile) {
    struct mprof__totals t = {0};

    for (uint32_t i = 0; i < profile->node_count; i++) {
        t.allocs += mprof__allocs(&profile->nodes[i].own);
        t.bytes += mprof__bytes(&profile->nodes[i].own);
    }
    for (uint32_t i = 0; i < profile->bin_count; i++) {
        const struct mprof__bin *bin = &profile->bins[i];
        t.objects.allocs += bin->objects.allocs;
        t.objects.bytes += bin->objects.bytes;
        t.storage.allocs += bin->storage.allocs;
        t.storage.bytes += bin->storage.bytes;
    }
    for (uint32_t i = 0; i < profile->thread_count; i++) {
        t.folded += profile->threads[i].folded_allocs;
        t.cut += profile->threads[i].cut_allocs;
    }
    return t;
}

bool *mprof__threads_that_allocated(const struct mprof__profile *profile,
                                    struct mprof__pool *pool) {
    bool *allocated =
        mprof__alloc(pool, profile->thread_count, sizeof *allocated);
    for (uint32_t i = 0; i < profile->node_count; i++)
        if (mprof__allocs(&profile->nodes[i].own) > 0)
            allocated[profile->nodes[i].thread] = true;
    return allocated;
}

/* "340 B", "1.2 KiB": BYTES for people. */
static const char *human(struct mprof__pool *pool, uint64_t bytes) {
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB"};
    double value = (double)bytes / 1024;
    size_t unit = 0;

    if (bytes < 1024)
        return mprof__format(pool, "%" PRIu64 " B", bytes);
    while (value >= 1024 && unit + 1 < sizeof units / sizeof *units) {
        value /= 1024;
        unit++;
    }
    return mprof__format(pool, "%.*f %s", value < 10 ? 1 : 0, value,
                         units[unit]);
}

static void print_date(FILE *out, uint64_t ns) {
    time_t seconds = (time_t)(ns / 1000000000u);
    struct tm tm;
    char text[64];
    if (localtime_r(&seconds, &tm) &&
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &tm) > 0)
        fputs(text, out);
    else
        fputs("date unknown", out);
}

static void print_open(FILE *out, const struct mprof__profile *profile) {
    bool alive = profile->pid > 0 && profile->pid <= INT32_MAX &&
                 (kill((pid_t)profile->pid, 0) == 0 || errno == EPERM);
    if (alive)
        fprintf(out,
                "The program (process %" PRIu32
                ") is still running: this is what it allocated so far.\n",
                profile->pid);
    else
        fprintf(out,
                "The program (process %" PRIu32
                ") was killed: this is what it allocated until then.\n",
                profile->pid);
}

static const char *plural(uint64_t n) {
    return n == 1 ? "" : "s";
}

static void print_sums(FILE *out, const struct mprof__totals *t) {
    fprintf(out, "%s allocation%s, %s bytes: ", mprof__grouped(t->allocs).text,
            plural(t->allocs), mprof__grouped(t->bytes).text);
    fprintf(out, "%s object%s (%s bytes) and ",
            mprof__grouped(t->objects.allocs).text, plural(t->objects.allocs),
            mprof__grouped(t->objects.bytes).text);
    fprintf(out, "%s storage block%s (%s bytes)\n",
            mprof__grouped(t->storage.allocs).text, plural(t->storage.allocs),
            mprof__grouped(t->storage.bytes).text);
}

void mprof__print_header(FILE *out, const struct mprof__profile *profile,
                         struct mprof__pool *pool) {
    struct mprof__totals t = mprof__total(profile);
    const bool *allocated = mprof__threads_that_allocated(profile, pool);
    uint32_t threads = 0;
    const char *command =
        *profile->command ? profile->command : profile->program;

    for (uint32_t i = 0; i < profile->thread_count; i++)
        threads += allocated[i];
    fprintf(out, "mprof %s: ", MPROF__VERSION);
    mprof__print_name(out, *command ? command : "unknown program");
    if (*profile->runtime)
        fprintf(out, " (%s)", profile->runtime);
    fputs(", ", out);
    print_date(out, profile->start_time);
    fprintf(out, ", %" PRIu64 ".%03" PRIu64 " s\n",
            profile->duration / 1000000000u,
            profile->duration / 1000000u % 1000u);
    if (profile->open)
        print_open(out, profile);
    print_sums(out, &t);
    fprintf(out, "%" PRIu32 " thread%s; %s allocations folded, ", threads,
            plural(threads), mprof__grouped(t.folded).text);
    fprintf(out, "%s cut, ", mprof__grouped(t.cut).text);
    fprintf(out, "%s unplaced; ",
            mprof__grouped(profile->unplaced_allocs).text);
    fprintf(out, "monitor memory %s, data %s\n",
            human(pool, profile->memory_bytes),
            human(pool, profile->file_bytes));
    if (profile->unplaced_allocs > 0)
        fprintf(out,
                "Unplaced: %s bytes, in none of the sums above and below.\n",
                mprof__grouped(profile->unplaced_bytes).text);
}
