/* SHA-256 of FIPS 180-4, and HMAC of RFC 2104. Ours, because each program of the system would load
 * and relocate all of libcrypto for this one function, which takes longer than its own work. Where
 * the processor has instructions for it they are used. */
#include "sha256.h"

#include "str.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 64, RAW_BYTES = 32, WORDS = 8, ROUNDS = 64 };

static const uint32_t K[ROUNDS] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2
};

struct sha256_state {
	uint32_t word[WORDS];
	uint64_t length; /* bytes so far */
	unsigned char block[BLOCK_BYTES]; /* the last ones, that fill no block yet */
};

/* ---- blocks ---- */

static uint32_t load(const unsigned char *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static uint32_t turn(uint32_t x, int bits)
{
	return x >> bits | x << (32 - bits);
}

static void one_block(uint32_t word[WORDS], const unsigned char *bytes)
{
	uint32_t w[ROUNDS], a = word[0], b = word[1], c = word[2], d = word[3], e = word[4],
	                    f = word[5], g = word[6], h = word[7];

	for (int i = 0; i < 16; i++)
		w[i] = load(bytes + (size_t)4 * (size_t)i);
	for (int i = 16; i < ROUNDS; i++) {
		uint32_t x = w[i - 15], y = w[i - 2];

		w[i] = w[i - 16] + (turn(x, 7) ^ turn(x, 18) ^ x >> 3) + w[i - 7] +
		       (turn(y, 17) ^ turn(y, 19) ^ y >> 10);
	}
	for (int i = 0; i < ROUNDS; i++) {
		uint32_t one = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) +
		               K[i] + w[i];
		uint32_t other =
		    (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));

		h = g, g = f, f = e, e = d + one;
		d = c, c = b, b = a, a = one + other;
	}
	const uint32_t add[WORDS] = { a, b, c, d, e, f, g, h };
	for (int i = 0; i < WORDS; i++)
		word[i] += add[i];
}

static void in_c(uint32_t word[WORDS], const unsigned char *bytes, size_t blocks)
{
	for (; blocks > 0; blocks--, bytes += BLOCK_BYTES)
		one_block(word, bytes);
}

typedef void blocks_take(uint32_t word[WORDS], const unsigned char *bytes, size_t blocks);

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

/* The instructions keep a, b, e, f in one register and c, d, g, h in the other, and do four rounds
 * at a time. w is a ring of the last sixteen words of the schedule. */
__attribute__((target("sha,sse4.1,ssse3"))) static void
by_processor(uint32_t word[WORDS], const unsigned char *bytes, size_t blocks)
{
	const __m128i order = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
	__m128i first = _mm_loadu_si128((const __m128i *)(const void *)word);
	__m128i second = _mm_loadu_si128((const __m128i *)(const void *)(word + 4));

	first = _mm_shuffle_epi32(first, 0xB1); /* c d a b, from the highest on */
	second = _mm_shuffle_epi32(second, 0x1B); /* e f g h */
	__m128i abef = _mm_alignr_epi8(first, second, 8);
	__m128i cdgh = _mm_blend_epi16(second, first, 0xF0);
	for (; blocks > 0; blocks--, bytes += BLOCK_BYTES) {
		const __m128i abef_before = abef, cdgh_before = cdgh;
		__m128i w[4];

#pragma GCC unroll 16
		for (int i = 0; i < ROUNDS / 4; i++) {
			__m128i *now = &w[i % 4];

			if (i < 4) {
				*now = _mm_shuffle_epi8(
				    _mm_loadu_si128((const __m128i *)(const void *)bytes + i),
				    order);
			} else {
				__m128i seven = _mm_alignr_epi8(w[(i + 3) % 4], w[(i + 2) % 4], 4);

				*now = _mm_sha256msg1_epu32(*now, w[(i + 1) % 4]);
				*now = _mm_sha256msg2_epu32(_mm_add_epi32(*now, seven),
				                            w[(i + 3) % 4]);
			}
			__m128i sum = _mm_add_epi32(
			    *now, _mm_loadu_si128((const __m128i *)(const void *)K + i));
			cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
			abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0E));
		}
		abef = _mm_add_epi32(abef, abef_before);
		cdgh = _mm_add_epi32(cdgh, cdgh_before);
	}
	first = _mm_shuffle_epi32(abef, 0x1B); /* f e b a, from the highest on */
	second = _mm_shuffle_epi32(cdgh, 0xB1);
	_mm_storeu_si128((__m128i *)(void *)word, _mm_blend_epi16(first, second, 0xF0));
	_mm_storeu_si128((__m128i *)(void *)(word + 4), _mm_alignr_epi8(second, first, 8));
}

