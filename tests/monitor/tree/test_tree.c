/* The tree against a naive one: chains in a list, looked through one by one. */
#include "tests/support/tree.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Over all call sites. */
static struct mprof_count told(const struct mprof_node *node, unsigned class_) {
    struct mprof_count sum = {0, 0};
    mprof_ref ref = node->counter;
    while (ref != 0) {
        const struct mprof_counter *counter =
            mprof__arena_at(&session->arena, ref);
        if (counter->key == class_) {
            const void *of = counter;
            struct mprof_count n =
                heap == MPROF_C_HEAP
                    ? mprof__c_counter_read(session->arena.base, of).allocated
                    : mprof__lisp_counter_read(session->arena.base, of);
            sum.allocs += n.allocs;
            sum.bytes += n.bytes;
        }
        ref = counter->next;
    }
    return sum;
}

static mprof_ref function_of(const struct mprof_node *node) {
    return mprof__call_function(&session->arena, node->call);
}

struct naive {
    unsigned call[DEPTH]; /* sites */
    size_t depth;
    uint64_t bytes;
};

static struct naive *naive;
static size_t naive_count;

static void naive_add(const unsigned *call, size_t depth, uint64_t bytes) {
    for (size_t n = 0; n < naive_count; n++)
        if (naive[n].depth == depth &&
            memcmp(naive[n].call, call, depth * sizeof *call) == 0) {
            naive[n].bytes += bytes;
            return;
        }
    struct naive *fresh = &naive[naive_count++];
    memcpy(fresh->call, call, depth * sizeof *call);
    fresh->depth = depth;
    fresh->bytes = bytes;
}

/* The chain of a node as it stands in the file, against a naive one. */
static bool same_chain(const struct mprof_node *node, const struct naive *n) {
    struct mprof__arena *arena = &session->arena;
    size_t depth = n->depth;
    while (node->parent != 0) {
        if (depth-- == 0 || node->call != site[n->call[depth]].ref)
            return false;
        node = mprof__arena_at(arena, node->parent);
    }
    return depth == 0;
}

/* The next chain: like the last one up to some frame, as programs have it. */
static size_t vary(unsigned *chain, size_t depth) {
    size_t keep = depth == 0 ? 0 : (size_t)rand() % (depth + 1);
    if (rand() % 4 == 0)
        keep = 0;
    depth = keep + (size_t)rand() % 4;
    if (depth > DEPTH)
        depth = DEPTH;
    for (size_t i = keep; i < depth; i++)
        chain[i] = (unsigned)rand() % SITES;
    return depth;
}

static size_t with_bytes;

static void check_chain(void *thing) {
    const struct mprof_node *node = thing;
    size_t n = 0;
    if (told(node, 0).allocs == 0)
        return;
    with_bytes++;
    while (n < naive_count && !same_chain(node, &naive[n]))
        n++;
    assert_true(n < naive_count);
    assert_int_equal(told(node, 0).bytes, naive[n].bytes);
}

static void compare_random_chains(void) {
    unsigned chain[DEPTH];
    size_t depth = 0;
    srand(1988);
    naive = calloc(CHAINS, sizeof *naive);
    naive_count = 0;
    begin(64 << 20);
    for (int i = 0; i < CHAINS; i++) {
        uint64_t bytes = (uint64_t)rand() % 1000;
        depth = vary(chain, depth);
        mprof_ref node = find(chain, depth);
        assert_false(mprof__has_losses(&thread->trees));
        tell(node, 0, bytes);
        naive_add(chain, depth, bytes);
    }
    /* Every chain has its node, with its bytes, and no other node has any. */
    with_bytes = 0;
    made_each(session, MPROF_NODES, sizeof(struct mprof_node), check_chain);
    assert_int_equal(with_bytes, naive_count);
    mprof__tree_check(&thread->trees);
    end();
    free(naive);
}

static void random_chains_agree_with_the_naive_tree(void **state) {
    (void)state;
    heap = MPROF_C_HEAP;
    compare_random_chains();
    heap = MPROF_LISP_HEAP;
    compare_random_chains();
}

/* The number of the function of NODE; FUNCTIONS: none of these. */
static unsigned index_of(const struct mprof_node *node) {
    if (node->call == 0)
        return FUNCTIONS;
    const struct mprof_function *f =
        mprof__arena_at(&session->arena, function_of(node));
    if (f->kind == MPROF_FOLDED)
        return FUNCTIONS;
    return (unsigned)(f->address / 0x1000) - 1;
}

static uint64_t sum, of_function[FUNCTIONS + 1];

static void subtract(void *thing) {
    const struct mprof_node *node = thing;
    sum += told(node, 1).allocs;
    of_function[index_of(node)] -= told(node, 1).allocs;
}

