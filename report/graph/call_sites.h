/* call_sites.h - the calls in the frames of a profile: the inlined functions
 * around them, and their places in the source.
 *
 * A SITE is one of the profile's, or MPROF_NONE.  Used by paths.c and
 * inlining.c.
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

/* The return address of SITE in its ELF file. */
uint64_t report__elf_address(const struct report__profile *profile,
                             uint32_t site);

/* The inlined functions around a call, outermost first, and the call's place.
 * Files live until report__call_sites_close(). */
struct report__inlined {
    const struct report__inline *list;
    uint32_t count;
    struct report__place place;
};

/* Those around the call at SITE; nothing, if they are not known. */
const struct report__inlined *
report__inlined_around(struct report__call_sites *sites, uint32_t site);

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
