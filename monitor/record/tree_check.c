/* tree_check.c - the invariants of a tree, as tree.h states them. */
#include "monitor/base/invariant.h"
#include "monitor/record/thread.h"
#include "monitor/record/tree.h"

/* The record at REF, which is one of TYPE. */
static const void *record_at(const struct mprof__thread *thread, mprof_ref ref,
                             uint32_t type) {
    const struct mprof__arena *arena = &thread->session->arena;
    MPROF__MUST((size_t)ref * 8 < mprof__arena_header(arena)->used);
    const struct mprof_record *record = mprof__arena_at(arena, ref);
    MPROF__MUST(record->type == type);
    return record;
}

static void check_counters(const struct mprof__thread *thread, mprof_ref node,
                           unsigned class_) {
    const struct mprof_node *of = record_at(thread, node, MPROF_NODE);
    mprof_ref ref = of->counters[class_];
    while (ref != 0) {
        const struct mprof_counter *counter =
            record_at(thread, ref, MPROF_COUNTER);
        MPROF__MUST(counter->node == node && counter->class_ == class_);
        MPROF__MUST(counter->next < ref);
        ref = counter->next;
    }
}

static void check_node(const struct mprof__thread *thread, mprof_ref ref) {
    const struct mprof_node *node = record_at(thread, ref, MPROF_NODE);
    MPROF__MUST(node->thread == thread->ref && node->parent < ref);
    MPROF__MUST((node->parent == 0) == (node->function == 0));
    for (unsigned c = 0; c < MPROF_CLASSES; c++)
        check_counters(thread, ref, c);
    if (node->parent == 0)
        return;
    uint64_t key = (uint64_t)node->parent << 32 | node->function;
    const struct mprof__slot *slot =
        mprof__table_find(&thread->tree.nodes, key);
    MPROF__MUST(slot != NULL);
    MPROF__MUST(slot->value == (uintptr_t)node);
}

/* NODE, or one further out. */
static bool is_outward(const struct mprof__thread *thread, mprof_ref node,
                       mprof_ref from) {
    while (from != node && from != 0) {
        const struct mprof_node *at = record_at(thread, from, MPROF_NODE);
        from = at->parent;
    }
    return from == node;
}

static void check_link(const struct mprof__thread *thread,
                       const struct mprof__link *link) {
    check_node(thread, link->node);
    if (link->edge != 0) {
        const struct mprof_edge *edge =
            record_at(thread, link->edge, MPROF_EDGE);
        MPROF__MUST(edge->node == link->node);
    }
    for (unsigned i = 0; i < MPROF__INWARD; i++)
        MPROF__MUST((link->child[i] & ~MPROF__FOLDS) <=
                    thread->tree.link_count);
    for (unsigned c = 0; c < MPROF_CLASSES; c++) {
        if (link->counter[c] == 0)
            continue;
        const struct mprof_counter *counter =
            record_at(thread, link->counter[c], MPROF_COUNTER);
        MPROF__MUST(counter->class_ == c);
        MPROF__MUST(is_outward(thread, counter->node, link->node));
    }
}

void mprof__tree_check(const struct mprof__thread *thread) {
    const struct mprof__tree *tree = &thread->tree;
    const struct mprof__slots *edges = tree->edges.slots;
    if (tree->root == NULL)
        return; /* given back */
    check_link(thread, tree->root);
    for (size_t i = 0; edges != NULL && i <= edges->mask; i++) {
        if (edges->slot[i].key <= 1)
            continue;
        uint32_t number = (uint32_t)edges->slot[i].value & ~MPROF__FOLDS;
        MPROF__MUST(number > 0 && number <= tree->link_count);
        check_link(thread, mprof__tree_link_at(tree, number));
    }
}
