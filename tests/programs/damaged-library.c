/* damaged-library.c - functions deep enough for marks, whose unwind tables are
 * damaged; see c-damage.c. */
#include <stdlib.h>

static void *volatile sink;

int innermost(int n) {
    for (int i = 0; i < 100; i++) {
        sink = malloc((size_t)(n + i));
        free(sink);
    }
    return n;
}

int with_array(int n) {
    volatile char array[n + 8]; /* needs a frame pointer */
    array[0] = 1;
    return innermost(n) + array[0];
}

int recursive(int n) {
    if (n == 0)
        return with_array(3);
    int result = recursive(n - 1);
    return result + with_array(1) % 2 - 1;
}

int outermost(int n) {
    return with_array(n) + innermost(n * 2) + 1 +
           (n % 10 == 0 ? recursive(60) : 4);
}
