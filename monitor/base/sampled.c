/* sampled.c - see sampled.h. */
#include "monitor/base/sampled.h"

#include <pthread.h>
#include <string.h>

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

/* A bucket for each entry; number 0 is none. */
struct table {
    struct entry *entries;
    uint32_t *buckets;
    uint32_t size; /* a power of two; 0: there is none */
    uint32_t used; /* entries that ever were */
    uint32_t free; /* the first of those that are unused again */
};

enum { FIRST_SIZE = 1 << 10, MOST = 1 << 30 };

static struct table table;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static size_t bytes_of(uint32_t size) {
    return (size_t)size * (sizeof *table.entries + sizeof *table.buckets);
}

static uint32_t *bucket_of(const struct table *t, const void *address) {
    return &t->buckets[mprof__hash((uintptr_t)address >> 4) & (t->size - 1)];
}

/* The link that leads to ADDRESS, or to nothing. */
static uint32_t *link_to(const struct table *t, const void *address) {
    uint32_t *link = bucket_of(t, address);
    while (*link != 0 && t->entries[*link].at != address)
        link = &t->entries[*link].next;
    return link;
}

/* When all are used. */
static bool grow(void) {
    struct table larger = {.size =
                               table.size == 0 ? FIRST_SIZE : table.size * 2,
                           .used = table.used};
    char *memory =
        table.size == MOST ? NULL : mprof__map(bytes_of(larger.size));
    if (memory == NULL)
        return false;
    larger.entries = (struct entry *)(void *)memory;
    larger.buckets = (uint32_t *)(void *)&larger.entries[larger.size];
    if (table.size != 0) {
        memcpy(larger.entries, table.entries,
               table.used * sizeof *table.entries);
        mprof__unmap(table.entries, bytes_of(table.size));
    }
    for (uint32_t i = 1; i < larger.used; i++) {
        uint32_t *bucket = bucket_of(&larger, larger.entries[i].at);
        larger.entries[i].next = *bucket;
        *bucket = i;
    }
    table = larger;
    return true;
}

/* A number for one more entry; 0: no memory. */
static uint32_t unused(void) {
    uint32_t number = table.free;
    if (number != 0) {
        table.free = table.entries[number].next;
        return number;
    }
    if (table.used == table.size && !grow())
        return 0;
    if (table.used == 0)
        table.used = 1;
    return table.used++;
}

static struct mprof__object object_of(const struct entry *entry) {
    return (struct mprof__object){.counter = entry->counter,
                                  .bytes = entry->bytes,
                                  .allocs = entry->allocs,
                                  .at = entry->at};
}

static bool put(const void *address, struct mprof__object object,
                struct mprof__past *past, struct mprof__object *before) {
    *before = (struct mprof__object){.counter = 0};
    uint32_t number = table.size == 0 ? 0 : *link_to(&table, address);
    struct entry *entry;
    if (number != 0) {
        entry = &table.entries[number];
        struct mprof__past old = entry->past;
        *before = object_of(entry);
        entry->past = *past;
        *past = old;
    } else {
        number = unused();
        if (number == 0)
            return false;
        entry = &table.entries[number];
        uint32_t *bucket = bucket_of(&table, address);
        entry->at = address;
        entry->past = *past;
        entry->next = *bucket;
        *bucket = number;
    }
    entry->bytes = object.bytes;
    entry->allocs = (uint32_t)object.allocs;
    entry->counter = object.counter;
    return true;
}

/* Show what LINK leads to, and return the link to the next. */
static uint32_t *show(uint32_t *link, mprof__collected_visitor *visit,
                      void *data) {
    uint32_t number = *link;
    struct entry *entry = &table.entries[number];
    struct mprof__object object = object_of(entry);
    if (visit(&object, &entry->past, data))
        return &entry->next;
    *link = entry->next;
    entry->next = table.free;
    table.free = number;
    return link;
}

bool mprof__sampled_put(const void *address, struct mprof__object object,
                        struct mprof__past *past,
                        struct mprof__object *before) {
    mprof__lock(&lock);
    bool done = put(address, object, past, before);
    mprof__unlock(&lock);
    return done;
}

void mprof__sampled_each(mprof__collected_visitor *visit, void *data) {
    mprof__lock(&lock);
    for (uint32_t i = 0; i < table.size; i++)
        for (uint32_t *link = &table.buckets[i]; *link != 0;)
            link = show(link, visit, data);
    mprof__unlock(&lock);
}

void mprof__sampled_one(const void *address, mprof__collected_visitor *visit,
                        void *data) {
    mprof__lock(&lock);
    if (table.size != 0) {
        uint32_t *link = link_to(&table, address);
        if (*link != 0)
            show(link, visit, data);
    }
    mprof__unlock(&lock);
}

void mprof__sampled_clear(void) {
    mprof__lock(&lock);
    if (table.size != 0)
        mprof__unmap(table.entries, bytes_of(table.size));
    table = (struct table){.size = 0};
    mprof__unlock(&lock);
}

/* Another thread may have been in the midst of a change. */
void mprof__sampled_forked(void) {
    pthread_mutex_init(&lock, NULL);
    table = (struct table){.size = 0};
}

uint64_t mprof__sampled_memory(void) {
    return bytes_of(table.size);
}
