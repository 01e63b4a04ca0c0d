/* world.h - profiles made up in memory, with the names of their functions. */
#ifndef MPROF_TESTS_WORLD_H
#define MPROF_TESTS_WORLD_H

#include "report/tables/tables.h"

/* Room in each array of the profile. */
enum { ROOM = 512 };

struct world {
    struct report__pool pool;
    struct report__profile profile;
    struct report__functions names;
};

void world_start(struct world *w);
void world_stop(struct world *w);

/* The root of a new thread. */
uint32_t world_thread(struct world *w, enum mprof_heap heap);

/* A C function; its code is at 1000 times its number. */
uint32_t world_function(struct world *w, const char *name);

/* One that is left out of the tables. */
uint32_t world_plumbing(struct world *w, const char *name);

/* A part that the compiler made of the function WHOLE. */
uint32_t world_part(struct world *w, uint32_t whole, const char *symbol);

/* A node called by the node PARENT. */
uint32_t world_node(struct world *w, uint32_t parent, uint32_t function);

/* A call site OFFSET bytes into the function of NODE; the first one is where
 * the node calls. */
uint32_t world_site(struct world *w, uint32_t node, uint64_t offset);
/* Let SITE be at ADDRESS in MODULE. */
void world_move(struct world *w, uint32_t site, uint32_t module,
                uint64_t address);

/* Count what was allocated at NODE, at a SITE of it or at an unknown place,
 * and what of that was freed. */
void world_counter_at(struct world *w, uint32_t node, uint32_t site,
                      uint64_t allocs, uint64_t bytes, uint64_t frees,
                      uint64_t freed);
void world_counter(struct world *w, uint32_t node, uint64_t allocs,
                   uint64_t bytes, uint64_t frees, uint64_t freed);

/* The leak table of THREAD, or of all; the caller frees it. */
char *world_leaks_of(struct world *w, uint32_t thread,
                     struct report__context options);
char *world_leaks(struct world *w, struct report__context options);

/* The whole one, with more options. */
#define LEAKS(w, ...)                                                          \
    world_leaks(w, (struct report__context){.choice.verbosity = MPROF_VERBOSE, \
                                            ##__VA_ARGS__})

/* Where the path stands in a row of the table; NULL in other lines. */
const char *world_path_in(const char *line);

/* Check the paths of TABLE, which it frees, and the notes below them. */
void world_paths_equal(char *table, const char *expected);

#endif
