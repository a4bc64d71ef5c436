/* id: identifiers. Rows get UUIDs in version-7 layout (RFC 9562 section 5.7), which sort by time;
 * identifiers that must not be guessed are entirely random. */
#ifndef ID_H
#define ID_H

#include <stdbool.h>

enum { ID_BYTES = 37, SECRET_BYTES = 33 };

struct id {
	char text[ID_BYTES]; /* lower-case text form and its NUL */
};

struct secret {
	char text[SECRET_BYTES]; /* 32 hex digits, 128 random bits, and its NUL */
};

/* A new row id. Ends the process if the kernel provides no random bytes. */
struct id id_new(void);
/* A new unguessable key, for Mcp-Session-Id and the like. */
struct secret id_new_secret(void);
/* Whether two secrets are the same text. How long it takes tells nothing about their bytes. */
bool id_same_secret(const char *one, const char *other);

#endif
