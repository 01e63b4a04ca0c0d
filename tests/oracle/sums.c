/* sums.c - the totals of a data file, read in the plainest way.
 *
 * Knows monitor/format/format.h and nothing of the reader in report/.  Prints
 * the allocations and bytes of all chains, of all bins, and of what is
 * unplaced.
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

/* What the chains that are not in the tree have allocated. */
static void add_spilled(struct mprof_count *sum, const unsigned char *data,
                        const struct mprof_block *block) {
    const struct mprof_thread *thread =
        (const void *)(data + (size_t)block->thread * 8);
    const struct mprof_spill_counter *counter = (const void *)(block + 1);
    const struct mprof_total *total = (const void *)(block + 1);
    for (uint32_t i = 0; i < block->count; i++)
        if (block->head.type == MPROF_SPILL_COUNTERS) {
            if (thread->spilled == thread->emptied)
                add(sum, &counter[i].counter.allocated);
        } else if (block->head.type == MPROF_TOTALS) {
            if (total[i].kind == MPROF_SELF &&
                total[i].views & MPROF_ALL_FRAMES)
                add(sum, &total[i].counts[thread->emptied & 1]);
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
    struct mprof_count nodes = {0, 0}, bins = {0, 0};
    size_t thing;
    for (size_t at = MPROF_HEADER_BYTES; at < header.used;) {
        const struct mprof_record *record = (const void *)(data + at);
        if (record->bytes == 0)
            fail(argv[1], "a record without length");
        if (record->type == MPROF_COUNTERS) {
            const struct mprof_block *block = (const void *)record;
            const struct mprof_thread *thread =
                (const void *)(data + (size_t)block->thread * 8);
            thing = thread->heap == MPROF_C_HEAP
                        ? sizeof(struct mprof_c_counter)
                        : sizeof(struct mprof_counter);
            for (uint32_t i = 0; i < block->count; i++)
                add(&nodes, &((const struct mprof_counter
                                   *)(const void *)((const char *)(block + 1) +
                                                    i * thing))
                                 ->allocated);
        }
        if (record->type == MPROF_SPILL_COUNTERS ||
            record->type == MPROF_TOTALS)
            add_spilled(&nodes, data, (const void *)record);
        if (record->type == MPROF_BIN) {
            add(&bins, &((const struct mprof_bin *)record)->objects);
            add(&bins, &((const struct mprof_bin *)record)->storage);
        }
        at += record->bytes;
    }
    struct mprof_count unplaced = {header.unplaced_allocs,
                                   header.unplaced_bytes};
    print("nodes", &nodes);
    print("bins", &bins);
    print("unplaced", &unplaced);
    printf("state %s\n", header.state == MPROF_CLOSED ? "closed" : "open");
    free(data);
    return 0;
}
