/* calls.h - which function is called before a return address.
 *
 * Addresses are the ELF file's.  Used by symbols.c and call_sites.c
 * only.
 */
#ifndef REPORT_ELF_CALLS_H
#define REPORT_ELF_CALLS_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

struct report__symbols;

/* The code's answer about a call.  A jump from the called function to another
 * one, which then seems to be called here, is not followed. */
enum report__answer { MPROF_NO, MPROF_YES, MPROF_UNDECIDED };

/* Whether the call before RETURN_ADDRESS in the file of CALLER calls the
 * function that begins at FUNCTION in the file of CALLEE.  CALLEE may be NULL:
 * nothing is known about that file. */
enum report__answer
report__symbols_is_call(struct report__symbols *caller, uint64_t return_address,
                        const struct report__symbols *callee,
                        uint64_t function);

/* The rest is for symbols.c. */

/* Where a call leads: an address in the same file, or a symbol that the loader
 * looks up; neither when that is not known. */
struct report__target {
    uint64_t address; /* or 0 */
    const char *symbol;
};

struct report__calls;

/* Of ELF, which must outlive the result; NULL when that is no x86-64 code, or
 * memory is short.  End with report__calls_free(); NULL is allowed there. */
struct report__calls *report__calls_new(Elf *elf);
void report__calls_free(struct report__calls *calls);

struct report__target report__call_target(const struct report__calls *calls,
                                          uint64_t return_address);

#endif
