/* sampled.c - see sampled.h.
 *
 * A jump may leave any function here in the middle: a handler's longjmp(), with
 * which the lock is given back when the thread comes again.  So an entry is
 * complete before it is linked, and a larger table before it is the table; what
 * is lost by a jump is an entry that nobody uses.
 */
#include "monitor/base/sampled.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>
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

enum { FIRST_SIZE = 1 << 10, MOST = 1 << 30 };

static struct table *table; /* NULL: there is none */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static size_t bytes_of(uint32_t size) {
    return sizeof *table +
           (size_t)size * (sizeof *table->entries + sizeof *table->buckets);
}

static uint32_t *bucket_of(const struct table *t, const void *address) {
    return &t->buckets[mprof__hash((uintptr_t)address >> 4) & (t->size - 1)];
}

/* The link that leads to ADDRESS, or to nothing. */
static uint32_t *link_to(struct table *t, const void *address) {
    uint32_t *link = bucket_of(t, address);
    while (*link != 0 && t->entries[*link].at != address)
        link = &t->entries[*link].next;
    return link;
}

/* When all are used.  Of the memory for chains nothing is taken. */
static bool grow(void) {
    struct table *old = table;
    uint32_t size = old == NULL ? FIRST_SIZE : old->size * 2;
    if (size > MOST)
        return false;
    struct table *larger = mmap(NULL, bytes_of(size), PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (larger == MAP_FAILED)
        return false;
    larger->buckets = (uint32_t *)(void *)&larger->entries[size];
    larger->size = size;
    larger->used = old == NULL ? 1 : old->used;
    if (old != NULL)
        memcpy(larger->entries, old->entries, old->used * sizeof *old->entries);
    for (uint32_t i = 1; i < larger->used; i++) {
        uint32_t *bucket = bucket_of(larger, larger->entries[i].at);
        larger->entries[i].next = *bucket;
        *bucket = i;
    }
    mprof__order_for_handlers();
    table = larger;
    mprof__order_for_handlers();
    if (old != NULL)
        munmap(old, bytes_of(old->size));
    return true;
}

/* A number for one more entry; 0: no memory. */
static uint32_t unused(void) {
    uint32_t number = table == NULL ? 0 : table->free;
    if (number != 0) {
        table->free = table->entries[number].next;
        return number;
    }
    if ((table == NULL || table->used == table->size) && !grow())
        return 0;
    return table->used++;
}

static struct mprof__object object_of(const struct entry *entry) {
    return (struct mprof__object){.counter = entry->counter,
                                  .bytes = entry->bytes,
                                  .allocs = entry->allocs,
                                  .at = entry->at};
}

/* What LINK leads to is unused from now on. */
static void remove_at(uint32_t *link) {
    uint32_t number = *link;
    struct entry *entry = &table->entries[number];
    *link = entry->next;
    mprof__order_for_handlers();
    entry->next = table->free;
    mprof__order_for_handlers();
    table->free = number;
}

static bool put(const void *address, struct mprof__object object,
                struct mprof__past *past, struct mprof__object *before) {
    const struct mprof__past fresh = *past;
    uint32_t *link = table == NULL ? NULL : link_to(table, address);
    *before = (struct mprof__object){.counter = 0};
    if (link != NULL && *link != 0) {
        *before = object_of(&table->entries[*link]);
        *past = table->entries[*link].past;
        remove_at(link);
    }
    uint32_t number = unused();
    if (number == 0)
        return false;
    struct entry *entry = &table->entries[number];
    uint32_t *bucket = bucket_of(table, address);
    *entry = (struct entry){.at = address,
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
static uint32_t *show(uint32_t *link, mprof__collected_visitor *visit,
                      void *data) {
    struct entry *entry = &table->entries[*link];
    struct mprof__object object = object_of(entry);
    if (visit(&object, &entry->past, data))
        return &entry->next;
    remove_at(link);
    return link;
}

/* Who holds the collector's lock must not wait for a thread that may need that
 * before it gives this one back.  False: it took long. */
static bool lock_soon(void) {
    enum { YIELDS = 100, NAPS = 20 };
    const struct timespec nap = {0, 1000 * 1000};
    for (int i = 0; i < YIELDS + NAPS; i++) {
        if (mprof__try_lock(&lock))
            return true;
        if (i < YIELDS)
            sched_yield();
        else
            nanosleep(&nap, NULL);
    }
    return false;
}

bool mprof__sampled_put(const void *address, struct mprof__object object,
                        struct mprof__past *past,
                        struct mprof__object *before) {
    mprof__lock(&lock);
    bool done = put(address, object, past, before);
    mprof__unlock(&lock);
    return done;
}

void mprof__sampled_each(mprof__collected_visitor *visit, void *data,
                         bool may_wait) {
    if (may_wait)
        mprof__lock(&lock);
    else if (!lock_soon())
        return;
    for (uint32_t i = 0; table != NULL && i < table->size; i++)
        for (uint32_t *link = &table->buckets[i]; *link != 0;)
            link = show(link, visit, data);
    mprof__unlock(&lock);
}

void mprof__sampled_one(const void *address, mprof__collected_visitor *visit,
                        void *data) {
    if (!lock_soon())
        return;
    uint32_t *link = table == NULL ? NULL : link_to(table, address);
    if (link != NULL && *link != 0)
        show(link, visit, data);
    mprof__unlock(&lock);
}

static void drop(void) {
    struct table *old = table;
    table = NULL;
    mprof__order_for_handlers();
    if (old != NULL)
        munmap(old, bytes_of(old->size));
}

void mprof__sampled_clear(void) {
    mprof__lock(&lock);
    drop();
    mprof__unlock(&lock);
}

/* Another thread may have been in the midst of a change.  Or this one is, and
 * goes on with the table: then it stays. */
void mprof__sampled_forked(bool inside) {
    pthread_mutex_init(&lock, NULL);
    if (!inside)
        drop();
}

uint64_t mprof__sampled_memory(void) {
    return table == NULL ? 0 : bytes_of(table->size);
}
