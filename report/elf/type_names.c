/* type_names.c - see type_names.h. */
#include "report/elf/type_names.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 1024 };

void report__type_names_begin(struct report__type_names *names,
                              struct report__pool *pool) {
    *names = (struct report__type_names){.pool = pool, .slots = FIRST_SLOTS};
    names->table = report__alloc(pool, names->slots, sizeof *names->table);
}

static uint32_t hash_of(const char *name, size_t length, uint32_t size) {
    uint64_t hash = 14695981039346656037u ^ size;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)name[i]) * 1099511628211u;
    return (uint32_t)(hash ^ hash >> 32);
}

/* The slot of a name, or a free one for it. */
static struct report__type_name *find(const struct report__type_names *names,
                                      const struct report__type_name *wanted) {
    size_t i = wanted->hash & (names->slots - 1);
    for (;; i = (i + 1) & (names->slots - 1)) {
        struct report__type_name *e = &names->table[i];
        if (!e->name || (e->hash == wanted->hash && e->size == wanted->size &&
                         e->length == wanted->length &&
                         memcmp(e->name, wanted->name, wanted->length) == 0))
            return e;
    }
}

static void enlarge(struct report__type_names *names) {
    struct report__type_names larger = {.slots = names->slots * 2};
    larger.table =
        report__alloc(names->pool, larger.slots, sizeof *larger.table);
    for (size_t i = 0; i < names->slots; i++)
        if (names->table[i].name)
            *find(&larger, &names->table[i]) = names->table[i];
    names->table = larger.table;
    names->slots = larger.slots;
}

void report__add_type(struct report__type_names *names, const char *name,
                      size_t length, uint32_t size,
                      enum report__type_rank rank) {
    struct report__type_name wanted = {name, length, size,
                                       hash_of(name, length, size), rank};
    struct report__type_name *slot;

    if ((names->count + 1) * 2 > names->slots)
        enlarge(names);
    slot = find(names, &wanted);
    if (!slot->name) {
        wanted.name = report__copy(names->pool, name, length);
        *slot = wanted;
        names->count++;
    } else if (rank < slot->rank) {
        slot->rank = rank;
    }
}

static int compare_names(const void *a, const void *b) {
    const struct report__type_name *x = a, *y = b;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    /* Reserved names are rarely those that a program uses. */
    if ((x->name[0] == '_') != (y->name[0] == '_'))
        return x->name[0] == '_' ? 1 : -1;
    return strcmp(x->name, y->name);
}

void report__type_names_sort(struct report__type_names *names) {
    size_t used = 0;
    for (size_t i = 0; i < names->slots; i++)
        if (names->table[i].name)
            names->table[used++] = names->table[i];
    if (used)
        qsort(names->table, used, sizeof *names->table, compare_names);
}
