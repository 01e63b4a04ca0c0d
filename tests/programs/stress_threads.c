/* stress_threads.c - four threads allocate, free each other's blocks, and come
 * and go, for MPROF_STRESS_SECONDS (20 unless set).
 *
 * It counts by itself what it asks for, and prints at the end
 *
 *     make_block ALLOCATIONS BYTES FREES BYTES-FREED
 *     resize_block ALLOCATIONS BYTES FREES BYTES-FREED
 *
 * where frees are those of blocks that the function allocated, and what the
 * profile of the run must say of these two functions.  MPROF_STRESS_SEED makes
 * another run.  A thread ends after a while, and another takes its place. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { THREADS = 4, SHARED = 1024, TURNS = 20000 };
enum origin { MADE, RESIZED, ORIGINS };

struct count {
    uint64_t allocs, bytes, frees, freed;
};

struct block {
    void *address;
    size_t bytes;
    enum origin origin;
};

/* A place for a block that any thread may take; its lock is its own. */
struct place {
    pthread_mutex_t lock;
    struct block block;
};

static struct place places[SHARED];
static struct count sums[ORIGINS];
static pthread_mutex_t sums_lock = PTHREAD_MUTEX_INITIALIZER;
static time_t end_time;
static unsigned long lives;

struct life {
    uint64_t random;
    struct count counts[ORIGINS];
};

static uint64_t next_random(struct life *life) {
    life->random ^= life->random << 13;
    life->random ^= life->random >> 7;
    life->random ^= life->random << 17;
    return life->random;
}

static size_t some_size(struct life *life) {
    uint64_t r = next_random(life);
    return r % 64 == 0 ? r / 64 % 20000 : r / 64 % 300;
}

__attribute__((noinline)) static void *make_block(size_t bytes) {
    void *block = malloc(bytes);
    __asm__ volatile("" : "+r"(block));
    return block;
}

__attribute__((noinline)) static void *resize_block(void *old, size_t bytes) {
    void *block = realloc(old, bytes);
    __asm__ volatile("" : "+r"(block));
    return block;
}

static void count_alloc(struct life *life, struct block *block) {
    if (block->address == NULL) {
        fprintf(stderr, "stress: no memory\n");
        exit(1);
    }
    memset(block->address, 0x5a, block->bytes < 16 ? block->bytes : 16);
    life->counts[block->origin].allocs++;
    life->counts[block->origin].bytes += block->bytes;
}

static void count_free(struct life *life, const struct block *block) {
    life->counts[block->origin].frees++;
    life->counts[block->origin].freed += block->bytes;
}

static struct block make(struct life *life) {
    struct block block = {.bytes = some_size(life), .origin = MADE};
    block.address = make_block(block.bytes);
    count_alloc(life, &block);
    return block;
}

static struct block resize(struct life *life, struct block old) {
    struct block block = {.bytes = some_size(life) + 1, .origin = RESIZED};
    block.address = resize_block(old.address, block.bytes);
    count_free(life, &old);
    count_alloc(life, &block);
    return block;
}

static void drop(struct life *life, struct block block) {
    if (block.address == NULL)
        return;
    count_free(life, &block);
    free(block.address);
}

/* Put a block into a place and give back the one that was there. */
static struct block exchange(struct place *place, struct block block) {
    pthread_mutex_lock(&place->lock);
    struct block old = place->block;
    place->block = block;
    pthread_mutex_unlock(&place->lock);
    return old;
}

static void turn(struct life *life, int depth) {
    struct place *place = &places[next_random(life) % SHARED];
    if (depth > 0) {
        turn(life, depth - 1);
        return;
    }
    struct block old = exchange(place, make(life));
    if (old.address != NULL && next_random(life) % 4 == 0)
        old = exchange(place, resize(life, old));
    drop(life, old);
}

static void *live(void *argument) {
    struct life life = {.random = (uintptr_t)argument};
    for (int i = 0; i < TURNS && time(NULL) < end_time; i++)
        turn(&life, (int)(next_random(&life) % 8));
    pthread_mutex_lock(&sums_lock);
    for (int i = 0; i < ORIGINS; i++) {
        sums[i].allocs += life.counts[i].allocs;
        sums[i].bytes += life.counts[i].bytes;
        sums[i].frees += life.counts[i].frees;
        sums[i].freed += life.counts[i].freed;
    }
    lives++;
    pthread_mutex_unlock(&sums_lock);
    return NULL;
}

static uint64_t number(const char *name, uint64_t otherwise) {
    const char *text = getenv(name);
    return text != NULL && *text != '\0' ? strtoull(text, NULL, 10) : otherwise;
}

static void print(const char *name, const struct count *count) {
    printf("%s %llu %llu %llu %llu\n", name, (unsigned long long)count->allocs,
           (unsigned long long)count->bytes, (unsigned long long)count->frees,
           (unsigned long long)count->freed);
}

int main(void) {
    pthread_t threads[THREADS];
    uint64_t seed = number("MPROF_STRESS_SEED", 1) * 0x9e3779b97f4a7c15u | 1;
    end_time = time(NULL) + (time_t)number("MPROF_STRESS_SECONDS", 20);
    for (int i = 0; i < SHARED; i++)
        pthread_mutex_init(&places[i].lock, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, live,
                       (void *)(uintptr_t)(seed += 0x1234567890u));
    /* One after the other ends and is replaced. */
    while (time(NULL) < end_time)
        for (int i = 0; i < THREADS; i++) {
            pthread_join(threads[i], NULL);
            pthread_create(&threads[i], NULL, live,
                           (void *)(uintptr_t)(seed += 0x1234567890u));
        }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    print("make_block", &sums[MADE]);
    print("resize_block", &sums[RESIZED]);
    fprintf(stderr, "%lu threads\n", lives);
    return 0;
}
