#include "sha256.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

static void check(int ok)
{
	if (!ok) {
		(void)fputs("libcrypto gives no SHA-256\n", stderr);
		_Exit(EX_SOFTWARE);
	}
}

struct sha256_state *sha256_begin(void)
{
	EVP_MD_CTX *context = EVP_MD_CTX_new();

	check(context && EVP_DigestInit_ex(context, EVP_sha256(), NULL));
	return (struct sha256_state *)context;
}

void sha256_add(struct sha256_state *state, const void *bytes, size_t length)
{
	check(EVP_DigestUpdate((EVP_MD_CTX *)state, bytes, length));
}

enum { RAW_BYTES = 32 };

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

	check(EVP_DigestFinal_ex((EVP_MD_CTX *)state, raw, NULL));
	EVP_MD_CTX_free((EVP_MD_CTX *)state);
	return in_hex(raw);
}

struct sha256 sha256_keyed(const char *key, const void *bytes, size_t length)
{
	unsigned char raw[RAW_BYTES];

	check(HMAC(EVP_sha256(), key, (int)strlen(key), bytes, length, raw, NULL) != NULL);
	return in_hex(raw);
}

struct sha256 sha256_of(const void *bytes, size_t length)
{
	struct sha256_state *state = sha256_begin();

	sha256_add(state, bytes, length);
	return sha256_end(state);
}
