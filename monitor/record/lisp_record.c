/* lisp_record.c - an allocation of Lisp: enter, walk, find node and bin, count.
 *
 * c_record.c does the same for the C heap.
 */
#include <string.h>

#include "monitor/heap/alive.h"
#include "monitor/names/names.h"
#include "monitor/record/find_counter.h"

static struct mprof_bin *add_bin(struct mprof__thread *thread,
                                 const struct mprof__event *event) {
    struct mprof__session *session = thread->session;
    struct mprof__arena *arena = &session->arena;
    mprof__lock(&session->arena.lock);
    char *name = mprof__name_new(&session->names, MPROF_LISP)->text;
    const char *type = mprof__adapter.type(event->type, event->object, name,
                                           MPROF__NAME_BYTES);
    mprof_ref type_ref = mprof__arena_string(arena, type, strlen(type));
    mprof_ref name_ref = 0;
    if (name[0] != '\0')
        name_ref = mprof__arena_string(arena, name, strlen(name));
    struct mprof_bin *bin = mprof__arena_record(arena, MPROF_BIN, sizeof *bin);
    if (bin != NULL) {
        bin->thread = thread->ref;
        bin->type = type_ref;
        bin->name = name_ref;
        bin->class_ = event->class_;
        mprof__arena_publish(arena, bin);
    }
    mprof__unlock(&session->arena.lock);
    return bin;
}

static struct mprof_bin *find_bin(struct mprof__thread *thread,
                                  const struct mprof__event *event) {
    if (event->object == 0) {
        struct mprof_bin **bin = &thread->bin[event->type];
        if (*bin == NULL)
            *bin = add_bin(thread, event);
        return *bin;
    }
    struct mprof__slot *slot = mprof__table_find(&thread->bins, event->object);
    if (slot != NULL)
        return (struct mprof_bin *)(uintptr_t)slot->value;
    struct mprof_bin *bin = add_bin(thread, event);
    if (bin != NULL) {
        mprof__adapter.keep(event->object);
        mprof__table_add(&thread->bins, event->object, (uintptr_t)bin);
    }
    return bin;
}

/* Bin for EVENT in THREAD; NULL: no room. */
static inline struct mprof_bin *bin_of(struct mprof__thread *thread,
                                       const struct mprof__event *event) {
    struct mprof_bin *bin = mprof__bin_of(thread, event->type, event->object);
    if (__builtin_expect(bin != NULL, 1))
        return bin;
    bin = find_bin(thread, event);
    if (bin != NULL && event->object != 0) {
        thread->last_class = event->object;
        thread->last_class_bin = bin;
    }
    return bin;
}

static inline uint32_t key_of(const struct mprof__thread *thread,
                              const struct mprof_bin *bin,
                              const struct mprof__event *event) {
    return mprof__bin_key(thread->session->arena.base, bin, event->storage);
}

/* It lives, and was counted in the counter at REF. */
static inline void begin(struct mprof__thread *thread,
                         const struct mprof__event *event, mprof_ref ref) {
    if (thread->session->alive.sampling == 0)
        mprof__alive_begin(&thread->session->alive, &thread->shadow,
                           event->block, ref, event->count.bytes);
    else
        mprof__alive_begin_slowly(&thread->session->alive, event->block, ref,
                                  event->count);
}

/* In COUNTER and BIN.  False: there was no room, and it is unplaced. */
static inline bool count(struct mprof__thread *thread,
                         const struct mprof__event *event,
                         struct mprof_counter *counter, struct mprof_bin *bin,
                         bool in_spill) {
    if (__builtin_expect(!mprof__counter_add(&thread->trees, counter, in_spill,
                                             event->count),
                         0)) {
        mprof__count_unplaced(thread->session, event->count);
        return false;
    }
    mprof__count_bin(bin, event->storage, event->count);
    return true;
}

