/* html.c - the command `mprof html`: a profile as a page for a browser. */
#include <stdlib.h>
#include <string.h>

#include "report/command/command.h"
#include "report/graph/inlining.h"
#include "report/html/page.h"

bool report__check_html(struct report__call *call,
                        struct report__parse *parse) {
    return report__check_not_terminal(call, parse);
}

/* The lines above the tables; the caller frees them.  NULL: no memory. */
static char *header_of(const struct report__input *input,
                       const struct report__profile *profile,
                       struct report__pool *pool) {
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    if (!stream)
        return NULL;
    report__print_header(stream, profile, MPROF_VERBOSE, pool);
    report__print_trouble(stream, input, profile);
    if (fclose(stream) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

static void put_heaps(struct report__call *call, unsigned heaps,
                      struct report__html_heap *heap,
                      const struct report__input *input) {
    const struct report__options *o = &call->options;
    unsigned count = 0;

    for (unsigned i = 0; i < MPROF_HEAPS; i++) {
        struct report__pool mark = call->pool;
        if (!(heaps >> i & 1))
            continue;
        heap->types = NULL;
        if (i == MPROF_C_HEAP)
            heap->types = report__types_read(&call->pool, heap->profile,
                                             input->program, false);
        heap->sampling = (struct report__sampling){
            .heap = i, .all_frames = o->all_frames, .depth = o->depth};
        report__put_html_heap(call->output.stream, heap, count++, &call->pool);
        report__pool_release(&call->pool, &mark);
    }
}

/* Let HEAP have only what was asked for.  False: *ERROR is a sentence. */
static bool choose_part(struct report__call *call,
                        struct report__html_heap *heap,
                        struct report__functions *names, const char **error) {
    struct report__focused focused;

    if (!report__is_focused(&call->options.focus))
        return true;
    if (!report__focus(&call->pool, heap->profile, names, &call->options.focus,
                       &focused, error))
        return false;
    heap->profile = focused.profile;
    heap->header = report__format(
        &call->pool, "%sOf these types: %s of all bytes.\n", heap->header,
        report__grouped(focused.left[MPROF_LISP_HEAP].bytes).text);
    return true;
}

int report__run_html(struct report__call *call, const char **error) {
    struct report__html_heap heap = {.nodes = call->options.nodes};
    struct report__pool *pool = &call->pool;
    struct report__input input;

    call->together.no_arguments = !call->options.arguments;
    heap.profile = report__read_files(call, true, &input, error);
    const unsigned heaps =
        heap.profile ? report__choose_heaps(call, &input, heap.profile, error)
                     : 0;
    if (!heaps)
        return 1;
    heap.file = input.data;
    struct report__functions *names =
        report__name_functions(pool, heap.profile, input.program);
    if (!call->options.no_inlines)
        report__find_inlining(pool, heap.profile, names, false);
    if (!call->options.full_names)
        report__shorten_names(pool, names);
    heap.names = names;
    char *header = header_of(&input, heap.profile, pool);
    heap.header = header ? report__copy(pool, header, strlen(header)) : "";
    free(header);
    if (!choose_part(call, &heap, names, error) ||
        !report__begin_output(call, error))
        return 1;
    report__html_begin(call->output.stream,
                       report__what_ran(pool, heap.profile), pool);
    put_heaps(call, heaps, &heap, &input);
    report__html_end(call->output.stream);
    return 0;
}
