/* check.h - cmocka and what it needs before it. */
#ifndef MPROF_TESTS_CHECK_H
#define MPROF_TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
