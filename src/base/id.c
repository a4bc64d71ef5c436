#include "id.h"

#include "clock.h"
#include "random.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Bytes as two digits each. Returns where the text ends. */
static char *to_hex(char *out, const unsigned char *bytes, size_t count)
{
	static const char DIGITS[] = "0123456789abcdef";

	for (size_t i = 0; i < count; i++) {
		*out++ = DIGITS[bytes[i] >> 4];
		*out++ = DIGITS[bytes[i] & 15];
	}
	*out = '\0';
	return out;
}

enum { AHEAD_MS = 200 };

/* The instant of the next id: never that of another one of this process, as long as they do not
 * come faster than one a millisecond for long. People read only that part of an id. */
static uint64_t next_ms(void)
{
	static uint64_t last;
	uint64_t ms = (uint64_t)clock_now_ms();

	if (ms <= last && last - ms < AHEAD_MS)
		ms = last + 1;
	last = ms;
	return ms;
}

struct id id_new(void)
{
	uint64_t ms = next_ms();
	unsigned char raw[16];
	struct id id;
	char *end = id.text;

	random_bytes(raw, sizeof(raw));
	for (int i = 0; i < 6; i++)
		raw[i] = (unsigned char)(ms >> (8 * (5 - i)));
	raw[6] = (unsigned char)((raw[6] & 0x0F) | 0x70);
	raw[8] = (unsigned char)((raw[8] & 0x3F) | 0x80);
	for (size_t i = 0; i < sizeof(raw); i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			*end++ = '-';
		end = to_hex(end, raw + i, 1);
	}
	return id;
}

struct secret id_new_secret(void)
{
	unsigned char raw[(SECRET_BYTES - 1) / 2];
	struct secret key;

	random_bytes(raw, sizeof(raw));
	(void)to_hex(key.text, raw, sizeof(raw));
	return key;
}

bool id_same_secret(const char *one, const char *other)
{
	size_t length = strlen(one);
	unsigned char differ = 0;

	if (strlen(other) != length)
		return false;
	for (size_t i = 0; i < length; i++) {
		differ |= (unsigned char)(one[i] ^ other[i]);
		/* The compiler must not find out that one difference is enough. */
		__asm__ volatile("" : "+r"(differ));
	}
	return differ == 0;
}
