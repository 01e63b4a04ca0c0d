/* scope.h - what one thread allocates between two moments, by chains.
 *
 * Counters have one writer, and only grow.  So the thread itself notes at the
 * beginning what its counters, bins and sizes have, and at the end what they
 * have more; a copy of the data file with that in place of all numbers is the
 * profile of the scope.  Nothing on the way of an allocation is different.
 */
#ifndef MONITOR_RECORD_SCOPE_H
#define MONITOR_RECORD_SCOPE_H

struct mprof__session;
struct mprof_header;
struct mprof_scope;

/* Of SESSION, which records, by the thread whose scope it is: as
 * mprof_scope_begin() and mprof_scope_end(). */
int mprof__scope_begin(struct mprof__session *session,
                       struct mprof_scope *scope, unsigned heaps);
int mprof__scope_end(struct mprof__session *session, struct mprof_scope *scope);

/* Let COPY, of the data file of SESSION, have the numbers of SCOPE alone. */
int mprof__scope_check(const struct mprof__session *session,
                       const struct mprof_scope *scope);
void mprof__scope_edit(struct mprof_header *copy, const void *scope);

void mprof__scope_free(struct mprof_scope *scope);

#endif
