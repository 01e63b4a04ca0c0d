/* sums.c - the totals of a data file, read in the plainest way.
 *
 * Knows monitor/format/format.h and nothing of the reader in report/.  Prints
 * the allocations and bytes of all chains, of all bins, of the chains whose
 * type is known, of what is unplaced, and of what was not found dead; and how
 * many bins have something else than the chains of their type.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/format/format.h"

static void fail(const char *file, const char *reason) {
    fprintf(stderr, "sums: %s: %s\n", file, reason);
    exit(1);
}

static unsigned char *read_file(const char *name, size_t *size) {
    FILE *file = fopen(name, "rb");
    if (file == NULL)
        fail(name, "cannot be opened");
    unsigned char *data = NULL;
    size_t room = 0, got;
    *size = 0;
    do {
        room += 1 << 20;
        data = realloc(data, room);
        if (data == NULL)
            fail(name, "no memory");
        got = fread(data + *size, 1, room - *size, file);
        *size += got;
    } while (*size == room);
    fclose(file);
    return data;
}

static void add(struct mprof_count *sum, const struct mprof_count *count) {
    sum->allocs += count->allocs;
    sum->bytes += count->bytes;
}

static void print(const char *what, const struct mprof_count *sum) {
    printf("%s %lu %lu\n", what, (unsigned long)sum->allocs,
           (unsigned long)sum->bytes);
}

/* What the chains have: in all, with a type, and by BIN and whether it is
 * storage, where the bins of a file are. */
struct chains {
    const unsigned char *data;
    struct mprof_count all, typed;
    struct mprof_count (*of_bin)[2];
};

static void add_chain(struct chains *chains, uint32_t key,
                      const struct mprof_count *count) {
    add(&chains->all, count);
    if (!mprof_key_has_type(key))
        return;
    add(&chains->typed, count);
    add(&chains->of_bin[mprof_key_bin(key)][key / MPROF_STORAGE], count);
}

static int differ(const struct mprof_count *a, const struct mprof_count *b) {
    return a->allocs != b->allocs || a->bytes != b->bytes;
}

static int lives(const struct mprof_thread *thread) {
    return thread->heap == MPROF_C_HEAP || thread->flags & MPROF_THREAD_LIVES;
}

static struct mprof_count read_word(const void *word) {
    uint64_t sum;
    memcpy(&sum, word, sizeof sum);
    return (struct mprof_count){sum & 0xffffffff, sum >> 32};
}

/* What a counter of THREAD in a block of TYPE has allocated, and what of that
 * is FREED. */
static struct mprof_count read_counter(const unsigned char *data,
                                       const struct mprof_thread *thread,
                                       uint32_t type, const char *counter,
                                       struct mprof_count *freed) {
    struct mprof_count count = read_word(counter + 8);
    *freed = (struct mprof_count){0, 0};
    if (lives(thread) && type == MPROF_SPILL_COUNTERS) {
        memcpy(&count, counter + 8, sizeof count);
    } else if (thread->heap == MPROF_C_HEAP) {
        *freed = read_word(counter + 32);
        if (count.bytes >> 31) {
            const unsigned char *wide = data + (count.allocs & 0x7fffffff) * 8;
            memcpy(&count, wide + 16, sizeof count);
            memcpy(freed, wide + 48, sizeof *freed);
        }
    } else if (lives(thread)) {
        memcpy(&count, counter + 8, sizeof count);
        memcpy(freed, counter + 40, sizeof *freed);
    } else if (count.bytes >> 31) {
        memcpy(&count, data + (count.allocs & 0x7fffffff) * 8 + 16,
               sizeof count);
    }
    return count;
}

