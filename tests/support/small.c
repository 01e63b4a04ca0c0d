/* small.c - see small.h. */
#include "tests/support/small.h"

#include <stdbool.h>

/* A chain in a spill, and totals of others. */
static void make_spill(struct datafile *d, mprof_ref thread, mprof_ref f,
                       mprof_ref g, mprof_ref short_) {
    const unsigned both = MPROF_SHOWN_FRAMES | MPROF_ALL_FRAMES;
    const struct mprof_count some = {3, 90};
    mprof_ref root = datafile_spill_node(d, thread, 0, 0);
    mprof_ref node = datafile_spill_node(
        d, thread, datafile_spill_node(d, thread, root, f), g);
    datafile_spill_counter(d, node, short_, 1, some);
    for (unsigned kind = 0; kind < MPROF_TOTAL_KINDS; kind++) {
        bool is_short = kind == MPROF_SHORT;
        if (is_short && short_ == 0)
            continue;
        datafile_total(
            d, thread,
            (struct mprof_total){.caller = kind == MPROF_ARC ? MPROF_TOP : 0,
                                 .function = is_short ? short_ : f,
                                 .kind = (uint8_t)kind,
                                 .views = both,
                                 .class_ = 1,
                                 .depth = {1, 2},
                                 .counts = {{2, 60}, {1, 30}}});
    }
    struct mprof_thread *record = datafile_record(d, thread);
    record->emptied = record->spilled = 5;
}

/* Two threads of C, where one frees what the other has allocated. */
static void make_c_heap(struct datafile *d, mprof_ref module,
                        mprof_ref function) {
    const struct mprof_count none = {0, 0}, one = {1, 300}, two = {2, 600};
    mprof_ref thread = datafile_c_thread(d, 7, NULL);
    mprof_ref node =
        datafile_node(d, thread, datafile_node(d, thread, 0, 0), function);
    mprof_ref site = datafile_site(d, function, module, 9);
    mprof_ref other = datafile_c_thread(d, 8, NULL);
    datafile_edge(d, node, site);
    mprof_ref counter = datafile_counter(d, node, site, MPROF_LARGE, two, none);
    datafile_freed(d, other, counter, one);
    make_spill(d, thread, function, function, counter);
    datafile_size(d, thread, 300, two, none);
    datafile_size(d, thread, 300, none, one);
    datafile_header(d)->unknown_frees = 1;
}

void small_file(struct datafile *d) {
    datafile_start(d);
    mprof_ref module = datafile_module(d, "/x.so", "\1\2", 2);
    mprof_ref thread = datafile_thread(d, 7, "main");
    mprof_ref root = datafile_node(d, thread, 0, 0);
    mprof_ref f = datafile_lisp(d, "F");
    mprof_ref g = datafile_function(d, MPROF_C, module, 8, NULL, "g.cold");
    mprof_ref forms = datafile_function(d, MPROF_TOPLEVEL, 0, 0, NULL, NULL);
    mprof_ref a =
        datafile_node(d, thread, datafile_node(d, thread, root, forms), f);
    mprof_ref b = datafile_node(d, thread, a, g);
    mprof_ref call = datafile_site(d, f, 0, 0x4321);
    mprof_ref c = datafile_node(d, thread, b, call);
    datafile_count(d, a, MPROF_CONS, 2, 32);
    datafile_count(d, b, MPROF_STRUCT, 1, 40);
    datafile_count(d, c, MPROF_OTHER, 1, 7);
    datafile_bin(d, thread, MPROF_STRUCT, "structure", "POINT",
                 (struct mprof_count){1, 24}, (struct mprof_count){1, 16});
    datafile_edge(d, b, datafile_site(d, g, module, 0x1234));
    datafile_counter(d, b, 0, MPROF_CONS, (struct mprof_count){1, 8},
                     (struct mprof_count){0, 0});
    make_spill(d, thread, f, g, 0);
    make_c_heap(d, module, g);
    datafile_source(d, f, "/x.lsp", 3);
    mprof_ref program = datafile_string(d, "p");
    datafile_header(d)->program = program;
}
