/* paths.c - chains of callers as the leak table shows them.
 *
 * One pass over the nodes, parents first, makes the paths.  A node whose
 * function is not shown has the path of its caller.
 */
#include "report/elf/cxx_names.h"
#include "report/elf/symbols.h"
#include "report/tables/paths.h"

#include "monitor/format/paths.h"
#include "report/base/progress.h"
#include "report/graph/call_sites.h"
#include "report/graph/graph.h"
#include "report/graph/inlining.h"

struct builder {
    struct report__pool *pool;
    const struct report__profile *profile;
    const struct report__functions *names;
    const struct report__context *context;
    uint32_t thread;
    struct report__view view;
    struct report__paths out;
    size_t path_capacity, label_capacity;
    /* Texts of labels, and these with a function; callers with a label. */
    struct report__dictionary texts;
    uint32_t text_count;
    struct report__pairs label_keys, path_keys;
    uint32_t *plain; /* by function: its label without anything else, plus 1 */
    /* By node.  A frame that is shown has the path of its callers in above;
     * another one has its caller's path there. */
    bool *shown;
    uint32_t *above;
    uint32_t *as_caller; /* its frame's path above its children's, plus 1 */
    struct report__call_sites *sites;
    /* With lines, by FUNCTION: where Lisp's were defined. */
    const struct report__place *sources;
};

static uint32_t intern_label(struct builder *b, struct report__label label) {
    const uint32_t text =
        report__intern(b->pool, &b->texts, label.text, b->text_count);
    b->text_count += text == b->text_count;
    const uint32_t i =
        report__pair_number(b->pool, &b->label_keys, text, label.function);
    if (i == b->out.label_count)
        REPORT__PUSH(b->pool, b->out.labels, b->out.label_count,
                     b->label_capacity, label);
    return i;
}

static uint32_t intern_path(struct builder *b, uint32_t caller,
                            uint32_t label) {
    const uint32_t i =
        report__pair_number(b->pool, &b->path_keys, caller, label);
    const uint32_t above = caller == MPROF_NONE ? 0 : b->out.list[caller].depth;
    if (i == b->out.count)
        REPORT__PUSH(b->pool, b->out.list, b->out.count, b->path_capacity,
                     (struct report__path){caller, label, above + 1});
    return i;
}

static uint32_t plain_label(struct builder *b, uint32_t function) {
    const struct report__shown *shown = &b->names->list[function];
    const struct report__label label = {shown->name, function, shown->kind};

    if (!b->plain[function])
        b->plain[function] = 1 + intern_label(b, label);
    return b->plain[function] - 1;
}

/* The name that offsets count from: a part of a function has a start of its
 * own, and lies anywhere. */
static const char *name_of(struct builder *b, uint32_t function) {
    const struct report__function *f = &b->profile->functions[function];
    const char *name = b->names->list[b->names->shown[function]].name;
    const char *symbol = f->symbol;
    uint64_t start;

    if (!b->names->fragment[function] || !b->context->offsets)
        return name;
    struct report__symbols *symbols =
        symbol ? NULL : report__call_sites_symbols(b->sites, f->module);
    if (symbols)
        symbol = report__symbol_at(symbols, f->address, &start);
    if (!symbol)
        return name;
    symbol = report__copy(b->pool, symbol, strcspn(symbol, "@"));
    name = report__demangle(b->pool, symbol);
    return name ? name : symbol;
}

/* "+24" for the distance of SITE from the start of FUNCTION, or "". */
static const char *offset_text(struct builder *b, uint32_t site,
                               uint32_t function) {
    const struct report__function *f = &b->profile->functions[function];
    if (!b->context->offsets || site == MPROF_NONE || !mprof_is_native(f->kind))
        return "";
    uint64_t address = report__elf_address(b->profile, site);
    return address >= f->address
               ? report__format(b->pool, "+%" PRIu64, address - f->address)
               : "";
}

/* " (main.c:7)", or "". */
static const char *place_text(struct builder *b,
                              const struct report__place *place) {
    if (!b->context->lines || !place->file)
        return "";
    return place->line == 0
               ? report__format(b->pool, " (%s)", mprof__base_name(place->file))
               : report__format(b->pool, " (%s:%" PRIu32 ")",
                                mprof__base_name(place->file), place->line);
}

/* " (zoo.lsp:7)" for where Lisp's FUNCTION was defined, or "". */
static const char *source_text(struct builder *b, uint32_t function) {
    return b->sources && function != MPROF_NONE
               ? place_text(b, &b->sources[function])
               : "";
}

