/* crc.c - CRC-32, reflected polynomial 0xEDB88320, eight bytes at a time, and
 * 64 where the processor multiplies polynomials.
 *
 * "Slicing by eight": M. E. Kounavis and F. L. Berry, "Novel Table Lookup-Based
 * Algorithms for High-Performance CRC Generation", IEEE Trans. Computers 57
 * (2008).  "Folding": V. Gopal et al., "Fast CRC Computation for Generic
 * Polynomials Using PCLMULQDQ Instruction", Intel (2009).
 */
#include "monitor/format/crc.h"

#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

enum { SLICES = 8 };

/* The contribution of a byte that is followed by as many zero bytes.  On the
 * stack: it is made in less time than a file of a page takes. */
struct tables {
    uint32_t slice[SLICES][256];
};

static void make(struct tables *t) {
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ (crc & 1 ? 0xedb88320 : 0);
        t->slice[0][byte] = crc;
    }
    for (int i = 1; i < SLICES; i++)
        for (uint32_t byte = 0; byte < 256; byte++) {
            uint32_t crc = t->slice[i - 1][byte];
            t->slice[i][byte] = (crc >> 8) ^ t->slice[0][crc & 255];
        }
}

static uint32_t add(const struct tables *t, uint32_t crc,
                    const unsigned char *p, size_t size) {
    for (; size >= SLICES; size -= SLICES, p += SLICES) {
        unsigned char next[SLICES];
        uint32_t sum = 0;
        memcpy(next, p, sizeof next);
        for (int i = 0; i < 4; i++)
            next[i] ^= (unsigned char)(crc >> 8 * i);
        for (int i = 0; i < SLICES; i++)
            sum ^= t->slice[SLICES - 1 - i][next[i]];
        crc = sum;
    }
    while (size-- > 0)
        crc = (crc >> 8) ^ t->slice[0][(crc ^ *p++) & 255];
    return crc;
}

#ifdef __x86_64__

enum { FOLDED = 16, AT_ONCE = 4 * FOLDED };

/* Move bytes to the next ones, over the distance of FACTORS. */
__attribute__((target("pclmul"))) static inline __m128i
fold(__m128i sum, __m128i factors, __m128i next) {
    __m128i low = _mm_clmulepi64_si128(sum, factors, 0x00);
    __m128i high = _mm_clmulepi64_si128(sum, factors, 0x11);
    return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

/* Make FOLDED, sixteen bytes whose sum, from 0 on, is the sum of SIZE bytes at
 * P from CRC on.  SIZE is a multiple of 64, and not 0. */
__attribute__((target("pclmul"))) static void
fold_all(uint32_t crc, const unsigned char *p, size_t size,
         unsigned char folded[FOLDED]) {
    /* x^(n + 32) and x^(n - 32) modulo the polynomial, reflected and times x,
     * for the 512 and 128 bits that lie between. */
    const __m128i by_64 = _mm_set_epi64x(0x1c6e41596, 0x154442bd4);
    const __m128i by_16 = _mm_set_epi64x(0x0ccaa009e, 0x1751997d0);
    const __m128i *next = (const void *)p;
    __m128i sum[4];
    for (int i = 0; i < 4; i++)
        sum[i] = _mm_loadu_si128(next++);
    sum[0] = _mm_xor_si128(sum[0], _mm_cvtsi32_si128((int)crc));
    for (size -= AT_ONCE; size > 0; size -= AT_ONCE)
        for (int i = 0; i < 4; i++)
            sum[i] = fold(sum[i], by_64, _mm_loadu_si128(next++));
    for (int i = 1; i < 4; i++)
        sum[0] = fold(sum[0], by_16, sum[i]);
    _mm_storeu_si128((void *)folded, sum[0]);
}

/* Add as many bytes at P as that way takes; so many they are. */
static size_t add_folded(const struct tables *t, uint32_t *crc,
                         const unsigned char *p, size_t size) {
    unsigned char folded[FOLDED];
    size -= size % AT_ONCE;
    if (size == 0 || !__builtin_cpu_supports("pclmul"))
        return 0;
    fold_all(*crc, p, size, folded);
    *crc = add(t, 0, folded, FOLDED);
    return size;
}

#else

static size_t add_folded(const struct tables *t, uint32_t *crc,
                         const unsigned char *p, size_t size) {
    (void)t, (void)crc, (void)p, (void)size;
    return 0;
}

#endif

uint32_t mprof__crc32(uint32_t crc, const void *data, size_t size) {
    struct tables t;
    const unsigned char *p = data;
    make(&t);
    crc = ~crc;
    size_t done = add_folded(&t, &crc, p, size);
    return ~add(&t, crc, p + done, size - done);
}
