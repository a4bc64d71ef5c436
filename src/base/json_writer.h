/* json_writer: appends JSON text to a str, part by part, and sets the commas: a member or an item
 * is separated from what precedes it, unless that has just opened an object or an array. Texts are
 * quoted; a "raw" value is already JSON. It needs no library. */
#ifndef JSON_WRITER_H
#define JSON_WRITER_H

#include "str.h"

#include <stdbool.h>
#include <stdint.h>

/* Appends text as a quoted JSON string. Ill-formed UTF-8 becomes U+FFFD. */
void json_quote(struct str *out, const char *text);

/* Open an object or an array: the whole text, an item, or the value after json_member_name. */
void json_object(struct str *out);
void json_array(struct str *out);
/* The same, starting with the members of another object (JSON text). */
void json_object_from(struct str *out, const char *object);
void json_object_end(struct str *out);
void json_array_end(struct str *out);

/* Begins a member; its value must follow. */
void json_member_name(struct str *out, const char *name);
void json_member_object(struct str *out, const char *name);
void json_member_array(struct str *out, const char *name);

/* Whole members; a NULL text adds none, unless it may be null. */
void json_member(struct str *out, const char *name, const char *text);
void json_member_or_null(struct str *out, const char *name, const char *text);
void json_member_int(struct str *out, const char *name, int64_t number);
void json_member_bool(struct str *out, const char *name, bool value);
void json_member_null(struct str *out, const char *name);
void json_member_raw(struct str *out, const char *name, const char *json);

/* A whole item of an array. */
void json_item(struct str *out, const char *text);

#endif
