/* json_check: whether bytes are one JSON value and nothing else. */
#ifndef JSON_CHECK_H
#define JSON_CHECK_H

#include <stdbool.h>
#include <stddef.h>

enum { JSON_CHECK_DEPTH = 1024 }; /* what is nested deeper counts as broken */

/* Whether they are a whole value, blanks around it allowed. UTF-8 is not looked at. */
bool json_check_is_whole(const char *bytes, size_t length);
/* Whether they are blanks alone. */
bool json_check_is_blank(const char *bytes, size_t length);

#endif
