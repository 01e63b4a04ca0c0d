/* header.c - the lines above the tables: the recording, and its quality. */
#include "report/tables/findings.h"

#include <time.h>
#include <unistd.h>

struct report__totals report__total(const struct report__profile *profile,
                                    enum mprof_heap heap) {
    struct report__totals t = {0};

    for (uint32_t i = 0; i < profile->counter_count; i++) {
        const struct report__counter *counter = &profile->counters[i];
        if (counter->heap != heap)
            continue;
        report__add_count(&t.allocated, &counter->allocated);
        report__add_count(&t.freed, &report__lived(counter)->freed);
        if (counter->is_spill)
            report__add_count(&t.folded, &counter->allocated);
    }
    for (uint32_t i = 0; i < profile->total_count; i++) {
        const struct report__total *total = &profile->totals[i];
        if (profile->threads[total->thread].heap != heap ||
            !report__is_shown_self(total, true))
            continue;
        report__add_count(&t.allocated, &total->count);
        report__add_count(&t.folded, &total->count);
    }
    for (uint32_t i = 0; heap == MPROF_LISP_HEAP && i < profile->bin_count;
         i++) {
        report__add_count(&t.objects, &profile->bins[i].objects);
        report__add_count(&t.storage, &profile->bins[i].storage);
    }
    for (uint32_t i = 0; i < profile->thread_count; i++) {
        if (profile->threads[i].heap != heap)
            continue;
        t.lost.allocs += profile->threads[i].folded_allocs;
        t.lost.bytes += profile->threads[i].folded_bytes;
        t.cut += profile->threads[i].cut_allocs;
    }
    report__add_count(&t.folded, &t.lost);
    return t;
}

bool *report__threads_that_allocated(const struct report__profile *profile,
                                     struct report__pool *pool) {
    bool *allocated =
        report__alloc(pool, profile->thread_count, sizeof *allocated);
    for (uint32_t i = 0; i < profile->counter_count; i++)
        if (profile->counters[i].allocated.allocs > 0)
            allocated[profile->nodes[profile->counters[i].node].thread] = true;
    for (uint32_t i = 0; i < profile->total_count; i++)
        allocated[profile->totals[i].thread] = true;
    return allocated;
}

struct report__text report__date(uint64_t ns) {
    time_t seconds = (time_t)(ns / 1000000000u);
    struct report__text date = {"date unknown"};
    struct tm tm;

    if (localtime_r(&seconds, &tm))
        strftime(date.text, sizeof date.text, "%Y-%m-%d %H:%M:%S", &tm);
    return date;
}

void report__print_when(FILE *out, const struct report__profile *profile,
                        const char *before, const char *behind) {
    if (*profile->runtime) {
        fputs(" (", out);
        report__print_name(out, profile->runtime);
        putc(')', out);
    }
    fprintf(out, ", %s, %s%.3f s%s\n", report__date(profile->start_time).text,
            before, (double)profile->duration / 1e9, behind);
}

static void print_fork(FILE *out, const struct report__profile *profile) {
    fprintf(out, "Process %" PRIu32 ", since process %" PRIu32 " forked it.\n",
            profile->pid, profile->parent);
}

static void print_program(FILE *out, const struct report__profile *profile) {
    const char *command =
        *profile->command ? profile->command : profile->program;

    fprintf(out, "mprof %s: ", MPROF_PACKAGE_VERSION);
    report__print_name(out, *command ? command : "unknown program");
    /* It is known when something new was seen, and at the end. */
    report__print_when(
        out, profile,
        profile->open && profile->pid != (uint32_t)getpid() ? "at least " : "",
        "");
    if (profile->parent)
        print_fork(out, profile);
}

static void print_open(FILE *out, const struct report__profile *profile) {
    /* Who prints tables of itself knows that it runs. */
    if (profile->pid == (uint32_t)getpid())
        return;
    static const char *const fates[] = {
        [MPROF__RUNS] = "is still running: this is what it allocated so far.",
        [MPROF__HAS_ENDED] =
            "ended without closing the file (killed, or left by a crash, "
            "_exit, quick_exit or exec): this is what it allocated until then.",
        [MPROF__NOT_KNOWN] =
            "of another container still runs, or was killed: this is what it "
            "allocated so far."};

    fprintf(out, "The program (process %" PRIu32 ") %s\n", profile->pid,
            fates[mprof__process_fate(&profile->process)]);
}

static void print_lisp_sums(FILE *out, const struct report__totals *t) {
    SAY(out,
        "# allocation~, # bytes: # object~ (# bytes) and # storage block~ (# "
        "bytes)\n",
        t->allocated.allocs, t->allocated.bytes, t->objects.allocs,
        t->objects.bytes, t->storage.allocs, t->storage.bytes);
}

