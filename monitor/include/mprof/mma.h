/* mma.h - the functions of mma by their names, for programs that were written
 * for it: include this, and link with -lmprof_malloc.
 */
#ifndef MPROF_MMA_H
#define MPROF_MMA_H

#include <mprof.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Stop and go on with the recording, and say so in the log.  0 or an MPROF_E
 * code. */
static inline int mma_suspend(void) {
    return mprof_stop();
}

static inline int mma_resume(void) {
    return mprof_resume();
}

#ifdef __cplusplus
}
#endif
#endif
