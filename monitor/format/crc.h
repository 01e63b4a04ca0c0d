/* crc.h - the CRC-32 of gzip, for the monitor, which links no zlib, and for the
 * reader, as it is some ten times as fast. */
#ifndef MONITOR_FORMAT_CRC_H
#define MONITOR_FORMAT_CRC_H

#include <stddef.h>
#include <stdint.h>

/* Continue CRC (0 at first) over SIZE bytes at DATA, as zlib's crc32(). */
uint32_t mprof__crc32(uint32_t crc, const void *data, size_t size);

#endif
