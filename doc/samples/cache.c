/* cache.c - what is kept on purpose, and what is not: a cache that only grows. */
#include <stdio.h>
#include <stdlib.h>
struct entry {
    struct entry *next;
    char *text;
};
static struct entry *cache;
static __thread char *buffers[4];
static struct entry *make_entry(int n) {
    struct entry *e = malloc(sizeof *e);
    e->text = malloc(40);
    snprintf(e->text, 40, "entry %d", n);
    return e;
}
static void answer(int n) {
    struct entry *e = make_entry(n);
    e->next = cache;
    cache = e;
}
int main(void) {
    for (int i = 0; i < 5000; i++)
        answer(i);
    for (int i = 0; i < 4; i++)
        buffers[i] = malloc(2000);
    return buffers[0] == NULL;
}
