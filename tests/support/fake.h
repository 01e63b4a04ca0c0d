/* fake.h - an adapter without a runtime, to test the monitor alone. */
#ifndef MPROF_TESTS_FAKE_H
#define MPROF_TESTS_FAKE_H

#include <stdint.h>

/* Allocate nothing, but record BYTES of class CLASS_ as if; the chain begins
 * at the caller. */
void fake_alloc(uint64_t bytes, int class_);

/* The same for an instance of the class OBJECT, and which one was kept last. */
void fake_alloc_of(uint64_t bytes, uintptr_t object);
extern uintptr_t fake_kept;

/* While set, native functions are named "F<address>" and frames of the
 * function at this address are replaced by this object. */
extern uintptr_t fake_interpreter, fake_object;

/* Called from inside of the hook, with its lock held, unless NULL. */
extern void (*fake_inside)(void);

/* What the adapter says when asked whether allocations can be seen. */
extern int fake_check;

#endif
