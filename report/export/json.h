/* json.h - JSON, as it is written. */
#ifndef REPORT_EXPORT_JSON_H
#define REPORT_EXPORT_JSON_H

#include <stdio.h>

/* TEXT in quotation marks: visible UTF-8, as report__clean_name() makes it. */
void report__put_json(FILE *out, const char *text);

/* The same without quotation marks: a part of such a text. */
void report__put_json_part(FILE *out, const char *text);

/* A comma before all but the first, which *COUNT is 0 for; and count it. */
void report__put_comma(FILE *out, unsigned long *count);

#endif
