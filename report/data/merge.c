/* merge.c - see merge.h. */
#include "report/data/merge.h"

#include <stdio.h>
#include <string.h>

#include "monitor/format/naming.h"
#include "report/base/dictionary.h"
#include "report/data/reader.h"

struct merging {
    struct report__pool *pool;
    struct report__profile *out;
    struct report__dictionary texts;
    uint32_t text_count;
    /* Of modules: path and build id, and which of these in its process; of
     * functions: address, names, both, where that is, and kind. */
    struct report__pairs files, modules;
    struct report__pairs addresses, names, codes, places, functions;
    struct report__dictionary unseen;
    uint32_t scanned, failed; /* parts that looked for what is lost, in vain */
    uint64_t end;             /* the last process's */
};

/* The copy of TEXT, which may be NULL. */
static const char *text(struct merging *m, const char *text, uint32_t *number) {
    const char *stored;

    *number = 0;
    if (!text)
        return NULL;
    *number = report__intern_copy(m->pool, &m->texts, text, m->text_count + 1,
                                  &stored);
    m->text_count += *number > m->text_count;
    return stored;
}

static const char *copied(struct merging *m, const char *string) {
    uint32_t number;
    return text(m, string, &number);
}

/* Return the new index of INDEX, unless that means nothing or the top level. */
static uint32_t mapped(const uint32_t *map, uint32_t index) {
    return index < MPROF_TOP_FUNCTION ? map[index] : index;
}

static uint32_t shifted(uint32_t index, uint32_t by) {
    return index == MPROF_NONE ? MPROF_NONE : index + by;
}

/* All arrays of a profile, each with its count. */
#define EACH_ARRAY(DO)                                                         \
    DO(module)                                                                 \
    DO(function)                                                               \
    DO(thread)                                                                 \
    DO(node)                                                                   \
    DO(site)                                                                   \
    DO(counter) DO(total) DO(bin) DO(size) DO(keeper) DO(holding) DO(equal)

bool report__make_room(struct report__pool *pool, struct report__profile *out,
                       const struct report__profile *const *parts,
                       uint32_t count) {
    uint64_t all = 0;

#define MAKE(array)                                                            \
    {                                                                          \
        uint64_t n = 0;                                                        \
        for (uint32_t i = 0; i < count; i++)                                   \
            n += parts[i]->array##_count;                                      \
        all += n; /* each is no more than the sum of all */                    \
        if (all >= MPROF_TOP_FUNCTION)                                         \
            return false;                                                      \
        out->array##s = report__alloc(pool, n, sizeof *out->array##s);         \
        out->array##_count = 0;                                                \
    }
    EACH_ARRAY(MAKE)
    return true;
}

static void append_trees(struct report__profile *out,
                         const struct report__profile *p,
                         const struct report__maps *maps,
                         const struct report__profile *first) {
    for (uint32_t i = 0; i < p->node_count; i++)
        out->nodes[out->node_count++] = (struct report__node){
            .thread = p->nodes[i].thread + first->thread_count,
            .parent = shifted(p->nodes[i].parent, first->node_count),
            .function = mapped(maps->functions, p->nodes[i].function),
            .site = shifted(p->nodes[i].site, first->site_count)};
    for (uint32_t i = 0; i < p->counter_count; i++) {
        struct report__counter counter = p->counters[i];
        counter.node += first->node_count;
        counter.site = shifted(counter.site, first->site_count);
        counter.bin = shifted(counter.bin, first->bin_count);
        out->counters[out->counter_count++] = counter;
    }
    for (uint32_t i = 0; i < p->total_count; i++) {
        struct report__total total = p->totals[i];
        total.thread += first->thread_count;
        total.caller = mapped(maps->functions, total.caller);
        total.function = mapped(maps->functions, total.function);
        total.bin = shifted(total.bin, first->bin_count);
        out->totals[out->total_count++] = total;
    }
}