static void print_c_sums(FILE *out, const struct report__totals *t) {
    SAY(out,
        "# allocation~, # bytes; # free~, # bytes freed; # bytes kept in # "
        "object~\n",
        t->allocated.allocs, t->allocated.bytes, t->freed.allocs,
        t->freed.bytes, t->allocated.bytes - t->freed.bytes,
        t->allocated.allocs - t->freed.allocs);
}

/* How high the C heap went, and when. */
static void print_peak(FILE *out, const struct report__profile *p) {
    const bool several = p->process_count > 0;

    fputs(several ? "peaks of the processes, added up:" : "peak", out);
    SAY(out, " # bytes in # object~", p->at_peak.bytes, p->at_peak.allocs);
    if (!several)
        fprintf(out, " after %.3f s", (double)p->peak_time / 1e9);
    putc('\n', out);
    if (p->at_peak.bytes != p->counted_peak)
        SAY(out,
            "The program counted a peak of # bytes: this is a copy that was "
            "made while it ran, and may have\nmissed what changed meanwhile.\n",
            p->counted_peak);
}

/* All numbers are estimates, and how good. */
static void print_sampling(FILE *out, const struct report__profile *p) {
    const uint64_t bytes = report__total(p, MPROF_LISP_HEAP).allocated.bytes;

    if (p->sampling == 0)
        return;
    fprintf(out,
            "All numbers%s are estimated: one byte in %s was looked at, at "
            "random.  With :live t none is.\n",
            report__has_heap(p, MPROF_C_HEAP) ? " of Lisp" : "",
            report__grouped(p->sampling).text);
    if (bytes > 0)
        fprintf(
            out,
            "The standard error is at most %.1f%% of all bytes, %.1f%% of a "
            "hundredth of them.\n",
            report__standard_error(bytes, p->sampling),
            report__standard_error(bytes / 100, p->sampling));
}

/* Print the live objects of the Lisp heap. */
static void print_alive(FILE *out, const struct report__profile *p,
                        const struct report__totals *t) {
    const struct mprof_count alive =
        report__count_left(t->allocated, &t->freed);

    SAY(out,
        p->alive_at_end
            ? "# of these bytes are alive, in # block~, after a last "
              "collection\n"
            : "# of these bytes are alive, in # block~, or were allocated "
              "since the last collection\n",
        alive.bytes, alive.allocs);
    if (p->alive_missed)
        fputs("It was not always seen what died, as a thread left the monitor "
              "in the middle: of that\nsome counts as alive.\n",
              out);
}

/* Print the collections of the Lisp heap. */
static void print_collections(FILE *out, const struct report__profile *p) {
    SAY(out, "# collection~ in ", p->collected);
    fprintf(out, "%.3f s; up to %s bytes of %s heap in use\n",
            (double)p->collecting / 1e9, report__grouped(p->most_before).text,
            p->process_count > 0 ? "one" : "the");
}

/* Return the totals of both heaps. */
static struct report__totals total_of_all(const struct report__profile *p) {
    struct report__totals all = {0};

    for (unsigned heap = 0; heap < MPROF_HEAPS; heap++) {
        const struct report__totals t = report__total(p, heap);
        report__add_count(&all.allocated, &t.allocated);
        report__add_count(&all.folded, &t.folded);
        report__add_count(&all.lost, &t.lost);
        all.cut += t.cut;
    }
    return all;
}

/* The sums of HEAP. */
static void print_sums(FILE *out, const struct report__profile *profile,
                       enum mprof_heap heap) {
    const bool is_c = heap == MPROF_C_HEAP;
    const struct report__totals t = report__total(profile, heap);
    const char *start = "";

    if (!report__has_heap(profile, heap))
        return;
    if (report__has_heap(profile, is_c ? MPROF_LISP_HEAP : MPROF_C_HEAP))
        start = is_c ? "C heap: " : "Lisp heap: ";
    fputs(start, out);
    (is_c ? print_c_sums : print_lisp_sums)(out, &t);
    if (!is_c && profile->alive)
        print_alive(out, profile, &t);
    if (!is_c && profile->is_alive)
        fputs("These are alive, of what was allocated.\n", out);
    if (!is_c && profile->collected == 0)
        return;
    fputs(start, out);
    (is_c ? print_peak : print_collections)(out, profile);
}

static bool same_thread(const struct report__thread *x,
                        const struct report__thread *y) {
    return x->process == y->process && x->tid == y->tid;
}

