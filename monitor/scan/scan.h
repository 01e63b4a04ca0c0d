/* scan.h - what nothing in the program points to any more.
 *
 *     data, other mappings      stacks from the stack     registers
 *     that are no allocator's   pointer on
 *            |                         |                      |
 *            +-------------------------+----------------------+
 *                                      v
 *                     words that are the address of an object, or of
 *                     something in it: it is reached, and looked through too
 *                                      |
 *                     all others are lost: LOST records
 *
 * Conservative (Boehm and Weiser, Garbage Collection in an Uncooperative
 * Environment, 1988): a number that happens to be an address keeps an object.
 */
#ifndef MONITOR_SCAN_SCAN_H
#define MONITOR_SCAN_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/heap/live.h"

/* Look for what is lost now of what HEAP has recorded, and add that to its data
 * file, as scan NUMBER.  LATE: the program had allocated before the recording
 * began.  KEEPERS, which have begun, or NULL, learn what keeps the other
 * blocks. The recording runs; the other threads are stopped meanwhile. Signals
 * are blocked; not inside of the hook. */
struct mprof__keepers;
void mprof__scan(struct mprof__live *heap, bool late, uint32_t number,
                 struct mprof__keepers *keepers);

#endif
