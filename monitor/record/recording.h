/* recording.h - start, stop and ask the one recording of this process.
 *
 * The functions do what mprof.h documents for functions with similar names. All
 * may be called by any thread, outside of the hook, and wait for each other.
 */
#ifndef MONITOR_RECORD_RECORDING_H
#define MONITOR_RECORD_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

struct mprof__session;
struct mprof_status;

/* Note an allocation while nothing records.  In a child of a raw clone() call
 * the adapter's `cloned`, once. */
void mprof__recording_absent(void);
int mprof__recording_start(const char *file);
int mprof__recording_stop(void);
int mprof__recording_restart(const char *file);
int mprof__recording_reset(void);
int mprof__recording_save(const char *file);
int mprof__recording_status(struct mprof_status *status);
/* Store the numbers of the C heap in *NOW; see mprof__live_read().  Zeros: it
 * is not recorded. */
struct mprof__heap_now;
void mprof__recording_heap(bool reset, struct mprof__heap_now *now);

/* Return the live bytes in the C heap of this process; from outside of the
 * hook. */
uint64_t mprof__live_current(void);
void mprof__recording_watch(void (*function)(void *cookie, uint64_t current),
                            void *cookie);
struct mprof_scope;
int mprof__recording_scope_begin(struct mprof_scope *scope, unsigned wanted);
int mprof__recording_scope_end(struct mprof_scope *scope);
int mprof__recording_scope_save(const struct mprof_scope *scope,
                                const char *file);
int mprof__recording_resume(void);
int mprof__recording_mark(const char *name);
int mprof__recording_set_heaps(unsigned wanted);
int mprof__recording_set_live(int mode);
int mprof__recording_set_sampling(unsigned bytes);
int mprof__recording_snapshot(unsigned *number);
int mprof__recording_keepers(unsigned from, unsigned until);
int mprof__recording_save_alive(const char *file, unsigned from,
                                unsigned until);
void mprof__recording_set_limit(uint64_t bytes);
void mprof__recording_set_autosave(int count);
void mprof__recording_set_warnings(int on);

/* Let the recording end after all destructors; to be called before main(). */
void mprof__finish_last(void);

/* Open the data file of SESSION, which is stopped, for further frees.  Called
 * outside of the hook.  False: it is not to be changed any more. */
bool mprof__reopen(struct mprof__session *session);

#endif
