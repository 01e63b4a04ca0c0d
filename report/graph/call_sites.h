/* call_sites.h - the calls in the frames of a profile: their callees, the
 * inlined functions around them, and their places in the source.
 *
 * A call site is an EDGE of the data file.  Used by paths.c and inlining.c.
 */
#ifndef REPORT_GRAPH_CALL_SITES_H
#define REPORT_GRAPH_CALL_SITES_H

#include "report/data/profile.h"
#include "report/elf/symbols.h"
#include "report/graph/functions.h"

struct report__call_sites;

/* Everything is in POOL except the ELF files, which are opened when they are
 * needed and closed by report__call_sites_close().  PLACES: calls are also
 * looked for in the source. */
struct report__call_sites *
report__call_sites_open(struct report__pool *pool,
                        const struct report__profile *profile,
                        const struct report__functions *names, bool places);
void report__call_sites_close(struct report__call_sites *sites);

/* Of MODULE, which may be MPROF_NONE; NULL when there are none. */
struct report__symbols *
report__call_sites_symbols(struct report__call_sites *sites, uint32_t module);

/* The return address of EDGE in its ELF file. */
uint64_t report__elf_address(const struct report__profile *profile,
                             uint32_t edge);

/* Return the number of calls of CHILD's parent that may have led to CHILD.  The
 * file does not say which did, but the code often does.  When it excludes all
 * of them, a call went on by a jump, and all may have.  *EDGES is valid until
 * the next call; *ALL: they are all calls of the parent. */
uint32_t report__calls_to(struct report__call_sites *sites, uint32_t child,
                          const uint32_t **edges, bool *all);

/* The inlined functions around a call, outermost first, and the call's place.
 * Files live until report__call_sites_close(). */
struct report__inlined {
    const struct report__inline *list;
    uint32_t count;
    struct report__place place;
};

/* Return the functions and the place around the COUNT calls EDGES of one node:
 * no functions when the calls differ in them, and no place when they differ in
 * that. */
struct report__inlined report__inlined_around(struct report__call_sites *sites,
                                              const uint32_t *edges,
                                              uint32_t count);

/* By function of PROFILE: the file in which it was defined, NULL where that is
 * not known, and the line where the form begins that did it; 0 where the file
 * is not here, was changed after PROFILE was recorded, is no plain file, is
 * shorter, or is larger than sources are.  Reads these files, each once, and
 * all together no more than some hundred megabytes.  In POOL. */
const struct report__place *
report__find_sources(struct report__pool *pool,
                     const struct report__profile *profile);

/* The bytes of the source FILE, *SIZE of them, which the caller frees; NULL
 * where it was changed after RECORDED, ns since 1970, is no plain file, is
 * empty, or has more than MOST bytes or than sources have. */
unsigned char *report__source_bytes(const char *file, uint64_t recorded,
                                    uint64_t most, size_t *size);

#endif