static int compare_tids(const void *a, const void *b) {
    const struct report__thread *x = *(const struct report__thread *const *)a;
    const struct report__thread *y = *(const struct report__thread *const *)b;
    return report__up(x->process, y->process) ?: report__up(x->tid, y->tid)
               ?: report__up(x->heap, y->heap);
}

/* Count the threads that allocated.  A thread that did in both heaps is in the
 * file twice, and several threads may have had one number. */
static uint64_t count_threads(const struct report__profile *profile,
                              struct report__pool *pool) {
    const bool *allocated = report__threads_that_allocated(profile, pool);
    const struct report__thread **list =
        report__alloc(pool, profile->thread_count, sizeof *list);
    uint64_t threads = 0;
    uint32_t n = 0;

    for (uint32_t i = 0; i < profile->thread_count; i++)
        if (allocated[i])
            list[n++] = &profile->threads[i];
    qsort(list, n, sizeof(void *), compare_tids);
    for (uint32_t i = 0; i < n;) {
        const struct report__thread *thread = list[i];
        uint64_t in_heap[MPROF_HEAPS] = {0};
        for (; i < n && same_thread(list[i], thread); i++)
            in_heap[list[i]->heap] += list[i]->members;
        threads += in_heap[MPROF_LISP_HEAP] > in_heap[MPROF_C_HEAP]
                       ? in_heap[MPROF_LISP_HEAP]
                       : in_heap[MPROF_C_HEAP];
    }
    return threads;
}

static void print_unseen(FILE *out, const struct report__profile *profile) {
    if (*profile->unseen == '\0')
        return;
    fputs("Not recorded: allocations by ", out);
    report__print_name(out, profile->unseen);
    fputs(".\n", out);
}

/* Print what the sums do not include; normally nothing. */
static void print_losses(FILE *out, const struct report__profile *p) {
    if (p->unplaced_allocs > 0)
        SAY(out, "Unplaced: # bytes, in none of the sums above and below.\n",
            p->unplaced_bytes);
    if (p->failed_allocs > 0)
        SAY(out, "Failed: # allocation~ that the C library refused.\n",
            p->failed_allocs);
    if (p->unknown_frees > 0)
        SAY(out,
            p->unknown_frees == 1
                ? "Unknown: # freed object that was not recorded when "
                  "allocated.\n"
                : "Unknown: # freed objects that were not recorded when "
                  "allocated.\n",
            p->unknown_frees);
    if (p->unplaced_frees > 0)
        SAY(out,
            "Unplaced: # free~ of # bytes; the tables count them as kept.\n",
            p->unplaced_frees, p->unplaced_freed_bytes);
    if (p->untracked_allocs > 0)
        SAY(out,
            "Untracked: # allocation~ of # bytes; the tables count them as "
            "kept, freed or not.\n",
            p->untracked_allocs, p->untracked_bytes);
}

/* How often the walk was shortened by marks, and why it was not. */
static void print_marks(FILE *out, const struct report__profile *profile) {
    static const char *const reasons[MPROF_UNMARKED] = {
        [MPROF_MARKS_OFF] = "marks are off",
        [MPROF_SHADOW_STACK] = "return addresses are protected",
        [MPROF_FOREIGN_STACK] = "not the thread's own stack",
        [MPROF_NO_RULE] = "no unwind rule"};
    uint64_t marks = 0, sum = 0, unmarked[MPROF_UNMARKED] = {0};
    for (uint32_t i = 0; i < profile->thread_count; i++) {
        marks += profile->threads[i].marks;
        for (unsigned r = 0; r < MPROF_UNMARKED; r++)
            unmarked[r] += profile->threads[i].unmarked[r];
    }
    for (unsigned r = 0; r < MPROF_UNMARKED; r++)
        sum += unmarked[r];
    if (marks + sum == 0)
        return;
    fprintf(out, "Marks: %s return address%s", report__grouped(marks).text,
            marks == 1 ? "" : "es");
    for (unsigned r = 0; r < MPROF_UNMARKED; r++)
        if (unmarked[r] > 0) {
            SAY(out, "; # time~ none: ", unmarked[r]);
            fputs(reasons[r], out);
        }
    fputs("\n", out);
}

