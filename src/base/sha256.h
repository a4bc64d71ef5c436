/* sha256: hashes as 64 lower-case hex digits. */
#ifndef SHA256_H
#define SHA256_H

#include <stdbool.h>
#include <stddef.h>

enum { SHA256_BYTES = 65 };

struct sha256 {
	char text[SHA256_BYTES];
};

struct sha256 sha256_of(const void *bytes, size_t length);

/* The same with a key (HMAC). key: text. */
struct sha256 sha256_keyed(const char *key, const void *bytes, size_t length);

/* Incremental form. sha256_begin allocates, sha256_end frees and returns the hash. */
struct sha256_state;
struct sha256_state *sha256_begin(void);
void sha256_add(struct sha256_state *state, const void *bytes, size_t length);
struct sha256 sha256_end(struct sha256_state *state);

/* Whether the processor's own instructions may be used, if it has any (as without this call).
 * Returns whether they are. For tests. */
bool sha256_by_processor(bool may);

#endif