/* Return the label of FUNCTION, without its calls. */
static uint32_t function_label(struct builder *b, uint32_t function) {
    uint32_t shown = b->names->shown[function];
    const char *source = source_text(b, function);

    if (!*source)
        return plain_label(b, shown);
    return intern_label(
        b, (struct report__label){.function = shown,
                                  .kind = b->names->list[shown].kind,
                                  .text = report__format(b->pool, "%s%s",
                                                         name_of(b, function),
                                                         source)});
}

/* A call in NODE's frame, at SITE or MPROF_NONE; and where in the function. */
struct call {
    uint32_t node, site;
    struct report__within at;
};

/* The label of the frame that makes CALL. */
static uint32_t label_at(struct builder *b, const struct call *call) {
    uint32_t function = b->profile->nodes[call->node].function;
    struct report__label label = {
        .function = b->names->shown[function],
        .kind = b->names->list[b->names->shown[function]].kind};
    const char *offset = offset_text(b, call->site, function);
    const struct report__place place =
        b->names->inlining
            ? report__place_at(&b->names->inlining->places, call->at.place)
            : report__inlined_around(b->sites, call->site)->place;
    const char *line = place_text(b, &place);

    if (!*line)
        line = source_text(b, function);
    if (!*offset && !*line)
        return plain_label(b, label.function);
    label.text =
        report__format(b->pool, "%s%s%s", name_of(b, function), offset, line);
    return intern_label(b, label);
}

/* Return the path below CALLERS of the function that makes CALL; those that it
 * was inlined into are frames above it. */
static uint32_t path_at(struct builder *b, uint32_t callers,
                        const struct call *call) {
    const struct report__inlining *inlining = b->names->inlining;
    if (call->at.frame == MPROF_NONE)
        return intern_path(b, callers, label_at(b, call));
    const struct report__inlined_frame *f = &inlining->frames[call->at.frame];
    const struct report__place place =
        report__place_at(&inlining->places, call->at.place);
    const struct report__shown *shown = &b->names->list[f->function];
    struct call outer = *call;
    outer.at = (struct report__within){f->outer, f->call};
    callers = path_at(b, callers, &outer);
    if (!report__is_shown(shown, b->context->heap, b->context->all_frames))
        return callers;
    const char *text = place_text(b, &place);
    text =
        b->context->in_sentences
            ? report__format(b->pool, "%s%s", shown->name, text)
            : report__format(b->pool, "[%.*s%s]",
                             (int)(strlen(shown->name) - strlen(MPROF_INLINED)),
                             shown->name, text);
    return intern_path(
        b, callers,
        intern_label(b, (struct report__label){.function = f->function,
                                               .kind = shown->kind,
                                               .text = text}));
}

/* Return the path of NODE's frame when it called at SITE. */
static uint32_t frame_path(struct builder *b, uint32_t node, uint32_t site) {
    struct call call = {node, site, {MPROF_NONE, 0}};
    if (b->names->inlining)
        call.at = report__within(b->names->inlining,
                                 b->profile->nodes[node].function, site);
    return path_at(b, b->above[node], &call);
}

/* Return the path of NODE's frame above those that it called. */
static uint32_t caller_path(struct builder *b, uint32_t node) {
    if (!b->as_caller[node])
        b->as_caller[node] =
            frame_path(b, node, b->profile->nodes[node].site) + 1;
    return b->as_caller[node] - 1;
}

/* Decide whether NODE's frame is shown, and with what above it. */
static void label_node(struct builder *b, uint32_t i) {
    const struct report__node *node = &b->profile->nodes[i];
    uint32_t parent = node->parent, vnode = b->view.of_node[i];
    uint32_t callers = MPROF_NONE;

    if (parent != MPROF_NONE)
        callers = b->shown[parent] ? caller_path(b, parent) : b->above[parent];
    b->above[i] = callers;
    if (node->function == MPROF_NONE || vnode == MPROF_NONE ||
        b->view.list[vnode].function != b->names->shown[node->function])
        return;
    if (parent == MPROF_NONE || b->view.of_node[parent] != vnode) {
        b->shown[i] = true;
    } else if (b->shown[parent]) {
        /* A part of its caller represents the caller. */
        b->shown[i] = true;
        b->above[i] = b->above[parent];
    }
}

static bool is_wanted(const struct builder *b, uint32_t node) {
    uint32_t thread = b->profile->nodes[node].thread;
    return b->profile->threads[thread].heap == b->context->heap &&
           (b->thread == MPROF_ALL_THREADS || b->thread == thread);
}

