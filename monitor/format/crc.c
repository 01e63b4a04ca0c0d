/* crc.c - CRC-32, reflected polynomial 0xEDB88320, eight bytes at a time.
 *
 * "Slicing by eight": M. E. Kounavis and F. L. Berry, "Novel Table Lookup-Based
 * Algorithms for High-Performance CRC Generation", IEEE Trans. Computers 57
 * (2008).
 */
#include "monitor/format/crc.h"

#include <string.h>

enum { SLICES = 8 };

/* What a byte contributes that is followed by as many zero bytes.  On the
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

static uint32_t add_byte(const struct tables *t, uint32_t crc,
                         unsigned char byte) {
    return (crc >> 8) ^ t->slice[0][(crc ^ byte) & 255];
}

uint32_t mprof__crc32(uint32_t crc, const void *data, size_t size) {
    struct tables t;
    const unsigned char *p = data;
    make(&t);
    crc = ~crc;
    for (; size >= SLICES; size -= SLICES, p += SLICES) {
        unsigned char next[SLICES];
        uint32_t sum = 0;
        memcpy(next, p, sizeof next);
        for (int i = 0; i < 4; i++)
            next[i] ^= (unsigned char)(crc >> 8 * i);
        for (int i = 0; i < SLICES; i++)
            sum ^= t.slice[SLICES - 1 - i][next[i]];
        crc = sum;
    }
    while (size-- > 0)
        crc = add_byte(&t, crc, *p++);
    return ~crc;
}
