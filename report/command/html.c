/* html.c - the command `mprof html`: a profile as a page for a browser. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/base/output.h"
#include "report/command/command.h"
#include "report/command/option.h"
#include "report/graph/inlining.h"
#include "report/html/page.h"

/* So that a browser opens the page in seconds; and as for exports. */
enum { NODES = 1000000, DEPTH = 1000 };

struct options {
    bool all_frames, no_inlines, alive, arguments, help;
    uint32_t depth, nodes;
    const char *output;
    struct report__focus focus; /* types alone */
};

static bool set_type(void *options, const char *names, FILE *err) {
    struct options *o = options;
    return report__take_type(&o->focus.types, names, err);
}

static bool set_depth(void *options, const char *value, FILE *err) {
    return report__take_number(value, "functions", err,
                               &((struct options *)options)->depth);
}

static bool set_nodes(void *options, const char *value, FILE *err) {
    return report__take_number(value, "contexts", err,
                               &((struct options *)options)->nodes);
}

REPORT__TAKES(set_output, struct options, output)
REPORT__SETS(only_alive, struct options, alive, true)
REPORT__SETS(show_all, struct options, all_frames, true)
REPORT__SETS(show_arguments, struct options, arguments, true)
REPORT__SETS(leave_inlines, struct options, no_inlines, true)
REPORT__SETS(give_help, struct options, help, true)

static const struct report__option list[] = {
    {"output", "FILE",
     "or -o FILE: write to FILE, which appears when it is\n"
     "complete; without it to the standard output",
     set_output},
    {"o", "FILE", "", set_output},
    {"type", "TYPE",
     "only what is of this type of Lisp, such as hash-table, or of\n"
     "this class of structures or instances; several with commas",
     set_type},
    {"alive", NULL,
     "of Lisp what is alive in place of all that was allocated, where\n"
     "that was recorded",
     only_alive},
    {"nodes", "N",
     "the contexts of a heap that have most (1000000), the others\n"
     "together as <smaller>; more make a larger page",
     set_nodes},
    {"depth", "N",
     "of longer chains only the N innermost functions (1000); 0\n"
     "shows all",
     set_depth},
    {"all-frames", NULL,
     "also the functions of the system's plumbing: start-up,\n"
     "the loader, the interpreter",
     show_all},
    {"no-inlines", NULL,
     "do not read debug information: the functions that the\n"
     "compiler inlined are their callers",
     leave_inlines},
    {"arguments", NULL,
     "with the arguments of the program, which may be secret; without\n"
     "it only its name",
     show_arguments},
    {"help", NULL, "print this", give_help},
    {NULL, NULL, NULL, NULL}};

/* One call.  It outlives the jump when memory is short. */
struct html {
    struct options options;
    const char **files; /* room for all arguments */
    int count;
    unsigned heaps; /* that were put into the page */
    struct report__pool pool;
    struct report__together together;
    struct report__output output;
    FILE *err;
};

static void print_help(FILE *out) {
    fputs(
        "Usage: mprof html [OPTION]... [[PROGRAM] DATA]...\n"
        "Make a page for a browser of all that the data file tells, or the "
        "data files\n"
        "together: chains as a picture, tables, the heap over time.  The page "
        "needs\n"
        "nothing else, and asks for nothing.\n"
        "\n",
        out);
    report__describe_options(list, out);
}

