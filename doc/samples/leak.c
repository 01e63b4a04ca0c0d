/* leak.c - a leak in one of two calls of a helper: parse_line() keeps the
 * names of some rows, load() frees its keys. */
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
static char *copy(const char *s) {
    char *t = malloc(strlen(s) + 1);
    return strcpy(t, s);
}
struct row {
    char *name;
    long value;
    struct row *next;
};
static struct row *parse_line(const char *line, int n) {
    struct row *r = malloc(sizeof *r);
    r->name = copy(line);
    r->value = n;
    return r;
}
static void load(int count) {
    struct row *all = NULL;
    char line[64];
    for (int i = 0; i < count; i++) {
        snprintf(line, sizeof line, "row %d of many", i);
        struct row *r = parse_line(line, i);
        char *key = copy(line + 4);
        r->next = all;
        all = r;
        free(key);
    }
    while (all) {
        struct row *next = all->next;
        if (all->value % 13)
            free(all->name);
        free(all);
        all = next;
    }
}
int main(void) {
    load(20000);
    puts("done");
    return 0;
}