/* CPUID, leaf 7: SHA; leaf 1: SSSE3 and SSE4.1. */
static bool has_instructions(void)
{
	unsigned a, b, c, d;

	if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & 1U << 29))
		return false;
	return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_SSSE3) && (c & bit_SSE4_1);
}
#else
static blocks_take *const by_processor = in_c;

static bool has_instructions(void)
{
	return false;
}
#endif

static blocks_take *chosen;

static void take(uint32_t word[WORDS], const unsigned char *bytes, size_t blocks)
{
	if (!chosen)
		chosen = has_instructions() ? by_processor : in_c;
	chosen(word, bytes, blocks);
}

bool sha256_by_processor(bool may)
{
	chosen = may && has_instructions() ? by_processor : in_c;
	return chosen != in_c;
}

/* ---- messages ---- */

static void begin(struct sha256_state *s)
{
	static const uint32_t START[WORDS] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
		                               0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };

	memcpy(s->word, START, sizeof(START));
	s->length = 0;
}

struct sha256_state *sha256_begin(void)
{
	struct sha256_state *s = xmalloc(sizeof(*s));

	begin(s);
	return s;
}

void sha256_add(struct sha256_state *s, const void *bytes, size_t length)
{
	const unsigned char *at = bytes;
	size_t have = s->length % BLOCK_BYTES, missing = BLOCK_BYTES - have;

	s->length += length;
	if (have && length >= missing) {
		memcpy(s->block + have, at, missing);
		take(s->word, s->block, 1);
		at += missing;
		length -= missing;
		have = 0;
	}
	if (!have && length >= BLOCK_BYTES) {
		take(s->word, at, length / BLOCK_BYTES);
		at += length - length % BLOCK_BYTES;
		length %= BLOCK_BYTES;
	}
	if (length)
		memcpy(s->block + have, at, length);
}

static void finish(struct sha256_state *s, unsigned char raw[RAW_BYTES])
{
	static const unsigned char PADDING[BLOCK_BYTES] = { 0x80 };
	const uint64_t bits = s->length * 8;
	unsigned char end[8];

	for (int i = 0; i < 8; i++)
		end[i] = (unsigned char)(bits >> (56 - 8 * i));
	/* A bit 1, zeros up to the last eight bytes of a block, and there the length. */
	sha256_add(s, PADDING, 1 + (BLOCK_BYTES * 2 - 9 - s->length % BLOCK_BYTES) % BLOCK_BYTES);
	sha256_add(s, end, sizeof(end));
	for (int i = 0; i < RAW_BYTES; i++)
		raw[i] = (unsigned char)(s->word[i / 4] >> (24 - 8 * (i % 4)));
}

static struct sha256 in_hex(const unsigned char raw[RAW_BYTES])
{
	static const char DIGITS[] = "0123456789abcdef";
	struct sha256 hash;

	for (size_t i = 0; i < RAW_BYTES; i++) {
		hash.text[2 * i] = DIGITS[raw[i] >> 4];
		hash.text[2 * i + 1] = DIGITS[raw[i] & 15];
	}
	hash.text[SHA256_BYTES - 1] = '\0';
	return hash;
}

struct sha256 sha256_end(struct sha256_state *s)
{
	unsigned char raw[RAW_BYTES];

	finish(s, raw);
	free(s);
	return in_hex(raw);
}

struct sha256 sha256_of(const void *bytes, size_t length)
{
	struct sha256_state s;
	unsigned char raw[RAW_BYTES];

	begin(&s);
	sha256_add(&s, bytes, length);
	finish(&s, raw);
	return in_hex(raw);
}

/* ---- with a key ---- */

static void begin_keyed(struct sha256_state *s, const unsigned char key[BLOCK_BYTES], int with)
{
	unsigned char block[BLOCK_BYTES];

	for (int i = 0; i < BLOCK_BYTES; i++)
		block[i] = (unsigned char)(key[i] ^ with);
	begin(s);
	sha256_add(s, block, sizeof(block));
}

struct sha256 sha256_keyed(const char *key, const void *bytes, size_t length)
{
	unsigned char padded[BLOCK_BYTES] = { 0 }, raw[RAW_BYTES];
	struct sha256_state s;
	size_t key_length = strlen(key);

	if (key_length > BLOCK_BYTES) {
		begin(&s);
		sha256_add(&s, key, key_length);
		finish(&s, padded);
	} else {
		memcpy(padded, key, key_length);
	}
	begin_keyed(&s, padded, 0x36);
	sha256_add(&s, bytes, length);
	finish(&s, raw);
	begin_keyed(&s, padded, 0x5c);
	sha256_add(&s, raw, sizeof(raw));
	finish(&s, raw);
	return in_hex(raw);
}
