/* html.c - the command `mprof html`: a profile as a page for a browser. */
#include "report/command/command.h"
#include "report/graph/inlining.h"
#include "report/html/page.h"

/* The lines above the tables. */
static const char *header_of(struct report__call *call) {
    struct report__memory text;
    FILE *stream = report__memory_open(&text, &call->pool);

    report__print_header(stream, call->profile, MPROF_VERBOSE, &call->pool);
    report__print_trouble(stream, &call->input, call->profile);
    return report__memory_close(&text);
}

static void put_heaps(struct report__call *call, unsigned heaps,
                      struct report__html_heap *heap) {
    const struct report__options *o = &call->options;
    unsigned count = 0;

    for (unsigned i = 0; i < MPROF_HEAPS; i++) {
        struct report__pool mark = call->pool;
        if (!(heaps >> i & 1))
            continue;
        heap->types = i == MPROF_C_HEAP
                          ? report__types_read(&call->pool, heap->profile,
                                               call->input.program, false)
                          : NULL;
        heap->sampling = (struct report__sampling){
            .heap = i, .all_frames = o->all_frames, .depth = o->depth};
        report__put_html_heap(call->output.stream, heap, count++, &call->pool);
        report__pool_release(&call->pool, &mark);
    }
}

int report__run_html(struct report__call *call) {
    const struct report__options *o = &call->options;
    struct report__html_heap heap = {.nodes = o->nodes};
    struct report__pool *pool = &call->pool;
    struct report__focused focused;

    const unsigned heaps = report__read_files(call, !o->arguments)
                               ? report__choose_heaps(call)
                               : 0;
    if (!heaps)
        return 1;
    heap.file = call->input.data;
    struct report__functions *names =
        report__name_functions(pool, call->profile, call->input.program);
    if (!o->no_inlines)
        report__find_inlining(pool, call->profile, names, true);
    if (!o->full_names)
        report__shorten_names(pool, names);
    heap.names = names;
    heap.header = header_of(call);
    if (!report__focus(pool, call->profile, names, &o->focus, &focused,
                       &call->error) ||
        !report__begin_output(call))
        return 1;
    heap.profile = focused.profile;
    if (heap.profile != call->profile)
        heap.header = report__format(
            pool, "%sOf these types: %s of all bytes.\n", heap.header,
            report__grouped(focused.left[MPROF_LISP_HEAP].bytes).text);
    report__html_begin(call->output.stream,
                       report__what_ran(pool, heap.profile), pool);
    put_heaps(call, heaps, &heap);
    report__html_end(call->output.stream);
    return 0;
}
