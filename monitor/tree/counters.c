/* counters.c - the counters of a node, which lie in the data file.
 *
 * In the Lisp heap a node has one for each type; in the C heap one for each
 * class, and a node without call site also for each place that called malloc().
 */
#include "monitor/tree/counters.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "monitor/base/atomic.h"
#include "monitor/tree/c_counter.h"
#include "monitor/tree/lisp_counter.h"
#include "monitor/tree/trees.h"
#include "monitor/tree/short.h"
#include "monitor/tree/tree.h"

/* Is it for KEY and, in the C heap, SITE? */
static inline bool is_for(const struct mprof_counter *counter, bool c,
                          mprof_ref site, uint32_t key) {
    return counter->key == key &&
           (!c || ((const struct mprof_c_counter *)counter)->site == site);
}

/* The first counter of NODE for KEY and, with C, SITE; NULL: there is none. */
static struct mprof_counter *find_counter(const struct mprof__arena *arena,
                                          const struct mprof_node *node, bool c,
                                          mprof_ref site, uint32_t key) {
    for (mprof_ref ref = node->counter; ref != 0;) {
        struct mprof_counter *counter = mprof__arena_at(arena, ref);
        if (is_for(counter, c, site, key))
            return counter;
        ref = counter->next;
    }
    return NULL;
}

/* Return the place for the ref of NODE's next counter.  The newest comes last,
 * so that a concurrent reader of the file finds all others. */
static mprof_ref *find_end(const struct mprof__arena *arena, mprof_ref node) {
    struct mprof_node *at = mprof__arena_at(arena, node);
    mprof_ref *end = &at->counter;
    while (*end != 0) {
        struct mprof_counter *counter = mprof__arena_at(arena, *end);
        end = &counter->next;
    }
    return end;
}

static struct mprof_counter *add_counter(struct mprof__trees *trees,
                                         mprof_ref node, mprof_ref site,
                                         uint32_t key, enum mprof__room room) {
    const struct mprof__arena *arena = trees->arena;
    struct mprof__blocks *blocks = &trees->tree.counter_blocks;
    struct mprof_counter *counter = mprof__block_next(blocks, room);
    if (counter == NULL)
        return NULL;
    memset(counter, 0, blocks->bytes);
    counter->key = key;
    if (mprof__by_site(trees)) {
        ((struct mprof_c_counter *)counter)->thread = trees->ref;
        ((struct mprof_c_counter *)counter)->site = site;
    }
    mprof_ref ref = mprof__block_publish(blocks, counter);
    mprof__store_release(find_end(arena, node), ref);
    return counter;
}

/* The counter of NODE, made if there is ROOM for it; else NULL. */
static struct mprof_counter *get_counter(struct mprof__trees *trees,
                                         mprof_ref node, mprof_ref site,
                                         uint32_t key, enum mprof__room room) {
    struct mprof_counter *counter =
        find_counter(trees->arena, mprof__arena_at(trees->arena, node),
                     mprof__by_site(trees), site, key);
    return counter != NULL ? counter
                           : add_counter(trees, node, site, key, room);
}

/* Let COUNTER have room for any numbers. */
static bool widen(struct mprof__trees *trees, struct mprof_counter *counter) {
    const struct mprof_count none = {0, 0};
    if (mprof__by_site(trees))
        return mprof__c_counter_widen(trees->arena,
                                      (struct mprof_c_counter *)counter);
    return mprof__knows_lives(trees) ||
           mprof__lisp_counter_widen(
               trees, (struct mprof_lisp_counter *)counter, none);
}

bool mprof__root_counters(struct mprof__trees *trees) {
    for (unsigned c = 0; c < MPROF_CLASSES; c++) {
        struct mprof_counter *counter =
            add_counter(trees, trees->tree.root, 0, c, MPROF__FOR_COUNTERS);
        /* Allocations that find no other counter are counted there. */
        if (counter == NULL || !widen(trees, counter))
            return false;
    }
    return true;
}

/* A counter of NODE for KEY, of whatever site. */
static struct mprof_counter *any_counter(const struct mprof__arena *arena,
                                         const struct mprof_node *node,
                                         uint32_t key) {
    return find_counter(arena, node, false, 0, key);
}

static void count_folded(struct mprof__trees *trees, struct mprof_count n) {
    mprof__bump(&trees->record->folded_allocs, n.allocs);
    mprof__bump(&trees->record->folded_bytes, n.bytes);
}

/* For what has no room elsewhere.  The root has a counter of each class; if
 * there is room, it gets one of the type. */
static struct mprof_counter *root_counter(struct mprof__trees *trees,
                                          uint32_t key) {
    const struct mprof__arena *arena = trees->arena;
    mprof_ref ref = trees->tree.root;
    const struct mprof_node *root = mprof__arena_at(arena, ref);
    struct mprof_counter *counter = any_counter(arena, root, key);
    if (counter == NULL)
        counter = add_counter(trees, ref, 0, key, MPROF__FOR_ROOTS);
    if (counter == NULL)
        counter = any_counter(arena, root, mprof__key_class(arena, key));
    return counter;
}

mprof_ref mprof__root_counter(struct mprof__trees *trees, unsigned class_,
                              struct mprof_count n) {
    /* Else there was no space, which is counted already. */
    if (trees->counter[mprof__key_slot(class_)] != 0)
        count_folded(trees, n);
    return mprof__arena_ref(trees->arena, root_counter(trees, class_));
}

