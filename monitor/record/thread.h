/* thread.h - the threads of the process, as the monitor sees them. */
#ifndef MPROF_THREAD_H
#define MPROF_THREAD_H

struct mprof__thread;

/* Once, before the first recording. */
void mprof__threads_initialize(void);

/* In the child of a fork: the other threads are not there any more. */
void mprof__threads_forked(void);

/* Give back the memory that only further allocations of the thread need. */
void mprof__thread_shrink(struct mprof__thread *thread);

#endif
