/* secret.h - numbers that nobody outside of this process knows.
 *
 * Names and numbers of a data file are looked for by their hashes.  Whoever
 * made the file must not know these: with many that are the same, each look
 * would take as long as there are names.
 */
#ifndef REPORT_BASE_SECRET_H
#define REPORT_BASE_SECRET_H

#include <stdint.h>

/* Number WHICH, the same each time in this process. */
uint64_t report__secret(unsigned which);

#endif