static uint32_t counter_path(struct builder *b,
                             const struct report__counter *counter) {
    uint32_t node = counter->node;
    uint32_t path = b->above[node];

    if (b->shown[node])
        return frame_path(b, node, counter->site);
    if (path == MPROF_NONE)
        path = intern_path(b, MPROF_NONE, plain_label(b, MPROF_TOP_LEVEL));
    return path;
}

/* Return the path of TOTAL's function, below one in place of its callers. */
static uint32_t total_path(struct builder *b,
                           const struct report__total *total) {
    const struct report__label folded = {
        .text = "<folded>", .function = MPROF_TOP_LEVEL, .kind = MPROF_FOLDED};

    if (b->profile->threads[total->thread].heap != MPROF_LISP_HEAP ||
        b->out.by_ends ||
        !report__is_shown_self(total, b->context->all_frames) ||
        (b->thread != MPROF_ALL_THREADS && b->thread != total->thread))
        return MPROF_NONE;
    uint32_t callers = intern_path(b, MPROF_NONE, intern_label(b, folded));
    return intern_path(b, callers,
                       total->function == MPROF_TOP_FUNCTION
                           ? plain_label(b, MPROF_TOP_LEVEL)
                           : function_label(b, total->function));
}

struct report__paths report__paths_build(const struct report__context *c) {
    const struct report__profile *profile = c->part;
    struct builder b = {
        .pool = c->pool,
        .profile = profile,
        .names = c->names,
        .context = c,
        .thread = c->thread,
        .out = {.profile = profile,
                .by_ends = c->heap == MPROF_C_HEAP || c->by_ends}};
    uint32_t nodes = profile->node_count;

    b.view = report__make_view(c->pool, profile, c->names, c->heap, c->thread,
                               c->all_frames, NULL);
    b.plain = report__alloc(c->pool, c->names->count, sizeof *b.plain);
    b.shown = report__alloc(c->pool, nodes, sizeof *b.shown);
    b.above = report__alloc(c->pool, nodes, sizeof *b.above);
    b.as_caller = report__alloc(c->pool, nodes, sizeof *b.as_caller);
    b.sites = report__call_sites_open(c->pool, profile, c->names, c->lines);
    if (c->lines)
        b.sources = c->names->sources;
    b.out.of_counter = report__alloc(c->pool, profile->counter_count,
                                     sizeof *b.out.of_counter);
    for (uint32_t i = 0; i < nodes; i++) {
        if (is_wanted(&b, i))
            label_node(&b, i);
        report__progress("following chains", i + 1, nodes);
    }
    for (uint32_t i = 0; i < profile->counter_count; i++)
        b.out.of_counter[i] =
            is_wanted(&b, profile->counters[i].node) &&
                    !(profile->counters[i].is_spill && b.out.by_ends)
                ? counter_path(&b, &profile->counters[i])
                : MPROF_NONE;
    b.out.of_total =
        report__alloc(c->pool, profile->total_count, sizeof *b.out.of_total);
    for (uint32_t i = 0; i < profile->total_count; i++)
        b.out.of_total[i] = total_path(&b, &profile->totals[i]);
    report__call_sites_close(b.sites);
    return b.out;
}

bool report__next_at(const struct report__paths *paths, uint32_t *i,
                     struct report__at *at) {
    static const struct report__lived nothing;
    const struct report__profile *p = paths->profile;

    while (*i < p->counter_count + p->total_count) {
        const uint32_t n = (*i)++;
        if (n >= p->counter_count) {
            const uint32_t k = n - p->counter_count;
            const struct report__total *t = &p->totals[k];
            *at = (struct report__at){paths->of_total[k], t->thread,
                                      t->class_,          NULL,
                                      t->count,           &nothing};
        } else {
            const struct report__counter *c = &p->counters[n];
            *at = (struct report__at){
                paths->of_counter[n], p->nodes[c->node].thread, c->class_, c,
                c->allocated,         report__lived(c)};
        }
        if (paths->by_ends)
            report__add_count(&at->allocated, &at->lived->elsewhere);
        if (at->path != MPROF_NONE)
            return true;
    }
    return false;
}

uint32_t report__path_end(struct report__pool *pool, struct report__ends *ends,
                          const struct report__paths *paths, uint32_t path,
                          uint32_t depth) {
    const bool is_cut = depth < paths->list[path].depth;
    uint32_t end = is_cut ? 0 : path;

    for (; is_cut && depth > 0; depth--, path = paths->list[path].caller)
        end = 1 + report__pair_number(pool, &ends->frames, end,
                                      paths->list[path].label);
    return report__pair_number(pool, &ends->list, end, is_cut);
}
