/* sampled.c - see sampled.h.
 *
 * A jump may leave any function here in the middle: a handler's longjmp(); the
 * lock is given back when the thread comes again.  So an entry is complete
 * before it is linked, and a larger table before it is the table.  A jump can
 * lose no more than an unused entry.
 */
#include "monitor/base/sampled.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <time.h>

#include "monitor/base/atomic.h"
#include "monitor/base/self.h"
#include "monitor/base/table.h"

struct entry {
    const void *at;
    uint64_t bytes;
    uint32_t allocs;
    mprof_ref counter;
    uint32_t next; /* in its chain, or of those that are unused; 0: the last */
    struct mprof__past past;
};

/* In one mapping, with a bucket for each entry; number 0 is none. */
struct table {
    uint32_t *buckets;
    uint32_t size; /* a power of two */
    uint32_t used; /* entries that ever were, and number 0 */
    uint32_t free; /* the first of those that are unused again */
    struct entry entries[];
};

enum {
    FIRST_SIZE = 1 << 6,
    MOST = 1 << 26,
    SHARD_BITS = 6,
    SHARDS = 1 << SHARD_BITS
};

/* By address, so that no thread holds a lock for long. */
static struct shard {
    pthread_mutex_t lock;
    struct table *table; /* NULL: there is none */
} shards[SHARDS] = {[0 ... SHARDS - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}};

static uint64_t hash_of(const void *address) {
    return mprof__hash((uintptr_t)address >> 4);
}

static struct shard *shard_of(const void *address) {
    return &shards[hash_of(address) >> (64 - SHARD_BITS)];
}

static size_t bytes_of(uint32_t size) {
    return sizeof(struct table) +
           (size_t)size * (sizeof(struct entry) + sizeof(uint32_t));
}

static uint32_t *bucket_of(const struct table *t, const void *address) {
    return &t->buckets[hash_of(address) & (t->size - 1)];
}

/* The link that leads to ADDRESS, or to nothing. */
static uint32_t *link_to(struct table *t, const void *address) {
    uint32_t *link = bucket_of(t, address);
    while (*link != 0 && t->entries[*link].at != address)
        link = &t->entries[*link].next;
    return link;
}

/* Copy the linked entries, and none that a jump has lost. */
static void copy(struct table *to, const struct table *from) {
    for (uint32_t i = 0; i < from->size; i++)
        for (uint32_t n = from->buckets[i]; n != 0; n = from->entries[n].next) {
            uint32_t *bucket = bucket_of(to, from->entries[n].at);
            to->entries[to->used] = from->entries[n];
            to->entries[to->used].next = *bucket;
            *bucket = to->used++;
        }
}

/* Make the table larger when all entries are used.  This memory does not count
 * against the limit for chains. */
