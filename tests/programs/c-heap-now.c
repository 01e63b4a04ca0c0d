/* c-heap-now.c - a program that asks how its heap is, as one does that was
 * written for malloc_count; "ok" if all answers are right.  Compiled with
 * -DALLOCATE_IN_CALLBACK the callback allocates, too. */
#include <mprof/malloc_count.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static char *volatile p[4];
static size_t base;
/* malloc() is said to call nothing here. */
static volatile unsigned calls;
static volatile size_t last;

#define CHECK(what, expected)                                                  \
    do {                                                                       \
        size_t is = (what), wanted = (expected);                               \
        if (is != wanted) {                                                    \
            printf("line %d: %s is %zu, not %zu\n", __LINE__, #what, is,       \
                   wanted);                                                    \
            exit(1);                                                           \
        }                                                                      \
    } while (0)

static void changed(void *cookie, size_t current) {
    calls++;
    last = current;
    if (cookie != &calls)
        abort();
#ifdef ALLOCATE_IN_CALLBACK
    free(malloc(77));
#endif
}

static void *rise_and_fall(void *unused) {
    (void)unused;
    for (int i = 0; i < 1000; i++) {
        void *volatile mine = malloc(3000);
        free(mine);
    }
    return NULL;
}

static void numbers(void) {
    size_t allocs = malloc_count_num_allocs(), total = malloc_count_total();
    base = malloc_count_current();
    p[0] = malloc(100000);
    CHECK(malloc_count_current(), base + 100000);
    p[1] = malloc(500);
    free(p[0]);
    CHECK(malloc_count_current(), base + 500);
    CHECK(malloc_count_peak(), base + 100500);
    p[1] = realloc(p[1], 700);
    CHECK(malloc_count_current(), base + 700);
    CHECK(malloc_count_num_allocs(), allocs + 3);
    CHECK(malloc_count_total(), total + 101200);
}

static void peaks(void) {
    malloc_count_reset_peak();
    CHECK(malloc_count_peak(), base + 700);
    p[2] = calloc(10, 20);
    free(p[2]);
    CHECK(malloc_count_peak(), base + 900);
    CHECK(malloc_count_current(), base + 700);
    malloc_count_reset_peak();
    CHECK(malloc_count_peak(), base + 700);
}

static void callbacks(void) {
    malloc_count_set_callback(changed, (void *)&calls);
    p[2] = malloc(40);
    CHECK(calls, 1);
    CHECK(last, base + 740);
    p[2] = realloc(p[2], 50);
    CHECK(calls, 2);
    CHECK(last, base + 750);
    free(p[2]);
    CHECK(calls, 3);
    CHECK(last, base + 700);
    malloc_count_set_callback(NULL, NULL);
    free(malloc(10));
    CHECK(calls, 3);
}

/* What other threads did is there when they have ended. */
static void threads(void) {
    pthread_t id[3];
    size_t allocs, before;
    pthread_create(&id[0], NULL, rise_and_fall, NULL);
    pthread_join(id[0], NULL);
    allocs = malloc_count_num_allocs();
    before = malloc_count_current();
    for (int i = 0; i < 3; i++)
        pthread_create(&id[i], NULL, rise_and_fall, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(id[i], NULL);
    size_t own = malloc_count_num_allocs() - allocs - 3000;
    if (own > 10 || malloc_count_current() > before + 2000 ||
        malloc_count_peak() < before + 3000)
        printf("threads: %zu, %zu, %zu\n", own, malloc_count_current() - before,
               malloc_count_peak() - before);
    else
        puts("ok");
}

int main(void) {
    setvbuf(stdout, NULL, _IONBF, 0);
    numbers();
    peaks();
    callbacks();
    threads();
    malloc_count_print_status();
    return 0;
}
