/* peek: id and method of a JSON message, read from its bytes as they pass: in whatever pieces they
 * come, however many they are, and though the message may turn out to be broken. */
#ifndef ACP_PEEK_H
#define ACP_PEEK_H

#include <stdbool.h>
#include <stddef.h>

enum { ACP_TOKEN_BYTES = 256 }; /* of an id or a method, and its NUL; longer ones are not taken */

enum acp_peek_name { ACP_PEEK_OTHER, ACP_PEEK_ID, ACP_PEEK_METHOD };

/* All zero: nothing read yet. */
struct acp_peek {
	char id[ACP_TOKEN_BYTES]; /* the token as it came, "0" or "\"a\""; "": none */
	char method[ACP_TOKEN_BYTES]; /* "": none */
	bool has_nul; /* a string holds \u0000, which C texts cannot carry */
	/* Where the reader stands. */
	int depth;
	bool in_string, escaped, in_value;
	int nul_digits; /* how much of \u0000 has been read, the u counted */
	enum acp_peek_name name; /* of the member whose value comes */
	char token[ACP_TOKEN_BYTES]; /* at depth 1 */
	size_t length; /* of token, also where it does not fit */
};

void acp_peek_feed(struct acp_peek *p, const char *bytes, size_t length);

#endif
