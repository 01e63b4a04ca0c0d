/* processes.c - the first lines of a report of several processes. */
#include "report/tables/tables.h"

#include "monitor/format/paths.h"
#include "report/base/dictionary.h"

struct program {
    const char *name;
    uint32_t count;
};

static int compare_programs(const void *a, const void *b) {
    const struct program *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return strcmp(x->name, y->name);
}

static const char *base_of(const char *path) {
    path = mprof__base_name(path);
    return *path ? path : "unknown program";
}

/* Print the programs with the most processes first. */
static void print_programs(FILE *out, const struct report__profile *profile,
                           struct report__pool *pool) {
    enum { MOST = 5 };
    struct program *list =
        report__alloc(pool, profile->process_count, sizeof *list);
    struct report__dictionary numbers = {0};
    uint32_t n = 0, others = 0;

    for (uint32_t i = 0; i < profile->process_count; i++) {
        const char *name = base_of(profile->processes[i].program);
        uint32_t number = report__intern(pool, &numbers, name, n);
        if (number == n)
            list[n++].name = name;
        list[number].count++;
    }
    qsort(list, n, sizeof *list, compare_programs);
    for (uint32_t i = 0; i < n; i++) {
        if (i >= MOST) {
            others += list[i].count;
            continue;
        }
        fputs(i > 0 ? ", " : " of ", out);
        report__print_name(out, list[i].name);
        if (list[i].count > 1 && n > 1)
            fprintf(out, " (%s)", report__grouped(list[i].count).text);
    }
    if (others > 0)
        fprintf(out, ", others (%s)", report__grouped(others).text);
}

/* Of those whose files are open this is what they allocated until then. */
static void print_fates(FILE *out, const struct report__profile *profile) {
    static const char *const fates[] = {
        [MPROF__RUNS] = "Processes that still run: # (with what they allocated "
                        "so far)\n",
        [MPROF__HAS_ENDED] =
            "Processes that ended without closing their files: # (killed, or "
            "left by a crash, _exit, quick_exit or exec)\n",
        [MPROF__NOT_KNOWN] = "Processes of other containers that still run, or "
                             "were killed: #\n"};
    uint32_t counts[sizeof fates / sizeof *fates] = {0};

    for (uint32_t i = 0; i < profile->process_count; i++)
        if (profile->processes[i].open)
            counts[mprof__process_fate(&profile->processes[i].process)]++;
    for (size_t i = 0; i < sizeof fates / sizeof *fates; i++)
        if (counts[i] > 0)
            SAY(out, fates[i], counts[i]);
}

void report__print_processes(FILE *out, const struct report__profile *profile,
                             struct report__pool *pool) {
    fprintf(out, "mprof %s: %s processes", MPROF_PACKAGE_VERSION,
            report__grouped(profile->process_count).text);
    print_programs(out, profile, pool);
    report__print_when(out, profile, "", " in all");
    if (profile->open)
        print_fates(out, profile);
}
