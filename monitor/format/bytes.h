/* bytes.h - numbers of bytes as people write them. */
#ifndef MONITOR_FORMAT_BYTES_H
#define MONITOR_FORMAT_BYTES_H

#include <stdbool.h>
#include <stdint.h>

/* A data file cannot have more: a mprof_ref has 32 bits, in units of 8 bytes,
 * and only half of what that reaches is used. */
#define MPROF__LARGEST_LIMIT ((uint64_t)16 << 30)

/* TEXT as *BYTES: "64m" is 64 MiB, k and g are KiB and GiB.  False: it is no
 * number above 0, or too large for 64 bits. */
bool mprof__read_bytes(const char *text, uint64_t *bytes);

/* N of a TEXT "1/N", from 2 to a million: where numbers are estimated from a
 * sample, a byte in so many is looked at.  0: it is none. */
enum { MPROF__MOST_SAMPLING = 1 << 20 };
uint32_t mprof__read_sampling(const char *text);

#endif
