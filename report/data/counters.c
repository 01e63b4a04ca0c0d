/* counters.c - what counters have, in a file of any version. */
#include "report/data/reader.h"

#include <string.h>

/* Lisp counters in files up to MPROF_BROAD_VERSION. */
struct broad_counter {
    struct mprof_counter counter;
    struct mprof_count allocated;
};

/* Counters that follow live objects in files up to MPROF_LARGE_VERSION. */
struct large_counter {
    struct mprof_counter counter;
    struct mprof_count allocated;
    mprof_ref thread, site;
    struct mprof_count freed;
    uint64_t stamp;
    uint64_t lifetime[2]; /* of Lisp: ages, and nothing */
    uint64_t temporary;
    struct mprof_count spilled, at_peak;
};

uint32_t report__thing_bytes(const struct report__reader *r, uint32_t type,
                             bool lives) {
    if (r->header.version <= MPROF_BROAD_VERSION && !lives) {
        if (type == MPROF_COUNTERS)
            return sizeof(struct broad_counter);
        if (type == MPROF_SPILL_COUNTERS)
            return sizeof(struct mprof_spill_counter);
    }
    if (r->header.version <= MPROF_LARGE_VERSION && lives &&
        type == MPROF_COUNTERS)
        return sizeof(struct large_counter);
    return mprof_thing_bytes(type, lives);
}

/* Read the record of TYPE, of BYTES, that the REF in the FIELD of the counter
 * at byte AT leads to: WIDE.  While the program runs, it may be behind the used
 * bytes of the file as they were when its beginning was read: then *FOUND is
 * false, if that was not read. */
static bool follow_wide(struct report__reader *r, uint64_t at, unsigned field,
                        mprof_ref ref, uint32_t type, void *wide, size_t bytes,
                        bool *found) {
    uint64_t end = (uint64_t)ref * 8 + bytes;
    struct mprof_wide head = {.counter = 0};
    uint32_t index;
    if (!report__follow(r, at, field, ref, type, MPROF_LATER, &index))
        return false;
    if (end <= r->size) {
        report__take(r, end - bytes, wide, bytes);
        memcpy(&head, wide, offsetof(struct mprof_wide, allocated));
    }
    *found = head.counter == at / 8;
    return *found || index == MPROF_NONE ||
           report__damaged(r, at + field, "numbers of another counter");
}

/* Is WORD, in the FIELD of the counter at byte AT, the ref of wide numbers? */
static bool read_word(struct report__reader *r, uint64_t at, unsigned field,
                      uint64_t word, bool *is_wide) {
    *is_wide = (word & MPROF_IS_WIDE) != 0;
    return (word & MPROF_NOT_NARROW) == 0 ||
           word >> 32 == MPROF_IS_WIDE >> 32 ||
           report__damaged(r, at + field, "neither numbers nor a ref");
}

bool report__read_lisp_counter(struct report__reader *r, uint64_t at,
                               struct mprof_count *count) {
    struct mprof_lisp_counter in;
    struct broad_counter broad;
    struct mprof_wide wide;
    const unsigned field = MPROF_FIELD(lisp_counter, sum);
    bool is_wide, found;
    if (r->header.version <= MPROF_BROAD_VERSION) {
        report__take(r, at, &broad, sizeof broad);
        *count = broad.allocated;
        return true;
    }
    report__take(r, at, &in, sizeof in);
    *count = mprof_narrow_count(in.sum);
    if (!read_word(r, at, field, in.sum, &is_wide))
        return false;
    if (!is_wide)
        return true;
    if (!follow_wide(r, at, field, mprof_wide_ref(in.sum), MPROF_WIDE, &wide,
                     sizeof wide, &found))
        return false;
    *count = found ? wide.allocated : (struct mprof_count){0, 0};
    return true;
}

static void read_large_counter(struct report__reader *r, uint64_t at,
                               struct report__lives *out) {
    struct large_counter in;
    report__take(r, at, &in, sizeof in);
    *out = (struct report__lives){.thread = in.thread, .site = in.site};
    out->number =
        (struct mprof_c_numbers){.allocated = in.allocated,
                                 .spilled = in.spilled,
                                 .freed = in.freed,
                                 .lifetime = {in.lifetime[0], in.lifetime[1]},
                                 .temporary = in.temporary,
                                 .stamp = in.stamp,
                                 .at_peak = in.at_peak};
}

static bool read_c_counter(struct report__reader *r, uint64_t at,
                           struct report__lives *out) {
    struct mprof_c_counter in;
    struct mprof_c_wide wide;
    const unsigned field = MPROF_FIELD(c_counter, allocated);
    bool is_wide, found;
    report__take(r, at, &in, sizeof in);
    *out = (struct report__lives){.thread = in.thread,
                                  .site = in.site,
                                  .number = mprof_c_narrow_numbers(&in)};
    if (!read_word(r, at, field, in.allocated, &is_wide))
        return false;
    if (!is_wide)
        return true;
    if (!follow_wide(r, at, field, mprof_wide_ref(in.allocated), MPROF_C_WIDE,
                     &wide, sizeof wide, &found))
        return false;
    out->number =
        found ? wide.number : (struct mprof_c_numbers){.temporary = 0};
    return true;
}

bool report__read_lives(struct report__reader *r, uint64_t at, uint32_t heap,
                        struct report__lives *out) {
    struct mprof_alive_counter in;
    if (r->header.version <= MPROF_LARGE_VERSION) {
        read_large_counter(r, at, out);
        return true;
    }
    if (heap == MPROF_C_HEAP)
        return read_c_counter(r, at, out);
    report__take(r, at, &in, sizeof in);
    *out = (struct report__lives){.number = {.allocated = in.allocated,
                                             .spilled = in.spilled,
                                             .freed = in.freed,
                                             .lifetime = {in.ages, 0}}};
    return true;
}