static void append_keepers(struct report__profile *out,
                           const struct report__profile *p,
                           const struct report__profile *first) {
    for (uint32_t i = 0; i < p->keeper_count; i++) {
        struct report__keeper keeper = p->keepers[i];
        keeper.outer = shifted(keeper.outer, first->keeper_count);
        keeper.counter = shifted(keeper.counter, first->counter_count);
        out->keepers[out->keeper_count++] = keeper;
    }
    for (uint32_t i = 0; i < p->holding_count; i++) {
        struct report__holding holding = p->holdings[i];
        holding.keeper += first->keeper_count;
        holding.counter += first->counter_count;
        out->holdings[out->holding_count++] = holding;
    }
    for (uint32_t i = 0; i < p->equal_count; i++) {
        struct report__equal equal = p->equals[i];
        equal.counter += first->counter_count;
        out->equals[out->equal_count++] = equal;
    }
}

void report__append(struct report__profile *out,
                    const struct report__profile *p,
                    const struct report__maps *maps) {
    const struct report__profile first = *out;

    for (uint32_t i = 0; i < p->thread_count; i++)
        out->threads[out->thread_count++] = p->threads[i];
    for (uint32_t i = 0; i < p->site_count; i++) {
        struct report__site site = p->sites[i];
        if (site.module != MPROF_NONE) {
            site.return_address += maps->moved[site.module];
            site.module = maps->modules[site.module];
        }
        site.function = maps->functions[site.function];
        out->sites[out->site_count++] = site;
    }
    append_trees(out, p, maps, &first);
    append_keepers(out, p, &first);
    for (uint32_t i = 0; i < p->bin_count; i++) {
        out->bins[out->bin_count] = p->bins[i];
        out->bins[out->bin_count++].thread += first.thread_count;
    }
    for (uint32_t i = 0; i < p->size_count; i++) {
        out->sizes[out->size_count] = p->sizes[i];
        out->sizes[out->size_count++].thread += first.thread_count;
    }
}

/* The modules of PART.  A file that was loaded several times is so in each
 * part: the first ones are one, and the second ones. */
static void add_modules(struct merging *m, struct report__part *part,
                        struct report__maps *maps) {
    const struct report__profile *p = part->profile;
    struct report__profile *out = m->out;
    uint32_t *seen = report__alloc(
        &part->pool, (size_t)m->files.count + p->module_count, sizeof *seen);

    for (uint32_t i = 0; i < p->module_count; i++) {
        struct report__module module = p->modules[i];
        uint32_t path, hex;

        module.path = text(m, module.path, &path);
        text(m, report__build_id(m->pool, &module), &hex);
        module.is_program = *p->program && strcmp(p->program, module.path) == 0;
        module.given = module.is_program ? copied(m, part->program) : NULL;
        uint32_t file = report__pair_number(m->pool, &m->files, path, hex);
        uint32_t number =
            report__pair_number(m->pool, &m->modules, file, seen[file]++);
        if (number == out->module_count)
            out->modules[out->module_count++] = module;
        struct report__module *known = &out->modules[number];
        known->is_program |= module.is_program;
        known->given = known->given ? known->given : module.given;
        maps->modules[i] = number;
        maps->moved[i] = known->bias - module.bias;
    }
}

/* Interpreted code that is only known by its heap address is different in each
 * process. */
static uint64_t address_of(const struct report__function *f, uint32_t part) {
    if (f->kind == MPROF_INTERPRETED && f->name &&
        mprof__same_by(f->kind, f->name, f->symbol ? f->symbol : "") ==
            MPROF__SAME_CODE)
        return f->address ^ (uint64_t)part << 47;
    return f->address;
}

