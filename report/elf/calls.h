/* calls.h - which function the call before a return address is one of.
 *
 * Addresses are those of the ELF file.  Used by symbols.c and call_sites.c
 * only.
 */
#ifndef MPROF_CALLS_H
#define MPROF_CALLS_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

struct mprof__symbols;

/* What the code says about a call.  A jump from the called function to
 * another one, which then seems to be called here, is not followed. */
enum mprof__answer { MPROF_NO, MPROF_YES, MPROF_UNDECIDED };

/* Whether the call before RETURN_ADDRESS in the file of CALLER calls the
 * function that begins at FUNCTION in the file of CALLEE.  CALLEE may be NULL:
 * nothing is known about that file. */
enum mprof__answer mprof__symbols_is_call(struct mprof__symbols *caller,
                                          uint64_t return_address,
                                          const struct mprof__symbols *callee,
                                          uint64_t function);

/* The rest is for symbols.c. */

/* Where a call leads: an address in the same file, or a symbol that the loader
 * looks up; neither when that is not known. */
struct mprof__target {
    uint64_t address; /* or 0 */
    const char *symbol;
};

struct mprof__calls;

/* Of ELF, which must outlive the result; NULL when that is no x86-64 code, or
 * memory is short.  End with mprof__calls_free(); NULL is allowed there. */
struct mprof__calls *mprof__calls_new(Elf *elf);
void mprof__calls_free(struct mprof__calls *calls);

struct mprof__target mprof__call_target(const struct mprof__calls *calls,
                                        uint64_t return_address);

#endif