/* What the chains that are not in the tree have allocated. */
static void add_spilled(struct chains *chains,
                        const struct mprof_block *block) {
    const unsigned char *data = chains->data;
    const struct mprof_thread *thread =
        (const void *)(data + (size_t)block->thread * 8);
    const struct mprof_total *total = (const void *)(block + 1);
    const char *counter = (const char *)(block + 1);
    for (uint32_t i = 0; i < block->count; i++)
        if (block->head.type == MPROF_SPILL_COUNTERS) {
            uint32_t key = ((const struct mprof_counter *)counter)->key;
            struct mprof_count freed,
                count = read_counter(chains->data, thread, block->head.type,
                                     counter, &freed);
            if (thread->spilled == thread->emptied)
                add_chain(chains, thread->heap == MPROF_C_HEAP ? 0 : key,
                          &count);
            counter += lives(thread) ? 32 : 16;
        } else if (block->head.type == MPROF_TOTALS) {
            if (total[i].kind == MPROF_SELF &&
                total[i].views & MPROF_ALL_FRAMES)
                add_chain(chains, total[i].caller,
                          &total[i].counts[thread->emptied & 1]);
        }
}

/* Add what the BLOCK of counters has to CHAINS, and what of it was freed to
 * DEAD. */
static void add_counters(struct chains *chains, const struct mprof_block *block,
                         struct mprof_count *dead) {
    const unsigned char *data = chains->data;
    const struct mprof_thread *thread =
        (const void *)(data + (size_t)block->thread * 8);
    size_t thing = lives(thread) ? sizeof(struct mprof_c_counter)
                                 : sizeof(struct mprof_lisp_counter);
    for (uint32_t i = 0; i < block->count; i++) {
        const struct mprof_counter *counter =
            (const void *)((const char *)(block + 1) + i * thing);
        struct mprof_count freed,
            count = read_counter(data, thread, block->head.type,
                                 (const void *)counter, &freed);
        add_chain(chains, thread->heap == MPROF_C_HEAP ? 0 : counter->key,
                  &count);
        add(dead, &freed);
    }
}

int main(int argc, char **argv) {
    if (argc != 2)
        fail("usage", "sums FILE");
    size_t size;
    unsigned char *data = read_file(argv[1], &size);
    struct mprof_header header;
    if (size < MPROF_HEADER_BYTES)
        fail(argv[1], "too short");
    memcpy(&header, data, sizeof header);
    if (memcmp(header.magic, MPROF_MAGIC, 8) != 0 || header.used > size)
        fail(argv[1], "not a data file");
    struct mprof_count bins = {0, 0}, dead = {0, 0};
    struct chains chains = {.data = data};
    unsigned wrong = 0;
    chains.of_bin = calloc(header.used / 8 + 1, sizeof *chains.of_bin);
    if (chains.of_bin == NULL)
        fail(argv[1], "no memory");
    for (size_t at = MPROF_HEADER_BYTES; at < header.used;) {
        const struct mprof_record *record = (const void *)(data + at);
        if (record->bytes == 0)
            fail(argv[1], "a record without length");
        if (record->type == MPROF_COUNTERS)
            add_counters(&chains, (const void *)record, &dead);
        if (record->type == MPROF_SPILL_COUNTERS ||
            record->type == MPROF_TOTALS)
            add_spilled(&chains, (const void *)record);
        if (record->type == MPROF_BIN) {
            add(&bins, &((const struct mprof_bin *)record)->objects);
            add(&bins, &((const struct mprof_bin *)record)->storage);
        }
        at += record->bytes;
    }
    struct mprof_count unplaced = {header.unplaced_allocs,
                                   header.unplaced_bytes};
    for (size_t at = MPROF_HEADER_BYTES; at < header.used;) {
        const struct mprof_bin *bin = (const void *)(data + at);
        if (bin->head.type == MPROF_BIN)
            wrong += differ(&bin->objects, &chains.of_bin[at / 8][0]) ||
                     differ(&bin->storage, &chains.of_bin[at / 8][1]);
        at += bin->head.bytes;
    }
    print("nodes", &chains.all);
    print("typed", &chains.typed);
    struct mprof_count alive = {chains.all.allocs - dead.allocs,
                                chains.all.bytes - dead.bytes};
    print("alive", &alive);
    printf("wrong %u\n", wrong);
    print("bins", &bins);
    print("unplaced", &unplaced);
    printf("state %s\n", header.state == MPROF_CLOSED ? "closed" : "open");
    free(chains.of_bin);
    free(data);
    return 0;
}
