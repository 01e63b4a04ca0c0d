/* listing.c - see listing.h. */
#include "report/tables/listing.h"

struct layout {
    FILE *out;
    int pid_width, allocs_width, bytes_width, kept_width, file_width;
};

struct report__listed report__listed_of(struct report__pool *pool,
                                        const char *file,
                                        const struct report__profile *profile) {
    const char *program =
        *profile->command ? profile->command : profile->program;
    struct report__listed listed = {
        .file = file,
        .program = report__copy(pool, program, strlen(program)),
        .process = profile->process,
        .parent = profile->parent,
        .ppid = profile->ppid,
        .open = profile->open,
        .has_c = report__has_heap(profile, MPROF_C_HEAP),
        .start_time = profile->start_time,
        .duration = profile->duration};

    for (unsigned heap = 0; heap < MPROF_HEAPS; heap++) {
        const struct report__totals t = report__total(profile, heap);
        report__add_count(&listed.allocated, &t.allocated);
        if (heap == MPROF_C_HEAP)
            listed.kept = report__count_left(t.allocated, &t.freed);
    }
    return listed;
}

static int compare_times(const void *a, const void *b) {
    const struct report__listed *x = a, *y = b;
    return report__up(x->start_time, y->start_time)
               ?: report__up(x->process.pid, y->process.pid)
               ?: strcmp(x->file, y->file);
}

static int compare_bytes(const void *a, const void *b) {
    const struct report__listed *x = a, *y = b;
    return report__down(x->allocated.bytes, y->allocated.bytes)
               ?: compare_times(a, b);
}

static bool is_same_machine(const struct report__listed *a,
                            const struct report__listed *b) {
    return a->process.boot == b->process.boot &&
           a->process.pids == b->process.pids;
}

/* Process PID has a file of the COUNT in LIST that began before X. */
static bool is_listed(const struct report__listed *list, uint32_t count,
                      const struct report__listed *x, uint32_t pid) {
    for (uint32_t i = 0; i < count; i++)
        if (&list[i] != x && list[i].process.pid == pid &&
            list[i].start_time <= x->start_time && is_same_machine(&list[i], x))
            return true;
    return false;
}

/* Find the parent of each process.  A program that was executed in an
 * unrecorded child is below the process, too. */
static void find_parents(struct report__listed *list, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        struct report__listed *x = &list[i];
        if (!x->parent && x->ppid && is_listed(list, count, x, x->ppid) &&
            !is_listed(list, count, x, x->process.pid))
            x->parent = x->ppid;
    }
}

/* Return the last file of process PID that began before file I. */
static uint32_t last_of(const struct report__listed *list, uint32_t i,
                        uint32_t pid) {
    const struct report__listed *x = &list[i];

    while (i-- > 0)
        if (list[i].process.pid == pid && is_same_machine(&list[i], x))
            return i;
    return MPROF_NONE;
}

/* The file that each is below, or MPROF_NONE.  A program that took the place of
 * another one in its process is below that. */
static uint32_t *find_above(struct report__pool *pool,
                            const struct report__listed *list, uint32_t count) {
    uint32_t *above = report__alloc(pool, count, sizeof *above);

    for (uint32_t i = 0; i < count; i++)
        above[i] = last_of(
            list, i, list[i].parent ? list[i].parent : list[i].process.pid);
    return above;
}

static void print_numbers(const struct layout *l,
                          const struct mprof_count *allocated, bool has_c,
                          const struct mprof_count *kept) {
    fprintf(l->out, " %*" PRIu64 " %*" PRIu64, l->allocs_width,
            allocated->allocs, l->bytes_width, allocated->bytes);
    if (has_c)
        fprintf(l->out, " %*" PRIu64 "  ", l->kept_width, kept->bytes);
    else
        fprintf(l->out, " %*s  ", l->kept_width, "-");
}

static void print_row(const struct layout *l, const struct report__listed *f,
                      uint32_t level) {
    enum { DEEPEST = 20 };
    static const char *const fates[] = {
        [MPROF__RUNS] = " [still running]",
        [MPROF__HAS_ENDED] = " [did not close the file]",
        [MPROF__NOT_KNOWN] = " [runs, or did not close the file]"};

    fprintf(l->out, "%s %8.3f %*" PRIu32, report__date(f->start_time).text,
            (double)f->duration / 1e9, l->pid_width, f->process.pid);
    if (f->parent)
        fprintf(l->out, " %*" PRIu32, l->pid_width, f->parent);
    else
        fprintf(l->out, " %*s", l->pid_width, "-");
    print_numbers(l, &f->allocated, f->has_c, &f->kept);
    report__print_name(l->out, f->file);
    report__rule(l->out, ' ', l->file_width - (int)strlen(f->file));
    report__rule(l->out, ' ', 2 + 2 * (int)(level < DEEPEST ? level : DEEPEST));
    report__print_name(l->out, *f->program ? f->program : "unknown program");
    fputs(f->open ? fates[mprof__process_fate(&f->process)] : "", l->out);
    putc('\n', l->out);
}

static void print_heading(const struct layout *l) {
    enum { DATE = 19 };
    int width =
        fprintf(l->out, "%-*s %8s %*s %*s %*s %*s %*s  %-*s  program\n", DATE,
                "begun", "seconds", l->pid_width, "process", l->pid_width,
                "parent", l->allocs_width, "allocs", l->bytes_width, "bytes",
                l->kept_width, "kept bytes", l->file_width, "file");
    report__underline(l->out, width + 11);
}

/* Print those of the COUNT files from FIRST on that are directly below PARENT,
 * each followed by its own; a file comes after its parent in time. */
static void print_tree(const struct layout *l,
                       const struct report__listed *list, const uint32_t *above,
                       uint32_t first, uint32_t count, uint32_t parent,
                       uint32_t level) {
    for (uint32_t i = first; i < count; i++)
        if (above[i] == parent) {
            print_row(l, &list[i], level);
            print_tree(l, list, above, i + 1, count, i, level + 1);
        }
}

void report__print_listing(FILE *out, struct report__listed *list,
                           uint32_t count, enum report__listing_order order,
                           struct report__pool *pool) {
    struct layout l = {.out = out, .pid_width = 7, .file_width = 10};
    struct mprof_count allocated = {0, 0}, kept = {0, 0};
    bool has_c = false;

    if (count > 0)
        qsort(list, count, sizeof *list,
              order == MPROF_LIST_BYTES ? compare_bytes : compare_times);
    find_parents(list, count);
    for (uint32_t i = 0; i < count; i++) {
        report__add_count(&allocated, &list[i].allocated);
        report__add_count(&kept, &list[i].kept);
        has_c |= list[i].has_c;
        l.pid_width = report__width(l.pid_width, list[i].process.pid);
        l.file_width = report__larger(l.file_width, (int)strlen(list[i].file));
    }
    l.allocs_width = report__width(9, allocated.allocs);
    l.bytes_width = report__width(11, allocated.bytes);
    l.kept_width = report__width(11, kept.bytes);
    print_heading(&l);
    if (order == MPROF_LIST_TREE)
        print_tree(&l, list, find_above(pool, list, count), 0, count,
                   MPROF_NONE, 0);
    for (uint32_t i = 0; order != MPROF_LIST_TREE && i < count; i++)
        print_row(&l, &list[i], 0);
    fprintf(out, "%-*s", 19 + 9 + 2 * (l.pid_width + 1), "<TOTAL>");
    print_numbers(&l, &allocated, has_c, &kept);
    fprintf(out, "%" PRIu32 " file%s\n", count, count == 1 ? "" : "s");
}
