/* save.c - a copy of the data file while threads go on recording.
 *
 * The arena's lock is held, so no record is added.  But the threads count on,
 * and add things to their blocks without the lock.  The copy has the things
 * that existed at first: their numbers are taken before they are copied, so all
 * of them are complete.  Links to younger things, which can only be counters,
 * end there.
 */
#define _GNU_SOURCE
#include "monitor/file/save.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "monitor/base/self.h"
#include "monitor/base/table.h"
#include "monitor/format/claim.h"
#include "monitor/format/create.h"
#include "monitor/format/process.h"
#include "monitor/include/mprof.h"
#include "monitor/file/cut.h"

/* The blocks of the copy, by their place. */
struct blocks {
    struct block {
        mprof_ref ref;
        uint32_t count, bytes; /* things, and bytes of each */
    } * list;
    size_t number;
};

static int write_all(int fd, const char *data, size_t size) {
    while (size > 0) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return -1;
        data += n;
        size -= (size_t)n;
    }
    return 0;
}

static int write_copy(const struct mprof_header *copy, const char *path) {
    char temporary[PATH_MAX];
    struct mprof_header old;
    if (mprof__claim(path, mprof__image_id(), &old) == MPROF__OTHERS)
        return MPROF_E_OPEN;
    int fd =
        mprof__create_beside(path, temporary, sizeof temporary, MPROF__PRIVATE);
    if (fd < 0)
        return MPROF_E_OPEN;
    int error = write_all(fd, (const char *)copy, copy->used);
    if (close(fd) != 0)
        error = -1;
    if (error == 0 && rename(temporary, path) == 0)
        return 0;
    int saved = errno;
    unlink(temporary);
    errno = saved;
    return MPROF_E_WRITE;
}

/* Other threads count on meanwhile; no number may be torn.  Backwards: who
 * frees what another has allocated counts it behind that one's counters, and
 * no copy may have more freed than allocated. */
static void copy_words(uint64_t *to, const uint64_t *from, size_t bytes) {
    for (size_t i = bytes / sizeof *to; i-- > 0;)
        to[i] = mprof__load_acquire(&from[i]);
}

/* The order in which the numbers of things are taken.  Things that lead to
 * older ones come first, as totals.  Frees of objects that a spill
 * counts are in counters of the tree: so spills come after the tree was copied.
 */
enum turn { LEADING, OTHERS, SPILLS };

static enum turn turn_of(uint32_t type) {
    return type == MPROF_TOTALS                                        ? LEADING
           : type == MPROF_SPILL_NODES || type == MPROF_SPILL_COUNTERS ? SPILLS
                                                                       : OTHERS;
}

/* Take the numbers of things whose TURN it is.  Without a list, count only the
 * blocks. */
static void take_counts(const struct mprof__arena *arena, size_t used,
                        struct blocks *blocks, enum turn turn) {
    const struct mprof_record *record;
    size_t n = 0;
    for (size_t at = MPROF_HEADER_BYTES; at < used;
         at += mprof__record_size(record)) {
        record = (const void *)(arena->base + at);
        const struct mprof_block *block = (const void *)record;
        if (mprof_thing_bytes(record->type, false) == 0)
            continue;
        const struct mprof_thread *thread =
            mprof__arena_at(arena, block->thread);
        uint32_t bytes = mprof_thing_bytes(
            record->type, mprof_knows_lives(thread->heap, thread->flags));
        if (blocks->list != NULL && turn_of(record->type) == turn)
            blocks->list[n] = (struct block){
                (mprof_ref)(at / 8), mprof__load_acquire(&block->count), bytes};
        n++;
    }
    blocks->number = n;
}

/* Copy all records of TYPE once more. */
static void copy_again(struct mprof_header *copy,
                       const struct mprof__arena *arena, size_t used,
                       uint32_t type) {
    const struct mprof_record *from;
    for (size_t at = MPROF_HEADER_BYTES; at < used;
         at += mprof__record_size(from)) {
        from = (const void *)(arena->base + at);
        if (from->type == type)
            copy_words((uint64_t *)((char *)copy + at), (const uint64_t *)from,
                       from->bytes);
    }
}