/* Print what the tables cannot show, in words. */
static void print_folded(FILE *out, const struct report__totals *all,
                         bool estimated) {
    double percent =
        100.0 / (double)(all->allocated.allocs ? all->allocated.allocs : 1);
    if (all->folded.allocs == 0)
        return;
    fprintf(out,
            "The tree of chains was full: the chains of %.1f%% of the "
            "allocations (%s bytes) were\nsummed up by function and call.  ",
            percent * (double)all->folded.allocs,
            report__grouped(all->folded.bytes).text);
    if (all->lost.allocs == 0)
        fprintf(out,
                "%s what is missing are callers\nfurther out than the leak "
                "table shows by default, and functions that were inlined.\n",
                estimated ? "By that nothing is less exact;"
                          : "All numbers are exact;");
    else
        fprintf(out,
                "For %.1f%% (%s bytes) there was no room\neven for that: of "
                "these only the innermost functions are known, below "
                "<folded>;\ntotals and callers of functions further out lack "
                "them.\n",
                percent * (double)all->lost.allocs,
                report__grouped(all->lost.bytes).text);
    fputs("Record with a larger limit for whole chains: --limit of mprof run, "
          "--mprof-limit of ecl,\n:limit in Lisp.\n",
          out);
}

static int compare_stacks(const void *a, const void *b) {
    const struct report__thread *x = *(const struct report__thread *const *)a;
    const struct report__thread *y = *(const struct report__thread *const *)b;
    if (x->stack != y->stack)
        return x->stack > y->stack ? -1 : 1;
    return compare_tids(a, b);
}

static void print_thread(FILE *out, const struct report__thread *thread) {
    fprintf(out, "%s bytes (thread %" PRIu32,
            report__grouped(thread->stack).text, thread->tid);
    if (thread->name != NULL) {
        fputs(", ", out);
        report__print_name(out, thread->name);
    }
    putc(')', out);
}

/* How deep the stacks were, as far as that is known. */
static void print_stacks(FILE *out, const struct report__profile *p,
                         enum report__verbosity verbosity,
                         struct report__pool *pool) {
    enum { FEW = 3, MANY = 20 };
    const uint32_t shown = verbosity == MPROF_VERBOSE ? MANY : FEW;
    const struct report__thread **list =
        report__alloc(pool, p->thread_count, sizeof *list);
    uint32_t count = 0, n = 0;

    for (uint32_t i = 0; i < p->thread_count; i++)
        if (p->threads[i].stack > 0)
            list[n++] = &p->threads[i];
    qsort(list, n, sizeof(void *), compare_tids);
    /* Of both heaps the deeper one. */
    for (uint32_t i = 0; i < n; i++)
        if (count == 0 || !same_thread(list[count - 1], list[i]) ||
            list[count - 1]->heap == list[i]->heap)
            list[count++] = list[i];
        else if (list[count - 1]->stack < list[i]->stack)
            list[count - 1] = list[i];
    qsort(list, count, sizeof(void *), compare_stacks);
    if (count == 1)
        SAY(out, "stack up to # bytes deep at an allocation\n", list[0]->stack);
    if (count < 2)
        return;
    fputs("stacks, deepest at an allocation: ", out);
    for (uint32_t i = 0; i < count && i < shown; i++) {
        fputs(i > 0 ? ", " : "", out);
        print_thread(out, list[i]);
    }
    if (count > shown)
        SAY(out, shown == FEW ? ", # more (--verbose)" : ", # more",
            count - shown);
    putc('\n', out);
}

void report__print_notices(FILE *out, const struct report__profile *profile) {
    const struct report__totals all = total_of_all(profile);

    if (profile->parent && profile->process_count == 0)
        print_fork(out, profile);
    if (profile->open && profile->process_count == 0)
        print_open(out, profile);
    print_sampling(out, profile);
    print_unseen(out, profile);
    if (all.cut > 0)
        SAY(out,
            "Of # allocation~ not all callers are known: they passed code "
            "without unwind tables.\n",
            all.cut);
    print_folded(out, &all, profile->sampling != 0);
    print_losses(out, profile);
}

void report__print_header(FILE *out, const struct report__profile *profile,
                          enum report__verbosity verbosity,
                          struct report__pool *pool) {
    const struct report__totals all = total_of_all(profile);
    uint64_t threads = count_threads(profile, pool);

    if (profile->process_count > 0) {
        report__print_processes(out, profile, pool);
    } else {
        print_program(out, profile);
        if (profile->open)
            print_open(out, profile);
    }
    print_sampling(out, profile);
    for (unsigned heap = 0; heap < MPROF_HEAPS; heap++)
        print_sums(out, profile, heap);
    SAY(out, "@ thread~; # allocations folded, # cut, # unplaced; ", threads,
        all.folded.allocs, all.cut, profile->unplaced_allocs);
    fprintf(out, "monitor memory %s, data %s\n",
            report__amount(profile->memory_bytes).text,
            report__amount(profile->file_bytes).text);
    print_stacks(out, profile, verbosity, pool);
    print_unseen(out, profile);
    print_folded(out, &all, profile->sampling != 0);
    print_losses(out, profile);
    if (verbosity == MPROF_VERBOSE)
        print_marks(out, profile);
}
