/* barrier.h - what the routines of all architectures have in common: the DWARF
 * expression by which unwinders find the real return address.
 *
 * A file that includes this one defines REGISTER_BACK before: the DWARF number
 * of the register that has the address of the trampoline. */
#ifndef MONITOR_UNWIND_BARRIER_H
#define MONITOR_UNWIND_BARRIER_H

/* As in marks.h. */
#define GATES 4096
#define GATE_BYTES 64

#define DUP 0x12
#define DEREF 0x06
#define AND 0x1a
#define PLUS 0x22
#define CONSTANT(n) 0x09, n
#define LITERAL(n) 0x30 + n
#define REGISTER(n) 0x70 + n, 0

/* A gate begins with its distance from the place of its return address.  The
 * zeros before are more than valgrind has room for: it gives up on the
 * expression without a word, which it does not where it does not know an
 * operation. */
#define ZEROS_BYTES 24
#define ZERO4 LITERAL(0), LITERAL(0), LITERAL(0), LITERAL(0)
#define ZEROS ZERO4, ZERO4, ZERO4, ZERO4, ZERO4, ZERO4
#define BY_GATE                                                                \
    ZEROS_BYTES + 8, ZEROS, REGISTER(REGISTER_BACK), CONSTANT(-GATE_BYTES),    \
        AND, DUP, DEREF, PLUS

#endif
