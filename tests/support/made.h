/* made.h - a session, and records without anything that they tell of. */
#ifndef MPROF_TESTS_MADE_H
#define MPROF_TESTS_MADE_H

#include <stddef.h>
#include <stdint.h>

#include "monitor/record/session.h"

struct mprof__thread;

/* A session without a data file's name, of LIMIT bytes; this thread in HEAP of
 * it, inside of the hook; and the end of both. */
struct mprof__session *made_session(uint64_t limit);
struct mprof__thread *made_thread(struct mprof__session *session,
                                  enum mprof_heap heap);
void made_end(struct mprof__session *session, struct mprof__thread *thread);

/* A function at ADDRESS, and a call site of FUNCTION. */
mprof_ref made_function(struct mprof__session *session, uint64_t address);
mprof_ref made_site(struct mprof__session *session, mprof_ref function,
                    uint64_t return_address);

/* Call VISIT for each thing in blocks of TYPE, of BYTES bytes. */
void made_each(const struct mprof__session *session, uint32_t type,
               size_t bytes, void (*visit)(void *thing));

#endif
