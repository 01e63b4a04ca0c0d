/* spill.c - see spill.h. */
#include "monitor/tree/spill.h"

#include <string.h>

#include "monitor/base/atomic.h"
#include "monitor/base/self.h"
#include "monitor/tree/trees.h"

/* Bytes of a spill: at first, and at most.  The more, the less often it is
 * summed up; but that takes its time, a tenth of a second for eight megabytes.
 */
enum { FIRST_BYTES = 16 << 10, MOST_BYTES = 4 << 20 };

/* A spill takes at most this part of the limit, and of the room that is left;
 * and it may be larger when a chain finds no room otherwise. */
enum { SHARE_OF_LIMIT = 16, SHARE_OF_ROOM = 8, DEEP_SHARE_OF_LIMIT = 8 };

/* How much larger it gets.  Its old blocks are not used any more. */
enum { GROWTH = 4 };

/* Counters that a chain may need before the next one is placed. */
enum { SPARE_COUNTERS = 2 * MPROF_CLASSES };

/* How many bytes SPILL may have, more than it has; 0: there is no room. */
static size_t find_room(const struct mprof__arena *arena,
                        const struct mprof__spill *spill) {
    size_t used = mprof__load_relaxed(&mprof__arena_header(arena)->used);
    size_t most = mprof__arena_most(arena, MPROF__FOR_SHORT);
    size_t wanted = spill->bytes == 0 ? FIRST_BYTES : GROWTH * spill->bytes;
    size_t of_limit = spill->deep ? DEEP_SHARE_OF_LIMIT : SHARE_OF_LIMIT;
    size_t of_room = spill->deep ? 1 : SHARE_OF_ROOM;
    if (wanted > MOST_BYTES || wanted > arena->limit / of_limit ||
        used >= most || wanted > (most - used) / of_room)
        return 0;
    return wanted;
}

/* New blocks for the spill, larger than the ones that it has, which are empty.
 * Of three nodes one allocates, more or less. */
static bool make_blocks(struct mprof__trees *trees) {
    struct mprof__arena *arena = trees->arena;
    struct mprof__spill *spill = &trees->spill;
    struct mprof__blocks nodes = spill->tree.node_blocks,
                         counters = spill->tree.counter_blocks;
    const uint32_t unit = 3 * nodes.bytes + counters.bytes;
    mprof__lock(&arena->lock);
    size_t bytes = find_room(arena, spill);
    uint32_t n = (uint32_t)(bytes / unit);
    bool made = n > 0 && mprof__block_fix(&nodes, 3 * n) &&
                mprof__block_fix(&counters, n);
    mprof__unlock(&arena->lock);
    if (!made)
        return false;
    spill->tree.node_blocks = nodes;
    spill->tree.counter_blocks = counters;
    spill->bytes = bytes;
    return true;
}

static bool begin(struct mprof__trees *trees) {
    struct mprof__spill *spill = &trees->spill;
    mprof__tree_prepare(trees, &spill->tree, MPROF_SPILL_NODES,
                        MPROF_SPILL_COUNTERS);
    /* Should a jump leave this in the middle, it begins anew. */
    spill->begun = make_blocks(trees) && mprof__tree_plant(&spill->tree);
    return spill->begun;
}

/* Empty the spill.  If a jump leaves this in the middle, the root is missing,
 * and it is done at the next use of the spill.  Under the lock the data file is
 * not copied. */
static void empty(struct mprof__trees *trees) {
    struct mprof__spill *spill = &trees->spill;
    struct mprof_thread *record = trees->record;
    struct mprof_header *header = mprof__arena_header(trees->arena);
    bool is_summed = record->emptied != record->spilled ||
                     spill->tree.node_blocks.last->count == 0;
    if (!is_summed && !mprof__sum_up(trees)) {
        spill->refused = true;
        return;
    }
    trees->counted = 0;
    spill->tree.root = 0;
    mprof__order_for_handlers();
    mprof__lock(&trees->arena->lock);
    mprof__add_relaxed(&header->emptied, 1);
    if (!is_summed)
        mprof__store_release(&record->emptied, record->emptied + 1);
    /* The blocks have nothing any more that counts; empty, they count again. */
    mprof__store_release(&spill->tree.counter_blocks.last->count, 0);
    mprof__store_release(&spill->tree.node_blocks.last->count, 0);
    mprof__store_release(&record->spilled, record->emptied);
    mprof__add_relaxed(&header->emptied, 1);
    mprof__unlock(&trees->arena->lock);
    mprof__index_clear(&spill->tree.nodes);
    if (spill->tree.steps != NULL)
        memset(spill->tree.steps, 0, MPROF__STEPS * sizeof *spill->tree.steps);
    spill->tree.node_count = 0;
    make_blocks(trees); /* if there is room for larger ones */
    if (!mprof__tree_plant(&spill->tree))
        spill->refused = true;
}

