/* json_peek: id and method of a JSON message, read from its bytes as they pass: in whatever pieces
 * they come, however many they are, and though the message may turn out to be broken. */
#ifndef JSON_PEEK_H
#define JSON_PEEK_H

#include <stdbool.h>
#include <stddef.h>

enum { JSON_TOKEN_BYTES = 256 }; /* of an id or a method, and its NUL; longer ones are not taken */

enum json_peek_name { JSON_PEEK_OTHER, JSON_PEEK_ID, JSON_PEEK_METHOD };

/* All zero: nothing read yet. */
struct json_peek {
	char id[JSON_TOKEN_BYTES]; /* the token as it came, "0" or "\"a\""; "": none */
	char method[JSON_TOKEN_BYTES]; /* "": none */
	bool has_nul; /* a string holds \u0000, which C texts cannot carry */
	bool has_id, has_method; /* the members are there, whatever they hold */
	bool repeats; /* one of them twice: readers differ in which counts */
	/* Where the reader stands. */
	int depth;
	bool in_string, escaped, in_value;
	int nul_digits; /* how much of \u0000 has been read, the u counted */
	enum json_peek_name name; /* of the member whose value comes */
	char token[JSON_TOKEN_BYTES]; /* at depth 1 */
	size_t length; /* of token, also where it does not fit */
};

void json_peek_feed(struct json_peek *p, const char *bytes, size_t length);

#endif