/* By what is remembered.  False: it is not. */
static inline bool count_by_cells(struct mprof__thread *thread,
                                  const struct mprof__event *event,
                                  const void *frame) {
    struct mprof_bin *bin = bin_of(thread, event);
    struct mprof_counter *counter =
        bin == NULL ? NULL
                    : mprof__counter_by_cells(thread, frame,
                                              (struct mprof__trail){NULL, NULL},
                                              key_of(thread, bin, event));
    if (counter == NULL)
        return false;
    if (count(thread, event, counter, bin, false) && thread->trees.lives)
        begin(thread, event,
              mprof__arena_ref(&thread->session->arena, counter));
    return true;
}

static inline void count_by_rules(struct mprof__thread *thread,
                                  const struct mprof__event *event,
                                  const void *frame) {
    mprof_ref node = mprof__node_by_rules(thread, frame);
    struct mprof_bin *bin = bin_of(thread, event);
    if (__builtin_expect(bin == NULL, 0)) {
        mprof__count_unplaced(thread->session, event->count);
        return;
    }
    uint32_t key = key_of(thread, bin, event);
    struct mprof_counter *counter =
        mprof__counter(&thread->trees, node, key, event->count);
    /* Its death may be counted in another one. */
    mprof_ref ref = thread->trees.owner[mprof__key_slot(key)];
    struct mprof_alive_counter *owner =
        mprof__arena_at(&thread->session->arena, ref);
    bool in_spill = &owner->counter != counter;
    if (!count(thread, event, counter, bin, in_spill))
        return;
    if (thread->trees.lives) {
        if (in_spill)
            mprof__count_more(&owner->spilled, event->count);
        begin(thread, event, ref);
    }
    if (__builtin_expect(mprof__has_losses(&thread->trees), 0))
        mprof__count_losses(thread, event->count);
}

static void allocated(struct mprof__self *me, struct mprof__session *session,
                      struct mprof__event *event, const void *frame,
                      bool by_rules) {
    /* A sampled object was on its way when another recording began. */
    if (session->alive.sampling == 0 && event->count.allocs > 1)
        event->count =
            (struct mprof_count){1, event->count.bytes / event->count.allocs};
    /* NULL: a signal handler allocates while its thread is inside; the session
     * lives as long as that thread is. */
    struct mprof__thread *thread =
        me == NULL ? NULL : mprof__thread_here(me, session, MPROF_LISP_HEAP);
    if (thread == NULL)
        mprof__count_unplaced(session, event->count);
    else if (by_rules || !count_by_cells(thread, event, frame))
        count_by_rules(thread, event, frame);
}

void mprof__allocated_inside(struct mprof__self *me, struct mprof__event *event,
                             const void *frame, bool by_rules) {
    struct mprof__session *session = mprof__current();
    if (session != NULL &&
        (me == NULL || (me->silences == 0 && mprof__guard(me))))
        allocated(me, session, event, frame, by_rules);
    mprof__leave(me);
}

void mprof__lisp_collected(bool (*is_alive)(const void *address)) {
    if (mprof__tracked() == NULL)
        return;
    struct mprof__self *me = mprof__enter();
    struct mprof__session *session = mprof__tracked();
    if (me != NULL && session != NULL && session->alive.mode != 0 &&
        mprof__guard(me))
        mprof__alive_collected(&session->alive, session == mprof__current(),
                               is_alive);
    mprof__leave(me);
}

void *mprof__lisp_freed(void *block) {
    struct mprof__self *me = mprof__self;
    struct mprof__session *session = mprof__tracked();
    if (session != NULL && session->alive.mode != 0 && mprof__guard(me))
        mprof__alive_freed(&session->alive, session == mprof__current(), block);
    me->guarded = false;
    return NULL;
}

void mprof__collected(uint64_t ns, uint64_t before, uint64_t after) {
    /* Before the first recording no thread can enter. */
    if (mprof__current() == NULL)
        return;
    struct mprof__self *me = mprof__enter();
    struct mprof__session *session = mprof__current();
    if (me != NULL && session != NULL && mprof__guard(me))
        mprof__collections_add(&session->collections, &session->arena, ns,
                               before, after);
    mprof__leave(me);
}
