/* c-damaged.c - uses libdamaged.so. */
#include <stdio.h>

int outermost(int n);

int main(void) {
    int sum = 0;
    for (int i = 0; i < 40; i++)
        sum += outermost(i);
    printf("%d\n", sum);
    return 0;
}
