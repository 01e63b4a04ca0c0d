/* c-kept.c - three ways to keep memory: a list that a static pointer leads to,
 * a pool of each thread, a table in a structure; and what is lost. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct item {
    struct item *next;
    char *name;
};

static struct item *orders;
__thread void *pool[16];
static struct {
    size_t count;
    char **rows;
} table;
static pthread_barrier_t both;

static struct item *make_item(void) {
    struct item *item = malloc(sizeof *item);
    item->name = malloc(24);
    return item;
}

static void take_orders(int count) {
    while (count-- > 0) {
        struct item *item = make_item();
        item->next = orders;
        orders = item;
    }
}

static void fill_pool(void) {
    for (size_t i = 0; i < sizeof pool / sizeof *pool; i++)
        pool[i] = malloc(5000);
}

static void fill_table(size_t count) {
    table.rows = malloc(count * sizeof *table.rows);
    while (table.count < count)
        table.rows[table.count++] = malloc(100);
}

static void *run(void *unused) {
    (void)unused;
    fill_pool();
    pthread_barrier_wait(&both);
    pthread_barrier_wait(&both);
    return NULL;
}

/* Not to be found on the stack afterwards. */
static __attribute__((noinline)) void lose(void) {
    char *volatile lost = malloc(700);
    lost = NULL;
}

static __attribute__((noinline)) void clean_stack(void) {
    volatile char dead[4096];
    memset((void *)dead, 0, sizeof dead);
}

int main(void) {
    pthread_t thread;
    pthread_barrier_init(&both, NULL, 2);
    pthread_create(&thread, NULL, run, NULL);
    pthread_barrier_wait(&both);
    take_orders(10000);
    fill_pool();
    fill_table(1000);
    lose();
    clean_stack();
    exit(0);
}
