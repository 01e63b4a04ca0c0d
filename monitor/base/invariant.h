/* invariant.h - what must be true of a data structure, asserted in builds with
 * --enable-checks.
 *
 * Each structure has a function ..._check() that ends the program where one of
 * its invariants does not hold; its header lists them.  The function is
 * always there; the monitor calls it under `if (MPROF__CHECKS)`, tests whenever
 * they like.
 */
#ifndef MONITOR_BASE_INVARIANT_H
#define MONITOR_BASE_INVARIANT_H

#ifdef MPROF_CHECKS
enum { MPROF__CHECKS = 1 };
#else
enum { MPROF__CHECKS = 0 };
#endif

/* Say what does not hold, and abort(); allocates nothing. */
void mprof__broken(const char *condition, const char *file, int line)
    __attribute__((noreturn, cold));

#define MPROF__MUST(condition)                                                 \
    ((condition) ? (void)0 : mprof__broken(#condition, __FILE__, __LINE__))

#endif
