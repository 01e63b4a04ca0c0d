/* alive.h - what of a heap with a collector is alive, and who allocated it.
 *
 *     ecl/ecl_hook.c: allocated()          ecl/collector.c: a collection ends
 *       |  mprof__alive_begin()              |  mprof__alive_collected()
 *       |                                    |
 *       +-- base/objects.h: where it was counted, in a shadow of the heap --+
 *                                            |  each object that was not
 *                                            |  marked: freed, in its counter
 *
 * An object is alive when the collector marked it.  Our notes are in memory
 * that the collector does not scan, as numbers that are no addresses.  So they
 * keep nothing alive; objects do not move, and finalizers and weak pointers
 * work as always.  A dead object is found before its memory is used again:
 * collections end under the collector's lock, and free memory is handed out
 * only then.  If ECL frees an object itself, the hook reports that: freed(),
 * mprof__alive_freed().  If other code frees one, we notice it when another
 * recorded object has its address, or at the next collection.
 */
#ifndef MONITOR_HEAP_ALIVE_H
#define MONITOR_HEAP_ALIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/base/atomic.h"
#include "monitor/base/objects.h"
#include "monitor/file/arena.h"

/* How a recording follows live objects. */
struct mprof__alive {
    struct mprof__arena *arena;
    unsigned mode;     /* MPROF_LIVE_ON, ...; 0: it does not */
    uint32_t sampling; /* one byte in so many is sampled; 0: no sampling */
    uint8_t epoch;     /* in which objects are allocated now */
};

/* Do what mprof__alive_begin() does when something is unusual, or when OBJECT
 * was sampled and represents N. */
void mprof__alive_begin_slowly(const struct mprof__alive *alive,
                               const void *object, mprof_ref counter,
                               struct mprof_count n);

/* OBJECT of BYTES was allocated and counted in COUNTER, by the thread that
 * keeps in *SHADOW where it looked last.  False: more is to be done, and
 * nothing was. */
static inline __attribute__((always_inline)) bool mprof__alive_begin_quickly(
    const struct mprof__alive *alive, const struct mprof__shadow *shadow,
    const void *object, mprof_ref counter, uint64_t bytes) {
    uint64_t *word = mprof__shadow_word(shadow, object);
    if (__builtin_expect(bytes >= UINT32_MAX ||
                             !mprof__shadow_has(shadow, object) ||
                             mprof__load_relaxed(word) != 0,
                         0))
        return false;
    *mprof__shadow_past(shadow, object) = (struct mprof__past){0, alive->epoch};
    mprof__store_relaxed(word, (uint64_t)counter << 32 | bytes);
    return true;
}

/* The same, also then. */
static inline void mprof__alive_begin(const struct mprof__alive *alive,
                                      struct mprof__shadow *shadow,
                                      const void *object, mprof_ref counter,
                                      uint64_t bytes) {
    if (!(mprof__shadow_has(shadow, object) ||
          mprof__collected_find((uintptr_t)object, shadow) != NULL) ||
        !mprof__alive_begin_quickly(alive, shadow, object, counter, bytes))
        mprof__alive_begin_slowly(alive, object, counter,
                                  (struct mprof_count){1, bytes});
}

/* Count the objects that a collection found dead.  IS_ALIVE returns true if the
 * object at an address was marked.  Under the collector's lock, in the hook.
 * RECORDS: the data file may be written to. */
void mprof__alive_collected(struct mprof__alive *alive, bool records,
                            bool (*is_alive)(const void *address));

/* BLOCK, if it was recorded, is about to be given back.  Likewise. */
void mprof__alive_freed(struct mprof__alive *alive, bool records,
                        const void *block);

/* In COPY, what mprof__arena_save() copied, take for dead what was allocated
 * before the epoch `from` and from the epoch `until` on. */
struct mprof__epochs {
    unsigned from, until;
};
void mprof__alive_choose(struct mprof_header *copy, const void *epochs);

/* The recording goes on: count the objects that died since it stopped. */
void mprof__alive_resume(struct mprof__alive *alive);

#endif
