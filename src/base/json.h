/* json: what all of us need for JSON in addition to cJSON. */
#ifndef JSON_H
#define JSON_H

#include "err.h"
#include "str.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

/* Parses JSON that is shown, bound or passed on: a number that a double does not hold exactly
 * (9007199254740993, 1e400) becomes a cJSON_Raw with its text, so that it is printed as it came;
 * for cJSON it is then no number. NULL: it is not JSON; else the caller deletes it. *ret_end (or
 * NULL) is where the value ends; without it, only blanks may follow. */
cJSON *json_read(const char *bytes, size_t length, const char **ret_end);

/* The same for JSON that is acted on: what two readers could understand differently, or we would
 * cut, is not read. It is UTF-8, without a NUL character in either spelling, names no member of an
 * object twice, and nothing but blanks follows it. NULL, and why (ERR_INPUT); what: the subject of
 * that sentence, "the line". */
cJSON *json_read_strictly(const char *bytes, size_t length, const char *what, struct err *e);

/* Replaces each escape of half a surrogate pair, which programs write that cut texts, but which no
 * text can hold and cJSON does not read. Returns whether there was one. */
bool json_mend_surrogates(char *bytes, size_t length);

typedef void json_take(void *arg, const char *bytes, size_t length);

/* Hands the bytes of each item of an array that is valid JSON to take. */
void json_split(const char *bytes, size_t length, json_take *take, void *arg);

/* Whether value is a number, also one kept as text; *ret is the nearest double. */
bool json_number(const cJSON *value, double *ret);

/* Appends value without white space; null if it is NULL. */
void json_add(struct str *out, const cJSON *value);
/* The same as the member of that name of an object (json_writer.h). */
void json_add_member(struct str *out, const char *name, const cJSON *value);
/* Appends value without white space and with object members in byte order: equal values give equal
 * texts. */
void json_canonical(struct str *out, const cJSON *value);

/* Append an id of JSON-RPC so that equal ids, and they alone, give equal texts, however they are
 * spelt: 100 for 1e2, "a" for "\u0061", and a number in all its digits. id: read by json_read. */
void json_add_id(struct str *out, const cJSON *id);
/* The same for its JSON token. */
void json_add_id_token(struct str *out, const char *token);

/* Whether a member of an object is there twice: readers differ in which of them counts. */
bool json_names_twice(const cJSON *object);
/* The name of such a member of value or of anything in it; NULL: there is none. */
const char *json_twice(const cJSON *value);

/* Makes of a name what a reader takes it for that ignores case. */
void json_fold(char *name);

/* Free function for OWNED(cJSON_ptr): `OWNED(cJSON_ptr) cJSON *x`. */
void cJSON_ptr_clear(cJSON **value);

/* A member, by exactly this name; NULL if it is missing, or object is none. */
const cJSON *json_get(const cJSON *object, const char *name);
/* The text of a string member; NULL if it is missing or not a string. */
const char *json_text(const cJSON *object, const char *name);
/* The same, but another text instead of NULL. */
const char *json_text_or(const cJSON *object, const char *name, const char *other);
/* The same, but "" instead of NULL. */
const char *json_some_text(const cJSON *object, const char *name);
/* A member that is a number, as an integer; 0 if it is missing or no number. */
int64_t json_integer(const cJSON *object, const char *name);
/* Whether there is such a member with this text. */
bool json_says(const cJSON *object, const char *name, const char *text);
/* Whether the list has this text. */
bool json_has_text(const cJSON *list, const char *text);

/* Adds a string member; NULL becomes null. */
void json_put_text(cJSON *object, const char *name, const char *text);
/* The same, but adds nothing if text is NULL or empty. */
void json_put_given(cJSON *object, const char *name, const char *text);

#endif
