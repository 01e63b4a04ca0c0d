/* c-counted.c - what the descriptions of malloc_count and stack_count have
 * programs do, written anew: query the heap at checkpoints, and measure the
 * stack between two points.
 */
#include <malloc_count.h>
#include <pthread.h>
#include <stack_count.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The compiler must believe that it is used. */
#define USE(object) __asm__ volatile("" : : "r"(object) : "memory")

static void say(const char *what, int good) {
    if (!good)
        printf("wrong: %s\n", what);
}

static size_t most;

static void watch(void *cookie, size_t current) {
    (void)cookie;
    if (current > most)
        most = current;
}

/* But for what the functions that are called need themselves */
static int is_near(size_t bytes, size_t wanted) {
    return bytes + 256 >= wanted && bytes < wanted + 16384;
}

__attribute__((noinline)) static void use_stack(size_t bytes) {
    char place[bytes];
    memset(place, 1, bytes);
    USE(place);
}

__attribute__((noinline)) static void recurse(int depth) {
    char place[1000];
    memset(place, depth, sizeof place);
    USE(place);
    if (depth > 0)
        recurse(depth - 1);
    USE(place);
}

static void *measure(void *unused) {
    void *base = stack_count_clear();
    use_stack(100000);
    say("a stack of 100,000", is_near(stack_count_usage(base), 100000));
    use_stack(5000);
    say("the most stays", is_near(stack_count_usage(base), 100000));
    base = stack_count_clear();
    use_stack(20000);
    say("cleared again", is_near(stack_count_usage(base), 20000));
    base = stack_count_clear();
    recurse(100);
    say("recursion",
        stack_count_usage(base) >= 101000 && stack_count_usage(base) < 140000);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_attr_t small;
    size_t before = malloc_count_current(), total = malloc_count_total();
    size_t allocs = malloc_count_num_allocs();

    char *block = malloc(2 * 1024 * 1024);
    USE(block);
    say("current", malloc_count_current() == before + 2 * 1024 * 1024);
    malloc_count_reset_peak();
    char *more = calloc(1024, 1024);
    USE(more);
    free(more);
    say("peak", malloc_count_peak() == before + 3 * 1024 * 1024);
    block = realloc(block, 4096);
    say("realloc", malloc_count_current() == before + 4096);
    malloc_count_set_callback(watch, NULL);
    more = malloc(9000);
    USE(more);
    free(more);
    malloc_count_set_callback(NULL, NULL);
    say("callback", most == before + 4096 + 9000);
    free(block);
    say("total", malloc_count_total() - total == 3 * 1024 * 1024 + 4096 + 9000);
    say("allocations", malloc_count_num_allocs() - allocs == 4);
    malloc_count_print_status();

    measure(NULL);
    pthread_create(&thread, NULL, measure, NULL);
    pthread_join(thread, NULL);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 512 * 1024);
    pthread_create(&thread, &small, measure, NULL);
    pthread_join(thread, NULL);
    puts("end");
    return 0;
}