static bool parse(struct html *h, int argc, char **argv) {
    bool only_files = false;

    h->files = report__alloc(&h->pool, (size_t)argc + 2, sizeof *h->files);
    for (int i = 1; i < argc; i++) {
        if (!only_files && strcmp(argv[i], "--") == 0)
            only_files = true;
        else if (only_files || argv[i][0] != '-' || !argv[i][1])
            h->files[h->count++] = argv[i];
        else if (!report__take_option(list, argv, &i, "mprof: html: ", h->err,
                                      &h->options))
            return false;
    }
    if (!h->options.help && !h->options.output &&
        isatty(fileno(h->output.stream))) {
        fputs("mprof: html: this is for a browser: name a file with -o\n",
              h->err);
        return false;
    }
    return true;
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

static void put_heaps(struct html *h, struct report__html_heap *heap,
                      const struct report__input *input) {
    const struct report__profile *profile = heap->profile;

    for (unsigned i = 0; i < MPROF_HEAPS; i++) {
        struct report__pool mark = h->pool;
        if (!report__has_heap(profile, i) ||
            (h->options.focus.types.count > 0 && i != MPROF_LISP_HEAP))
            continue;
        heap->types = NULL;
        if (i == MPROF_C_HEAP)
            heap->types =
                report__types_read(&h->pool, profile, input->program, false);
        heap->sampling =
            (struct report__sampling){.heap = i,
                                      .all_frames = h->options.all_frames,
                                      .depth = h->options.depth};
        report__put_html_heap(h->output.stream, heap, h->heaps++, &h->pool);
        report__pool_release(&h->pool, &mark);
    }
}

/* Let HEAP have only what was asked for.  False: *ERROR is a sentence. */
static bool choose_part(struct html *h, struct report__html_heap *heap,
                        struct report__functions *names, const char **error) {
    struct report__focused focused;
    const struct report__profile *all = heap->profile;

    if (!report__is_focused(&h->options.focus))
        return true;
    if (!report__has_heap(all, MPROF_LISP_HEAP)) {
        *error = report__format(&h->pool,
                                "%s: the Lisp heap was not recorded, which "
                                "alone has types",
                                heap->file);
        return false;
    }
    if (!report__focus(&h->pool, all, names, &h->options.focus, &focused,
                       error))
        return false;
    heap->profile = focused.profile;
    heap->header = report__format(
        &h->pool, "%sOf these types: %s of all bytes.\n", heap->header,
        report__grouped(focused.left[MPROF_LISP_HEAP].bytes).text);
    return true;
}

/* The heaps of all files together. */
static void put_all(struct html *h, const char **error) {
    struct report__html_heap heap = {.nodes = h->options.nodes};
    struct report__input input;
    uint32_t count;
    const struct report__input *inputs =
        report__choose_inputs(&h->pool, h->files, h->count, &count);

    h->together.alive = h->options.alive;
    h->together.calls = true;
    h->together.no_arguments = !h->options.arguments;
    heap.profile = report__read_together(&h->together, &h->pool, inputs, count,
                                         &input, error);
    if (!heap.profile)
        return;
    heap.file = input.data;
    struct report__functions *names =
        report__name_functions(&h->pool, heap.profile, input.program);
    if (!h->options.no_inlines)
        report__find_inlining(&h->pool, heap.profile, names, false);
    heap.names = names;
    char *header = header_of(&input, heap.profile, &h->pool);
    heap.header = header ? report__copy(&h->pool, header, strlen(header)) : "";
    free(header);
    if (!choose_part(h, &heap, names, error))
        return;
    report__html_begin(h->output.stream,
                       report__what_ran(&h->pool, heap.profile), &h->pool);
    put_heaps(h, &heap, &input);
    report__html_end(h->output.stream);
}

static int run(struct html *h) {
    const char *error = NULL;

    report__output_open(&h->output, h->options.output, &h->pool, &error);
    if (!error && h->options.help)
        print_help(h->output.stream);
    else if (!error)
        put_all(h, &error);
    if (error || !report__output_finish(&h->output, &h->pool, &error)) {
        if (error)
            fprintf(h->err, "mprof: %s\n", error);
        return 1;
    }
    return 0;
}

static int run_guarded(struct html *h, int argc, char **argv) {
    jmp_buf nomem;

    h->pool.nomem = &nomem;
    if (setjmp(nomem)) {
        fputs("mprof: out of memory\n", h->err);
        return 1;
    }
    return parse(h, argc, argv) ? run(h) : 2;
}

int report__html_main(int argc, char **argv, FILE *out, FILE *err) {
    struct html h = {.options = {.depth = DEPTH, .nodes = NODES},
                     .output = {.stream = out},
                     .err = err};
    int status = run_guarded(&h, argc, argv);

    report__output_discard(&h.output);
    report__together_free(&h.together);
    report__pool_free(&h.pool);
    return status;
}