static void add_functions(struct merging *m, const struct report__profile *p,
                          struct report__maps *maps, uint32_t part) {
    struct report__profile *out = m->out;

    for (uint32_t i = 0; i < p->function_count; i++) {
        struct report__function f = p->functions[i];
        uint32_t name, symbol, copy;

        f.address = address_of(&f, part);
        f.module = mapped(maps->modules, f.module);
        f.name = text(m, f.name, &name);
        f.symbol = text(m, f.symbol, &symbol);
        f.copied = text(m, f.copied, &copy);
        f.file = copied(m, f.file);
        uint32_t address =
            report__pair_number(m->pool, &m->addresses, (uint32_t)f.address,
                                (uint32_t)(f.address >> 32));
        uint32_t names = report__pair_number(m->pool, &m->names, name, symbol);
        uint32_t code = report__pair_number(m->pool, &m->codes, address, names);
        uint32_t place =
            report__pair_number(m->pool, &m->places, code, f.module);
        uint32_t number =
            report__pair_number(m->pool, &m->functions, place, f.kind);
        struct report__function *known = &out->functions[number];
        if (number == out->function_count)
            out->functions[out->function_count++] = f;
        else if (!known->file)
            known->file = f.file, known->position = f.position;
        if (!known->copied)
            known->copied = f.copied;
        maps->functions[i] = number;
    }
}

/* Copy texts of a part's own pool, behind those that there were FIRST. */
static void copy_texts(struct merging *m, const struct report__profile *first,
                       uint32_t part) {
    struct report__profile *out = m->out;

    for (uint32_t i = first->thread_count; i < out->thread_count; i++) {
        out->threads[i].name = copied(m, out->threads[i].name);
        out->threads[i].process = part;
    }
    for (uint32_t i = first->counter_count; i < out->counter_count; i++)
        if (out->counters[i].lived) {
            struct report__lived *lived =
                report__alloc(m->pool, 1, sizeof *lived);
            *lived = *out->counters[i].lived;
            out->counters[i].lived = lived;
        }
    for (uint32_t i = first->keeper_count; i < out->keeper_count; i++)
        out->keepers[i].label = copied(m, out->keepers[i].label);
    for (uint32_t i = first->bin_count; i < out->bin_count; i++) {
        out->bins[i].type = copied(m, out->bins[i].type);
        out->bins[i].name = copied(m, out->bins[i].name);
    }
}

static void add_scan(struct merging *m, const struct report__profile *p) {
    struct report__profile *out = m->out;
    const unsigned failed = p->scan_flags & MPROF_SCAN_FAILED;

    if (!report__has_heap(p, MPROF_C_HEAP))
        return;
    if (p->scan == 0 || failed)
        out->unscanned++;
    if (p->scan == 0)
        return;
    m->scanned++;
    m->failed += failed != 0;
    out->scan = 1;
    out->scan_flags |= p->scan_flags & ~(unsigned)MPROF_SCAN_FAILED;
    report__add_lost(&out->lost_unplaced, &p->lost_unplaced);
}

static void add_header(struct merging *m, const struct report__profile *p) {
    struct report__profile *out = m->out;

    if (report__has_heap(p, MPROF_LISP_HEAP)) {
        const bool first = !report__has_heap(out, MPROF_LISP_HEAP);
        out->alive = (first || out->alive) && p->alive;
        out->alive_at_end = (first || out->alive_at_end) && p->alive_at_end;
        out->alive_missed |= p->alive_missed;
        out->alive_collections += p->alive_collections;
        if (p->sampling > out->sampling)
            out->sampling = p->sampling;
    }
    out->open |= p->open;
    out->looked |= p->looked;
    if (p->recorded > out->recorded)
        out->recorded = p->recorded;
    out->heaps |= p->heaps;
    out->file_bytes += p->file_bytes;
    out->memory_bytes += p->memory_bytes;
    out->unplaced_allocs += p->unplaced_allocs;
    out->unplaced_bytes += p->unplaced_bytes;
    out->failed_allocs += p->failed_allocs;
    out->unknown_frees += p->unknown_frees;
    out->unplaced_frees += p->unplaced_frees;
    out->unplaced_freed_bytes += p->unplaced_freed_bytes;
    out->untracked_allocs += p->untracked_allocs;
    out->untracked_bytes += p->untracked_bytes;
    out->at_peak.allocs += p->at_peak.allocs;
    out->at_peak.bytes += p->at_peak.bytes;
    out->counted_peak += p->counted_peak;
    out->collected += p->collected;
    out->collecting += p->collecting;
    if (p->most_before > out->most_before)
        out->most_before = p->most_before;
    add_scan(m, p);
}

