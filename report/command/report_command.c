/* report_command.c - the command `mprof report`: tables of a profile. */

#include "report/command/command.h"

#include <unistd.h>
#include "report/graph/inlining.h"
#include "report/graph/groups.h"
#include "report/graph/call_sites.h"

/* The state of printing. */
struct printing {
    struct report__call *call;
    struct report__context context;
    struct report__focused focused;
    unsigned tables, heaps;
    /* Nothing in particular was asked for: a summary, and few rows that fit a
     * terminal. */
    bool is_short;
};

bool report__check_report(struct report__call *call) {
    struct report__options *o = &call->options;

    if (o->format == MPROF_REPORT_SEXP && report__is_focused(&o->focus))
        return report__refuse(call,
                              "--format=sexp has everything: no "
                              "--focus, --ignore, --hide, --only or --type");
    return report__check_focus(call);
}

/* The usual tables unless --table says which; the names of 1988 add the leak
 * table to these or take it away. */
static unsigned choose_tables(const struct report__options *o) {
    unsigned tables = o->tables ? o->tables : MPROF_USUAL_TABLES;

    if (o->leak_table)
        tables |= 1u << MPROF_TABLE_LEAKS;
    if (o->no_leak_table)
        tables &= ~(1u << MPROF_TABLE_LEAKS);
    if (o->leaks == 2 && tables >> MPROF_TABLE_LEAKS & 1)
        tables ^= 1u << MPROF_TABLE_LEAKS | 1u << MPROF_TABLE_LOST;
    return tables;
}

/* Whether a table that is printed needs NEED. */
static bool needs(const struct printing *p, unsigned need) {
    for (unsigned i = 0; i < MPROF_TABLES; i++)
        if (p->tables >> i & 1 && report__tables[i].needs & need &&
            report__tables[i].heaps & p->heaps)
            return true;
    return false;
}

/* Names of functions and of types are looked up only if they are printed. */
static struct report__functions *look_up(struct printing *p) {
    const struct report__options *o = &p->call->options;
    struct report__context *c = &p->context;
    const char *program = p->call->input.program;
    const bool is_focused = report__is_focused(&o->focus);
    const bool is_verbose = o->choice.verbosity == MPROF_VERBOSE;
    const bool has_lines =
        o->by == MPROF_BY_LINE || (p->is_short && !o->no_inlines);

    if (o->format == MPROF_REPORT_SEXP && !p->is_short)
        return report__name_functions(c->pool, c->profile, program);
    if (!is_focused && p->heaps >> MPROF_C_HEAP & 1 &&
        needs(p, MPROF_NEEDS_TYPES))
        c->types = report__types_read(c->pool, c->profile, program, is_verbose);
    c->own_types =
        c->types != NULL && is_verbose && p->tables >> MPROF_TABLE_KEPT_BY & 1
            ? report__types_read(c->pool, c->profile, program, false)
            : c->types;
    if (!is_focused && !p->is_short && !needs(p, MPROF_NEEDS_NAMES))
        return NULL;
    struct report__functions *names =
        report__name_functions(c->pool, c->profile, program);
    if (p->is_short || has_lines)
        names->sources = report__find_sources(c->pool, c->profile);
    if (o->inlines || has_lines)
        report__find_inlining(c->pool, c->profile, names, has_lines);
    if (!o->full_names)
        report__shorten_names(c->pool, names);
    if (!o->all_frames && !is_verbose)
        report__hide_standard(c->pool, c->profile, names);
    return names;
}

/* Lines below the header about tables that were named and are missing. */
static void print_remarks(const struct printing *p) {
    const struct report__options *o = &p->call->options;
    FILE *out = p->context.out;
    const bool c_heap = p->heaps >> MPROF_C_HEAP & 1;

    if (c_heap)
        report__print_trouble(out, &p->call->input, p->context.profile);
    for (unsigned i = 0; i < MPROF_TABLES && (o->tables || o->leak_table); i++)
        if (p->tables >> i & 1 && !(report__tables[i].heaps & p->heaps) &&
            !(i == MPROF_TABLE_LEAKS && p->context.profile->alive))
            fprintf(out,
                    "There is no table '%s': it is of the %s heap, which was "
                    "not recorded (%s).\n",
                    report__tables[i].name, report__heap_names[!c_heap],
                    c_heap ? "mprof run --lisp, or ecl --mprof"
                           : "--malloc, or :malloc t, records it");
}

static void print_share(FILE *out, uint64_t bytes, uint64_t all) {
    fprintf(out, "%s of %s bytes (%.1f%%)", report__grouped(bytes).text,
            report__grouped(all).text,
            100.0 * (double)bytes / (double)(all > 0 ? all : 1));
}

