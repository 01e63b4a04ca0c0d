/* c-looks.c - a program looks at its own stack, while it allocates. */
#define _GNU_SOURCE
#include <execinfo.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unwind.h>

static int depth, leave_at;
static jmp_buf back;
static void *volatile sink;

static void allocate(int n) {
    for (int i = 0; i < n; i++) {
        sink = malloc((size_t)i + 1);
        free(sink);
    }
}

static _Unwind_Reason_Code visit(struct _Unwind_Context *context, void *data) {
    (void)context, (void)data;
    allocate(3);
    if (++depth == leave_at)
        longjmp(back, 1);
    return _URC_NO_REASON;
}

static void __attribute__((noinline)) show(void) {
    void *addresses[100];
    depth = leave_at = 0;
    _Unwind_Backtrace(visit, NULL);
    printf("%d frames", depth);
    for (int size = 0; size <= 100; size += size < 10 ? 1 : 45)
        printf(" %d", backtrace(addresses, size));
    depth = 0;
    leave_at = 5;
    if (setjmp(back) == 0)
        _Unwind_Backtrace(visit, NULL);
    printf(", left at %d\n", depth);
}

static int __attribute__((noinline)) dive(int n) {
    allocate(5);
    if (n == 0) {
        allocate(100);
        show();
        return 0;
    }
    int result = dive(n - 1) + 1;
    allocate(5);
    return result;
}

int main(void) {
    int sum = 0;
    for (int i = 0; i < 8; i++)
        sum += dive(i * 7);
    printf("%d\n", sum);
    return 0;
}