/* Add the allocations that a process cannot observe, each text once. */
static void add_unseen(struct merging *m, const char *unseen) {
    enum { MOST = 8 };
    const uint32_t number = (uint32_t)m->unseen.used;
    const char *stored;

    if (*unseen == '\0' || number == MOST ||
        report__intern_copy(m->pool, &m->unseen, unseen, number, &stored) !=
            number)
        return;
    m->out->unseen =
        number == 0 ? stored
                    : report__format(m->pool, "%s; %s", m->out->unseen, stored);
}

static void add_process(struct merging *m, const struct report__profile *p,
                        uint32_t part) {
    enum { TEXTS = 3 };
    const char *const texts[TEXTS] = {p->program, p->command, p->runtime};
    struct report__profile *out = m->out;
    const char **const shared[TEXTS] = {&out->program, &out->command,
                                        &out->runtime};
    uint64_t end = p->start_time + p->duration;

    /* Values that differ between processes are left out. */
    for (int i = 0; i < TEXTS; i++)
        if (part == 0)
            *shared[i] = copied(m, texts[i]);
        else if (strcmp(*shared[i], texts[i]) != 0)
            *shared[i] = "";
    if (part == 0) {
        out->pid = p->pid;
        out->process = p->process;
    }
    if (part == 0 || p->start_time < out->start_time)
        out->start_time = p->start_time;
    if (end > m->end)
        m->end = end;
    out->processes[out->process_count++] =
        (struct report__process){.process = p->process,
                                 .open = p->open,
                                 .start_time = p->start_time,
                                 .duration = p->duration,
                                 .program = copied(m, p->program)};
    add_unseen(m, p->unseen);
    add_header(m, p);
}

static void add_part(struct merging *m, struct report__part *part,
                     uint32_t number) {
    const struct report__profile *p = part->profile, first = *m->out;
    struct report__pool *pool = &part->pool;
    struct report__maps maps = {
        .modules = report__alloc(pool, p->module_count, sizeof *maps.modules),
        .moved = report__alloc(pool, p->module_count, sizeof *maps.moved),
        .functions =
            report__alloc(pool, p->function_count, sizeof *maps.functions)};

    add_process(m, p, number);
    add_modules(m, part, &maps);
    add_functions(m, p, &maps, number);
    report__append(m->out, p, &maps);
    copy_texts(m, &first, number);
    part->profile = NULL;
    report__pool_free(pool);
}

struct report__profile *report__merge(struct report__pool *pool,
                                      struct report__part *parts,
                                      uint32_t count) {
    struct merging m = {.pool = pool};
    const struct report__profile **all =
        report__alloc(pool, count, sizeof *all);

    for (uint32_t i = 0; i < count; i++)
        all[i] = parts[i].profile;
    m.out = report__alloc(pool, 1, sizeof *m.out);
    m.out->unseen = "";
    m.out->processes = report__alloc(pool, count, sizeof *m.out->processes);
    if (!report__make_room(pool, m.out, all, count))
        return NULL;
    for (uint32_t i = 0; i < count; i++)
        add_part(&m, &parts[i], i);
    if (m.scanned > 0 && m.scanned == m.failed)
        m.out->scan_flags |= MPROF_SCAN_FAILED;
    m.out->duration = m.end - m.out->start_time;
    report__identify_files(pool, m.out);
    return m.out;
}
