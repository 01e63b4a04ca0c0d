/* symbols.h - copies of the symbols of the program's own C functions, for
 * readers who do not find the file that it was.
 *
 * Files that the system installed are left out, and libraries of ECL, of C and
 * of ours; so is what is loaded when the recording has begun.
 */
#ifndef MONITOR_NAMES_SYMBOLS_H
#define MONITOR_NAMES_SYMBOLS_H

struct mprof__names;
struct mprof__own;

/* Map the symbols of own files that are loaded: later the program may forbid
 * itself to open any. */
void mprof__symbols_begin(struct mprof__names *names);
void mprof__symbols_end(struct mprof__names *names);

/* Write copies for functions that have none, as far as there is room; the
 * recording is halted, and the data file guarded. */
void mprof__symbols_copy(struct mprof__names *names);

#endif