/* Has the spill room for the chain, and a third of that?  It is made larger if
 * it can be. */
static bool fits(struct mprof__trees *trees) {
    struct mprof__spill *spill = &trees->spill;
    const struct mprof__blocks *nodes = &spill->tree.node_blocks;
    bool larger = true;
    while (larger &&
           trees->chain->count >= mprof__block_capacity(nodes) / 4 * 3) {
        size_t before = spill->bytes;
        spill->deep = true;
        larger = find_room(trees->arena, spill) != 0;
        if (larger)
            empty(trees);
        spill->deep = false;
        larger &= !spill->refused && spill->bytes > before;
    }
    return larger;
}

bool mprof__spill_takes(struct mprof__trees *trees) {
    struct mprof__spill *spill = &trees->spill;
    if (spill->refused)
        return false;
    if (!spill->begun && !begin(trees))
        spill->refused = true;
    else if (spill->tree.root == 0)
        empty(trees);
    return !spill->refused && fits(trees);
}

/* The node of frame INDEX, called by PARENT; 0: the spill is full, or was. */
static mprof_ref find_child(struct mprof__trees *trees, mprof_ref parent,
                            size_t index) {
    struct mprof__spill *spill = &trees->spill;
    mprof_ref function = mprof__tree_function(trees, index), node = 0;
    if (function == 0) {
        /* There is no room for its record: the file is full. */
        spill->refused = true;
        return 0;
    }
    node = mprof__tree_child(trees, &spill->tree, parent, function,
                             MPROF__FOR_COUNTERS);
    if (node == 0)
        empty(trees);
    return node;
}

bool mprof__spill_begins(struct mprof__trees *trees) {
    if (mprof__block_left(&trees->spill.tree.counter_blocks) >= SPARE_COUNTERS)
        return true;
    empty(trees);
    return false;
}

mprof_ref mprof__spill_inward(struct mprof__trees *trees, mprof_ref parent,
                              size_t index) {
    struct mprof__tree *tree = &trees->spill.tree;
    uint64_t key = mprof__step_key(&trees->chain->frames[index]);
    mprof_ref node = mprof__step(tree, parent, key);
    if (node == 0) {
        node = find_child(trees, parent, index);
        mprof__tree_remember(tree, parent, key, node);
    }
    return node;
}

/* The step from a node of the tree to its twin has no key. */
mprof_ref mprof__spill_twin(struct mprof__trees *trees, mprof_ref parent,
                            size_t index) {
    struct mprof__tree *tree = &trees->spill.tree;
    const struct mprof__frame *frames = trees->chain->frames;
    mprof_ref node = 0;
    size_t from = index;
    for (; from > 0; from--) {
        mprof_ref caller = from == index ? parent : frames[from - 1].node;
        node = mprof__step(tree, caller, 0);
        if (node != 0)
            break;
    }
    if (node == 0)
        node = tree->root;
    for (; node != 0 && from < index; from++) {
        node = find_child(trees, node, from);
        mprof__tree_remember(tree, frames[from].node, 0, node);
    }
    return node;
}

/* Is it the counter for KEY, and if there is a SHORT_, with the frees there? */
static bool is_for(const struct mprof_counter *counter, mprof_ref short_,
                   uint32_t key) {
    return counter->key == key &&
           (short_ == 0 ||
            ((const struct mprof_spill_counter *)counter)->short_ == short_);
}

struct mprof_counter *mprof__spill_counter(struct mprof__trees *trees,
                                           mprof_ref node, mprof_ref short_,
                                           uint32_t key) {
    const struct mprof__arena *arena = trees->arena;
    struct mprof__blocks *blocks = &trees->spill.tree.counter_blocks;
    struct mprof_node *at = mprof__arena_at(arena, node);
    struct mprof_counter *counter;
    mprof_ref *end = &at->counter; /* the newest comes last, as in the tree */
    for (; *end != 0; end = &counter->next) {
        counter = mprof__arena_at(arena, *end);
        if (is_for(counter, short_, key))
            return counter;
    }
    counter = mprof__block_next(blocks, MPROF__FOR_COUNTERS);
    if (counter == NULL)
        return NULL;
    memset(counter, 0, blocks->bytes);
    counter->key = key;
    if (mprof__knows_lives(trees))
        ((struct mprof_spill_counter *)counter)->short_ = short_;
    mprof__store_release(end, mprof__block_publish(blocks, counter));
    return counter;
}

void mprof__spill_free(struct mprof__spill *spill) {
    /* The data file stays as it is. */
    if (!spill->begun)
        return;
    mprof__tree_free(&spill->tree);
    mprof__totals_free(&spill->totals);
    spill->refused = true;
}
