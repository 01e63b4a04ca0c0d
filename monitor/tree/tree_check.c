/* tree_check.c - the invariants of a tree, as tree.h states them. */
#include "monitor/base/invariant.h"
#include "monitor/tree/trees.h"
#include "monitor/tree/tree.h"

static size_t used_of(const struct mprof__trees *trees) {
    return mprof__arena_header(trees->arena)->used;
}

static const struct mprof_record *record_at(const struct mprof__trees *trees,
                                            mprof_ref ref) {
    MPROF__MUST(ref != 0 && (size_t)ref * 8 < used_of(trees));
    return mprof__arena_at(trees->arena, ref);
}

/* Is KEY one of THREAD's? */
static void check_key(const struct mprof__trees *trees, uint32_t key) {
    if (!mprof_key_has_type(key))
        return;
    MPROF__MUST(trees->record->heap == MPROF_LISP_HEAP);
    MPROF__MUST(record_at(trees, mprof_key_bin(key))->type == MPROF_BIN);
    const struct mprof_bin *bin =
        mprof__arena_at(trees->arena, mprof_key_bin(key));
    MPROF__MUST(bin->thread == trees->ref && bin->class_ < MPROF_CLASSES);
}

static void check_counters(const struct mprof__trees *trees, mprof_ref ref) {
    const struct mprof__arena *arena = trees->arena;
    while (ref != 0) {
        MPROF__MUST((size_t)ref * 8 < used_of(trees));
        const struct mprof_counter *counter = mprof__arena_at(arena, ref);
        check_key(trees, counter->key);
        MPROF__MUST(counter->next == 0 || counter->next > ref);
        MPROF__MUST(trees->record->heap == MPROF_LISP_HEAP ||
                    ((const struct mprof_c_counter *)counter)->thread ==
                        trees->ref);
        ref = counter->next;
    }
}

/* Is the node at REF found where OF is? */
static bool is_as(const struct mprof__trees *trees, mprof_ref ref,
                  const struct mprof_node *of) {
    const struct mprof__arena *arena = trees->arena;
    MPROF__MUST((size_t)ref * 8 < used_of(trees));
    const struct mprof_node *node = mprof__arena_at(arena, ref);
    return node->parent == of->parent && node->call == of->call;
}

/* By its parent and call NODE is found, and no other one. */
static void check_is_found(const struct mprof__trees *trees, mprof_ref node) {
    const struct mprof__arena *arena = trees->arena;
    const struct mprof__index *index = &trees->tree.nodes;
    const struct mprof_node *of = mprof__arena_at(arena, node);
    const struct mprof_node *at = mprof__arena_at(arena, of->parent);
    unsigned found = 0, chained = 0;
    for (mprof_ref ref = at->child; ref != 0; ref = at->next) {
        MPROF__MUST(++chained <= MPROF__FEW);
        if (is_as(trees, ref, of)) {
            MPROF__MUST(ref == node);
            found++;
        }
        at = mprof__arena_at(arena, ref);
        MPROF__MUST(at->parent == of->parent);
    }
    for (mprof_ref ref = mprof__index_first(index, index->hash(arena, of));
         ref != 0; ref = at->next) {
        if (is_as(trees, ref, of)) {
            MPROF__MUST(ref == node);
            found++;
        }
        at = mprof__arena_at(arena, ref);
    }
    MPROF__MUST(found == 1);
}

static void check_node(const struct mprof__trees *trees, mprof_ref ref) {
    const struct mprof__arena *arena = trees->arena;
    const struct mprof_node *node = mprof__arena_at(arena, ref);
    MPROF__MUST(node->parent < ref);
    MPROF__MUST((node->parent == 0) == (node->call == 0));
    MPROF__MUST((node->parent == 0) == (ref == trees->tree.root));
    check_counters(trees, node->counter);
    if (node->parent == 0)
        return;
    uint32_t type = record_at(trees, node->call)->type;
    MPROF__MUST(type == MPROF_SITE || type == MPROF_FUNCTION);
    check_is_found(trees, ref);
}

/* Things of TYPE in the blocks of THREAD, each checked by CHECK. */
static uint32_t
check_blocks(const struct mprof__trees *trees, uint32_t type, size_t bytes,
             void (*check)(const struct mprof__trees *, mprof_ref)) {
    const struct mprof__arena *arena = trees->arena;
    const struct mprof_record *record;
    uint32_t sum = 0;
    for (size_t at = MPROF_HEADER_BYTES; at < used_of(trees);
         at += record->bytes) {
        record = (const void *)(arena->base + at);
        const struct mprof_block *block = (const void *)record;
        if (record->type != type || block->thread != trees->ref)
            continue;
        MPROF__MUST(sizeof *block + block->count * bytes <= record->bytes);
        for (uint32_t i = 0; i < block->count; i++)
            check(trees, mprof__arena_ref(arena, (const char *)(block + 1) +
                                                     i * bytes));
        sum += block->count;
    }
    return sum;
}

/* Node I of the spill, whose first node is at FIRST. */
static void check_spilled(const struct mprof__trees *trees,
                          const struct mprof_node *first, uint32_t i) {
    const struct mprof__arena *arena = trees->arena;
    mprof_ref at = mprof__arena_ref(arena, &first[i]);
    MPROF__MUST((first[i].parent == 0) == (i == 0));
    MPROF__MUST((first[i].call == 0) == (i == 0));
    MPROF__MUST(i == 0 || (first[i].parent < at &&
                           first[i].parent >= trees->spill.tree.root));
    for (mprof_ref ref = first[i].counter; ref != 0;) {
        const struct mprof_counter *counter = mprof__arena_at(arena, ref);
        MPROF__MUST((size_t)ref * 8 < used_of(trees));
        check_key(trees, counter->key);
        MPROF__MUST(!mprof__knows_lives(trees) ||
                    ((const struct mprof_spill_counter *)counter)->short_ != 0);
        ref = counter->next;
    }
}

/* Check a spill that is neither refused nor about to be emptied. */
static void check_spill(const struct mprof__trees *trees) {
    const struct mprof__spill *spill = &trees->spill;
    if (!spill->begun || spill->refused || spill->tree.root == 0)
        return;
    const struct mprof_block *block = spill->tree.node_blocks.last;
    const struct mprof_node *first = (const void *)(block + 1);
    MPROF__MUST(trees->record->spilled == trees->record->emptied);
    MPROF__MUST(spill->tree.root == mprof__arena_ref(trees->arena, first));
    MPROF__MUST(block->count == spill->tree.node_count + 1);
    for (uint32_t i = 0; i < block->count; i++)
        check_spilled(trees, first, i);
}

void mprof__tree_check(const struct mprof__trees *trees) {
    check_spill(trees);
    const struct mprof__tree *tree = &trees->tree;
    if (tree->root == 0)
        return; /* given back */
    uint32_t nodes =
        check_blocks(trees, MPROF_NODES, sizeof(struct mprof_node), check_node);
    MPROF__MUST(nodes == tree->node_count + 1);
    for (uint32_t i = 0; tree->steps != NULL && i < MPROF__STEPS; i++)
        MPROF__MUST((size_t)tree->steps[i].child * 8 < used_of(trees));
}
