/* names.h - the functions of a session and their names. */
#ifndef MONITOR_RECORD_NAMES_H
#define MONITOR_RECORD_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "monitor/format/format.h"
#include "monitor/record/adapter.h"
#include "monitor/unwind/walk.h"

struct mprof__session;

/* Room for a name of KIND, empty; under the lock, until the next one. */
struct mprof__name *mprof__name_new(struct mprof__session *session,
                                    uint32_t kind);

/* Add a FUNCTION; under the lock.  0: no room. */
mprof_ref mprof__session_function(struct mprof__session *session,
                                  uint64_t address, mprof_ref module,
                                  const struct mprof__name *name);

/* FUNCTION of an interpreted object in frame INDEX of the chain; 0: no room. */
mprof_ref mprof__session_object(struct mprof__session *session,
                                const struct mprof__chain *chain, size_t index);

/* That of an interpreted OBJECT, if it has one already; else 0. */
mprof_ref mprof__session_has(const struct mprof__session *session,
                             uintptr_t object);

/* The one FUNCTION of a kind that stands for many: MPROF_UNKNOWN, ... */
mprof_ref mprof__session_special(struct mprof__session *session, uint32_t kind,
                                 mprof_ref *place);

/* Give the native function that starts at KEY, or the interpreted object KEY,
 * another name, if it was seen. */
void mprof__rename(struct mprof__session *session, uintptr_t key,
                   const char *name);

/* Tell where that stands in the source, if it was not told before. */
void mprof__set_source(struct mprof__session *session, uintptr_t key,
                       const struct mprof__source *source);

#endif
