/* c_record.h - parts of c_record.c and c_free.c, for events that are timed. */
#ifndef MONITOR_RECORD_C_RECORD_H
#define MONITOR_RECORD_C_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/base/objects.h"
#include "monitor/base/self.h"
#include "monitor/record/session.h"

/* For functions that nearly all events call: each begins with a cache line,
 * wherever others end. */
#define MPROF__HOT __attribute__((aligned(64)))

/* Does ME record the C heap, with a thread there?  While there is a recording
 * its data file may be changed. */
static inline bool mprof__c_records(const struct mprof__self *me) {
    return me->heap[MPROF_C_HEAP].id == mprof__recording_id();
}

/* Count OBJECT of BYTES; ME is this thread, inside of the hook, or NULL.
 * False: there is no place for it.  FRAME as in adapter.h. */
bool mprof__c_count(struct mprof__self *me, const void *object, uint64_t bytes,
                    const void *frame);

/* Enter the hook at STACK and set *ME; return the session, whose data file may
 * be changed, or NULL: there is none. */
struct mprof__session *mprof__c_enter_open(struct mprof__self **me,
                                           uintptr_t stack);

/* Forget OBJECT, and store in *WHAT what it was; false: it was not recorded. */
bool mprof__c_forget(struct mprof__session *session, const void *object,
                     struct mprof__object *what);

/* Count it as freed; false: that cannot be counted with it. */
bool mprof__c_drop(const struct mprof__self *me, struct mprof__session *session,
                   const struct mprof__object *what);

#endif
