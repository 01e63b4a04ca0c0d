/* debug_link.h - separate debug files that an ELF file names itself. */
#ifndef REPORT_ELF_DEBUG_LINK_H
#define REPORT_ELF_DEBUG_LINK_H

#include <stdbool.h>
#include <stdint.h>

/* Where debuggers look for NAME, from .gnu_debuglink of FILE: beside FILE, in
 * .debug there, and in the same folder below /usr/lib/debug.  Calls TRY with
 * each path until it says true; returns whether it did. */
bool report__debug_link(const char *file, const char *name,
                        bool (*try)(const char *path, void *data), void *data);

/* Whether CRC is the check sum of the file open as FD, whose position stays. */
bool report__debug_crc(int fd, uint32_t crc);

#endif