static void subtract_total(void *thing) {
    const struct mprof_total *total = thing;
    const struct mprof_count *true_ =
        &total->counts[thread->record->emptied & 1];
    const struct mprof_function *f =
        mprof__arena_at(&session->arena, total->function);
    if (total->kind != MPROF_SELF)
        return;
    assert_int_equal(total->views, MPROF_SHOWN_FRAMES | MPROF_ALL_FRAMES);
    sum += true_->allocs;
    of_function[f->address / 0x1000 - 1] -= true_->allocs;
}

/* Without a SPILL what does not fit is lost but for short chains. */
static void fill(uint64_t limit, bool spill) {
    unsigned chain[3 * DEPTH];
    uint64_t lost = 0, placed = 0;
    sum = 0;
    memset(of_function, 0, sizeof of_function);
    begin(limit);
    thread->trees.spill.refused = !spill;
    srand(7);
    for (int i = 0; i < CHAINS; i++) {
        size_t depth = (size_t)rand() % (3 * DEPTH);
        for (size_t k = 0; k < depth; k++)
            chain[k] = (unsigned)rand() % SITES;
        tell(find(chain, depth), 1, 1);
        of_function[depth == 0 ? FUNCTIONS : chain[depth - 1] % FUNCTIONS]++;
        placed++;
        lost += mprof__has_losses(&thread->trees);
    }
    assert_true(limit == 1 || lost < CHAINS);
    if (limit > 1)
        assert_int_equal(lost > 0, !spill);
    if (spill && limit > 1)
        assert_true(thread->record->emptied > 10);
    assert_true(mprof__arena_header(&session->arena)->used <=
                session->arena.limit);
    made_each(session, MPROF_NODES, sizeof(struct mprof_node), subtract);
    made_each(session, MPROF_SPILL_NODES, sizeof(struct mprof_node), subtract);
    made_each(session, MPROF_TOTALS, sizeof(struct mprof_total),
              subtract_total);
    assert_int_equal(sum, placed);
    /* Each function has what it allocated, to the last. */
    for (unsigned i = 0; i <= FUNCTIONS; i++)
        assert_int_equal(of_function[i], 0);
    mprof__tree_check(&thread->trees);
    end();
}

static void a_full_tree_folds_and_loses_nothing(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++) {
        int spill = i == 2;
        heap = i == 0 ? MPROF_C_HEAP : MPROF_LISP_HEAP;
        fill(1, spill); /* as little as there can be */
        fill(1 << 20, spill);
        fill(2 << 20, spill);
    }
}

/* Past the limit a chain is that of its innermost functions. */
static void a_full_tree_tells_the_innermost_functions(void **state) {
    (void)state;
    begin(1 << 20);
    bool folded = false;
    unsigned two[] = {3, 4}, chain[20], other[20];
    struct mprof_node *known = place(two, 2, &folded);
    assert_false(folded);
    thread->trees.spill.refused = true;
    session->arena.reserve = session->arena.limit - 16384;
    for (unsigned i = 0; i < 20; i++)
        chain[i] = other[i] = i % SITES;
    other[5] = 11; /* only the outer frames differ */
    struct mprof_node *node = place(chain, 20, &folded);
    assert_true(folded);
    assert_ptr_equal(place(other, 20, &folded), node);
    assert_true(folded);
    const struct mprof_node *outer = node;
    for (unsigned i = 20; i-- > 20 - MPROF__SHORT;) {
        assert_int_equal(index_of(outer), i % FUNCTIONS);
        outer = at(outer->parent);
    }
    const struct mprof_function *f =
        mprof__arena_at(&session->arena, function_of(outer));
    assert_int_equal(f->kind, MPROF_FOLDED);
    assert_int_equal(outer->parent, thread->trees.tree.root);
    /* What the innermost frames are is told apart, and what fits still is. */
    other[19] = 20;
    assert_ptr_not_equal(place(other, 20, &folded), node);
    assert_ptr_equal(place(two, 2, &folded), known);
    assert_false(folded);
    mprof__tree_check(&thread->trees);
    end();
}

/* The nodes of one function that calls from CALLS sites, below that of OUTER.
 */
static void call_from_sites(unsigned outer) {
    enum { CALLS = SITES / FUNCTIONS };
    mprof_ref node[CALLS];
    for (unsigned pass = 0; pass < 2; pass++)
        for (unsigned i = 0; i < CALLS; i++) {
            unsigned s = 1 + i * FUNCTIONS, chain[] = {outer, s, 0};
            find(chain, 3);
            if (pass == 0)
                node[i] = frame[1].node;
            assert_int_equal(frame[1].node, node[i]);
            assert_int_equal(at(node[i])->call, site[s].ref);
            for (unsigned k = 0; k < i; k++)
                assert_int_not_equal(node[k], node[i]);
        }
}