/* Print what the tables do not have, or not with chains. */
static void print_missing(FILE *out, enum mprof_heap heap,
                          const struct report__focused *focused, uint64_t all) {
    const struct {
        const char *start, *rest; /* around the bytes */
        uint64_t bytes;
    } lacks[] = {
        {"In no table below: ",
         ", whose chains were summed up, so that it\nis not known whether "
         "they belong here.  Record with a larger limit.\n",
         focused->summed[heap].bytes},
        {"In no table below: ",
         ", whose types are not known by chain, as there\nwas no room, or "
         "an older mprof recorded it.\n",
         focused->untyped.bytes},
        {"Without callers: ",
         ", whose chains were summed up: of these it is\nknown which "
         "function allocated them.  Record with a larger limit.\n",
         focused->alone.bytes}};

    for (int i = 0; i < 3; i++)
        if (lacks[i].bytes > 0) {
            fputs(lacks[i].start, out);
            print_share(out, lacks[i].bytes, all);
            fputs(lacks[i].rest, out);
        }
}

/* Print the subject above the tables of HEAP. */
static void print_focus(const struct printing *p, enum mprof_heap heap) {
    const struct report__context *c = &p->context;
    const struct report__focus *focus = &p->call->options.focus;
    const uint64_t all = report__total(c->profile, heap).allocated.bytes;

    if (c->part == c->profile)
        return;
    putc('\n', c->out);
    if (focus->focus || focus->ignore || focus->types.count > 0) {
        fputs(focus->types.count == 0         ? "Of all chains: "
              : focus->focus || focus->ignore ? "Of these types and chains: "
                                              : "Of these types: ",
              c->out);
        print_share(c->out, p->focused.left[heap].bytes, all);
        fputs(".\n", c->out);
    }
    if (focus->hide)
        fputs("What hidden functions allocated is their callers'.\n", c->out);
    if (focus->only)
        fputs("What other packages and files allocated is their callers'.\n",
              c->out);
    if (p->tables >> MPROF_TABLE_BINS & 1 && heap == MPROF_C_HEAP)
        fputs("No bins: sizes are not known by chain.\n", c->out);
    print_missing(c->out, heap, &p->focused, all);
}

/* One set of tables. */
static void print_tables(const struct printing *p, enum mprof_heap heap,
                         uint32_t thread) {
    const struct report__pool mark = *p->context.pool;
    struct report__context c = p->context;

    c.heap = heap;
    c.thread = thread;
    for (unsigned i = 0; i < MPROF_TABLES; i++) {
        const struct report__table *table = &report__tables[i];
        if (!(p->tables >> i & 1) || !(table->heaps >> heap & 1) ||
            /* Sizes are not known by chain. */
            (i == MPROF_TABLE_BINS && heap == MPROF_C_HEAP &&
             c.part != c.profile))
            continue;
        putc('\n', c.out);
        table->print(&c);
    }
    report__pool_release(p->context.pool, &mark);
}

static void print_by_thread(const struct printing *p, enum mprof_heap heap) {
    const struct report__profile *profile = p->context.profile;
    FILE *out = p->context.out;
    const bool *allocated =
        report__threads_that_allocated(profile, p->context.pool);

    for (uint32_t i = 0; i < profile->thread_count; i++) {
        const struct report__thread *thread = &profile->threads[i];
        if (!allocated[i] || thread->heap != heap)
            continue;
        putc('\n', out);
        report__print_strong(out, "==== Thread ");
        report__print_name(out, thread->name ? thread->name : "without name");
        fprintf(out, " (%" PRIu32, thread->tid);
        if (profile->process_count > 0)
            fprintf(out, ", process %" PRIu32,
                    (uint32_t)profile->processes[thread->process].process.pid);
        fputs(thread->flags & MPROF_THREAD_ENDED ? ", ended" : "", out);
        if (thread->members > 1)
            SAY(out, ", the last of @", thread->members);
        if (thread->stack > 0)
            SAY(out, ", stack up to # bytes", thread->stack);
        fputs(") ====\n", out);
        print_tables(p, heap, i);
    }
}

/* Print the next commands. */
static void print_more(const struct printing *p) {
    FILE *out = p->context.out;
    if (p->call->options.from_lisp) {
        fputs("\nMore: (mprof:report :verbosity :verbose), (mprof:report "
              ":tables :paths)\n",
              out);
        return;
    }
    const char *files = "";
    for (int i = 0; i < p->call->options.file_count; i++)
        files = report__format(
            p->context.pool, "%s %s", files,
            report__clean_name(p->context.pool, p->call->options.files[i]));
    fprintf(out,
            "\nMore: mprof --verbose%s\n      mprof html -o report.html%s\n",
            files, files);
}

