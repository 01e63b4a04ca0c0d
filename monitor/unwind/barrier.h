/* barrier.h - what the routines of all architectures have in common: the DWARF
 * expressions by which unwinders find the real return address.
 *
 * A file that includes this one defines REGISTER_SP, REGISTER_BACK and
 * REGISTER_MARKS before: the DWARF numbers of the stack pointer, of what a
 * trampoline was reached by, and of the register that has the marks from then
 * on. */
#ifndef MONITOR_UNWIND_BARRIER_H
#define MONITOR_UNWIND_BARRIER_H

/* As in marks.h. */
#define MARKS 512
#define TRAMPOLINES 256

#define DUP 0x12
#define DEREF 0x06
#define OVER 0x14
#define PICK 0x15
#define AND 0x1a
#define MINUS 0x1c
#define PLUS 0x22
#define PLUS_CONSTANT 0x23
#define BRANCH 0x28
#define EQUAL 0x29
#define SKIP 0x2f
#define CONSTANT(n) 0x09, n
#define LITERAL(n) 0x30 + n
#define REGISTER(n) 0x70 + n, 0

/* From [..., sp, marks] to the place of the return address: p = marks + used;
 * while (p != marks && *p != sp) p -= 16; p + 8 */
#define SEARCH_BYTES 25
#define SEARCH                                                                 \
    DUP, DEREF, OVER, PLUS, OVER, OVER, EQUAL, BRANCH, 13, 0, DUP, DEREF,      \
        PICK, 3, EQUAL, BRANCH, 5, 0, LITERAL(16), MINUS, SKIP, -19, -1,       \
        PLUS_CONSTANT, 8

/* Before that, to [..., sp, marks].  The zeros are more than valgrind has room
 * for: it gives up on the expression without a word, which it does not where it
 * does not know an operation. */
#define ZEROS_BYTES 24
#define ZERO4 LITERAL(0), LITERAL(0), LITERAL(0), LITERAL(0)
#define ZEROS ZERO4, ZERO4, ZERO4, ZERO4, ZERO4, ZERO4

/* At a trampoline, and when the marks are in their register. */
#define BY_TRAMPOLINE                                                          \
    ZEROS_BYTES + 11 + SEARCH_BYTES, ZEROS, REGISTER(REGISTER_SP),             \
        REGISTER(REGISTER_BACK), CONSTANT(-32), AND, DUP, DEREF, PLUS, DEREF,  \
        SEARCH
#define BY_MARKS                                                               \
    ZEROS_BYTES + 4 + SEARCH_BYTES, ZEROS, REGISTER(REGISTER_SP),              \
        REGISTER(REGISTER_MARKS), SEARCH

#endif