static bool grow(struct shard *shard) {
    struct table *old = shard->table;
    uint32_t size = old == NULL ? FIRST_SIZE : old->size * 2;
    if (size > MOST)
        return false;
    struct table *larger = mmap(NULL, bytes_of(size), PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (larger == MAP_FAILED)
        return false;
    larger->buckets = (uint32_t *)(void *)&larger->entries[size];
    larger->size = size;
    larger->used = 1;
    if (old != NULL)
        copy(larger, old);
    mprof__order_for_handlers();
    shard->table = larger;
    mprof__order_for_handlers();
    if (old != NULL)
        munmap(old, bytes_of(old->size));
    return true;
}

/* A number for one more entry; 0: no memory. */
static uint32_t unused(struct shard *shard) {
    struct table *t = shard->table;
    uint32_t number = t == NULL ? 0 : t->free;
    if (number != 0) {
        t->free = t->entries[number].next;
        return number;
    }
    if ((t == NULL || t->used == t->size) && !grow(shard))
        return 0;
    return shard->table->used++;
}

static struct mprof__object object_of(const struct entry *entry) {
    return (struct mprof__object){.counter = entry->counter,
                                  .bytes = entry->bytes,
                                  .allocs = entry->allocs,
                                  .at = entry->at};
}

/* Remove the entry that LINK leads to. */
static void remove_at(struct table *t, uint32_t *link) {
    uint32_t number = *link;
    struct entry *entry = &t->entries[number];
    *link = entry->next;
    mprof__order_for_handlers();
    entry->next = t->free;
    mprof__order_for_handlers();
    t->free = number;
}

static bool put(struct shard *shard, const void *address,
                struct mprof__object object, struct mprof__past *past,
                struct mprof__object *before) {
    const struct mprof__past fresh = *past;
    struct table *t = shard->table;
    uint32_t *link = t == NULL ? NULL : link_to(t, address);
    *before = (struct mprof__object){.counter = 0};
    if (link != NULL && *link != 0) {
        *before = object_of(&t->entries[*link]);
        *past = t->entries[*link].past;
        remove_at(t, link);
    }
    uint32_t number = unused(shard);
    if (number == 0)
        return false;
    t = shard->table;
    uint32_t *bucket = bucket_of(t, address);
    t->entries[number] = (struct entry){.at = address,
                                        .bytes = object.bytes,
                                        .allocs = (uint32_t)object.allocs,
                                        .counter = object.counter,
                                        .next = *bucket,
                                        .past = fresh};
    mprof__order_for_handlers();
    *bucket = number;
    return true;
}

/* Show what LINK leads to, and return the link to the next. */
static uint32_t *show(struct table *t, uint32_t *link,
                      mprof__collected_visitor *visit, void *data) {
    struct entry *entry = &t->entries[*link];
    struct mprof__object object = object_of(entry);
    if (visit(&object, &entry->past, data))
        return &entry->next;
    remove_at(t, link);
    return link;
}

/* Who holds the collector's lock must not wait for a thread that may need that
 * before it gives this one back, as when a jump took it away.  False: it took
 * long. */
static bool lock_soon(pthread_mutex_t *lock) {
    enum { YIELDS = 100, NAPS = 100 };
    const struct timespec nap = {0, 1000 * 1000};
    int saved = errno;
    bool done = false;
    for (int i = 0; i < YIELDS + NAPS && !done; i++) {
        done = mprof__try_lock(lock);
        if (!done && i < YIELDS)
            sched_yield();
        else if (!done)
            nanosleep(&nap, NULL);
    }
    errno = saved;
    return done;
}

bool mprof__sampled_put(const void *address, struct mprof__object object,
                        struct mprof__past *past,
                        struct mprof__object *before) {
    struct shard *shard = shard_of(address);
    mprof__lock(&shard->lock);
    bool done = put(shard, address, object, past, before);
    mprof__unlock(&shard->lock);
    return done;
}

static void show_all(struct shard *shard, mprof__collected_visitor *visit,
                     void *data) {
    struct table *t = shard->table;
    for (uint32_t i = 0; t != NULL && i < t->size; i++)
        for (uint32_t *link = &t->buckets[i]; *link != 0;)
            link = show(t, link, visit, data);
}

bool mprof__sampled_each(mprof__collected_visitor *visit, void *data,
                         bool may_wait) {
    bool done = true;
    for (int i = 0; i < SHARDS; i++) {
        if (may_wait) {
            mprof__lock(&shards[i].lock);
        } else if (!lock_soon(&shards[i].lock)) {
            done = false;
            continue;
        }
        show_all(&shards[i], visit, data);
        mprof__unlock(&shards[i].lock);
    }
    return done;
}

bool mprof__sampled_one(const void *address, mprof__collected_visitor *visit,
                        void *data) {
    struct shard *shard = shard_of(address);
    if (!lock_soon(&shard->lock))
        return false;
    struct table *t = shard->table;
    uint32_t *link = t == NULL ? NULL : link_to(t, address);
    if (link != NULL && *link != 0)
        show(t, link, visit, data);
    mprof__unlock(&shard->lock);
    return true;
}

static void drop(struct shard *shard) {
    struct table *old = shard->table;
    shard->table = NULL;
    mprof__order_for_handlers();
    if (old != NULL)
        munmap(old, bytes_of(old->size));
}

void mprof__sampled_clear(void) {
    for (int i = 0; i < SHARDS; i++) {
        mprof__lock(&shards[i].lock);
        drop(&shards[i]);
        mprof__unlock(&shards[i].lock);
    }
}

/* Another thread may have been in the midst of a change.  Or this one is, and
 * goes on with the table: then it stays. */
void mprof__sampled_forked(bool inside) {
    for (int i = 0; i < SHARDS; i++) {
        pthread_mutex_init(&shards[i].lock, NULL);
        if (!inside)
            drop(&shards[i]);
    }
}

uint64_t mprof__sampled_memory(void) {
    uint64_t bytes = 0;
    for (int i = 0; i < SHARDS; i++)
        if (shards[i].table != NULL)
            bytes += bytes_of(shards[i].table->size);
    return bytes;
}
