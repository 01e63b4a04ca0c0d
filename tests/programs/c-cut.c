/* c-cut.c FILE WHEN SIZE - threads allocate, and the allocation number WHEN
 * cuts FILE down to SIZE, if it is longer.  And all that a program can do with
 * SIGBUS, which must be as if nobody else had to do with it. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 3, OBJECTS = 4000, KEPT = 64, PAGE = 4096 };

static const char *file;
static long when, size, allocated;
static volatile sig_atomic_t signals;

static void cut(void) {
    struct stat st;
    if (stat(file, &st) == 0 && st.st_size > size && truncate(file, size) != 0)
        puts("cannot cut it");
}

static void *make(unsigned seed, int depth);

static void *once_more(unsigned seed, int depth) {
    void *made = make(seed * 1664525u + 1, depth);
    __asm__ volatile("");
    return made;
}

static void *make(unsigned seed, int depth) {
    void *made;
    if (depth == 0) {
        if (__atomic_add_fetch(&allocated, 1, __ATOMIC_RELAXED) == when)
            cut();
        return malloc(seed % 500 + 1);
    }
    if (seed >> depth & 1)
        made = once_more(seed, depth - 1);
    else
        made = make(seed + 7, depth - 1);
    __asm__ volatile("");
    return made;
}

static void *work(void *number) {
    unsigned seed = (unsigned)(size_t)number;
    void *kept[KEPT] = {NULL};
    for (int i = 0; i < OBJECTS; i++) {
        seed = seed * 1103515245u + 12345;
        free(kept[seed >> 8 & 63]);
        kept[seed >> 8 & 63] = make(seed, 10 + (int)(seed % 15));
    }
    for (int i = 0; i < KEPT; i++)
        free(kept[i]);
    return NULL;
}

static void work_in_threads(void) {
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)(i + 1));
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* Memory of a file that is not there any more. */
static volatile char *hole(void) {
    FILE *mine = tmpfile();
    if (mine == NULL || ftruncate(fileno(mine), PAGE) != 0)
        exit(2);
    char *memory =
        mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(mine), 0);
    if (memory == MAP_FAILED || ftruncate(fileno(mine), 0) != 0)
        exit(2);
    fclose(mine);
    return memory;
}

static volatile char *touched;

static void fill(int signal) {
    (void)signal;
    signals++;
    mmap((void *)touched, PAGE, PROT_READ | PROT_WRITE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

static void fill_where(int signal, siginfo_t *info, void *context) {
    (void)context;
    if (info->si_code > 0 && info->si_addr != touched)
        puts("another address");
    fill(signal);
}

static void touch(void) {
    touched = hole();
    *touched = 1;
}

static void tell(const char *what) {
    struct sigaction now;
    sigaction(SIGBUS, NULL, &now);
    printf("%s: %d signals, action: %s, flags %x, mask %d\n", what,
           (int)signals,
           now.sa_handler == SIG_DFL   ? "default"
           : now.sa_handler == SIG_IGN ? "ignore"
           : now.sa_flags & SA_SIGINFO ? "with information"
                                       : "plain",
           (unsigned)now.sa_flags & ~0x04000000u,
           sigismember(&now.sa_mask, SIGUSR1));
}

static void run_child(const char *what, void (*body)(void)) {
    int status;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        body();
        fflush(stdout);
        _exit(0);
    }
    waitpid(child, &status, 0);
    printf("%s: %x\n", what, (unsigned)status & ~0x80u);
}

static void be_sent(void) {
    raise(SIGBUS);
}

static void execute(void) {
    execlp("sh", "sh", "-c", "kill -BUS $$; echo ignored", NULL);
}

/* It has the memory of its parent, but actions of its own. */
static void vfork_one(void) {
    pid_t child = vfork();
    if (child == 0) {
        signal(SIGBUS, SIG_DFL);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    tell("after vfork()");
}

static void try_actions(void) {
    struct sigaction action = {.sa_sigaction = fill_where};
    tell("at first");
    run_child("touched", touch);
    run_child("sent", be_sent);
    printf("before: %d\n", signal(SIGBUS, fill) == SIG_DFL);
    vfork_one();
    touch();
    raise(SIGBUS);
    tell("signal");
    action.sa_flags = SA_SIGINFO | SA_RESETHAND;
    sigaddset(&action.sa_mask, SIGUSR1);
    sigaction(SIGBUS, &action, NULL);
    tell("once");
    touch();
    tell("after that");
    run_child("touched again", touch);
    signal(SIGBUS, SIG_IGN);
    raise(SIGBUS);
    tell("ignored");
    run_child("executed", execute);
    signal(SIGBUS, SIG_DFL);
    tell("default");
}

int main(int argc, char **argv) {
    if (argc < 4)
        return 2;
    file = argv[1];
    when = atol(argv[2]);
    size = atol(argv[3]);
    if (when == 0)
        try_actions();
    signal(SIGBUS, fill);
    work_in_threads();
    tell("at last");
    return 9;
}
