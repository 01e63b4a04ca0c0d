/* option_values.h - options whose values are more than one word or number.
 * Each sets fields of struct report__options; false after a line on err. */
#ifndef REPORT_COMMAND_OPTION_VALUES_H
#define REPORT_COMMAND_OPTION_VALUES_H

#include "report/command/option.h"

bool report__set_tables(struct report__parse *parse, const char *list);
bool report__set_leaks(struct report__parse *parse, const char *which);
bool report__set_heap(struct report__parse *parse, const char *name);
bool report__set_type(struct report__parse *parse, const char *names);
bool report__set_inlines(struct report__parse *parse, const char *no);
bool report__be_verbose(struct report__parse *parse, const char *none);
bool report__be_normal(struct report__parse *parse, const char *none);
bool report__be_terse(struct report__parse *parse, const char *none);
bool report__show_offsets(struct report__parse *parse, const char *none);

/* "0.1s,4k", or one of the two */
bool report__set_resolution(struct report__parse *parse, const char *list);
bool report__set_seconds(struct report__parse *parse, const char *seconds);

/* A file for a page of a difference */
bool report__set_diff_html(struct report__parse *parse, const char *file);
/* "bytes", "allocs", or a factor */
bool report__set_normalize(struct report__parse *parse, const char *how);
/* "1%,4k", or one of the two, in any order */
bool report__set_growth(struct report__parse *parse, const char *limit);

bool report__add_max(struct report__parse *parse, const char *limit);
/* "5%", "0.25%", or without the sign; NULL: no percent more */
bool report__set_update(struct report__parse *parse, const char *percent);
bool report__set_against(struct report__parse *parse, const char *file);

/* "1/512"; NULL: all */
bool report__set_live(struct report__parse *parse, const char *sample);
/* "FILE,plain,4k" */
bool report__set_log(struct report__parse *parse, const char *value);
bool report__set_threshold(struct report__parse *parse, const char *bytes);

#endif
