/* c-peaks.c SEED [END]
 *
 * Objects come and go, from many places, and the heap rises and falls; each
 * seed is another program.  With END "kill" it has its peak then, falls, and
 * kills itself; with "keep" its peak is at its end.
 *
 * c-peaks.c phases
 *
 * The heap is highest in the middle of three tenths of a second, each with a
 * mark.
 *
 * Nothing else here allocates: what a loaded counter writes at the end is all.
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SLOTS = 400, EVENTS = 60000, MAKERS = 8 };

static void *slots[SLOTS];
static uint64_t seed;

static unsigned chance(unsigned n) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % n;
}

/* Each of these calls is a place of its own. */
#define MAKER(name, least, most)                                               \
    void name(void **slot) {                                                   \
        size_t bytes = least + chance(most - least);                           \
        switch (chance(4)) {                                                   \
        case 0:                                                                \
            *slot = malloc(bytes);                                             \
            break;                                                             \
        case 1:                                                                \
            *slot = calloc(1 + chance(3), bytes);                              \
            break;                                                             \
        case 2:                                                                \
            *slot = memalign(32, bytes);                                       \
            break;                                                             \
        default:                                                               \
            *slot = malloc(bytes / 2);                                         \
            *slot = realloc(*slot, bytes);                                     \
        }                                                                      \
    }
MAKER(make_crumb, 0, 2)
MAKER(make_small, 1, 33)
MAKER(make_name, 8, 80)
MAKER(make_line, 60, 300)
MAKER(make_block, 200, 1500)
MAKER(make_page, 1000, 5000)
MAKER(make_table, 3000, 20000)
MAKER(make_image, 20000, 300000)
static void (*const makers[MAKERS])(void **) = {
    make_crumb, make_small, make_name,  make_line,
    make_block, make_page,  make_table, make_image};

void change(void **slot) {
    if (chance(3) == 0)
        *slot = realloc(*slot, 1 + chance(4000));
    free(*slot);
    *slot = NULL;
}

/* Now more than now less. */
static void random_events(void) {
    unsigned used = 1, kinds = 1;
    for (int i = 0; i < EVENTS; i++) {
        if (i % 2000 == 0) {
            used = 1 + chance(SLOTS);
            kinds = 1 + chance(MAKERS);
        }
        void **slot = &slots[chance(used)];
        if (*slot == NULL)
            makers[chance(kinds)](slot);
        else
            change(slot);
        if (chance(200) == 0)
            for (unsigned n = chance(SLOTS); n < SLOTS; n++)
                change(&slots[n]);
    }
}

void make_large(size_t bytes) {
    slots[0] = malloc(bytes);
}

/* Of the library that records, if there is one. */
extern int mprof_mark(const char *name) __attribute__((weak));

static void phases(void) {
    static const size_t bytes[] = {100000, 900000, 500000};
    static const char *const names[] = {"warm up", "work", "cool\ndown"};
    for (int i = 0; i < 3; i++) {
        if (mprof_mark != NULL && mprof_mark(names[i]) != 0)
            abort();
        make_large(bytes[i]);
        usleep(100000);
        change(&slots[0]);
    }
}

int main(int argc, char **argv) {
    if (argc < 2)
        return 2;
    if (strcmp(argv[1], "phases") == 0) {
        phases();
        return 0;
    }
    seed = strtoul(argv[1], NULL, 10) * 7919 + 1;
    random_events();
    if (argc == 3) {
        make_large(50000000);
        if (strcmp(argv[2], "kill") == 0) {
            free(slots[0]);
            kill(getpid(), SIGKILL);
        }
    }
    return 0;
}
