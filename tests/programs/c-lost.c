/* c-lost.c - what is lost at the end, and what something still leads to.
 *
 * Functions called lose_... lose what they allocate; those called keep_...
 * leave one way to it, a different one each.  The argument tells who else is
 * there: threads that wait, or are busy; a child; what comes last, and is lost,
 * too; that debuggers may not look at it; or that no way is in pages that
 * nobody may write, which valgrind does not look at.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct node {
    struct node *next;
    char rest[40];
};

#define APART __attribute__((noinline, noclone))

/* What the compiler must not leave out. */
#define USE(pointer) __asm__ volatile("" : : "r"(pointer) : "memory")

/* 10 nodes, 480 bytes, of which one leads to all others. */
static APART struct node *make_list(int nodes) {
    struct node *list = NULL;
    for (int i = 0; i < nodes; i++) {
        struct node *node = malloc(sizeof *node);
        memset(node->rest, i, sizeof node->rest);
        node->next = list;
        list = node;
    }
    return list;
}

static APART void lose_list(void) {
    struct node *list = make_list(10);
    USE(list);
}

/* 3 nodes in a circle. */
static APART void lose_circle(void) {
    struct node *first = malloc(sizeof *first), *second = malloc(sizeof *first);
    struct node *third = malloc(sizeof *first);
    first->next = second;
    second->next = third;
    third->next = first;
    USE(first);
}

/* As malloc() has from mmap(). */
static APART void lose_large(void) {
    char *large = malloc(1 << 20);
    large[0] = 1;
    USE(large);
}

static struct node *volatile kept_list;
static APART void keep_list(void) {
    kept_list = make_list(20);
}

/* By the address of something in it. */
static char *volatile inside;
static APART void keep_inside(void) {
    inside = (char *)malloc(100) + 50;
}

static __thread char *volatile own;
static APART void keep_by_thread(void) {
    own = malloc(200);
}

static APART void keep_by_mapping(void) {
    char **mapped = mmap(NULL, 1 << 24, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    mapped[1 << 20] = malloc(300);
    USE(mapped);
}

/* In pages that nobody may write any more, as code or as a sealed table. */
static APART void keep_by_sealed(int how) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char **sealed = mmap(NULL, page, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sealed[1] = malloc(35);
    mprotect(sealed, page, how);
    USE(sealed);
}

static char *volatile large;
static APART void keep_by_large(void) {
    large = malloc(1 << 21);
    char *small = malloc(400);
    memcpy(large + (1 << 20), &small, sizeof small);
}

/* Old contents are no way. */
static APART void lose_what_was_freed(void) {
    char **freed = malloc(5000);
    freed[300] = malloc(600);
    USE(freed);
    free(freed);
}

static pthread_barrier_t ready;

static APART void keep_on_stack(void) {
    char *volatile mine = malloc(700);
    pthread_barrier_wait(&ready);
    for (;;)
        pause();
    free(mine);
}

static void *stay(void *data) {
    (void)data;
    keep_on_stack();
    return NULL;
}

/* In a register alone: the stack that it came from is wiped. */
static APART void keep_in_register(void) {
    char *mine = malloc(800);
    char **kept = malloc(sizeof *kept); /* so that it waits in no function */
    *kept = mine;
    pthread_barrier_wait(&ready);
    uintptr_t hidden = ~(uintptr_t)mine;
    free(kept);
    mine = NULL;
    memset(__builtin_alloca(8192), 0, 8192);
    __asm__ volatile("not %0\n1: jmp 1b" : "+r"(hidden) : : "memory");
}

static void *spin(void *data) {
    (void)data;
    keep_in_register();
    return NULL;
}

/* Changes what it keeps all the time. */
static void *work(void *data) {
    struct node *list = NULL;
    char **grows = malloc(sizeof *grows);
    grows[0] = malloc(10);
    pthread_barrier_wait(&ready);
    for (size_t n = 0;; n++) {
        struct node *node = malloc(sizeof *node);
        node->next = list;
        list = node;
        grows = realloc(grows, (1 + n % 1000) * sizeof *grows);
        if (n % 100 < 99)
            continue;
        while (list != NULL) {
            node = list->next;
            free(list);
            list = node;
        }
    }
    return data;
}

static APART void wipe(void) {
    volatile char stack[32768];
    for (size_t i = 0; i < sizeof stack; i++)
        stack[i] = 0;
}

/* The child's own, to which an object of the parent leads. */
static char **volatile parents;
static APART void keep_by_parent(void) {
    parents[0] = malloc(900);
}

static void run_child(void) {
    parents = calloc(1, 100);
    pid_t child = fork();
    if (child == 0) {
        keep_by_parent();
        lose_list();
        wipe();
        exit(0);
    }
    waitpid(child, NULL, 0);
}

/* What malloc() has to give yet begins right behind it. */
static APART void lose_last(void) {
    char *last = calloc(1, 900);
    USE(last);
}

/* Nobody may look into this process from now on. */
static void hide(void) {
    if (getuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
        abort();
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "alone";
    bool busy = strcmp(what, "busy") == 0, hidden = strcmp(what, "hidden") == 0;
    pthread_t id;
    if (strcmp(what, "unsealed") != 0) {
        keep_by_sealed(PROT_READ);
        keep_by_sealed(PROT_READ | PROT_EXEC);
    }
    lose_list();
    lose_circle();
    lose_large();
    lose_what_was_freed();
    keep_list();
    keep_inside();
    keep_by_thread();
    keep_by_mapping();
    keep_by_large();
    if (busy || hidden || strcmp(what, "threads") == 0) {
        void *(*const bodies[][3])(void *) = {{stay, spin, stay},
                                              {work, work, work}};
        pthread_barrier_init(&ready, NULL, 4);
        for (int i = 0; i < 3; i++)
            pthread_create(&id, NULL, bodies[busy][i], NULL);
        pthread_barrier_wait(&ready);
        usleep(20000);
    }
    if (strcmp(what, "child") == 0)
        run_child();
    if (hidden)
        hide();
    wipe();
    puts("done");
    if (strcmp(what, "last") == 0)
        lose_last();
    wipe();
    return 0;
}
