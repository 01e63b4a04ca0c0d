/* sanitized.h - is this compiled for a sanitizer, which sees to memory? */
#ifndef REPORT_BASE_SANITIZED_H
#define REPORT_BASE_SANITIZED_H

#include <stdbool.h>

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { MPROF_SANITIZED = true };
#elif !defined __has_feature
enum { MPROF_SANITIZED = false };
#elif __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
enum { MPROF_SANITIZED = true };
#else
enum { MPROF_SANITIZED = false };
#endif

#endif
