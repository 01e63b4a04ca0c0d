/* history.h - the heap over time, counted plainly, and by who asked for it.
 *
 * Where and when the heap was highest, what lived then, which objects were
 * temporary and how long objects lived, by the address behind the call of the
 * allocator.  Each new height is written down, and what lives then is copied
 * when something is freed: slow, and nothing to go wrong.
 */
#ifndef TESTS_ORACLE_HISTORY_H
#define TESTS_ORACLE_HISTORY_H

#include <stddef.h>
#include <stdint.h>

/* The number of the site with ADDRESS; all that follows is under a lock. */
unsigned history_site(const void *address);

/* OBJECT of BYTES, which was asked for at SITE, begins to live, or ends. */
void history_begin(unsigned site, const void *object, size_t bytes);
void history_end(unsigned site, const void *object, size_t bytes);

/* Nothing has been. */
void history_clear(void);

/* The peak, in bytes and objects. */
uint64_t history_peak(void), history_peak_objects(void);

/* From now on, a line of NAME.trace for each object that begins, behind that:
 *
 *     bytes allocated so far, current bytes, objects
 */
void history_trace(const char *name);

/* Write lines to NAME.PID; no object may begin or end any more:
 *
 *     peak BYTES OBJECTS EARLIEST LATEST      ns, of CLOCK_REALTIME
 *     current BYTES OBJECTS
 *     site SYMBOL+OFFSET PEAK-BYTES PEAK-OBJECTS ALLOCS BYTES TEMPORARY
 * LIFETIME
 *
 * The heap came to within a thousandth and 64 bytes of its peak after EARLIEST
 * and before LATEST.  LIFETIME is the mean, in bytes that were allocated
 * meanwhile. */
void history_write(const char *name);

#endif
