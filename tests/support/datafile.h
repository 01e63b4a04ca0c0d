/* datafile.h - data files made up by tests, byte by byte as format.h says. */
#ifndef MPROF_TESTS_DATAFILE_H
#define MPROF_TESTS_DATAFILE_H

#include <stddef.h>
#include <stdint.h>

#include "monitor/format/format.h"

/* A data file under construction; it aborts when memory is short. */
struct datafile {
    unsigned char *data;
    size_t size, capacity;
};

/* An empty, open file.  The heaps are those of its threads.  Who wants one of
 * an older version says so in its header before there are counters. */
void datafile_start(struct datafile *file);
void datafile_free(struct datafile *file);

/* Add records.  TEXT may be NULL, which is ref 0. */
mprof_ref datafile_string(struct datafile *file, const char *text);
mprof_ref datafile_module(struct datafile *file, const char *path,
                          const void *build_id, uint32_t build_id_bytes);
mprof_ref datafile_function(struct datafile *file,
                            enum mprof_function_kind kind, mprof_ref module,
                            uint64_t address, const char *name,
                            const char *symbol);
mprof_ref datafile_thread(struct datafile *file, uint32_t tid,
                          const char *name);
/* One that allocates in the C heap. */
mprof_ref datafile_c_thread(struct datafile *file, uint32_t tid,
                            const char *name);
mprof_ref datafile_site(struct datafile *file, mprof_ref function,
                        mprof_ref module, uint64_t return_address);
/* Nodes, edges and counters have a block of their own each; the ref is theirs.
 * CALL is a FUNCTION or a SITE. */
mprof_ref datafile_node(struct datafile *file, mprof_ref thread,
                        mprof_ref parent, mprof_ref call);
/* The first of COUNT nodes in a block with room for ROOM, all roots as yet. */
mprof_ref datafile_nodes(struct datafile *file, mprof_ref thread,
                         uint32_t count, uint32_t room);
mprof_ref datafile_edge(struct datafile *file, mprof_ref node, mprof_ref site);
struct mprof_block *datafile_block(struct datafile *file, mprof_ref thing);
mprof_ref datafile_bin(struct datafile *file, mprof_ref thread,
                       enum mprof_class class_, const char *type,
                       const char *name, struct mprof_count objects,
                       struct mprof_count storage);

/* What was done in one class at NODE, by the call at SITE or 0; and what THREAD
 * freed of another one's COUNTER. */
mprof_ref datafile_counter(struct datafile *file, mprof_ref node,
                           mprof_ref site, uint32_t class_,
                           struct mprof_count allocated,
                           struct mprof_count freed);
mprof_ref datafile_freed(struct datafile *file, mprof_ref thread,
                         mprof_ref counter, struct mprof_count freed);
/* A node of a thread's spill, where COUNT was allocated; SHORT_ is the counter
 * of its short chain, or 0.  And the TOTAL of THREAD. */
mprof_ref datafile_spill_node(struct datafile *file, mprof_ref thread,
                              mprof_ref parent, mprof_ref call);
mprof_ref datafile_spill_counter(struct datafile *file, mprof_ref node,
                                 mprof_ref short_, uint32_t class_,
                                 struct mprof_count count);
mprof_ref datafile_total(struct datafile *file, mprof_ref thread,
                         struct mprof_total total);
/* What THREAD allocated of one size. */
mprof_ref datafile_size(struct datafile *file, mprof_ref thread, uint32_t size,
                        struct mprof_count allocated, struct mprof_count freed);

/* A Lisp function called NAME. */
mprof_ref datafile_lisp(struct datafile *file, const char *name);

/* Count ALLOCS allocations of BYTES bytes in all at NODE: another counter. */
mprof_ref datafile_count(struct datafile *file, mprof_ref node, uint32_t class_,
                         uint64_t allocs, uint64_t bytes);

/* In the C heap: OBJECTS objects of SIZE bytes each were allocated at NODE, and
 * FREED of them are freed.  A counter and a SIZE. */
void datafile_objects(struct datafile *file, mprof_ref node, uint32_t size,
                      uint64_t objects, uint64_t freed);

/* A curve of COUNT points, each a second and STEP bytes behind the last, at
 * which as many objects of 8 bytes live as its number; and a sample of what is
 * resident at every other. */
mprof_ref datafile_curve(struct datafile *file, uint32_t count, uint64_t step);

/* Where FUNCTION stands in the source. */
mprof_ref datafile_source(struct datafile *file, mprof_ref function,
                          const char *path, int64_t position);
/* A mark, when CURRENT bytes live. */
mprof_ref datafile_mark(struct datafile *file, const char *name, uint64_t time,
                        uint64_t current);

/* Of collections, COUNT points, each two and a second behind the last. */
mprof_ref datafile_collections(struct datafile *file, uint32_t count);

/* The record at REF, and the header; valid until something is added. */
void *datafile_record(struct datafile *file, mprof_ref ref);
struct mprof_header *datafile_header(struct datafile *file);

/* Close the file: state and check sum. */
void datafile_close(struct datafile *file);

#endif
