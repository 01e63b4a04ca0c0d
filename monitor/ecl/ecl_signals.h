/* ecl_signals.h - signals are for the main thread. */
#ifndef MONITOR_ECL_ECL_SIGNALS_H
#define MONITOR_ECL_ECL_SIGNALS_H

/* The handler that the program has for SIGNAL runs in the main thread from now
 * on: another one that gets it passes it on.  ECL runs handlers of Lisp in any
 * thread, also in one that the collector has stopped: if they allocate there,
 * both wait for ever.  0; or errno of sigaction().  Lisp calls this one by its
 * name. */
int mprof_signal_main(int signal) __attribute__((visibility("default")));

#endif
