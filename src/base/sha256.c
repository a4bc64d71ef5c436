/* SHA-256 by the functions of libcrypto that need nothing of it but themselves. Its EVP interface
 * reads a configuration and loads providers at the first use, which is a third of what an agent
 * waits for when it starts its relay. */
#define OPENSSL_SUPPRESS_DEPRECATED /* the advice is EVP */
#include "sha256.h"

#include "str.h"

#include <openssl/sha.h>
#include <stdlib.h>
#include <string.h>

enum { RAW_BYTES = SHA256_DIGEST_LENGTH, BLOCK_BYTES = SHA256_CBLOCK };

struct sha256_state {
	SHA256_CTX context;
};

struct sha256_state *sha256_begin(void)
{
	struct sha256_state *state = xcalloc(1, sizeof(*state));

	(void)SHA256_Init(&state->context);
	return state;
}

void sha256_add(struct sha256_state *state, const void *bytes, size_t length)
{
	(void)SHA256_Update(&state->context, bytes, length);
}

static struct sha256 in_hex(const unsigned char raw[RAW_BYTES])
{
	static const char DIGITS[] = "0123456789abcdef";
	struct sha256 hash;

	for (size_t i = 0; i < RAW_BYTES; i++) {
		hash.text[2 * i] = DIGITS[raw[i] >> 4];
		hash.text[2 * i + 1] = DIGITS[raw[i] & 15];
	}
	hash.text[2 * RAW_BYTES] = '\0';
	return hash;
}

struct sha256 sha256_end(struct sha256_state *state)
{
	unsigned char raw[RAW_BYTES];

	(void)SHA256_Final(raw, &state->context);
	free(state);
	return in_hex(raw);
}

/* Of two texts, one after the other. (SHA256 would bring EVP along.) */
static void hash_pair(unsigned char raw[RAW_BYTES], const void *first, size_t first_length,
                      const void *bytes, size_t length)
{
	SHA256_CTX context;

	(void)SHA256_Init(&context);
	(void)SHA256_Update(&context, first, first_length);
	(void)SHA256_Update(&context, bytes, length);
	(void)SHA256_Final(raw, &context);
	explicit_bzero(&context, sizeof(context));
}

/* RFC 2104. */
struct sha256 sha256_keyed(const char *key, const void *bytes, size_t length)
{
	enum { INNER = 0x36, OUTER = 0x5c };
	unsigned char block[BLOCK_BYTES] = { 0 }, inner[BLOCK_BYTES], outer[BLOCK_BYTES];
	unsigned char raw[RAW_BYTES];
	size_t key_length = strlen(key);

	if (key_length > BLOCK_BYTES)
		hash_pair(block, key, key_length, "", 0);
	else
		for (size_t i = 0; i < key_length; i++)
			block[i] = (unsigned char)key[i];
	for (size_t i = 0; i < BLOCK_BYTES; i++) {
		inner[i] = block[i] ^ INNER;
		outer[i] = block[i] ^ OUTER;
	}
	hash_pair(raw, inner, sizeof(inner), bytes, length);
	hash_pair(raw, outer, sizeof(outer), raw, RAW_BYTES);
	explicit_bzero(block, sizeof(block));
	explicit_bzero(inner, sizeof(inner));
	explicit_bzero(outer, sizeof(outer));
	return in_hex(raw);
}

struct sha256 sha256_of(const void *bytes, size_t length)
{
	struct sha256_state *state = sha256_begin();

	sha256_add(state, bytes, length);
	return sha256_end(state);
}