/* Return a counter for a chain that has no space for its own: its function's,
 * else the nearest one further out. */
static struct mprof_counter *other_counter(struct mprof__trees *trees,
                                           mprof_ref ref, uint32_t key,
                                           struct mprof_count n) {
    const struct mprof__arena *arena = trees->arena;
    const struct mprof_node *node = mprof__arena_at(arena, ref);
    struct mprof_counter *counter = any_counter(arena, node, key);
    mprof_ref folded = mprof__tree_folded(trees), alone = 0;
    if (counter != NULL)
        return counter;
    const struct mprof__frame *innermost = trees->chain->innermost;
    if (innermost == NULL || !innermost->folded)
        count_folded(trees, n);
    if (folded != 0 && node->call != 0) {
        mprof_ref function = mprof__call_function(arena, node->call);
        alone = mprof__tree_node(trees, folded, function, MPROF__FOR_COUNTERS);
    }
    if (alone != 0)
        counter = get_counter(trees, alone, 0, key, MPROF__FOR_COUNTERS);
    for (; counter == NULL && node->parent != 0;
         node = mprof__arena_at(arena, node->parent))
        counter = any_counter(arena, node, key);
    return counter != NULL ? counter : root_counter(trees, key);
}

/* Return the SITE where the innermost frame called the allocator; 0 where that
 * does not matter: Lisp's counters do not distinguish call sites, and a frame
 * without space for a node is at its caller's. */
static inline mprof_ref site_of(const struct mprof__trees *trees,
                                const struct mprof_node *node) {
    const struct mprof__frame *innermost = trees->chain->innermost;
    if (!mprof__by_site(trees) || innermost == NULL || innermost->object != 0)
        return 0;
    const struct mprof__site *site = innermost->site;
    if (__builtin_expect(node->call == site->ref, 1))
        return site->ref;
    return node->call != 0 && mprof__call_function(trees->arena, node->call) ==
                                  site->function
               ? site->ref
               : 0;
}

/* Return the counter of node REF; if none can be made, the nearest fallback:
 * function, outer node, root. */
static struct mprof_counter *find_or_other(struct mprof__trees *trees,
                                           mprof_ref ref, uint32_t key,
                                           struct mprof_count n, bool *found) {
    const struct mprof__arena *arena = trees->arena;
    const struct mprof_node *node = mprof__arena_at(arena, ref);
    mprof_ref site = site_of(trees, node);
    struct mprof_counter *counter = mprof__arena_at(arena, node->counter);
    *found = true;
    /* Most have one. */
    if (__builtin_expect(node->counter != 0 &&
                             is_for(counter, mprof__by_site(trees), site, key),
                         1))
        return counter;
    counter = get_counter(trees, ref, site, key, MPROF__FOR_COUNTERS);
    *found = counter != NULL;
    return *found ? counter : other_counter(trees, ref, key, n);
}

/* Return a counter for a chain in the spill, at NODE.  Its frees are counted in
 * the tree, at the chain's innermost functions. */
static struct mprof_counter *make_in_spill(struct mprof__trees *trees,
                                           mprof_ref node, uint32_t key,
                                           struct mprof_count n) {
    const struct mprof__arena *arena = trees->arena;
    struct mprof_counter *counter = NULL;
    const struct mprof_count none = {0, 0};
    mprof_ref near = 0, owner = 0;
    bool found = true;
    if (mprof__knows_lives(trees)) {
        near = mprof__tree_short(trees, trees->chain->count - 1);
        found = near != 0;
    }
    if (near != 0)
        owner = mprof__arena_ref(arena,
                                 find_or_other(trees, near, key, none, &found));
    if (found)
        counter = mprof__spill_counter(trees, node, owner, key);
    if (counter != NULL) {
        trees->owner[mprof__key_slot(key)] = owner;
        trees->counter[mprof__key_slot(key)] = mprof__arena_ref(arena, counter);
        return counter;
    }
    count_folded(trees, n);
    counter = root_counter(trees, key);
    trees->owner[mprof__key_slot(key)] = mprof__arena_ref(arena, counter);
    trees->counter[mprof__key_slot(key)] = 0;
    return counter;
}

struct mprof_counter *mprof__tree_counter(struct mprof__trees *trees,
                                          mprof_ref node, mprof_ref call,
                                          uint32_t key) {
    int saved = errno;
    struct mprof_counter *counter =
        get_counter(trees, node, mprof__by_site(trees) ? call : 0, key,
                    MPROF__FOR_COUNTERS);
    errno = saved;
    return counter;
}

struct mprof_counter *mprof__make_counter(struct mprof__trees *trees,
                                          mprof_ref node, uint32_t key,
                                          struct mprof_count n) {
    const struct mprof__frame *innermost = trees->chain->innermost;
    bool found;
    if (innermost != NULL && innermost->folded && !trees->lost)
        return make_in_spill(trees, node, key, n);
    struct mprof_counter *counter = find_or_other(trees, node, key, n, &found);
    trees->owner[mprof__key_slot(key)] =
        mprof__arena_ref(trees->arena, counter);
    /* Each allocation without room comes here, to be counted as folded. */
    trees->counter[mprof__key_slot(key)] =
        found ? trees->owner[mprof__key_slot(key)] : 0;
    return counter;
}