/* Copy the frees before the allocations, and both quickly: objects that are
 * allocated in between look as if they were kept.  A counter that becomes wide
 * is equal to its C_WIDE. */
static void copy_spills(struct mprof_header *copy,
                        const struct mprof__arena *arena, size_t used,
                        struct blocks *blocks) {
    copy_again(copy, arena, used, MPROF_FREED);
    copy_again(copy, arena, used, MPROF_C_WIDE);
    copy_again(copy, arena, used, MPROF_COUNTERS);
    take_counts(arena, used, blocks, SPILLS);
    copy_again(copy, arena, used, MPROF_SPILL_COUNTERS);
    copy_again(copy, arena, used, MPROF_SPILL_NODES);
}

/* Is there a thing at REF? */
static bool is_there(const struct blocks *blocks, mprof_ref ref) {
    size_t low = 0, high = blocks->number;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (blocks->list[middle].ref <= ref)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return false;
    const struct block *block = &blocks->list[low - 1];
    size_t within = ((size_t)ref - block->ref) * 8;
    return within <
           sizeof(struct mprof_block) + (size_t)block->count * block->bytes;
}

/* The place of the ref to a counter in a THING of TYPE. */
static mprof_ref *link_of(void *thing, uint32_t type) {
    if (type == MPROF_NODES || type == MPROF_SPILL_NODES)
        return &((struct mprof_node *)thing)->counter;
    return &((struct mprof_counter *)thing)->next;
}

/* Let *LINK lead nowhere when it leads to what is not in the copy. */
static void cut(const struct blocks *blocks, mprof_ref *link) {
    if (*link != 0 && !is_there(blocks, *link))
        *link = 0;
}

/* Let the COPY have what there was when the numbers were taken. */
static void settle(struct mprof_header *copy, const struct blocks *blocks) {
    for (size_t i = 0; i < blocks->number; i++) {
        const struct block *b = &blocks->list[i];
        struct mprof_block *block = (void *)((char *)copy + (size_t)b->ref * 8);
        char *thing = (char *)(block + 1);
        size_t room = block->head.bytes - sizeof *block;
        block->count = b->count;
        memset(thing + (size_t)b->count * b->bytes, 0,
               room - (size_t)b->count * b->bytes);
        if (block->head.type == MPROF_TOTALS)
            continue;
        for (uint32_t k = 0; k < b->count; k++, thing += b->bytes) {
            cut(blocks, link_of(thing, block->head.type));
            if (block->head.type == MPROF_SPILL_COUNTERS &&
                b->bytes == sizeof(struct mprof_spill_counter))
                cut(blocks, &((struct mprof_spill_counter *)thing)->short_);
        }
    }
}

int mprof__arena_save(struct mprof__arena *arena, const char *path,
                      void (*edit)(struct mprof_header *copy, const void *data),
                      const void *data) {
    mprof__lock(&arena->lock);
    size_t used = mprof__arena_header(arena)->used;
    struct blocks blocks = {.list = NULL};
    struct mprof_header *copy = mprof__map(used);
    take_counts(arena, used, &blocks, LEADING);
    size_t bytes = (blocks.number + 1) * sizeof *blocks.list;
    blocks.list = mprof__map(bytes);
    int error = MPROF_E_MEMORY;
    if (copy != NULL && blocks.list != NULL) {
        take_counts(arena, used, &blocks, LEADING);
        take_counts(arena, used, &blocks, OTHERS);
        copy_words((uint64_t *)copy, (const uint64_t *)arena->base, used);
        copy_spills(copy, arena, used, &blocks);
    }
    if (mprof__load_acquire(&arena->cut)) {
        error = mprof__cut_error();
    } else if (copy != NULL && blocks.list != NULL) {
        settle(copy, &blocks);
        copy->used = used;
        if (edit != NULL)
            edit(copy, data);
        copy->crc = mprof__arena_checksum(copy);
        copy->state = MPROF_CLOSED;
        error = write_copy(copy, path);
    }
    int saved = errno;
    mprof__unmap(copy, used);
    mprof__unmap(blocks.list, bytes);
    mprof__unlock(&arena->lock);
    errno = saved;
    return error;
}
