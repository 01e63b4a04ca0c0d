/* small.h - a data file to begin with, for what damages it. */
#ifndef MPROF_TESTS_SMALL_H
#define MPROF_TESTS_SMALL_H

#include "tests/support/datafile.h"

/* Make a file with every kind of record, as small as can be. */
void small_file(struct datafile *file);

#endif
