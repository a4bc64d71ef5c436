/* json_peek: id and method of a JSON message, read from its bytes as they pass: in whatever pieces
 * they come, however many they are, and though the message may turn out to be broken. */
#ifndef JSON_PEEK_H
#define JSON_PEEK_H

#include <stdbool.h>
#include <stddef.h>

enum { JSON_TOKEN_BYTES = 256 }; /* of an id or a method, and its NUL; longer ones are not taken */

/* The members of a message. */
enum json_peek_name {
	JSON_PEEK_OTHER,
	JSON_PEEK_VERSION,
	JSON_PEEK_ID,
	JSON_PEEK_METHOD,
	JSON_PEEK_PARAMS,
	JSON_PEEK_RESULT,
	JSON_PEEK_ERROR,
	JSON_PEEK_NAMES
};

/* All zero: nothing read yet. */
struct json_peek {
	char id[JSON_TOKEN_BYTES]; /* the token as it came, "0" or "\"a\""; "": none */
	char method[JSON_TOKEN_BYTES]; /* "": none */
	bool has_nul; /* a string holds \u0000, which C texts cannot carry */
	bool has[JSON_PEEK_NAMES]; /* the members that are there, whatever they hold */
	const char *unclear; /* why readers differ in what the message is; NULL: they do not */
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
