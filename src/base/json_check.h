/* json_check: whether bytes are one JSON value and nothing else, told as they pass: in whatever
 * pieces they come, without keeping any of them. */
#ifndef JSON_CHECK_H
#define JSON_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JSON_CHECK_DEPTH = 1024 }; /* what is nested deeper counts as broken */

/* All zero: nothing read yet. */
struct json_check {
	bool is_broken; /* whatever follows, it is none */
	/* Where the reader stands. */
	int state;
	int depth;
	uint64_t in_object[JSON_CHECK_DEPTH / 64]; /* a bit for each level: it is an object */
	const char *word; /* the rest of true, false or null */
	int digits; /* hexadecimal ones that an escape still needs */
	bool is_name; /* the string is a member's name */
};

void json_check_feed(struct json_check *c, const char *bytes, size_t length);
/* Whether all that came is a whole value, blanks around it allowed. UTF-8 is not looked at. */
bool json_check_is_whole(const struct json_check *c);
/* Whether nothing but blanks came. */
bool json_check_is_blank(const struct json_check *c);

#endif
