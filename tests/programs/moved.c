/* moved.c - realloc() by malloc() and free(), for tools that count it
 * otherwise.
 *
 * DHAT leaves a block that realloc() moved with the chain that allocated it
 * first; mprof counts a free and an allocation.  Preloaded before either, both
 * count the same.
 */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

void *realloc(void *old, size_t size) {
    size_t before = old ? malloc_usable_size(old) : 0;
    void *new = size > 0 || !old ? malloc(size) : NULL;

    if (new &&old)
        memcpy(new, old, before < size ? before : size);
    if (new || size == 0)
        free(old);
    return new;
}

void *reallocarray(void *old, size_t count, size_t size) {
    size_t bytes;

    if (!__builtin_mul_overflow(count, size, &bytes))
        return realloc(old, bytes);
    errno = ENOMEM;
    return NULL;
}
