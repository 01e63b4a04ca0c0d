/* call_sites.h - the calls in the frames of a profile: where they led, and what
 * the compiler inlined around them.
 *
 * A call site is an EDGE of the data file.  Used by paths.c and inlining.c.
 */
#ifndef MPROF_CALL_SITES_H
#define MPROF_CALL_SITES_H

#include "report/graph/functions.h"

struct mprof__call_sites;

/* Everything is in POOL but for the ELF files, which are opened when they are
 * needed and closed by mprof__call_sites_close(). */
struct mprof__call_sites *
mprof__call_sites_open(struct mprof__pool *pool,
                       const struct mprof__profile *profile,
                       const struct mprof__functions *names);
void mprof__call_sites_close(struct mprof__call_sites *sites);

/* Of MODULE, which may be MPROF_NONE; NULL when there are none. */
struct mprof__symbols *
mprof__call_sites_symbols(struct mprof__call_sites *sites, uint32_t module);

/* The return address of EDGE in its ELF file. */
uint64_t mprof__elf_address(const struct mprof__profile *profile,
                            uint32_t edge);

/* The calls of CHILD's parent that may have led to CHILD.  The file does not
 * tell which did, but the code often does.  When it excludes all of them, a
 * call went on by a jump, and all may have.  *EDGES is valid until the next
 * call; *ALL tells whether they are all calls of the parent.  Returns how
 * many. */
uint32_t mprof__calls_to(struct mprof__call_sites *sites, uint32_t child,
                         const uint32_t **edges, bool *all);

/* Functions whose bodies the compiler put around a call, outermost first. */
struct mprof__inlined {
    const char **names;
    uint32_t count;
};

/* Those around each of the COUNT calls EDGES, which are of one node; none when
 * the calls differ in that. */
struct mprof__inlined mprof__inlined_around(struct mprof__call_sites *sites,
                                            const uint32_t *edges,
                                            uint32_t count);

#endif