/* The first screen, of each heap. */
static void print_summary(const struct printing *p) {
    enum { LINES = 28 }; /* and two for what to type next */
    struct report__context c = p->context;
    const bool both = p->heaps == (1u << MPROF_HEAPS) - 1;
    uint32_t lines = 0;

    c.file = p->call->options.from_lisp ? "" : p->call->input.data;
    for (unsigned heap = 0; heap < MPROF_HEAPS; heap++) {
        if (!(p->heaps >> heap & 1))
            continue;
        c.heap = heap;
        if (lines > 0)
            putc('\n', c.out);
        if (both)
            fprintf(c.out, "%s heap:\n", report__heap_names[heap]);
        lines += report__print_summary(&c, lines == 0,
                                       both ? LINES / 2 - 1 : LINES - 1);
    }
    print_remarks(p);
    print_more(p);
}

static void print(const struct printing *p) {
    const struct report__context *c = &p->context;

    if (p->is_short) {
        print_summary(p);
    } else {
        report__print_header(c->out, c->profile, c->choice.verbosity, c->pool);
        if (c->direct_by)
            report__print_merged(c);
        print_remarks(p);
    }
    for (unsigned heap = 0; heap < MPROF_HEAPS && p->tables; heap++) {
        if (!(p->heaps >> heap & 1))
            continue;
        if (p->heaps != 1u << heap) {
            putc('\n', c->out);
            report__print_strong(c->out, heap == MPROF_C_HEAP
                                             ? "======== C heap ========\n"
                                             : "======== Lisp heap ========\n");
        }
        print_focus(p, heap);
        if (p->call->options.by_thread)
            print_by_thread(p, heap);
        else
            print_tables(p, heap, MPROF_ALL_THREADS);
    }
}

/* Set all that does not depend on the heap.  The first screen and its tables
 * fit the terminal. */
static void set_context(struct printing *p) {
    enum { FEW_ROWS = 10, FEW_ARCS = 3 };
    enum { WIDE = 100, NARROW_NUMBERS = 38, NUMBERS = 72 };
    const struct report__options *o = &p->call->options;
    struct report__context *c = &p->context;

    c->part = p->focused.profile;
    c->out = p->call->output.stream;
    c->width = p->call->screen.fit.width;
    c->choice = o->choice;
    if (p->is_short) {
        c->choice.rows = FEW_ROWS;
        c->choice.arcs = FEW_ARCS;
    }
    if (p->is_short && c->width > 0) {
        c->is_narrow = c->width < WIDE;
        c->path_width = c->width - (c->is_narrow ? NARROW_NUMBERS : NUMBERS);
    }
    c->depth = o->depth;
    c->inverted = o->inverted;
    c->offsets = o->offsets || o->by == MPROF_BY_SITE;
    c->lines = o->by == MPROF_BY_LINE;
    c->direct_by = o->by != MPROF_BY_FUNCTION;
    c->all_frames = o->all_frames;
    c->digits = o->bytes;
}

/* Print the profile; CALL->error is set if that is not possible. */
static int show(struct printing *p) {
    struct report__call *call = p->call;
    const struct report__options *o = &call->options;
    struct report__context *c = &p->context;
    const bool is_sexp = o->format == MPROF_REPORT_SEXP;

    if (!report__read_files(call, false))
        return 1;
    c->profile = call->profile;
    if (is_sexp && call->part_count > 0)
        call->error = "--format=sexp is of one data file";
    else
        p->heaps = report__choose_heaps(call);
    if (!p->heaps)
        return 1;
    c->pool = &call->pool;
    if (c->profile->alive && p->tables >> MPROF_TABLE_LEAKS & 1)
        p->tables |= 1u << MPROF_TABLE_ALIVE;
    struct report__functions *names = look_up(p);
    c->names = names;
    call->screen.is_narrow = p->is_short;
    if (!report__focus(c->pool, c->profile, names, &o->focus, &p->focused,
                       &call->error) ||
        !report__begin_output(call))
        return 1;
    set_context(p);
    if (is_sexp && p->is_short)
        report__print_sexp_findings(c, p->heaps);
    else if (is_sexp)
        report__print_sexp(c);
    else
        print(p);
    return 0;
}

int report__run_report(struct report__call *call) {
    const struct report__options *o = &call->options;
    struct printing p = {.call = call, .tables = choose_tables(o)};

    if (o->file_count > 0 && report__find_command(o->files[0]) &&
        access(o->files[0], F_OK) != 0) {
        call->error = report__format(
            &call->pool, "put the command first: mprof %s ...", o->files[0]);
        return 2;
    }
    p.is_short = !o->tables && !o->detailed && !o->leak_table &&
                 !o->no_leak_table && !o->by_thread && o->choice.rows == 0 &&
                 o->choice.sort == MPROF_SORT_USUAL &&
                 o->by == MPROF_BY_FUNCTION && !o->inlines &&
                 o->format == MPROF_REPORT_TEXT &&
                 !report__is_focused(&o->focus);
    return show(&p);
}

int report__run_summary(struct report__call *call) {
    return show(&(struct printing){.call = call, .is_short = true});
}
