/* further.c - the functions of other allocators, as the program sees them; see
 * further.h.
 *
 * They take at most four arguments, in registers.  All four registers are
 * passed on, whether they are used or not.
 */
#include "monitor/malloc/further.h"

#include "monitor/malloc/around.h"

mprof__further *mprof__further_next[MPROF__FURTHERS];

#define INLINE static inline __attribute__((always_inline))

/* While operator new works, the program's handler may allocate, and so does an
 * exception. */
INLINE uintptr_t ask(mprof__further *f, uintptr_t bytes, uintptr_t a,
                     uintptr_t b, uintptr_t c, uintptr_t d, const void *frame) {
    if (!mprof__begin_call(frame))
        return f(a, b, c, d);
    mprof__calling |= MPROF__LOOSELY;
    return (uintptr_t)mprof__answer((void *)f(a, b, c, d), bytes, frame);
}

#define BYTES(f, a, b, c, d, frame) ask(f, a, a, b, c, d, frame)
#define SECOND(f, a, b, c, d, frame) ask(f, b, a, b, c, d, frame)

INLINE uintptr_t COUNT(mprof__further *f, uintptr_t a, uintptr_t b, uintptr_t c,
                       uintptr_t d, const void *frame) {
    uintptr_t bytes;
    if (__builtin_mul_overflow(a, b, &bytes))
        bytes = UINTPTR_MAX; /* it will be refused */
    return ask(f, bytes, a, b, c, d, frame);
}

INLINE uintptr_t POSIX(mprof__further *f, uintptr_t a, uintptr_t b, uintptr_t c,
                       uintptr_t d, const void *frame) {
    if (!mprof__begin_call(frame))
        return f(a, b, c, d);
    int error = (int)f(a, b, c, d);
    mprof__answer(error == 0 ? *(void **)a : NULL, c, frame);
    return (uintptr_t)error;
}

INLINE uintptr_t RESIZE(mprof__further *f, uintptr_t a, uintptr_t b,
                        uintptr_t c, uintptr_t d, const void *frame) {
    struct mprof__resizing r;
    if (a == 0)
        return SECOND(f, a, b, c, d, frame);
    if (!mprof__begin_call(frame))
        return f(a, b, c, d);
    mprof__begin_resize(&r, (void *)a, frame);
    void *fresh = (void *)f(a, b, c, d);
    return (uintptr_t)mprof__end_resize(&r, (void *)a, fresh, b, frame);
}

/* It returns how large the object is then, and does not move it. */
INLINE uintptr_t IN_PLACE(mprof__further *f, uintptr_t a, uintptr_t b,
                          uintptr_t c, uintptr_t d, const void *frame) {
    struct mprof__resizing r;
    if (!mprof__begin_call(frame))
        return f(a, b, c, d);
    uintptr_t size = f(a, b, c, d);
    mprof__calling = 0;
    if (size < b)
        return size;
    mprof__begin_resize(&r, (void *)a, frame);
    mprof__end_resize(&r, (void *)a, (void *)a, b, frame);
    return size;
}

INLINE uintptr_t RELEASE(mprof__further *f, uintptr_t a, uintptr_t b,
                         uintptr_t c, uintptr_t d, const void *frame) {
    if (a == 0 || !mprof__begin_call(frame))
        return f(a, b, c, d);
    mprof__release((void *)a);
    f(a, b, c, d);
    mprof__calling = 0;
    return 0;
}

#define FURTHER(form, name)                                                    \
    static MPROF__ENTRY uintptr_t ours_##name(uintptr_t a, uintptr_t b,        \
                                              uintptr_t c, uintptr_t d) {      \
        return form(mprof__further_next[MPROF__FURTHER_##name], a, b, c, d,    \
                    MPROF__FRAME());                                           \
    }
#include "monitor/malloc/further_list.h"

#define FURTHER(form, name) #name,
const char *const mprof__further_name[MPROF__FURTHERS] = {
#include "monitor/malloc/further_list.h"
};

#define FURTHER(form, name) ours_##name,
mprof__further *const mprof__further_ours[MPROF__FURTHERS] = {
#include "monitor/malloc/further_list.h"
};