static void tell_sites_apart(enum mprof_heap of) {
    heap = of;
    begin(1 << 20);
    call_from_sites(2);
    /* ... also where there are so many children that there is an index. */
    for (unsigned i = 4; i < FUNCTIONS; i++) {
        unsigned chain[] = {3, i};
        find(chain, 2);
    }
    call_from_sites(3);
    mprof__tree_check(&thread->trees);
    /* What of a full tree is told keeps them apart as well. */
    thread->trees.spill.refused = true;
    session->arena.reserve = session->arena.limit - 16384;
    unsigned one[] = {9, 8, 7, 6, 5, 4, 3, 2, 1, 0};
    unsigned other[] = {9, 8, 7, 6, 5, 4, 3, 2, 1 + FUNCTIONS, 0};
    mprof_ref node = find(one, 10);
    assert_true(frame[9].folded);
    assert_int_not_equal(find(other, 10), node);
    assert_int_equal(find(one, 10), node);
    mprof__tree_check(&thread->trees);
    end();
    heap = MPROF_LISP_HEAP;
}

static void each_call_site_has_a_node(void **state) {
    (void)state;
    tell_sites_apart(MPROF_LISP_HEAP);
    tell_sites_apart(MPROF_C_HEAP);
}

/* The node of the LENGTH calls in CHAIN and one at SITE_OF. */
static mprof_ref find_below(unsigned *chain, size_t length, unsigned site_of) {
    chain[length] = site_of;
    return find(chain, length + 1);
}

/* All functions but the last one call from several sites in many contexts. */
static void grow(enum mprof_heap of) {
    enum { LENGTH = 6 };
    unsigned chain[LENGTH + 1], old[] = {0, 1, 2}, last = FUNCTIONS - 1;
    heap = of;
    begin(64 << 20);
    mprof_ref known = find(old, 3);
    srand(3);
    while (thread->trees.tree.node_count < MPROF__MANY_NODES) {
        for (unsigned i = 0; i < LENGTH; i++)
            do
                chain[i] = (unsigned)rand() % SITES;
            while (chain[i] % FUNCTIONS == last);
        find(chain, LENGTH);
    }
    assert_int_equal(find(old, 3), known);
    assert_int_equal(at(known)->call, site[2].ref);
    bool merged = heap == MPROF_LISP_HEAP;
    mprof_ref one = find_below(chain, LENGTH, 3);
    assert_int_equal(find_below(chain, LENGTH, 3 + FUNCTIONS) == one, merged);
    assert_int_equal(at(one)->call,
                     merged ? function_of(at(one)) : site[3].ref);
    /* What has its own node keeps it, and few sites are told apart. */
    mprof_ref own = find_below(chain, LENGTH, last);
    assert_int_not_equal(find_below(chain, LENGTH, last + FUNCTIONS), own);
    assert_int_equal(at(own)->call, site[last].ref);
    mprof__tree_check(&thread->trees);
    end();
    heap = MPROF_LISP_HEAP;
}

static void a_large_lisp_tree_merges_call_sites(void **state) {
    (void)state;
    grow(MPROF_LISP_HEAP);
    grow(MPROF_C_HEAP);
}

/* Without room for a counter it is not counted as folded once more. */
static void what_is_lost_is_told_once(void **state) {
    (void)state;
    unsigned chain[20];
    begin(1 << 20);
    for (unsigned i = 0; i < 20; i++)
        chain[i] = i;
    struct mprof__arena *arena = &session->arena;
    size_t limit = arena->limit;
    thread->trees.spill.refused = true;
    arena->reserve = limit - 16384;
    mprof_ref node = find(chain, 20);
    assert_true(thread->trees.lost);
    tell(node, 1, 8);
    arena->limit = mprof__arena_header(arena)->used;
    arena->reserve = 0;
    tell(node, 2, 8);
    arena->limit = limit;
    assert_int_equal(told(at(node), 1).allocs, 1);
    assert_int_equal(told(at(node), 2).allocs, 0);
    assert_int_equal(told(at(thread->trees.tree.root), 2).allocs, 1);
    assert_int_equal(thread->record->folded_allocs, 0);
    end();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_chains_agree_with_the_naive_tree),
        cmocka_unit_test(a_full_tree_folds_and_loses_nothing),
        cmocka_unit_test(a_full_tree_tells_the_innermost_functions),
        cmocka_unit_test(each_call_site_has_a_node),
        cmocka_unit_test(a_large_lisp_tree_merges_call_sites),
        cmocka_unit_test(what_is_lost_is_told_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
